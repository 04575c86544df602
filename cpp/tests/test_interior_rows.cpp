// The passes of the interior point method against the conditions that they are to meet, row by row,
// and against plain scalar sums; the formulas in NumPy are in the Python tests.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "check.hpp"
#include "hinge/interior_rows.hpp"
#include "hinge/random.hpp"

namespace {

using hinge::Extent;
using hinge::testing::check;
using hinge::testing::check_close;
using hinge::testing::check_equal;

constexpr std::int64_t kWidth = 5;
constexpr double kConstant = 2.0;
constexpr double kTau = 0.25;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double uniform(hinge::Random& random) {
    return static_cast<double>(random.next() >> 11) * 0x1.0p-52 - 1.0;
}

// Rows with a third of zeros, the same as CSR, and variables inside their bounds.
struct Data {
    explicit Data(std::int64_t n) : count(n) {
        auto words = hinge::seeded_words(static_cast<std::uint64_t>(n) + 1);
        hinge::Random random(words.data());
        offsets.push_back(0);
        for (std::int64_t i = 0; i < n; ++i) {
            for (std::int32_t k = 0; k < kWidth; ++k) {
                const double value = random.below(3) == 0 ? 0.0 : uniform(random);
                dense.push_back(value);
                if (value != 0.0) {
                    values.push_back(value);
                    columns.push_back(k);
                }
            }
            offsets.push_back(static_cast<std::int32_t>(values.size()));
            signs.push_back(random.below(2) == 0 ? std::int8_t{-1} : std::int8_t{1});
            costs.push_back(random.below(4) == 0 ? 0.0 : 1.0 + uniform(random) / 2.0);
        }
        for (std::int64_t k = 0; k < 8 * n; ++k) {
            variables.push_back(1.5 + uniform(random));
        }
    }

    hinge::PathVariables views() {
        double* const at = variables.data();
        return {at,
                at + count,
                at + 2 * count,
                at + 3 * count,
                at + 4 * count,
                at + 5 * count,
                at + 6 * count,
                at + 7 * count};
    }
    hinge::RowNumbers numbers() const { return {signs.data(), costs.data(), 1.0}; }
    hinge::DenseRows<double> dense_rows() const { return {dense.data(), count, kWidth}; }
    hinge::CsrRows<double, std::int32_t> csr_rows() const {
        return {values.data(), columns.data(), offsets.data(), false, count, kWidth};
    }

