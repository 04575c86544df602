// Rows in the text format of LIBSVM and SVMlight: `label [qid:id] index:value ... [# comment]`.
//
// Strict: whatever could not have been meant ends the reading, with its place and its kind. A piece
// of text consists of whole lines. Nothing is allocated here: every row takes at least two bytes of
// text and every stored value at least four, which tells the caller how long arrays must be.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "hinge/decimal.hpp"

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

template <class Value, class Index>
class TextReader {
  public:
    TextReader(const TextSettings& settings, const TextArrays<Value, Index>& arrays) noexcept
        : settings_(settings),
          arrays_(arrays),
          powers_(powers_of_ten()),
          last_index_(std::min(settings.last_index, kWidest + settings.subtracted)) {}

    // Reads whole lines: the byte before `end` is a newline, if there is any.
    TextOutcome read(const char* begin, const char* end) noexcept {
        outcome_.queries = settings_.queries;
        end_ = end;
        const char* at = begin;
        while (at < end) {
            const char* const line = at;
            at = read_line(skip_blanks(at));
            if (has_failed()) {
                outcome_.fault_offset = at - begin;
                outcome_.fault_column = at - line;
                return outcome_;
            }
            ++outcome_.lines;
        }
        return outcome_;
    }

  private:
    static const char* skip_blanks(const char* at) noexcept {
        while (*at == ' ' || *at == '\t') {
            ++at;
        }
        return at;
    }

    static bool ends_line(const char* at) noexcept {
        return *at == '\n' || *at == '#' || (*at == '\r' && at[1] == '\n');
    }

    static bool ends_word(const char* at) noexcept {
        return *at == ' ' || *at == '\t' || ends_line(at);
    }

    static const char* find(const char* at, const char* end, char byte) noexcept {
        return static_cast<const char*>(std::memchr(at, byte, static_cast<std::size_t>(end - at)));
    }

    bool has_failed() const noexcept {
        return outcome_.fault != TextFault::none || outcome_.needs_wide_indices;
    }

    const char* fail(TextFault fault, const char* at) noexcept {
        outcome_.fault = fault;
        return at;
    }

    // Returns the beginning of the next line, or the place of a fault.
    const char* read_line(const char* at) noexcept {
        if (!ends_line(at)) {
            at = read_row(at);
            if (has_failed()) {
                return at;
            }
        }
        if (*at == '#') {
            const char* const comment = at;
            at = find(at, end_, '\n');
            const char* const nul = find(comment, at, '\0');
            if (nul != nullptr) {
                return fail(TextFault::nul_byte, nul);
            }
        }
        return at + (*at == '\r' ? 2 : 1);
    }

    const char* read_row(const char* at) noexcept {
        at = settings_.many_labels ? read_labels(at) : read_label(at);
        if (has_failed()) {
            return at;
        }
        at = read_query(skip_blanks(at));
        if (has_failed()) {
            return at;
        }
        at = read_pairs(at);
        arrays_.row_ends[outcome_.rows++] = outcome_.stored;
        return at;
    }

    const char* read_label(const char* at) noexcept {
        const char* const end = append_label(at);
        if (!has_failed() && !ends_word(end)) {
            return fail(*end == ':' ? TextFault::label_missing : TextFault::label_malformed, at);
        }
        return end;
    }

    // The order of a row's labels means nothing: they are stored sorted.
    const char* read_labels(const char* const word) noexcept {
        double* const labels = arrays_.labels + outcome_.labels;
        const char* at = word;
        const bool has_labels = !begins_with_pair(word);
        while (has_labels) {
            at = append_label(at);
            if (has_failed()) {
                return at;
            }
            if (*at != ',') {
                break;
            }
            ++at;
        }
        if (at != word && !ends_word(at)) {
            return fail(TextFault::label_malformed, word);
        }
        double* const end = arrays_.labels + outcome_.labels;
        std::sort(labels, end);
        if (std::adjacent_find(labels, end) != end) {
            return fail(TextFault::label_repeated, word);
        }
        arrays_.label_ends[outcome_.rows] = outcome_.labels;
        return at;
    }

    // A row of several labels may have none of them: its first word then has a colon.
    static bool begins_with_pair(const char* at) noexcept {
        while (!ends_word(at)) {
            if (*at++ == ':') {
                return true;
            }
        }
        return false;
    }

    const char* append_label(const char* at) noexcept {
        Decimal number;
        const char* const end = read_decimal(at, number);
        if (end == nullptr) {
            return fail(
                starts_with_query(at) ? TextFault::label_missing : TextFault::label_malformed, at);
        }
        const double label = round_decimal<double>(at, number, powers_);
        if (!(label - label == 0.0)) {
            return fail(TextFault::label_overflow, at);
        }
        constexpr double exact = 0x1.0p53;
        const bool is_integer = number.exponent >= 0 && number.written_exponent == 0;
        if (is_integer && (label > exact || label < -exact)) {
            return fail(TextFault::label_inexact, at);
        }
        arrays_.labels[outcome_.labels++] = label;
        return end;
    }

