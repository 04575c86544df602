// The passes of the interior point method over consecutive rows, rows and variables together.
//
// Each reads its rows once: chunk by chunk their scores, then what follows from them, then the sums
// of rows, while the chunk is still in a cache. Sums are added to arrays of the caller, in the
// order of the rows. A constant feature, if there is one, is the last.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "hinge/central_path.hpp"
#include "hinge/path_steps.hpp"
#include "hinge/row_panels.hpp"

namespace hinge {

// Which rows make the matrix: those whose weight is above `least`, and of the others every eighth
// for eight of them. A tau that is a number first puts the dual variables where the path has them.
struct MatrixRule {
    static constexpr std::int64_t kEvery = 8;
    double tau;
    double least;
};

// What a run knows of its rows beside their values.
struct RowNumbers {
    const std::int8_t* signs;
    const double* costs;  // null if all are the same
    double cost;          // that one, or the one that stands in for none
};

template <class Rows, bool kBounded>
class InteriorRows {
  public:
    InteriorRows(const Rows& rows, const RowNumbers& numbers, const PathProgram& program,
                 const PathVariables& variables, double constant)
        : rows_(rows),
          numbers_(numbers),
          program_(program),
          variables_(variables),
          constant_(constant) {}

    std::int64_t count() const noexcept { return rows_.count; }
    std::int64_t width() const noexcept { return rows_.width + (constant_ != 0.0 ? 1 : 0); }

    // Sets margins; adds up the sum of rows that the dual point makes, and objective values.
    void measure(Extent which, const double* weights, double* pulled, ValueSums& sums) noexcept {
        each_chunk(which, [&](Extent part, const PathChunk<kBounded>& c) {
            Chunk pull;
            scores(part, c, weights, c.v.margin);
            for (std::int64_t k = 0; k < c.size; ++k) {
                pull[k] = c.sign[k] * c.v.alpha[k];
            }
            add(part, pull, pulled);
            add_values(c, sums);
        });
    }

    // Sets the change of margins along a direction; returns the smoothed losses' slope there.
    double trial(Extent which, const double* direction, double tau, double length) noexcept {
        double slope = 0.0;
        each_chunk(which, [&](Extent part, const PathChunk<kBounded>& c) {
            scores(part, c, direction, c.v.change);
            slope += smoothed_slope(c, tau, length);
        });
        return slope;
    }

    // The same slope at another length.
    double search(Extent which, double tau, double length) noexcept {
        double slope = 0.0;
        each_chunk(which, [&](Extent, const PathChunk<kBounded>& c) {
            slope += smoothed_slope(c, tau, length);
        });
        return slope;
    }

    void settle(Extent which, double length) noexcept {
        for (std::int64_t i = which.start; i < which.stop; ++i) {
            variables_.margin[i] += length * variables_.change[i];
        }
    }

    void follow_affine(Extent which, const double* direction, double* taken,
                       MoveSums& sums) noexcept {
        each_chunk(which, [&](Extent part, const PathChunk<kBounded>& c) {
            Chunk pull;
            scores(part, c, direction, c.v.change);
            affine(c, pull, sums);
            add(part, pull, taken);
        });
    }

    double follow_corrected(Extent which, const double* direction, double tau,
                            double* pulled) noexcept {
        double peak = -HUGE_VAL;
        each_chunk(which, [&](Extent part, const PathChunk<kBounded>& c) {
            Chunk pull;
            scores(part, c, direction, c.v.change);
            peak = std::max(peak, follow(c, tau, pull));
            add(part, pull, pulled);
        });
        return peak;
    }

    void refine(Extent which, double tau, double length, double* taken) noexcept {
        each_chunk(which, [&](Extent part, const PathChunk<kBounded>& c) {
            Chunk pull;
            bend_towards_path(c, tau, length, pull);
            add(part, pull, taken);
        });
    }

    void update(Extent which, double tau, double length, ValueSums& sums) noexcept {
        each_chunk(which, [&](Extent, const PathChunk<kBounded>& c) {
            take(c, tau, length);
            add_values(c, sums);
        });
    }

    // Visits each row's weight in the matrix of the normal equations, after adding up the vectors
    // that are known by then: three of width() each, of all rows.
    template <class Keep>
    void weigh(Extent which, MatrixRule rule, double* vectors, Keep keep) noexcept {
        each_chunk(which, [&](Extent part, const PathChunk<kBounded>& c) {
            Chunk weight, pulled, force, barrier;
            if (!std::isnan(rule.tau)) {
                centre(c, rule.tau);
            }
            const PathVariables v = c.v;
#pragma omp simd
            for (std::int64_t k = 0; k < c.size; ++k) {
                const auto row = row_at<kBounded>(v, c.bend, program_.linear, k);
                weight[k] = std::abs(c.sign[k]) * row.spread();
                pulled[k] = c.sign[k] * row.alpha;
                force[k] = c.sign[k] * weight[k] * row.force();
                barrier[k] = c.sign[k] * weight[k] * row.barrier();
            }
            add(part, pulled, vectors);
            add(part, force, vectors + width());
            add(part, barrier, vectors + 2 * width());
            for (std::int64_t k = 0; k < c.size; ++k) {
                const std::int64_t i = part.start + k;
                if (weight[k] > rule.least) {
                    keep(i, weight[k]);
                } else if (i % MatrixRule::kEvery == 0 && weight[k] > 0.0) {
                    keep(i, static_cast<double>(MatrixRule::kEvery) * weight[k]);
                }
            }
        });
    }

