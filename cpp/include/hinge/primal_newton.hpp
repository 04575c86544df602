// Newton's method in the primal, over rows of few features.
//
//     min over z of  1/2 ||R z||^2 + sum_i c_i loss(y_i z'x_i)
//
//   x_i     row i, with a constant feature of value t appended (t = 0: no intercept)
//   y_i     its label, -1 or +1;  c_i = C times its weight;  m_i its margin y_i z'x_i
//   R       the identity, with a zero in the last place if the intercept is free
//   loss    flat from `top` on, a parabola over `width` below it and a line further down: the
//           squared hinge, Huber's, or a hinge whose corner is rounded for a while (`has_corner`)
//
// Given the rows (dense or CSR, float32 or float64), labels, costs and weights; moves the weights
// to the minimum along Newton's direction,
//
//     d = -(R + sum_i c_i loss''(m_i) x_i x_i')^-1 gradient,
//
// step after step, and keeps the best weights and the best dual point, alpha_i = -c_i loss'(m_i),
// by the values that they have for the loss without its rounding. The derivative along d is made
// of straight pieces; where it is zero is found by Newton's method again, between two places that
// it has different signs at. Once the rows stay on the pieces of the loss that they are on, the
// next step ends at the minimum.
//
// Reference: Chapelle, Training a support vector machine in the primal, 2007. What differs: the
// exact line search, which makes every step one down, and the corner that is rounded in stages.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "hinge/class_pulls.hpp"
#include "hinge/dense_cholesky.hpp"
#include "hinge/linalg.hpp"
#include "hinge/newton_margins.hpp"
#include "hinge/outer_products.hpp"
#include "hinge/row_panels.hpp"

namespace hinge {

struct PrimalProgram {
    LossWindow window;
    double steepest;  // slope of the line, which no coefficient is above in units of its row's cost
    bool has_corner;  // whether the loss asked for is the line below the window, to its corner
    const std::int8_t* signs;
    const double* costs;  // null if all are the same
    double cost;          // that one
    double constant;      // value of the constant feature, 0 for no intercept
    bool is_free;         // whether its weight is in no norm
};

struct PrimalNumbers {
    double best_primal;
    double best_dual;
    double steps;
    double is_over;  // 1 where nothing moves any more, or the gap is all rounding
    double least;    // objective with the loss at work that steps have come down to,
    double idle;     // and how many of them in a row have not
};

struct PrimalArrays {
    double* weights;  // as the best ones with one for the constant feature, if there is one
    double* best_weights;
    double* alpha;
    double* best_alpha;
};

inline constexpr double kSmallGap = 1e-10;  // relative, of the loss at work
// Relative decrease below which a step is idle. What a step promises may never become small: on
// rows far from the origin, or with a corner that is hardly rounded, it is all rounding at last.
inline constexpr double kNoGain = 1e-13;
inline constexpr double kMostIdle = 3.0;  // such steps in a row after which nothing moves
// Of the objective in a free intercept, in units of the sum of the costs.
inline constexpr double kLeastCurvature = 1e-3;
inline constexpr int kMostProbes = 100;  // of a line search
inline constexpr double kLevel = 1e-14;  // of the slope at its beginning: the end of a search
inline constexpr int kHalvingProbe = 4;  // every so many probes halve the interval
inline constexpr std::int64_t kCallWork = 2000;  // what a step takes beside its passes, in values

template <class Rows>
class PrimalNewton {
  public:
    PrimalNewton(const Rows& rows, const PrimalProgram& program, const PrimalArrays& at,
                 PrimalNumbers& numbers)
        : rows_(rows),
          p_(program),
          at_(at),
          x_(numbers),
          size_(rows.width + (program.constant == 0.0 ? 0 : 1)),
          matrix_(static_cast<std::size_t>(size_ * padded(size_))),
          gradient_(static_cast<std::size_t>(size_)),
          direction_(gradient_.size()),
          scale_(gradient_.size()),
          outer_(size_, program.constant),
          pulls_(rows.width) {
        const auto count = static_cast<std::size_t>(rows.count);
        present_.reserve(count);
        signs_.reserve(count);
        costs_.reserve(count);
        for (std::int64_t i = 0; i < rows.count; ++i) {
            if (cost(i) > 0.0) {
                present_.push_back(i);
                signs_.push_back(program.signs[i]);
                costs_.push_back(cost(i));
                stored_ += std::max<std::int64_t>(rows.stored(i), 1);
            } else {
                at.alpha[i] = 0.0;
            }
        }
        margins_.resize(present_.size());
        changes_.resize(present_.size());
    }

