// Newton's method over few features: its matrix, its factor and its minimum against plain loops.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "check.hpp"
#include "hinge/primal_newton.hpp"
#include "hinge/random.hpp"

namespace {

using hinge::LossWindow;
using hinge::testing::check;
using hinge::testing::check_close;
using hinge::testing::check_equal;
using Vector = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

double uniform(hinge::Random& random) {
    return static_cast<double>(random.next() >> 11) * 0x1.0p-52 - 1.0;
}

// Rows, dense and sparse; a third of the values are zero.
template <class Value>
struct Data {
    std::int64_t count;
    std::int64_t width;
    std::vector<Value> dense;
    std::vector<Value> values;
    std::vector<std::int32_t> columns;
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int8_t> signs;
    Vector costs;

    Data(std::int64_t count, std::int64_t width) : count(count), width(width) {
        std::uint64_t state[4] = {1, 2, 3, static_cast<std::uint64_t>(width)};
        hinge::Random random(state);
        for (std::int64_t i = 0; i < count; ++i) {
            signs.push_back(uniform(random) > 0.2 ? 1 : -1);
            costs.push_back(i % 7 == 3 ? 0.0 : 1.0 + uniform(random));
            for (std::int64_t k = 0; k < width; ++k) {
                const double shifted = uniform(random) + 0.4 * signs.back();
                const auto value = static_cast<Value>(uniform(random) > 0.3 ? 0.0 : shifted);
                dense.push_back(value);
                if (value != 0) {
                    values.push_back(value);
                    columns.push_back(static_cast<std::int32_t>(k));
                }
            }
            offsets.push_back(static_cast<std::int64_t>(values.size()));
        }
    }

    hinge::DenseRows<Value> dense_rows() const { return {dense.data(), count, width}; }
    hinge::CsrRows<Value, std::int32_t> sparse_rows() const {
        return {values.data(), columns.data(), offsets.data(), true, count, width};
    }
    double at(std::int64_t i, std::int64_t k, double constant) const {
        return k == width ? constant : static_cast<double>(dense[i * width + k]);
    }
};

template <class Value, class Rows>
void check_outer(const Data<Value>& data, const Rows& rows, double constant) {
    const std::int64_t size = data.width + (constant == 0.0 ? 0 : 1);
    const std::int64_t stride = hinge::padded(size);
    Vector matrix(static_cast<std::size_t>(size * stride));
    hinge::OuterProducts outer(size, constant);
    for (std::int64_t i = 0; i < data.count; ++i) {
        outer.add(rows, i, data.costs[i], matrix.data());
    }
    outer.finish(matrix.data());
    for (std::int64_t j = 0; j < size; ++j) {
        for (std::int64_t k = 0; k <= j; ++k) {
            double sum = 0.0;
            for (std::int64_t i = 0; i < data.count; ++i) {
                sum += data.costs[i] * data.at(i, j, constant) * data.at(i, k, constant);
            }
            check_close(matrix[j * stride + k], sum, 1e-10, "a product of two features");
        }
    }
}

void check_factor(std::int64_t n) {
    const std::int64_t stride = hinge::padded(n);
    Vector matrix(static_cast<std::size_t>(n * stride));
    Vector solution(static_cast<std::size_t>(n));
    Vector b(solution.size());
    const auto entry = [n](std::int64_t j, std::int64_t k) {
        const double size = std::pow(10.0, static_cast<double>((j % 3) + (k % 3)));
        return size * (j == k ? static_cast<double>(n) + 1.0 : 1.0 / (1.0 + std::abs(j - k)));
    };
    for (std::int64_t j = 0; j < n; ++j) {
        solution[j] = std::sin(static_cast<double>(j + 1));
        for (std::int64_t k = 0; k <= j; ++k) {
            matrix[j * stride + k] = entry(j, k);
        }
    }
    for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t k = 0; k < n; ++k) {
            b[j] += entry(j, k) * solution[k];
        }
    }
    Vector scale(solution.size());
    hinge::factorise_scaled(matrix.data(), stride, scale.data(), n);
    hinge::solve_scaled(matrix.data(), stride, scale.data(), b.data(), n);
    for (std::int64_t j = 0; j < n; ++j) {
        check_close(b[j], solution[j], 1e-10, "a solved system of " + std::to_string(n));
    }
}

// The objective by a plain loop.
template <class Value>
double objective(const Data<Value>& data, const hinge::PrimalProgram& p, const Vector& w) {
    double total = 0.0;
    const auto size = static_cast<std::int64_t>(w.size());
    for (std::int64_t k = 0; k < size; ++k) {
        total += k == data.width && p.is_free ? 0.0 : 0.5 * w[k] * w[k];
    }
    for (std::int64_t i = 0; i < data.count; ++i) {
        double score = 0.0;
        for (std::int64_t k = 0; k < size; ++k) {
            score += data.at(i, k, p.constant) * w[k];
        }
        const double below = p.window.top - data.signs[i] * score;
        const double depth = std::clamp(below, 0.0, p.window.width);
        const double beyond = std::max(below - depth, 0.0);
        total += data.costs[i] * p.window.bend * depth * (0.5 * depth + beyond);
    }
    return total;
}

