// The inner loops against plain scalar sums, at lengths around the vector width and misaligned.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "check.hpp"
#include "hinge/linalg.hpp"
#include "hinge/random.hpp"
#include "hinge/rows.hpp"

namespace {

using hinge::testing::check;
using hinge::testing::check_close;
using hinge::testing::check_equal;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr std::int64_t kOffsets = 4;  // from a vector register's boundary, in values

double uniform(hinge::Random& random) {
    return static_cast<double>(random.next() >> 11) * 0x1.0p-52 - 1.0;
}

template <class Value>
std::vector<Value> random_values(std::int64_t count, hinge::Random& random) {
    std::vector<Value> values(static_cast<std::size_t>(count));
    for (Value& value : values) {
        value = static_cast<Value>(uniform(random));
    }
    return values;
}

std::vector<std::int64_t> lengths() {
    std::vector<std::int64_t> all;
    for (std::int64_t n = 0; n <= 40; ++n) {
        all.push_back(n);
    }
    all.insert(all.end(), {54, 63, 64, 65, 127, 128, 129, 784, 1000});
    return all;
}

template <class Value>
void test_dense(hinge::Random& random, const std::string& type) {
    for (const std::int64_t n : lengths()) {
        for (std::int64_t offset = 0; offset < kOffsets; ++offset) {
            const auto row = random_values<Value>(n + offset, random);
            const auto w = random_values<double>(n + offset, random);
            double want = 0.0;
            double size = 0.0;
            for (std::int64_t k = offset; k < n + offset; ++k) {
                want += static_cast<double>(row[k]) * w[k];
                size += std::abs(static_cast<double>(row[k]) * w[k]);
            }
            const double bound = 2.0 * static_cast<double>(n + 1) * kEpsilon * size;
            const double got = hinge::dense_dot(row.data() + offset, w.data() + offset, n);
            check_close(got, want, bound, "dense_dot " + type + " of " + std::to_string(n));

            auto sum = w;
            hinge::dense_add(row.data() + offset, 0.37, sum.data() + offset, n);
            for (std::int64_t k = 0; k < n + offset; ++k) {
                const double step = k < offset ? 0.0 : 0.37 * static_cast<double>(row[k]);
                check_close(sum[k], w[k] + step, 2.0 * kEpsilon, "dense_add " + type);
            }
        }
    }
}

// Asking for another row on the way must not change a bit of a product.
template <class Value>
void test_asking(hinge::Random& random, const std::string& type) {
    constexpr std::int64_t kCount = 3;
    for (const std::int64_t n : lengths()) {
        const auto values = random_values<Value>(kCount * n, random);
        const auto w = random_values<double>(n, random);
        const hinge::DenseRows<Value> rows{values.data(), kCount, n};
        for (std::int64_t i = 0; i < kCount; ++i) {
            const std::string what = type + " of " + std::to_string(n);
            const double want = rows.dot(i, w.data());
            for (std::int64_t next = 0; next < kCount; ++next) {
                check_equal(rows.dot_asking(i, w.data(), next), want, "dot_asking " + what);
            }
            check_equal(hinge::dot_in_order<4096>(rows, i, w.data()), want, "dot_in_order " + what);
        }
    }
}

// Columns in increasing order with random gaps, as canonical CSR rows have them.
template <class Index>
std::vector<Index> random_columns(std::int64_t count, hinge::Random& random) {
    std::vector<Index> columns;
    Index column = 0;
    for (std::int64_t k = 0; k < count; ++k) {
        column += static_cast<Index>(1 + random.below(3));
        columns.push_back(column);
    }
    return columns;
}

template <class Value, class Index>
void test_sparse(hinge::Random& random, const std::string& type) {
    for (const std::int64_t n : lengths()) {
        const auto columns = random_columns<Index>(n, random);
        const auto values = random_values<Value>(n, random);
        const auto w = random_values<double>(3 * n + 1, random);
        double want = 0.0;
        double size = 0.0;
        auto added = w;
        for (std::int64_t k = 0; k < n; ++k) {
            const double value = static_cast<double>(values[k]);
            want += value * w[columns[k]];
            size += std::abs(value * w[columns[k]]);
            added[columns[k]] += value * -1.25;
        }
        const double bound = 2.0 * static_cast<double>(n + 1) * kEpsilon * size;
        const double got = hinge::sparse_dot(values.data(), columns.data(), w.data(), n);
        check_close(got, want, bound, "sparse_dot " + type + " of " + std::to_string(n));

        // What the row does not name must not matter, be it no number.
        auto elsewhere = w;
        elsewhere[0] = std::numeric_limits<double>::quiet_NaN();
        check_equal(hinge::sparse_dot(values.data(), columns.data(), elsewhere.data(), n), got,
                    "sparse_dot beside no number " + type);

        auto sum = w;
        hinge::sparse_add(values.data(), columns.data(), -1.25, sum.data(), n);
        for (std::size_t k = 0; k < sum.size(); ++k) {
            check_close(sum[k], added[k], 4.0 * kEpsilon, "sparse_add " + type);
        }
    }
}

// Moving the same numbers in memory must not change a bit of their inner product.
void test_alignment_does_not_matter(hinge::Random& random) {
    constexpr std::int64_t n = 1000;
    const auto row = random_values<double>(n, random);
    const auto w = random_values<double>(n, random);
    const double want = hinge::dense_dot(row.data(), w.data(), n);
    for (std::int64_t offset = 1; offset < 8; ++offset) {
        std::vector<double> moved(static_cast<std::size_t>(offset), 7.0);
        moved.insert(moved.end(), row.begin(), row.end());
        check_equal(hinge::dense_dot(moved.data() + offset, w.data(), n), want, "moved row");
    }
}

void test_random_is_seeded_and_even() {
    auto words = hinge::seeded_words(5);
    auto same = hinge::seeded_words(5);
    auto other = hinge::seeded_words(6);
    check(words == same && words != other, "the seed decides the words");
    hinge::Random random(words.data());
    constexpr int kDraws = 30000;
    std::vector<int> counts(3, 0);
    for (int draw = 0; draw < kDraws; ++draw) {
        ++counts[random.below(3)];
    }
    for (const int count : counts) {
        // Six standard deviations of a binomial count with p = 1/3.
        check_close(count, kDraws / 3.0, 6.0 * std::sqrt(kDraws * 2.0 / 9.0), "even draws");
    }
    check_equal(random.below(1), 0U, "the only number below one");
}

}  // namespace

int main() {
    auto words = hinge::seeded_words(1);
    hinge::Random random(words.data());
    test_dense<double>(random, "float64");
    test_dense<float>(random, "float32");
    test_asking<double>(random, "float64");
    test_asking<float>(random, "float32");
    test_sparse<double, std::int32_t>(random, "float64 int32");
    test_sparse<double, std::int64_t>(random, "float64 int64");
    test_sparse<float, std::int32_t>(random, "float32 int32");
    test_sparse<float, std::int64_t>(random, "float32 int64");
    test_alignment_does_not_matter(random);
    test_random_is_seeded_and_even();
    return hinge::testing::finish();
}
