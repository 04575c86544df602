// Python's view of the intercept of the least loss.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>

#include "hinge/best_intercept.hpp"
#include "rows_view.hpp"

namespace nb = nanobind;

namespace {

using hinge::binding::Array;
using hinge::binding::require;
using hinge::binding::require_length;
using Floats = Array<const double, 1>;
using Table = Array<const double, 2>;

// kinks has margin, jump and bend of each; pieces constant and slope of each.
double best_intercept(Table kinks, Table pieces, Floats scores, Array<const std::int8_t, 1> signs,
                      Floats costs, double least, double most) {
    const std::size_t count = kinks.shape(1);
    require(kinks.shape(0) == 3 && pieces.shape(0) == 2 && pieces.shape(1) == count + 1,
            "three numbers of every kink, and two of every piece between them");
    require_length(signs.size(), scores.size(), "signs");
    require_length(costs.size(), scores.size(), "costs");
    const double* const of_kinks = kinks.data();
    const hinge::LossPieces loss{static_cast<std::int64_t>(count),
                                 of_kinks,
                                 of_kinks + count,
                                 of_kinks + 2 * count,
                                 pieces.data(),
                                 pieces.data() + count + 1};
    const hinge::ScoredRows rows{static_cast<std::int64_t>(scores.size()), scores.data(),
                                 signs.data(), costs.data()};
    const nb::gil_scoped_release unlocked;
    return hinge::BestIntercept(loss, rows, least, most).middle();
}

}  // namespace

void bind_best_intercept(nb::module_& module) {
    module.def("best_intercept", &best_intercept, nb::arg("kinks").noconvert(),
               nb::arg("pieces").noconvert(), nb::arg("scores").noconvert(),
               nb::arg("signs").noconvert(), nb::arg("costs").noconvert(), nb::arg("least"),
               nb::arg("most"),
               "Return the middle of the intercepts between two that make the losses least.");
}
