// Views of the caller's rows that own nothing and never write to them.
//
// Dense and CSR rows answer the same questions, so that a solver is written once over a template
// parameter: dot(i, w), add(i, scale, w), stored(i), and, well before a row is used and in this
// order, prefetch_extent(i), prefetch(i, typical()) and, for the very next row, touch(i).
// dot_asking(i, w, next) is dot(i, w) and asks meanwhile for what prefetch(next) has left out.
#pragma once

#include <algorithm>
#include <cstdint>

#include "hinge/linalg.hpp"

namespace hinge {

// The hardware follows a long run by itself once its first lines have been asked for.
inline constexpr std::int64_t kPrefetchLines = 8;

// Asks for so many values of a row well ahead of its use, into the second-level cache: the first
// level has too few line buffers for whole rows, and asking for them there is a third slower on
// data in memory. The number is the same for every row of a sweep: how often a loop over the lines
// of this very row goes round could not be foreseen, and costs more than a line too many.
template <class Value>
void prefetch_values(const Value* begin, std::int64_t count) noexcept {
    const auto bytes = count * static_cast<std::int64_t>(sizeof(Value));
    const std::int64_t lines = std::min(bytes / kCacheLine + 1, kPrefetchLines);
    for (std::int64_t line = 0; line < lines; ++line) {
        __builtin_prefetch(reinterpret_cast<const char*>(begin) + line * kCacheLine, 0, 2);
    }
}

// Loads a value that nobody waits for. A prefetch of data on a page that has not been used lately
// may be dropped; a load is not, and the rest of a row follows its first line.
template <class Value>
void touch_value(const Value* at) noexcept {
    static_cast<void>(*static_cast<const volatile Value*>(at));
}

template <class Value>
struct DenseRows {
    const Value* values;
    std::int64_t count;
    std::int64_t width;

    const Value* row(std::int64_t i) const noexcept { return values + i * width; }
    std::int64_t stored(std::int64_t) const noexcept { return width; }
    std::int64_t typical() const noexcept { return width; }
    double dot(std::int64_t i, const double* w) const noexcept {
        return dense_dot(row(i), w, width);
    }
    // The hardware follows a row that it was asked for the beginning of, but late: a sweep over
    // rows of 784 values in random order reads half as much again, to twice as much, in the same
    // time if every line is asked for. All at once they would stand in the way of the row at work.
    double dot_asking(std::int64_t i, const double* w, std::int64_t next) const noexcept {
        if (width * static_cast<std::int64_t>(sizeof(Value)) <= kPrefetchLines * kCacheLine) {
            return dot(i, w);
        }
        return dense_dot<true>(row(i), w, width, row(next));
    }
    void add(std::int64_t i, double scale, double* w) const noexcept {
        dense_add(row(i), scale, w, width);
    }
    void prefetch_extent(std::int64_t) const noexcept {}
    void prefetch(std::int64_t i, std::int64_t typical) const noexcept {
        prefetch_values(row(i), typical);
    }
    void touch(std::int64_t i) const noexcept {
        if (width > 0) {
            touch_value(row(i));
        }
    }
};

// A product with a row after which the next ones follow: with each part, what lies so many bytes
// ahead of it is asked for.
template <std::int64_t kAhead, class Value>
double dot_in_order(const DenseRows<Value>& rows, std::int64_t i, const double* w) noexcept {
    const Value* const row = rows.row(i);
    return dense_dot<true>(row, w, rows.width, reinterpret_cast<const char*>(row) + kAhead);
}

template <class Value, class Index>
struct CsrRows {
    const Value* values;
    const Index* columns;
    const void* offsets;  // where each row begins: int64 if wide_offsets, else int32
    bool wide_offsets;
    std::int64_t count;
    std::int64_t width;

    std::int64_t begin(std::int64_t i) const noexcept {
        return wide_offsets ? static_cast<const std::int64_t*>(offsets)[i]
                            : static_cast<const std::int32_t*>(offsets)[i];
    }
    std::int64_t stored(std::int64_t i) const noexcept { return begin(i + 1) - begin(i); }
    // Values of a row on average.
    std::int64_t typical() const noexcept { return count > 0 ? begin(count) / count : 0; }
    double dot(std::int64_t i, const double* w) const noexcept {
        return sparse_dot(values + begin(i), columns + begin(i), w, stored(i));
    }
    double dot_asking(std::int64_t i, const double* w, std::int64_t) const noexcept {
        return dot(i, w);
    }
    void add(std::int64_t i, double scale, double* w) const noexcept {
        sparse_add(values + begin(i), columns + begin(i), scale, w, stored(i));
    }
    // The offsets must be there before the row itself can be asked for.
    void prefetch_extent(std::int64_t i) const noexcept {
        const std::int64_t size = wide_offsets ? sizeof(std::int64_t) : sizeof(std::int32_t);
        __builtin_prefetch(static_cast<const char*>(offsets) + i * size);
    }
    void prefetch(std::int64_t i, std::int64_t typical) const noexcept {
        prefetch_values(values + begin(i), typical);
        prefetch_values(columns + begin(i), typical);
    }
    void touch(std::int64_t i) const noexcept {
        if (stored(i) > 0) {
            touch_value(values + begin(i));
            touch_value(columns + begin(i));
        }
    }
};

}  // namespace hinge
