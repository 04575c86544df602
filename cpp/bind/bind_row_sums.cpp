// Python's view of sums over rows: one call for the rows of a block.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "hinge/row_sums.hpp"
#include "rows_view.hpp"

namespace nb = nanobind;

namespace {

using hinge::RowRange;
using hinge::binding::AnyArray;
using hinge::binding::Array;
using hinge::binding::Matrix;
using hinge::binding::require;
using hinge::binding::require_length;
using Weights = Array<const double, 1>;
using Wanted = Array<const std::uint8_t, 1>;
using Target = Array<double, 1>;
using Square = Array<double, 2>;

template <class Rows>
constexpr bool kIsSparse = false;
template <class Value, class Index>
constexpr bool kIsSparse<hinge::CsrRows<Value, Index>> = true;

// Rows with a constant feature behind their own, or without (0).
class RowSums {
  public:
    RowSums(Matrix matrix, double constant) : matrix_(std::move(matrix)), constant_(constant) {}

    void scores(std::int64_t first, Wanted wanted, Weights v, Target out) const {
        require_vector(v.size());
        require_length(out.size(), wanted.size(), "out");
        over(first, wanted.size(),
             [&](const auto& range) { hinge::scores(range, wanted.data(), v.data(), out.data()); });
    }

    void weighted_sum(std::int64_t first, Weights weights, Target out) const {
        require_vector(out.size());
        over(first, weights.size(),
             [&](const auto& range) { hinge::weighted_sum(range, weights.data(), out.data()); });
    }

    void weighted_squares(std::int64_t first, Weights weights, Target out) const {
        require_vector(out.size());
        over(first, weights.size(), [&](const auto& range) {
            hinge::weighted_squares(range, weights.data(), out.data());
        });
    }

    void curvature_product(std::int64_t first, Weights weights, Weights v, Target out) const {
        require_vector(v.size());
        require_vector(out.size());
        over(first, weights.size(), [&](const auto& range) {
            hinge::curvature_product(range, weights.data(), v.data(), out.data());
        });
    }

    void weighted_outer(std::int64_t first, Weights weights, Square out) const {
        require_vector(out.shape(0));
        require_vector(out.shape(1));
        over(first, weights.size(), [&](const auto& range) {
            using Rows = std::decay_t<decltype(range.rows)>;
            if constexpr (kIsSparse<Rows>) {
                hinge::weighted_outer(range, weights.data(), out.data());
            } else {
                require(false, "outer products of dense rows are for BLAS");
            }
        });
    }

  private:
    void require_vector(std::size_t length) const {
        const auto width = static_cast<std::size_t>(matrix_.width);
        require_length(length, width + (constant_ == 0.0 ? 0 : 1), "a vector over the features");
    }

    template <class Function>
    void over(std::int64_t first, std::size_t count, Function function) const {
        const auto rows = static_cast<std::int64_t>(count);
        require(first >= 0 && first <= matrix_.count && rows <= matrix_.count - first,
                "the rows of a sum must be among those that there are");
        hinge::binding::with_rows(matrix_, [&](const auto& view) {
            const nb::gil_scoped_release unlocked;
            function(RowRange<std::decay_t<decltype(view)>>{view, first, rows, constant_});
        });
    }

    Matrix matrix_;
    double constant_;
};

}  // namespace

void bind_row_sums(nb::module_& module) {
    nb::class_<Matrix>(module, "RowsView", "Rows in the caller's memory, dense or CSR.")
        .def(nb::init<AnyArray, std::optional<AnyArray>, std::optional<AnyArray>, std::int64_t,
                      std::int64_t>(),
             nb::arg("values").noconvert(), nb::arg("columns").noconvert().none(),
             nb::arg("offsets").noconvert().none(), nb::arg("count"), nb::arg("width"))
        .def_ro("count", &Matrix::count, "How many rows there are.");

    nb::class_<RowSums>(module, "RowSums", "Sums over rows that end in a constant feature, or not.")
        .def(nb::init<Matrix, double>(), nb::arg("matrix"), nb::arg("constant"))
        .def("scores", &RowSums::scores, nb::arg("first"), nb::arg("wanted").noconvert(),
             nb::arg("v").noconvert(), nb::arg("out").noconvert(),
             "Write products with v to out, for the rows from first on that are wanted.")
        .def("weighted_sum", &RowSums::weighted_sum, nb::arg("first"),
             nb::arg("weights").noconvert(), nb::arg("out").noconvert(),
             "Add the rows from first on, times their weights.")
        .def("weighted_squares", &RowSums::weighted_squares, nb::arg("first"),
             nb::arg("weights").noconvert(), nb::arg("out").noconvert(),
             "Add the squares of the rows' entries, times their weights.")
        .def("curvature_product", &RowSums::curvature_product, nb::arg("first"),
             nb::arg("weights").noconvert(), nb::arg("v").noconvert(), nb::arg("out").noconvert(),
             "Add the rows times their weights and their products with v.")
        .def("weighted_outer", &RowSums::weighted_outer, nb::arg("first"),
             nb::arg("weights").noconvert(), nb::arg("out").noconvert(),
             "Add the lower triangle of the outer products of sparse rows, times their weights.");
}
