// Coefficients of terms in float32, panel by panel, and sums of Gaussian kernel values with them.
//
//   f_c(x) = sum_i coef_ci k_i,   g(x) = sum_i largest_c |coef_ci| k_i,
//   h(x) = sum_i largest_c |coef_ci| k_i t_i,   k_i = exp(-t_i), t_i = gamma ||z_i - x||^2
//
// Whatever is relatively wrong with a kernel value counts by g, and with an exponent by h. Within a
// panel sums are in the precision of the values, from panel to panel in float64. Panels in which a
// function has no coefficient are left out of its sum, as in machines of pairs of classes, whose
// terms come class by class.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hinge/aligned.hpp"
#include "hinge/exponential.hpp"
#include "hinge/kernel_rows.hpp"

namespace hinge {

// The sum of the lanes: halves, then halves again.
inline float lane_sum(Register<float> x) noexcept {
#if defined(__AVX__)
    __m128 half = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    half = _mm_add_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_add_ss(half, _mm_movehdup_ps(half)));
#else
    float lanes[kLanes<float>];
    store(lanes, x);
    for (std::int64_t half = kLanes<float> / 2; half > 0; half /= 2) {
        for (std::int64_t k = 0; k < half; ++k) {
            lanes[k] += lanes[k + half];
        }
    }
    return lanes[0];
#endif
}

// As many floats as a register of the precision holds.
template <class Real>
inline Register<Real> lanes_at(const float* at) noexcept {
    if constexpr (sizeof(Real) == sizeof(float)) {
        return load(at);
    } else {
#if defined(__AVX__)
        return _mm256_cvtps_pd(_mm_loadu_ps(at));
#else
        Register<Real> values;
        for (std::int64_t k = 0; k < kLanes<Real>; ++k) {
            values[k] = static_cast<Real>(at[k]);
        }
        return values;
#endif
    }
}

template <class Real>
inline double lane_total(Register<Real> x) noexcept {
    if constexpr (sizeof(Real) == sizeof(float)) {
        return static_cast<double>(lane_sum(x));
    } else {
        double total = x[0];
        for (std::int64_t k = 1; k < kLanes<Real>; ++k) {
            total += x[k];
        }
        return total;
    }
}

class TermCoefficients {
  public:
    static constexpr std::int64_t kRows = kPanelRows<float>;
    static constexpr std::int64_t kRegistersAtATime = 4;  // of distances

    // coef has a row of `count` numbers for every function.
    TermCoefficients(const double* coef, std::int64_t count, std::int64_t functions)
        : functions_(functions) {
        const std::int64_t panels = (count + kRows - 1) / kRows;
        length_ = panels * kRows;
        coef_.assign(static_cast<std::size_t>(length_ * functions), 0.0F);
        sizes_.assign(static_cast<std::size_t>(length_), 0.0F);
        for (std::int64_t c = 0; c < functions; ++c) {
            for (std::int64_t i = 0; i < count; ++i) {
                const auto value = static_cast<float>(coef[c * count + i]);
                coef_[static_cast<std::size_t>(c * length_ + i)] = value;
                float& size = sizes_[static_cast<std::size_t>(i)];
                size = std::max(size, std::abs(value));
            }
        }
        in_use_ = functions_in_use<float>(coef_, functions);
    }

    std::int64_t functions() const noexcept { return functions_; }
    std::int64_t length() const noexcept { return length_; }
    const std::vector<std::int64_t>& functions_of(std::size_t p) const noexcept {
        return in_use_[p];
    }
    const float* of(std::int64_t c, std::size_t p) const noexcept {
        return coef_.data() + c * length_ + static_cast<std::int64_t>(p) * kRows;
    }
    const float* sizes_of(std::size_t p) const noexcept {
        return sizes_.data() + static_cast<std::int64_t>(p) * kRows;
    }

    // Adds a panel to f, g and h in out; distances(lane, squares) writes kRegistersAtATime
    // registers of squared distances, of the lanes from that one on.
    template <class Real, class Distances>
    void add(Real gamma, std::size_t p, double* out, Distances&& distances) const {
        constexpr std::int64_t kLane = kLanes<Real>;
        alignas(64) Real values[kRows];
        const float* sizes = sizes_of(p);
        Register<Real> size_sum{};
        Register<Real> exponent_sum{};
        for (std::int64_t at = 0; at < kRows; at += kRegistersAtATime * kLane) {
            Register<Real> squares[kRegistersAtATime];
            distances(at, squares);
#pragma GCC unroll 4
            for (std::int64_t u = 0; u < kRegistersAtATime; ++u) {
                const std::int64_t lane = at + u * kLane;
                const Register<Real> t = squares[u] * broadcast(gamma);
                const Register<Real> value = exp_not_positive<Real>(-t);
                const Register<Real> size = lanes_at<Real>(sizes + lane) * value;
                size_sum += size;
                exponent_sum = fused(size, t, exponent_sum);
                store(values + lane, value);
            }
        }
        for (const std::int64_t c : in_use_[p]) {
            const float* coef = of(c, p);
            Register<Real> sums[2] = {};
            for (std::int64_t at = 0; at < kRows; at += 2 * kLane) {
                sums[0] = fused(lanes_at<Real>(coef + at), load(values + at), sums[0]);
                sums[1] =
                    fused(lanes_at<Real>(coef + at + kLane), load(values + at + kLane), sums[1]);
            }
            out[c] += lane_total<Real>(sums[0] + sums[1]);
        }
        out[functions_] += lane_total<Real>(size_sum);
        out[functions_ + 1] += lane_total<Real>(exponent_sum);
    }

  private:
    std::int64_t functions_;
    std::int64_t length_ = 0;
    AlignedVector<float> coef_;
    AlignedVector<float> sizes_;
    std::vector<std::vector<std::int64_t>> in_use_;  // functions with a coefficient in each panel
};

}  // namespace hinge