    // Steps until about so much work is done, so many steps have been in all, the best points are
    // within a relative gap, or nothing moves; one step at the least, if there is one to do.
    // Returns the work.
    std::int64_t advance(std::int64_t work, std::int64_t steps, double aim) noexcept {
        const bool is_first = std::isinf(x_.best_primal);
        std::int64_t done = evaluate() * (is_first ? 1 : 0);  // later it is known, but not kept
        if (!std::isfinite(objective_)) {                     // where a known point has led to
            std::fill(at_.weights, at_.weights + size_, 0.0);
            done += evaluate();
        }
        x_.least = std::min(x_.least, objective_);
        while (x_.is_over == 0.0 && x_.steps < static_cast<double>(steps) && !is_within(aim)) {
            x_.steps += 1.0;
            const bool has_moved = move();
            done += step_work() + probes_ * static_cast<std::int64_t>(present_.size());
            if (!has_moved) {
                x_.is_over = 1.0;
                break;
            }
            done += evaluate();
            note_gain();
            if (done >= work) {
                break;
            }
        }
        return done;
    }

    // Takes alpha for the best dual point so far, brought into its box.
    void take_dual() noexcept {
        pulls_.clear();
        for (std::size_t k = 0; k < present_.size(); ++k) {
            double& alpha = at_.alpha[present_[k]];
            alpha = std::min(std::max(alpha, 0.0), costs_[k] * p_.steepest);
            pulls_.add(rows_, present_[k], at_.alpha[present_[k]], costs_[k], side(k));
        }
        remember_dual();
    }

  private:
    // The relative gap as hinge.result.Progress has it: both must see a claim in the same numbers.
    bool is_within(double aim) const noexcept {
        const double scale = std::max(std::abs(x_.best_primal), std::abs(x_.best_dual));
        const double least = std::numeric_limits<double>::min();
        return (x_.best_primal - x_.best_dual) / std::max(scale, least) <= aim;
    }
    // Costs and labels of the caller's rows; those of cost 0 are absent from everything below.
    double cost(std::int64_t i) const noexcept {
        return p_.costs == nullptr ? p_.cost : p_.costs[i];
    }
    std::size_t side(std::size_t k) const noexcept { return signs_[k] > 0 ? 1 : 0; }
    double score(std::int64_t i, const double* w) const noexcept {
        const double last = p_.constant == 0.0 ? 0.0 : p_.constant * w[rows_.width];
        return rows_.dot(i, w) + last;
    }
    // Products, those of the matrix and of its factor too, are done several at a time: a fraction
    // of a value each. However few they are, a step takes some microseconds.
    std::int64_t step_work() const noexcept {
        return stored_ * (1 + rows_.width / 16) + size_ * size_ * size_ / 48 + kCallWork;
    }

    // Computes margins, coefficients and gradient at the weights, and what they are worth.
    std::int64_t evaluate() noexcept {
        pulls_.clear();
        smooth_losses_ = cornered_losses_ = total_cost_ = 0.0;
        const double bend = p_.window.bend;
        const double line = p_.window.line();
        for (std::size_t k = 0; k < present_.size(); ++k) {
            const std::int64_t i = present_[k];
            const double own = costs_[k];
            const double margin = signs_[k] * score(i, at_.weights);
            const double depth = p_.window.depth(margin);
            const double beyond = std::max(p_.window.top - margin - depth, 0.0);
            margins_[k] = margin;
            // The product may exceed the bound by a rounding error, and would be no dual point.
            at_.alpha[i] = std::min(own * bend * depth, own * p_.steepest);
            smooth_losses_ += own * bend * depth * (0.5 * depth + beyond);
            cornered_losses_ += own * bend * line * std::max(p_.window.corner() - margin, 0.0);
            total_cost_ += own;
            pulls_.add(rows_, present_[k], at_.alpha[present_[k]], costs_[k], side(k));
        }
        set_gradient();
        remember();
        return stored_;
    }

