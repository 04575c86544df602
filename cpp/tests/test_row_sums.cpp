// Sums over weighted rows against plain scalar loops over a dense copy of them.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "check.hpp"
#include "hinge/random.hpp"
#include "hinge/row_sums.hpp"

namespace {

using hinge::RowRange;
using hinge::testing::check_close;

constexpr std::int64_t kRows = 9;
constexpr std::int64_t kFirst = 2;
constexpr std::int64_t kCount = 6;
constexpr double kTolerance = 1e3 * std::numeric_limits<double>::epsilon();

double uniform(hinge::Random& random) {
    return static_cast<double>(random.next() >> 11) * 0x1.0p-52 - 1.0;
}

std::vector<double> uniforms(std::int64_t count, hinge::Random& random) {
    std::vector<double> values(static_cast<std::size_t>(count));
    for (double& value : values) {
        value = uniform(random);
    }
    return values;
}

// The same rows dense, dense with the constant feature, and sparse; half of the values are zero.
template <class Value, class Index>
struct Data {
    std::int64_t width;
    double constant;
    std::vector<Value> dense;
    std::vector<Value> values;
    std::vector<Index> columns;
    std::vector<std::int64_t> offsets{0};

    Data(std::int64_t features, double feature, hinge::Random& random)
        : width(features), constant(feature) {
        for (std::int64_t i = 0; i < kRows; ++i) {
            for (std::int64_t k = 0; k < width; ++k) {
                const bool filled = (random.next() >> 40) % 2 == 0;
                const auto value = filled ? static_cast<Value>(uniform(random)) : Value{0};
                dense.push_back(value);
                if (value != Value{0}) {
                    values.push_back(value);
                    columns.push_back(static_cast<Index>(k));
                }
            }
            offsets.push_back(static_cast<std::int64_t>(values.size()));
        }
    }

    std::int64_t length() const { return width + (constant == 0.0 ? 0 : 1); }
    double entry(std::int64_t i, std::int64_t k) const {
        return k == width ? constant : static_cast<double>(dense[i * width + k]);
    }
    RowRange<hinge::DenseRows<Value>> dense_range() const {
        return {{dense.data(), kRows, width}, kFirst, kCount, constant};
    }
    RowRange<hinge::CsrRows<Value, Index>> sparse_range() const {
        return {{values.data(), columns.data(), offsets.data(), true, kRows, width},
                kFirst,
                kCount,
                constant};
    }
};

void check_all(const std::vector<double>& got, const std::vector<double>& want,
               const std::string& what) {
    for (std::size_t k = 0; k < want.size(); ++k) {
        check_close(got[k], want[k], kTolerance, what + " " + std::to_string(k));
    }
}

template <class Rows, class Plain>
void test_sums(const RowRange<Rows>& range, const Plain& data, const std::string& kind,
               hinge::Random& random) {
    std::vector<double> weights = uniforms(kCount, random);
    weights[1] = weights[4] = 0.0;
    const std::vector<double> v = uniforms(data.length(), random);
    const std::vector<double> held = uniforms(data.length(), random);
    std::vector<double> products(kCount, 0.0);
    auto sum = held;
    auto squares = held;
    auto curved = held;
    for (std::int64_t i = 0; i < kCount; ++i) {
        for (std::int64_t k = 0; k < data.length(); ++k) {
            products[i] += data.entry(kFirst + i, k) * v[k];
        }
        for (std::int64_t k = 0; k < data.length(); ++k) {
            const double x = data.entry(kFirst + i, k);
            sum[k] += weights[i] * x;
            squares[k] += weights[i] * x * x;
            curved[k] += weights[i] * products[i] * x;
        }
    }
    auto got = held;
    hinge::weighted_sum(range, weights.data(), got.data());
    check_all(got, sum, kind + " sum");
    got = held;
    hinge::weighted_squares(range, weights.data(), got.data());
    check_all(got, squares, kind + " squares");
    got = held;
    hinge::curvature_product(range, weights.data(), v.data(), got.data());
    check_all(got, curved, kind + " product");
}

template <class Plain>
void test_outer(const Plain& data, const std::string& kind, hinge::Random& random) {
    std::vector<double> weights = uniforms(kCount, random);
    weights[2] = 0.0;
    const std::int64_t n = data.length();
    std::vector<double> got = uniforms(n * n, random);
    auto want = got;
    for (std::int64_t i = 0; i < kCount; ++i) {
        for (std::int64_t k = 0; k < n; ++k) {
            for (std::int64_t j = 0; j <= k; ++j) {
                want[k * n + j] +=
                    weights[i] * data.entry(kFirst + i, k) * data.entry(kFirst + i, j);
            }
        }
    }
    hinge::weighted_outer(data.sparse_range(), weights.data(), got.data());
    check_all(got, want, kind + " outer");
}

template <class Value, class Index>
void test_type(const std::string& type, hinge::Random& random) {
    for (const std::int64_t width : {0, 1, 3, 4, 5, 16, 17, 54}) {
        for (const double constant : {0.0, 1.0, 2.5}) {
            const Data<Value, Index> data(width, constant, random);
            const std::string kind = type + " of " + std::to_string(width);
            test_sums(data.dense_range(), data, "dense " + kind, random);
            test_sums(data.sparse_range(), data, "sparse " + kind, random);
            test_outer(data, kind, random);
        }
    }
}

}  // namespace

int main() {
    auto words = hinge::seeded_words(11);
    hinge::Random random(words.data());
    test_type<double, std::int32_t>("double", random);
    test_type<float, std::int64_t>("float", random);
    return hinge::testing::finish();
}
