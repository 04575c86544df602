// Labels of a few queries of a Gaussian machine, one after the other, without a step in Python.
//
// A query of a larger norm than the bounds are for is left open, and so is one that holds no
// numbers: its norm is none. Every other one goes through the steps in their order until one of
// them proves a label. Steps of one tier are alternatives: the first that is for the query is
// taken, and what it leaves open goes to the next tier.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "hinge/few_steps.hpp"
#include "hinge/label_rules.hpp"

namespace hinge {

// What holds for all queries that are taken.
struct FewLimits {
    double wide;               // squared norm from the centre of the full evaluation, at the most
    double narrow;             // the same from the centre of float32
    std::int64_t stored;       // values of a sparse row, at the most: each may round a sum once
    std::vector<double> full;  // what rounding may do to the full evaluation, for every function
    std::vector<double> intercept;
    std::vector<double> wide_centre;  // empty where rows are not moved
    std::vector<double> narrow_centre;
    LabelRule rule;
    std::int64_t classes;
};

class FewQueries {
  public:
    explicit FewQueries(FewLimits limits)
        : limits_(std::move(limits)),
          is_one_centre_(limits_.narrow_centre == limits_.wide_centre) {}

    void add(std::int64_t tier, FewStep step) { steps_.push_back({tier, std::move(step)}); }

    std::int64_t functions() const noexcept {
        return static_cast<std::int64_t>(limits_.intercept.size());
    }
    std::size_t steps() const noexcept { return steps_.size(); }

    // Writes the code of every row, kOpen where none is proven; returns how many are open.
    template <class Rows>
    std::int64_t codes(const Rows& rows, std::int64_t* out) const {
        std::int64_t open = 0;
        for (std::int64_t i = 0; i < rows.count; ++i) {
            out[i] = code(rows, i);
            open += out[i] == kOpen ? 1 : 0;
        }
        return open;
    }

    // Writes the bounds of one step on the true values of one row; false if it is not for the row.
    template <class Rows>
    bool bounds(const Rows& rows, std::int64_t i, std::size_t step, double* lower,
                double* upper) const {
        double self = 0.0;
        const Interval to{limits_.intercept, lower, upper};
        return is_within(rows, i, self) && bound(steps_[step].how, query(rows, i, self), to);
    }

  private:
    struct Step {
        std::int64_t tier;
        FewStep how;
    };

    static const double* pointer(const std::vector<double>& centre) noexcept {
        return centre.empty() ? nullptr : centre.data();
    }

    template <class Rows>
    Query<Rows> query(const Rows& rows, std::int64_t i, double self) const noexcept {
        return {rows, i, self, pointer(limits_.narrow_centre)};
    }

    template <class Rows>
    static bool bound(const FewStep& how, const Query<Rows>& query, const Interval& to) {
        return std::visit([&](const auto& step) { return step.bound(query, to); }, how);
    }

    // Whether the bounds hold for a row; writes its squared norm from the centre of float32.
    template <class Rows>
    bool is_within(const Rows& rows, std::int64_t i, double& self) const {
        const auto squared = [&](const double* centre) {
            return self_sum<ProductPairing>(rows, i, Centre<double>{centre});
        };
        // Rows whose squares overflow are refused elsewhere, wherever they are measured from.
        const double own = squared(nullptr);
        const double* const wide = pointer(limits_.wide_centre);
        const double* const narrow = pointer(limits_.narrow_centre);
        const double first = wide == nullptr ? own : squared(wide);
        self = is_one_centre_ ? first : narrow == nullptr ? own : squared(narrow);
        return std::isfinite(own) && first <= limits_.wide && self <= limits_.narrow &&
               rows.stored(i) <= limits_.stored;
    }

    template <class Rows>
    std::int64_t code(const Rows& rows, std::int64_t i) const {
        double self = 0.0;
        if (!is_within(rows, i, self)) {
            return kOpen;
        }
        const Query<Rows> one = query(rows, i, self);
        const std::size_t count = limits_.intercept.size();
        std::vector<double> lower(count);
        std::vector<double> upper(count);
        std::int64_t tier = -1;
        for (const Step& step : steps_) {
            if (step.tier <= tier ||
                !bound(step.how, one, {limits_.intercept, lower.data(), upper.data()})) {
                continue;
            }
            tier = step.tier;
            for (std::size_t c = 0; c < count; ++c) {
                lower[c] -= limits_.full[c];
                upper[c] += limits_.full[c];
            }
            const std::int64_t found =
                proven_code(limits_.rule, limits_.classes, lower.data(), upper.data(), functions());
            if (found != kOpen) {
                return found;
            }
        }
        return kOpen;
    }

    FewLimits limits_;
    bool is_one_centre_;
    std::vector<Step> steps_;
};

}  // namespace hinge
