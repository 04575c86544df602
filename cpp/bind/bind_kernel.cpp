// Python's view of kernel values: sums of terms at points, and blocks of the kernel matrix.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hinge/kernel_rows.hpp"
#include "rows_view.hpp"

namespace nb = nanobind;

namespace {

using hinge::Centre;
using hinge::Selection;
using hinge::Sides;
using hinge::TermPanels;
using hinge::Tile;
using hinge::TileReader;
using hinge::binding::Array;
using hinge::binding::Matrix;
using hinge::binding::require;
using hinge::binding::require_length;
using Numbers = Array<const std::int64_t, 1>;
using Coefficients = Array<const double, 2>;

// A kernel by name, with the parameters that it has.
struct KernelChoice {
    std::string name;
    double gamma;
    double coef0;
    std::int64_t degree;

    template <class Function>
    void visit(Function&& function) const {
        if (name == "linear") {
            function(hinge::LinearKernel{});
        } else if (name == "poly") {
            function(hinge::PolynomialKernel{gamma, coef0, degree});
        } else if (name == "rbf") {
            function(hinge::RbfKernel{gamma});
        } else if (name == "sigmoid") {
            function(hinge::SigmoidKernel{gamma, coef0});
        } else if (name == "laplacian") {
            function(hinge::LaplacianKernel{gamma});
        } else if (name == "chi2") {
            function(hinge::ChiSquaredKernel{gamma});
        } else {
            require(false, "no native kernel is called " + name);
        }
    }
};

// Rows as the terms or the points of kernel values, in the precision in which they are evaluated.
template <class Real>
class KernelRows {
  public:
    using Values = Array<const Real, 1>;

    KernelRows(Matrix matrix, KernelChoice kernel, Values selfs, std::optional<Values> scales,
               std::optional<Array<const double, 1>> centre)
        : matrix_(std::move(matrix)),
          kernel_(std::move(kernel)),
          selfs_(std::move(selfs)),
          scales_(std::move(scales)),
          centre_(std::move(centre)) {
        const auto rows = static_cast<std::size_t>(matrix_.count);
        require_length(selfs_.size(), rows, "selfs");
        require(!scales_ || scales_->size() == rows, "one scale for every row");
        require(!centre_ || centre_->size() == static_cast<std::size_t>(matrix_.width),
                "one number of the centre for every feature");
        require(!centre_ || !matrix_.columns, "sparse rows have no centre");
        require(matrix_.width < (std::int64_t{1} << 31), "at most 2^31 - 1 features");
    }

    // out[k, c] += sum of coef[c, i] k(term i, point k), for some of these rows as points.
    void add(const KernelRows& terms, Numbers numbers, Coefficients coef, std::int64_t first,
             std::optional<Numbers> points, Array<double, 2> out) const {
        const Selection chosen = terms.selection(numbers);
        const Selection where = selection(points, first, out.shape(0));
        require(coef.shape(1) == numbers.size(), "one coefficient for every term");
        require(coef.shape(0) == out.shape(1) && out.shape(1) > 0, "as many outputs as functions");
        const auto outputs = static_cast<std::int64_t>(out.shape(1));
        const nb::gil_scoped_release unlocked;
        const TermPanels<Real> panels = terms.panels(chosen);
        const TileReader<Real> read = reader(where);
        kernel_.visit([&](const auto& kernel) {
            hinge::add_terms<Real>(kernel, panels, read, where, sides(), coef.data(), outputs,
                                   out.data());
        });
    }

