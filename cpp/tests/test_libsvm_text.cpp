// The reader of LIBSVM text against one that splits lines into words and asks the C library.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "check.hpp"
#include "hinge/libsvm_format.hpp"
#include "hinge/libsvm_text.hpp"
#include "hinge/random.hpp"

namespace {

using hinge::TextFault;
using hinge::testing::check;
using hinge::testing::check_equal;

// Rows of a text, with arrays exactly as long as the reader may ask for.
template <class Value, class Index>
struct Rows {
    explicit Rows(const std::string& text, hinge::TextSettings settings = {})
        : values(text.size() / 4 + 1),
          indices(text.size() / 4 + 1),
          row_ends(text.size() / 2 + 1),
          labels(text.size() / 2 + 1),
          label_ends(text.size() / 2 + 1),
          queries(text.size() / 2 + 1) {
        // Memory of exactly this size, so that a sanitizer sees a byte too many being read.
        const std::size_t size = text.size() + hinge::kTextPadding;
        const std::unique_ptr<char[]> padded(new char[size]());
        std::memcpy(padded.get(), text.data(), text.size());
        hinge::TextReader<Value, Index> reader(
            settings, {values.data(), indices.data(), row_ends.data(), labels.data(),
                       label_ends.data(), queries.data()});
        outcome = reader.read(padded.get(), padded.get() + text.size());
    }

