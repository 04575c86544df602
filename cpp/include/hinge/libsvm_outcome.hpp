// What can be asked of the reader of LIBSVM text, and what can come of it.
#pragma once

#include <cstdint>
#include <limits>

namespace hinge {

enum class TextFault : int {
    none,
    label_missing,       // the row begins with index:value
    label_malformed,     // no number, or several where one is expected
    label_overflow,      // too large for a double
    label_inexact,       // an integer that a double cannot tell from its neighbours
    label_repeated,      // the same label twice in a row
    query_malformed,     // no 64-bit integer behind qid:
    query_missing,       // a row without qid, after rows with it
    query_unexpected,    // a row with qid, after rows without it
    query_misplaced,     // qid behind an index:value
    index_malformed,     // no integer before the colon
    index_overflow,      // more than 63 bits
    index_zero,          // although indices are counted from one
    index_above,         // above the largest allowed
    index_repeated,      // the same index twice in a row
    index_unsorted,      // smaller than the one before it
    pair_without_colon,  // a word that is no index:value
    value_malformed,     // no number behind the colon
    value_overflow,      // too large for the type of the values
    nul_byte,            // in a comment; elsewhere it is part of a malformed word
};

enum class Queries : int { unknown, absent, present };

struct TextSettings {
    std::int64_t first_index = 0;  // the smallest allowed: 0 or 1
    std::int64_t last_index = std::numeric_limits<std::int64_t>::max();
    std::int64_t subtracted = 1;  // from every index before it is stored
    bool many_labels = false;     // several labels in a row, separated by commas, or none
    Queries queries = Queries::unknown;
};

// Where the rows go. Ends count from the beginning of the piece.
template <class Value, class Index>
struct TextArrays {
    Value* values;
    Index* indices;
    std::int64_t* row_ends;
    double* labels;
    std::int64_t* label_ends;  // written if a row may have several labels
    std::int64_t* queries;     // written if rows have queries
};

struct TextOutcome {
    std::int64_t rows = 0;
    std::int64_t stored = 0;
    std::int64_t labels = 0;
    std::int64_t lines = 0;  // up to the fault, if there is one
    std::int64_t largest_index = -1;
    bool has_index_zero = false;
    bool needs_wide_indices = false;  // an index is legal, but too large for the type; a fault
    Queries queries = Queries::unknown;
    TextFault fault = TextFault::none;
    std::int64_t fault_offset = 0;
    std::int64_t fault_column = 0;  // bytes of the line before the fault
};

}  // namespace hinge
