// Rows in the caller's memory, as Python has them, and the views that native code reads them by.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "hinge/rows.hpp"
#include "require.hpp"

namespace hinge::binding {

namespace nb = nanobind;

template <class Value, int kDimensions>
using Array = nb::ndarray<Value, nb::ndim<kDimensions>, nb::c_contig, nb::device::cpu>;
using AnyArray = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

// The rows as Python has them: dense values, or the three arrays of a CSR matrix.
struct Matrix {
    AnyArray values;
    std::optional<AnyArray> columns;
    std::optional<AnyArray> offsets;
    std::int64_t count;
    std::int64_t width;
};

template <class Value, class Index, class Function>
auto with_sparse(const Matrix& m, Function&& function) {
    const bool wide = m.offsets->dtype() == nb::dtype<std::int64_t>();
    require(wide || m.offsets->dtype() == nb::dtype<std::int32_t>(),
            "the row offsets must be int32 or int64");
    require_length(m.offsets->size(), static_cast<std::size_t>(m.count) + 1, "the row offsets");
    require_length(m.columns->size(), m.values.size(), "the column indices");
    return function(hinge::CsrRows<Value, Index>{static_cast<const Value*>(m.values.data()),
                                                 static_cast<const Index*>(m.columns->data()),
                                                 m.offsets->data(), wide, m.count, m.width});
}

template <class Value, class Function>
auto with_typed(const Matrix& m, Function&& function) {
    if (!m.columns) {
        require_length(m.values.size(), static_cast<std::size_t>(m.count * m.width), "values");
        return function(
            hinge::DenseRows<Value>{static_cast<const Value*>(m.values.data()), m.count, m.width});
    }
    require(m.offsets.has_value(), "sparse rows need their offsets");
    if (m.columns->dtype() == nb::dtype<std::int32_t>()) {
        return with_sparse<Value, std::int32_t>(m, function);
    }
    require(m.columns->dtype() == nb::dtype<std::int64_t>(),
            "the column indices must be int32 or int64");
    return with_sparse<Value, std::int64_t>(m, function);
}

// Calls a function with the view that the types of the arrays ask for.
template <class Function>
auto with_rows(const Matrix& m, Function&& function) {
    require(m.count >= 0 && m.width >= 0, "the rows must have a shape");
    if (m.values.dtype() == nb::dtype<double>()) {
        return with_typed<double>(m, function);
    }
    require(m.values.dtype() == nb::dtype<float>(),
            "the values of the rows must be float32 or float64");
    return with_typed<float>(m, function);
}

}  // namespace hinge::binding
