// Kernel values by panels and tiles against sums over one feature at a time: every kernel, dense
// and sparse, at sizes around those of registers, panels, tiles and chunks.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "check.hpp"
#include "hinge/kernel_rows.hpp"
#include "hinge/random.hpp"

namespace {

using hinge::testing::check_close;
using hinge::testing::check_equal;

// Rows in both storages; a share of the entries is zero.
template <class Value>
struct Matrix {
    Matrix(std::int64_t rows, std::int64_t width, double zeros, hinge::Random& random)
        : count(rows), features(width), starts{0} {
        for (std::int64_t i = 0; i < rows; ++i) {
            for (std::int64_t k = 0; k < width; ++k) {
                const double place = static_cast<double>(random.next() >> 11) * 0x1.0p-53;
                const double value = static_cast<double>(random.next() >> 11) * 0x1.0p-53;
                full.push_back(static_cast<Value>(place < zeros ? 0.0 : value));
                if (full.back() != Value{0}) {
                    values.push_back(full.back());
                    columns.push_back(static_cast<std::int32_t>(k));
                }
            }
            starts.push_back(static_cast<std::int64_t>(values.size()));
        }
    }
    hinge::DenseRows<Value> dense() const { return {full.data(), count, features}; }
    hinge::CsrRows<Value, std::int32_t> sparse() const {
        return {values.data(), columns.data(), starts.data(), true, count, features};
    }
    double at(std::int64_t i, std::int64_t k) const {
        return static_cast<double>(full[static_cast<std::size_t>(i * features + k)]);
    }

