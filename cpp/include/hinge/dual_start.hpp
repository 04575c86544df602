// How a run of dual coordinate descent begins: from nothing, or from given coefficients.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "hinge/dual_run.hpp"

namespace hinge {

// Prepares the arrays of a run, which are zero but for alpha and signed_norm of every row, the
// generator's words and, with a free intercept, its first centre.
template <class Run>
void start(Run& run, bool warm) noexcept {
    auto& [rows, program, schedule, at, c, x] = run;
    c.warm = warm ? 1 : 0;
    c.backoff = 1;
    x.step_scale = 1.0;
    x.threshold = std::numeric_limits<double>::infinity();
    x.primal = x.primal_here = x.dual = std::numeric_limits<double>::quiet_NaN();
    x.lowest_intercept = -std::numeric_limits<double>::infinity();
    x.highest_intercept = std::numeric_limits<double>::infinity();
    run.enter(Phase::load);
}

// Forms w(alpha) and the order of all rows of positive cost.
template <class Run>
std::int64_t load(Run& run, std::int64_t work) noexcept {
    auto& [rows, program, schedule, at, c, x] = run;
    std::int64_t done = 0;
    for (; c.position < rows.count && done < work; ++c.position) {
        const std::int64_t i = c.position;
        RowState& row = at.rows[i];
        ++done;
        if (!(run.cost(i) > 0.0)) {
            row.alpha = 0.0;
            row.settle();
            continue;
        }
        at.order[c.present++] = static_cast<std::uint32_t>(i);
        c.pass_work += rows.stored(i) + Run::kRowWork;
        x.largest_norm = std::max(x.largest_norm, std::sqrt(run.squared_norm(row)));
        row.alpha = row.alpha > 0.0 ? std::min(row.alpha, run.upper(i)) : 0.0;
        row.previous = row.alpha;
        if (row.alpha > 0.0) {
            run.add(i, std::copysign(row.alpha, row.signed_norm), at.w);
            x.dual_linear += row.alpha * (program.linear - 0.5 * run.bend(i) * row.alpha);
            done += rows.stored(i);
        }
    }
    return done;
}

}  // namespace hinge
