// Whether the arrays of a run can be gone on from. A state may come out of a file that anybody has
// written; the loops of a run use its counters as positions and its order as row numbers without
// looking again.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "hinge/dual_run.hpp"

namespace hinge {

inline constexpr std::int64_t kMostCount = std::int64_t{1} << 61;  // far from any overflow

inline bool are_counts(const Counters& c) noexcept {
    constexpr std::size_t kCount = sizeof(Counters) / sizeof(std::int64_t);
    using Values = std::array<std::int64_t, kCount>;
    const auto values = std::bit_cast<Values>(c);
    return std::all_of(values.begin(), values.end(),
                       [](std::int64_t value) { return value >= 0 && value <= kMostCount; });
}

// What is wrong with the counters and the order of a run over so many rows; null if nothing is.
inline const char* fault_in_state(const Counters& c, const std::uint32_t* order,
                                  std::int64_t count) noexcept {
    if (!are_counts(c)) {
        return "a counter is negative or beyond all bounds";
    }
    if (c.phase > Phase::fit) {
        return "the phase is none of those that a run has";
    }
    if (c.present > count || c.met > c.present || c.active > c.met) {
        return "more rows are active than there are";
    }
    const bool over_active =
        c.phase == Phase::sweep || c.phase == Phase::extrapolate || c.phase == Phase::revert;
    if (c.position > (over_active ? c.active : count) || c.kept > c.position) {
        return "the position is beyond the last row";
    }
    if (c.phase == Phase::load && c.present > c.position) {
        return "more rows are listed than have been met";
    }
    if (c.prepared > c.active && c.phase == Phase::sweep) {
        return "more rows are drawn than are active";
    }
    const bool are_rows =
        std::all_of(order, order + count, [count](std::uint32_t row) { return row < count; });
    return are_rows ? nullptr : "the order holds the number of a row that does not exist";
}

}  // namespace hinge
