// Formulas of the interior point method for a few rows at a time.
//
// A row has a dual coefficient alpha > 0 and its room u - alpha, the multipliers low and high of
// its two bounds, and a margin. With theta = D + low/alpha + high/room, Newton's step for a change
// t of the margin is
//
//     d_alpha = (h - t) / theta,
//     h = p - margin - D alpha + (tau - c1) / alpha - (tau + c2) / room,
//
// where c1 and c2 are the products of changes that the corrector puts back. Where there is no upper
// bound (kBounded is false: a loss with curvature), everything of room and high is absent.
//
// Loops are over a chunk, in local arrays or in the caller's, and are written so that compilers
// turn them into vector instructions; sums may be split into partial ones, by a rule of the CPU
// level.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace hinge {

inline constexpr std::int64_t kChunk = 64;  // rows whose numbers are at hand in the first cache
inline constexpr double kMostSecondOrder = 3.0;
inline constexpr double kNear = 10.0;  // products within this factor of tau are left alone

using Chunk = double[kChunk];

// The dual program of a loss: p, the curvature and the largest coefficient for a cost of one.
struct PathProgram {
    double linear;
    double curvature;
    double reach;
};

// The variables of consecutive rows, one array for each.
struct PathVariables {
    double* alpha;
    double* room;
    double* low;
    double* high;
    double* margin;
    double* change;       // of the margin, along the direction
    double* second_low;   // c1
    double* second_high;  // c2

    PathVariables at(std::int64_t row) const noexcept {
        return {alpha + row,  room + row,   low + row,        high + row,
                margin + row, change + row, second_low + row, second_high + row};
    }
};

// What objective values are made of.
struct ValueSums {
    double losses = 0.0;
    double alpha = 0.0;
    double bent = 0.0;
    double products = 0.0;  // complementarity
};

// The sum of all complementarity products along a move, as a polynomial; and 1 / t for the t at
// which the first variable would be zero.
struct MoveSums {
    double now = 0.0;
    double first = 0.0;
    double second = 0.0;
    double peak = -HUGE_VAL;
};

// By value: references to numbers in registers would keep loops from becoming vector instructions.
[[gnu::always_inline]] inline double larger(double a, double b) noexcept {
    return a < b ? b : a;
}
[[gnu::always_inline]] inline double limited(double value, double low, double high) noexcept {
    const double above = value < low ? low : value;
    return above > high ? high : above;
}

// One row's variables, and the numbers of its dual program: formulas without memory, which loops
// over rows take in whole.
template <bool kBounded>
struct PathRow {
    double alpha;
    double room;
    double low;
    double high;
    double margin;
    double linear;
    double bend;  // D

    // 1 / theta: how far a unit of force moves a coefficient.
    [[gnu::always_inline]] inline double spread() const noexcept {
        if constexpr (kBounded) {
            return alpha * room / (low * room + high * alpha);
        } else {
            return alpha / (low + bend * alpha);
        }
    }
    // h without its terms in tau and in the corrector.
    [[gnu::always_inline]] inline double force() const noexcept {
        return kBounded ? linear - margin : linear - margin - bend * alpha;
    }
    // What tau is multiplied with in h.
    [[gnu::always_inline]] inline double barrier() const noexcept {
        return kBounded ? 1.0 / alpha - 1.0 / room : 1.0 / alpha;
    }
};

// Where the path has a row's coefficient, and its room.
struct Place {
    double alpha;
    double room;
};

// Both are positive, without cancellation; upper is looked at only if there is a bound.
template <bool kBounded>
[[gnu::always_inline]] inline Place centred(double slack, double tau, double upper,
                                            double bend) noexcept {
    const double push = std::abs(slack);
    if constexpr (kBounded) {
        // The distance to the bound that the margin pushes towards, from a quadratic equation.
        constexpr double kHuge = 1e150;  // whose square is still a number
        const double ratio = push * upper / (2.0 * tau);
        const double limit = ratio < kHuge ? ratio : kHuge;
        const double root = std::sqrt(limit * limit + 1.0);
        const double near = upper / (ratio + 1.0 + (root > ratio ? root : ratio));
        const double rest = upper - near;
        return {slack >= 0.0 ? near : rest, slack >= 0.0 ? rest : near};
    } else {
        const double root = std::sqrt(push * push + 4.0 * tau * bend) + push;
        const double small = 2.0 * tau / root;
        const double large = root / (2.0 * bend);
        return {slack > 0.0 ? small : large, HUGE_VAL};
    }
}

template <bool kBounded>
struct PathChunk {
    PathVariables v;
    PathProgram program;
    std::int64_t size;
    Chunk sign;   // of the label; zero for a row without cost, which moves nothing
    Chunk upper;  // bounds of the coefficients
    Chunk bend;   // D
    Chunk scale;  // of the loss
};

template <bool kBounded>
[[gnu::always_inline]] inline PathRow<kBounded> row_at(const PathVariables& v, const double* bend,
                                                       double linear, std::int64_t k) noexcept {
    return {v.alpha[k], v.room[k], v.low[k], v.high[k], v.margin[k], linear, bend[k]};
}

// Put the dual variables where the path has them for the present margins.
template <bool kBounded>
void centre(const PathChunk<kBounded>& c, double tau) noexcept {
    const PathVariables v = c.v;
    const double linear = c.program.linear;
#pragma omp simd
    for (std::int64_t k = 0; k < c.size; ++k) {
        const Place place = centred<kBounded>(v.margin[k] - linear, tau, c.upper[k], c.bend[k]);
        v.alpha[k] = place.alpha;
        v.low[k] = tau / place.alpha;
        if constexpr (kBounded) {
            v.room[k] = place.room;
            v.high[k] = tau / place.room;
        }
    }
}

// The derivative of the smoothed losses along the change of margins, at a length.
template <bool kBounded>
double smoothed_slope(const PathChunk<kBounded>& c, double tau, double length) noexcept {
    const PathVariables v = c.v;
    const double linear = c.program.linear;
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t k = 0; k < c.size; ++k) {
        const double slack = v.margin[k] + length * v.change[k] - linear;
        sum += v.change[k] * centred<kBounded>(slack, tau, c.upper[k], c.bend[k]).alpha;
    }
    return sum;
}

}  // namespace hinge
