// Rows as LIBSVM text: every number as the shortest decimal that is read back as the same bits.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>

namespace hinge {

// The most bytes that one number can take, with what stands before it and after it: the shortest
// decimal of a double has at most 24 characters, an index or a query at most 20.
inline constexpr std::int64_t kValueBytes = 48;
inline constexpr std::int64_t kLabelBytes = 32;
inline constexpr std::int64_t kRowBytes = 32;  // a query and the end of the line

// Rows to be written. Ends count from the beginning of the arrays.
template <class Value, class Index>
struct FormattedRows {
    const Value* values;
    const Index* indices;
    const std::int64_t* row_ends;
    const double* labels;
    const std::int64_t* label_ends;  // nullptr: one label for every row
    const std::int64_t* queries;     // nullptr: none
    std::int64_t count;
    std::int64_t added;  // to every index: 1 if the text is to count from one
};

template <class Number>
char* format_number(char* at, Number number) noexcept {
    return std::to_chars(at, at + kValueBytes, number).ptr;
}

// A large label is not written as an integer: the reader takes such integers for identifiers that
// a double cannot tell apart, and refuses them.
inline char* format_label(char* at, double label) noexcept {
    constexpr double exact = 0x1.0p53;
    if (label >= -exact && label <= exact) {
        return format_number(at, label);
    }
    return std::to_chars(at, at + kLabelBytes, label, std::chars_format::scientific).ptr;
}

// Writes the rows; returns the end of the text. There must be room for the most it can take.
template <class Value, class Index>
char* format_rows(const FormattedRows<Value, Index>& rows, char* at) noexcept {
    std::int64_t label = 0;
    std::int64_t stored = 0;
    for (std::int64_t row = 0; row < rows.count; ++row) {
        const std::int64_t label_end = rows.label_ends == nullptr ? row + 1 : rows.label_ends[row];
        for (const std::int64_t first = label; label < label_end; ++label) {
            if (label > first) {
                *at++ = ',';
            }
            at = format_label(at, rows.labels[label]);
        }
        if (rows.queries != nullptr) {
            std::memcpy(at, " qid:", 5);
            at = format_number(at + 5, rows.queries[row]);
        }
        for (; stored < rows.row_ends[row]; ++stored) {
            *at++ = ' ';
            at = format_number(at, static_cast<std::int64_t>(rows.indices[stored]) + rows.added);
            *at++ = ':';
            at = format_number(at, rows.values[stored]);
        }
        *at++ = '\n';
    }
    return at;
}

}  // namespace hinge
