// Python's view of the reader of LIBSVM text: arrays that Python owns, filled from a piece of text.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "hinge/libsvm_format.hpp"
#include "hinge/libsvm_text.hpp"

namespace nb = nanobind;

namespace {

template <class Value>
using Array = nb::ndarray<Value, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using AnyArray = nb::ndarray<nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void require(bool holds, const char* message) {
    if (!holds) {
        throw std::invalid_argument(message);
    }
}

const char* fault_name(hinge::TextFault fault) {
    using enum hinge::TextFault;
    switch (fault) {
        case none:
            return "none";
        case label_missing:
            return "label_missing";
        case label_malformed:
            return "label_malformed";
        case label_overflow:
            return "label_overflow";
        case label_inexact:
            return "label_inexact";
        case label_repeated:
            return "label_repeated";
        case query_malformed:
            return "query_malformed";
        case query_missing:
            return "query_missing";
        case query_unexpected:
            return "query_unexpected";
        case query_misplaced:
            return "query_misplaced";
        case index_malformed:
            return "index_malformed";
        case index_overflow:
            return "index_overflow";
        case index_zero:
            return "index_zero";
        case index_above:
            return "index_above";
        case index_repeated:
            return "index_repeated";
        case index_unsorted:
            return "index_unsorted";
        case pair_without_colon:
            return "pair_without_colon";
        case value_malformed:
            return "value_malformed";
        case value_overflow:
            return "value_overflow";
        case nul_byte:
            return "nul_byte";
    }
    return "unknown";
}

// Arrays for the rows of one piece of text.
struct LibsvmArrays {
    AnyArray values;
    AnyArray indices;
    Array<std::int64_t> row_ends;
    Array<double> labels;
    Array<std::int64_t> label_ends;
    Array<std::int64_t> queries;

    void require_room(std::size_t bytes) const {
        require(values.size() >= bytes / 4 + 1 && indices.size() >= bytes / 4 + 1,
                "values and indices must have a place for every four bytes of text");
        const std::size_t rows = bytes / 2 + 1;
        require(row_ends.size() >= rows && labels.size() >= rows && label_ends.size() >= rows &&
                    queries.size() >= rows,
                "rows, labels and queries must have a place for every two bytes of text");
    }

