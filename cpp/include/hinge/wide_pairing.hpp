// Sums of products in registers of 64 bytes, where the CPU has them.
//
// A panel (kernel_panel.hpp) has 256 bytes a feature: eight registers of level v3, or four of
// these. A lane multiplies and adds what it would in a narrow register, fused and in the same
// order, so the bits are those of level v3, whose code this is a part of; an instruction only does
// twice as much. Twice the registers let six rows meet the whole width of a panel, so that a row is
// read once.
#pragma once

#include <algorithm>
#include <cstdint>

#if defined(__x86_64__) && defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#endif

namespace hinge {

// Entries of a row: values, and the features that they are of.
template <class Real>
struct EntryList {
    const Real* values;
    const std::int32_t* features;
    std::int64_t count;
};

#if defined(__x86_64__) && defined(__AVX2__) && defined(__FMA__)

inline bool has_wide_registers() noexcept {
    static const bool is_there = __builtin_cpu_supports("avx512f") != 0;
    return is_there;
}

template <class Real>
struct WideRegister;

template <>
struct WideRegister<float> {
    using Values = __m512;
    static constexpr std::int64_t kLanes = 16;

    [[gnu::target("avx512f"), gnu::always_inline]] static inline Values load(
        const float* at) noexcept {
        return _mm512_loadu_ps(at);
    }
    [[gnu::target("avx512f"), gnu::always_inline]] static inline void store(
        float* at, Values values) noexcept {
        _mm512_storeu_ps(at, values);
    }
    [[gnu::target("avx512f"), gnu::always_inline]] static inline Values broadcast(
        float value) noexcept {
        return _mm512_set1_ps(value);
    }
    [[gnu::target("avx512f"), gnu::always_inline]] static inline Values fused(Values a, Values b,
                                                                              Values c) noexcept {
        return _mm512_fmadd_ps(a, b, c);
    }
};

template <>
struct WideRegister<double> {
    using Values = __m512d;
    static constexpr std::int64_t kLanes = 8;

