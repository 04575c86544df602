// What a pass over points does with the kernel values of its terms besides summing them up.
//
//   add_and_keep  f_j += sum_i coef_i k(x_i, z_j), and K_ij = k(x_i, z_j) for the first terms: what
//                 is to be kept is written while it is at hand
//   fill_square   K_ij = K_ji = k(x_i, x_j) where points are terms: half of them is computed
//
// What a point gets depends on the terms and on it alone: threads may share out the points.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hinge/kernel_rows.hpp"

namespace hinge {

// Rows of kept values for the first terms of a pass.
template <class Out>
struct KeptTermRows {
    Out* const* rows;
    std::int64_t count;
};

// out[point] += sum over the terms of coef[term] k(term, point), and rows[term][point] = k(term,
// point).
template <class Real, class Kernel, class Out>
void add_and_keep(const Kernel& kernel, const TermPanels<Real>& terms, const TileReader<Real>& read,
                  Selection points, Sides<Real> sides, const double* coef, KeptTermRows<Out> kept,
                  double* out) {
    const AlignedVector<double> whole = padded<Real>(coef, terms.count, 1);
    KernelPass<Real, Kernel> pass(kernel, terms);
    pass.over(read, points, sides,
              [&](std::int64_t panel, std::int64_t first, std::int64_t size, const Real* values) {
                  const std::int64_t term = panel * kPanelRows<Real>;
                  const std::int64_t filled =
                      terms.panels[static_cast<std::size_t>(panel)].registers() * kLanes<Real>;
                  for (std::int64_t r = 0; r < size; ++r) {
                      out[first + r] +=
                          panel_sum(values + r * kPanelRows<Real>, whole.data() + term, filled);
                  }
                  const std::int64_t lanes = std::min(kPanelRows<Real>, kept.count - term);
                  if (lanes > 0) {
                      turn_over(values, size, lanes, kept.rows + term, first);
                  }
              });
}

// rows[i][j] = rows[j][i] = k(term i, term j) for i <= j, where j are the terms from `offset` on
// that are the points, and rows are those of all terms. The kernel is a function of products, so
// that the two have the same bits. A pair is written by whoever has the later of the two as a
// point.
template <class Real, class Kernel, class Out>
void fill_square(const Kernel& kernel, const TermPanels<Real>& terms, const TileReader<Real>& read,
                 Selection points, std::int64_t offset, Sides<Real> sides, Out* const* rows) {
    KernelPass<Real, Kernel> pass(kernel, terms);
    const auto panels_until = [&](std::int64_t end) {
        return static_cast<std::size_t>((offset + end + kPanelRows<Real> - 1) / kPanelRows<Real>);
    };
    pass.over_first(
        read, points, sides, panels_until,
        [&](std::int64_t panel, std::int64_t first, std::int64_t size, const Real* values) {
            const std::int64_t term = panel * kPanelRows<Real>;
            const std::int64_t begin = offset + first;
            for (std::int64_t r = 0; r < size; ++r) {
                const std::int64_t lanes = std::min(kPanelRows<Real>, begin + r + 1 - term);
                const Real* from = values + r * kPanelRows<Real>;
                for (std::int64_t lane = 0; lane < lanes; ++lane) {
                    rows[begin + r][term + lane] = static_cast<Out>(from[lane]);
                }
            }
            if (term + kPanelRows<Real> <= begin) {
                turn_over(values, size, kPanelRows<Real>, rows + term, begin);
                return;
            }
            for (std::int64_t r = 0; r < size; ++r) {
                const std::int64_t lanes = std::min(kPanelRows<Real>, begin + r - term);
                for (std::int64_t lane = 0; lane < lanes; ++lane) {
                    rows[term + lane][begin + r] =
                        static_cast<Out>(values[r * kPanelRows<Real> + lane]);
                }
            }
        });
}

}  // namespace hinge
