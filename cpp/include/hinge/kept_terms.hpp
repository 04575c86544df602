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
//
// near_sums takes squared distances as sums of squared differences, 32 features at a time, instead
// of by inner products. What rounding does is then a share of the distance, and kernel values are
// large where distances are small. wide_sums takes inner products in float64, of points that are
// not rounded with the terms as they are in float32, whose own squares are taken in float64 too:
// all that is wrong with a distance is that terms were rounded once. With t = gamma ||z - x||^2
// both also return
//
//   h(x) = sum_i largest_c |coef_ci| k(z_i, x) t_i ,
//
// by which what is relatively wrong with t counts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hinge/aligned.hpp"
#include "hinge/kernel_rows.hpp"
#include "hinge/term_coefficients.hpp"

namespace hinge {

inline Register<float> magnitude_of(Register<float> x) noexcept {
    return larger<float>(x, -x);
}

class KeptTerms {
  public:
    // coef has a row of `terms.count` numbers for every function; width is how many features there
    // are.
    KeptTerms(TermPanels<float> terms, const double* coef, std::int64_t functions,
              std::int64_t width)
        : terms_(std::move(terms)), coef_(coef, terms_.count, functions) {
        if (is_direct()) {
            square_terms(width);
        }
    }

    std::int64_t functions() const noexcept { return coef_.functions(); }
    std::int64_t count() const noexcept { return terms_.count; }

