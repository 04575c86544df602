// libFuzzer target: any bytes are read as LIBSVM text, in every type and mode, and what was
// accepted is written and read again. The first byte of the input chooses the mode.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "hinge/libsvm_format.hpp"
#include "hinge/libsvm_text.hpp"

namespace {

void require(bool holds, const char* what) {
    if (!holds) {
        std::fprintf(stderr, "broken: %s\n", what);
        std::abort();
    }
}

// Arrays exactly as long as the reader may ask for, and text with exactly its padding, so that the
// sanitizer sees one step too far.
template <class Value, class Index>
struct Rows {
    Rows(const std::string& text, const hinge::TextSettings& settings)
        : values(text.size() / 4 + 1),
          indices(text.size() / 4 + 1),
          row_ends(text.size() / 2 + 1),
          labels(text.size() / 2 + 1),
          label_ends(text.size() / 2 + 1),
          queries(text.size() / 2 + 1) {
        const std::unique_ptr<char[]> padded(new char[text.size() + hinge::kTextPadding]());
        std::memcpy(padded.get(), text.data(), text.size());
        hinge::TextReader<Value, Index> reader(
            settings, {values.data(), indices.data(), row_ends.data(), labels.data(),
                       label_ends.data(), queries.data()});
        outcome = reader.read(padded.get(), padded.get() + text.size());
    }

    bool is_whole() const {
        return outcome.fault == hinge::TextFault::none && !outcome.needs_wide_indices;
    }

    std::vector<Value> values;
    std::vector<Index> indices;
    std::vector<std::int64_t> row_ends;
    std::vector<double> labels;
    std::vector<std::int64_t> label_ends;
    std::vector<std::int64_t> queries;
    hinge::TextOutcome outcome;
};

template <class Value, class Index>
void require_valid(const Rows<Value, Index>& rows, const hinge::TextSettings& settings) {
    std::int64_t begin = 0;
    for (std::int64_t row = 0; row < rows.outcome.rows; ++row) {
        const std::int64_t end = rows.row_ends[static_cast<std::size_t>(row)];
        require(begin <= end && end <= rows.outcome.stored, "rows end where they should");
        for (std::int64_t k = begin; k < end; ++k) {
            const auto at = static_cast<std::size_t>(k);
            require(std::isfinite(rows.values[at]), "values are finite");
            const std::int64_t index = std::int64_t{rows.indices[at]} + settings.subtracted;
            require(index >= settings.first_index && index <= settings.last_index, "in range");
            require(k == begin || rows.indices[at - 1] < rows.indices[at], "indices increase");
        }
        begin = end;
    }
    for (std::int64_t k = 0; k < rows.outcome.labels; ++k) {
        require(std::isfinite(rows.labels[static_cast<std::size_t>(k)]), "labels are finite");
    }
}

template <class Value, class Index>
std::string formatted(const Rows<Value, Index>& rows, const hinge::TextSettings& settings) {
    const hinge::TextOutcome& outcome = rows.outcome;
    std::string text(static_cast<std::size_t>(outcome.rows * hinge::kRowBytes +
                                              outcome.labels * hinge::kLabelBytes +
                                              outcome.stored * hinge::kValueBytes),
                     '\0');
    const bool has_queries = outcome.queries == hinge::Queries::present;
    const hinge::FormattedRows<Value, Index> out{
        rows.values.data(),
        rows.indices.data(),
        rows.row_ends.data(),
        rows.labels.data(),
        settings.many_labels ? rows.label_ends.data() : nullptr,
        has_queries ? rows.queries.data() : nullptr,
        outcome.rows,
        settings.subtracted};
    text.resize(static_cast<std::size_t>(hinge::format_rows(out, text.data()) - text.data()));
    return text;
}

template <class T>
void require_same(const std::vector<T>& a, const std::vector<T>& b, std::int64_t count) {
    require(std::memcmp(a.data(), b.data(), static_cast<std::size_t>(count) * sizeof(T)) == 0,
            "written and read again, nothing changes");
}

template <class Value, class Index>
void run(const std::string& text, const hinge::TextSettings& settings) {
    const Rows<Value, Index> rows(text, settings);
    if (!rows.is_whole()) {
        require(rows.outcome.fault_offset < static_cast<std::int64_t>(text.size()), "inside");
        return;
    }
    require(rows.outcome.lines == std::count(text.begin(), text.end(), '\n'), "every line");
    require_valid(rows, settings);
    const Rows<Value, Index> again(formatted(rows, settings), settings);
    require(again.is_whole(), "what is written can be read");
    require(again.outcome.rows == rows.outcome.rows, "every row comes back");
    require(again.outcome.queries == rows.outcome.queries, "rows have queries again, or none");
    require(again.outcome.stored == rows.outcome.stored, "every value comes back");
    require(again.outcome.labels == rows.outcome.labels, "every label comes back");
    require_same(rows.values, again.values, rows.outcome.stored);
    require_same(rows.indices, again.indices, rows.outcome.stored);
    require_same(rows.labels, again.labels, rows.outcome.labels);
    require_same(rows.row_ends, again.row_ends, rows.outcome.rows);
    if (settings.many_labels) {
        require_same(rows.label_ends, again.label_ends, rows.outcome.rows);
    }
    if (rows.outcome.queries == hinge::Queries::present) {
        require_same(rows.queries, again.queries, rows.outcome.rows);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const unsigned mode = data[0];
    std::string text(data + 1, data + size);
    if (!text.empty() && text.back() != '\n') {
        text += '\n';
    }
    hinge::TextSettings settings;
    settings.last_index -= 1;
    settings.many_labels = (mode & 1U) != 0;
    settings.first_index = (mode & 2U) != 0 ? 1 : 0;
    settings.subtracted = (mode & 4U) != 0 ? 0 : 1;
    if ((mode & 8U) != 0) {
        settings.last_index = 100;
    }
    if ((mode & 16U) != 0) {
        (mode & 32U) != 0 ? run<float, std::int32_t>(text, settings)
                          : run<float, std::int64_t>(text, settings);
    } else {
        (mode & 32U) != 0 ? run<double, std::int32_t>(text, settings)
                          : run<double, std::int64_t>(text, settings);
    }
    return 0;
}
