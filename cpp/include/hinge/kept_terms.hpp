// Sums of kernel values in float32 over terms that are packed once and kept, with a measure of what
// was summed, from which a bound on the error follows.
//
//   f_c(x) = sum_i coef_ci k(z_i, x),     g(x) = sum_i largest_c |coef_ci| |k(z_i, x)|
//
// Whatever is relatively wrong with a kernel value is wrong with f by that share of g at most, and
// g is far below the sum of all |coef| where kernel values fall off. Values stay in registers from
// the exponential to the sums: eight fused steps in float32 a panel, three additions across the
// lanes, then float64 from panel to panel. Panels in which a function has no coefficient are left
// out of its sum, as in machines of pairs of classes, whose terms come class by class.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hinge/aligned.hpp"
#include "hinge/kernel_rows.hpp"

namespace hinge {

inline Register<float> magnitude_of(Register<float> x) noexcept {
    return larger<float>(x, -x);
}

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

class KeptTerms {
  public:
    // coef has a row of `terms.count` numbers for every function.
    KeptTerms(TermPanels<float> terms, const double* coef, std::int64_t functions)
        : terms_(std::move(terms)), functions_(functions) {
        const auto panels = static_cast<std::int64_t>(terms_.panels.size());
        length_ = panels * kPanelRows<float>;
        coef_.assign(static_cast<std::size_t>(length_ * functions), 0.0F);
        sizes_.assign(static_cast<std::size_t>(length_), 0.0F);
        for (std::int64_t c = 0; c < functions; ++c) {
            for (std::int64_t i = 0; i < terms_.count; ++i) {
                const auto value = static_cast<float>(coef[c * terms_.count + i]);
                coef_[static_cast<std::size_t>(c * length_ + i)] = value;
                float& size = sizes_[static_cast<std::size_t>(i)];
                size = std::max(size, std::abs(value));
            }
        }
        in_use_ = functions_in_use<float>(coef_, functions);
    }

    std::int64_t functions() const noexcept { return functions_; }
    std::int64_t count() const noexcept { return terms_.count; }

    // out[point, c] = f_c, and out[point, functions] = g.
    template <class Kernel>
    void sums(const Kernel& kernel, const TileReader<float>& read, Selection points,
              Sides<float> sides, double* out) const {
        const std::int64_t width = functions_ + 1;
        std::fill_n(out, points.count * width, 0.0);
        AlignedVector<float> values(static_cast<std::size_t>(kTileRows * kPanelRows<float>));
        Tile<float> tile;
        for (std::int64_t first = 0; first < points.count; first += kTileRows) {
            const std::int64_t size = std::min(kTileRows, points.count - first);
            read(tile, first, size);
            for (std::size_t p = 0; p < terms_.panels.size(); ++p) {
                tile.template pair_with<typename Kernel::Pairing>(
                    terms_.panels[p], terms_.lanes[p].selfs, values.data());
                for (std::int64_t r = 0; r < size; ++r) {
                    add_panel(kernel, p, sides, points.number(first + r),
                              values.data() + r * kPanelRows<float>, out + (first + r) * width);
                }
            }
        }
    }

  private:
    template <class Kernel>
    void add_panel(const Kernel& kernel, std::size_t p, Sides<float> sides, std::int64_t point,
                   const float* sums, double* out) const {
        constexpr std::int64_t kLane = kLanes<float>;
        const auto& lanes = terms_.lanes[p];
        const Register<float> self = broadcast(sides.selfs[point]);
        Register<float> values[kPanelRegisters];
        // Lanes beyond the last term have coefficients of zero, and finite values.
#pragma GCC unroll 8
        for (std::int64_t u = 0; u < kPanelRegisters; ++u) {
            values[u] = kernel.template value<float>(load(sums + u * kLane),
                                                     load(lanes.selfs + u * kLane), self);
        }
        if (terms_.is_scaled) {
            const Register<float> scale = broadcast(sides.scales[point]);
            for (std::int64_t u = 0; u < kPanelRegisters; ++u) {
                values[u] *= scale * load(lanes.scales + u * kLane);
            }
        }
        const auto begin = static_cast<std::int64_t>(p) * kPanelRows<float>;
        for (const std::int64_t c : in_use_[p]) {
            const float* coef = coef_.data() + c * length_ + begin;
            Register<float> sum{};
#pragma GCC unroll 8
            for (std::int64_t u = 0; u < kPanelRegisters; ++u) {
                sum = fused(load(coef + u * kLane), values[u], sum);
            }
            out[c] += static_cast<double>(lane_sum(sum));
        }
        Register<float> total{};
#pragma GCC unroll 8
        for (std::int64_t u = 0; u < kPanelRegisters; ++u) {
            total = fused(load(sizes_.data() + begin + u * kLane), magnitude_of(values[u]), total);
        }
        out[functions_] += static_cast<double>(lane_sum(total));
    }

    TermPanels<float> terms_;
    std::int64_t functions_;
    std::int64_t length_ = 0;
    AlignedVector<float> coef_;
    AlignedVector<float> sizes_;
    std::vector<std::vector<std::int64_t>> in_use_;  // functions with a coefficient in each panel
};

}  // namespace hinge
