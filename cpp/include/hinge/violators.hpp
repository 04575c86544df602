// Where a point of the dual program violates the optimality conditions most.
//
// A variable that is below its upper bound may grow ("up"), one above its lower bound may shrink
// ("down"); the point is optimal where no up variable has a smaller gradient than a down variable.
// Variables that rest or are settled take no part.
//
//   gradient_ends    the smallest gradient of what may grow, the largest of what may shrink
//   most_violating   the variables next to these ends, so many on either side
//
// Variables come in blocks, whose ends one pass of vector instructions finds. Those next to an end
// are then found without sorting: blocks that end farther off than as many others as are wanted are
// left out, candidates of the rest are gathered, and whenever there are twice as many as wanted,
// the farther half goes and tells how near others must be. Equal gradients go by number.
#pragma once

#include <algorithm>
#include <cmath>
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

inline constexpr std::int64_t kVariablesAtOnce = 64;  // of a block

// The ends of a block, of at most kVariablesAtOnce variables.
inline GradientEnds block_ends(const ProgramVariables& variables, std::int64_t begin,
                               std::int64_t end) noexcept {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const std::int64_t count = end - begin;
    const std::int8_t* const group = variables.group + begin;
    const bool* const settled = variables.settled + begin;
    unsigned char idle[kVariablesAtOnce];
    unsigned char any = 0;
#pragma omp simd reduction(| : any)
    for (std::int64_t k = 0; k < count; ++k) {
        const auto is_idle = static_cast<unsigned char>((group[k] >= 0) | settled[k]);
        idle[k] = is_idle;
        any = static_cast<unsigned char>(any | is_idle);
    }
    double away[kVariablesAtOnce] = {};  // infinity where a variable takes no part
    if (any != 0) {
        for (std::int64_t k = 0; k < count; ++k) {
            away[k] = idle[k] != 0 ? kInfinity : 0.0;
        }
    }
    const double* const gradient = variables.gradient + begin;
    const double* const beta = variables.beta + begin;
    const double* const lower = variables.lower + begin;
    const double* const upper = variables.upper + begin;
    double up = kInfinity;
    double down = -kInfinity;
#pragma omp simd reduction(min : up) reduction(max : down)
    for (std::int64_t k = 0; k < count; ++k) {
        const double low = beta[k] < upper[k] ? gradient[k] + away[k] : kInfinity;
        const double high = beta[k] > lower[k] ? gradient[k] - away[k] : -kInfinity;
        up = low < up ? low : up;
        down = high > down ? high : down;
    }
    return {up, down};
}

// Calls take(first variable, one after the last, ends) for every block.
template <class Take>
void for_blocks(const ProgramVariables& variables, Take&& take) {
    for (std::int64_t begin = 0; begin < variables.count; begin += kVariablesAtOnce) {
        const std::int64_t end = std::min(begin + kVariablesAtOnce, variables.count);
        take(begin, end, block_ends(variables, begin, end));
    }
}

inline GradientEnds gradient_ends(const ProgramVariables& variables) noexcept {
    GradientEnds all;
    for_blocks(variables, [&](std::int64_t, std::int64_t, const GradientEnds& ends) {
        all.up = std::min(all.up, ends.up);
        all.down = std::max(all.down, ends.down);
    });
    return all;
}

// The variables of the smallest keys among those that are offered, so many of them at the most.
class Nearest {
  public:
    // As many keys as are wanted are known not to be above `known`.
    Nearest(std::int64_t most, double known)
        : most_(static_cast<std::size_t>(most)),
          limit_(std::nextafter(known, std::numeric_limits<double>::infinity())) {
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
    double limit_;
    std::vector<Candidate> found_;
};

struct ViolatorCounts {
    std::int64_t up;
    std::int64_t down;
};

// A key that at least so many of the given ones do not exceed; infinity where there are not as
// many.
inline double reached_by(std::vector<double> keys, std::int64_t most) {
    if (static_cast<std::int64_t>(keys.size()) < most) {
        return std::numeric_limits<double>::infinity();
    }
    const auto last = keys.begin() + static_cast<std::ptrdiff_t>(most) - 1;
    std::nth_element(keys.begin(), last, keys.end());
    return *last;
}

// Writes at most so many numbers to each of the two.
inline ViolatorCounts most_violating(const ProgramVariables& variables, std::int64_t most,
                                     std::int64_t* up, std::int64_t* down) {
    if (most <= 0) {
        return {0, 0};
    }
    const auto blocks = static_cast<std::size_t>(variables.count / kVariablesAtOnce + 1);
    std::vector<double> grow_keys;
    std::vector<double> shrink_keys;
    grow_keys.reserve(blocks);
    shrink_keys.reserve(blocks);
    for_blocks(variables, [&](std::int64_t, std::int64_t, const GradientEnds& ends) {
        grow_keys.push_back(ends.up);
        shrink_keys.push_back(-ends.down);
    });
    Nearest grow(most, reached_by(grow_keys, most));
    Nearest shrink(most, reached_by(shrink_keys, most));
    for (std::size_t block = 0; block < grow_keys.size(); ++block) {
        if (!(grow_keys[block] < grow.limit()) && !(shrink_keys[block] < shrink.limit())) {
            continue;
        }
        const std::int64_t begin = static_cast<std::int64_t>(block) * kVariablesAtOnce;
        const std::int64_t end = std::min(begin + kVariablesAtOnce, variables.count);
        for (std::int64_t k = begin; k < end; ++k) {
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
    }
    return {grow.write(up), shrink.write(down)};
}

}  // namespace hinge
