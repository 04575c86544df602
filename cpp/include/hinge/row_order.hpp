// Rows put in order: by the keys of their margins, or by number.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace hinge {

// Puts distinct row numbers in increasing order by marking them: rows are then read in the order of
// memory, which costs a fraction of reading them in the order of their margins.
inline void put_in_order(std::uint32_t* rows, std::int64_t count) {
    constexpr int kWordBits = 64;
    if (count < 2) {
        return;
    }
    const std::uint32_t last = *std::max_element(rows, rows + count);
    std::vector<std::uint64_t> marks(last / kWordBits + 1);
    for (std::int64_t k = 0; k < count; ++k) {
        marks[rows[k] / kWordBits] |= std::uint64_t{1} << (rows[k] % kWordBits);
    }
    for (std::size_t word = 0; word < marks.size(); ++word) {
        for (std::uint64_t left = marks[word]; left != 0; left &= left - 1) {
            const auto bit = static_cast<std::size_t>(std::countr_zero(left));
            *rows++ = static_cast<std::uint32_t>(word * kWordBits + bit);
        }
    }
}

// A float as an integer of the same order.
inline std::uint32_t ordered_bits(float value) noexcept {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = 0x80000000U;
    return (bits & sign) != 0 ? ~bits : bits | sign;
}

// Sorts entries of a key in the upper and a place in the lower half: three passes of eleven bits,
// stable. `entries` and `scratch` have the same length.
inline void sort_entries(std::vector<std::uint64_t>& entries, std::vector<std::uint64_t>& scratch) {
    constexpr int kBits = 11;
    constexpr int kPlaceBits = 32;
    constexpr std::size_t kBuckets = std::size_t{1} << kBits;
    std::vector<std::size_t> counts(kBuckets);
    for (int pass = 0; pass < 3; ++pass) {
        const int drop = kPlaceBits + pass * kBits;
        const auto bucket = [&](std::uint64_t entry) { return (entry >> drop) & (kBuckets - 1); };
        std::fill(counts.begin(), counts.end(), 0);
        for (const std::uint64_t entry : entries) {
            ++counts[bucket(entry)];
        }
        std::size_t next = 0;
        for (std::size_t& count : counts) {
            next += std::exchange(count, next);
        }
        for (const std::uint64_t entry : entries) {
            scratch[counts[bucket(entry)]++] = entry;
        }
        entries.swap(scratch);
    }
}

// Writes to `places` the places of so many keys in their order.
inline void sorted_places(const float* keys, std::int64_t count, std::uint32_t* places) {
    const auto size = static_cast<std::size_t>(count);
    std::vector<std::uint64_t> entries(size);
    std::vector<std::uint64_t> scratch(size);
    for (std::size_t k = 0; k < size; ++k) {
        entries[k] = (static_cast<std::uint64_t>(ordered_bits(keys[k])) << 32) | k;
    }
    sort_entries(entries, scratch);
    for (std::size_t k = 0; k < size; ++k) {
        places[k] = static_cast<std::uint32_t>(entries[k]);
    }
}

}  // namespace hinge