struct Found {
    Vector weights;
    Vector alpha;
    hinge::PrimalNumbers numbers{kInfinity, -kInfinity, 0.0, 0.0, kInfinity, 0.0};
};

template <class Value, class Rows>
Found minimum(const Data<Value>& data, const Rows& rows, const hinge::PrimalProgram& p,
              std::int64_t work) {
    const auto size = static_cast<std::size_t>(data.width) + (p.constant == 0.0 ? 0 : 1);
    Vector weights(size), alpha(static_cast<std::size_t>(data.count));
    Found found{Vector(size), Vector(alpha.size())};
    const hinge::PrimalArrays at{weights.data(), found.weights.data(), alpha.data(),
                                 found.alpha.data()};
    for (int call = 0; call < 1000 && found.numbers.is_over == 0.0; ++call) {
        hinge::PrimalNewton(rows, p, at, found.numbers).advance(work, kMost, 0.0);
    }
    return found;
}

// No coefficient is above its bound, by a rounding error either: it would be no dual point.
template <class Value>
void check_box(const Data<Value>& data, const hinge::PrimalProgram& p, const Vector& alpha,
               const char* what) {
    for (std::size_t i = 0; i < alpha.size(); ++i) {
        const double most = data.costs[i] > 0.0 ? data.costs[i] * p.steepest : 0.0;
        check(alpha[i] >= 0.0 && alpha[i] <= most, what);
    }
}

// A hinge whose corner is rounded: both values are of the hinge itself.
template <class Value>
void check_rounded_corner(const Data<Value>& data, double half_width) {
    const LossWindow window{1.0 + half_width, 2.0 * half_width, 1.0 / (2.0 * half_width)};
    const hinge::PrimalProgram p{window, 1.0, true, data.signs.data(), data.costs.data(),
                                 0.0,    0.5, false};
    const Found found = minimum(data, data.dense_rows(), p, kMost);
    check_box(data, p, found.alpha, "a rounded corner");
    double primal = 0.0;
    for (const double weight : found.weights) {
        primal += 0.5 * weight * weight;
    }
    for (std::int64_t i = 0; i < data.count; ++i) {
        double score = 0.0;
        for (std::int64_t k = 0; k <= data.width; ++k) {
            score += data.at(i, k, 0.5) * found.weights[static_cast<std::size_t>(k)];
        }
        primal += data.costs[i] * std::max(1.0 - data.signs[i] * score, 0.0);
    }
    check_close(found.numbers.best_primal, primal, 1e-10, "the hinge of a rounded corner");
    const double cost = std::accumulate(data.costs.begin(), data.costs.end(), 0.0);
    const double gap = found.numbers.best_primal - found.numbers.best_dual;
    check(gap >= 0.0 && gap <= 0.25 * half_width * cost, "the gap of a rounded corner");
}

template <class Value>
void check_minimum(const Data<Value>& data, const hinge::PrimalProgram& p, const char* what) {
    const Found dense = minimum(data, data.dense_rows(), p, kMost);
    const Found cut = minimum(data, data.dense_rows(), p, 1);
    const Found sparse = minimum(data, data.sparse_rows(), p, kMost);
    check_equal(dense.weights == cut.weights && dense.alpha == cut.alpha, true, what);
    check_box(data, p, dense.alpha, what);
    check_close(dense.numbers.best_primal, objective(data, p, dense.weights), 1e-10, what);
    check_close(dense.numbers.best_dual, dense.numbers.best_primal, 1e-8, what);
    check_close(sparse.numbers.best_primal, dense.numbers.best_primal, 1e-9, what);
    for (std::size_t k = 0; k < dense.weights.size(); ++k) {
        for (const double step : {-1e-4, 1e-4}) {
            Vector aside = dense.weights;
            aside[k] += step;
            check(objective(data, p, aside) >= dense.numbers.best_primal, what);
        }
    }
}

template <class Value>
void check_kind() {
    for (const std::int64_t width : {1, 2, 3, 4, 5, 8, 13}) {
        const Data<Value> data(101, width);
        for (const double constant : {0.0, 0.5}) {
            check_outer(data, data.dense_rows(), constant);
            check_outer(data, data.sparse_rows(), constant);
        }
        for (const double half_width : {0.1, 0.001, 0.3e-4}) {
            check_rounded_corner(data, half_width);
        }
        for (const LossWindow& window :
             {LossWindow{1.0, kInfinity, 2.0}, {1.5, 1.0, 1.0}, {1.3, 0.6, 1.0 / 0.6}}) {
            const double steepest = window.width < kInfinity ? 1.0 : kInfinity;
            const hinge::PrimalProgram p{
                window, steepest, false, data.signs.data(), data.costs.data(), 0.0, 0.0, false};
            hinge::PrimalProgram augmented = p, free = p;
            augmented.constant = 0.5;
            free.constant = 1.0;
            free.is_free = true;
            check_minimum(data, p, "no intercept");
            check_minimum(data, augmented, "an augmented intercept");
            check_minimum(data, free, "a free intercept");
        }
    }
}

}  // namespace

int main() {
    for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 16, 33}) {
        check_factor(n);
    }
    check_kind<float>();
    check_kind<double>();
    return hinge::testing::finish();
}
