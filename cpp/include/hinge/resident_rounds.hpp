// Rounds of decomposition on a problem whose whole kernel matrix may be kept.
//
//   min  1/2 b'(K + diag(d)) b - p'b   subject to  lower <= b <= upper  and, where the intercept is
//   free, sum b = 0                                    scores s = K b, gradient e = s + d b - p
//
// A round, as in hinge.solvers.kernel.decomposition:
//   1. choose the rows that violate the optimality conditions most on either side (Joachims 1999),
//      and those of the last set that are strictly inside their bounds;
//   2. solve the program over them by pairs (working_set.hpp) to a tenth of the violation;
//   3. add the kernel rows of what has changed to the scores, in the order of their numbers.
//
// Every kernel row that is computed is kept (resident_slots.hpp, pair_rows.hpp), so that none is
// computed twice and what a round does depends on the coefficients, the scores and the last set
// alone: calls may end after any round, and the bits stay the same. Of rows that violate equally,
// as all do at first, some are taken that are spread over the numbers, since neighbours are often
// alike.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "hinge/aligned.hpp"
#include "hinge/working_set.hpp"

namespace hinge {

struct ResidentProgram {
    std::int64_t count;
    const double* linear;    // p
    const double* diagonal;  // d
    const double* lower;
    const double* upper;
    const bool* settled;  // rows that take no part
    double* beta;
    double* scores;
    bool is_balanced;
};

struct RoundLimits {
    double aim;               // the violation at which to end
    std::int64_t fewest;      // rows of a set
    std::int64_t most;        // rows of a set
    std::int64_t steps;       // on pairs, in all rounds
    std::int64_t set_steps;   // on pairs, on one set
    std::int64_t stored;      // values of a row: what a kernel value costs
    std::int64_t work;        // after which a call ends
    std::int64_t round_work;  // beyond which a round is left to others
};

// Why the rounds have ended: the aim is reached; enough has been done; the next set costs too much
// for one call; nothing moves; pairs do not solve the set of all rows that take part.
enum class RoundsStop : std::int64_t { arrived, paused, too_large, still, slow };

struct RoundsEnd {
    std::int64_t rounds = 0;
    std::int64_t steps = 0;
    std::int64_t computed = 0;  // kernel values
    RoundsStop stop = RoundsStop::paused;
    double up = 0.0;    // the least gradient of what may grow,
    double down = 0.0;  // and the largest of what may shrink, before the last set
};

// Rows are the kernel rows, computed when they are asked for:
//   rows.among(set)                    the kernel matrix of the set, as working_set.hpp takes it
//   rows.add(moved, changes, scores)   adds the rows of what has moved, times its change, in order
//   rows.computed()                    how many kernel values that has taken so far
template <class Rows>
class ResidentRounds {
  public:
    ResidentRounds(const ResidentProgram& program, const RoundLimits& limits,
                   std::vector<std::int64_t> previous, Rows& rows)
        : program_(program),
          limits_(limits),
          chosen_(std::move(previous)),
          rows_(rows),
          gradient_(static_cast<std::size_t>(program.count)),
          not_up_(gradient_.size()),
          not_down_(gradient_.size()) {
        for (std::int64_t k = 0; k < program.count; ++k) {
            note_bounds(k);
            taking_part_ += program.settled[k] ? 0 : 1;
        }
    }

    // Goes on with rounds; what it returns counts all calls so far.
    RoundsEnd run() {
        work_ = 0;
        for (;;) {
            const double violation = find_gradient();
            if (!(violation > limits_.aim)) {
                return ended(RoundsStop::arrived);
            }
            if (work_ >= limits_.work || end_.steps >= limits_.steps) {
                return ended(RoundsStop::paused);
            }
            std::vector<std::int64_t> next = choice();
            if (cost_of(static_cast<std::int64_t>(next.size())) > limits_.round_work) {
                return ended(RoundsStop::too_large);
            }
            chosen_ = std::move(next);
            const bool is_slow = solve(0.1 * violation);
            ++end_.rounds;
            if (moved_.empty()) {
                return ended(RoundsStop::still);
            }
            add_moved();
            if (is_slow && static_cast<std::int64_t>(chosen_.size()) == taking_part_) {
                return ended(RoundsStop::slow);
            }
        }
    }

