// Scores of consecutive rows under one linear machine, or several: w_p'x_i.
//
// Every score is summed in an order that its row and the number of machines fix, so that it has the
// same bits whatever rows come with it. A product with NaN or infinity stays not finite to the end,
// also where the weight is zero: rows whose scores are all finite hold finite values.
//
// One machine is an inner product a row. Of several the weights are held feature by feature, lanes
// of a register being machines: a value is read once and meets all of them, and dense rows go
// together four at a time, because each register of weights then serves four additions.
#pragma once

#include <cstdint>

#include "hinge/linalg.hpp"
#include "hinge/rows.hpp"

namespace hinge {

inline constexpr std::int64_t kScoredAhead = 2048;  // bytes of dense rows that are asked for
inline constexpr std::int64_t kScoredTogether = 4;  // dense rows
inline constexpr std::int64_t kLanes = 4;  // machines come in multiples of it, at every CPU level
static_assert(kLanes % kPackWidth == 0);

// Which rows, and where their scores go: machine after machine, row after row.
struct ScoredRows {
    std::int64_t first;
    std::int64_t count;
    std::int64_t machines;
    double* scores;

    double* at(std::int64_t k) const noexcept { return scores + k * machines; }
};

// The weights of several machines, `stride` numbers a feature: a multiple of kLanes, filled up with
// zeros.
struct MachineTable {
    const double* weights;
    std::int64_t stride;

    const double* feature(std::int64_t k) const noexcept { return weights + k * stride; }
};

inline Pack fill_pack(double value) noexcept {
    Pack pack;
    for (std::int64_t k = 0; k < kPackWidth; ++k) {
        pack[k] = value;
    }
    return pack;
}

inline void store_scores(const Pack& sums, std::int64_t lane, std::int64_t machines,
                         double* scores) noexcept {
    for (std::int64_t k = 0; k < kPackWidth && lane + k < machines; ++k) {
        scores[lane + k] = sums[k];
    }
}

template <class Value>
void score(const DenseRows<Value>& rows, const ScoredRows& part, const double* w) noexcept {
    for (std::int64_t k = 0; k < part.count; ++k) {
        *part.at(k) = dot_in_order<kScoredAhead>(rows, part.first + k, w);
    }
}

template <class Value, class Index>
void score(const CsrRows<Value, Index>& rows, const ScoredRows& part, const double* w) noexcept {
    for (std::int64_t k = 0; k < part.count; ++k) {
        *part.at(k) = rows.dot(part.first + k, w);
    }
}

// Some lanes of the scores of a few dense rows. Inlined, GCC 12 would keep the sums in memory.
template <int kRows, int kPacks, class Value>
[[gnu::noinline]] void score_lanes(const DenseRows<Value>& rows, const ScoredRows& part,
                                   std::int64_t k, const MachineTable& table,
                                   std::int64_t lane) noexcept {
    const Value* const first = rows.row(part.first + k);
    Pack sums[kRows][kPacks] = {};
    for (std::int64_t feature = 0; feature < rows.width; ++feature) {
        const double* const weights = table.feature(feature) + lane;
#pragma GCC unroll kScoredTogether
        for (int row = 0; row < kRows; ++row) {
            const Pack value = fill_pack(static_cast<double>(first[row * rows.width + feature]));
#pragma GCC unroll 2
            for (int pack = 0; pack < kPacks; ++pack) {
                sums[row][pack] =
                    multiply_add(value, load_pack(weights + pack * kPackWidth), sums[row][pack]);
            }
        }
    }
    for (int row = 0; row < kRows; ++row) {
        for (int pack = 0; pack < kPacks; ++pack) {
            store_scores(sums[row][pack], lane + pack * kPackWidth, part.machines,
                         part.at(k + row));
        }
    }
}

template <int kRows, class Value>
void score_few(const DenseRows<Value>& rows, const ScoredRows& part, std::int64_t k,
               const MachineTable& table) noexcept {
    std::int64_t lane = 0;
    for (; lane + 2 * kPackWidth <= table.stride; lane += 2 * kPackWidth) {
        score_lanes<kRows, 2>(rows, part, k, table, lane);
    }
    for (; lane < table.stride; lane += kPackWidth) {
        score_lanes<kRows, 1>(rows, part, k, table, lane);
    }
}

template <class Value>
void score(const DenseRows<Value>& rows, const ScoredRows& part,
           const MachineTable& table) noexcept {
    std::int64_t k = 0;
    for (; k + kScoredTogether <= part.count; k += kScoredTogether) {
        score_few<kScoredTogether>(rows, part, k, table);
    }
    for (; k < part.count; ++k) {
        score_few<1>(rows, part, k, table);
    }
}

// Some lanes of the scores of one sparse row.
template <int kPacks, class Value, class Index>
void score_lanes(const CsrRows<Value, Index>& rows, const ScoredRows& part, std::int64_t k,
                 const MachineTable& table, std::int64_t lane) noexcept {
    const std::int64_t begin = rows.begin(part.first + k);
    const std::int64_t end = rows.begin(part.first + k + 1);
    Pack sums[kPacks] = {};
    for (std::int64_t at = begin; at < end; ++at) {
        const double* const weights = table.feature(rows.columns[at]) + lane;
        const Pack value = fill_pack(static_cast<double>(rows.values[at]));
        for (int pack = 0; pack < kPacks; ++pack) {
            sums[pack] = multiply_add(value, load_pack(weights + pack * kPackWidth), sums[pack]);
        }
    }
    for (int pack = 0; pack < kPacks; ++pack) {
        store_scores(sums[pack], lane + pack * kPackWidth, part.machines, part.at(k));
    }
}

template <class Value, class Index>
void score(const CsrRows<Value, Index>& rows, const ScoredRows& part,
           const MachineTable& table) noexcept {
    for (std::int64_t k = 0; k < part.count; ++k) {
        std::int64_t lane = 0;
        for (; lane + 2 * kPackWidth <= table.stride; lane += 2 * kPackWidth) {
            score_lanes<2>(rows, part, k, table, lane);
        }
        for (; lane < table.stride; lane += kPackWidth) {
            score_lanes<1>(rows, part, k, table, lane);
        }
    }
}

}  // namespace hinge