    double norm(const double* w) const noexcept {
        const double last = p_.constant == 0.0 || p_.is_free ? 0.0 : w[rows_.width];
        return dot(w, w, rows_.width) + last * last;
    }
    double ridge(std::int64_t k) const noexcept {
        return k == rows_.width && p_.is_free ? 0.0 : 1.0;
    }

    double& diagonal(std::int64_t k) noexcept {
        return matrix_[static_cast<std::size_t>(k * padded(size_) + k)];
    }

    void set_gradient() noexcept {
        for (std::int64_t k = 0; k < rows_.width; ++k) {
            const auto at = static_cast<std::size_t>(k);
            gradient_[at] = at_.weights[k] - pulls_.difference(at);
        }
        if (p_.constant != 0.0) {
            const double own = ridge(rows_.width) * at_.weights[rows_.width];
            gradient_.back() = own - p_.constant * pulls_.imbalance();
        }
    }

    // Sums up the second derivatives, of the rows on the curved part of the loss.
    void form_matrix() noexcept {
        std::fill(matrix_.begin(), matrix_.end(), 0.0);
        for (std::size_t k = 0; k < present_.size(); ++k) {
            if (p_.window.inside(margins_[k]) != 0) {
                outer_.add(rows_, present_[k], costs_[k] * p_.window.bend, matrix_.data());
            }
        }
        outer_.finish(matrix_.data());
        for (std::int64_t k = 0; k < size_; ++k) {
            diagonal(k) += ridge(k);
        }
        if (p_.is_free) {
            // Where no row is on a curved part of the loss nothing else keeps the step finite.
            diagonal(rows_.width) = std::max(diagonal(rows_.width), kLeastCurvature * total_cost_);
        }
    }

    void remember() noexcept {
        const double half = 0.5 * norm(at_.weights);
        const double primal = half + (p_.has_corner ? cornered_losses_ : smooth_losses_);
        objective_ = half + smooth_losses_;
        if (primal < x_.best_primal) {
            x_.best_primal = primal;
            std::copy(at_.weights, at_.weights + size_, at_.best_weights);
        }
        remember_dual();
        // The gap is half the squared gradient, which may be large where the objective is flat. A
        // free intercept is in no norm: what it pulls must be nothing beside what either class
        // does.
        const double gap = 0.5 * dot(gradient_.data(), gradient_.data(), size_);
        const double all = pulls_.total();
        const bool is_held = !p_.is_free || std::abs(pulls_.imbalance()) <= kSmallGap * all;
        const bool is_small = gap <= kSmallGap * objective_ && is_held;
        x_.is_over = is_small || !std::isfinite(gap) ? 1.0 : 0.0;
    }

    // Counts steps that have not come down; when there have been a few, nothing moves any more.
    void note_gain() noexcept {
        if (objective_ < x_.least - kNoGain * std::abs(x_.least)) {
            x_.idle = 0.0;
        } else if (++x_.idle >= kMostIdle) {
            x_.is_over = 1.0;
        }
        x_.least = std::min(x_.least, objective_);
    }

    void remember_dual() noexcept {
        const std::array<double, 2> shares = pulls_.shares(p_.is_free);
        if (p_.is_free && !pulls_.are_balanced(shares)) {
            return;  // one class has nothing to hold up the other: no dual point
        }
        const double linear = p_.has_corner ? p_.window.corner() : p_.window.top;
        const double bent = p_.has_corner ? 0.0 : 1.0 / p_.window.bend;
        const double constant = p_.is_free ? 0.0 : p_.constant;
        const double dual = pulls_.dual(shares, linear, bent, constant);
        if (dual > x_.best_dual) {
            x_.best_dual = dual;
            for (std::size_t k = 0; k < present_.size(); ++k) {
                at_.best_alpha[present_[k]] = shares[side(k)] * at_.alpha[present_[k]];
            }
        }
    }