    // The last working set, in order.
    const std::vector<std::int64_t>& last_set() const noexcept { return chosen_; }

  private:
    static constexpr double kInfinity = std::numeric_limits<double>::infinity();
    static constexpr std::int64_t kStepWork = 16;  // of a variable in a step on a pair

    struct Candidate {
        double badness;
        std::uint32_t tie;
        std::int32_t row;

        bool operator<(const Candidate& other) const noexcept {
            return badness != other.badness ? badness < other.badness : tie < other.tie;
        }
    };

    RoundsEnd ended(RoundsStop stop) noexcept {
        end_.stop = stop;
        end_.computed = rows_.computed();
        return end_;
    }

    // Notes in which directions a row may move.
    void note_bounds(std::int64_t k) noexcept {
        const auto at = static_cast<std::size_t>(k);
        const bool takes_part = !program_.settled[k];
        not_up_[at] = takes_part && program_.beta[k] < program_.upper[k] ? 0.0 : kInfinity;
        not_down_[at] = takes_part && program_.beta[k] > program_.lower[k] ? 0.0 : -kInfinity;
    }
    bool is_inside(std::int64_t k) const noexcept {
        const auto at = static_cast<std::size_t>(k);
        return not_up_[at] == not_down_[at];
    }

    // Brings the gradient up to date; returns by how much it violates the optimality conditions.
    double find_gradient() noexcept {
        const double* const not_up = not_up_.data();
        const double* const not_down = not_down_.data();
        double* const gradient = gradient_.data();
        double up = kInfinity;
        double down = -kInfinity;
#pragma omp simd reduction(min : up) reduction(max : down)
        for (std::int64_t k = 0; k < program_.count; ++k) {
            const double e =
                program_.scores[k] + program_.diagonal[k] * program_.beta[k] - program_.linear[k];
            gradient[k] = e;
            up = e + not_up[k] < up ? e + not_up[k] : up;
            down = e + not_down[k] > down ? e + not_down[k] : down;
        }
        end_.up = up;
        end_.down = down;
        return program_.is_balanced ? down - up : std::max(down, -up);
    }

    std::int64_t cost_of(std::int64_t size) const noexcept {
        return (size * size + size * program_.count) * limits_.stored;
    }

    // The rows of the next set, in order.
    std::vector<std::int64_t> choice() {
        std::int64_t inside = 0;
        for (std::int64_t k = 0; k < program_.count; ++k) {
            inside += is_inside(k) ? 1 : 0;
        }
        const std::int64_t size = std::min(std::max(2 * inside, limits_.fewest), limits_.most);
        std::vector<std::int64_t> rows;
        if (size >= taking_part_) {
            for (std::int64_t k = 0; k < program_.count; ++k) {
                if (!program_.settled[k]) {
                    rows.push_back(k);
                }
            }
            return rows;
        }
        for (const std::int64_t k : chosen_) {
            if (4 * static_cast<std::int64_t>(rows.size()) >= 3 * size) {
                break;
            }
            if (is_inside(k)) {
                rows.push_back(k);
            }
        }
        const std::int64_t room = (size - static_cast<std::int64_t>(rows.size())) / 2;
        // Rows that no other could draw away from where they are would only take part for nothing.
        const double least = program_.is_balanced ? end_.up : 0.0;
        const double most = program_.is_balanced ? end_.down : 0.0;
        append_worst(room, 1.0, not_up_, most, rows);
        append_worst(room, -1.0, not_down_, -least, rows);
        std::sort(rows.begin(), rows.end());
        rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
        return rows;
    }

