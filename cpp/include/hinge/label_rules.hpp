// Labels of intervals: the code of a class that every value inside the intervals gives, or none.
//
// The rules are those of src/hinge/anytime/rules.py, for one row. What is no number is neither
// above nor below anything, so that it proves nothing.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hinge {

inline constexpr std::int64_t kOpen = -1;  // the code of a row that nothing is proven of

enum class LabelRule {
    kSign,        // one function: the second class where it is not negative
    kStrictSign,  // the second class where it is positive
    kLargest,     // a function for every class: the first of those with the largest value
    kVotes,       // a function for every pair: most votes, then the largest sum of values
};

inline std::int64_t sign_code(double lower, double upper, bool is_strict) noexcept {
    if (is_strict ? lower > 0.0 : lower >= 0.0) {
        return 1;
    }
    return (is_strict ? upper <= 0.0 : upper < 0.0) ? 0 : kOpen;
}

// The class whose lower bound is above all other upper bounds.
inline std::int64_t largest_code(const double* lower, const double* upper, std::int64_t count,
                                 double slack = 0.0) noexcept {
    const std::int64_t code = std::max_element(lower, lower + count) - lower;
    for (std::int64_t c = 0; c < count; ++c) {
        if (c != code && !(lower[code] > upper[c] + slack)) {
            return kOpen;
        }
    }
    return std::isnan(lower[code]) ? kOpen : code;
}

// Votes of pairs (0, 1), (0, 2), ... of classes; see VoteRule in rules.py.
class VoteBounds {
  public:
    VoteBounds(const double* lower, const double* upper, std::int64_t classes)
        : lower_(lower), upper_(upper), classes_(classes) {}

    std::int64_t code() const {
        const std::int64_t sure = by_votes();
        return sure == kOpen ? by_sums() : sure;
    }

  private:
    static constexpr double kLargest = 1e300;  // of a value that is summed
    static constexpr double kSlack = 1e-12;    // what roundings of votes and fractions add up to
    static constexpr double kRounding = 1e-14;

    // Calls visit(first class, second class, lower, upper) for every pair.
    template <class Visit>
    void for_pairs(Visit&& visit) const {
        std::int64_t at = 0;
        for (std::int64_t a = 0; a < classes_; ++a) {
            for (std::int64_t b = a + 1; b < classes_; ++b, ++at) {
                visit(static_cast<std::size_t>(a), static_cast<std::size_t>(b), lower_[at],
                      upper_[at]);
            }
        }
    }

    // The class with more sure votes than any other can have.
    std::int64_t by_votes() const {
        const auto size = static_cast<std::size_t>(classes_);
        std::vector<std::int64_t> sure(size, 0);
        std::vector<std::int64_t> possible(size, classes_ - 1);
        for_pairs([&](std::size_t a, std::size_t b, double low, double high) {
            sure[a] += low > 0.0 ? 1 : 0;
            possible[b] -= low > 0.0 ? 1 : 0;
            sure[b] += high <= 0.0 ? 1 : 0;
            possible[a] -= high <= 0.0 ? 1 : 0;
        });
        const auto code =
            static_cast<std::size_t>(std::max_element(sure.begin(), sure.end()) - sure.begin());
        const std::int64_t most = sure[code];
        possible[code] = -1;
        const bool wins = most > *std::max_element(possible.begin(), possible.end());
        return wins ? static_cast<std::int64_t>(code) : kOpen;
    }

    // The class that is ahead with the sums of values, too, which decide between equal votes.
    std::int64_t by_sums() const {
        const auto size = static_cast<std::size_t>(classes_);
        std::vector<double> low(size, 0.0);
        std::vector<double> high(size, 0.0);
        std::vector<double> low_votes(size, 0.0);
        std::vector<double> high_votes(size, 0.0);
        double largest = 0.0;
        for_pairs([&](std::size_t a, std::size_t b, double below, double above) {
            largest = std::max({largest, std::abs(below), std::abs(above)});
            below = std::clamp(below, -kLargest, kLargest);
            above = std::clamp(above, -kLargest, kLargest);
            low_votes[a] += below > 0.0 ? 1.0 : 0.0;
            low_votes[b] += above <= 0.0 ? 1.0 : 0.0;
            high_votes[a] += above > 0.0 ? 1.0 : 0.0;
            high_votes[b] += below <= 0.0 ? 1.0 : 0.0;
            low[a] += below;
            low[b] -= above;
            high[a] += above;
            high[b] -= below;
        });
        const double span = std::min(kRounding * static_cast<double>(classes_) * largest, kLargest);
        for (std::size_t c = 0; c < size; ++c) {
            low[c] = low_votes[c] + fraction(low[c] - span);
            high[c] = high_votes[c] + fraction(high[c] + span);
        }
        return largest_code(low.data(), high.data(), classes_, kSlack);
    }

    static double fraction(double sum) noexcept { return sum / (std::abs(sum) + 1.0) / 3.0; }

    const double* lower_;
    const double* upper_;
    std::int64_t classes_;
};

// The code that the bounds of all functions of a row prove; kOpen if none.
inline std::int64_t proven_code(LabelRule rule, std::int64_t classes, const double* lower,
                                const double* upper, std::int64_t functions) {
    switch (rule) {
        case LabelRule::kSign:
        case LabelRule::kStrictSign:
            return sign_code(lower[0], upper[0], rule == LabelRule::kStrictSign);
        case LabelRule::kLargest:
            return largest_code(lower, upper, functions);
        case LabelRule::kVotes:
            return VoteBounds(lower, upper, classes).code();
    }
    return kOpen;
}

}  // namespace hinge
