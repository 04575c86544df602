// Inner products and scaled additions of one row, dense or sparse, with a float64 vector.
//
// Every sum here is split into a fixed number of partial sums: the result depends on the length and
// the CPU level alone, never on alignment, and its error obeys the usual bound n u sum |x_k w_k|
// whatever the order. Four registers of partial sums hide the latency of a fused multiply-add; a
// sparse row is bound by its scattered reads, so two suffice.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace hinge {

inline constexpr std::int64_t kCacheLine = 64;
inline constexpr bool kLittleEndian = std::endian::native == std::endian::little;

// a * b + c, fused where the instruction exists. Without it std::fma would be a library call.
inline double multiply_add(double a, double b, double c) noexcept {
#if defined(__FMA__) || defined(__aarch64__)
    return std::fma(a, b, c);
#else
    return a * b + c;
#endif
}

// As many doubles as one register of this CPU level holds.
#if defined(__AVX__)
inline constexpr std::int64_t kPackWidth = 4;
#else
inline constexpr std::int64_t kPackWidth = 2;
#endif
typedef double Pack __attribute__((vector_size(kPackWidth * sizeof(double))));

inline Pack load_pack(const double* at) noexcept {
    Pack pack;
    std::memcpy(&pack, at, sizeof(pack));
    return pack;
}

// With AVX by name: compilers convert four values in two halves and join them, and a product of
// 676 values takes twice as long.
inline Pack load_pack(const float* at) noexcept {
#if defined(__AVX__)
    return _mm256_cvtps_pd(_mm_loadu_ps(at));
#else
    typedef float Half __attribute__((vector_size(kPackWidth * sizeof(float))));
    Half half;
    std::memcpy(&half, at, sizeof(half));
    return __builtin_convertvector(half, Pack);
#endif
}

inline Pack multiply_add(Pack a, Pack b, Pack c) noexcept {
#if defined(__FMA__)
    for (std::int64_t k = 0; k < kPackWidth; ++k) {
        c[k] = std::fma(a[k], b[k], c[k]);
    }
    return c;
#else
    return a * b + c;
#endif
}

inline double sum(Pack pack) noexcept {
    double total = pack[0];
    for (std::int64_t k = 1; k < kPackWidth; ++k) {
        total += pack[k];
    }
    return total;
}

// Into the second-level cache: the first level has too few line buffers for what is under way, and
// asking for it there makes passes over data in memory 4 to 8 % slower.
inline void ask_for(const void* at, std::int64_t bytes_ahead) noexcept {
    __builtin_prefetch(static_cast<const char*>(at) + bytes_ahead, 0, 2);
}

// If it asks, then with each part of this row for the same part of another one, which begins at
// `asked` and is needed soon; the bits are the same with or without.
template <bool kAsks = false, class Value>
double dense_dot(const Value* __restrict row, const double* __restrict w, std::int64_t length,
                 [[maybe_unused]] const void* asked = nullptr) noexcept {
    constexpr auto kSize = static_cast<std::int64_t>(sizeof(Value));
    constexpr std::int64_t kPart = 4 * kPackWidth * kSize;
    Pack a{};
    Pack b{};
    Pack c{};
    Pack d{};
    std::int64_t k = 0;
    for (; k + 4 * kPackWidth <= length; k += 4 * kPackWidth) {
        if constexpr (kAsks) {
            for (std::int64_t byte = 0; byte < kPart; byte += kCacheLine) {
                ask_for(asked, k * kSize + byte);
            }
        }
        a = multiply_add(load_pack(row + k), load_pack(w + k), a);
        b = multiply_add(load_pack(row + k + kPackWidth), load_pack(w + k + kPackWidth), b);
        c = multiply_add(load_pack(row + k + 2 * kPackWidth), load_pack(w + k + 2 * kPackWidth), c);
        d = multiply_add(load_pack(row + k + 3 * kPackWidth), load_pack(w + k + 3 * kPackWidth), d);
    }
    if (kAsks && k < length) {
        ask_for(asked, k * kSize);
    }
    for (; k + kPackWidth <= length; k += kPackWidth) {
        a = multiply_add(load_pack(row + k), load_pack(w + k), a);
    }
    double rest = 0.0;
    for (; k < length; ++k) {
        rest = multiply_add(static_cast<double>(row[k]), w[k], rest);
    }
    return rest + sum((a + b) + (c + d));
}

// w += scale * row
template <class Value>
void dense_add(const Value* __restrict row, double scale, double* __restrict w,
               std::int64_t length) noexcept {
#pragma omp simd
    for (std::int64_t k = 0; k < length; ++k) {
        w[k] = multiply_add(static_cast<double>(row[k]), scale, w[k]);
    }
}

// Where the entries of w lie that as many columns name as a register holds.
template <class Index, class Entry>
struct Places {
    std::array<Entry*, kPackWidth> at;

