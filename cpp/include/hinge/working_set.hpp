// The dual program over a set of variables, improved by pairs of them or by single ones.
//
//   min  1/2 b'(K + diag(d)) b + g'b   subject to  lower <= b <= upper  and, where the intercept is
//   free, sum b = constant                                                (b as a change from 0: g)
//
// Given the gradient e of the whole objective at b. Optimal: with the variables that may grow
// ("up", b < upper) and those that may shrink ("down", b > lower),
//   free intercept:  max_down e <= min_up e        none:  max_down e <= 0 <= min_up e.
//
// A pair (SMO): i = the up variable of the smallest e; j = the down variable that promises the
// largest decrease (e_j - e_i)^2 / (K_ii + K_jj - 2 K_ij + d_i + d_j), which is the second-order
// rule of Fan, Chen & Lin (2005), or by the first-order rule the one of the largest e; both move by
// (e_j - e_i) / curvature in opposite directions, or to a bound. Without an intercept the single
// variable that promises the largest decrease is moved. Curvatures are of the same float32 values
// as the gradient's updates, or a pair could be chosen for ever.
//
// The kernel matrix is there as a whole, or only some of its rows are: then the steps end where one
// is asked for that is not.
//
// Cost of a step: two passes over the variables, in blocks that stay in the first-level cache. A
// block that holds the extreme is remembered and searched again, which spares a pass that looks for
// it from the start.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "hinge/aligned.hpp"

namespace hinge {

enum class PairRule { first_order, second_order };

// A kernel matrix in memory. Numbers are float, as kernel rows are kept, or double where float32 is
// not exact enough.
template <class Number>
struct WholeMatrix {
    using Value = Number;
    const Value* values;
    std::int64_t stride;  // values from one row to the next

    // K_kk.
    double own(std::int64_t k) const noexcept {
        return static_cast<double>(values[k * stride + k]);
    }
    // Row k, to stay valid until the next row is asked for in the same place.
    const Value* row(std::int64_t k, int /*place*/) const noexcept { return values + k * stride; }
};

// The variables, and what a step does with them.
struct WorkingSet {
    std::int64_t count;
    const double* diagonal;  // d
    const double* lower;
    const double* upper;
    double* beta;
    double* gradient;
    bool is_balanced;  // the sum of beta stays as it is
    PairRule rule;
};

struct WorkingSetEnd {
    std::int64_t steps;
    double violation;
    std::int64_t missing;  // the variable whose row is not there; -1 if that did not end the steps
    bool is_stuck;         // nothing moves any more, within rounding of the bounds or the gradient
};

template <class Matrix>
class WorkingSetSolver {
  public:
    using Value = typename Matrix::Value;

    WorkingSetSolver(const WorkingSet& set, Matrix& matrix) : set_(set), matrix_(matrix) {
        const auto size = static_cast<std::size_t>(set.count);
        curvature_.resize(size);
        not_up_.resize(size);
        not_down_.resize(size);
        gain_.resize(size);
        for (std::int64_t k = 0; k < set.count; ++k) {
            curvature_[static_cast<std::size_t>(k)] = matrix.own(k) + set.diagonal[k];
            note_bounds(k);
        }
    }

    // Goes on until the violation is at most the tolerance, for so many steps, or to a missing row.
    WorkingSetEnd solve(double tolerance, std::int64_t most_steps) {
        Extremes ends = extremes();
        std::int64_t steps = 0;
        for (; steps < most_steps; ++steps) {
            if (!(violation(ends) > tolerance)) {
                break;
            }
            const double before = violation(ends);
            const bool moved = set_.is_balanced ? step_pair(ends) : step_single(ends);
            if (!moved) {
                return {steps, before, missing_, missing_ < 0};
            }
        }
        return {steps, violation(ends), -1, false};
    }

  private:
    static constexpr double kFlat = 1e-12;  // curvature of a direction that has none
    static constexpr double kInfinity = std::numeric_limits<double>::infinity();

    static constexpr std::int64_t kBlock = 128;  // variables

    struct Extremes {
        double up = kInfinity;      // smallest gradient of what may grow
        double down = -kInfinity;   // largest gradient of what may shrink
        std::int64_t up_block = 0;  // where the block begins that holds the first of them
        std::int64_t down_block = 0;
    };

    double violation(const Extremes& ends) const noexcept {
        return set_.is_balanced ? ends.down - ends.up : std::max(ends.down, -ends.up);
    }

