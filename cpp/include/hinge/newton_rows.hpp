// The passes of Newton's method over consecutive rows, rows and their numbers together.
//
// Each takes a chunk of rows at a time: first what follows from their margins, then the sums of
// rows, of which those without a weight are not read. Sums are added to arrays of the caller, in
// the order of the rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "hinge/newton_margins.hpp"
#include "hinge/row_panels.hpp"
#include "hinge/row_sums.hpp"

namespace hinge {

// How far a step may carry margins.
struct NewtonReach {
    double norm;      // of the direction, without the constant feature, rounded up
    double constant;  // what the constant feature adds to a score along the direction
    double longest;
    double room;  // for a shift after the step
};

struct GradientTargets {
    double* gradient;
    double* diagonal;  // null if it is not wanted
    double* foreseen;
};

struct ChangedRows {
    std::int64_t come = 0;
    std::int64_t gone = 0;
};

// How many rows have more curvature than the matrix was formed with, and how many less.
inline ChangedRows count_changed(const NewtonVariables& v, Extent which) noexcept {
    ChangedRows count;
    for (std::int64_t i = which.start; i < which.stop; ++i) {
        const double change = v.curvature[i] - v.in_matrix[i];
        count.come += change > 0.0 ? 1 : 0;
        count.gone += change < 0.0 ? 1 : 0;
    }
    return count;
}

template <class Rows>
class NewtonRows {
  public:
    using View = Rows;

    NewtonRows(const Rows& rows, const LossWindow& window, const NewtonVariables& variables,
               double constant)
        : rows_(rows), window_(window), v_(variables), constant_(constant) {}

    void measure(Extent which, const double* weights) noexcept {
        const RowRange<Rows> all = range(which);
        for (std::int64_t i = which.start; i < which.stop; ++i) {
            v_.margin[i] = margin(all, i, i - which.start, weights);
            v_.change[i] = 0.0;
            v_.is_exact[i] = 1;
        }
    }

    // Moves the margins; adds up slopes, second derivatives and values there.
    void gradient(Extent which, const NewtonPlace& at, const GradientTargets& out,
                  GradientSums& sums) noexcept {
        each_chunk(which, [&](Extent part) {
            double pull[kRowsAtHand];
            double beyond[kRowsAtHand];
            const bool any_foreseen = move_margins(window_, v_, part, at, {pull, beyond}, sums);
            weighted_sum(range(part), pull, out.gradient);
            if (out.diagonal != nullptr) {
                weighted_squares(range(part), v_.curvature + part.start, out.diagonal);
            }
            if (any_foreseen) {
                weighted_sum(range(part), beyond, out.foreseen);
            }
        });
    }

    // out += X' D X v
    void product(Extent which, const double* v, double* out) const noexcept {
        curvature_product(range(which), v_.curvature + which.start, v, out);
    }

    // Sets the change of margins along the direction. A margin that stays above the window wherever
    // the step may end needs no product: a bound stands for it until it no longer suffices, unless
    // its row is sooner read than passed by. Returns how many rows were read.
    std::int64_t trial(Extent which, const double* weights, const double* direction,
                       const NewtonReach& reach) noexcept {
        std::int64_t n_read = 0;
        each_chunk(which, [&](Extent part) {
            double worst[kRowsAtHand];
            const std::int64_t count = part.stop - part.start;
            const std::int64_t wanted = bound_changes(part, reach, worst);
            const bool all = wanted > 0 && reads_all(rows_, wanted, count);
            const RowRange<Rows> here = range(part);
            for (std::int64_t k = 0; k < count; ++k) {
                const std::int64_t i = part.start + k;
                if (!all && !is_wanted(i, worst[k], reach)) {
                    v_.change[i] = worst[k];
                    v_.is_exact[i] = 0;
                    continue;
                }
                if (v_.is_exact[i] == 0) {
                    v_.margin[i] = margin(here, i, k, weights);
                }
                v_.change[i] = v_.sign(i) * here.score(k, direction);
                v_.is_exact[i] = 1;
            }
            n_read += all ? count : wanted;
        });
        return n_read;
    }

    // Writes these rows times the roots of the changes, those that have come first; from now on
    // the matrix has their curvature.
    void scaled_changes(Extent which, const ChangedRows& count, double* out) noexcept {
        const std::int64_t width = rows_.width + (constant_ == 0.0 ? 0 : 1);
        double* come = out;
        double* gone = out + count.come * width;
        for (std::int64_t i = which.start; i < which.stop; ++i) {
            const double change = v_.curvature[i] - v_.in_matrix[i];
            v_.in_matrix[i] = v_.curvature[i];
            if (change > 0.0 || change < 0.0) {
                double*& at = change > 0.0 ? come : gone;
                std::fill(at, at + width, 0.0);
                RowRange<Rows>{rows_, i, 1, constant_}.add(0, std::sqrt(std::abs(change)), at);
                at += width;
            }
        }
    }

    // Adds the change of the matrix to its lower triangle, of rows that are sparse.
    void outer_changes(Extent which, double* square) noexcept {
        each_chunk(which, [&](Extent part) {
            double change[kRowsAtHand];
            for (std::int64_t i = part.start; i < part.stop; ++i) {
                change[i - part.start] = v_.curvature[i] - v_.in_matrix[i];
                v_.in_matrix[i] = v_.curvature[i];
            }
            weighted_outer(range(part), change, square);
        });
    }

  private:
    static constexpr std::int64_t kRowsAtHand = 256;

    // A row's margin, less its offset where coefficients are held.
    double margin(const RowRange<Rows>& here, std::int64_t i, std::int64_t k,
                  const double* weights) const noexcept {
        const double own = v_.sign(i) * here.score(k, weights);
        return window_.held.spread > 0.0 ? own - v_.offset[i] : own;
    }
    RowRange<Rows> range(Extent part) const noexcept {
        return {rows_, part.start, part.stop - part.start, constant_};
    }

    // Sets the least that margins may change by along the direction; returns how many may then be
    // in the window or below.
    std::int64_t bound_changes(Extent part, const NewtonReach& reach,
                               double* worst) const noexcept {
        std::int64_t wanted = 0;
        for (std::int64_t i = part.start; i < part.stop; ++i) {
            const double least =
                reach.constant * v_.sign(i) - reach.norm * std::sqrt(v_.squared_norms[i]);
            worst[i - part.start] = least;
            wanted += is_wanted(i, least, reach) ? 1 : 0;
        }
        return wanted;
    }
    bool is_wanted(std::int64_t i, double worst, const NewtonReach& reach) const noexcept {
        const double lowest = v_.margin[i] + reach.longest * std::min(worst, 0.0) - reach.room;
        return lowest <= window_.top;
    }

    template <class Visit>
    void each_chunk(Extent which, Visit visit) noexcept {
        for (std::int64_t i = which.start; i < which.stop; i += kRowsAtHand) {
            visit(Extent{i, std::min(i + kRowsAtHand, which.stop)});
        }
    }

    Rows rows_;
    LossWindow window_;
    NewtonVariables v_;
    double constant_;
};

}  // namespace hinge
