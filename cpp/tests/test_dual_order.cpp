// The order of a sweep in runs of neighbouring rows: nothing is lost, and runs stay whole.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "check.hpp"
#include "hinge/dual_coordinate.hpp"
#include "hinge/random.hpp"

namespace {

using hinge::testing::check;

std::vector<std::uint32_t> drawn(std::int64_t count, std::int64_t length, std::uint64_t seed) {
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    auto words = hinge::seeded_words(seed);
    hinge::Random random(words.data());
    for (std::int64_t k = 0; k < count; k += length) {
        hinge::draw_run(order.data() + k, count - k, length, random);
    }
    return order;
}

void test_every_row_once() {
    for (const std::int64_t length : {1, 2, 7, 32, 1000}) {
        for (const std::int64_t count : {1, 2, 31, 32, 33, 500}) {
            std::vector<std::uint32_t> order = drawn(count, length, 5);
            std::sort(order.begin(), order.end());
            for (std::int64_t k = 0; k < count; ++k) {
                check(order[k] == static_cast<std::uint32_t>(k),
                      std::to_string(count) + " rows in runs of " + std::to_string(length));
            }
        }
    }
}

void test_runs_stay_whole() {
    const std::int64_t length = 8;
    const std::vector<std::uint32_t> order = drawn(8 * 40 + 3, length, 6);
    for (std::int64_t k = 0; k + length <= static_cast<std::int64_t>(order.size()); k += length) {
        check(order[k] % length == 0, "a run begins where one began");
        for (std::int64_t j = 1; j < length; ++j) {
            check(order[k + j] == order[k] + j, "neighbours follow each other");
        }
    }
}

// Each of 4 runs comes first in about a quarter of 400 draws: 100, give or take 4 deviations of 9.
void test_every_run_may_come_first() {
    std::vector<int> firsts(4);
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        ++firsts[drawn(4 * 8, 8, seed)[0] / 8];
    }
    for (const int first : firsts) {
        check(first > 64 && first < 136, "every run is as likely to come first");
    }
}

}  // namespace

int main() {
    test_every_row_once();
    test_runs_stay_whole();
    test_every_run_may_come_first();
    return hinge::testing::finish();
}
