// Python's view of steps on the dual program of a kernel machine, and of kept kernel rows.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>

#include "hinge/cached_rows.hpp"
#include "hinge/coordinate_sweep.hpp"
#include "hinge/team.hpp"
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
using Matrix32 = Matrix<float>;
using Variables = Array<double, 1>;

hinge::PairRule rule_of(bool second_order) {
    return second_order ? hinge::PairRule::second_order : hinge::PairRule::first_order;
}

void require_program(std::size_t count, const Floats& diagonal, const Floats& lower,
                     const Floats& upper, const Variables& gradient) {
    require_length(diagonal.size(), count, "diagonal");
    require_length(lower.size(), count, "lower");
    require_length(upper.size(), count, "upper");
    require_length(gradient.size(), count, "gradient");
}

template <class Value>
std::tuple<std::int64_t, double> solve_working_set(Array<const Value, 2> kernel, Floats diagonal,
                                                   Floats lower, Floats upper, Variables beta,
                                                   Variables gradient, bool is_balanced,
                                                   bool second_order, double tolerance,
                                                   std::int64_t most_steps) {
    const std::size_t count = beta.size();
    require(kernel.shape(0) == count && kernel.shape(1) == count,
            "the kernel matrix must have a row and a column for every variable");
    require_program(count, diagonal, lower, upper, gradient);
    const nb::gil_scoped_release unlocked;
    const auto size = static_cast<std::int64_t>(count);
    hinge::WholeMatrix<Value> matrix{kernel.data(), size};
    hinge::WorkingSetSolver solver({size, diagonal.data(), lower.data(), upper.data(), beta.data(),
                                    gradient.data(), is_balanced, rule_of(second_order)},
                                   matrix);
    const hinge::WorkingSetEnd end = solver.solve(tolerance, most_steps);
    return {end.steps, end.violation};
}

// Kept rows as Python has them, and the variables that steps are for.
struct Kept {
    Matrix32 rows;
    Numbers slot_of;
    Array<std::int64_t, 1> used;
    std::int64_t clock;
    std::optional<Numbers> numbers;
    Floats own;

    void check(std::size_t count) const {
        const std::size_t width = rows.shape(1);
        require_length(slot_of.size(), width, "slot_of");
        require_length(used.size(), rows.shape(0), "used");
        require_length(own.size(), count, "own");
        require_length(numbers ? numbers->size() : width, count, "the variables");
        for (std::size_t k = 0; k < width; ++k) {
            require(slot_of(k) < static_cast<std::int64_t>(rows.shape(0)),
                    "a kept row must be among those that there are");
        }
        for (std::size_t k = 0; numbers && k < count; ++k) {
            require((*numbers)(k) >= 0 && static_cast<std::size_t>((*numbers)(k)) < width,
                    "a variable must be among the rows of the matrix");
        }
    }

    hinge::KeptMatrix matrix() const {
        return {{rows.data(), static_cast<std::int64_t>(rows.shape(1)), slot_of.data(), used.data(),
                 clock},
                numbers ? numbers->data() : nullptr,
                own.data(),
                static_cast<std::int64_t>(own.size())};
    }
};

// Steps, violation, missing variable or -1, whether nothing moves, and the cache's clock.
using PairsEnd = std::tuple<std::int64_t, double, std::int64_t, bool, std::int64_t>;

PairsEnd step_pairs(const Kept& kept, Floats diagonal, Floats lower, Floats upper, Variables beta,
                    Variables gradient, bool is_balanced, bool second_order, double tolerance,
                    std::int64_t most_steps) {
    kept.check(beta.size());
    require_program(beta.size(), diagonal, lower, upper, gradient);
    const nb::gil_scoped_release unlocked;
    hinge::KeptMatrix matrix = kept.matrix();
    hinge::WorkingSetSolver solver(
        {static_cast<std::int64_t>(beta.size()), diagonal.data(), lower.data(), upper.data(),
         beta.data(), gradient.data(), is_balanced, rule_of(second_order)},
        matrix);
    const hinge::WorkingSetEnd end = solver.solve(tolerance, most_steps);
    return {end.steps, end.violation, end.missing, end.is_stuck, matrix.clock()};
}

// Position in the order, steps, missing variable or -1, and the cache's clock.
using CoordinatesEnd = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

