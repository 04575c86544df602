// Sums in float32 over kept terms against sums in float64 over one pair at a time.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "check.hpp"
#include "hinge/kept_terms.hpp"
#include "hinge/random.hpp"

namespace {

using hinge::testing::check;

constexpr double kRoundings = 64.0 * 0x1.0p-24;  // of a kernel value and of its part in a sum

double uniform(hinge::Random& random) {
    return static_cast<double>(random.next() >> 11) * 0x1.0p-53 - 0.5;
}

// The sums of one point, one pair at a time, and what is summed up beside them.
struct Expected {
    std::vector<double> sums;  // of every function, and of the sizes of the terms
    double exponents;          // sizes times exponents
};

Expected expected(const std::vector<float>& z, const std::vector<float>& point,
                  const std::vector<double>& coef, std::int64_t functions) {
    const std::size_t width = point.size();
    const std::size_t terms = z.size() / width;
    Expected found{std::vector<double>(static_cast<std::size_t>(functions) + 1, 0.0), 0.0};
    for (std::size_t i = 0; i < terms; ++i) {
        double squared = 0.0;
        for (std::size_t f = 0; f < width; ++f) {
            const double step =
                static_cast<double>(z[i * width + f]) - static_cast<double>(point[f]);
            squared += step * step;
        }
        const double value = std::exp(-0.7 * squared);
        double largest = 0.0;
        for (std::size_t c = 0; c + 1 < found.sums.size(); ++c) {
            const double one = coef[c * terms + i];
            found.sums[c] += one * value;
            largest = std::max(largest, std::abs(one));
        }
        found.sums.back() += largest * value;
        found.exponents += largest * value * 0.7 * squared;
    }
    return found;
}

template <std::int64_t kWidth>
void compare(std::int64_t terms, std::int64_t points, std::int64_t functions,
             hinge::Random& random) {
    std::vector<float> z(static_cast<std::size_t>(terms * kWidth));
    std::vector<float> x(static_cast<std::size_t>(points * kWidth));
    std::vector<double> coef(static_cast<std::size_t>(terms * functions));
    for (float& value : z) {
        value = static_cast<float>(uniform(random));
    }
    for (float& value : x) {
        value = static_cast<float>(uniform(random));
    }
    for (std::size_t k = 0; k < coef.size(); ++k) {
        coef[k] = k % 3 == 0 ? 0.0 : uniform(random);
    }
    const hinge::DenseRows<float> rows{z.data(), terms, kWidth};
    const hinge::DenseRows<float> queries{x.data(), points, kWidth};
    std::vector<float> term_selfs;
    std::vector<float> point_selfs;
    const hinge::Centre<float> origin{};
    for (std::int64_t i = 0; i < terms; ++i) {
        term_selfs.push_back(hinge::self_sum<hinge::ProductPairing, float>(rows, i, origin));
    }
    for (std::int64_t k = 0; k < points; ++k) {
        point_selfs.push_back(hinge::self_sum<hinge::ProductPairing, float>(queries, k, origin));
    }
    hinge::KeptTerms kept(
        hinge::TermPanels<float>(rows, {nullptr, 0, terms}, {term_selfs.data(), nullptr}, origin),
        coef.data(), functions, kWidth);
    const hinge::TileReader<float> read = [&](hinge::Tile<float>& tile, std::int64_t first,
                                              std::int64_t size) {
        tile.read(queries, nullptr, first, size, origin);
    };
    std::vector<double> out(static_cast<std::size_t>(points * (functions + 1)), 1e9);
    kept.sums(hinge::RbfKernel{0.7}, read, {nullptr, 0, points}, {point_selfs.data(), nullptr},
              out.data());
    std::vector<double> near(static_cast<std::size_t>(points * (functions + 2)), 1e9);
    const hinge::TileReader<double> read_wide = [&](hinge::Tile<double>& tile, std::int64_t first,
                                                    std::int64_t size) {
        tile.read(queries, nullptr, first, size, hinge::Centre<double>{});
    };
    std::vector<double> wide_selfs;
    for (std::int64_t k = 0; k < points; ++k) {
        wide_selfs.push_back(
            hinge::self_sum<hinge::ProductPairing, double>(queries, k, hinge::Centre<double>{}));
    }
    kept.wide_sums(0.7, read_wide, {nullptr, 0, points}, wide_selfs.data(), near.data());
    std::vector<double> near_float(near.size(), 1e9);
    kept.near_sums(0.7, read, {nullptr, 0, points}, near_float.data());
    for (std::int64_t k = 0; k < points; ++k) {
        const Expected want_of =
            expected(z, std::vector<float>(x.begin() + k * kWidth, x.begin() + (k + 1) * kWidth),
                     coef, functions);
        const std::vector<double>& sums = want_of.sums;
        const double exponents = want_of.exponents;
        const double* in_double = near.data() + k * (functions + 2);
        const double* in_float = near_float.data() + k * (functions + 2);
        for (const double* found : {in_double, in_float}) {
            check(std::abs(found[functions + 1] - exponents) <= kRoundings * exponents + 1e-12,
                  "sizes times exponents");
        }
        for (std::int64_t c = 0; c <= functions; ++c) {
            const double got = out[static_cast<std::size_t>(k * (functions + 1) + c)];
            const double want = sums[static_cast<std::size_t>(c)];
            check(std::abs(got - want) <= kRoundings * sums.back() + 1e-12, "a sum, or the sizes");
            check(std::abs(in_double[c] - want) <= 2.0 * 0x1.0p-24 * sums.back() + 1e-12,
                  "a sum in float64, or the sizes");
            check(std::abs(in_float[c] - want) <= kRoundings * sums.back() + 1e-12,
                  "a sum by differences in float32, or the sizes");
        }
    }
}

}  // namespace

int main() {
    std::vector<std::uint64_t> words{3, 1, 4, 1};
    hinge::Random random(words.data());
    for (const std::int64_t terms : {1, 7, 16, 63, 64, 65, 200}) {
        for (const std::int64_t points : {1, 95, 97}) {
            compare<7>(terms, points, 1, random);
            compare<7>(terms, points, 3, random);
            compare<40>(terms, points, 2, random);
        }
    }
    return hinge::testing::finish();
}
