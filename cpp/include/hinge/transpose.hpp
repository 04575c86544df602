// Square pieces of a matrix turned over, as wide as one register of floats.
#pragma once

#include <cstdint>

#include "hinge/registers.hpp"

namespace hinge {

// to[c][at + r] = from[r * from_stride + c] for r, c < kLanes<float>.
inline void transpose_square(const float* from, std::int64_t from_stride, float* const* to,
                             std::int64_t at) noexcept {
#if defined(__AVX__)
    __m256 a[8];
    __m256 b[8];
    for (int r = 0; r < 8; ++r) {
        a[r] = _mm256_loadu_ps(from + r * from_stride);
    }
    for (int r = 0; r < 8; r += 2) {
        b[r] = _mm256_unpacklo_ps(a[r], a[r + 1]);
        b[r + 1] = _mm256_unpackhi_ps(a[r], a[r + 1]);
    }
    for (int r = 0; r < 8; r += 4) {
        a[r] = _mm256_shuffle_ps(b[r], b[r + 2], 0x44);
        a[r + 1] = _mm256_shuffle_ps(b[r], b[r + 2], 0xEE);
        a[r + 2] = _mm256_shuffle_ps(b[r + 1], b[r + 3], 0x44);
        a[r + 3] = _mm256_shuffle_ps(b[r + 1], b[r + 3], 0xEE);
    }
    for (int c = 0; c < 4; ++c) {
        _mm256_storeu_ps(to[c] + at, _mm256_permute2f128_ps(a[c], a[c + 4], 0x20));
        _mm256_storeu_ps(to[c + 4] + at, _mm256_permute2f128_ps(a[c], a[c + 4], 0x31));
    }
#else
    for (std::int64_t r = 0; r < kLanes<float>; ++r) {
        for (std::int64_t c = 0; c < kLanes<float>; ++c) {
            to[c][at + r] = from[r * from_stride + c];
        }
    }
#endif
}

}  // namespace hinge