    void note_bounds(std::int64_t k) noexcept {
        const auto at = static_cast<std::size_t>(k);
        constexpr float kNever = std::numeric_limits<float>::infinity();
        not_up_[at] = set_.beta[k] < set_.upper[k] ? 0.0F : kNever;
        not_down_[at] = set_.beta[k] > set_.lower[k] ? 0.0F : -kNever;
    }

    // Takes the extremes of a block into those of the blocks before it.
    void include(std::int64_t begin, std::int64_t end, Extremes& ends) const noexcept {
        const double* e = set_.gradient;
        const float* not_up = not_up_.data();
        const float* not_down = not_down_.data();
        double up = kInfinity;
        double down = -kInfinity;
#pragma omp simd reduction(min : up) reduction(max : down)
        for (std::int64_t k = begin; k < end; ++k) {
            const double grows = e[k] + static_cast<double>(not_up[k]);
            const double shrinks = e[k] + static_cast<double>(not_down[k]);
            up = grows < up ? grows : up;
            down = shrinks > down ? shrinks : down;
        }
        if (up < ends.up) {
            ends.up = up;
            ends.up_block = begin;
        }
        if (down > ends.down) {
            ends.down = down;
            ends.down_block = begin;
        }
    }

    std::int64_t end_of_block(std::int64_t begin) const noexcept {
        return std::min(set_.count, begin + kBlock);
    }

    Extremes extremes() const noexcept {
        Extremes ends;
        for (std::int64_t begin = 0; begin < set_.count; begin += kBlock) {
            include(begin, end_of_block(begin), ends);
        }
        return ends;
    }

    // The first k of a block with gradient[k] + offsets[k] == wanted; count if there is none.
    std::int64_t find(const float* offsets, double wanted, std::int64_t block) const noexcept {
        const std::int64_t end = end_of_block(block);
        for (std::int64_t k = block; k < end; ++k) {
            if (set_.gradient[k] + static_cast<double>(offsets[k]) == wanted) {
                return k;
            }
        }
        return set_.count;
    }

    // The first k of the largest gain(k), if that is positive; count if not.
    template <class Gain>
    std::int64_t find_largest(const Gain& gain) noexcept {
        float* const gains = gain_.data();
        float best = 0.0F;
        std::int64_t block = set_.count;
        for (std::int64_t begin = 0; begin < set_.count; begin += kBlock) {
            const std::int64_t end = end_of_block(begin);
            float most = 0.0F;
#pragma omp simd reduction(max : most)
            for (std::int64_t k = begin; k < end; ++k) {
                gains[k] = gain(k);
                most = gains[k] > most ? gains[k] : most;
            }
            if (most > best) {
                best = most;
                block = begin;
            }
        }
        return std::find(gains + block, gains + set_.count, best) - gains;
    }

    bool step_pair(Extremes& ends) noexcept {
        const std::int64_t i = find(not_up_.data(), ends.up, ends.up_block);
        if (i >= set_.count) {
            return false;
        }
        const Value* row_i = row(i, 0);
        if (row_i == nullptr) {
            return false;
        }
        const std::int64_t j = set_.rule == PairRule::second_order
                                   ? best_partner(i, row_i)
                                   : find(not_down_.data(), ends.down, ends.down_block);
        const Value* row_j = j < set_.count ? row(j, 1) : nullptr;
        if (row_j == nullptr) {
            return false;
        }
        const auto at_i = static_cast<std::size_t>(i);
        const auto at_j = static_cast<std::size_t>(j);
        const double curved =
            curvature_[at_i] + curvature_[at_j] - 2.0 * static_cast<double>(row_i[j]);
        double step = (set_.gradient[j] - set_.gradient[i]) / std::max(curved, kFlat);
        const double room_i = set_.upper[i] - set_.beta[i];
        const double room_j = set_.beta[j] - set_.lower[j];
        step = std::min(step, std::min(room_i, room_j));
        if (!(step > 0.0)) {
            return false;
        }
        const double before_i = set_.beta[i];
        const double before_j = set_.beta[j];
        set_.beta[i] = step == room_i ? set_.upper[i] : before_i + step;
        set_.beta[j] = step == room_j ? set_.lower[j] : before_j - step;
        const double change_i = set_.beta[i] - before_i;
        const double change_j = set_.beta[j] - before_j;
        set_.gradient[i] += change_i * set_.diagonal[i];
        set_.gradient[j] += change_j * set_.diagonal[j];
        note_bounds(i);
        note_bounds(j);
        ends = add_rows(change_i, row_i, change_j, row_j);
        return change_i != 0.0 || change_j != 0.0;
    }