    // Goes to the lowest point along Newton's direction; returns whether that is elsewhere at all.
    bool move() noexcept {
        form_matrix();
        factorise_scaled(matrix_.data(), padded(size_), scale_.data(), size_);
        for (std::size_t k = 0; k < gradient_.size(); ++k) {
            direction_[k] = -gradient_[k];
        }
        solve_scaled(matrix_.data(), padded(size_), scale_.data(), direction_.data(), size_);
        for (std::size_t k = 0; k < present_.size(); ++k) {
            changes_[k] = signs_[k] * score(present_[k], direction_.data());
        }
        const double slope = dot(direction_.data(), gradient_.data(), size_);
        const double length = search(slope);
        if (!(-length * slope > 0.0)) {
            return false;
        }
        for (std::int64_t k = 0; k < size_; ++k) {
            at_.weights[k] += length * direction_[static_cast<std::size_t>(k)];
        }
        return true;
    }

    // Where the derivative along the direction is zero, given what it is at the beginning.
    double search(double first) noexcept {
        const double pull = inner(at_.weights);
        const double bend = inner(direction_.data());
        const NewtonVariables v{signs_.data(),   costs_.data(), 0.0,     nullptr, margins_.data(),
                                changes_.data(), nullptr,       nullptr, nullptr, nullptr};
        const Extent all{0, static_cast<std::int64_t>(present_.size())};
        double low = 0.0;
        double high = HUGE_VAL;
        double length = 1.0;
        probes_ = 0;
        for (int probe = 1; first < 0.0 && probe <= kMostProbes; ++probe) {
            ++probes_;
            DerivativeSums sums;
            add_derivatives<false>(p_.window, v, all, {length, 0.0, 1.0}, sums);
            const double slope = pull + bend * length + sums.slope;
            if (!std::isfinite(slope) || std::abs(slope) <= -kLevel * first) {
                return std::isfinite(slope) ? length : low;
            }
            (slope < 0.0 ? low : high) = length;
            const double next = length - slope / (bend + sums.curvature);
            const bool is_within = next > low && next < high;
            if (high == HUGE_VAL) {
                length = is_within ? next : 2.0 * length;
            } else if (is_within && probe % kHalvingProbe != 0) {
                length = next;
            } else {
                length = low + 0.5 * (high - low);
            }
            if (length == low || length == high) {
                break;
            }
        }
        return low;
    }

    // The product of a vector and the direction in the norm of the objective.
    double inner(const double* w) const noexcept {
        const double last =
            p_.constant == 0.0 || p_.is_free ? 0.0 : w[rows_.width] * direction_.back();
        return dot(w, direction_.data(), rows_.width) + last;
    }

    Rows rows_;
    PrimalProgram p_;
    PrimalArrays at_;
    PrimalNumbers& x_;
    std::int64_t size_;
    std::int64_t stored_ = 0;            // values of the rows that have a cost
    std::vector<std::int64_t> present_;  // rows that have a cost, and what is known of them
    std::vector<std::int8_t> signs_;
    std::vector<double> costs_;
    std::vector<double> margins_;
    std::vector<double> changes_;  // of the margins along the direction
    std::vector<double> matrix_;
    std::vector<double> gradient_;
    std::vector<double> direction_;
    std::vector<double> scale_;
    OuterProducts outer_;
    ClassPulls pulls_;
    double smooth_losses_ = 0.0;
    double cornered_losses_ = 0.0;
    double total_cost_ = 0.0;
    double objective_ = 0.0;   // with the loss at work
    std::int64_t probes_ = 0;  // of the last search
};

}  // namespace hinge
