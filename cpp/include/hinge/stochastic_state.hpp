// What a run of stochastic subgradient descent is made of: settings, and state in the caller's
// arrays, so that it can be pickled between any two calls.
#pragma once

#include <cstdint>

namespace hinge {

struct StochasticSettings {
    double penalty;        // lambda of the objective with a mean
    double constant;       // value of the constant feature, 0 without one
    double share;          // rows that can be drawn over the sum of all weights
    double largest_norm;   // no row is longer, constant feature included
    double row_price;      // of a row that is drawn and read
    double skip_price;     // of a row that is drawn and not read
    double refresh_price;  // of a row whose margin is stored, as all of them are
    std::int64_t batch;    // rows of one step
    std::int64_t round;    // a call ends after every so manieth step, whoever made the calls before
    bool projects;         // onto the ball that holds the optimum
    bool replaces;         // draws with replacement instead of in random orders of all rows
    bool prunes;           // leaves rows alone whose side a bound knows
    bool accumulates;      // adds rows up in a vector of their own first: for dense rows
};

enum StochasticPhase : std::int64_t {
    kWatching,    // every row is read, and counted that a stored margin would have spared
    kRefreshing,  // between two steps: margins under the weights of now are being stored
    kPruning,     // rows whose stored margin decides are left alone
};

struct StochasticCounters {
    std::int64_t step;      // steps done, the t of step length 1 / (lambda t)
    std::int64_t position;  // in the random order
    std::int64_t phase;
    std::int64_t refreshed;  // rows whose margin has been stored, while refreshing
    std::int64_t has_radii;  // whether distances are those from the centre
    std::int64_t drawn;      // rows since the weights were last kept
    std::int64_t spared;     // of these, not read (or, while watching, would not have been)
    std::int64_t terms;      // numbers added to the sums since they were last summed afresh
    std::int64_t examined;   // rows whose margin was computed for a step, in the whole run
    std::int64_t refreshes;  // in the whole run
};

// The weights are scale * v; `old` are weights that were kept.
struct StochasticNumbers {
    double scale;
    double square;         // v'v
    double cross;          // v'old
    double middle;         // v'centre
    double old_square;     // old'old
    double old_middle;     // old'centre
    double centre_square;  // centre'centre
    double square_mass;    // of what the sums were added up from, for their rounding
    double cross_mass;
    double rate;  // rows spared of those drawn, lately
};

// One of each per row that the bound needs; float32, so that the cache holds more of them.
struct KnownMargin {
    float margin;  // under the weights that were kept; NaN where float32 cannot hold it
    float radius;  // distance from the centre, rounded up
};

struct StochasticArrays {
    KnownMargin* known;
    double* coefficients;  // v is the sum of these times y x
    std::uint32_t* order;  // the rows that can be drawn
    std::int64_t count;    // how many they are
    double* v;             // with the constant feature's weight last, as the next three
    double* old;
    double* centre;
    double* sum;           // scratch of a step
    std::uint32_t* drawn;  // scratch of a step, two entries for every row of a batch
    std::uint64_t* random;
};

struct StochasticLabels {
    const std::int8_t* signs;
    const double* weights;       // one for every row, or one for all
    std::int64_t weight_stride;  // 1 or 0
    const double* squared_norms;
};

}  // namespace hinge