    std::int64_t count;
    std::vector<double> dense, values, costs, variables;
    std::vector<std::int32_t> columns, offsets;
    std::vector<std::int8_t> signs;
};

template <bool kBounded>
hinge::PathProgram program() {
    return {1.0, kBounded ? 0.0 : 0.5, kBounded ? 1.0 : HUGE_VAL};
}

// After centring, every row meets the conditions of the path for its margin.
template <bool kBounded>
void test_centre(std::int64_t n) {
    Data data(n);
    using Rows = hinge::DenseRows<double>;
    hinge::InteriorRows<Rows, kBounded> rows(data.dense_rows(), data.numbers(), program<kBounded>(),
                                             data.views(), kConstant);
    std::vector<double> vectors(3 * (kWidth + 1), 0.0);
    std::vector<double> scaled(static_cast<std::size_t>(n * (kWidth + 1)), 0.0);
    rows.scaled_rows({0, n}, {kTau, 0.0}, vectors.data(), scaled.data());
    const hinge::PathVariables v = data.views();
    for (std::int64_t i = 0; i < n; ++i) {
        const double cost = data.costs[i] > 0.0 ? data.costs[i] : 1.0;
        const double bend = kBounded ? 0.0 : 0.5 / cost;
        const double high = kBounded ? v.high[i] : 0.0;
        check_close(v.alpha[i] * v.low[i], kTau, 1e-14, "lower product");
        check_close(v.margin[i] + bend * v.alpha[i] - 1.0 - v.low[i] + high, 0.0, 1e-11,
                    "stationary");
        if (kBounded) {
            check_close(v.room[i] * v.high[i], kTau, 1e-14, "upper product");
            check_close(v.alpha[i] + v.room[i], cost, 1e-14, "room");
        }
    }
}

// Of rows up to a weight every eighth is kept, as eight; the vectors are still those of all rows.
template <bool kBounded>
void test_few_rows(std::int64_t n) {
    Data data(n);
    hinge::InteriorRows<hinge::DenseRows<double>, kBounded> rows(
        data.dense_rows(), data.numbers(), program<kBounded>(), data.views(), kConstant);
    constexpr std::int64_t kAll = kWidth + 1;
    std::vector<double> weights, vectors(3 * kAll, 0.0), again(3 * kAll, 0.0);
    std::vector<std::int64_t> numbers;
    rows.weigh({0, n}, {kNone, 0.0}, vectors.data(), [&](std::int64_t i, double weight) {
        numbers.push_back(i);
        weights.push_back(weight);
    });
    auto sorted = weights;
    std::sort(sorted.begin(), sorted.end());
    const double least = sorted.empty() ? 0.0 : sorted[sorted.size() / 2];
    std::size_t next = 0;
    const auto skip = [&] {
        while (next < numbers.size() && weights[next] <= least && numbers[next] % 8 != 0) {
            ++next;
        }
    };
    rows.weigh({0, n}, {kNone, least}, again.data(), [&](std::int64_t i, double weight) {
        skip();
        check_equal(i, numbers[next], "row kept");
        check_equal(weight, (weights[next] > least ? 1.0 : 8.0) * weights[next], "its weight");
        ++next;
    });
    skip();
    check_equal(next, numbers.size(), "no row is forgotten");
    for (std::int64_t k = 0; k < 3 * kAll; ++k) {
        check_equal(again[k], vectors[k], "vectors of all rows");
    }
}

// Dense and sparse rows, products and outer products, whole and in two pieces: all the same.
template <bool kBounded>
void test_matrix(std::int64_t n) {
    Data data(n);
    hinge::InteriorRows<hinge::DenseRows<double>, kBounded> dense(
        data.dense_rows(), data.numbers(), program<kBounded>(), data.views(), kConstant);
    hinge::InteriorRows<hinge::CsrRows<double, std::int32_t>, kBounded> csr(
        data.csr_rows(), data.numbers(), program<kBounded>(), data.views(), kConstant);
    constexpr std::int64_t kAll = kWidth + 1;
    std::vector<double> vectors(3 * kAll, 0.0), other(3 * kAll, 0.0);
    std::vector<double> scaled(static_cast<std::size_t>(n * kAll), 0.0);
    std::vector<double> square(kAll * kAll, 0.0);
    const std::int64_t kept = csr.scaled_rows({0, n}, {kNone, 0.0}, vectors.data(), scaled.data());
    const std::int64_t half = n / 2;
    dense.outer_products({0, half}, {kNone, 0.0}, other.data(), square.data());
    dense.outer_products({half, n}, {kNone, 0.0}, other.data(), square.data());
    const auto present =
        std::count_if(data.costs.begin(), data.costs.end(), [](double cost) { return cost > 0.0; });
    check_equal(kept, static_cast<std::int64_t>(present), "rows kept");
    check(n < 60 || (kept > 0 && kept < n), "some rows are kept, some are not");
    const double tolerance = 1e-13 * static_cast<double>(n + 1);
    for (std::int64_t k = 0; k < 3 * kAll; ++k) {
        check_close(other[k], vectors[k], tolerance, "vectors");
    }
    for (std::int64_t a = 0; a < kAll; ++a) {
        for (std::int64_t b = 0; b < kAll; ++b) {
            double want = 0.0;
            for (std::int64_t i = 0; b <= a && i < kept; ++i) {
                want += scaled[i * kAll + a] * scaled[i * kAll + b];
            }
            check_close(square[a * kAll + b], want, tolerance, "lower triangle");
        }
    }
}

// A whole step along the affine direction, with nothing put back, ends where the linearised
// conditions hold: what is left of them is the product of the changes.
template <bool kBounded>
void test_follow(std::int64_t n) {
    Data data(n);
    hinge::InteriorRows<hinge::DenseRows<double>, kBounded> rows(
        data.dense_rows(), data.numbers(), program<kBounded>(), data.views(), kConstant);
    std::vector<double> direction(kWidth + 1, 0.3), sums(kWidth + 1, 0.0);
    const hinge::PathVariables v = data.views();
    for (std::int64_t i = 0; i < n; ++i) {
        v.second_low[i] = v.second_high[i] = 0.0;
    }
    const auto before = data.variables;
    const double peak = rows.follow_corrected({0, n}, direction.data(), kTau, sums.data());
    hinge::ValueSums values;
    rows.update({0, n}, kTau, 1.0, values);
    double largest = -HUGE_VAL;
    for (std::int64_t i = 0; i < n; ++i) {
        const double d_alpha = v.alpha[i] - before[i];
        const double d_low = v.low[i] - before[2 * n + i];
        check_close(v.alpha[i] * v.low[i] - d_alpha * d_low, kTau, 1e-10, "lower product");
        largest = std::max({largest, -d_alpha / before[i], -d_low / before[2 * n + i]});
        const double cost = data.costs[i] > 0.0 ? data.costs[i] : 1.0;
        double left = v.margin[i] - 1.0 - v.low[i];
        if (kBounded) {
            const double d_high = v.high[i] - before[3 * n + i];
            check_close(v.room[i] * v.high[i] + d_alpha * d_high, kTau, 1e-10, "upper product");
            largest = std::max({largest, d_alpha / before[n + i], -d_high / before[3 * n + i]});
            left += v.high[i];
        } else {
            left += 0.5 / cost * v.alpha[i];
        }
        check_close(left, 0.0, 1e-10, "stationary");
    }
    if (n > 0) {
        check_close(peak, largest, 1e-9 * std::abs(largest), "peak");
    }
}

}  // namespace

int main() {
    for (const std::int64_t n : {0, 1, 3, 4, 63, 64, 65, 130}) {
        test_centre<true>(n);
        test_centre<false>(n);
        test_few_rows<true>(n);
        test_few_rows<false>(n);
        test_matrix<true>(n);
        test_matrix<false>(n);
        test_follow<true>(n);
        test_follow<false>(n);
    }
    return hinge::testing::finish();
}