    // out[slot i, first_column + k] = k(term i, point k); the slot of a term is its place if there
    // are no slots.
    template <class Out>
    void block(const KernelRows& terms, Numbers numbers, std::int64_t first,
               std::optional<Numbers> points, Array<Out, 2> out, std::optional<Numbers> slots,
               std::int64_t first_column, std::int64_t count) const {
        const Selection chosen = terms.selection(numbers);
        const auto stride = static_cast<std::int64_t>(out.shape(1));
        require(count >= 0 && first_column >= 0 && first_column <= stride - count,
                "the columns to fill must be among those of the block");
        const Selection where = selection(points, first, static_cast<std::size_t>(count));
        require(slots ? slots->size() == numbers.size() : out.shape(0) == numbers.size(),
                "a row of the block for every term");
        std::vector<Out*> rows(numbers.size());
        for (std::size_t k = 0; k < rows.size(); ++k) {
            const std::int64_t slot = slots ? (*slots)(k) : static_cast<std::int64_t>(k);
            require(slot >= 0 && slot < static_cast<std::int64_t>(out.shape(0)),
                    "a slot must be among the rows of the block");
            rows[k] = out.data() + slot * stride + first_column;
        }
        const nb::gil_scoped_release unlocked;
        const TermPanels<Real> panels = terms.panels(chosen);
        const TileReader<Real> read = reader(where);
        kernel_.visit([&](const auto& kernel) {
            hinge::fill_block<Real>(kernel, panels, read, where, sides(), rows.data());
        });
    }

  private:
    Sides<Real> sides() const { return {selfs_.data(), scales_ ? scales_->data() : nullptr}; }
    Centre<Real> centre() const { return {centre_ ? centre_->data() : nullptr}; }

    void require_rows(const Numbers& numbers) const {
        for (std::size_t k = 0; k < numbers.size(); ++k) {
            require(numbers(k) >= 0 && numbers(k) < matrix_.count,
                    "there is no row " + std::to_string(numbers(k)));
        }
    }
    Selection selection(const Numbers& numbers) const {
        require_rows(numbers);
        return {numbers.data(), 0, static_cast<std::int64_t>(numbers.size())};
    }
    Selection selection(const std::optional<Numbers>& numbers, std::int64_t first,
                        std::size_t count) const {
        if (numbers) {
            require_length(numbers->size(), count, "points");
            return selection(*numbers);
        }
        const auto size = static_cast<std::int64_t>(count);
        require(first >= 0 && first <= matrix_.count && size <= matrix_.count - first,
                "the points must be among the rows");
        return {nullptr, first, size};
    }

    TermPanels<Real> panels(Selection terms) const {
        return hinge::binding::with_rows(matrix_, [&](const auto& rows) {
            return TermPanels<Real>(rows, terms, sides(), centre());
        });
    }
    TileReader<Real> reader(Selection points) const {
        return hinge::binding::with_rows(matrix_, [&](const auto& rows) -> TileReader<Real> {
            return [rows, points, from = centre()](Tile<Real>& tile, std::int64_t first,
                                                   std::int64_t size) {
                const Selection part = points.part(first, size);
                tile.read(rows, part.numbers, part.first, part.count, from);
            };
        });
    }

