// Passes over ranges and lists of rows against scalar sums, dense and sparse.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "check.hpp"
#include "hinge/margin_pass.hpp"
#include "hinge/random.hpp"
#include "hinge/row_moments.hpp"

namespace {

using hinge::testing::check_close;
using hinge::testing::check_equal;

constexpr double kTolerance = 1e-11;
const hinge::LossPieces kHinge{1.0, 1.0, 1.0, 1.0, 0.0, false};
const hinge::LossPieces kHuber{0.5, 1.5, 1.0, 1.0, 0.5, false};
const hinge::LossPieces kSquared{-HUGE_VAL, 1.0, 0.0, 0.0, 1.0, false};
const hinge::LossPieces kByMoments{1.0, 1.0, 0.0, 0.0, 0.0, false, 1.0};
const hinge::LossPieces kZeroOne{0.0, 0.0, 1.0, 0.0, 0.0, true};

double uniform(hinge::Random& random) {
    return static_cast<double>(random.next() >> 11) * 0x1.0p-52 - 1.0;
}

struct Data {
    std::int64_t count;
    std::int64_t width;
    std::vector<float> dense;
    std::vector<float> values;
    std::vector<std::int32_t> columns;
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int8_t> signs;
    std::vector<double> weights;
    std::vector<double> w;
    double b = 0.25;

    Data(std::int64_t rows, std::int64_t features, hinge::Random& random)
        : count(rows), width(features) {
        for (std::int64_t i = 0; i < count; ++i) {
            for (std::int64_t j = 0; j < width; ++j) {
                const bool filled = i % 5 != 0 && uniform(random) > 0.0;
                const auto value = static_cast<float>(filled ? uniform(random) : 0.0);
                dense.push_back(value);
                if (filled) {
                    values.push_back(value);
                    columns.push_back(static_cast<std::int32_t>(j));
                }
            }
            offsets.push_back(static_cast<std::int64_t>(values.size()));
            signs.push_back(uniform(random) > 0.0 ? 1 : -1);
            weights.push_back(1.0 + uniform(random));
        }
        for (std::int64_t j = 0; j < width; ++j) {
            w.push_back(2.0 * uniform(random));
        }
    }

