// The variables next to the ends of the gradient, against a sort.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "hinge/random.hpp"
#include "hinge/violators.hpp"

namespace {

using hinge::testing::check;
using hinge::testing::check_equal;

enum class Gradients { random, rising, falling, few };

struct Case {
    Case(std::int64_t n, Gradients kind, bool all_take_part)
        : settled(new bool[static_cast<std::size_t>(n)]()), count(n) {
        auto words = hinge::seeded_words(5);
        hinge::Random random(words.data());
        for (std::int64_t k = 0; k < n; ++k) {
            const auto word = static_cast<std::int64_t>(random.next() >> 40);
            const double at_random = static_cast<double>(word % 100'000) - 50'000.0;
            const double values[] = {at_random, static_cast<double>(k), static_cast<double>(-k),
                                     static_cast<double>(word % 3)};
            gradient.push_back(values[static_cast<std::size_t>(kind)]);
            lower.push_back(word % 2 == 0 ? 0.0 : -1.0);
            upper.push_back(lower.back() + 1.0);
            beta.push_back(lower.back() + 0.5 * static_cast<double>(word % 3));
            group.push_back(!all_take_part && word % 7 == 0 ? std::int8_t{1} : std::int8_t{-1});
            settled[static_cast<std::size_t>(k)] = !all_take_part && word % 11 == 0;
        }
    }
    ~Case() { delete[] settled; }
    Case(const Case&) = delete;
    Case& operator=(const Case&) = delete;

    hinge::ProgramVariables variables() const {
        return {count,        gradient.data(), beta.data(), lower.data(),
                upper.data(), group.data(),    settled};
    }
    // All that may grow, or shrink, with the gradient or its negative, sorted.
    std::vector<std::pair<double, std::int64_t>> sorted(bool grows) const {
        std::vector<std::pair<double, std::int64_t>> found;
        for (std::int64_t k = 0; k < count; ++k) {
            const auto at = static_cast<std::size_t>(k);
            const bool may = grows ? beta[at] < upper[at] : beta[at] > lower[at];
            if (may && group[at] < 0 && !settled[at]) {
                found.emplace_back(grows ? gradient[at] : -gradient[at], k);
            }
        }
        std::sort(found.begin(), found.end());
        return found;
    }

    std::vector<double> gradient, beta, lower, upper;
    std::vector<std::int8_t> group;
    bool* settled;
    std::int64_t count;
};

void check_side(const Case& some, bool grows, std::int64_t most, std::vector<std::int64_t> got,
                const std::string& name) {
    std::vector<std::int64_t> want;
    for (const auto& [key, number] : some.sorted(grows)) {
        if (static_cast<std::int64_t>(want.size()) < most) {
            want.push_back(number);
        }
    }
    std::sort(want.begin(), want.end());
    std::sort(got.begin(), got.end());
    check(got == want, name + (grows ? ", what may grow" : ", what may shrink"));
}

void check_case(std::int64_t n, Gradients kind, std::int64_t most, bool all_take_part) {
    const Case some(n, kind, all_take_part);
    const std::string name = std::to_string(most) + " of " + std::to_string(n) + ", kind " +
                             std::to_string(static_cast<int>(kind));
    const auto grow = some.sorted(true);
    const auto shrink = some.sorted(false);
    const hinge::GradientEnds ends = hinge::gradient_ends(some.variables());
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    check_equal(ends.up, grow.empty() ? kInfinity : grow[0].first, name);
    check_equal(ends.down, shrink.empty() ? -kInfinity : -shrink[0].first, name);
    std::vector<std::int64_t> up(static_cast<std::size_t>(most));
    std::vector<std::int64_t> down(static_cast<std::size_t>(most));
    const hinge::ViolatorCounts counts =
        hinge::most_violating(some.variables(), most, up.data(), down.data());
    up.resize(static_cast<std::size_t>(counts.up));
    down.resize(static_cast<std::size_t>(counts.down));
    check_side(some, true, most, up, name);
    check_side(some, false, most, down, name);
}

}  // namespace

int main() {
    for (const Gradients kind :
         {Gradients::random, Gradients::rising, Gradients::falling, Gradients::few}) {
        for (const std::int64_t most : {0, 1, 2, 7, 64, 1000}) {
            for (const std::int64_t n : {0, 1, 3, 50, 1001, 5000}) {
                check_case(n, kind, most, false);
                check_case(n, kind, most, true);
            }
        }
    }
    return hinge::testing::finish();
}
