// Steps on the dual program against a plain reference: pairs by both rules, single variables and
// sweeps, with the whole matrix and with kept rows, all columns and some.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "check.hpp"
#include "hinge/cached_rows.hpp"
#include "hinge/coordinate_sweep.hpp"
#include "hinge/working_set.hpp"

namespace {

using hinge::testing::check;
using hinge::testing::check_close;
using hinge::testing::check_equal;

constexpr std::int64_t kCount = 23;

// A program with a kernel of low rank and bounds around zero.
struct Program {
    std::vector<float> kernel = std::vector<float>(kCount * kCount);
    std::vector<double> linear, diagonal, lower, upper, beta, gradient, own;

    explicit Program(unsigned seed) {
        std::mt19937 random(seed);
        std::normal_distribution<double> normal;
        std::vector<double> x(kCount * 3);
        std::generate(x.begin(), x.end(), [&] { return normal(random); });
        for (std::int64_t i = 0; i < kCount; ++i) {
            for (std::int64_t j = 0; j < kCount; ++j) {
                double sum = i == j ? 0.1 : 0.0;
                for (std::int64_t k = 0; k < 3; ++k) {
                    sum += x[i * 3 + k] * x[j * 3 + k];
                }
                kernel[i * kCount + j] = static_cast<float>(sum);
            }
            const bool positive = i % 2 == 0;
            linear.push_back(positive ? 1.0 : -1.0);
            diagonal.push_back(i % 3 == 0 ? 0.25 : 0.0);
            lower.push_back(positive ? 0.0 : -2.0);
            upper.push_back(positive ? 2.0 : 0.0);
            own.push_back(kernel[i * kCount + i]);
        }
        beta.assign(kCount, 0.0);
        gradient = slopes();
    }

    // The gradient, from the definition.
    std::vector<double> slopes() const {
        std::vector<double> e(kCount);
        for (std::int64_t i = 0; i < kCount; ++i) {
            e[i] = diagonal[i] * beta[i] - linear[i];
            for (std::int64_t j = 0; j < kCount; ++j) {
                e[i] += static_cast<double>(kernel[i * kCount + j]) * beta[j];
            }
        }
        return e;
    }

    double violation(bool is_balanced) const {
        double up = 1e300;
        double down = -1e300;
        const std::vector<double> e = slopes();
        for (std::int64_t i = 0; i < kCount; ++i) {
            up = beta[i] < upper[i] ? std::min(up, e[i]) : up;
            down = beta[i] > lower[i] ? std::max(down, e[i]) : down;
        }
        return is_balanced ? down - up : std::max(down, -up);
    }

    hinge::WorkingSet set(bool is_balanced, hinge::PairRule rule) {
        return {kCount,      diagonal.data(), lower.data(), upper.data(),
                beta.data(), gradient.data(), is_balanced,  rule};
    }