    hinge::DenseRows<float> dense_rows() const { return {dense.data(), count, width}; }
    hinge::CsrRows<float, std::int32_t> sparse_rows() const {
        return {values.data(), columns.data(), offsets.data(), true, count, width};
    }
    hinge::RowLabels labels() const { return {signs.data(), weights.data(), 1}; }
    double margin(std::int64_t i, const std::vector<double>& at, double intercept) const {
        double score = intercept;
        for (std::int64_t j = 0; j < width; ++j) {
            score += static_cast<double>(dense[i * width + j]) * at[j];
        }
        return signs[i] * score;
    }
};

struct Sums {
    double value = 0.0;
    double descent = 0.0;
    std::vector<double> vector;
};

// The loss and minus its gradient over some rows, by the formula.
Sums plain(const Data& data, const hinge::LossPieces& loss,
           const std::vector<std::uint32_t>& rows) {
    Sums sums;
    sums.vector.assign(static_cast<std::size_t>(data.width), 0.0);
    for (const std::uint32_t i : rows) {
        const double margin = data.margin(i, data.w, data.b);
        const bool is_tie = loss.tie_errs && margin == 0.0 && data.signs[i] > 0;
        double value = 0.0;
        double slope = 0.0;
        if (margin < loss.low || is_tie) {
            value = loss.level - loss.slope * margin;
            slope = loss.slope;
        } else if (margin < loss.high) {
            value = loss.curvature * (loss.high - margin) * (loss.high - margin);
            slope = 2.0 * loss.curvature * (loss.high - margin);
        }
        const double scale = data.weights[i] * data.signs[i] * slope;
        sums.value += data.weights[i] * value;
        sums.descent += scale;
        for (std::int64_t j = 0; j < data.width; ++j) {
            sums.vector[j] += scale * static_cast<double>(data.dense[i * data.width + j]);
        }
    }
    return sums;
}

void check_sums(const Sums& got, const Sums& want, const std::string& what) {
    check_close(got.value, want.value, kTolerance, what + ": value");
    check_close(got.descent, want.descent, kTolerance, what + ": derivative by b");
    for (std::size_t j = 0; j < want.vector.size(); ++j) {
        check_close(got.vector[j], want.vector[j], kTolerance, what + ": gradient");
    }
}

template <class Rows>
void test_pass(const Data& data, const Rows& rows, const hinge::LossPieces& loss,
               const std::string& what) {
    const auto width = static_cast<std::size_t>(data.width);
    std::vector<std::uint32_t> everyone;
    std::vector<double> margins(static_cast<std::size_t>(data.count));
    std::vector<double> linear(width);
    std::vector<double> curved(width);
    hinge::PassSums sums{};
    for (std::int64_t i = 0; i < data.count; ++i) {
        everyone.push_back(static_cast<std::uint32_t>(i));
    }
    const hinge::MarginPoint at{data.w.data(), data.b};
    const std::int64_t half = data.count / 2;  // two ranges make one pass
    hinge::pass_over_range(rows, data.labels(), at, loss, 0, half, margins.data(), linear.data(),
                           curved.data(), sums);
    hinge::pass_over_range(rows, data.labels(), at, loss, half, data.count, margins.data(),
                           linear.data(), curved.data(), sums);
    Sums got{sums.value, sums.descent + loss.slope * sums.linear_labels, curved};
    for (std::size_t j = 0; j < width; ++j) {
        got.vector[j] += loss.slope * linear[j];
    }
    check_sums(got, plain(data, loss, everyone), what + ", all rows");
    for (std::int64_t i = 0; i < data.count; ++i) {
        check_close(margins[i], data.margin(i, data.w, data.b), kTolerance, what + ": margin");
    }

    // A list of rows that count as linear already: the difference to that is what is added.
    const std::vector<std::uint32_t> some{3, 0, 3, static_cast<std::uint32_t>(data.count - 1)};
    for (const double stored : {-1e9, 1e9}) {
        const std::vector<double> before(margins.size(), stored);
        std::vector<double> descent(width);
        hinge::PassSums change{};
        const double factor = stored < 0.0 ? 1.0 : -0.25;  // of the vector alone
        hinge::pass_over_list(rows, data.labels(), at, loss, some.data(), 0, 4, 4, before.data(),
                              {descent.data(), factor}, change);
        for (double& each : descent) {
            each /= factor;
        }
        const bool was_linear = stored < loss.low;
        Sums want = plain(data, loss, some);
        for (const std::uint32_t i : some) {
            const double scale = was_linear ? data.weights[i] : 0.0;
            want.value -= scale * (loss.level - loss.slope * margins[i]);
            want.descent -= scale * data.signs[i] * loss.slope;
            for (std::size_t j = 0; j < width; ++j) {
                want.vector[j] -= scale * data.signs[i] * loss.slope *
                                  static_cast<double>(data.dense[i * data.width + j]);
            }
        }
        check_sums({change.value, change.descent, descent}, want, what + ", listed rows");
    }
    std::vector<double> listed(4);
    hinge::margins_of_list(rows, data.labels(), at, some.data(), 4, listed.data());
    for (std::size_t k = 0; k < 4; ++k) {
        check_equal(listed[k], margins[some[k]], what + ": the same bits listed or not");
    }
}

// Rows that second moments are kept of: those that were below the window count with their parabola,
// wherever they are now; those that were not count only as far as they have come below it.
template <class Rows>
void test_parabola(const Data& data, const Rows& rows, const std::string& what) {
    const auto width = static_cast<std::size_t>(data.width);
    const auto side = width + 1;
    std::vector<std::uint32_t> members;
    std::vector<std::uint32_t> everyone;
    std::vector<double> stored;
    for (std::int64_t i = 0; i < data.count; ++i) {
        const bool member = i % 3 == 0;
        stored.push_back(member ? -1.0 : 2.0);
        everyone.push_back(static_cast<std::uint32_t>(i));
        if (member) {
            members.push_back(static_cast<std::uint32_t>(i));
        }
    }
    std::vector<double> moments(side * side);
    std::vector<double> sums(side);
    const auto length = [](const auto& list) { return static_cast<std::int64_t>(list.size()); };
    hinge::moments_of_list(rows, data.labels(), members.data(), length(members), 1.0,
                           moments.data(), sums.data());
    hinge::moments_of_list(rows, data.labels(), everyone.data(), length(everyone), 1.0,
                           moments.data(), sums.data());
    hinge::moments_of_list(rows, data.labels(), everyone.data(), length(everyone), -1.0,
                           moments.data(), sums.data());
    std::vector<double> point = data.w;
    point.push_back(data.b);
    Sums got{moments[side * side - 1], 0.0, std::vector<double>(side)};
    for (std::size_t j = 0; j < side; ++j) {
        got.value -= 2.0 * sums[j] * point[j];
        got.vector[j] = 2.0 * sums[j];
        for (std::size_t k = 0; k < side; ++k) {
            const double moment = moments[std::max(j, k) * side + std::min(j, k)];
            got.value += point[j] * moment * point[k];
            got.vector[j] -= 2.0 * moment * point[k];
        }
    }
    got.descent = got.vector.back();
    got.vector.pop_back();
    hinge::PassSums change{};
    hinge::pass_over_list(rows, data.labels(), {data.w.data(), data.b}, kByMoments, everyone.data(),
                          0, data.count, data.count, stored.data(), {got.vector.data(), 1.0},
                          change);
    got.value += change.value;
    got.descent += change.descent;
    check_sums(got, plain(data, kSquared, everyone), what + ", by moments");
}

}  // namespace

int main() {
    auto words = hinge::seeded_words(11);
    hinge::Random random(words.data());
    for (const std::int64_t width : {1, 7, 16, 54, 129}) {
        const Data data(61, width, random);
        for (const auto& [name, loss] : {std::pair<std::string, hinge::LossPieces>{"hinge", kHinge},
                                         {"Huber", kHuber},
                                         {"squared hinge", kSquared},
                                         {"zero-one", kZeroOne}}) {
            test_pass(data, data.dense_rows(), loss, "dense " + name);
            test_pass(data, data.sparse_rows(), loss, "sparse " + name);
        }
        test_parabola(data, data.dense_rows(), "dense");
        test_parabola(data, data.sparse_rows(), "sparse");
    }
    return hinge::testing::finish();
}
