// The best intercept between two against values of the sum of losses on a fine grid.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "check.hpp"
#include "hinge/best_intercept.hpp"

namespace {

using hinge::testing::check;
using hinge::testing::check_close;

// A hinge; and a squared hinge below margin 1 that is a line below -1.
struct Loss {
    std::vector<double> margins, jumps, bends, constants, slopes;

    hinge::LossPieces pieces() const {
        return {static_cast<std::int64_t>(margins.size()),
                margins.data(),
                jumps.data(),
                bends.data(),
                constants.data(),
                slopes.data()};
    }
    double value(double z) const {
        double total = 0.0;  // minus the integral of the derivative from z to where it is zero
        double end = margins.back();
        for (std::size_t k = margins.size(); k-- > 0 && z < end;) {
            const double from = k == 0 ? z : std::max(z, margins[k - 1]);
            total -= constants[k] * (end - from) + 0.5 * slopes[k] * (end * end - from * from);
            end = from;
        }
        return total;
    }
};

const Loss kHinge{{1.0}, {1.0}, {0.0}, {-1.0, 0.0}, {0.0, 0.0}};
const Loss kTwoPieces{{-1.0, 1.0}, {0.0, 0.0}, {2.0, -2.0}, {-4.0, -2.0, 0.0}, {0.0, 2.0, 0.0}};

double uniform(std::mt19937& random) {
    return static_cast<double>(random()) * 0x1.0p-32;
}

void check_loss(const Loss& loss) {
    std::mt19937 random(7);
    for (int turn = 0; turn < 200; ++turn) {
        std::vector<double> scores, costs;
        std::vector<std::int8_t> signs;
        for (int i = 0; i < 2 + turn % 9; ++i) {
            scores.push_back(std::round(8.0 * (uniform(random) - 0.5)) / 2.0);
            costs.push_back(1.0 + std::floor(3.0 * uniform(random)));
            signs.push_back(uniform(random) < 0.5 ? std::int8_t{-1} : std::int8_t{1});
        }
        const auto total = [&](double b) {
            double sum = 0.0;
            for (std::size_t i = 0; i < scores.size(); ++i) {
                sum += costs[i] * loss.value(signs[i] * (scores[i] + b));
            }
            return sum;
        };
        const double least = 4.0 * (uniform(random) - 0.7);
        const double most = least + 3.0 * uniform(random);
        const hinge::ScoredRows rows{static_cast<std::int64_t>(scores.size()), scores.data(),
                                     signs.data(), costs.data()};
        const double found = hinge::BestIntercept(loss.pieces(), rows, least, most).middle();
        check(found >= least && found <= most, "it is between the two");
        for (int k = 0; k <= 300; ++k) {
            const double other = least + (most - least) * k / 300.0;
            check(total(found) <= total(other) + 1e-12, "none is better");
        }
    }
}

void check_middle() {
    const double scores[] = {-3.0, 3.0};
    const std::int8_t signs[] = {-1, 1};
    const double costs[] = {1.0, 1.0};
    const hinge::ScoredRows rows{2, scores, signs, costs};
    const auto between = [&](double least, double most) {
        return hinge::BestIntercept(kHinge.pieces(), rows, least, most).middle();
    };
    check_close(between(-10.0, 10.0), 0.0, 1e-15, "the middle of all that are best");
    check_close(between(1.0, 10.0), 1.5, 1e-15, "of those in between");
    check_close(between(3.0, 4.0), 3.0, 1e-15, "the nearest to them");
    check_close(between(0.5, 0.5), 0.5, 1e-15, "the only one");
}

// Where the slope is as good as zero all the way, its zero may be far beyond both ends.
void check_noise() {
    const double score = 0.0;
    const std::int8_t sign = -1;
    const double cost = 1.0;
    const hinge::ScoredRows rows{1, &score, &sign, &cost};
    const double noise = 64.0 * 0x1.0p-52;  // of the slope, which is 2 + 2 b here
    const double least = -1.0 + 0.49 * noise;
    const double most = -1.0 + 0.51 * noise;
    const double found = hinge::BestIntercept(kTwoPieces.pieces(), rows, least, most).middle();
    check(found >= least && found <= most, "it is between two that are next to each other");
}

}  // namespace

int main() {
    check_loss(kHinge);
    check_loss(kTwoPieces);
    check_middle();
    check_noise();
    return hinge::testing::finish();
}