    std::vector<Value> values;
    std::vector<Index> indices;
    std::vector<std::int64_t> row_ends;
    std::vector<double> labels;
    std::vector<std::int64_t> label_ends;
    std::vector<std::int64_t> queries;
    hinge::TextOutcome outcome;
};

std::string random_text(hinge::Random& random, bool has_queries) {
    std::string text;
    for (std::uint64_t row = 1 + random.below(5); row > 0; --row) {
        text += std::to_string(static_cast<int>(random.below(7)) - 3);
        if (has_queries) {
            text += " qid:" + std::to_string(random.next() >> 1);
        }
        std::uint64_t index = 0;
        for (std::uint64_t pair = random.below(6); pair > 0; --pair) {
            index += 1 + random.below(50);
            char number[hinge::kValueBytes];
            const double value = static_cast<double>(random.next() >> 11) * 0x1p-45 - 100.0;
            text += std::string(1 + random.below(2), random.below(9) == 0 ? '\t' : ' ');
            text += std::to_string(index) + ":";
            text += std::string(number, hinge::format_number(number, value));
        }
        text += random.below(4) == 0 ? " # 1:2\r\n" : "\n";
    }
    return text;
}

// One word after the other, as the format is described.
void compare_with_words(const std::string& text, bool has_queries) {
    const Rows<double, std::int32_t> rows(text);
    std::istringstream lines(text);
    std::string line;
    std::size_t row = 0;
    std::size_t stored = 0;
    while (std::getline(lines, line)) {
        std::istringstream words(line.substr(0, line.find('#')));
        std::string word;
        words >> word;
        check_equal(rows.labels[row], std::strtod(word.c_str(), nullptr), "label");
        if (has_queries) {
            words >> word;
            check_equal(rows.queries[row], std::strtoll(word.c_str() + 4, nullptr, 10), "query");
        }
        while (words >> word) {
            const std::size_t colon = word.find(':');
            check_equal(rows.indices[stored] + 1, std::atoi(word.c_str()), "index");
            check_equal(rows.values[stored++], std::strtod(word.c_str() + colon + 1, nullptr),
                        "value");
        }
        check_equal(rows.row_ends[row++], static_cast<std::int64_t>(stored), "row end");
    }
    check(rows.outcome.fault == TextFault::none, "no fault in " + text);
    check_equal(rows.outcome.rows, static_cast<std::int64_t>(row), "rows");
    check_equal(rows.outcome.lines, static_cast<std::int64_t>(row), "lines");
    check_equal(rows.outcome.stored, static_cast<std::int64_t>(stored), "stored values");
}

struct Case {
    std::string text;
    TextFault fault;
    std::int64_t line;
    std::int64_t column;
};

void test_faults() {
    using enum TextFault;
    const std::string nul(1, '\0');
    const std::vector<Case> cases = {
        {"1:1\n", label_missing, 0, 0},
        {"qid:1 1:1\n", label_missing, 0, 0},
        {"a\n", label_malformed, 0, 0},
        {"1e999\n", label_overflow, 0, 0},
        {"9007199254740993\n", label_inexact, 0, 0},
        {"9007199254740993.0\n", label_inexact, 0, 0},
        {"-9007199254740993.\n", label_inexact, 0, 0},
        {"1 qid:x\n", query_malformed, 0, 2},
        {"1 qid:1\n2\n", query_missing, 1, 1},
        {"1\n2 qid:1\n", query_unexpected, 1, 2},
        {"1 1:1 qid:2\n", query_misplaced, 0, 6},
        {"1 -1:1\n", index_malformed, 0, 2},
        {"1 9223372036854775808:1\n", index_overflow, 0, 2},
        {"1 1:1 1:1\n", index_repeated, 0, 6},
        {"\n1 2:1 1:1\n", index_unsorted, 1, 6},
        {"1 x\n", pair_without_colon, 0, 2},
        {"1 1:x\n", value_malformed, 0, 4},
        {"1 1:1e400\n", value_overflow, 0, 4},
        {"# a\n #" + nul + "\n", nul_byte, 1, 2},
    };
    for (const Case& one : cases) {
        const Rows<double, std::int64_t> rows(one.text);
        check(rows.outcome.fault == one.fault, "kind of fault in " + one.text);
        check_equal(rows.outcome.lines, one.line, "line of the fault in " + one.text);
        check_equal(rows.outcome.fault_column, one.column, "column of the fault in " + one.text);
    }
}

void test_limits() {
    hinge::TextSettings settings;
    settings.first_index = 1;
    settings.last_index = 5;
    check(Rows<float, std::int32_t>("1 0:1\n", settings).outcome.fault == TextFault::index_zero,
          "0 where indices begin with 1");
    check(Rows<float, std::int32_t>("1 6:1\n", settings).outcome.fault == TextFault::index_above,
          "above the last index");
    const Rows<float, std::int32_t> narrow("1 2147483648:1\n");
    check(narrow.outcome.needs_wide_indices, "2^31 does not fit into 32 bits");
    const Rows<float, std::int64_t> wide("1 2147483648:1\n");
    check(!wide.outcome.needs_wide_indices, "2^31 fits into 64 bits");
    check_equal(wide.indices[0], std::int64_t{2147483647}, "2^31, counted from zero");
    check_equal(wide.outcome.largest_index, std::int64_t{2147483648}, "the largest index");
    check(Rows<float, std::int32_t>("1 0:1\n").outcome.has_index_zero, "index 0 is noted");
}

void test_many_labels() {
    hinge::TextSettings settings;
    settings.many_labels = true;
    const Rows<double, std::int32_t> rows("3,1 1:1\n 2:1\n-1\n", settings);
    check_equal(rows.outcome.labels, std::int64_t{3}, "labels");
    check(rows.labels[0] == 1 && rows.labels[1] == 3 && rows.labels[2] == -1, "sorted by row");
    check(rows.label_ends[0] == 2 && rows.label_ends[1] == 2 && rows.label_ends[2] == 3, "ends");
    const Rows<double, std::int32_t> repeated("1,1 1:1\n", settings);
    check(repeated.outcome.fault == TextFault::label_repeated, "a label twice");
}

// Any bytes: a fault or rows, and nothing outside the arrays.
void test_noise(hinge::Random& random) {
    const std::string letters = "0123456789:::.,eE+-# \t\r\n\nqid:nan\x80" + std::string(1, '\0');
    for (int k = 0; k < 100000; ++k) {
        std::string text;
        for (std::uint64_t count = random.below(40); count > 0; --count) {
            text += letters[random.below(letters.size())];
        }
        text += '\n';
        hinge::TextSettings settings;
        settings.many_labels = random.below(2) == 0;
        const Rows<float, std::int32_t> rows(text, settings);
        const bool is_over =
            rows.outcome.fault == TextFault::none && !rows.outcome.needs_wide_indices;
        const auto lines = std::count(text.begin(), text.end(), '\n');
        check(!is_over || rows.outcome.lines == lines, "all lines are read or there is a fault");
        check(rows.outcome.fault_offset < static_cast<std::int64_t>(text.size()), "inside");
    }
}

}  // namespace

int main() {
    auto words = hinge::seeded_words(11);
    hinge::Random random(words.data());
    for (int k = 0; k < 3000; ++k) {
        const bool has_queries = random.below(2) == 0;
        compare_with_words(random_text(random, has_queries), has_queries);
    }
    test_faults();
    test_limits();
    test_many_labels();
    test_noise(random);
    return hinge::testing::finish();
}
