// Sums of kept rows against one row after the other: the same bits, whatever the number of rows and
// the piece of the columns.
#include <cstdint>
#include <string>
#include <vector>

#include "check.hpp"
#include "hinge/cached_rows.hpp"
#include "hinge/random.hpp"

namespace {

template <class Value>
void check_sums(std::int64_t count, std::int64_t columns, std::int64_t first) {
    auto words = hinge::seeded_words(2);
    hinge::Random random(words.data());
    const std::int64_t slots = count + 3;
    std::vector<Value> rows;
    for (std::int64_t k = 0; k < slots * columns; ++k) {
        rows.push_back(static_cast<Value>(static_cast<double>(random.next() >> 11) * 0x1.0p-53));
    }
    std::vector<std::int64_t> where;
    std::vector<double> coef;
    for (std::int64_t s = 0; s < count; ++s) {
        where.push_back((5 * s + 1) % slots);
        coef.push_back(0.1 * static_cast<double>(s) - 0.7);
    }
    std::vector<double> want(static_cast<std::size_t>(columns), 0.25);
    for (std::int64_t s = 0; s < count; ++s) {
        for (std::int64_t j = first; j < columns; ++j) {
            want[static_cast<std::size_t>(j)] +=
                coef[static_cast<std::size_t>(s)] *
                static_cast<double>(rows[static_cast<std::size_t>(
                    where[static_cast<std::size_t>(s)] * columns + j)]);
        }
    }
    std::vector<double> got(static_cast<std::size_t>(columns), 0.25);
    hinge::add_cached(rows.data(), columns, where.data(), coef.data(), count, first, columns,
                      got.data());
    hinge::testing::check(got == want, std::to_string(count) + " rows of " +
                                           std::to_string(columns) + " from " +
                                           std::to_string(first));
}

}  // namespace

int main() {
    for (const std::int64_t count : {0, 1, 7, 8, 9, 16, 21}) {
        for (const std::int64_t columns :
             {std::int64_t{1}, std::int64_t{13}, hinge::kColumnsAtOnce + 5}) {
            check_sums<float>(count, columns, 0);
            check_sums<double>(count, columns, columns / 2);
        }
    }
    return hinge::testing::finish();
}
