// Python's view of Newton's method over rows of few features: arrays that Python owns.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "hinge/primal_newton.hpp"
#include "rows_view.hpp"

namespace nb = nanobind;

namespace {

using hinge::binding::Array;
using hinge::binding::Matrix;
using hinge::binding::require;
using hinge::binding::require_length;
using Signs = Array<const std::int8_t, 1>;
using Costs = Array<const double, 1>;
using Table = Array<double, 2>;
using Vector = Array<double, 1>;

constexpr std::size_t kPoints = 2;  // the present one and the best
constexpr std::size_t kNumbers = sizeof(hinge::PrimalNumbers) / sizeof(double);

// Labels and costs of the rows, the present and the best weights, the same of the coefficients.
struct PrimalState {
    Signs signs;
    std::optional<Costs> costs;
    double cost;
    Table weights;
    Table alpha;
    Vector numbers;
};

// What a loss has beside its window: the slope of its line, and whether that goes on to a corner.
struct Line {
    double steepest;
    bool has_corner;
};

struct Intercept {
    double constant;
    bool is_free;
};

class PrimalSteps {
  private:
    template <class Function>
    auto run(const Function& function) const {
        double* const weights = state_.weights.data();
        double* const alpha = state_.alpha.data();
        const hinge::PrimalArrays at{weights, weights + state_.weights.shape(1), alpha,
                                     alpha + state_.alpha.shape(1)};
        const hinge::PrimalProgram program{window_,
                                           loss_.steepest,
                                           loss_.has_corner,
                                           state_.signs.data(),
                                           state_.costs ? state_.costs->data() : nullptr,
                                           state_.cost,
                                           intercept_.constant,
                                           intercept_.is_free};
        auto& numbers = *reinterpret_cast<hinge::PrimalNumbers*>(state_.numbers.data());
        return hinge::binding::with_rows(matrix_, [&](const auto& rows) {
            hinge::PrimalNewton newton(rows, program, at, numbers);
            return function(newton);
        });
    }

  public:
    PrimalSteps(Matrix matrix, PrimalState state, hinge::LossWindow window, Line loss,
                Intercept intercept)
        : matrix_(std::move(matrix)),
          state_(std::move(state)),
          window_(window),
          loss_(loss),
          intercept_(intercept) {
        require(matrix_.count >= 0 && matrix_.width >= 0, "the rows must have a shape");
        require(std::isfinite(intercept_.constant), "the constant feature must be finite");
        require(!intercept_.is_free || intercept_.constant != 0.0,
                "a free intercept is the weight of a constant feature");
        const auto count = static_cast<std::size_t>(matrix_.count);
        const std::size_t size =
            static_cast<std::size_t>(matrix_.width) + (intercept_.constant == 0.0 ? 0 : 1);
        require_length(state_.signs.size(), count, "signs");
        require(state_.weights.shape(0) == kPoints && state_.weights.shape(1) == size,
                "the weights must have shape (2, n_features), or one more for an intercept");
        require(state_.alpha.shape(0) == kPoints && state_.alpha.shape(1) == count,
                "the coefficients must have shape (2, n_rows)");
        require_length(state_.numbers.size(), kNumbers, "numbers");
        if (state_.costs) {
            require_length(state_.costs->size(), count, "costs");
        }
    }

    std::int64_t advance(std::int64_t work, std::int64_t steps, double aim) const {
        return run([&](auto& newton) { return newton.advance(work, steps, aim); });
    }
    void take_dual() const {
        run([](auto& newton) { newton.take_dual(); });
    }

  private:
    Matrix matrix_;
    PrimalState state_;
    hinge::LossWindow window_;
    Line loss_;
    Intercept intercept_;
};

}  // namespace

void bind_primal_newton(nb::module_& module) {
    nb::class_<PrimalState>(module, "PrimalState",
                            "Labels and costs; weights, coefficients and numbers to work on.")
        .def(nb::init<Signs, std::optional<Costs>, double, Table, Table, Vector>(),
             nb::arg("signs").noconvert(), nb::arg("costs").noconvert().none(), nb::arg("cost"),
             nb::arg("weights").noconvert(), nb::arg("alpha").noconvert(),
             nb::arg("numbers").noconvert());
    nb::class_<Intercept>(module, "PrimalIntercept",
                          "Value of the constant feature, and whether its weight is in no norm.")
        .def(nb::init<double, bool>(), nb::arg("constant"), nb::arg("is_free"));

    nb::class_<Line>(module, "PrimalLine",
                     "The steepest slope of a loss, and whether its line goes on to a corner.")
        .def(nb::init<double, bool>(), nb::arg("steepest"), nb::arg("has_corner"));

    const auto unlocked = nb::call_guard<nb::gil_scoped_release>();
    nb::class_<PrimalSteps>(module, "PrimalSteps",
                            "Steps of Newton's method in the primal, over rows of few features.")
        .def(nb::init<Matrix, PrimalState, hinge::LossWindow, Line, Intercept>(), nb::arg("matrix"),
             nb::arg("state"), nb::arg("window"), nb::arg("loss"), nb::arg("intercept"))
        .def("advance", &PrimalSteps::advance, nb::arg("work"), nb::arg("steps"), nb::arg("aim"),
             unlocked, "Do about so much work, so many steps in all, or reach a relative gap.")
        .def("take_dual", &PrimalSteps::take_dual, unlocked,
             "Take the coefficients for the best ones so far, brought into their box.");
}
