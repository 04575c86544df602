// Rows in the text format of LIBSVM and SVMlight: `label [qid:id] index:value ... [# comment]`.
//
// Strict: whatever could not have been meant ends the reading, with its place and its kind. A piece
// of text consists of whole lines. Nothing is allocated here: every row takes at least two bytes of
// text and every stored value at least four, which tells the caller how long arrays must be.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "hinge/decimal_rounding.hpp"
#include "hinge/libsvm_outcome.hpp"
#include "hinge/libsvm_words.hpp"

namespace hinge {

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
            at = find_byte(at, end_, '\n');
            const char* const nul = find_byte(comment, at, '\0');
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
        // A row may have no label: its first word is then a query or a feature.
        const bool has_labels = !has_colon(word);
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
        // Of so large a number written out digit by digit, neighbours are rounded to the same.
        const bool is_large = std::abs(label) >= static_cast<double>(kMostExact);
        if (is_large && number.written_exponent == 0 &&
            (number.exponent > 0 || number.significand > kMostExact)) {
            return fail(TextFault::label_inexact, at);
        }
        arrays_.labels[outcome_.labels++] = label;
        return end;
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
        if (!has_colon(at)) {
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

    static constexpr std::uint64_t kMostExact = std::uint64_t{1} << 53;
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
