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
// Every kernel row that is computed is kept, so that none is computed twice and what a round does
// depends on the coefficients, the scores and the last set alone: calls may end after any round,
// and the bits stay the same. Of rows that violate equally, as all do at first, some are taken that
// are spread over the numbers, since neighbours are often alike.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "hinge/aligned.hpp"
#include "hinge/cached_rows.hpp"
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

// Kernel rows by slot; there are as many slots as rows.
struct ResidentRows {
    float* rows;
    std::int64_t* slot_of;  // of every row, -1 where it is not kept
    std::int64_t* kept;     // the row of every slot, -1 for none
    std::int64_t* used;     // the round in which each slot was used last
    bool* is_written;
    std::int64_t clock;
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
// for one call; nothing moves; pairs do not solve the set of all rows.
enum class RoundsStop : std::int64_t { arrived, paused, too_large, still, slow };

struct RoundsEnd {
    std::int64_t rounds = 0;
    std::int64_t steps = 0;
    std::int64_t computed = 0;  // kernel values
    RoundsStop stop = RoundsStop::paused;
};

// Fill is called as fill(ids, count, columns, n_columns, rows) and writes the kernel of these rows
// with these columns, or with all rows where columns is null, to rows[0], rows[1], ...
template <class Fill>
class ResidentRounds {
  public:
    ResidentRounds(const ResidentProgram& program, const ResidentRows& cache,
                   const RoundLimits& limits, std::vector<std::int64_t> previous, Fill& fill)
        : program_(program),
          cache_(cache),
          limits_(limits),
          chosen_(std::move(previous)),
          fill_(fill),
          gradient_(static_cast<std::size_t>(program.count)) {}

    RoundsEnd run() {
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
            if (is_slow && static_cast<std::int64_t>(chosen_.size()) == program_.count) {
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
        std::int64_t row;

        bool operator<(const Candidate& other) const noexcept {
            return badness != other.badness ? badness < other.badness : tie < other.tie;
        }
    };

    RoundsEnd ended(RoundsStop stop) noexcept {
        end_.stop = stop;
        return end_;
    }

    bool may_grow(std::int64_t k) const noexcept {
        return !program_.settled[k] && program_.beta[k] < program_.upper[k];
    }
    bool may_shrink(std::int64_t k) const noexcept {
        return !program_.settled[k] && program_.beta[k] > program_.lower[k];
    }
    bool is_inside(std::int64_t k) const noexcept {
        return program_.beta[k] > program_.lower[k] && program_.beta[k] < program_.upper[k];
    }

    // Brings the gradient up to date; returns by how much it violates the optimality conditions.
    double find_gradient() noexcept {
        double up = kInfinity;
        double down = -kInfinity;
        for (std::int64_t k = 0; k < program_.count; ++k) {
            const double e =
                program_.scores[k] + program_.diagonal[k] * program_.beta[k] - program_.linear[k];
            gradient_[static_cast<std::size_t>(k)] = e;
            up = may_grow(k) && e < up ? e : up;
            down = may_shrink(k) && e > down ? e : down;
        }
        return program_.is_balanced ? down - up : std::max(down, -up);
    }

    std::int64_t cost_of(std::int64_t size) const noexcept {
        return (size * size + size * program_.count) * limits_.stored;
    }

    // The rows of the next set, in order.
    std::vector<std::int64_t> choice() const {
        std::int64_t inside = 0;
        std::int64_t taking_part = 0;
        for (std::int64_t k = 0; k < program_.count; ++k) {
            inside += is_inside(k) ? 1 : 0;
            taking_part += program_.settled[k] ? 0 : 1;
        }
        const std::int64_t size = std::min(std::max(2 * inside, limits_.fewest), limits_.most);
        std::vector<std::int64_t> rows;
        if (size >= taking_part) {
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
            if (is_inside(k) && !program_.settled[k]) {
                rows.push_back(k);
            }
        }
        const std::int64_t room = (size - static_cast<std::int64_t>(rows.size())) / 2;
        append_worst(room, 1.0, [this](std::int64_t k) { return may_grow(k); }, rows);
        append_worst(room, -1.0, [this](std::int64_t k) { return may_shrink(k); }, rows);
        std::sort(rows.begin(), rows.end());
        rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
        return rows;
    }

    // Appends those of the rows that may move whose gradient times the sign is smallest.
    template <class May>
    void append_worst(std::int64_t most, double sign, May may,
                      std::vector<std::int64_t>& rows) const {
        std::vector<Candidate> found;
        for (std::int64_t k = 0; k < program_.count; ++k) {
            if (may(k)) {
                const std::uint32_t tie = static_cast<std::uint32_t>(k) * 0x9E3779B1U;
                found.push_back({sign * gradient_[static_cast<std::size_t>(k)], tie, k});
            }
        }
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
        AlignedVector<double> parts[5];
        const double* const wholes[5] = {program_.diagonal, program_.lower, program_.upper,
                                         program_.beta, gradient_.data()};
        for (int part = 0; part < 5; ++part) {
            for (const std::int64_t k : chosen_) {
                parts[part].push_back(wholes[part][k]);
            }
        }
        const AlignedVector<float> kernel = kernel_among();
        WholeMatrix<float> matrix{kernel.data(), size};
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
            }
        }
        return end.violation > wanted;
    }

