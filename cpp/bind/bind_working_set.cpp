// Python's view of the decomposition method's native parts: the working set, and kept kernel rows.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <cstddef>
#include <cstdint>
#include <tuple>

#include "hinge/cached_rows.hpp"
#include "hinge/working_set.hpp"
#include "rows_view.hpp"

namespace nb = nanobind;

namespace {

using hinge::binding::Array;
using hinge::binding::require;
using hinge::binding::require_length;
using Numbers = Array<const std::int64_t, 1>;
using Floats = Array<const double, 1>;
template <class Value>
using Matrix = Array<const Value, 2>;

template <class Value>
std::tuple<std::int64_t, double> solve_working_set(Array<const Value, 2> kernel, Floats diagonal,
                                                   Floats lower, Floats upper,
                                                   Array<double, 1> beta, Array<double, 1> gradient,
                                                   bool is_balanced, bool second_order,
                                                   double tolerance, std::int64_t most_steps) {
    const std::size_t count = beta.size();
    require(kernel.shape(0) == count && kernel.shape(1) == count,
            "the kernel matrix must have a row and a column for every variable");
    require_length(diagonal.size(), count, "diagonal");
    require_length(lower.size(), count, "lower");
    require_length(upper.size(), count, "upper");
    require_length(gradient.size(), count, "gradient");
    const nb::gil_scoped_release unlocked;
    const auto rule = second_order ? hinge::PairRule::second_order : hinge::PairRule::first_order;
    const auto size = static_cast<std::int64_t>(count);
    hinge::WorkingSetSolver<Value> solver({size, size, kernel.data(), diagonal.data(), lower.data(),
                                           upper.data(), beta.data(), gradient.data(), is_balanced,
                                           rule});
    const hinge::WorkingSetEnd end = solver.solve(tolerance, most_steps);
    return {end.steps, end.violation};
}

template <class Value>
void require_slots(const Matrix<Value>& rows, const Numbers& slots) {
    for (std::size_t k = 0; k < slots.size(); ++k) {
        require(slots(k) >= 0 && static_cast<std::size_t>(slots(k)) < rows.shape(0),
                "a kept row must be among those that there are");
    }
}

template <class Value>
void add_cached(Matrix<Value> rows, Numbers slots, Floats coef, std::int64_t first,
                std::int64_t last, Array<double, 1> out) {
    require_slots(rows, slots);
    require_length(coef.size(), slots.size(), "coef");
    require_length(out.size(), rows.shape(1), "out");
    require(first >= 0 && first <= last && last <= static_cast<std::int64_t>(rows.shape(1)),
            "the columns must be among those of the rows");
    const nb::gil_scoped_release unlocked;
    hinge::add_cached(rows.data(), static_cast<std::int64_t>(rows.shape(1)), slots.data(),
                      coef.data(), static_cast<std::int64_t>(slots.size()), first, last,
                      out.data());
}

template <class Value>
void pick_cached(Matrix<Value> rows, Numbers slots, Numbers columns, Array<Value, 2> out) {
    require_slots(rows, slots);
    for (std::size_t k = 0; k < columns.size(); ++k) {
        require(columns(k) >= 0 && static_cast<std::size_t>(columns(k)) < rows.shape(1),
                "a column must be among those of the kept rows");
    }
    require(out.shape(0) == slots.size() && out.shape(1) == columns.size(),
            "out must have a row for every slot and a column for every column");
    const nb::gil_scoped_release unlocked;
    hinge::pick_cached(rows.data(), static_cast<std::int64_t>(rows.shape(1)), slots.data(),
                       static_cast<std::int64_t>(slots.size()), columns.data(),
                       static_cast<std::int64_t>(columns.size()), out.data(),
                       static_cast<std::int64_t>(columns.size()));
}

template <class Value>
void bind_solve(nb::module_& module) {
    module.def("solve_working_set", &solve_working_set<Value>, nb::arg("kernel").noconvert(),
               nb::arg("diagonal").noconvert(), nb::arg("lower").noconvert(),
               nb::arg("upper").noconvert(), nb::arg("beta").noconvert(),
               nb::arg("gradient").noconvert(), nb::arg("is_balanced"), nb::arg("second_order"),
               nb::arg("tolerance"), nb::arg("most_steps"),
               "Solve the dual program over a working set; return the steps and the violation.");
}

template <class Value>
void bind_cached(nb::module_& module) {
    module.def("add_cached", &add_cached<Value>, nb::arg("rows").noconvert(),
               nb::arg("slots").noconvert(), nb::arg("coef").noconvert(), nb::arg("first"),
               nb::arg("last"), nb::arg("out").noconvert(),
               "Add kept kernel rows, times their coefficients.");
    module.def("pick_cached", &pick_cached<Value>, nb::arg("rows").noconvert(),
               nb::arg("slots").noconvert(), nb::arg("columns").noconvert(),
               nb::arg("out").noconvert(), "Copy some columns of kept kernel rows.");
}

}  // namespace

void bind_working_set(nb::module_& module) {
    bind_solve<float>(module);
    bind_solve<double>(module);
    bind_cached<float>(module);
    bind_cached<double>(module);
}
