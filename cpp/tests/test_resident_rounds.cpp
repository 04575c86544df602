// Rounds on a small problem against the definitions: scores, bounds, the sum of the coefficients
// and the violation at the end; and the same bits wherever calls end.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "check.hpp"
#include "hinge/resident_rounds.hpp"
#include "hinge/resident_slots.hpp"

namespace {

using hinge::testing::check;
using hinge::testing::check_close;
using hinge::testing::check_equal;

constexpr std::int64_t kCount = 60;

struct Problem {
    std::vector<float> kernel = std::vector<float>(kCount * kCount);
    std::vector<double> linear, diagonal, lower, upper;
    bool is_balanced;

    Problem(unsigned seed, bool balanced) : is_balanced(balanced) {
        std::mt19937 random(seed);
        std::normal_distribution<double> normal;
        std::vector<double> x(kCount * 3);
        std::generate(x.begin(), x.end(), [&] { return normal(random); });
        for (std::int64_t i = 0; i < kCount; ++i) {
            for (std::int64_t j = 0; j < kCount; ++j) {
                double squared = 0.0;
                for (std::int64_t k = 0; k < 3; ++k) {
                    squared += std::pow(x[i * 3 + k] - x[j * 3 + k], 2);
                }
                kernel[i * kCount + j] = static_cast<float>(std::exp(-squared));
            }
            const bool positive = x[i * 3] > 0.0;
            linear.push_back(positive ? 1.0 : -1.0);
            diagonal.push_back(i % 7 == 0 ? 0.25 : 0.0);
            lower.push_back(positive ? 0.0 : -3.0);
            upper.push_back(positive ? 3.0 : 0.0);
        }
    }
};

struct Fill {
    const Problem& problem;
    std::int64_t calls = 0;

    void operator()(const std::int64_t* ids, std::int64_t count, const std::int64_t* columns,
                    std::int64_t n_columns, float* const* rows) {
        ++calls;
        for (std::int64_t i = 0; i < count; ++i) {
            for (std::int64_t j = 0; j < n_columns; ++j) {
                const std::int64_t column = columns == nullptr ? j : columns[j];
                rows[i][j] = problem.kernel[ids[i] * kCount + column];
            }
        }
    }
};

struct Run {
    std::vector<double> beta = std::vector<double>(kCount, 0.0);
    std::vector<double> scores = std::vector<double>(kCount, 0.0);
    std::vector<float> rows = std::vector<float>(kCount * kCount);
    std::vector<std::int64_t> slot_of = std::vector<std::int64_t>(kCount, -1);
    std::vector<std::int64_t> kept = std::vector<std::int64_t>(kCount, -1);
    std::vector<std::int64_t> used = std::vector<std::int64_t>(kCount, 0);
    bool written[kCount] = {};
    bool settled[kCount] = {};
    std::vector<std::int64_t> last;

    hinge::RoundsEnd go(const Problem& problem, const hinge::RoundLimits& limits) {
        Fill fill{problem};
        hinge::SlotRows slots({rows.data(), slot_of.data(), kept.data(), used.data(), written, 1},
                              kCount, fill);
        hinge::ResidentRounds rounds(
            {kCount, problem.linear.data(), problem.diagonal.data(), problem.lower.data(),
             problem.upper.data(), settled, beta.data(), scores.data(), problem.is_balanced},
            limits, last, slots);
        const hinge::RoundsEnd end = rounds.run();
        last = rounds.last_set();
        return end;
    }
};

constexpr std::int64_t kMuch = std::int64_t{1} << 40;

void check_optimum(const Problem& problem, const Run& run, double aim) {
    double up = std::numeric_limits<double>::infinity();
    double down = -up;
    double sum = 0.0;
    for (std::int64_t i = 0; i < kCount; ++i) {
        double score = 0.0;
        for (std::int64_t j = 0; j < kCount; ++j) {
            score += static_cast<double>(problem.kernel[i * kCount + j]) * run.beta[j];
        }
        check_close(run.scores[i], score, 1e-11, "a score is the sum of its kernel row");
        check(run.beta[i] >= problem.lower[i] && run.beta[i] <= problem.upper[i], "bounds hold");
        const double e = score + problem.diagonal[i] * run.beta[i] - problem.linear[i];
        up = run.beta[i] < problem.upper[i] ? std::min(up, e) : up;
        down = run.beta[i] > problem.lower[i] ? std::max(down, e) : down;
        sum += run.beta[i];
        if (run.slot_of[i] >= 0) {
            check_equal(run.kept[run.slot_of[i]], i, "a kept row is in its slot");
            check(run.written[run.slot_of[i]], "and written there");
        }
    }
    const double violation = problem.is_balanced ? down - up : std::max(down, -up);
    check(violation <= aim + 1e-10, "the aim is reached");
    if (problem.is_balanced) {
        check_close(sum, 0.0, 1e-11, "the coefficients sum to zero");
    }
}

void check_rounds(unsigned seed, bool balanced) {
    const Problem problem(seed, balanced);
    const hinge::RoundLimits limits{1e-4, 8, 20, kMuch, 1000, 3, kMuch, kMuch};
    Run whole;
    const hinge::RoundsEnd end = whole.go(problem, limits);
    check(end.stop == hinge::RoundsStop::arrived && end.rounds > 1, "it arrives, in many rounds");
    check_optimum(problem, whole, limits.aim);

    hinge::RoundLimits short_limits = limits;
    short_limits.work = 1;  // one round a call
    Run pieces;
    std::int64_t calls = 0;
    while (pieces.go(problem, short_limits).stop == hinge::RoundsStop::paused) {
        ++calls;
    }
    check_equal(calls + 1, end.rounds, "one round in every call, and the last arrives");
    for (std::int64_t i = 0; i < kCount; ++i) {
        check_equal(pieces.beta[i], whole.beta[i], "the same bits");
    }
}

void check_ends() {
    const Problem problem(5, true);
    Run run;
    const auto end_of = [&](hinge::RoundLimits limits) { return run.go(problem, limits).stop; };
    check(end_of({1e-4, 8, 20, kMuch, 1000, 3, kMuch, 1}) == hinge::RoundsStop::too_large,
          "a round that costs too much is not begun");
    check(run.last.empty(), "and no set is chosen for it");
    check(end_of({1e-4, 8, 20, 3, 1000, 3, kMuch, kMuch}) == hinge::RoundsStop::paused,
          "the limit on steps ends it");
    check(end_of({1e-9, kCount, kCount, kMuch, 2, 3, kMuch, kMuch}) == hinge::RoundsStop::slow,
          "a set of all rows that pairs do not solve");
    std::fill_n(run.settled, kCount, true);
    check(end_of({1e-4, 8, 20, kMuch, 1000, 3, kMuch, kMuch}) == hinge::RoundsStop::arrived,
          "nobody takes part");
}

}  // namespace

int main() {
    for (unsigned seed = 1; seed <= 5; ++seed) {
        check_rounds(seed, true);
        check_rounds(seed, false);
    }
    check_ends();
    return hinge::testing::finish();
}
