// Sums over whole numbers of 16 bits against sums in float64 over one pair at a time.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "check.hpp"
#include "hinge/random.hpp"
#include "hinge/whole_terms.hpp"

namespace {

using hinge::testing::check;

constexpr double kRoundings = 64.0 * 0x1.0p-24;

// Numbers up to `largest` of either sign.
std::vector<std::int16_t> numbers(std::int64_t count, std::int64_t largest, hinge::Random& random) {
    std::vector<std::int16_t> found(static_cast<std::size_t>(count));
    for (std::int16_t& value : found) {
        const auto drawn =
            static_cast<std::int64_t>(random.next() % static_cast<std::uint64_t>(2 * largest + 1));
        value = static_cast<std::int16_t>(drawn - largest);
    }
    return found;
}

void compare(std::int64_t terms, std::int64_t width, std::int64_t largest, hinge::Random& random) {
    constexpr std::int64_t kPoints = 3;
    constexpr std::int64_t kFunctions = 2;
    const std::vector<std::int16_t> z = numbers(terms * width, largest, random);
    const std::vector<std::int16_t> x = numbers(kPoints * width, largest, random);
    std::vector<double> coef(static_cast<std::size_t>(terms * kFunctions));
    for (double& value : coef) {
        value = static_cast<double>(random.next() >> 11) * 0x1.0p-53 - 0.5;
    }
    const double gamma = 1.0 / static_cast<double>(largest * largest * width);
    const hinge::WholeTerms kept(z.data(), terms, width,
                                 hinge::TermCoefficients(coef.data(), terms, kFunctions));
    std::vector<double> out(kPoints * (kFunctions + 2), 1e9);
    kept.sums(static_cast<float>(gamma), x.data(), kPoints, out.data());
    for (std::int64_t k = 0; k < kPoints; ++k) {
        double want[kFunctions + 2] = {};
        for (std::int64_t i = 0; i < terms; ++i) {
            double squared = 0.0;
            for (std::int64_t f = 0; f < width; ++f) {
                const double step =
                    static_cast<double>(z[static_cast<std::size_t>(i * width + f)]) -
                    x[static_cast<std::size_t>(k * width + f)];
                squared += step * step;
            }
            const double value = std::exp(-gamma * squared);
            double size = 0.0;
            for (std::int64_t c = 0; c < kFunctions; ++c) {
                const double one = coef[static_cast<std::size_t>(c * terms + i)];
                want[c] += one * value;
                size = std::max(size, std::abs(one));
            }
            want[kFunctions] += size * value;
            want[kFunctions + 1] += size * value * gamma * squared;
        }
        for (std::int64_t c = 0; c < kFunctions + 2; ++c) {
            const double got = out[static_cast<std::size_t>(k * (kFunctions + 2) + c)];
            const double scale = want[kFunctions] + want[kFunctions + 1];
            check(std::abs(got - want[c]) <= kRoundings * scale + 1e-12, "a sum of whole numbers");
        }
    }
}

}  // namespace

int main() {
    std::vector<std::uint64_t> words{2, 7, 1, 8};
    hinge::Random random(words.data());
    for (const std::int64_t terms : {1, 63, 64, 65, 200}) {
        for (const std::int64_t width : {1, 2, 7, 100}) {
            compare(terms, width, 255, random);
            compare(terms, width, 2000, random);
        }
    }
    // As large as squared norms may be.
    compare(5, 1, 23170, random);
    return hinge::testing::finish();
}
