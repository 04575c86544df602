// Python's view of terms of small whole numbers, whose kernel values are entries of a table.
#include "packed_terms.hpp"

namespace nb = nanobind;

using hinge::binding::Array;
using hinge::binding::Matrix;
using hinge::binding::Numbers;
using hinge::binding::TabledRows;

void bind_tabled_terms(nb::module_& module) {
    nb::class_<TabledRows>(module, "TabledTerms", "Terms of small whole numbers, packed once.")
        .def(nb::init<const Matrix&, Numbers, Array<const std::int16_t, 2>,
                      Array<const std::int16_t, 1>, std::int64_t, std::int64_t, std::int64_t,
                      std::int64_t, bool>(),
             nb::arg("rows"), nb::arg("bases").noconvert(), nb::arg("digits").noconvert(),
             nb::arg("table").noconvert(), nb::arg("factor"), nb::arg("point_factor"),
             nb::arg("offset"), nb::arg("largest_self"), nb::arg("takes_negative"))
        .def("sums", &TabledRows::sums, nb::arg("points"), nb::arg("first"),
             nb::arg("numbers").noconvert().none(), nb::arg("out").noconvert(),
             nb::arg("selfs").noconvert(), "Write exact sums, and the squared norms of points.");
}