    [[gnu::target("avx512f"), gnu::always_inline]] static inline Values load(
        const double* at) noexcept {
        return _mm512_loadu_pd(at);
    }
    [[gnu::target("avx512f"), gnu::always_inline]] static inline void store(
        double* at, Values values) noexcept {
        _mm512_storeu_pd(at, values);
    }
    [[gnu::target("avx512f"), gnu::always_inline]] static inline Values broadcast(
        double value) noexcept {
        return _mm512_set1_pd(value);
    }
    [[gnu::target("avx512f"), gnu::always_inline]] static inline Values fused(Values a, Values b,
                                                                              Values c) noexcept {
        return _mm512_fmadd_pd(a, b, c);
    }
};

// Adds features begin to end of kRows rows to their sums with the first kWide registers of a panel.
// Lanes are those of feature begin; a feature, and the sums of a row, are 4 registers apart.
template <class Real, std::int64_t kRows, std::int64_t kWide>
[[gnu::target("avx512f")]] void pair_wide_rows(const Real* const* rows, std::int64_t begin,
                                               std::int64_t end, const Real* lanes,
                                               Real* out) noexcept {
    using Wide = WideRegister<Real>;
    constexpr std::int64_t kStride = 4 * Wide::kLanes;
    typename Wide::Values sums[kRows][kWide];
#pragma GCC unroll 12
    for (std::int64_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
        for (std::int64_t u = 0; u < kWide; ++u) {
            sums[r][u] = Wide::load(out + r * kStride + u * Wide::kLanes);
        }
    }
    for (std::int64_t k = begin; k < end; ++k, lanes += kStride) {
        typename Wide::Values of_panel[kWide];
#pragma GCC unroll 4
        for (std::int64_t u = 0; u < kWide; ++u) {
            of_panel[u] = Wide::load(lanes + u * Wide::kLanes);
        }
#pragma GCC unroll 12
        for (std::int64_t r = 0; r < kRows; ++r) {
            const typename Wide::Values value = Wide::broadcast(rows[r][k]);
#pragma GCC unroll 4
            for (std::int64_t u = 0; u < kWide; ++u) {
                sums[r][u] = Wide::fused(value, of_panel[u], sums[r][u]);
            }
        }
    }
#pragma GCC unroll 12
    for (std::int64_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
        for (std::int64_t u = 0; u < kWide; ++u) {
            Wide::store(out + r * kStride + u * Wide::kLanes, sums[r][u]);
        }
    }
}

// The same for the entries of one row, and lanes of feature 0. The sums of a row wait for each
// other; rows are short enough for the CPU to begin with the next one meanwhile.
template <class Real, std::int64_t kWide>
[[gnu::target("avx512f")]] void pair_wide_list(EntryList<Real> list, const Real* lanes,
                                               Real* out) noexcept {
    using Wide = WideRegister<Real>;
    constexpr std::int64_t kStride = 4 * Wide::kLanes;
    typename Wide::Values sums[kWide];
#pragma GCC unroll 4
    for (std::int64_t u = 0; u < kWide; ++u) {
        sums[u] = Wide::load(out + u * Wide::kLanes);
    }
    for (std::int64_t k = 0; k < list.count; ++k) {
        const typename Wide::Values value = Wide::broadcast(list.values[k]);
        const Real* const at = lanes + list.features[k] * kStride;
#pragma GCC unroll 4
        for (std::int64_t u = 0; u < kWide; ++u) {
            sums[u] = Wide::fused(value, Wide::load(at + u * Wide::kLanes), sums[u]);
        }
    }
#pragma GCC unroll 4
    for (std::int64_t u = 0; u < kWide; ++u) {
        Wide::store(out + u * Wide::kLanes, sums[u]);
    }
}

#else

inline bool has_wide_registers() noexcept {
    return false;
}
template <class Real, std::int64_t kRows, std::int64_t kWide>
void pair_wide_rows(const Real* const*, std::int64_t, std::int64_t, const Real*, Real*) noexcept {}
template <class Real, std::int64_t kWide>
void pair_wide_list(EntryList<Real>, const Real*, Real*) noexcept {}

#endif

// All features of some rows with the first kWide registers of a panel, whose lanes begin at feature
// 0. Features come in chunks whose part of the panel is 32 KB, as in narrow registers.
template <class Real, std::int64_t kWide>
void pair_all_wide_rows(const Real* const* rows, std::int64_t count, std::int64_t width,
                        const Real* lanes, Real* out) noexcept {
    constexpr std::int64_t kStride = 256 / static_cast<std::int64_t>(sizeof(Real));
    constexpr std::int64_t kChunk = 512 / kWide;
    constexpr std::int64_t kRows = kWide == 1 ? 12 : 6;  // as many sums as hide each other's wait
    for (std::int64_t begin = 0; begin < width; begin += kChunk) {
        const std::int64_t end = std::min(begin + kChunk, width);
        const Real* const from = lanes + begin * kStride;
        std::int64_t r = 0;
        for (; r + kRows <= count; r += kRows) {
            pair_wide_rows<Real, kRows, kWide>(rows + r, begin, end, from, out + r * kStride);
        }
        for (; r + 4 <= count; r += 4) {
            pair_wide_rows<Real, 4, kWide>(rows + r, begin, end, from, out + r * kStride);
        }
        if (r + 3 == count) {
            pair_wide_rows<Real, 3, kWide>(rows + r, begin, end, from, out + r * kStride);
        } else if (r + 2 == count) {
            pair_wide_rows<Real, 2, kWide>(rows + r, begin, end, from, out + r * kStride);
        } else if (r < count) {
            pair_wide_rows<Real, 1, kWide>(rows + r, begin, end, from, out + r * kStride);
        }
    }
}

// The same for rows that are lists of entries; starts has, for every row, where each of its chunks
// of features begins among the entries, and where the last one ends.
template <class Real, std::int64_t kWide>
void pair_all_wide_lists(EntryList<Real> entries, const std::int64_t* starts, std::int64_t chunks,
                         std::int64_t count, const Real* lanes, Real* out) noexcept {
    constexpr std::int64_t kStride = 256 / static_cast<std::int64_t>(sizeof(Real));
    for (std::int64_t c = 0; c < chunks; ++c) {
        for (std::int64_t r = 0; r < count; ++r) {
            const std::int64_t* const of_row = starts + r * (chunks + 1) + c;
            pair_wide_list<Real, kWide>(
                {entries.values + of_row[0], entries.features + of_row[0], of_row[1] - of_row[0]},
                lanes, out + r * kStride);
        }
    }
}

}  // namespace hinge