    // Writes the roots of weights times rows, of those that have a weight, one after the other;
    // returns how many.
    template <class Out>
    std::int64_t scaled_rows(Extent which, MatrixRule rule, double* vectors, Out* out) noexcept {
        std::int64_t kept = 0;
        const std::int64_t n = width();
        weigh(which, rule, vectors, [&](std::int64_t i, double weight) {
            write_scaled(i, std::sqrt(weight), out + kept * n);
            ++kept;
        });
        return kept;
    }

    // Adds the outer products of rows, times their weights, to a lower triangle.
    void outer_products(Extent which, MatrixRule rule, double* vectors, double* square) {
        std::vector<std::int64_t> columns(static_cast<std::size_t>(rows_.width + 1));
        std::vector<double> values(static_cast<std::size_t>(rows_.width + 1));
        const std::int64_t n = width();
        weigh(which, rule, vectors, [&](std::int64_t i, double weight) {
            std::int64_t count = non_zeros(rows_, i, columns.data(), values.data());
            if (constant_ != 0.0) {
                columns[count] = rows_.width;
                values[count++] = constant_;
            }
            for (std::int64_t a = 0; a < count; ++a) {
                const double scaled = weight * values[a];
                double* const line = square + columns[a] * n;
                // The columns of a row are distinct, so no entry is written twice in this loop.
#pragma omp simd
                for (std::int64_t b = 0; b <= a; ++b) {
                    line[columns[b]] = multiply_add(scaled, values[b], line[columns[b]]);
                }
            }
        });
    }

  private:
    template <class Visit>
    void each_chunk(Extent which, Visit visit) noexcept {
        PathChunk<kBounded> c;
        c.program = program_;
        for (std::int64_t k = 0; k < kChunk; ++k) {
            set_cost(c, k, numbers_.cost);
        }
        for (std::int64_t i = which.start; i < which.stop; i += kChunk) {
            c.size = std::min(kChunk, which.stop - i);
            c.v = variables_.at(i);
            for (std::int64_t k = 0; k < c.size; ++k) {
                c.sign[k] = static_cast<double>(numbers_.signs[i + k]);
            }
            for (std::int64_t k = 0; numbers_.costs != nullptr && k < c.size; ++k) {
                const double cost = numbers_.costs[i + k];
                set_cost(c, k, cost > 0.0 ? cost : numbers_.cost);
                c.sign[k] *= cost > 0.0 ? 1.0 : 0.0;
            }
            visit(Extent{i, i + c.size}, c);
        }
    }

    void set_cost(PathChunk<kBounded>& c, std::int64_t k, double cost) const noexcept {
        c.upper[k] = kBounded ? program_.reach * cost : HUGE_VAL;
        c.bend[k] = kBounded ? 0.0 : program_.curvature / cost;
        c.scale[k] = kBounded ? c.upper[k] : cost / (2.0 * program_.curvature);
    }

    void scores(Extent part, const PathChunk<kBounded>& c, const double* weights,
                double* out) const noexcept {
        const double offset = constant_ != 0.0 ? constant_ * weights[rows_.width] : 0.0;
        for (std::int64_t k = 0; k < c.size; ++k) {
            out[k] = c.sign[k] * (rows_.dot(part.start + k, weights) + offset);
        }
    }

    void add(Extent part, const double* weights, double* sums) const noexcept {
        add_rows(rows_, part, weights, sums);
        if (constant_ != 0.0) {
            double sum = 0.0;
            for (std::int64_t k = 0; k < part.stop - part.start; ++k) {
                sum += weights[k];
            }
            sums[rows_.width] += constant_ * sum;
        }
    }

    template <class Out>
    void write_scaled(std::int64_t i, double scale, Out* __restrict out) const noexcept {
        if constexpr (requires { rows_.row(i); }) {
            const auto* __restrict const row = rows_.row(i);
#pragma omp simd
            for (std::int64_t k = 0; k < rows_.width; ++k) {
                out[k] = static_cast<Out>(scale * static_cast<double>(row[k]));
            }
        } else {
            std::fill(out, out + rows_.width, Out{0});
            for (std::int64_t k = rows_.begin(i); k < rows_.begin(i + 1); ++k) {
                const double value = static_cast<double>(rows_.values[k]);
                out[rows_.columns[k]] = static_cast<Out>(scale * value);
            }
        }
        if (constant_ != 0.0) {
            out[rows_.width] = static_cast<Out>(scale * constant_);
        }
    }

    Rows rows_;
    RowNumbers numbers_;
    PathProgram program_;
    PathVariables variables_;
    double constant_;
};

}  // namespace hinge