    Places(Entry* w, const Index* columns) noexcept {
        if constexpr (sizeof(Index) == sizeof(std::uint32_t) && kLittleEndian) {
            // Two columns in one read: reads are what a sparse row is made of.
            for (std::int64_t k = 0; k < kPackWidth; k += 2) {
                std::uint64_t two;
                std::memcpy(&two, columns + k, sizeof(two));
                at[k] = w + static_cast<std::uint32_t>(two);
                at[k + 1] = w + (two >> 32);
            }
        } else {
            for (std::int64_t k = 0; k < kPackWidth; ++k) {
                at[k] = w + columns[k];
            }
        }
    }
    Pack load() const noexcept {
        Pack pack;
        for (std::int64_t k = 0; k < kPackWidth; ++k) {
            pack[k] = *at[k];
        }
        return pack;
    }
    void store(Pack pack) const noexcept {
        for (std::int64_t k = 0; k < kPackWidth; ++k) {
            *at[k] = pack[k];
        }
    }
};

template <class Index>
Pack gather_pack(const double* w, const Index* columns) noexcept {
    return Places<Index, const double>(w, columns).load();
}

// The last entries of a row, fewer than a register holds, times those of w: a loop over them would
// end where the processor cannot foresee it, and rows of 50 entries would take a tenth longer.
#if defined(__AVX2__)
inline __m256i first_lanes(std::int64_t count) noexcept {
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
}

inline __m128i halved(__m256i lanes) noexcept {
    const __m256i low =
        _mm256_permutevar8x32_epi32(lanes, _mm256_setr_epi32(0, 2, 4, 6, 0, 0, 0, 0));
    return _mm256_castsi256_si128(low);
}

inline Pack load_lanes(const double* at, __m256i lanes) noexcept {
    return _mm256_maskload_pd(at, lanes);
}

inline Pack load_lanes(const float* at, __m256i lanes) noexcept {
    return _mm256_cvtps_pd(_mm_maskload_ps(at, halved(lanes)));
}

inline Pack gather_lanes(const double* w, const std::int32_t* columns, __m256i lanes) noexcept {
    const __m128i at = _mm_maskload_epi32(columns, halved(lanes));
    return _mm256_mask_i32gather_pd(Pack{}, w, at, _mm256_castsi256_pd(lanes), sizeof(double));
}

inline Pack gather_lanes(const double* w, const std::int64_t* columns, __m256i lanes) noexcept {
    const __m256i at = _mm256_maskload_epi64(reinterpret_cast<const long long*>(columns), lanes);
    return _mm256_mask_i64gather_pd(Pack{}, w, at, _mm256_castsi256_pd(lanes), sizeof(double));
}
#endif

// Inlined, like the addition below: rows of a dozen values would spend as long on the calls.
template <class Value, class Index>
[[gnu::always_inline]] inline double sparse_dot(const Value* __restrict values,
                                                const Index* __restrict columns,
                                                const double* __restrict w,
                                                std::int64_t count) noexcept {
    Pack a{};
    Pack b{};
    std::int64_t k = 0;
#if defined(__AVX2__)
    for (; k + kPackWidth <= count; k += kPackWidth) {
        const Pack more = multiply_add(load_pack(values + k), gather_pack(w, columns + k), a);
        a = b;  // the sums take turns
        b = more;
    }
    const __m256i lanes = first_lanes(count - k);
    a = multiply_add(load_lanes(values + k, lanes), gather_lanes(w, columns + k, lanes), a);
    return sum(a + b);
#else
    for (; k + 2 * kPackWidth <= count; k += 2 * kPackWidth) {
        a = multiply_add(load_pack(values + k), gather_pack(w, columns + k), a);
        b = multiply_add(load_pack(values + k + kPackWidth),
                         gather_pack(w, columns + k + kPackWidth), b);
    }
    double rest = 0.0;
    for (; k < count; ++k) {
        rest = multiply_add(static_cast<double>(values[k]), w[columns[k]], rest);
    }
    return rest + sum(a + b);
#endif
}

// w += scale * row. The columns of a row are distinct, so as many entries as a register holds may
// be read before the first of them is written, which the compiler cannot know.
template <class Value, class Index>
[[gnu::always_inline]] inline void sparse_add(const Value* __restrict values,
                                              const Index* __restrict columns, double scale,
                                              double* __restrict w, std::int64_t count) noexcept {
    const Pack scales = Pack{} + scale;
    std::int64_t k = 0;
    for (; k + kPackWidth <= count; k += kPackWidth) {
        const Places<Index, double> places(w, columns + k);
        places.store(multiply_add(load_pack(values + k), scales, places.load()));
    }
    for (; k < count; ++k) {
        w[columns[k]] = multiply_add(static_cast<double>(values[k]), scale, w[columns[k]]);
    }
}

// Plain vectors of equal length, such as two weight vectors.
inline double dot(const double* a, const double* b, std::int64_t length) noexcept {
    return dense_dot(a, b, length);
}

}  // namespace hinge
