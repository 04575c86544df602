// Python's view of the reader of LIBSVM text: arrays that Python owns, filled from a piece of text.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "hinge/libsvm_text.hpp"
#include "libsvm_arrays.hpp"

namespace nb = nanobind;

namespace {

using hinge::binding::AnyArray;
using hinge::binding::Array;
using hinge::binding::LibsvmArrays;
using hinge::binding::require;

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
    module.def("read_libsvm_text", &read_text, nb::arg("text").noconvert(), nb::arg("length"),
               nb::arg("settings"), nb::arg("arrays"), nb::call_guard<nb::gil_scoped_release>(),
               "Read whole lines of LIBSVM text, up to the first fault.");
}
