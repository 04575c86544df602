// The scan for open rows against a plain loop over exact intervals, and the sort of positions.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "check.hpp"
#include "hinge/random.hpp"
#include "hinge/sorted_margins.hpp"

namespace {

using hinge::testing::check;
using hinge::testing::check_equal;

double uniform(hinge::Random& random) {
    return static_cast<double>(random.next() >> 11) * 0x1.0p-52 - 1.0;
}

// Positions in two cells, and a change of weights.
struct Scene {
    std::vector<std::uint32_t> order;
    std::vector<float> keys;
    std::vector<float> slopes;
    std::vector<float> distances;
    std::vector<std::int64_t> starts;
    std::vector<double> shift{0.02, -0.03};
    std::vector<double> spread{0.4, 0.3};
    std::vector<double> rounding{1e-12, 1e-12};
    std::vector<double> steepest{0.0, 0.0};
    double along = 0.7;
    double length = 0.1;

    Scene(std::int64_t count, hinge::Random& random) {
        starts = {0, count / 3, count};
        for (std::int64_t k = 0; k < count; ++k) {
            order.push_back(static_cast<std::uint32_t>(count - 1 - k));
            keys.push_back(static_cast<float>(2.0 * uniform(random) + 1.0));
            slopes.push_back(static_cast<float>(0.2 * uniform(random)));
            distances.push_back(static_cast<float>(std::abs(uniform(random))));
            double& steep = steepest[k < starts[1] ? 0 : 1];
            steep = std::max(steep, std::abs(static_cast<double>(slopes.back())));
        }
    }

    hinge::Positions positions(bool with_slopes, bool with_distances, bool sorted) const {
        return {order.data(),
                keys.data(),
                with_slopes ? slopes.data() : nullptr,
                with_distances ? distances.data() : nullptr,
                starts.data(),
                2,
                sorted};
    }

