// Kernel rows of two classes against the whole matrix: sets and sums, with room for shared rows or
// without, by one thread or by several at once.
#include <atomic>
#include <cmath>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "check.hpp"
#include "hinge/class_rows.hpp"
#include "hinge/kernel.hpp"
#include "hinge/packed_points.hpp"
#include "hinge/pair_rows.hpp"

namespace {

using hinge::testing::check;
using hinge::testing::check_equal;

constexpr std::int64_t kWidth = 5;
constexpr std::int64_t kFirst = 70;  // more than a panel
constexpr std::int64_t kSecond = 9;
constexpr std::int64_t kCount = kFirst + kSecond;

// Rows of which every other one is of no class.
struct Data {
    std::vector<float> values;
    std::vector<float> selfs;
    std::vector<std::int64_t> numbers[2];

    Data() {
        std::mt19937 random(3);
        for (std::int64_t i = 0; i < 2 * kCount; ++i) {
            float self = 0.0F;
            for (std::int64_t k = 0; k < kWidth; ++k) {
                values.push_back(static_cast<float>(random() >> 8) * 0x1.0p-24F);
                self = hinge::ProductPairing::add_self(values.back(), self);
            }
            selfs.push_back(self);
            if (i % 2 == 1) {
                numbers[i / 2 < kFirst ? 0 : 1].push_back(i);
            }
        }
    }
    hinge::DenseRows<float> rows() const { return {values.data(), 2 * kCount, kWidth}; }
    hinge::Sides<float> sides() const { return {selfs.data(), nullptr}; }
};

struct Values {
    const Data& data;
    std::atomic<std::int64_t> computed{0};

    hinge::TileReader<float> reader(const std::vector<std::int64_t>& numbers) const {
        return [this, &numbers](hinge::Tile<float>& tile, std::int64_t first, std::int64_t size) {
            tile.read(data.rows(), numbers.data() + first, 0, size, {});
        };
    }
    static hinge::Selection all(const std::vector<std::int64_t>& numbers) {
        return {numbers.data(), 0, static_cast<std::int64_t>(numbers.size())};
    }
    void block(const std::vector<std::int64_t>& terms, const std::vector<std::int64_t>& points,
               float* const* rows) {
        const hinge::TermPanels<float> panels(data.rows(), all(terms), data.sides(), {});
        hinge::fill_block<float>(hinge::RbfKernel{0.7}, panels, reader(points), all(points),
                                 data.sides(), rows);
        computed += static_cast<std::int64_t>(terms.size() * points.size());
    }
    void at(const std::vector<std::int64_t>& terms, const hinge::TermPanels<float>& points,
            float* const* rows) {
        hinge::fill_rows<float>(hinge::RbfKernel{0.7}, points, reader(terms), all(terms),
                                data.sides(), rows);
        computed += static_cast<std::int64_t>(terms.size()) * points.count;
    }
};

struct Classes {
    hinge::ClassRows first;
    hinge::ClassRows second;

    Classes(const Data& data, std::int64_t room)
        : first(packed(data, 0), data.numbers[0], room),
          second(packed(data, 1), data.numbers[1], room) {}