    template <class Value, class Index>
    hinge::TextArrays<Value, Index> typed() const {
        return {static_cast<Value*>(values.data()),
                static_cast<Index*>(indices.data()),
                row_ends.data(),
                labels.data(),
                label_ends.data(),
                queries.data()};
    }
};

template <class Value, class Index>
hinge::TextOutcome read_typed(const char* text, std::int64_t length,
                              const hinge::TextSettings& settings, const LibsvmArrays& arrays) {
    hinge::TextReader<Value, Index> reader(settings, arrays.typed<Value, Index>());
    return reader.read(text, text + length);
}

template <class Value>
hinge::TextOutcome read_valued(const char* text, std::int64_t length,
                               const hinge::TextSettings& settings, const LibsvmArrays& arrays) {
    if (arrays.indices.dtype() == nb::dtype<std::int32_t>()) {
        return read_typed<Value, std::int32_t>(text, length, settings, arrays);
    }
    require(arrays.indices.dtype() == nb::dtype<std::int64_t>(), "indices must be int32 or int64");
    return read_typed<Value, std::int64_t>(text, length, settings, arrays);
}

hinge::TextOutcome read_text(const Array<const std::uint8_t>& bytes, std::int64_t length,
                             const hinge::TextSettings& settings, const LibsvmArrays& arrays) {
    const auto size = static_cast<std::int64_t>(bytes.size());
    require(length >= 0 && length <= size - hinge::kTextPadding,
            "the text needs some bytes of room behind it");
    const char* const text = static_cast<const char*>(static_cast<const void*>(bytes.data()));
    require(length == 0 || text[length - 1] == '\n', "the text must end with a newline");
    arrays.require_room(static_cast<std::size_t>(length));
    if (arrays.values.dtype() == nb::dtype<double>()) {
        return read_valued<double>(text, length, settings, arrays);
    }
    require(arrays.values.dtype() == nb::dtype<float>(), "values must be float32 or float64");
    return read_valued<float>(text, length, settings, arrays);
}

// Ends must not decrease, nor lie beyond the array that they divide.
void require_ends(const Array<std::int64_t>& ends, std::size_t count, std::size_t size) {
    std::int64_t previous = 0;
    for (std::size_t k = 0; k < count; ++k) {
        require(ends.data()[k] >= previous, "ends must not decrease");
        previous = ends.data()[k];
    }
    require(static_cast<std::size_t>(previous) <= size, "ends must not lie beyond their array");
}

// How the rows in some arrays are to be written.
struct LibsvmLayout {
    std::int64_t rows;
    std::int64_t added;
    bool many_labels;
    bool has_queries;
};

template <class Value, class Index>
std::int64_t format_typed(const LibsvmArrays& arrays, const LibsvmLayout& layout, char* text) {
    const hinge::FormattedRows<Value, Index> rows{
        static_cast<const Value*>(arrays.values.data()),
        static_cast<const Index*>(arrays.indices.data()),
        arrays.row_ends.data(),
        arrays.labels.data(),
        layout.many_labels ? arrays.label_ends.data() : nullptr,
        layout.has_queries ? arrays.queries.data() : nullptr,
        layout.rows,
        layout.added};
    return hinge::format_rows(rows, text) - text;
}

template <class Value>
std::int64_t format_valued(const LibsvmArrays& arrays, const LibsvmLayout& layout, char* text) {
    if (arrays.indices.dtype() == nb::dtype<std::int32_t>()) {
        return format_typed<Value, std::int32_t>(arrays, layout, text);
    }
    require(arrays.indices.dtype() == nb::dtype<std::int64_t>(), "indices must be int32 or int64");
    return format_typed<Value, std::int64_t>(arrays, layout, text);
}

std::int64_t format_text(const LibsvmArrays& arrays, const LibsvmLayout& layout,
                         const Array<std::uint8_t>& bytes) {
    require(layout.rows >= 0, "there cannot be fewer than no rows");
    const auto rows = static_cast<std::size_t>(layout.rows);
    require(arrays.row_ends.size() >= rows && arrays.values.size() == arrays.indices.size(),
            "every row needs its end and every value its index");
    require_ends(arrays.row_ends, rows, arrays.values.size());
    if (layout.many_labels) {
        require(arrays.label_ends.size() >= rows, "every row needs the end of its labels");
        require_ends(arrays.label_ends, rows, arrays.labels.size());
    } else {
        require(arrays.labels.size() >= rows, "every row needs its label");
    }
    require(!layout.has_queries || arrays.queries.size() >= rows, "every row needs its query");
    require(bytes.size() >= rows * hinge::kRowBytes + arrays.labels.size() * hinge::kLabelBytes +
                                arrays.values.size() * hinge::kValueBytes,
            "the text needs room for the longest numbers");
    char* const text = static_cast<char*>(static_cast<void*>(bytes.data()));
    if (arrays.values.dtype() == nb::dtype<double>()) {
        return format_valued<double>(arrays, layout, text);
    }
    require(arrays.values.dtype() == nb::dtype<float>(), "values must be float32 or float64");
    return format_valued<float>(arrays, layout, text);
}

hinge::TextSettings make_settings(std::int64_t first_index, std::int64_t last_index,
                                  std::int64_t subtracted, bool many_labels,
                                  std::optional<bool> has_queries) {
    constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max() - 1;
    require(0 <= first_index && first_index <= 1, "first_index must be 0 or 1");
    require(0 <= subtracted && subtracted <= 1, "subtracted must be 0 or 1");
    require(last_index <= last, "last_index must be below 2^63 - 1");
    using enum hinge::Queries;
    const hinge::Queries queries =
        !has_queries.has_value() ? unknown : (*has_queries ? present : absent);
    return {first_index, last_index, subtracted, many_labels, queries};
}

std::optional<bool> has_queries(const hinge::TextOutcome& outcome) {
    if (outcome.queries == hinge::Queries::unknown) {
        return std::nullopt;
    }
    return outcome.queries == hinge::Queries::present;
}

void bind_outcome(nb::module_& module) {
    using hinge::TextOutcome;
    nb::class_<TextOutcome>(module, "LibsvmTextOutcome", "What a piece of LIBSVM text held.")
        .def_ro("rows", &TextOutcome::rows)
        .def_ro("stored", &TextOutcome::stored)
        .def_ro("labels", &TextOutcome::labels)
        .def_ro("lines", &TextOutcome::lines)
        .def_ro("largest_index", &TextOutcome::largest_index)
        .def_ro("has_index_zero", &TextOutcome::has_index_zero)
        .def_ro("needs_wide_indices", &TextOutcome::needs_wide_indices)
        .def_prop_ro("has_queries", &has_queries)
        .def_prop_ro("fault", [](const TextOutcome& o) { return std::string(fault_name(o.fault)); })
        .def_ro("fault_offset", &TextOutcome::fault_offset)
        .def_ro("fault_column", &TextOutcome::fault_column);
}

}  // namespace

