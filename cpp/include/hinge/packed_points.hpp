// Kernel rows of some terms at points that are packed once: panels of the points stay, and terms
// meet them a few at a time.
//
// fill_block (kernel_rows.hpp) packs the terms of a call, which fill the lanes of a panel only
// where they are many, and reads all points anew. Here a handful of terms costs what it should, and
// what a panel gives is a piece of every term's row as it is.
//
// For kernels of products alone: a product has the same bits whichever of its two rows is in the
// panel, so these are the values of fill_block.
#pragma once

#include <algorithm>
#include <cstdint>

#include "hinge/kernel_rows.hpp"

namespace hinge {

// rows[term][point] = k(term, point).
template <class Real, class Kernel>
void fill_rows(const Kernel& kernel, const TermPanels<Real>& points, const TileReader<Real>& read,
               Selection terms, Sides<Real> sides, Real* const* rows) {
    KernelPass<Real, Kernel> pass(kernel, points);
    pass.over(read, terms, sides,
              [&](std::int64_t panel, std::int64_t first, std::int64_t size, const Real* values) {
                  const std::int64_t begin = panel * kPanelRows<Real>;
                  const std::int64_t lanes = std::min(kPanelRows<Real>, points.count - begin);
                  for (std::int64_t r = 0; r < size; ++r) {
                      std::copy_n(values + r * kPanelRows<Real>, lanes, rows[first + r] + begin);
                  }
              });
}

}  // namespace hinge
