// Sums and products of vectors against scalar loops, for lengths around registers and blocks.
#include <cstdint>
#include <string>
#include <vector>

#include "check.hpp"
#include "hinge/random.hpp"
#include "hinge/weight_vectors.hpp"

namespace {

using hinge::testing::check_close;
using hinge::testing::check_equal;

constexpr double kTolerance = 1e-11;

std::vector<double> random_vector(hinge::Random& random, std::int64_t width) {
    std::vector<double> vector;
    for (std::int64_t j = 0; j < width; ++j) {
        vector.push_back(static_cast<double>(random.next() >> 11) * 0x1.0p-52 - 1.0);
    }
    return vector;
}

void test_movement(hinge::Random& random, std::int64_t width) {
    const std::string what = "movement of " + std::to_string(width);
    const std::vector<double> w = random_vector(random, width);
    const std::vector<double> before = random_vector(random, width);
    const std::vector<double> base = random_vector(random, width);
    const std::vector<double> matrix = random_vector(random, 2 * width);
    double want[5] = {};
    for (std::int64_t j = 0; j < width; ++j) {
        const double moved = w[j] - before[j];
        want[0] += w[j] * w[j];
        want[1] += moved * moved;
        want[2] += w[j] * base[j];
        want[3] += matrix[j] * moved;
        want[4] += matrix[width + j] * moved;
    }
    double got[2] = {7.0, 7.0};  // whatever was there is overwritten
    const hinge::MovementSums sums =
        hinge::movement(w.data(), before.data(), base.data(), matrix.data(), 2, width, got);
    check_close(sums.square, want[0], kTolerance, what + ": w'w");
    check_close(sums.moved, want[1], kTolerance, what + ": d'd");
    check_close(sums.with_base, want[2], kTolerance, what + ": w'base");
    check_close(got[0], want[3], kTolerance, what + ": first row");
    check_close(got[1], want[4], kTolerance, what + ": second row");
    const hinge::MovementSums alone =
        hinge::movement(w.data(), before.data(), nullptr, matrix.data(), 0, width, got);
    check_equal(alone.square, sums.square, what + " without a base: w'w");
    check_equal(alone.moved, sums.moved, what + " without a base: d'd");
    check_equal(alone.with_base, 0.0, what + " without a base");
}

void test_combine(hinge::Random& random, std::int64_t width) {
    const std::string what = " of " + std::to_string(width);
    const std::vector<double> x = random_vector(random, width);
    const std::vector<double> y = random_vector(random, width);
    const std::vector<double> z = random_vector(random, width);
    std::vector<double> two(x.size());
    std::vector<double> three(x.size());
    const double square =
        hinge::combine(width, two.data(), hinge::Term{3.0, x.data()}, hinge::Term{-0.5, y.data()});
    const double larger = hinge::combine(width, three.data(), hinge::Term{3.0, x.data()},
                                         hinge::Term{-0.5, y.data()}, hinge::Term{2.0, z.data()});
    double want[2] = {};
    for (std::size_t j = 0; j < x.size(); ++j) {
        const double sum = 3.0 * x[j] - 0.5 * y[j];
        check_close(two[j], sum, kTolerance, "3 x - y / 2" + what);
        check_close(three[j], sum + 2.0 * z[j], kTolerance, "3 x - y / 2 + 2 z" + what);
        want[0] += sum * sum;
        want[1] += (sum + 2.0 * z[j]) * (sum + 2.0 * z[j]);
    }
    check_close(square, want[0], kTolerance * (1.0 + want[0]), "square of two terms" + what);
    check_close(larger, want[1], kTolerance * (1.0 + want[1]), "square of three terms" + what);
}

}  // namespace

int main() {
    auto words = hinge::seeded_words(13);
    hinge::Random random(words.data());
    for (const std::int64_t width : {0, 1, 3, 4, 5, 8, 511, 512, 513, 2000}) {
        test_movement(random, width);
        test_combine(random, width);
    }
    return hinge::testing::finish();
}