void bind_libsvm_text(nb::module_& module) {
    bind_outcome(module);
    nb::class_<hinge::TextSettings>(module, "LibsvmTextSettings", "How LIBSVM text is to be read.")
        .def(
            "__init__",
            [](hinge::TextSettings* self, std::int64_t first_index, std::int64_t last_index,
               std::int64_t subtracted, bool many_labels, std::optional<bool> queries) {
                new (self) hinge::TextSettings(
                    make_settings(first_index, last_index, subtracted, many_labels, queries));
            },
            nb::arg("first_index"), nb::arg("last_index"), nb::arg("subtracted"),
            nb::arg("many_labels"), nb::arg("has_queries").none());
    nb::class_<LibsvmArrays>(module, "LibsvmTextArrays", "Where the rows of a piece of text go.")
        .def(
            "__init__",
            [](LibsvmArrays* self, AnyArray values, AnyArray indices, Array<std::int64_t> row_ends,
               Array<double> labels, Array<std::int64_t> label_ends, Array<std::int64_t> queries) {
                new (self)
                    LibsvmArrays{std::move(values), std::move(indices),    std::move(row_ends),
                                 std::move(labels), std::move(label_ends), std::move(queries)};
            },
            nb::arg("values").noconvert(), nb::arg("indices").noconvert(),
            nb::arg("row_ends").noconvert(), nb::arg("labels").noconvert(),
            nb::arg("label_ends").noconvert(), nb::arg("queries").noconvert());
    nb::class_<LibsvmLayout>(module, "LibsvmTextLayout",
                             "How rows are to be written as LIBSVM text.")
        .def(nb::init<std::int64_t, std::int64_t, bool, bool>(), nb::arg("rows"), nb::arg("added"),
             nb::arg("many_labels"), nb::arg("has_queries"));
    module.def("format_libsvm_text", &format_text, nb::arg("arrays"), nb::arg("layout"),
               nb::arg("text").noconvert(), nb::call_guard<nb::gil_scoped_release>(),
               "Write rows as LIBSVM text and return how many bytes they took.");
    module.attr("LIBSVM_VALUE_BYTES") = hinge::kValueBytes;
    module.attr("LIBSVM_LABEL_BYTES") = hinge::kLabelBytes;
    module.attr("LIBSVM_ROW_BYTES") = hinge::kRowBytes;
    module.def("read_libsvm_text", &read_text, nb::arg("text").noconvert(), nb::arg("length"),
               nb::arg("settings"), nb::arg("arrays"), nb::call_guard<nb::gil_scoped_release>(),
               "Read whole lines of LIBSVM text, up to the first fault.");
}
