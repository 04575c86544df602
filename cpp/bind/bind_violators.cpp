// Python's view of where a point of the dual program violates the optimality conditions most.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <cstddef>
#include <cstdint>
#include <tuple>

#include "hinge/violators.hpp"
#include "rows_view.hpp"

namespace nb = nanobind;

namespace {

using hinge::binding::Array;
using hinge::binding::require;
using hinge::binding::require_length;
using Floats = Array<const double, 1>;

// The variables of a program as Python has them.
struct Variables {
    Floats beta;
    Floats lower;
    Floats upper;
    Array<const std::int8_t, 1> group;
    Array<const bool, 1> settled;

    hinge::ProgramVariables with(const Floats& gradient) const {
        const std::size_t count = gradient.size();
        require_length(beta.size(), count, "beta");
        require_length(lower.size(), count, "lower");
        require_length(upper.size(), count, "upper");
        require_length(group.size(), count, "group");
        require_length(settled.size(), count, "settled");
        return {static_cast<std::int64_t>(count),
                gradient.data(),
                beta.data(),
                lower.data(),
                upper.data(),
                group.data(),
                settled.data()};
    }
};

std::tuple<double, double> gradient_ends(const Variables& variables, Floats gradient) {
    const hinge::ProgramVariables all = variables.with(gradient);
    const nb::gil_scoped_release unlocked;
    const hinge::GradientEnds ends = hinge::gradient_ends(all);
    return {ends.up, ends.down};
}

std::tuple<std::int64_t, std::int64_t> most_violating(const Variables& variables, Floats gradient,
                                                      Array<std::int64_t, 2> out) {
    require(out.shape(0) == 2, "a row for what may grow, and one for what may shrink");
    const hinge::ProgramVariables all = variables.with(gradient);
    const auto most = static_cast<std::int64_t>(out.shape(1));
    const nb::gil_scoped_release unlocked;
    const hinge::ViolatorCounts counts =
        hinge::most_violating(all, most, out.data(), out.data() + most);
    return {counts.up, counts.down};
}

}  // namespace

void bind_violators(nb::module_& module) {
    nb::class_<Variables>(module, "ProgramVariables", "The variables of a dual program.")
        .def(nb::init<Floats, Floats, Floats, Array<const std::int8_t, 1>, Array<const bool, 1>>(),
             nb::arg("beta").noconvert(), nb::arg("lower").noconvert(),
             nb::arg("upper").noconvert(), nb::arg("group").noconvert(),
             nb::arg("settled").noconvert());
    module.def("gradient_ends", &gradient_ends, nb::arg("variables"),
               nb::arg("gradient").noconvert(),
               "Return the least gradient of what may grow, and the largest of what may shrink.");
    module.def(
        "most_violating", &most_violating, nb::arg("variables"), nb::arg("gradient").noconvert(),
        nb::arg("out").noconvert(),
        "Write which variables violate the conditions most on either side; return how many.");
}
