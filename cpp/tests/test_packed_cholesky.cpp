// Dropping rows of a packed Cholesky factor, against factoring what is left.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "check.hpp"
#include "hinge/packed_cholesky.hpp"

namespace {

using Matrix = std::vector<std::vector<double>>;

// A kernel matrix of points on a line: positive definite, and nearly singular for many points.
Matrix kernel(std::int64_t count) {
    Matrix values(static_cast<std::size_t>(count),
                  std::vector<double>(static_cast<std::size_t>(count)));
    for (std::size_t i = 0; i < values.size(); ++i) {
        for (std::size_t j = 0; j < values.size(); ++j) {
            const double apart = 0.7 * (static_cast<double>(i) - static_cast<double>(j));
            values[i][j] = std::exp(-apart * apart) + (i == j ? 0.1 : 0.0);
        }
    }
    return values;
}

std::vector<double> factor(const Matrix& values) {
    std::vector<double> packed;
    for (std::size_t i = 0; i < values.size(); ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            double left = values[i][j];
            for (std::size_t k = 0; k < j; ++k) {
                left -= packed[i * (i + 1) / 2 + k] * packed[j * (j + 1) / 2 + k];
            }
            packed.push_back(i == j ? std::sqrt(left) : left / packed[j * (j + 1) / 2 + j]);
        }
    }
    return packed;
}

void without(Matrix& values, std::size_t k) {
    values.erase(values.begin() + static_cast<std::ptrdiff_t>(k));
    for (auto& row : values) {
        row.erase(row.begin() + static_cast<std::ptrdiff_t>(k));
    }
}

}  // namespace

int main() {
    for (std::int64_t count = 1; count <= 12; ++count) {
        for (std::int64_t k = 0; k < count; ++k) {
            Matrix values = kernel(count);
            std::vector<double> packed = factor(values);
            hinge::drop_packed_row(packed.data(), count, k);
            without(values, static_cast<std::size_t>(k));
            const std::vector<double> expected = factor(values);
            for (std::size_t at = 0; at < expected.size(); ++at) {
                hinge::testing::check(std::abs(packed[at] - expected[at]) <= 1e-13,
                                      "one row dropped");
            }
        }
    }
    // One after the other, from everywhere: errors do not grow.
    Matrix values = kernel(40);
    std::vector<double> packed = factor(values);
    for (std::int64_t count = 40; count > 1; --count) {
        const std::int64_t k = (count * count / 3) % count;
        hinge::drop_packed_row(packed.data(), count, k);
        without(values, static_cast<std::size_t>(k));
        const std::vector<double> expected = factor(values);
        for (std::size_t at = 0; at < expected.size(); ++at) {
            hinge::testing::check(std::abs(packed[at] - expected[at]) <= 1e-12,
                                  "many rows dropped");
        }
    }
    return hinge::testing::finish();
}
