// Python's view of the scores of linear machines.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cstdint>

#include "hinge/linear_scores.hpp"
#include "rows_view.hpp"

namespace nb = nanobind;

namespace {

using hinge::binding::Array;
using hinge::binding::Matrix;
using hinge::binding::require;

void score_rows(const Matrix& matrix, Array<const double, 2> weights, std::int64_t first,
                Array<double, 2> scores) {
    const auto width = static_cast<std::int64_t>(weights.shape(0));
    const auto stride = static_cast<std::int64_t>(weights.shape(1));
    const auto count = static_cast<std::int64_t>(scores.shape(0));
    const auto machines = static_cast<std::int64_t>(scores.shape(1));
    require(width == matrix.width, "there must be a row of weights for every feature");
    require(machines >= 1 && machines <= stride, "there must be a column for every machine");
    require(machines == 1 ? stride == 1 : stride % hinge::kLanes == 0,
            "the columns of several machines must fill registers");
    require(first >= 0 && count <= matrix.count && first <= matrix.count - count,
            "the rows must be among those of the matrix");
    const hinge::ScoredRows part{first, count, machines, scores.data()};
    hinge::binding::with_rows(matrix, [&](const auto& rows) {
        if (machines == 1) {
            hinge::score(rows, part, weights.data());
        } else {
            hinge::score(rows, part, hinge::MachineTable{weights.data(), stride});
        }
    });
}

}  // namespace

void bind_linear_scores(nb::module_& module) {
    module.attr("score_lanes") = hinge::kLanes;
    module.def("score_rows", &score_rows, nb::arg("matrix"), nb::arg("weights").noconvert(),
               nb::arg("first"), nb::arg("scores").noconvert(),
               nb::call_guard<nb::gil_scoped_release>(),
               "Write the scores of consecutive rows under one machine or several.");
}
