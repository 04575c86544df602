// Labels of a few queries against scalar sums, and rules of intervals against all of their corners.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "check.hpp"
#include "hinge/few_queries.hpp"
#include "hinge/random.hpp"

namespace {

using hinge::DenseRows;
using hinge::FewLimits;
using hinge::FewQueries;
using hinge::kOpen;
using hinge::LabelRule;
using hinge::testing::check;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinite = std::numeric_limits<double>::infinity();

double uniform(hinge::Random& random) {
    return static_cast<double>(random.below(1U << 20)) / static_cast<double>(1U << 20);
}

// The class that wins at given values of the pairs of three classes.
std::int64_t winner(const std::array<double, 3>& pairs) {
    std::array<double, 3> votes{};
    std::array<double, 3> sums{};
    const std::array<std::array<std::size_t, 2>, 3> sides{{{0, 1}, {0, 2}, {1, 2}}};
    for (std::size_t k = 0; k < 3; ++k) {
        votes[sides[k][pairs[k] > 0.0 ? 0 : 1]] += 1.0;
        sums[sides[k][0]] += pairs[k];
        sums[sides[k][1]] -= pairs[k];
    }
    for (std::size_t c = 0; c < 3; ++c) {
        votes[c] += sums[c] / (std::abs(sums[c]) + 1.0) / 3.0;
    }
    return std::max_element(votes.begin(), votes.end()) - votes.begin();
}

void compare_votes(hinge::Random& random) {
    int proven = 0;
    for (int round = 0; round < 4000; ++round) {
        std::array<double, 3> lower{};
        std::array<double, 3> upper{};
        for (std::size_t k = 0; k < 3; ++k) {
            const double middle = 2.0 * uniform(random) - 1.0;
            const double width = uniform(random) * (random.below(2) == 0 ? 0.02 : 0.8);
            lower[k] = middle - width;
            upper[k] = middle + width;
        }
        const std::int64_t code =
            hinge::proven_code(LabelRule::kVotes, 3, lower.data(), upper.data(), 3);
        if (code == kOpen) {
            continue;
        }
        ++proven;
        for (unsigned corner = 0; corner < 8; ++corner) {
            std::array<double, 3> values{};
            for (std::size_t k = 0; k < 3; ++k) {
                values[k] = (corner >> k & 1U) != 0 ? upper[k] : lower[k];
            }
            check(winner(values) == code, "a proven winner wins at every corner");
        }
    }
    check(proven > 1000, "most intervals prove a winner");
}

void compare_rules() {
    const auto sign = [](double low, double high, bool is_strict) {
        return hinge::proven_code(is_strict ? LabelRule::kStrictSign : LabelRule::kSign, 2, &low,
                                  &high, 1);
    };
    check(sign(0.0, 1.0, false) == 1 && sign(0.0, 1.0, true) == kOpen, "zero is the second's");
    check(sign(-1.0, 0.0, false) == kOpen && sign(-1.0, 0.0, true) == 0, "or the first's");
    check(sign(-1.0, 1.0, false) == kOpen && sign(kNan, kNan, false) == kOpen, "open signs");
    const std::array<double, 3> low{0.0, 2.0, -kInfinite};
    const std::array<double, 3> high{1.9, 3.0, 1.0};
    const auto largest = [&](const double* lower, const double* upper) {
        return hinge::proven_code(LabelRule::kLargest, 3, lower, upper, 3);
    };
    check(largest(low.data(), high.data()) == 1, "the largest");
    for (const double other : {2.0, kInfinite, kNan}) {
        const std::array<double, 3> reaching{0.5, 3.0, other};
        check(largest(low.data(), reaching.data()) == kOpen, "not surely the largest");
    }
    const std::array<double, 3> nothing{kNan, kNan, kNan};
    check(largest(nothing.data(), nothing.data()) == kOpen, "no numbers, no class");
    check(hinge::proven_code(LabelRule::kVotes, 3, nothing.data(), nothing.data(), 3) == kOpen,
          "no numbers, no winner");
}

// A sparse query with as many values as the bounds are for, and with one more.
void compare_sparse(const std::vector<double>& query, const hinge::ProductStep& step, double limit,
                    double want) {
    const auto width = static_cast<std::int64_t>(query.size());
    std::vector<std::int32_t> columns(query.size());
    std::iota(columns.begin(), columns.end(), 0);
    const std::array<std::int64_t, 2> offsets{0, width};
    const hinge::CsrRows<double, std::int32_t> sparse{
        query.data(), columns.data(), offsets.data(), true, 1, width};
    for (const std::int64_t stored : {width, width - 1}) {
        FewQueries few(
            FewLimits{limit, limit, stored, {1e-12}, {0.0}, {}, {}, LabelRule::kSign, 2});
        few.add(0, step);
        double low = 0.0;
        double high = 0.0;
        const bool is_taken = few.bounds(sparse, 0, 0, &low, &high);
        check(is_taken == (stored == width), "rows of too many values are left open");
        check(!is_taken || (low <= want && want <= high), "bounds of a sparse row");
    }
}

// One function of a few terms; queries near them, far away, and without numbers.
void compare_queries(std::int64_t terms, std::int64_t width, hinge::Random& random) {
    const double gamma = 0.7 / static_cast<double>(width);
    std::vector<double> values(static_cast<std::size_t>(terms * width));
    for (double& value : values) {
        value = random.below(3) == 0 ? 0.0 : std::floor(511.0 * uniform(random)) / 255.0;
    }
    std::vector<double> coef(static_cast<std::size_t>(terms));
    for (double& value : coef) {
        value = 2.0 * uniform(random) - 1.0;
    }
    const DenseRows<double> rows{values.data(), terms, width};
    std::vector<float> selfs(static_cast<std::size_t>(terms));
    std::vector<std::int16_t> whole(values.size());
    for (std::int64_t i = 0; i < terms; ++i) {
        selfs[static_cast<std::size_t>(i)] = static_cast<float>(
            hinge::self_sum<hinge::ProductPairing>(rows, i, hinge::Centre<double>{}));
    }
    std::transform(values.begin(), values.end(), whole.begin(), [](double value) {
        return static_cast<std::int16_t>(std::rint(255.0 * value));
    });
    const auto kept = std::make_shared<const hinge::KeptTerms>(
        hinge::TermPanels<float>(rows, {nullptr, 0, terms}, {selfs.data(), nullptr}, {}),
        coef.data(), 1, width);
    const auto packed = std::make_shared<const hinge::WholeTerms>(
        whole.data(), terms, width, hinge::TermCoefficients(coef.data(), terms, 1));
    const double limit = 4.0 * static_cast<double>(width) + 1.0;
    const hinge::SumBounds bounds{1e-4, 1e-4, {1e-12}};
    FewQueries few(FewLimits{limit, limit, width, {1e-12}, {0.0}, {}, {}, LabelRule::kSign, 2});
    few.add(0, hinge::WholeStep{packed, gamma / (255.0 * 255.0), 255.0, 1e-9, bounds});
    few.add(0, hinge::ProductStep{kept, gamma, {0.0, 1e-4, {1e-12}}});
    few.add(0, hinge::DifferenceStep{kept, gamma, bounds});
    few.add(1, hinge::WideStep{kept, gamma, bounds});

    for (int round = 0; round < 12; ++round) {
        std::vector<double> query(static_cast<std::size_t>(width));
        for (double& value : query) {
            value = std::floor(511.0 * uniform(random)) / 255.0;
        }
        if (round % 3 == 1) {
            query[0] += 1e-3;  // no whole multiple any more
        }
        const DenseRows<double> one{query.data(), 1, width};
        double want = 0.0;
        for (std::int64_t i = 0; i < terms; ++i) {
            double squared = 0.0;
            for (std::int64_t k = 0; k < width; ++k) {
                const double off = rows.row(i)[k] - query[static_cast<std::size_t>(k)];
                squared += off * off;
            }
            want += coef[static_cast<std::size_t>(i)] * std::exp(-gamma * squared);
        }
        for (std::size_t step = 0; step < few.steps(); ++step) {
            double low = 0.0;
            double high = 0.0;
            const bool is_taken = few.bounds(one, 0, step, &low, &high);
            check(is_taken == (step != 0 || round % 3 != 1), "whole multiples alone");
            check(!is_taken || (low <= want && want <= high), "bounds hold the value");
        }
        std::int64_t code = 0;
        const std::int64_t open = few.codes(one, &code);
        check(open == (code == kOpen ? 1 : 0), "open rows are counted");
        check(code == kOpen || code == (want >= 0.0 ? 1 : 0), "a proven label");
        compare_sparse(query, {kept, gamma, {0.0, 1e-4, {1e-12}}}, limit, want);
        for (const double wrong : {kNan, kInfinite, 1e200, 1e3}) {
            query[0] = wrong;
            check(few.codes(one, &code) == 1 && code == kOpen, "beyond what bounds are for");
        }
    }
}

}  // namespace

int main() {
    std::vector<std::uint64_t> words{3, 1, 4, 1};
    hinge::Random random(words.data());
    compare_rules();
    compare_votes(random);
    for (const std::int64_t terms : {1, 64, 130}) {
        for (const std::int64_t width : {1, 2, 9, 40}) {
            compare_queries(terms, width, random);
        }
    }
    return hinge::testing::finish();
}