    // Appends those of the rows that may move whose gradient times the sign is smallest, and below
    // the limit.
    void append_worst(std::int64_t most, double sign, const std::vector<double>& not_this_way,
                      double limit, std::vector<std::int64_t>& rows) {
        // Written down before it is known whether they count: a branch would be guessed wrong.
        std::vector<Candidate>& found = candidates_;
        found.resize(static_cast<std::size_t>(program_.count) + 1);
        std::size_t n_found = 0;
        for (std::int64_t k = 0; k < program_.count; ++k) {
            const auto at = static_cast<std::size_t>(k);
            const double badness = sign * (gradient_[at] + not_this_way[at]);
            const std::uint32_t tie = static_cast<std::uint32_t>(k) * 0x9E3779B1U;
            found[n_found] = {badness, tie, static_cast<std::int32_t>(k)};
            n_found += badness < limit ? 1 : 0;
        }
        found.resize(n_found);
        if (most < static_cast<std::int64_t>(found.size())) {
            std::nth_element(found.begin(), found.begin() + most, found.end());
            found.resize(static_cast<std::size_t>(most));
        }
        for (const Candidate& candidate : found) {
            rows.push_back(candidate.row);
        }
    }

    // Solves the program over the set; returns whether more than the wanted violation is left.
    bool solve(double wanted) {
        const auto size = static_cast<std::int64_t>(chosen_.size());
        AlignedVector<double>(&parts)[5] = parts_;
        const double* const wholes[5] = {program_.diagonal, program_.lower, program_.upper,
                                         program_.beta, gradient_.data()};
        for (int part = 0; part < 5; ++part) {
            parts[part].clear();
            for (const std::int64_t k : chosen_) {
                parts[part].push_back(wholes[part][k]);
            }
        }
        const std::int64_t before = rows_.computed();
        auto matrix = rows_.among(chosen_);
        work_ += (rows_.computed() - before) * limits_.stored;
        WorkingSetSolver solver(
            {size, parts[0].data(), parts[1].data(), parts[2].data(), parts[3].data(),
             parts[4].data(), program_.is_balanced, PairRule::second_order},
            matrix);
        const WorkingSetEnd end =
            solver.solve(wanted, std::min(limits_.set_steps, limits_.steps - end_.steps));
        end_.steps += end.steps;
        work_ += end.steps * size * kStepWork;
        moved_.clear();
        changes_.clear();
        for (std::int64_t k = 0; k < size; ++k) {
            double& beta = program_.beta[chosen_[static_cast<std::size_t>(k)]];
            const double after = parts[3][static_cast<std::size_t>(k)];
            if (after != beta) {
                moved_.push_back(chosen_[static_cast<std::size_t>(k)]);
                changes_.push_back(after - beta);
                beta = after;
                note_bounds(moved_.back());
            }
        }
        return end.violation > wanted;
    }

    void add_moved() {
        const std::int64_t before = rows_.computed();
        rows_.add(moved_, changes_, program_.scores);
        work_ += (rows_.computed() - before) * limits_.stored;
        work_ += static_cast<std::int64_t>(moved_.size()) * program_.count;
    }

    ResidentProgram program_;
    RoundLimits limits_;
    std::vector<std::int64_t> chosen_;
    Rows& rows_;
    std::vector<double> gradient_;
    std::vector<double> not_up_;    // 0 where a row may grow, infinity where not
    std::vector<double> not_down_;  // 0 where it may shrink, minus infinity where not
    std::int64_t taking_part_ = 0;
    std::vector<Candidate> candidates_;
    AlignedVector<double> parts_[5];   // of the program and its variables, those of the set
    std::vector<std::int64_t> moved_;  // rows of the set that have moved, in order
    std::vector<double> changes_;
    std::int64_t work_ = 0;
    RoundsEnd end_;
};

}  // namespace hinge
