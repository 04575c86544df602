// Python's name for rows in its own memory, which native code only reads.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cstdint>
#include <optional>

#include "rows_view.hpp"

namespace nb = nanobind;

void bind_rows_view(nb::module_& module) {
    using hinge::binding::AnyArray;
    using hinge::binding::Matrix;
    nb::class_<Matrix>(module, "RowsView", "Rows in the caller's memory, dense or CSR.")
        .def(nb::init<AnyArray, std::optional<AnyArray>, std::optional<AnyArray>, std::int64_t,
                      std::int64_t>(),
             nb::arg("values").noconvert(), nb::arg("columns").noconvert().none(),
             nb::arg("offsets").noconvert().none(), nb::arg("count"), nb::arg("width"))
        .def_ro("count", &Matrix::count, "How many rows there are.");
}
