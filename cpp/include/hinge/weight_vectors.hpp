// Sums and products of vectors as long as the weights, each read once.
//
// Where rows are sparse, such vectors are most of what an evaluation touches: every function here
// does at one go what would otherwise read the same vector several times. Sums are split in a fixed
// way, so that the bits depend on the length and the CPU level alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "hinge/linalg.hpp"

namespace hinge {

inline void store_pack(double* at, Pack pack) noexcept {
    std::memcpy(at, &pack, sizeof(pack));
}

// What is known of weights w and of their change d = w - before.
struct MovementSums {
    double square;     // w'w
    double moved;      // d'd
    double with_base;  // w'base, 0 without a base
};

// Partial sums of the same, in registers.
struct MovementPart {
    Pack square;
    Pack moved;
    Pack with_base;
};

template <bool kBase>
[[gnu::always_inline]] inline void add_movement(const double* w, const double* before,
                                                const double* base, double* change,
                                                MovementPart& part) noexcept {
    const Pack now = load_pack(w);
    const Pack step = now - load_pack(before);
    store_pack(change, step);
    part.square = multiply_add(now, now, part.square);
    part.moved = multiply_add(step, step, part.moved);
    if constexpr (kBase) {
        part.with_base = multiply_add(now, load_pack(base), part.with_base);
    }
}

// A block of weights: adds to the sums and writes the change. Two registers of each sum: one would
// wait for its last addition longer than for memory.
template <bool kBase>
void movement_of_block(const double* w, const double* before, const double* base, std::int64_t size,
                       double* change, MovementSums& sums) noexcept {
    MovementPart even{};
    MovementPart odd{};
    std::int64_t k = 0;
    for (; k + 2 * kPackWidth <= size; k += 2 * kPackWidth) {
        const std::int64_t next = k + kPackWidth;
        add_movement<kBase>(w + k, before + k, base + k, change + k, even);
        add_movement<kBase>(w + next, before + next, base + next, change + next, odd);
    }
    sums.square += sum(even.square + odd.square);
    sums.moved += sum(even.moved + odd.moved);
    sums.with_base += sum(even.with_base + odd.with_base);
    for (; k < size; ++k) {
        change[k] = w[k] - before[k];
        sums.square = multiply_add(w[k], w[k], sums.square);
        sums.moved = multiply_add(change[k], change[k], sums.moved);
        if constexpr (kBase) {
            sums.with_base = multiply_add(w[k], base[k], sums.with_base);
        }
    }
}

// Returns the sums above and writes to `products` those of d with the rows of `matrix`. `base` may
// be null.
inline MovementSums movement(const double* w, const double* before, const double* base,
                             const double* matrix, std::int64_t vectors, std::int64_t width,
                             double* products) noexcept {
    constexpr std::int64_t kBlock = 512;  // the change of so many weights stays in the cache
    double change[kBlock];
    MovementSums sums{};
    std::fill(products, products + vectors, 0.0);
    for (std::int64_t begin = 0; begin < width; begin += kBlock) {
        const std::int64_t size = std::min(kBlock, width - begin);
        if (base == nullptr) {
            movement_of_block<false>(w + begin, before + begin, w + begin, size, change, sums);
        } else {
            movement_of_block<true>(w + begin, before + begin, base + begin, size, change, sums);
        }
        for (std::int64_t v = 0; v < vectors; ++v) {
            products[v] += dot(matrix + v * width + begin, change, size);
        }
    }
    return sums;
}

// A vector and what to multiply it with.
struct Term {
    double scale;
    const double* vector;
};

template <class... Terms>
[[gnu::always_inline]] inline Pack combined(std::int64_t at, const Term& first,
                                            const Terms&... others) noexcept {
    Pack value = first.scale * load_pack(first.vector + at);
    ((value = multiply_add(Pack{} + others.scale, load_pack(others.vector + at), value)), ...);
    return value;
}

// Writes the sum of the terms to `total`, which shares no memory with them; returns the square of
// its length.
template <class... Terms>
double combine(std::int64_t width, double* __restrict total, const Term& first,
               const Terms&... others) noexcept {
    Pack even{};
    Pack odd{};
    double rest = 0.0;
    std::int64_t k = 0;
    for (; k + 2 * kPackWidth <= width; k += 2 * kPackWidth) {
        const Pack one = combined(k, first, others...);
        const Pack next = combined(k + kPackWidth, first, others...);
        store_pack(total + k, one);
        store_pack(total + k + kPackWidth, next);
        even = multiply_add(one, one, even);
        odd = multiply_add(next, next, odd);
    }
    for (; k < width; ++k) {
        double value = first.scale * first.vector[k];
        ((value = multiply_add(others.scale, others.vector[k], value)), ...);
        total[k] = value;
        rest = multiply_add(value, value, rest);
    }
    return rest + sum(even + odd);
}

}  // namespace hinge
