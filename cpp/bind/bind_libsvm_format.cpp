// Python's view of the writer of LIBSVM text.
#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>

#include "hinge/libsvm_format.hpp"
#include "libsvm_arrays.hpp"

namespace nb = nanobind;

namespace {

using hinge::binding::Array;
using hinge::binding::LibsvmArrays;
using hinge::binding::require;

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

}  // namespace

void bind_libsvm_format(nb::module_& module) {
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
}
