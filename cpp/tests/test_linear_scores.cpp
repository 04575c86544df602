// Scores of linear machines against plain scalar sums, and the same bits in any company.
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "check.hpp"
#include "hinge/linear_scores.hpp"
#include "hinge/random.hpp"

namespace {

using hinge::testing::check;
using hinge::testing::check_close;
using hinge::testing::check_equal;

constexpr std::int64_t kRows = 11;
constexpr double kTolerance = 1e3 * std::numeric_limits<double>::epsilon();

double uniform(hinge::Random& random) {
    return static_cast<double>(random.next() >> 11) * 0x1.0p-52 - 1.0;
}

// Rows of which every third value is stored, dense and sparse, and the weights of some machines.
template <class Value, class Index>
struct Data {
    std::int64_t width;
    std::int64_t machines;
    std::int64_t stride;
    std::vector<Value> dense;
    std::vector<Value> values;
    std::vector<Index> columns;
    std::vector<std::int32_t> offsets{0};
    std::vector<double> table;

    Data(std::int64_t features, std::int64_t count, hinge::Random& random)
        : width(features),
          machines(count),
          stride(count == 1 ? 1 : (count + hinge::kLanes - 1) / hinge::kLanes * hinge::kLanes),
          table(static_cast<std::size_t>(features * stride)) {
        for (std::int64_t k = 0; k < kRows * width; ++k) {
            const bool filled = k % 3 == 0;
            dense.push_back(filled ? static_cast<Value>(uniform(random)) : Value{0});
            if (filled) {
                values.push_back(dense.back());
                columns.push_back(static_cast<Index>(k % width));
            }
            if ((k + 1) % width == 0) {
                offsets.push_back(static_cast<std::int32_t>(values.size()));
            }
        }
        for (std::int64_t k = 0; k < width * machines; ++k) {
            table[static_cast<std::size_t>(k / machines * stride + k % machines)] = uniform(random);
        }
    }

    hinge::DenseRows<Value> dense_rows() const { return {dense.data(), kRows, width}; }
    hinge::CsrRows<Value, Index> sparse_rows() const {
        return {values.data(), columns.data(), offsets.data(), false, kRows, width};
    }
    double reference(std::int64_t i, std::int64_t machine) const {
        double sum = 0.0;
        for (std::int64_t k = 0; k < width; ++k) {
            sum += static_cast<double>(dense[static_cast<std::size_t>(i * width + k)]) *
                   table[static_cast<std::size_t>(k * stride + machine)];
        }
        return sum;
    }
    template <class Rows>
    std::vector<double> scores(const Rows& rows, std::int64_t first, std::int64_t count) const {
        std::vector<double> out(static_cast<std::size_t>(count * machines));
        const hinge::ScoredRows part{first, count, machines, out.data()};
        if (machines == 1) {
            hinge::score(rows, part, table.data());
        } else {
            hinge::score(rows, part, hinge::MachineTable{table.data(), stride});
        }
        return out;
    }
};

template <class Kept, class Rows>
void check_rows(const Kept& data, const Rows& rows, const std::string& what) {
    const std::vector<double> all = data.scores(rows, 0, kRows);
    for (std::int64_t i = 0; i < kRows; ++i) {
        const std::vector<double> alone = data.scores(rows, i, 1);
        for (std::int64_t machine = 0; machine < data.machines; ++machine) {
            const double got = all[static_cast<std::size_t>(i * data.machines + machine)];
            check_close(got, data.reference(i, machine), kTolerance, what);
            check_equal(alone[static_cast<std::size_t>(machine)], got, what + ", a row by itself");
        }
    }
}

template <class Value, class Index>
void check_kind(const std::string& kind) {
    std::array<std::uint64_t, 4> words = hinge::seeded_words(7);
    hinge::Random random(words.data());
    for (const std::int64_t width : {1, 2, 3, 4, 5, 8, 15, 16, 17, 33}) {
        for (const std::int64_t machines : {1, 2, 3, 4, 5, 8, 9, 13}) {
            const Data<Value, Index> data(width, machines, random);
            const std::string what = kind + ", width " + std::to_string(width) + ", machines " +
                                     std::to_string(machines);
            check_rows(data, data.dense_rows(), "dense " + what);
            check_rows(data, data.sparse_rows(), "sparse " + what);
        }
    }
}

// A value that is not finite shows in every score, also where its weight is zero.
void check_not_finite() {
    std::array<std::uint64_t, 4> words = hinge::seeded_words(3);
    hinge::Random random(words.data());
    for (const std::int64_t machines : {1, 3, 6}) {
        for (const double bad :
             {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
            Data<double, std::int64_t> data(9, machines, random);
            data.dense[9 * 4] = bad;
            data.values[static_cast<std::size_t>(data.offsets[4])] = bad;
            for (std::int64_t machine = 0; machine < machines; ++machine) {
                data.table[static_cast<std::size_t>(machine)] = 0.0;
            }
            for (const auto& scores : {data.scores(data.dense_rows(), 0, kRows),
                                       data.scores(data.sparse_rows(), 0, kRows)}) {
                for (std::int64_t k = 0; k < kRows * machines; ++k) {
                    const bool is_bad = k / machines == 4;
                    check(std::isfinite(scores[static_cast<std::size_t>(k)]) != is_bad,
                          "only scores of the bad row are not finite");
                }
            }
        }
    }
}

}  // namespace

int main() {
    check_kind<double, std::int32_t>("float64, int32");
    check_kind<double, std::int64_t>("float64, int64");
    check_kind<float, std::int32_t>("float32, int32");
    check_not_finite();
    return hinge::testing::finish();
}
