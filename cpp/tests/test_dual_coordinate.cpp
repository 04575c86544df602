// Dual coordinate descent on programs whose solution is known, and cut into pieces of any size.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "hinge/dual_schedule.hpp"
#include "hinge/random.hpp"
#include "hinge/rows.hpp"

namespace {

using hinge::DenseRows;
using hinge::DualProgram;
using hinge::Schedule;
using hinge::testing::check;
using hinge::testing::check_close;
using hinge::testing::check_equal;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
using Interval = std::pair<double, double>;
constexpr std::int64_t kWhole = std::int64_t{1} << 40;

struct Data {
    std::int64_t count;
    std::int64_t width;
    std::vector<double> values;
    std::vector<int> labels;
    std::vector<double> costs;
};

enum class Loss { hinge, squared_hinge, huber };

// With the constant feature of the sweeps and that of the problem, infinite for a free intercept.
DualProgram program_of(Loss loss, double constant, double scale) {
    constexpr double h = 0.5;
    switch (loss) {
        case Loss::squared_hinge:
            return {nullptr, 1, 1.0, 0.5, kInfinity, constant, scale};
        case Loss::huber:
            return {nullptr, 1, 1.0 + h, 2.0 * h, 1.0, constant, scale};
        default:
            return {nullptr, 1, 1.0, 0.0, 1.0, constant, scale};
    }
}

DualProgram program_of(Loss loss, double constant) {
    return program_of(loss, constant, constant);
}

// All the memory of a run, as Python would own it.
struct Memory {
    std::vector<hinge::RowState> rows;
    std::vector<double> best_margins;
    std::vector<std::uint32_t> order;
    std::vector<std::vector<double>> vectors;
    std::array<std::uint64_t, 4> random;
    hinge::Counters counters{};
    hinge::Numbers numbers{};

    explicit Memory(const Data& data)
        : best_margins(data.count),
          order(data.count),
          vectors(5, std::vector<double>(data.width + 1)),
          random(hinge::seeded_words(3)) {
        for (std::int64_t i = 0; i < data.count; ++i) {
            const double* row = data.values.data() + i * data.width;
            const double norm = hinge::dot(row, row, data.width);
            rows.push_back({0.0, 0.0, 0.0, std::copysign(norm, data.labels[i])});
        }
    }

    hinge::DualArrays views() {
        return {rows.data(),       best_margins.data(), order.data(),
                vectors[0].data(), vectors[1].data(),   vectors[2].data(),
                vectors[3].data(), vectors[4].data(),   random.data()};
    }

