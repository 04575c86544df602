// Python's view of packed Cholesky factors.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>

#include "hinge/packed_cholesky.hpp"
#include "rows_view.hpp"

namespace nb = nanobind;

namespace {

using hinge::binding::Array;
using hinge::binding::require;

void drop_packed_row(Array<double, 1> packed, std::int64_t count, std::int64_t row) {
    require(row >= 0 && row < count, "the row must be among those of the factor");
    require(count <= (std::int64_t{1} << 31) &&
                hinge::packed_size(count) <= static_cast<std::int64_t>(packed.size()),
            "the factor must hold all of its rows");
    const nb::gil_scoped_release unlocked;
    hinge::drop_packed_row(packed.data(), count, row);
}

}  // namespace

void bind_packed_cholesky(nb::module_& module) {
    module.def("drop_packed_row", &drop_packed_row, nb::arg("packed").noconvert(), nb::arg("count"),
               nb::arg("row"), "Remove a row and a column of a factored matrix.");
}
