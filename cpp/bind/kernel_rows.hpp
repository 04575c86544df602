// Kernels and rows as Python gives them to the compiled core: what every binding of kernel values
// shares.
#pragma once

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
#include "hinge/packed_points.hpp"
#include "rows_view.hpp"

namespace hinge::binding {

using Numbers = Array<const std::int64_t, 1>;
using Coefficients = Array<const double, 2>;

// A kernel by name, with the parameters that it has.
struct KernelChoice {
    std::string name;
    double gamma;
    double coef0;
    std::int64_t degree;

    // Whether values are functions of products, with the same bits for either order of the rows.
    bool is_of_products() const { return name != "laplacian" && name != "chi2"; }

    template <class Function>
    void visit(Function&& function) const {
        if (name == "linear") {
            function(LinearKernel{});
        } else if (name == "poly") {
            function(PolynomialKernel{gamma, coef0, degree});
        } else if (name == "rbf") {
            function(RbfKernel{gamma});
        } else if (name == "sigmoid") {
            function(SigmoidKernel{gamma, coef0});
        } else if (name == "laplacian") {
            function(LaplacianKernel{gamma});
        } else if (name == "chi2") {
            function(ChiSquaredKernel{gamma});
        } else {
            require(false, [this] { return "no native kernel is called " + name; });
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
        const nanobind::gil_scoped_release unlocked;
        const TermPanels<Real> panels = terms.panels(chosen);
        const TileReader<Real> read = reader(where);
        kernel_.visit([&](const auto& kernel) {
            hinge::fill_block<Real>(kernel, panels, read, where, sides(), rows.data());
        });
    }

    // rows[i][k] = k(term i, point k), of numbers that have been checked; without Python's lock.
    void fill(Selection terms, Selection points, Real* const* rows) const {
        const TermPanels<Real> of_terms = panels(terms);
        const TileReader<Real> read = reader(points);
        kernel_.visit([&](const auto& kernel) {
            hinge::fill_block<Real>(kernel, of_terms, read, points, sides(), rows);
        });
    }

    // The same at points that are packed, of a kernel of products.
    void fill_at(Selection terms, const TermPanels<Real>& points, Real* const* rows) const {
        const TileReader<Real> read = reader(terms);
        kernel_.visit([&](const auto& kernel) {
            hinge::fill_rows<Real>(kernel, points, read, terms, sides(), rows);
        });
    }

    const KernelChoice& kernel() const { return kernel_; }
    std::int64_t count() const { return matrix_.count; }
    std::int64_t width() const { return matrix_.width; }
    Sides<Real> sides() const { return {selfs_.data(), scales_ ? scales_->data() : nullptr}; }
    // All rows as terms, for as long as the panels live.
    TermPanels<Real> all_panels() const { return panels({nullptr, 0, matrix_.count}); }
    // Some rows, of numbers that have been checked.
    TermPanels<Real> panels(Selection terms) const {
        return with_rows(matrix_, [&](const auto& rows) {
            return TermPanels<Real>(rows, terms, sides(), centre());
        });
    }
    Selection points(const std::optional<Numbers>& numbers, std::int64_t first,
                     std::size_t count) const {
        return selection(numbers, first, count);
    }
    TileReader<Real> reader(Selection points) const {
        return with_rows(matrix_, [&](const auto& rows) -> TileReader<Real> {
            return [rows, points, from = centre()](Tile<Real>& tile, std::int64_t first,
                                                   std::int64_t size) {
                const Selection part = points.part(first, size);
                tile.read(rows, part.numbers, part.first, part.count, from);
            };
        });
    }

  private:
    Centre<Real> centre() const { return {centre_ ? centre_->data() : nullptr}; }

    Selection selection(const Numbers& numbers) const {
        require_rows(numbers.data(), numbers.size(), matrix_.count);
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

    Matrix matrix_;
    KernelChoice kernel_;
    Values selfs_;
    std::optional<Values> scales_;
    std::optional<Array<const double, 1>> centre_;
};

}  // namespace hinge::binding
