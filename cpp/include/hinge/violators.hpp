// Where a point of the dual program violates the optimality conditions most.
//
// A variable that is below its upper bound may grow ("up"), one above its lower bound may shrink
// ("down"); the point is optimal where no up variable has a smaller gradient than a down variable.
// Variables that rest or are settled take no part.
//
//   gradient_ends    the smallest gradient of what may grow, the largest of what may shrink
//   most_violating   the variables next to these ends, so many on either side
//
// Those next to an end are found in one pass without sorting: candidates are gathered, and whenever
// there are twice as many as wanted, the farther half goes and tells how near others must be. Equal
// gradients go by number.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace hinge {

// The variables of a program, and where each of them is.
struct ProgramVariables {
    std::int64_t count;
    const double* gradient;
    const double* beta;
    const double* lower;
    const double* upper;
    const std::int8_t* group;  // that a variable rests with; negative where it takes part
    const bool* settled;

    bool takes_part(std::int64_t k) const noexcept { return group[k] < 0 && !settled[k]; }
};

struct GradientEnds {
    double up = std::numeric_limits<double>::infinity();
    double down = -std::numeric_limits<double>::infinity();
};

inline GradientEnds gradient_ends(const ProgramVariables& variables) noexcept {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    double up = kInfinity;
    double down = -kInfinity;
#pragma omp simd reduction(min : up) reduction(max : down)
    for (std::int64_t k = 0; k < variables.count; ++k) {
        const double e = variables.gradient[k];
        const bool takes_part = (variables.group[k] < 0) & !variables.settled[k];
        const bool grows = takes_part & (variables.beta[k] < variables.upper[k]);
        const bool shrinks = takes_part & (variables.beta[k] > variables.lower[k]);
        const double low = grows ? e : kInfinity;
        const double high = shrinks ? e : -kInfinity;
        up = low < up ? low : up;
        down = high > down ? high : down;
    }
    return {up, down};
}

// The variables of the smallest keys among those that are offered, so many of them at the most.
class Nearest {
  public:
    explicit Nearest(std::int64_t most) : most_(static_cast<std::size_t>(most)) {
        found_.reserve(2 * most_);
    }

    // Keys that are not below it are not wanted.
    double limit() const noexcept { return limit_; }

    // Numbers must rise from one call to the next.
    void offer(double key, std::int64_t number) {
        found_.emplace_back(key, number);
        if (found_.size() >= 2 * most_) {
            leave_nearest();
        }
    }

    // Writes the numbers, in no order; returns how many there are.
    std::int64_t write(std::int64_t* out) {
        if (found_.size() > most_) {
            leave_nearest();
        }
        std::transform(found_.begin(), found_.end(), out,
                       [](const Candidate& one) { return one.second; });
        return static_cast<std::int64_t>(found_.size());
    }

  private:
    using Candidate = std::pair<double, std::int64_t>;

    void leave_nearest() {
        const auto last = found_.begin() + static_cast<std::ptrdiff_t>(most_) - 1;
        std::nth_element(found_.begin(), last, found_.end());
        limit_ = last->first;
        found_.resize(most_);
    }

    std::size_t most_;
    double limit_ = std::numeric_limits<double>::infinity();
    std::vector<Candidate> found_;
};

struct ViolatorCounts {
    std::int64_t up;
    std::int64_t down;
};

// Writes at most so many numbers to each of the two.
inline ViolatorCounts most_violating(const ProgramVariables& variables, std::int64_t most,
                                     std::int64_t* up, std::int64_t* down) {
    if (most <= 0) {
        return {0, 0};
    }
    Nearest grow(most);
    Nearest shrink(most);
    for (std::int64_t k = 0; k < variables.count; ++k) {
        const double e = variables.gradient[k];
        if (!variables.takes_part(k)) {
            continue;
        }
        if (e < grow.limit() && variables.beta[k] < variables.upper[k]) {
            grow.offer(e, k);
        }
        if (-e < shrink.limit() && variables.beta[k] > variables.lower[k]) {
            shrink.offer(-e, k);
        }
    }
    return {grow.write(up), shrink.write(down)};
}

}  // namespace hinge