    std::int64_t count;
    std::int64_t features;
    std::vector<Value> full;
    std::vector<Value> values;
    std::vector<std::int32_t> columns;
    std::vector<std::int64_t> starts;
};

struct Sums {
    double product = 0.0;
    double squared = 0.0;
    double absolute = 0.0;
    double chi = 0.0;
};

template <class Value>
Sums sums_of(const Matrix<Value>& matrix, std::int64_t i, std::int64_t j) {
    Sums sums;
    for (std::int64_t k = 0; k < matrix.features; ++k) {
        const double a = matrix.at(i, k);
        const double b = matrix.at(j, k);
        sums.product += a * b;
        sums.squared += (a - b) * (a - b);
        sums.absolute += std::abs(a - b);
        sums.chi += a + b > 0.0 ? (a - b) * (a - b) / (a + b) : 0.0;
    }
    return sums;
}

double expected(const hinge::LinearKernel&, const Sums& sums) {
    return sums.product;
}
double expected(const hinge::PolynomialKernel& kernel, const Sums& sums) {
    return std::pow(kernel.gamma * sums.product + kernel.coef0, static_cast<double>(kernel.degree));
}
double expected(const hinge::RbfKernel& kernel, const Sums& sums) {
    return std::exp(-kernel.gamma * sums.squared);
}
double expected(const hinge::SigmoidKernel& kernel, const Sums& sums) {
    return std::tanh(kernel.gamma * sums.product + kernel.coef0);
}
double expected(const hinge::LaplacianKernel& kernel, const Sums& sums) {
    return std::exp(-kernel.gamma * sums.absolute);
}
double expected(const hinge::ChiSquaredKernel& kernel, const Sums& sums) {
    return std::exp(-kernel.gamma * sums.chi);
}

// All terms with all points, as a block and as sums, from one storage.
template <class Real, class Kernel, class Value, class Rows>
void check_storage(const Kernel& kernel, const Matrix<Value>& matrix, const Rows& rows,
                   std::int64_t n_terms, const std::string& name) {
    using Pairing = typename Kernel::Pairing;
    const hinge::Centre<Real> centre{};
    std::vector<Real> selfs;
    for (std::int64_t i = 0; i < matrix.count; ++i) {
        selfs.push_back(hinge::self_sum<Pairing, Real>(rows, i, centre));
    }
    std::vector<Real> together(selfs.size() - 1);
    hinge::self_sums<Pairing, Real>(rows, 1, matrix.count - 1, centre, together.data());
    hinge::testing::check(std::equal(together.begin(), together.end(), selfs.begin() + 1),
                          name + ": sums of rows with themselves, one by one and together");
    const hinge::Sides<Real> sides{selfs.data(), nullptr};
    const hinge::TermPanels<Real> terms(rows, {nullptr, 0, n_terms}, sides, centre);
    const hinge::Selection points{nullptr, 0, matrix.count};
    const hinge::TileReader<Real> read = [&](hinge::Tile<Real>& tile, std::int64_t first,
                                             std::int64_t size) {
        tile.read(rows, nullptr, first, size, centre);
    };
    std::vector<std::vector<Real>> block(static_cast<std::size_t>(n_terms));
    std::vector<Real*> pointers;
    std::vector<double> coef;
    for (std::vector<Real>& row : block) {
        row.resize(static_cast<std::size_t>(matrix.count));
        pointers.push_back(row.data());
        coef.push_back(coef.size() % 2 == 0 ? 1.0 : -0.5);
    }
    hinge::fill_block<Real>(kernel, terms, read, points, sides, pointers.data());
    std::vector<double> added(static_cast<std::size_t>(matrix.count), 0.0);
    hinge::add_terms<Real>(kernel, terms, read, points, sides,
                           hinge::TermFunctions<Real>(coef.data(), n_terms, 1), added.data());
    const double unit = static_cast<double>(std::numeric_limits<Real>::epsilon());
    const double bound = 16.0 * static_cast<double>(matrix.features + 4) * unit;
    for (std::int64_t j = 0; j < matrix.count; ++j) {
        double sum = 0.0;
        double size = 0.0;
        for (std::int64_t i = 0; i < n_terms; ++i) {
            const double want = expected(kernel, sums_of(matrix, i, j));
            const auto value = block[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
            check_close(static_cast<double>(value), want, bound * (1.0 + std::abs(want)), name);
            if (i == j && std::is_same_v<Kernel, hinge::RbfKernel>) {
                check_equal(value, Real{1}, name + ": a row has distance 0 to itself");
            }
            const double term = coef[static_cast<std::size_t>(i)] * static_cast<double>(value);
            sum += term;
            size += std::abs(term);
        }
        check_close(added[static_cast<std::size_t>(j)], sum,
                    4e-16 * static_cast<double>(n_terms + 1) * size, name + ": sums");
    }
}

template <class Real, class Kernel>
void check_kernel(const Kernel& kernel, const std::string& name) {
    auto words = hinge::seeded_words(7);
    hinge::Random random(words.data());
    constexpr std::int64_t kPanel = hinge::kPanelRows<Real>;
    constexpr std::int64_t kChunk = hinge::kChunkFeatures;
    const std::int64_t shapes[][3] = {{1, 1, 1},
                                      {hinge::kTileRows + 1, 3, kPanel - 1},
                                      {37, kChunk + 1, kPanel / 2},
                                      {kPanel + 2, 9, kPanel + 1},
                                      {14, 2 * kChunk - 1, 14}};
    for (const auto& shape : shapes) {
        for (const double zeros : {0.0, 0.8}) {
            const std::int64_t n_terms = std::min(shape[2], shape[0]);
            const Matrix<Real> matrix(shape[0], shape[1], zeros, random);
            const std::string what =
                name + " of " + std::to_string(shape[0]) + " rows of " + std::to_string(shape[1]);
            check_storage<Real>(kernel, matrix, matrix.dense(), n_terms, what + ", dense");
            check_storage<Real>(kernel, matrix, matrix.sparse(), n_terms, what + ", sparse");
        }
    }
    // So many features that a panel keeps only those that its rows have.
    const Matrix<Real> wide(9, hinge::kMostDirectFeatures + 5, 0.99, random);
    check_storage<Real>(kernel, wide, wide.sparse(), 5, name + ", wide");
}

template <class Real>
void check_kernels(const std::string& type) {
    check_kernel<Real>(hinge::LinearKernel{}, "linear " + type);
    check_kernel<Real>(hinge::PolynomialKernel{0.02, 0.5, 3}, "polynomial " + type);
    check_kernel<Real>(hinge::RbfKernel{0.05}, "rbf " + type);
    check_kernel<Real>(hinge::SigmoidKernel{0.02, -0.5}, "sigmoid " + type);
    check_kernel<Real>(hinge::LaplacianKernel{0.05}, "laplacian " + type);
    check_kernel<Real>(hinge::ChiSquaredKernel{0.05}, "chi-squared " + type);
}

}  // namespace

int main() {
    check_kernels<float>("float");
    check_kernels<double>("double");
    return hinge::testing::finish();
}