    // out[point, c] = f_c, and out[point, functions] = g.
    template <class Kernel>
    void sums(const Kernel& kernel, const TileReader<float>& read, Selection points,
              Sides<float> sides, double* out) const {
        const std::int64_t width = functions() + 1;
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

    bool is_direct() const noexcept {
        return terms_.panels.empty() || terms_.panels.front().is_direct();
    }

    // out[point, c] = f_c, out[point, functions] = g and out[point, functions + 1] = h, of a
    // Gaussian kernel over panels that have all features.
    void near_sums(double gamma, const TileReader<float>& read, Selection points,
                   double* out) const {
        sum_rows<float>(
            read, points, out,
            [&](std::size_t p, const float* row, std::int64_t width, std::int64_t, double* to) {
                coef_.add<float>(static_cast<float>(gamma), p, to,
                                 [&](std::int64_t at, Register<float>* squares) {
                                     square_differences(terms_.panels[p], at, row, width, squares);
                                 });
            });
    }

    // The same in float64.
    void wide_sums(double gamma, const TileReader<double>& read, Selection points,
                   const double* selfs, double* out) const {
        std::vector<std::int64_t> features;
        std::int64_t last = -1;
        sum_rows<double>(read, points, out,
                         [&](std::size_t p, const double* row, std::int64_t width,
                             std::int64_t point, double* to) {
                             if (point != last) {
                                 last = point;
                                 features.clear();
                                 for (std::int64_t k = 0; k < width; ++k) {
                                     if (row[k] != 0.0) {
                                         features.push_back(k);
                                     }
                                 }
                             }
                             coef_.add<double>(
                                 gamma, p, to, [&](std::int64_t at, Register<double>* squares) {
                                     square_distances(p, at, row, features, selfs[point], squares);
                                 });
                         });
    }

  private:
    static constexpr std::int64_t kNearFeatures = 32;  // whose squares are summed apart
    static constexpr std::int64_t kNearRegisters = TermCoefficients::kRegistersAtATime;

    // Calls add(panel, row, features, point, out) for every point and panel.
    template <class Real, class Add>
    void sum_rows(const TileReader<Real>& read, Selection points, double* out, Add&& add) const {
        const std::int64_t width = functions() + 2;
        std::fill_n(out, points.count * width, 0.0);
        Tile<Real> tile;
        std::vector<Real> buffer;
        for (std::int64_t first = 0; first < points.count; ++first) {
            read(tile, first, 1);
            const Real* row = tile.all_features(0, buffer);
            for (std::size_t p = 0; p < terms_.panels.size(); ++p) {
                add(p, row, tile.width(), points.number(first), out + first * width);
            }
        }
    }

    static void square_differences(const Panel<float>& panel, std::int64_t at, const float* row,
                                   std::int64_t width, Register<float>* squares) noexcept {
        Register<float> sums[kNearRegisters] = {};
        for (std::int64_t begin = 0; begin < width; begin += kNearFeatures) {
            const std::int64_t end = std::min(begin + kNearFeatures, width);
            Register<float> part[kNearRegisters] = {};
            for (std::int64_t k = begin; k < end; ++k) {
                const Register<float> value = broadcast(row[k]);
                const float* lanes = panel.at(k) + at;
#pragma GCC unroll 4
                for (std::int64_t u = 0; u < kNearRegisters; ++u) {
                    const Register<float> step = value - load(lanes + u * kLanes<float>);
                    part[u] = fused(step, step, part[u]);
                }
            }
#pragma GCC unroll 4
            for (std::int64_t u = 0; u < kNearRegisters; ++u) {
                sums[u] += part[u];
            }
        }
        std::copy_n(sums, kNearRegisters, squares);
    }

    void square_distances(std::size_t p, std::int64_t at, const double* row,
                          const std::vector<std::int64_t>& features, double self,
                          Register<double>* squares) const noexcept {
        constexpr std::int64_t kLane = kLanes<double>;
        const Panel<float>& panel = terms_.panels[p];
        Register<double> sums[kNearRegisters] = {};
        for (const std::int64_t k : features) {
            const Register<double> value = broadcast(row[k]);
            const float* lanes = panel.at(k) + at;
#pragma GCC unroll 4
            for (std::int64_t u = 0; u < kNearRegisters; ++u) {
                sums[u] = fused(value, lanes_at<double>(lanes + u * kLane), sums[u]);
            }
        }
        const double* own = selfs_.data() + static_cast<std::int64_t>(p) * kPanelRows<float> + at;
#pragma GCC unroll 4
        for (std::int64_t u = 0; u < kNearRegisters; ++u) {
            const Register<double> squared =
                (load(own + u * kLane) + broadcast(self)) - (sums[u] + sums[u]);
            squares[u] = larger<double>(squared, Register<double>{});
        }
    }

    // Squares of the terms as they are packed.
    void square_terms(std::int64_t width) {
        selfs_.assign(static_cast<std::size_t>(coef_.length()), 0.0);
        for (std::size_t p = 0; p < terms_.panels.size(); ++p) {
            double* own = selfs_.data() + static_cast<std::int64_t>(p) * kPanelRows<float>;
            for (std::int64_t k = 0; k < width; ++k) {
                const float* lanes = terms_.panels[p].at(k);
                for (std::int64_t lane = 0; lane < kPanelRows<float>; ++lane) {
                    const auto value = static_cast<double>(lanes[lane]);
                    own[lane] += value * value;
                }
            }
        }
    }

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
        for (const std::int64_t c : coef_.functions_of(p)) {
            const float* coef = coef_.of(c, p);
            Register<float> sum{};
#pragma GCC unroll 8
            for (std::int64_t u = 0; u < kPanelRegisters; ++u) {
                sum = fused(load(coef + u * kLane), values[u], sum);
            }
            out[c] += static_cast<double>(lane_sum(sum));
        }
        const float* sizes = coef_.sizes_of(p);
        Register<float> total{};
#pragma GCC unroll 8
        for (std::int64_t u = 0; u < kPanelRegisters; ++u) {
            total = fused(load(sizes + u * kLane), magnitude_of(values[u]), total);
        }
        out[functions()] += static_cast<double>(lane_sum(total));
    }

    TermPanels<float> terms_;
    TermCoefficients coef_;
    AlignedVector<double> selfs_;
};

}  // namespace hinge