    // The kernel matrix of the set: kept rows are looked up, others computed as far as it needs
    // them.
    AlignedVector<float> kernel_among() {
        const auto size = static_cast<std::int64_t>(chosen_.size());
        AlignedVector<float> matrix(static_cast<std::size_t>(size * size));
        std::vector<std::int64_t> missing;
        std::vector<float*> rows;
        for (std::int64_t k = 0; k < size; ++k) {
            const std::int64_t row = chosen_[static_cast<std::size_t>(k)];
            const std::int64_t slot = cache_.slot_of[row];
            float* const to = matrix.data() + k * size;
            if (slot < 0) {
                missing.push_back(row);
                rows.push_back(to);
            } else {
                pick_cached(cache_.rows, program_.count, &slot, 1, chosen_.data(), size, to, size);
            }
        }
        compute(missing, chosen_.data(), size, rows);
        return matrix;
    }

    // Keeps the rows of what has moved, and adds them to the scores.
    void add_moved() {
        std::vector<std::int64_t> missing;
        std::vector<std::int64_t> slots;
        std::vector<float*> rows;
        for (const std::int64_t row : moved_) {
            std::int64_t& slot = cache_.slot_of[row];
            if (slot < 0) {
                while (cache_.kept[free_] >= 0) {
                    ++free_;  // there are as many slots as rows, and this one has none
                }
                slot = free_;
                cache_.kept[slot] = row;
                cache_.is_written[slot] = true;
                missing.push_back(row);
                rows.push_back(cache_.rows + slot * program_.count);
            }
            cache_.used[slot] = cache_.clock;
            slots.push_back(slot);
        }
        compute(missing, nullptr, program_.count, rows);
        const auto count = static_cast<std::int64_t>(slots.size());
        add_cached(cache_.rows, program_.count, slots.data(), changes_.data(), count, 0,
                   program_.count, program_.scores);
        work_ += count * program_.count;
    }

    void compute(const std::vector<std::int64_t>& ids, const std::int64_t* columns,
                 std::int64_t n_columns, const std::vector<float*>& rows) {
        if (!ids.empty()) {
            const auto count = static_cast<std::int64_t>(ids.size());
            fill_(ids.data(), count, columns, n_columns, rows.data());
            end_.computed += count * n_columns;
            work_ += count * n_columns * limits_.stored;
        }
    }

    ResidentProgram program_;
    ResidentRows cache_;
    RoundLimits limits_;
    std::vector<std::int64_t> chosen_;
    Fill& fill_;
    std::vector<double> gradient_;
    std::vector<std::int64_t> moved_;  // rows of the set that have moved, in order
    std::vector<double> changes_;
    std::int64_t free_ = 0;  // no slot before it is free
    std::int64_t work_ = 0;
    RoundsEnd end_;
};

}  // namespace hinge
