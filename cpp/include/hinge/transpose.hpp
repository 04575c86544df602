// Square pieces of a matrix turned over, as wide as one register of floats.
#pragma once

#include <cstdint>

#include "hinge/registers.hpp"

namespace hinge {

#if defined(__AVX__)
// Rows of a square become its columns.
inline void turn_over_registers(__m256 (&a)[8]) noexcept {
    __m256 b[8];
    for (int r = 0; r < 8; r += 2) {
        b[r] = _mm256_unpacklo_ps(a[r], a[r + 1]);
        b[r + 1] = _mm256_unpackhi_ps(a[r], a[r + 1]);
    }
    __m256 c[8];
    for (int r = 0; r < 8; r += 4) {
        c[r] = _mm256_shuffle_ps(b[r], b[r + 2], 0x44);
        c[r + 1] = _mm256_shuffle_ps(b[r], b[r + 2], 0xEE);
        c[r + 2] = _mm256_shuffle_ps(b[r + 1], b[r + 3], 0x44);
        c[r + 3] = _mm256_shuffle_ps(b[r + 1], b[r + 3], 0xEE);
    }
    for (int r = 0; r < 4; ++r) {
        a[r] = _mm256_permute2f128_ps(c[r], c[r + 4], 0x20);
        a[r + 4] = _mm256_permute2f128_ps(c[r], c[r + 4], 0x31);
    }
}
#endif

// to[c][at + r] = from[r * from_stride + c] for r, c < kLanes<float>.
inline void transpose_square(const float* from, std::int64_t from_stride, float* const* to,
                             std::int64_t at) noexcept {
#if defined(__AVX__)
    __m256 square[8];
    for (int r = 0; r < 8; ++r) {
        square[r] = _mm256_loadu_ps(from + r * from_stride);
    }
    turn_over_registers(square);
    for (int c = 0; c < 8; ++c) {
        _mm256_storeu_ps(to[c] + at, square[c]);
    }
#else
    for (std::int64_t r = 0; r < kLanes<float>; ++r) {
        for (std::int64_t c = 0; c < kLanes<float>; ++c) {
            to[c][at + r] = from[r * from_stride + c];
        }
    }
#endif
}

// to[c * to_stride + r] = from[r][at + c] for r, c < kLanes<float>.
inline void transpose_rows(const float* const* from, std::int64_t at, float* to,
                           std::int64_t to_stride) noexcept {
#if defined(__AVX__)
    __m256 square[8];
    for (int r = 0; r < 8; ++r) {
        square[r] = _mm256_loadu_ps(from[r] + at);
    }
    turn_over_registers(square);
    for (int c = 0; c < 8; ++c) {
        _mm256_storeu_ps(to + c * to_stride, square[c]);
    }
#else
    for (std::int64_t r = 0; r < kLanes<float>; ++r) {
        for (std::int64_t c = 0; c < kLanes<float>; ++c) {
            to[c * to_stride + r] = from[r][at + c];
        }
    }
#endif
}

}  // namespace hinge
