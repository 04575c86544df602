// Steps along the central path, for a few rows at a time.
#pragma once

#include <cmath>
#include <cstdint>

#include "hinge/central_path.hpp"

namespace hinge {

// The affine step, which aims at the optimum itself: the products of its changes, at most a few
// times what they change (a handful of rows would turn the whole step otherwise), and in pull what
// they take from the right-hand side.
template <bool kBounded>
void affine(const PathChunk<kBounded>& c, double* pull, MoveSums& sums) noexcept {
    const PathVariables v = c.v;
    const double linear = c.program.linear;
    double now = 0.0, first = 0.0, second = 0.0, peak = -HUGE_VAL;
#pragma omp simd reduction(+ : now, first, second) reduction(max : peak)
    for (std::int64_t k = 0; k < c.size; ++k) {
        const PathRow<kBounded> row = row_at<kBounded>(v, c.bend, linear, k);
        const double spread = row.spread();
        const double d_alpha = (row.force() - v.change[k]) * spread;
        const double ratio = d_alpha / row.alpha;
        const double d_low = -row.low * (1.0 + ratio);
        const double below = row.low * row.alpha;
        const double most_below = kMostSecondOrder * below;
        const double c1 = limited(d_alpha * d_low, -most_below, most_below);
        v.second_low[k] = c1;
        double taken = c1 / row.alpha;
        now += below;
        first += d_alpha * row.low + row.alpha * d_low;
        second += d_alpha * d_low;
        double nearest = larger(-ratio, 1.0 + ratio);
        if constexpr (kBounded) {
            const double towards = d_alpha / row.room;
            const double d_high = row.high * (towards - 1.0);
            const double above = row.high * row.room;
            const double most_above = kMostSecondOrder * above;
            const double c2 = limited(d_alpha * d_high, -most_above, most_above);
            v.second_high[k] = c2;
            taken += c2 / row.room;
            now += above;
            first += row.room * d_high - d_alpha * row.high;
            second -= d_alpha * d_high;
            nearest = larger(nearest, larger(towards, 1.0 - towards));
        }
        peak = larger(peak, nearest);
        pull[k] = c.sign[k] * spread * taken;
    }
    sums.now += now;
    sums.first += first;
    sums.second += second;
    sums.peak = larger(sums.peak, peak);
}

// The step to tau with second-order products put back, for one row.
struct RowMove {
    double alpha;
    double low;
    double high;
};

template <bool kBounded>
[[gnu::always_inline]] inline RowMove corrected(const PathRow<kBounded>& row, double change,
                                                double c1, double c2, double tau) noexcept {
    double force = row.force() + (tau - c1) / row.alpha;
    if constexpr (kBounded) {
        force -= (tau + c2) / row.room;
    }
    const double d_alpha = (force - change) * row.spread();
    const double d_low = (tau - c1 - row.low * d_alpha) / row.alpha - row.low;
    double d_high = 0.0;
    if constexpr (kBounded) {
        d_high = (tau + c2 + row.high * d_alpha) / row.room - row.high;
    }
    return {d_alpha, d_low, d_high};
}

// Follow the corrected step: what it adds to the sum of rows in pull; returns its peak.
template <bool kBounded>
double follow(const PathChunk<kBounded>& c, double tau, double* pull) noexcept {
    const PathVariables v = c.v;
    const double linear = c.program.linear;
    double peak = -HUGE_VAL;
#pragma omp simd reduction(max : peak)
    for (std::int64_t k = 0; k < c.size; ++k) {
        const PathRow<kBounded> row = row_at<kBounded>(v, c.bend, linear, k);
        const RowMove move = corrected(row, v.change[k], v.second_low[k], v.second_high[k], tau);
        pull[k] = c.sign[k] * move.alpha;
        double nearest = larger(-move.alpha / row.alpha, -move.low / row.low);
        if constexpr (kBounded) {
            nearest = larger(nearest, larger(move.alpha / row.room, -move.high / row.high));
        }
        peak = larger(peak, nearest);
    }
    return peak;
}

[[gnu::always_inline]] inline double lack(double product, double tau) noexcept {
    return larger(limited(product, tau / kNear, kNear * tau) - product, -kNear * tau);
}

// Ask for products nearer to tau after a longer step; what that adds to the force in pull.
template <bool kBounded>
void bend_towards_path(const PathChunk<kBounded>& c, double tau, double length,
                       double* pull) noexcept {
    const PathVariables v = c.v;
    const double linear = c.program.linear;
#pragma omp simd
    for (std::int64_t k = 0; k < c.size; ++k) {
        const PathRow<kBounded> row = row_at<kBounded>(v, c.bend, linear, k);
        const RowMove move = corrected(row, v.change[k], v.second_low[k], v.second_high[k], tau);
        const double alpha = row.alpha + length * move.alpha;
        const double below = lack(alpha * (row.low + length * move.low), tau);
        v.second_low[k] -= below;
        double taken = -below / row.alpha;
        if constexpr (kBounded) {
            const double room = row.room - length * move.alpha;
            const double above = lack(room * (row.high + length * move.high), tau);
            v.second_high[k] += above;
            taken += above / row.room;
        }
        pull[k] = c.sign[k] * row.spread() * taken;
    }
}

// Take the corrected step.
template <bool kBounded>
void take(const PathChunk<kBounded>& c, double tau, double length) noexcept {
    const PathVariables v = c.v;
    const double linear = c.program.linear;
#pragma omp simd
    for (std::int64_t k = 0; k < c.size; ++k) {
        const PathRow<kBounded> row = row_at<kBounded>(v, c.bend, linear, k);
        const RowMove move = corrected(row, v.change[k], v.second_low[k], v.second_high[k], tau);
        v.alpha[k] = row.alpha + length * move.alpha;
        v.low[k] = row.low + length * move.low;
        if constexpr (kBounded) {
            v.room[k] = row.room - length * move.alpha;
            v.high[k] = row.high + length * move.high;
        }
        v.margin[k] = row.margin + length * v.change[k];
    }
}

template <bool kBounded>
void add_values(const PathChunk<kBounded>& c, ValueSums& sums) noexcept {
    const PathVariables v = c.v;
    const double linear = c.program.linear;
    double losses = 0.0, alpha = 0.0, bent = 0.0, products = 0.0;
#pragma omp simd reduction(+ : losses, alpha, bent, products)
    for (std::int64_t k = 0; k < c.size; ++k) {
        const double present = std::abs(c.sign[k]);
        const double lacking = larger(linear - v.margin[k], 0.0);
        losses += present * c.scale[k] * (kBounded ? lacking : lacking * lacking);
        alpha += present * v.alpha[k];
        products += v.alpha[k] * v.low[k];
        if constexpr (kBounded) {
            products += v.room[k] * v.high[k];
        } else {
            bent += present * c.bend[k] * v.alpha[k] * v.alpha[k];
        }
    }
    sums.losses += losses;
    sums.alpha += alpha;
    sums.bent += bent;
    sums.products += products;
}

}  // namespace hinge