    // Every number that a run leaves behind, to compare bit by bit.
    std::vector<double> fingerprint() const {
        std::vector<double> all{numbers.primal, numbers.dual, numbers.threshold, numbers.moved};
        for (const hinge::RowState& row : rows) {
            all.insert(all.end(), {row.alpha, row.margin});
        }
        for (const auto& vector : vectors) {
            all.insert(all.end(), vector.begin(), vector.end());
        }
        all.insert(all.end(), best_margins.begin(), best_margins.end());
        return all;
    }
};

// Runs until so many check passes are done (or at rest), in pieces of the given work.
template <bool kSmooth>
Memory solve_typed(const Data& data, DualProgram program, const Schedule& schedule,
                   std::int64_t checks, std::int64_t work, Interval intercepts) {
    Memory memory(data);
    program.costs = data.costs.data();
    hinge::DualRun<DenseRows<double>, kSmooth> run{{data.values.data(), data.count, data.width},
                                                   program,
                                                   schedule,
                                                   memory.views(),
                                                   memory.counters,
                                                   memory.numbers};
    hinge::start(run, false);
    if (program.free_intercept()) {
        memory.numbers.lowest_intercept = intercepts.first;
        memory.numbers.highest_intercept = intercepts.second;
    }
    double primal = kInfinity;
    double dual = -kInfinity;
    std::int64_t seen = 0;
    while (memory.counters.checks < checks && memory.counters.at_rest == 0) {
        hinge::advance(run, work);
        if (memory.counters.checks > seen) {
            seen = memory.counters.checks;
            // The errors that extrapolation may leave in w before w is formed anew.
            const double slack =
                hinge::kMostNoise * hinge::kRounding * (1.0 + std::abs(memory.numbers.primal));
            check(memory.numbers.primal <= primal + slack, "the best primal value never rises");
            check(memory.numbers.dual >= dual - slack || program.has_centre(),
                  "the dual value never falls");
            primal = memory.numbers.primal;
            dual = memory.numbers.dual;
        }
    }
    return memory;
}

Memory solve(const Data& data, const DualProgram& program, const Schedule& schedule = {},
             std::int64_t checks = 60, std::int64_t work = kWhole,
             Interval intercepts = {-kInfinity, kInfinity}) {
    return program.curvature != 0.0
               ? solve_typed<true>(data, program, schedule, checks, work, intercepts)
               : solve_typed<false>(data, program, schedule, checks, work, intercepts);
}

Data noisy_data(std::int64_t count, std::int64_t width, std::uint64_t seed) {
    auto words = hinge::seeded_words(seed);
    hinge::Random random(words.data());
    Data data{count, width, {}, {}, {}};
    for (std::int64_t i = 0; i < count; ++i) {
        data.labels.push_back(random.below(2) == 0 ? -1 : 1);
        data.costs.push_back(0.25 * (1.0 + random.below(8)));
        for (std::int64_t k = 0; k < width; ++k) {
            const double noise = static_cast<double>(random.below(2001)) / 1000.0 - 1.0;
            data.values.push_back(noise + (k == 0 ? 0.4 * data.labels.back() : 0.0));
        }
    }
    return data;
}

double relative_gap(const Memory& memory) {
    return (memory.numbers.primal - memory.numbers.dual) / std::abs(memory.numbers.primal);
}

void test_one_row() {
    const Data data{1, 1, {2.0}, {1}, {3.0}};
    const Memory hinge_run = solve(data, program_of(Loss::hinge, 0.0));
    check_close(hinge_run.rows[0].alpha, 0.25, 1e-15, "hinge: 1 / ||x||^2, inside the box");
    const Memory squared = solve(data, program_of(Loss::squared_hinge, 0.0));
    check_close(squared.rows[0].alpha, 1.0 / (4.0 + 0.5 / 3.0), 1e-15, "1 / (||x||^2 + 1 / 2c)");
    const Memory augmented = solve(data, program_of(Loss::hinge, 1.0));
    check_close(augmented.rows[0].alpha, 0.2, 1e-15, "the constant feature is in the norm");
    const Data tight{1, 1, {2.0}, {-1}, {0.125}};
    const Memory bound = solve(tight, program_of(Loss::hinge, 0.0));
    check_equal(bound.rows[0].alpha, 0.125, "hinge: at the upper bound");
    check_close(bound.vectors[0][0], -0.25, 1e-16, "w follows the label");
}

void test_rows_of_zeros() {
    const Data data{3, 1, {0.0, 1.0, -1.0}, {1, 1, -1}, {0.75, 2.0, 2.0}};
    check_equal(solve(data, program_of(Loss::hinge, 0.0)).rows[0].alpha, 0.75, "hinge: to c");
    check_close(solve(data, program_of(Loss::squared_hinge, 0.0)).rows[0].alpha, 1.5, 1e-15,
                "squared hinge: to p / D");
}

void test_rows_without_cost_are_absent() {
    Data data = noisy_data(60, 4, 11);
    Data fewer = data;
    data.costs[0] = data.costs[1] = 0.0;
    fewer.count -= 2;
    fewer.values.erase(fewer.values.begin(), fewer.values.begin() + 2 * fewer.width);
    fewer.labels.erase(fewer.labels.begin(), fewer.labels.begin() + 2);
    fewer.costs.erase(fewer.costs.begin(), fewer.costs.begin() + 2);
    const Memory with = solve(data, program_of(Loss::hinge, 1.0));
    const Memory without = solve(fewer, program_of(Loss::hinge, 1.0));
    check_equal(with.rows[0].alpha, 0.0, "no cost, no coefficient");
    for (std::size_t i = 0; i < without.rows.size(); ++i) {
        check_equal(with.rows[i + 2].alpha, without.rows[i].alpha, "same bits as without the row");
    }
}

void test_pieces_of_any_size() {
    const Data data = noisy_data(150, 9, 5);
    for (const Loss loss : {Loss::hinge, Loss::squared_hinge, Loss::huber}) {
        for (const auto& program : {program_of(loss, 0.7), program_of(loss, 0.2, 0.7)}) {
            const auto whole = solve(data, program, {}, 6).fingerprint();
            for (const std::int64_t work : {1, 13, 250, 5000}) {
                check(solve(data, program, {}, 6, work).fingerprint() == whole,
                      "cut into pieces of " + std::to_string(work) + ": same bits");
            }
        }
    }
}

void test_every_order_and_option_reaches_the_optimum() {
    const Data data = noisy_data(200, 6, 7);
    for (const Loss loss : {Loss::hinge, Loss::squared_hinge, Loss::huber}) {
        const double want = solve(data, program_of(loss, 1.0)).numbers.dual;
        for (const auto order :
             {hinge::Order::cyclic, hinge::Order::permuted, hinge::Order::random}) {
            for (const bool on : {false, true}) {
                Schedule schedule;
                schedule.order = order;
                schedule.shrinking = schedule.screening = schedule.extrapolation = on;
                const Memory run = solve(data, program_of(loss, 1.0), schedule, 4000);
                check(relative_gap(run) < 1e-8, "the gap closes");
                check_close(run.numbers.dual, want, 1e-8 * want, "at the same optimum");
            }
        }
    }
}

void test_a_centre_leads_to_the_same_optimum() {
    const Data data = noisy_data(300, 5, 21);
    for (const Loss loss : {Loss::hinge, Loss::squared_hinge, Loss::huber}) {
        for (const double scale : {2.0, 10.0, 40.0}) {
            const Memory want = solve(data, program_of(loss, scale), {}, 4000);
            // As a solver chooses it for these rows, and more; far smaller ones may swing for long.
            for (const double constant : {0.45, 0.9}) {
                const auto program = program_of(loss, constant, scale);
                const Memory run = solve(data, program, {}, 4000);
                check(relative_gap(run) < 1e-8, "the gap closes");
                check_close(run.numbers.dual, want.numbers.dual, 1e-8 * want.numbers.dual,
                            "at the same dual value");
                check_close(run.vectors[3].back(), want.vectors[3].back(), 1e-3,
                            "with the same intercept");
            }
        }
    }
}

void test_free_intercept() {
    const Data data = noisy_data(200, 3, 9);
    const Memory run = solve(data, program_of(Loss::hinge, 0.5, kInfinity), {}, 200);
    double balance = 0.0;
    double total = 0.0;
    for (std::int64_t i = 0; i < data.count; ++i) {
        balance += data.labels[i] * run.rows[i].alpha;
        total += run.rows[i].alpha;
    }
    check_close(balance, 0.0, 1e-6 * total, "y'alpha = 0");
    check(relative_gap(run) < 1e-6 && total > 0.0, "the gap closes");
}

void test_settled_rows_are_right() {
    const Data data = noisy_data(400, 3, 13);
    Schedule plain;
    plain.screening = false;
    const Memory with = solve(data, program_of(Loss::hinge, 1.0));
    const Memory without = solve(data, program_of(Loss::hinge, 1.0), plain);
    check(with.counters.settled > 100, "most rows are settled before the end");
    for (std::int64_t i = 0; i < data.count; ++i) {
        if (with.rows[i].is_settled()) {
            check_close(with.rows[i].alpha, without.rows[i].alpha, 1e-9, "settled at its optimum");
        }
    }
}

void test_settled_rows_about_a_centre() {
    const Data data = noisy_data(400, 3, 13);
    const Memory plain = solve(data, program_of(Loss::hinge, 1.0), {}, 300);
    const Memory with = solve(data, program_of(Loss::hinge, 0.2, 1.0), {}, 300);
    check(with.counters.settled > 100, "most rows are settled before the end");
    check_close(with.numbers.primal, plain.numbers.primal, 1e-8 * plain.numbers.primal,
                "the optimum is the same");
    for (std::int64_t i = 0; i < data.count; ++i) {
        if (with.rows[i].is_settled()) {
            check_close(with.rows[i].alpha, plain.rows[i].alpha, 1e-6, "settled at its optimum");
        }
    }
}

void test_settled_rows_of_a_free_intercept() {
    const Data data = noisy_data(400, 3, 13);
    const auto program = program_of(Loss::hinge, 0.5, kInfinity);
    const Memory without = solve(data, program, {}, 300);
    check_equal(without.counters.settled, std::int64_t{0}, "nothing is settled without bounds");
    const double best = without.vectors[3].back();
    const Memory with = solve(data, program, {}, 300, kWhole, {best - 0.01, best + 0.01});
    check(with.counters.settled > 100, "most rows are settled before the end");
    check_close(with.numbers.primal, without.numbers.primal, 1e-8 * without.numbers.primal,
                "the optimum is the same");
    for (std::int64_t i = 0; i < data.count; ++i) {
        if (with.rows[i].is_settled()) {
            check_close(with.rows[i].alpha, without.rows[i].alpha, 1e-6, "settled at its optimum");
        }
    }
}

// The slopes of a row at a bound with an intercept at 0 and weights and intercept that may still
// change, against the bound that the least room leaves.
void test_rows_stay_held_beyond_the_reach_of_their_margins() {
    constexpr double radius = 0.3;
    constexpr Interval intercepts{-0.1, 0.7};
    const Data data{1, 2, {3.0, 4.0}, {1}, {1.0}};
    for (const double scale : {0.0, 2.0, kInfinity}) {
        const bool is_free = std::isinf(scale);
        DualProgram program = program_of(Loss::hinge, is_free ? 1.0 : scale, scale);
        program.costs = data.costs.data();
        Memory memory(data);
        const hinge::DualRun<DenseRows<double>, false> run{{data.values.data(), 1, 2},
                                                           program,
                                                           {},
                                                           memory.views(),
                                                           memory.counters,
                                                           memory.numbers};
        memory.numbers.lowest_intercept = intercepts.first;
        memory.numbers.highest_intercept = intercepts.second;
        for (const double alpha : {0.0, 1.0}) {
            for (const double sign : {-1.0, 1.0}) {
                const hinge::RowState row{alpha, alpha, 0.0, 25.0 * sign};
                // A row without a coefficient is lost if its margin falls, the other if it rises.
                const double way = alpha > 0.0 ? sign : -sign;
                const double shift = way > 0.0 ? intercepts.second : -intercepts.first;
                const double reach =
                    is_free ? 5.0 * radius + shift : radius * std::sqrt(25.0 + scale * scale);
                for (const double share : {0.0, 0.5, 0.999, 1.001, 2.0, 1e200}) {
                    const double slope = (alpha > 0.0 ? 1.0 : -1.0) * share * reach;
                    check_equal(hinge::stays_held(run, row, slope, radius * radius), share > 1.0,
                                "a row stays held beyond its reach, and no nearer");
                }
            }
        }
        const hinge::RowState row{0.0, 0.0, 0.0, 25.0};
        check(!hinge::stays_held(run, row, -1e9, kInfinity), "nothing is held without a radius");
    }
}

void test_violations_are_steps_within_the_box() {
    for (const double slope : {-kInfinity, -2.0, 0.0, 3.0, kInfinity}) {
        check_equal(hinge::violation(0.0, slope, 1.0), std::max(slope, 0.0), "at the lower bound");
        check_equal(hinge::violation(1.0, slope, 1.0), std::max(-slope, 0.0), "at the upper bound");
        check_equal(hinge::violation(0.5, slope, 1.0), std::abs(slope), "between them");
    }
}

}  // namespace

int main() {
    test_one_row();
    test_rows_of_zeros();
    test_rows_without_cost_are_absent();
    test_pieces_of_any_size();
    test_every_order_and_option_reaches_the_optimum();
    test_a_centre_leads_to_the_same_optimum();
    test_free_intercept();
    test_settled_rows_are_right();
    test_settled_rows_about_a_centre();
    test_settled_rows_of_a_free_intercept();
    test_rows_stay_held_beyond_the_reach_of_their_margins();
    test_violations_are_steps_within_the_box();
    return hinge::testing::finish();
}