    static bool starts_with_query(const char* at) noexcept {
        return std::memcmp(at, "qid:", 4) == 0;
    }

    const char* read_query(const char* at) noexcept {
        const bool is_there = starts_with_query(at);
        if (outcome_.queries == Queries::unknown) {
            outcome_.queries = is_there ? Queries::present : Queries::absent;
        }
        if (is_there != (outcome_.queries == Queries::present)) {
            return fail(is_there ? TextFault::query_unexpected : TextFault::query_missing, at);
        }
        if (!is_there) {
            return at;
        }
        const char* digits = at + 4;
        const bool negative = *digits == '-';
        digits += *digits == '-' || *digits == '+';
        std::int64_t query = 0;
        const char* const end = read_integer(digits, query);
        if (end == nullptr || !ends_word(end)) {
            return fail(TextFault::query_malformed, at);
        }
        arrays_.queries[outcome_.rows] = negative ? -query : query;
        return skip_blanks(end);
    }

    // Reads digits; nullptr if there are none or they do not fit.
    static const char* read_integer(const char* at, std::int64_t& number) noexcept {
        std::uint64_t digits = 0;
        const char* const end = detail::append_digits(at, digits);
        while (end - at > kMostDigits && *at == '0') {
            ++at;
        }
        number = static_cast<std::int64_t>(digits);
        return end == at || end - at > kMostDigits || number < 0 ? nullptr : end;
    }

    // Reads index:value up to the end of the row.
    const char* read_pairs(const char* at) noexcept {
        std::int64_t previous = settings_.first_index - 1;
        const std::int64_t stored_before = outcome_.stored;
        std::int64_t stored = stored_before;
        while (!ends_line(at)) {
            std::int64_t index = 0;
            const char* const digits = at + (*at == '+');
            const char* const colon = read_integer(digits, index);
            if (colon == nullptr || *colon != ':') {
                return fail(word_fault(at, colon), at);
            }
            if (index <= previous || index > last_index_) {
                return fail_index(at, index, previous);
            }
            Decimal number;
            const char* const end = read_decimal(colon + 1, number);
            if (end == nullptr || !ends_word(end)) {
                return fail(TextFault::value_malformed, colon + 1);
            }
            const Value value = round_decimal<Value>(colon + 1, number, powers_);
            if (!(value - value == 0)) {
                return fail(TextFault::value_overflow, colon + 1);
            }
            arrays_.values[stored] = value;
            arrays_.indices[stored] = static_cast<Index>(index - settings_.subtracted);
            ++stored;
            previous = index;
            at = skip_blanks(end);
        }
        if (stored > stored_before) {
            outcome_.stored = stored;
            outcome_.largest_index = std::max(outcome_.largest_index, previous);
            outcome_.has_index_zero |= arrays_.indices[stored_before] + settings_.subtracted == 0;
        }
        return at;
    }

    // What is wrong with a word that does not begin with a usable index and a colon.
    static TextFault word_fault(const char* at, const char* end_of_index) noexcept {
        if (starts_with_query(at)) {
            return TextFault::query_misplaced;
        }
        if (!begins_with_pair(at)) {
            return TextFault::pair_without_colon;
        }
        const char* digits = at + (*at == '+');
        if (end_of_index != nullptr || !is_digit(*digits)) {
            return TextFault::index_malformed;
        }
        while (is_digit(*digits)) {
            ++digits;
        }
        return *digits == ':' ? TextFault::index_overflow : TextFault::index_malformed;
    }

    const char* fail_index(const char* at, std::int64_t index, std::int64_t previous) noexcept {
        if (index > settings_.last_index) {
            return fail(TextFault::index_above, at);
        }
        if (index > previous) {
            outcome_.needs_wide_indices = true;
            return at;
        }
        if (index < settings_.first_index) {
            return fail(TextFault::index_zero, at);
        }
        return fail(index == previous ? TextFault::index_repeated : TextFault::index_unsorted, at);
    }

    // The largest index that can be stored: the number of features must fit as well.
    static constexpr std::int64_t kWidest = std::numeric_limits<Index>::max() - 1;

    TextSettings settings_;
    TextArrays<Value, Index> arrays_;
    const PowersOfTen& powers_;
    std::int64_t last_index_;
    const char* end_ = nullptr;
    TextOutcome outcome_;
};

}  // namespace hinge