    static hinge::TermPanels<float> packed(const Data& data, int which) {
        return {data.rows(), Values::all(data.numbers[which]), data.sides(), {}};
    }
};

// The whole kernel matrix of the pair.
std::vector<float> whole_matrix(const Data& data, Values& values) {
    std::vector<std::int64_t> numbers = data.numbers[0];
    numbers.insert(numbers.end(), data.numbers[1].begin(), data.numbers[1].end());
    std::vector<float> matrix(kCount * kCount);
    std::vector<float*> rows;
    for (std::int64_t i = 0; i < kCount; ++i) {
        rows.push_back(matrix.data() + i * kCount);
    }
    values.block(numbers, numbers, rows.data());
    return matrix;
}

void check_set(hinge::PairRows<Values>& rows, const std::vector<float>& matrix,
               const std::vector<std::int64_t>& set) {
    const auto found = rows.among(set);
    for (std::size_t a = 0; a < set.size(); ++a) {
        const auto k = static_cast<std::int64_t>(a);
        const float own = matrix[set[a] * kCount + set[a]];
        check_equal(found.own(k), static_cast<double>(own), "a value of the diagonal");
        const float* const row = found.row(k, 0);
        for (std::size_t b = 0; b < set.size(); ++b) {
            check_equal(row[b], matrix[set[a] * kCount + set[b]], "a value of the set");
        }
        check(found.row(k, 1) == row, "a row stays where it is");
    }
}

// Scores to which the rows of what has moved are added.
std::vector<double> sums(hinge::PairRows<Values>& rows, const std::vector<std::int64_t>& moved) {
    std::vector<double> changes;
    for (const std::int64_t row : moved) {
        changes.push_back(0.1 * static_cast<double>(row) - 3.0);
    }
    std::vector<double> scores(kCount, 0.5);
    rows.add(moved, changes, scores.data());
    return scores;
}

void check_sums(const std::vector<double>& scores, const std::vector<float>& matrix,
                const std::vector<std::int64_t>& moved) {
    for (std::int64_t j = 0; j < kCount; ++j) {
        double score = 0.5;
        for (const std::int64_t row : moved) {
            const double change = 0.1 * static_cast<double>(row) - 3.0;
            score += change * static_cast<double>(matrix[row * kCount + j]);
        }
        check_equal(scores[static_cast<std::size_t>(j)], score, "a sum, in the order of the rows");
    }
}

void check_pair(std::int64_t room) {
    const Data data;
    Values values{data};
    const std::vector<float> matrix = whole_matrix(data, values);
    Classes classes(data, room);
    hinge::PairRows<Values> rows(classes.first, classes.second, values);
    check_equal(rows.count(), kCount, "the rows of both classes");
    check_set(rows, matrix, {0, 3, 69, 70, 78});
    check_equal(rows.computed(), std::int64_t{25}, "all of a set of new rows is computed");
    check_sums(sums(rows, {3, 69, 70}), matrix, {3, 69, 70});
    check_equal(rows.computed(), 25 + 3 * kCount, "and whole rows of what moves");
    check_set(rows, matrix, {0, 3, 5, 69, 70, 71});
    check_sums(sums(rows, {3, 71}), matrix, {3, 71});
    check_equal(rows.computed(), 25 + 3 * kCount + 3 * 6 + kCount, "once");
    check_set(rows, matrix, {3, 69});

    // The set of another pair has what the first has left, and new rows of both classes meet once.
    {
        const std::int64_t before = values.computed;
        hinge::PairRows<Values> other(classes.first, classes.second, values);
        check_set(other, matrix, {0, 3, 5, 69, 70, 71});
        const std::int64_t absent = 4 - std::min<std::int64_t>(room, 2);
        const std::int64_t absent_too = 2 - std::min<std::int64_t>(room, 2);
        check_equal(values.computed - before, absent * absent + absent_too * absent_too + 4 * 2,
                    "of a set, values are computed that no row has");
        check_sums(sums(other, {5, 71}), matrix, {5, 71});
        check_set(other, matrix, {0, 3, 5, 69, 70, 71});
    }

    // Another pair of these classes needs nothing of its own that the first has left.
    const std::int64_t before = values.computed;
    hinge::PairRows<Values> other(classes.first, classes.second, values);
    check_sums(sums(other, {3, 69, 70}), matrix, {3, 69, 70});
    const std::int64_t shared = std::min<std::int64_t>(room, 2) * kFirst + (room > 0) * kSecond;
    check_equal(values.computed - before, 3 * kCount - shared, "what is shared is not computed");
}

void check_threads() {
    const Data data;
    Values values{data};
    const std::vector<float> matrix = whole_matrix(data, values);
    Classes classes(data, kFirst);
    std::vector<std::int64_t> moved;
    for (std::int64_t row = 0; row < kCount; ++row) {
        moved.push_back(row);
    }
    const std::int64_t before = values.computed;
    std::vector<std::thread> threads;
    std::vector<double> scores[4];
    for (auto& found : scores) {
        threads.emplace_back([&] {
            hinge::PairRows<Values> rows(classes.first, classes.second, values);
            found = sums(rows, moved);
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (const auto& found : scores) {
        check_sums(found, matrix, moved);
    }
    check_equal(values.computed - before,
                kFirst * kFirst + kSecond * kSecond + 8 * kFirst * kSecond,
                "rows of a class are computed once, whoever asks");
}

// A row whose values could not be computed is not kept, and the next one to ask computes it.
void check_failure() {
    const Data data;
    Classes classes(data, kFirst);
    std::vector<const float*> found;
    bool failed = false;
    try {
        classes.second.find(
            {1, 2}, [](const auto&, const auto&) { throw std::runtime_error("no"); }, found);
    } catch (const std::runtime_error&) {
        failed = true;
    }
    check(failed, "the failure is told");
    std::size_t computed = 0;
    classes.second.find(
        {1, 2}, [&](const auto& ids, const auto&) { computed = ids.size(); }, found);
    check_equal(computed, std::size_t{2}, "both are computed then");
    check(found[0] != nullptr && found[1] != nullptr, "and there");
}

}  // namespace

int main() {
    for (const std::int64_t room : {std::int64_t{0}, std::int64_t{1}, kFirst}) {
        check_pair(room);
    }
    check_threads();
    check_failure();
    return hinge::testing::finish();
}