    hinge::CellChanges changes() const {
        return {shift.data(), spread.data(), rounding.data(), steepest.data(),
                length,       along,         1e-12,           1e-12};
    }
};

// Which rows a plain loop finds open, with the error of float32 left out: `margin` widens or
// narrows every interval instead.
std::set<std::uint32_t> plainly_open(const Scene& scene, const hinge::Positions& at,
                                     const hinge::Interval& window, double margin) {
    std::set<std::uint32_t> open;
    for (std::int64_t cell = 0; cell < 2; ++cell) {
        for (std::int64_t k = scene.starts[cell]; k < scene.starts[cell + 1]; ++k) {
            const double key = scene.keys[k];
            double reach = scene.spread[cell];
            if (at.distances != nullptr) {
                reach = std::min(reach, scene.length * scene.distances[k]);
            }
            double centre = key + scene.shift[cell];
            if (at.slopes != nullptr) {
                centre += scene.along * scene.slopes[k];
            }
            reach += margin;
            const bool below = std::max(key, centre + reach) < window.low;
            const bool above = std::min(key, centre - reach) > window.high;
            if (!below && !above) {
                open.insert(scene.order[k]);
            }
        }
    }
    return open;
}

std::set<std::uint32_t> found_open(const Scene& scene, const hinge::Positions& at,
                                   const hinge::Interval& window) {
    std::vector<std::uint32_t> open(scene.order.size() + 1);
    const auto size = static_cast<std::int64_t>(scene.order.size());
    // In two calls, cut where no cell and no run ends.
    const std::int64_t cut = 2 * size / 5;
    const auto changes = scene.changes();
    std::int64_t count = hinge::open_rows(at, changes, window, {0, cut}, open.data());
    count += hinge::open_rows(at, changes, window, {cut, size}, open.data() + count);
    const std::set<std::uint32_t> rows(open.begin(), open.begin() + count);
    check_equal(static_cast<std::int64_t>(rows.size()), count, "no row is listed twice");
    return rows;
}

bool includes(const std::set<std::uint32_t>& large, const std::set<std::uint32_t>& small) {
    return std::includes(large.begin(), large.end(), small.begin(), small.end());
}

void sort_scene(Scene& scene) {
    const Scene before = scene;
    for (std::size_t cell = 0; cell < 2; ++cell) {
        const std::int64_t end = scene.starts[cell + 1];
        for (std::int64_t run = scene.starts[cell]; run < end; run += hinge::kSortedRun) {
            const std::int64_t size = std::min(hinge::kSortedRun, end - run);
            std::vector<std::uint32_t> places(static_cast<std::size_t>(size));
            hinge::sorted_places(before.keys.data() + run, size, places.data());
            for (std::int64_t k = 0; k < size; ++k) {
                const std::int64_t from = run + places[k];
                scene.order[run + k] = before.order[from];
                scene.keys[run + k] = before.keys[from];
                scene.slopes[run + k] = before.slopes[from];
                scene.distances[run + k] = before.distances[from];
            }
        }
    }
}

void test_cells_of_several_runs(hinge::Random& random) {
    Scene scene(hinge::kSortedRun * 8 / 5, random);
    const hinge::Interval window{0.9, 1.1};
    const auto unsorted = found_open(scene, scene.positions(true, true, false), window);
    sort_scene(scene);
    const auto sorted = found_open(scene, scene.positions(true, true, true), window);
    check(!sorted.empty() && sorted.size() < scene.order.size(), "some rows are open, not all");
    check(sorted == unsorted, "sorting changes no row of a cell of several runs");
}

void test_open_rows(hinge::Random& random) {
    constexpr double kMargin = 1e-5;  // beyond the error of float32, below what rows differ by
    for (const std::int64_t count : {0, 1, 2, 3, 7, 8, 31, 64, 65, 1000}) {
        Scene scene(count, random);
        for (const bool sorted : {false, true}) {
            if (sorted) {
                sort_scene(scene);
            }
            for (const int arrays : {0, 1, 2, 3}) {
                for (const hinge::Interval window :
                     {hinge::Interval{1.0, 1.0}, hinge::Interval{0.7, 1.3},
                      hinge::Interval{-HUGE_VAL, 1.0}}) {
                    const auto at = scene.positions((arrays & 1) != 0, (arrays & 2) != 0, sorted);
                    const auto got = found_open(scene, at, window);
                    const std::string what = " of " + std::to_string(count) + " rows, arrays " +
                                             std::to_string(arrays) + (sorted ? ", sorted" : "");
                    check(includes(got, plainly_open(scene, at, window, 0.0)),
                          "every open row is found" + what);
                    check(includes(plainly_open(scene, at, window, kMargin), got),
                          "few others are" + what);
                }
            }
        }
    }
}

void test_rows_that_are_not_numbers_stay_open(hinge::Random& random) {
    Scene scene(9, random);
    const float infinity = std::numeric_limits<float>::infinity();
    scene.keys = {infinity, -infinity, std::nanf(""), 9.0F, 9.0F, 9.0F, 9.0F, 9.0F, 9.0F};
    scene.slopes[3] = infinity;
    scene.slopes[4] = std::nanf("");
    const auto at = scene.positions(true, true, false);
    const auto open = found_open(scene, at, {1.0, 1.0});
    for (const std::size_t k : {0U, 1U, 2U, 3U, 4U}) {
        check(open.count(scene.order[k]) == 1, "position " + std::to_string(k) + " is open");
    }
    check_equal(open.size(), std::size_t{5}, "the others are not");
}

// Keys round margins that are on the other side of an edge: however far a cell moves away from the
// window, those rows were not surely where they seem to be.
void test_keys_within_rounding_of_an_edge_stay_open(hinge::Random& random) {
    Scene scene(9, random);
    scene.keys = {-5.0F,
                  static_cast<float>(0.9),
                  5.0F,
                  -5.0F,
                  static_cast<float>(0.9),
                  static_cast<float>(1.1),
                  5.0F,
                  5.0F,
                  5.0F};
    scene.starts = {0, 3, 9};
    scene.spread = {0.0, 0.0};
    for (const double shift : {-0.1, 0.1}) {
        scene.shift = {shift, shift};
        for (const bool sorted : {false, true}) {
            const auto at = scene.positions(false, false, sorted);
            const auto below = found_open(scene, at, {0.9, 1.0});
            const auto above = found_open(scene, at, {1.0, 1.1});
            check(below.count(scene.order[1]) == 1, "a row at the lower edge of its cell's window");
            check(below.count(scene.order[4]) == 1, "a row at the lower edge in the second cell");
            check(above.count(scene.order[5]) == 1, "a row at the upper edge");
        }
    }
}

void test_a_reach_that_is_not_a_number_leaves_all_open(hinge::Random& random) {
    Scene scene(64, random);
    sort_scene(scene);
    for (const double reach : {std::nan(""), HUGE_VAL}) {
        scene.spread = {reach, reach};
        const auto open = found_open(scene, scene.positions(true, false, true), {1.0, 1.0});
        check_equal(open.size(), scene.order.size(), "every row is open");
    }
}

void test_lower_bounds(hinge::Random& random) {
    const Scene scene(100, random);
    const auto at = scene.positions(true, true, false);
    std::vector<double> lowest(100);
    hinge::lower_bounds(at, scene.changes(), lowest.data());
    for (std::int64_t k = 0; k < 100; ++k) {
        const std::int64_t cell = k < scene.starts[1] ? 0 : 1;
        const double reach = std::min(scene.spread[cell], scene.length * scene.distances[k]);
        const double want =
            scene.keys[k] + scene.shift[cell] + scene.along * scene.slopes[k] - reach;
        check(lowest[k] <= want && want - lowest[k] < 1e-5, "a lower bound, and a near one");
    }
}

void test_sort(hinge::Random& random) {
    for (const std::int64_t count : {0, 1, 2, 100, 5000}) {
        std::vector<float> keys;
        for (std::int64_t k = 0; k < count; ++k) {
            keys.push_back(
                static_cast<float>(std::ldexp(uniform(random), static_cast<int>(k % 40))));
        }
        if (count > 3) {
            keys[0] = -0.0F;
            keys[1] = 0.0F;
            keys[2] = -std::numeric_limits<float>::infinity();
        }
        std::vector<std::uint32_t> places(keys.size());
        hinge::sorted_places(keys.data(), count, places.data());
        std::set<std::uint32_t> seen(places.begin(), places.end());
        check_equal(static_cast<std::int64_t>(seen.size()), count, "every place once");
        for (std::size_t k = 1; k < places.size(); ++k) {
            check(keys[places[k - 1]] <= keys[places[k]], "keys in order");
        }
    }
}

// Rows that a plain loop finds to be possibly better, among those that may move.
void test_violators(hinge::Random& random) {
    for (int repeat = 0; repeat < 40; ++repeat) {
        const Scene scene(97, random);
        const hinge::Positions at = scene.positions(repeat % 2 == 0, repeat % 4 < 2, false);
        std::vector<std::int8_t> signs(scene.order.size());
        std::vector<std::uint8_t> allowed(scene.order.size());
        for (std::size_t row = 0; row < signs.size(); ++row) {
            signs[row] = uniform(random) > 0.0 ? 1 : -1;
            allowed[row] = static_cast<std::uint8_t>(random.next() % 4);
        }
        const hinge::PairLimits limits{uniform(random), uniform(random)};
        std::vector<double> lowest(scene.order.size());
        hinge::lower_bounds(at, scene.changes(), lowest.data());
        std::set<std::uint32_t> want;
        for (std::int64_t cell = 0; cell < 2; ++cell) {
            for (std::int64_t k = scene.starts[cell]; k < scene.starts[cell + 1]; ++k) {
                double centre = scene.keys[k] + scene.shift[cell];
                if (at.slopes != nullptr) {
                    centre += scene.along * scene.slopes[k];
                }
                const std::uint32_t row = scene.order[k];
                const double reach = centre - lowest[k];
                const double u = signs[row] * (1.0 - centre);
                const bool rises = (allowed[row] & 1) != 0 && u + reach >= limits.rising;
                const bool falls = (allowed[row] & 2) != 0 && u - reach <= limits.falling;
                if (rises || falls) {
                    want.insert(row);
                }
            }
        }
        std::vector<std::uint32_t> rows(scene.order.size() + 1);
        const std::int64_t count = hinge::violators(at, scene.changes(), signs.data(),
                                                    allowed.data(), limits, rows.data());
        check(std::vector<std::uint32_t>(rows.begin(), rows.begin() + count) ==
                  std::vector<std::uint32_t>(want.begin(), want.end()),
              "rows that may violate more, by number");
    }
}

void test_order_of_memory(hinge::Random& random) {
    for (const std::int64_t count : {0, 1, 2, 63, 64, 65, 1000}) {
        std::set<std::uint32_t> distinct;
        while (static_cast<std::int64_t>(distinct.size()) < count) {
            distinct.insert(static_cast<std::uint32_t>(random.next() % 100'000));
        }
        const std::vector<std::uint32_t> want(distinct.begin(), distinct.end());
        std::vector<std::uint32_t> rows(want.rbegin(), want.rend());
        hinge::put_in_order(rows.data(), count);
        check(rows == want, "rows by number");
    }
}

void test_fill_positions() {
    const std::vector<double> margins{1.0, 2.0, -3.0};
    const std::vector<double> before{0.5, 2.5, -3.0};
    const std::vector<std::int8_t> signs{1, -1, 1};
    const std::vector<std::uint32_t> order{2, 0, 1};
    std::vector<float> keys(3);
    std::vector<float> slopes(3);
    const hinge::MarginHistory history{margins.data(), before.data(), signs.data(), 0.25};
    const double steepest =
        hinge::fill_positions(history, order.data(), 0, 3, keys.data(), slopes.data());
    check(keys == std::vector<float>{-3.0F, 1.0F, 2.0F}, "keys are margins in order");
    check(slopes == std::vector<float>{-0.25F, 0.25F, -0.25F}, "slopes leave the intercept out");
    check_equal(steepest, 0.25, "the largest slope");
}

}  // namespace

int main() {
    auto words = hinge::seeded_words(7);
    hinge::Random random(words.data());
    test_open_rows(random);
    test_cells_of_several_runs(random);
    test_rows_that_are_not_numbers_stay_open(random);
    test_keys_within_rounding_of_an_edge_stay_open(random);
    test_a_reach_that_is_not_a_number_leaves_all_open(random);
    test_lower_bounds(random);
    test_sort(random);
    test_violators(random);
    test_order_of_memory(random);
    test_fill_positions();
    return hinge::testing::finish();
}
