// Python's view of Newton's passes: rows, and numbers of theirs that Python owns.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "hinge/newton_rows.hpp"
#include "panels.hpp"

namespace nb = nanobind;

namespace {

using hinge::binding::Array;
using hinge::binding::Matrix;
using hinge::binding::Panels;
using hinge::binding::require;
using hinge::binding::require_length;
using Signs = Array<const std::int8_t, 1>;
using Numbers = Array<const double, 1>;
using Vector = Array<double, 1>;
using Marks = Array<std::uint8_t, 1>;
using Table = Array<double, 2>;

constexpr std::size_t kVariables = 5;
constexpr std::size_t kGradientSums = 6;

template <class Rows>
constexpr bool kIsSparse = false;
template <class Value, class Index>
constexpr bool kIsSparse<hinge::CsrRows<Value, Index>> = true;

// What is known of the rows, and what the method makes of it: margin, its change, curvature, the
// curvature in the matrix, and the offset.
struct NewtonArrays {
    Signs signs;
    std::optional<Numbers> costs;
    double cost;
    Numbers squared_norms;
    Table variables;
    Marks is_exact;
};

class NewtonPasses {
  public:
    NewtonPasses(Matrix matrix, NewtonArrays arrays, hinge::LossWindow window, double constant)
        : matrix_(std::move(matrix)),
          arrays_(std::move(arrays)),
          window_(window),
          constant_(constant) {
        require(matrix_.count >= 0 && matrix_.width >= 0, "the rows must have a shape");
        const auto count = static_cast<std::size_t>(matrix_.count);
        require_length(arrays_.signs.size(), count, "signs");
        require_length(arrays_.squared_norms.size(), count, "squared norms");
        require(arrays_.variables.shape(0) == kVariables && arrays_.variables.shape(1) >= count,
                "the variables must have shape (5, n_rows) at the least");
        require(arrays_.is_exact.size() >= count, "there must be a mark for every row");
        if (arrays_.costs) {
            require_length(arrays_.costs->size(), count, "costs");
        }
    }

    void measure(std::int64_t start, std::int64_t stop, std::int64_t size, Numbers weights,
                 std::int64_t threads) const {
        require_vector(weights.size());
        over({within(start, stop), size}, threads,
             [&](auto& rows, auto which, std::int64_t) { rows.measure(which, weights.data()); });
    }

    void shift(std::int64_t start, std::int64_t stop, std::int64_t size,
               std::array<double, 3> place, Table out, std::int64_t threads) const {
        derivatives<true>({within(start, stop), size}, place, out, threads);
    }
    void search(std::int64_t start, std::int64_t stop, std::int64_t size,
                std::array<double, 3> place, Table out, std::int64_t threads) const {
        derivatives<false>({within(start, stop), size}, place, out, threads);
    }

    void gradient(std::int64_t start, std::int64_t stop, std::int64_t size,
                  std::array<double, 3> place, bool with_diagonal, Table out,
                  std::int64_t threads) const {
        const std::size_t n = width();
        const Panels panels{within(start, stop), size};
        panels.require_sums(out, 3 * n + kGradientSums);
        over(panels, threads, [&](auto& rows, auto which, std::int64_t panel) {
            double* const at = Panels::row_of(out, panel);
            hinge::GradientSums sums;
            rows.gradient(which, {place[0], place[1], place[2]},
                          {at, with_diagonal ? at + n : nullptr, at + 2 * n}, sums);
            double* const last = at + 3 * n;
            last[0] = sums.losses;
            last[1] = sums.slopes;
            last[2] = sums.squares;
            last[3] = sums.cornered;
            last[4] = static_cast<double>(sums.curved);
            last[5] = static_cast<double>(sums.changed);
        });
    }

    void product(std::int64_t start, std::int64_t stop, std::int64_t size, Numbers v, Table out,
                 std::int64_t threads) const {
        require_vector(v.size());
        const Panels panels{within(start, stop), size};
        panels.require_sums(out, width());
        over(panels, threads, [&](auto& rows, auto which, std::int64_t panel) {
            rows.product(which, v.data(), Panels::row_of(out, panel));
        });
    }

    void trial(std::int64_t start, std::int64_t stop, std::int64_t size, Numbers weights,
               Numbers direction, std::array<double, 3> reach, Table out,
               std::int64_t threads) const {
        require_vector(weights.size());
        require_vector(direction.size());
        const Panels panels{within(start, stop), size};
        panels.require_sums(out, 1);
        const double last =
            constant_ == 0.0 ? 0.0 : constant_ * direction.data()[direction.size() - 1];
        const hinge::NewtonReach limits{reach[0], last, reach[1], reach[2]};
        over(panels, threads, [&](auto& rows, auto which, std::int64_t panel) {
            const std::int64_t read = rows.trial(which, weights.data(), direction.data(), limits);
            out.data()[panel] = static_cast<double>(read);
        });
    }

    std::pair<std::int64_t, std::int64_t> changed(std::int64_t start, std::int64_t stop) const {
        const hinge::ChangedRows count = count_changed(start, stop);
        return {count.come, count.gone};
    }

