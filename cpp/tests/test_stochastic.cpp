// Pegasos beside the formula written out, and with the bound beside without it.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "check.hpp"
#include "hinge/random.hpp"
#include "hinge/stochastic.hpp"

namespace {

using hinge::testing::check;
using hinge::testing::check_close;
using hinge::testing::check_equal;

constexpr std::int64_t kRows = 200;
constexpr std::int64_t kWidth = 9;
constexpr double kConstant = 0.5;

struct Data {
    std::vector<double> values;
    std::vector<std::int8_t> signs;
    std::vector<double> squares;
    double largest = 0.0;

    Data() {
        auto words = hinge::seeded_words(3);
        hinge::Random random(words.data());
        for (std::int64_t i = 0; i < kRows; ++i) {
            signs.push_back(random.below(2) == 0 ? -1 : 1);
            double square = 0.0;
            for (std::int64_t j = 0; j < kWidth; ++j) {
                const double noise = (random.below(2001) - 1000.0) / 500.0;
                values.push_back(noise + 0.6 * signs.back() + 0.3);
                square += values.back() * values.back();
            }
            squares.push_back(square);
            largest = std::max(largest, std::sqrt(square + kConstant * kConstant));
        }
    }
};

// The arrays of a run, and the run over them.
struct Memory {
    std::vector<hinge::KnownMargin> known{kRows};
    std::vector<double> coefficients = std::vector<double>(kRows);
    std::vector<std::uint32_t> order;
    std::vector<double> vectors = std::vector<double>(4 * (kWidth + 1));
    std::vector<std::uint32_t> drawn;
    std::array<std::uint64_t, 4> random = hinge::seeded_words(7);
    hinge::StochasticCounters counters{};
    hinge::StochasticNumbers numbers{};

    Memory(const Data& data, std::int64_t batch) : drawn(2 * batch) {
        for (std::int64_t i = 0; i < kRows; ++i) {
            order.push_back(static_cast<std::uint32_t>(i));
            known[i].radius = static_cast<float>(1.001 * data.largest);
        }
        numbers.scale = 1.0;
        numbers.rate = 1.0;
    }

    const double* weights() const { return vectors.data(); }

    void run(const Data& data, const hinge::StochasticSettings& settings, std::int64_t steps,
             std::int64_t work) {
        const double one = 1.0;
        double* const v = vectors.data();
        constexpr std::int64_t width = kWidth + 1;
        const hinge::DenseRows<double> rows{data.values.data(), kRows, kWidth};
        const hinge::StochasticLabels labels{data.signs.data(), &one, 0, data.squares.data()};
        const hinge::StochasticArrays at{
            known.data(), coefficients.data(), order.data(),  kRows,        v,
            v + width,    v + 2 * width,       v + 3 * width, drawn.data(), random.data()};
        while (counters.step < steps) {
            hinge::StochasticRun run(rows, settings, labels, at, counters, numbers);
            check(run.advance(work, steps) > 0, "a call does something");
        }
    }
};

hinge::StochasticSettings settings(const Data& data, std::int64_t batch, bool prunes,
                                   bool accumulates) {
    return {0.01,  kConstant, 1.0,  data.largest, 40.0,   5.0,        20.0,
            batch, 64,        true, false,        prunes, accumulates};
}

// The same draws, by the formula.
std::vector<double> by_formula(const Data& data, std::int64_t batch, std::int64_t steps) {
    Memory memory(data, batch);
    hinge::Random random(memory.random.data());
    std::vector<double> w(kWidth + 1);
    std::uint32_t position = 0;
    for (std::int64_t t = 1; t <= steps; ++t) {
        std::vector<double> next = w;
        for (double& entry : next) {
            entry *= 1.0 - 1.0 / static_cast<double>(t);
        }
        for (std::int64_t k = 0; k < batch; ++k) {
            std::swap(memory.order[position],
                      memory.order[position + random.below(kRows - position)]);
            const double* const x = data.values.data() + memory.order[position] * kWidth;
            const double y = data.signs[memory.order[position]];
            position = static_cast<std::uint32_t>((position + 1) % kRows);
            double score = kConstant * w[kWidth];
            for (std::int64_t j = 0; j < kWidth; ++j) {
                score += x[j] * w[j];
            }
            if (y * score < 1.0) {
                const double by = y / (0.01 * static_cast<double>(t * batch));
                for (std::int64_t j = 0; j < kWidth; ++j) {
                    next[j] += by * x[j];
                }
                next[kWidth] += by * kConstant;
            }
        }
        double square = 0.0;
        for (const double entry : next) {
            square += entry * entry;
        }
        const double shrink = std::min(1.0, 1.0 / std::sqrt(0.01 * square));
        for (double& entry : next) {
            entry *= square > 0.0 ? shrink : 1.0;
        }
        w = next;
    }
    return w;
}

void test_the_formula() {
    const Data data;
    for (const std::int64_t batch : {1, 2, 13}) {
        for (const bool accumulates : {true, false}) {
            Memory memory(data, batch);
            memory.run(data, settings(data, batch, true, accumulates), 150, 1 << 20);
            const std::vector<double> want = by_formula(data, batch, 150);
            for (std::int64_t j = 0; j <= kWidth; ++j) {
                const double got = memory.numbers.scale * memory.weights()[j];
                check_close(got, want[j], 1e-9, "a weight after 150 steps");
            }
        }
    }
}

void test_the_bound_changes_no_bit() {
    const Data data;
    for (const std::int64_t batch : {1, 5, 40}) {
        for (const bool accumulates : {true, false}) {
            Memory plain(data, batch);
            Memory pruned(data, batch);
            plain.run(data, settings(data, batch, false, accumulates), 20000 / batch, 1 << 20);
            pruned.run(data, settings(data, batch, true, accumulates), 20000 / batch, 77);
            check(pruned.counters.refreshes > 0, "margins were stored");
            check(pruned.counters.examined < plain.counters.examined, "rows were left alone");
            check_equal(pruned.numbers.scale, plain.numbers.scale, "the scale");
            for (std::int64_t j = 0; j <= kWidth; ++j) {
                check_equal(pruned.weights()[j], plain.weights()[j], "a weight");
            }
            for (std::int64_t i = 0; i < kRows; ++i) {
                check_equal(pruned.coefficients[i], plain.coefficients[i], "a coefficient");
            }
        }
    }
}

}  // namespace

int main() {
    test_the_formula();
    test_the_bound_changes_no_bit();
    return hinge::testing::finish();
}