    Matrix matrix_;
    KernelChoice kernel_;
    Values selfs_;
    std::optional<Values> scales_;
    std::optional<Array<const double, 1>> centre_;
};

// Each row's sum with itself, from `first` on, as kernel values are taken.
template <class Real>
void self_sums(const Matrix& matrix, const KernelChoice& choice,
               std::optional<Array<const double, 1>> centre, std::int64_t first,
               Array<Real, 1> out) {
    const auto count = static_cast<std::int64_t>(out.size());
    require(first >= 0 && first <= matrix.count && count <= matrix.count - first,
            "the rows must be among those that there are");
    const Centre<Real> from{centre ? centre->data() : nullptr};
    hinge::binding::with_rows(matrix, [&](const auto& rows) {
        const nb::gil_scoped_release unlocked;
        choice.visit([&]<class Kernel>(const Kernel&) {
            for (std::int64_t k = 0; k < count; ++k) {
                out.data()[k] =
                    hinge::self_sum<typename Kernel::Pairing, Real>(rows, first + k, from);
            }
        });
    });
}

// How many entries of each dense row, from `first` on, are not zero.
void count_entries(const Matrix& matrix, std::int64_t first, Array<std::int64_t, 1> out) {
    const auto count = static_cast<std::int64_t>(out.size());
    require(first >= 0 && first <= matrix.count && count <= matrix.count - first,
            "the rows must be among those that there are");
    hinge::binding::with_rows(matrix, [&](const auto& rows) {
        const nb::gil_scoped_release unlocked;
        for (std::int64_t k = 0; k < count; ++k) {
            std::int64_t entries = 0;
            hinge::for_entries(rows, first + k, Centre<float>{},
                               [&](std::int64_t, float) { ++entries; });
            out.data()[k] = entries;
        }
    });
}

// The entries of the rows from `first` on that are not zero, as float32, to where each row begins.
void copy_entries(const Matrix& matrix, std::int64_t first, Numbers offsets, Array<float, 1> values,
                  Array<std::int32_t, 1> columns) {
    require(offsets.size() > 0, "an offset for every row, and the end");
    const auto count = static_cast<std::int64_t>(offsets.size()) - 1;
    require(first >= 0 && first <= matrix.count && count <= matrix.count - first,
            "the rows must be among those that there are");
    require_length(columns.size(), values.size(), "columns");
    const auto room = static_cast<std::int64_t>(values.size());
    bool fits = true;
    hinge::binding::with_rows(matrix, [&](const auto& rows) {
        const nb::gil_scoped_release unlocked;
        for (std::int64_t k = 0; k < count; ++k) {
            std::int64_t at = offsets(static_cast<std::size_t>(k));
            const std::int64_t end = offsets(static_cast<std::size_t>(k) + 1);
            fits = fits && at >= 0 && at <= end && end <= room;
            hinge::for_entries(rows, first + k, Centre<float>{},
                               [&](std::int64_t column, float value) {
                                   if (fits && at < end) {
                                       values.data()[at] = value;
                                       columns.data()[at] = static_cast<std::int32_t>(column);
                                   }
                                   ++at;
                               });
            fits = fits && at == end;
        }
    });
    require(fits, "the rows do not have as many entries as there is room for");
}

template <class Real>
void bind_rows(nb::module_& module, const char* name) {
    using Rows = KernelRows<Real>;
    nb::class_<Rows>(module, name, "Rows as terms or points of kernel values.")
        .def(
            nb::init<Matrix, KernelChoice, typename Rows::Values,
                     std::optional<typename Rows::Values>, std::optional<Array<const double, 1>>>(),
            nb::arg("matrix"), nb::arg("kernel"), nb::arg("selfs").noconvert(),
            nb::arg("scales").noconvert().none(), nb::arg("centre").noconvert().none())
        .def("add", &Rows::add, nb::arg("terms"), nb::arg("numbers").noconvert(),
             nb::arg("coef").noconvert(), nb::arg("first"), nb::arg("points").noconvert().none(),
             nb::arg("out").noconvert(), "Add sums of terms at points.")
        .def("block", &Rows::template block<float>, nb::arg("terms"),
             nb::arg("numbers").noconvert(), nb::arg("first"), nb::arg("points").noconvert().none(),
             nb::arg("out").noconvert(), nb::arg("slots").noconvert().none(),
             nb::arg("first_column"), nb::arg("count"), "Fill columns of a block of kernel values.")
        .def("block", &Rows::template block<double>, nb::arg("terms"),
             nb::arg("numbers").noconvert(), nb::arg("first"), nb::arg("points").noconvert().none(),
             nb::arg("out").noconvert(), nb::arg("slots").noconvert().none(),
             nb::arg("first_column"), nb::arg("count"),
             "Fill columns of a block of kernel values.");
    module.def("kernel_self_sums", &self_sums<Real>, nb::arg("matrix"), nb::arg("kernel"),
               nb::arg("centre").noconvert().none(), nb::arg("first"), nb::arg("out").noconvert(),
               "Write each row's sum with itself.");
}

}  // namespace

void bind_kernel(nb::module_& module) {
    nb::class_<KernelChoice>(module, "KernelChoice", "A kernel by name, with its parameters.")
        .def(nb::init<std::string, double, double, std::int64_t>(), nb::arg("name"),
             nb::arg("gamma"), nb::arg("coef0"), nb::arg("degree"));
    module.def("count_entries", &count_entries, nb::arg("matrix"), nb::arg("first"),
               nb::arg("out").noconvert(), "Count the entries of rows that are not zero.");
    module.def("copy_entries", &copy_entries, nb::arg("matrix"), nb::arg("first"),
               nb::arg("offsets").noconvert(), nb::arg("values").noconvert(),
               nb::arg("columns").noconvert(), "Copy the entries of rows that are not zero.");
    bind_rows<float>(module, "KernelRowsFloat");
    bind_rows<double>(module, "KernelRowsDouble");
}