    void scaled(std::int64_t start, std::int64_t stop, Table out) const {
        require_vector(out.shape(1));
        const hinge::ChangedRows count = count_changed(start, stop);
        require_length(out.shape(0), static_cast<std::size_t>(count.come + count.gone),
                       "the changed rows");
        over({within(start, stop), stop - start}, 1, [&](auto& rows, auto which, std::int64_t) {
            rows.scaled_changes(which, count, out.data());
        });
    }

    void outer(std::int64_t start, std::int64_t stop, Table out) const {
        require_vector(out.shape(0));
        require_vector(out.shape(1));
        require(matrix_.columns.has_value(), "outer products of dense rows are for BLAS");
        over({within(start, stop), stop - start}, 1, [&](auto& rows, auto which, std::int64_t) {
            if constexpr (kIsSparse<typename std::decay_t<decltype(rows)>::View>) {
                rows.outer_changes(which, out.data());
            }
        });
    }

  private:
    std::size_t width() const {
        return static_cast<std::size_t>(matrix_.width) + (constant_ == 0.0 ? 0 : 1);
    }
    void require_vector(std::size_t length) const {
        require_length(length, width(), "a vector over the features");
    }
    hinge::NewtonVariables variables() const {
        double* const at = arrays_.variables.data();
        const std::size_t n = arrays_.variables.shape(1);
        return {arrays_.signs.data(),
                arrays_.costs ? arrays_.costs->data() : nullptr,
                arrays_.cost,
                arrays_.squared_norms.data(),
                at,
                at + n,
                at + 2 * n,
                at + 3 * n,
                arrays_.is_exact.data(),
                at + 4 * n};
    }
    hinge::Extent within(std::int64_t start, std::int64_t stop) const {
        require(0 <= start && start <= stop && stop <= matrix_.count, "no such rows");
        return {start, stop};
    }
    template <bool kByShift>
    void derivatives(const Panels& panels, const std::array<double, 3>& place, const Table& out,
                     std::int64_t threads) const {
        panels.require_sums(out, 3);
        over(panels, threads, [&](auto&, auto which, std::int64_t panel) {
            hinge::DerivativeSums sums;
            hinge::add_derivatives<kByShift>(window_, variables(), which,
                                             {place[0], place[1], place[2]}, sums);
            double* const at = Panels::row_of(out, panel);
            at[0] = sums.slope;
            at[1] = sums.curvature;
            at[2] = sums.size;
        });
    }
    hinge::ChangedRows count_changed(std::int64_t start, std::int64_t stop) const {
        return hinge::count_changed(variables(), within(start, stop));
    }
    // Calls function(rows, extent, panel) for every panel, on so many threads. A panel writes to
    // the variables of its own rows.
    template <class Function>
    void over(const Panels& panels, std::int64_t threads, Function function) const {
        hinge::binding::with_rows(matrix_, [&](const auto& view) {
            using Rows = hinge::NewtonRows<std::decay_t<decltype(view)>>;
            panels.share_out(threads, [&](hinge::Extent which, std::int64_t panel) {
                Rows rows(view, window_, variables(), constant_);
                function(rows, which, panel);
            });
        });
    }

    Matrix matrix_;
    NewtonArrays arrays_;
    hinge::LossWindow window_;
    double constant_;
};

hinge::LossWindow held(hinge::LossWindow window, double spread, double top, double width,
                       double bend, double slope) {
    window.held = {spread, top, width, bend, slope};
    return window;
}

}  // namespace

void bind_newton_rows(nb::module_& module) {
    using hinge::LossWindow;
    nb::class_<LossWindow>(module, "LossWindow", "Where a loss is a parabola.")
        .def(nb::init<double, double, double, bool>(), nb::arg("top"), nb::arg("width"),
             nb::arg("bend"), nb::arg("foresees"))
        .def("held", &held, nb::arg("spread"), nb::arg("top"), nb::arg("width"), nb::arg("bend"),
             nb::arg("slope"), "Return the same for a loss whose coefficients are held.");
    nb::class_<NewtonArrays>(module, "NewtonArrays", "Labels, costs and variables of the rows.")
        .def(nb::init<Signs, std::optional<Numbers>, double, Numbers, Table, Marks>(),
             nb::arg("signs").noconvert(), nb::arg("costs").noconvert().none(), nb::arg("cost"),
             nb::arg("squared_norms").noconvert(), nb::arg("variables").noconvert(),
             nb::arg("is_exact").noconvert());

    const auto unlocked = nb::call_guard<nb::gil_scoped_release>();
    nb::class_<NewtonPasses>(module, "NewtonPasses",
                             "Passes of Newton's method over consecutive rows.")
        .def(nb::init<Matrix, NewtonArrays, LossWindow, double>(), nb::arg("matrix"),
             nb::arg("arrays"), nb::arg("window"), nb::arg("constant"))
        .def("measure", &NewtonPasses::measure, unlocked)
        .def("shift", &NewtonPasses::shift, unlocked)
        .def("search", &NewtonPasses::search, unlocked)
        .def("gradient", &NewtonPasses::gradient, unlocked)
        .def("product", &NewtonPasses::product, unlocked)
        .def("trial", &NewtonPasses::trial, unlocked)
        .def("changed", &NewtonPasses::changed, unlocked)
        .def("scaled", &NewtonPasses::scaled, unlocked)
        .def("outer", &NewtonPasses::outer, unlocked);
}