    // Adds multiples of two rows to the gradient; returns its extremes.
    Extremes add_rows(double change_i, const Value* row_i, double change_j,
                      const Value* row_j) noexcept {
        double* e = set_.gradient;
        Extremes ends;
        for (std::int64_t begin = 0; begin < set_.count; begin += kBlock) {
            const std::int64_t end = end_of_block(begin);
#pragma omp simd
            for (std::int64_t k = begin; k < end; ++k) {
                e[k] += change_i * static_cast<double>(row_i[k]) +
                        change_j * static_cast<double>(row_j[k]);
            }
            include(begin, end, ends);
        }
        return ends;
    }

    // The down variable with which a step from i promises most; count if there is none.
    std::int64_t best_partner(std::int64_t i, const Value* row) noexcept {
        const double* e = set_.gradient;
        const float* not_down = not_down_.data();
        const double* curvature = curvature_.data();
        const double own = curvature[i];
        const double low = e[i];
        const std::int64_t best = find_largest([=](std::int64_t k) noexcept {
            const double rise = e[k] + static_cast<double>(not_down[k]) - low;
            const double curved = own + curvature[k] - 2.0 * static_cast<double>(row[k]);
            const auto height = static_cast<float>(rise > 0.0 ? rise : 0.0);
            return height / static_cast<float>(curved > kFlat ? curved : kFlat) * height;
        });
        return best < set_.count ? best : steepest([=](std::int64_t k) noexcept {
            return e[k] + static_cast<double>(not_down[k]) - low;
        });
    }

    // The first k of the steepest slope(k), if that is positive; count if not. For gains that
    // float32 does not tell from zero.
    template <class Slope>
    std::int64_t steepest(const Slope& slope) const noexcept {
        double most = 0.0;
        std::int64_t best = set_.count;
        for (std::int64_t k = 0; k < set_.count; ++k) {
            if (slope(k) > most) {
                most = slope(k);
                best = k;
            }
        }
        return best;
    }

    // Without an intercept: the single variable that promises most.
    bool step_single(Extremes& ends) noexcept {
        const double* e = set_.gradient;
        const float* not_up = not_up_.data();
        const float* not_down = not_down_.data();
        const double* curvature = curvature_.data();
        const auto slope = [=](std::int64_t k) noexcept {
            const double downhill = e[k] + static_cast<double>(not_down[k]);
            const double uphill = -(e[k] + static_cast<double>(not_up[k]));
            return downhill > uphill ? downhill : uphill;
        };
        std::int64_t best = find_largest([=](std::int64_t k) noexcept {
            const double rise = slope(k);
            const auto height = static_cast<float>(rise > 0.0 ? rise : 0.0);
            return height / static_cast<float>(std::max(curvature[k], kFlat)) * height;
        });
        best = best < set_.count ? best : steepest(slope);
        if (best == set_.count) {
            return false;
        }
        const Value* row = this->row(best, 0);
        if (row == nullptr) {
            return false;
        }
        const double curved = std::max(curvature_[static_cast<std::size_t>(best)], kFlat);
        const double before = set_.beta[best];
        set_.beta[best] =
            std::clamp(before - set_.gradient[best] / curved, set_.lower[best], set_.upper[best]);
        const double change = set_.beta[best] - before;
        set_.gradient[best] += change * set_.diagonal[best];
        note_bounds(best);
        ends = add_rows(change, row, 0.0, row);
        return change != 0.0;
    }

    // A row, or null with a note of which one is missing.
    const Value* row(std::int64_t k, int place) noexcept {
        const Value* found = matrix_.row(k, place);
        if (found == nullptr) {
            missing_ = k;
        }
        return found;
    }

    WorkingSet set_;
    Matrix& matrix_;
    std::int64_t missing_ = -1;
    AlignedVector<double> curvature_;
    AlignedVector<float> not_up_;    // 0 where it may grow, infinity where not
    AlignedVector<float> not_down_;  // 0 where it may shrink, minus infinity where not
    AlignedVector<float> gain_;
};

}  // namespace hinge