    void check_feasible() const {
        for (std::int64_t i = 0; i < kCount; ++i) {
            check(beta[i] >= lower[i] && beta[i] <= upper[i], "inside the bounds");
            check_close(gradient[i], slopes()[i], 1e-10, "the gradient is kept up to date");
        }
    }
};

void test_whole_matrix() {
    for (const bool is_balanced : {true, false}) {
        for (const auto rule : {hinge::PairRule::first_order, hinge::PairRule::second_order}) {
            Program program(1);
            hinge::WholeMatrix<float> matrix{program.kernel.data(), kCount};
            hinge::WorkingSetSolver solver(program.set(is_balanced, rule), matrix);
            const hinge::WorkingSetEnd end = solver.solve(1e-9, 100000);
            check(end.violation <= 1e-9 && end.missing == -1 && !end.is_stuck, "solved");
            check(program.violation(is_balanced) <= 1e-8, "optimal by the definition");
            program.check_feasible();
            double sum = 0.0;
            for (const double beta : program.beta) {
                sum += beta;
            }
            if (is_balanced) {
                check_close(sum, 0.0, 1e-12, "balanced");
            }
        }
    }
}

// Steps with kept rows, each computed when it is first missing, are those with the whole matrix.
void test_kept_rows() {
    Program whole(2);
    hinge::WholeMatrix<float> matrix{whole.kernel.data(), kCount};
    hinge::WorkingSetSolver reference(whole.set(true, hinge::PairRule::second_order), matrix);
    const hinge::WorkingSetEnd end = reference.solve(1e-6, 50);
    Program part(2);
    std::vector<std::int64_t> slot_of(kCount, -1);
    std::vector<std::int64_t> used(kCount, 0);
    std::int64_t clock = 0;
    std::int64_t steps = 0;
    int missed = 0;
    while (steps < end.steps) {
        hinge::KeptMatrix kept({part.kernel.data(), kCount, slot_of.data(), used.data(), clock},
                               nullptr, part.own.data(), kCount);
        hinge::WorkingSetSolver solver(part.set(true, hinge::PairRule::second_order), kept);
        const hinge::WorkingSetEnd some = solver.solve(1e-6, end.steps - steps);
        check(kept.clock() > clock, "the clock goes on");
        clock = kept.clock();
        steps += some.steps;
        if (some.missing >= 0) {
            check_equal(slot_of[some.missing], -1, "missing indeed");
            slot_of[some.missing] = some.missing;
            ++missed;
        }
    }
    check(missed > 2, "some rows were missing");
    check(*std::max_element(used.begin(), used.end()) == clock, "the last rows used are noted");
    for (std::int64_t i = 0; i < kCount; ++i) {
        check_equal(part.beta[i], whole.beta[i], "the same bits");
    }
}

void test_some_columns() {
    const std::vector<std::int64_t> numbers{3, 7, 8, 20};
    Program program(3);
    std::vector<std::int64_t> slot_of(kCount);
    for (std::int64_t i = 0; i < kCount; ++i) {
        slot_of[i] = i;
    }
    std::vector<std::int64_t> used(kCount, 0);
    hinge::KeptMatrix kept({program.kernel.data(), kCount, slot_of.data(), used.data(), 0},
                           numbers.data(), program.own.data(), 4);
    const float* first = kept.row(1, 0);
    const float* second = kept.row(3, 1);
    for (std::int64_t j = 0; j < 4; ++j) {
        check_equal(first[j], program.kernel[7 * kCount + numbers[j]], "row 7");
        check_equal(second[j], program.kernel[20 * kCount + numbers[j]], "row 20");
    }
}

void test_sweeps() {
    Program program(4);
    hinge::WholeMatrix<float> matrix{program.kernel.data(), kCount};
    std::vector<std::int64_t> order(kCount);
    for (std::int64_t i = 0; i < kCount; ++i) {
        order[i] = (5 * i) % kCount;
    }
    const hinge::Coordinates set{kCount,
                                 program.diagonal.data(),
                                 program.lower.data(),
                                 program.upper.data(),
                                 program.beta.data(),
                                 program.gradient.data()};
    const hinge::SweepEnd few =
        hinge::sweep_coordinates(set, matrix, order.data(), 0, kCount, 0.0, 3);
    check_equal(few.steps, 3, "as many steps as asked for");
    check(few.position >= 3 && few.position < kCount && few.missing == -1, "and no further");
    for (int sweep = 0; sweep < 2000; ++sweep) {
        hinge::sweep_coordinates(set, matrix, order.data(), 0, kCount, 0.0, kCount);
    }
    check(program.violation(false) <= 1e-9, "optimal by the definition");
    program.check_feasible();
    const hinge::SweepEnd idle =
        hinge::sweep_coordinates(set, matrix, order.data(), 0, kCount, 1e-6, kCount);
    check_equal(idle.steps, 0, "what violates less than the tolerance is passed by");
    check_equal(idle.position, kCount, "to the end");
}

// Curvatures beyond float32: gains are all zero in it, and steps are none the less made.
void test_flat_gains() {
    for (const bool is_balanced : {false, true}) {
        Program program(5);
        program.diagonal.assign(kCount, 1e40);
        program.gradient = program.slopes();
        hinge::WholeMatrix<float> matrix{program.kernel.data(), kCount};
        hinge::WorkingSetSolver solver(program.set(is_balanced, hinge::PairRule::second_order),
                                       matrix);
        const auto end = solver.solve(1e-6, 1000);
        check(!end.is_stuck && end.violation <= 1e-6, "the aim is reached");
        check(program.violation(is_balanced) <= 2e-6, "by the definition, too");
    }
}

}  // namespace

int main() {
    test_whole_matrix();
    test_kept_rows();
    test_some_columns();
    test_sweeps();
    test_flat_gains();
    return hinge::testing::finish();
}