CoordinatesEnd sweep_coordinates(const Kept& kept, Floats diagonal, Floats lower, Floats upper,
                                 Variables beta, Variables gradient, Numbers order,
                                 std::int64_t position, double tolerance, std::int64_t most_steps) {
    kept.check(beta.size());
    require_program(beta.size(), diagonal, lower, upper, gradient);
    require(position >= 0, "the position must not be negative");
    for (std::size_t k = 0; k < order.size(); ++k) {
        require(order(k) >= 0 && static_cast<std::size_t>(order(k)) < beta.size(),
                "the order must be of the variables");
    }
    const nb::gil_scoped_release unlocked;
    hinge::KeptMatrix matrix = kept.matrix();
    const hinge::Coordinates set{static_cast<std::int64_t>(beta.size()),
                                 diagonal.data(),
                                 lower.data(),
                                 upper.data(),
                                 beta.data(),
                                 gradient.data()};
    const hinge::SweepEnd end =
        hinge::sweep_coordinates(set, matrix, order.data(), position,
                                 static_cast<std::int64_t>(order.size()), tolerance, most_steps);
    return {end.position, end.steps, end.missing, matrix.clock()};
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
                std::int64_t last, Array<double, 1> out, std::int64_t threads) {
    require_slots(rows, slots);
    require_length(coef.size(), slots.size(), "coef");
    require_length(out.size(), rows.shape(1), "out");
    require(first >= 0 && first <= last && last <= static_cast<std::int64_t>(rows.shape(1)),
            "the columns must be among those of the rows");
    const nb::gil_scoped_release unlocked;
    hinge::share_out(
        last - first, threads, hinge::kColumnsAtOnce, [&](std::int64_t at, std::int64_t size) {
            hinge::add_cached(rows.data(), static_cast<std::int64_t>(rows.shape(1)), slots.data(),
                              coef.data(), static_cast<std::int64_t>(slots.size()), first + at,
                              first + at + size, out.data());
        });
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
               nb::arg("last"), nb::arg("out").noconvert(), nb::arg("threads") = 1,
               "Add kept kernel rows, times their coefficients.");
    module.def("pick_cached", &pick_cached<Value>, nb::arg("rows").noconvert(),
               nb::arg("slots").noconvert(), nb::arg("columns").noconvert(),
               nb::arg("out").noconvert(), "Copy some columns of kept kernel rows.");
}

void bind_kept(nb::module_& module) {
    nb::class_<Kept>(module, "Kept", "Kept kernel rows and the variables that steps are for.")
        .def(nb::init<Matrix32, Numbers, Array<std::int64_t, 1>, std::int64_t,
                      std::optional<Numbers>, Floats>(),
             nb::arg("rows").noconvert(), nb::arg("slot_of").noconvert(),
             nb::arg("used").noconvert(), nb::arg("clock"), nb::arg("numbers").noconvert().none(),
             nb::arg("own").noconvert());
    module.def("step_pairs", &step_pairs, nb::arg("kept"), nb::arg("diagonal").noconvert(),
               nb::arg("lower").noconvert(), nb::arg("upper").noconvert(),
               nb::arg("beta").noconvert(), nb::arg("gradient").noconvert(), nb::arg("is_balanced"),
               nb::arg("second_order"), nb::arg("tolerance"), nb::arg("most_steps"),
               "Move pairs of variables while their rows are kept; return steps, violation, the "
               "variable whose row is missing or -1, whether nothing moves, and the clock.");
    module.def("sweep_coordinates", &sweep_coordinates, nb::arg("kept"),
               nb::arg("diagonal").noconvert(), nb::arg("lower").noconvert(),
               nb::arg("upper").noconvert(), nb::arg("beta").noconvert(),
               nb::arg("gradient").noconvert(), nb::arg("order").noconvert(), nb::arg("position"),
               nb::arg("tolerance"), nb::arg("most_steps"),
               "Move variables one by one while their rows are kept; return the position, steps, "
               "the variable whose row is missing or -1, and the clock.");
}

}  // namespace

void bind_working_set(nb::module_& module) {
    bind_kept(module);
    bind_solve<float>(module);
    bind_solve<double>(module);
    bind_cached<float>(module);
    bind_cached<double>(module);
}
