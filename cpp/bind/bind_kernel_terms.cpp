// Python's view of terms whose panels are made once, for all pieces of a pass over points.
#include <algorithm>

#include "hinge/kernel_terms.hpp"
#include "kernel_rows.hpp"

namespace nb = nanobind;

namespace {

using hinge::Selection;
using hinge::binding::Array;
using hinge::binding::Coefficients;
using hinge::binding::KernelRows;
using hinge::binding::Numbers;
using hinge::binding::require;
using hinge::binding::require_length;

// Some rows as terms. Threads of the team share out the points of a call.
template <class Real>
class KernelTerms {
  public:
    using Rows = KernelRows<Real>;
    using Points = std::optional<Numbers>;

    KernelTerms(const Rows& rows, const Numbers& numbers)
        : panels_(made(rows, numbers)), width_(rows.width()) {}

    // out[k, c] += sum of coef[c, i] k(term i, point k).
    void add(const Rows& points, Coefficients coef, std::int64_t first, Points numbers,
             Array<double, 2> out, std::int64_t threads) const {
        const Selection where = checked(points, numbers, first, out.shape(0));
        require(coef.shape(1) == count(), "one coefficient for every term");
        require(coef.shape(0) == out.shape(1) && out.shape(1) > 0, "as many outputs as functions");
        const auto outputs = static_cast<std::int64_t>(out.shape(1));
        const nb::gil_scoped_release unlocked;
        const hinge::TermFunctions<Real> functions(coef.data(), panels_.count, outputs);
        points.kernel().visit([&](const auto& kernel) {
            hinge::share_points(where, threads, [&](std::int64_t at, Selection part) {
                hinge::add_terms<Real>(kernel, panels_, points.reader(part), part, points.sides(),
                                       functions, out.data() + at * outputs);
            });
        });
    }

    // out[k] += sum of coef[i] k(term i, point k), and rows[slots[i], first_column + k] = k(term i,
    // point k) for the first terms, as many as there are slots.
    void add_and_keep(const Rows& points, Array<const double, 1> coef, std::int64_t first,
                      Points numbers, Array<double, 1> out, Array<float, 2> rows, Numbers slots,
                      std::int64_t first_column, std::int64_t threads) const {
        const Selection where = checked(points, numbers, first, out.size());
        require_length(coef.size(), count(), "coef");
        require(slots.size() <= count(), "a term for every slot");
        const std::vector<float*> kept = columns(rows, slots, first_column, where.count);
        const nb::gil_scoped_release unlocked;
        points.kernel().visit([&](const auto& kernel) {
            hinge::share_points(where, threads, [&](std::int64_t at, Selection part) {
                const std::vector<float*> columns = moved(kept, at);
                hinge::add_and_keep<Real, std::decay_t<decltype(kernel)>, float>(
                    kernel, panels_, points.reader(part), part, points.sides(), coef.data(),
                    {columns.data(), static_cast<std::int64_t>(columns.size())}, out.data() + at);
            });
        });
    }

    // out[slots[i], first_column + k] = k(term i, point k).
    template <class Out>
    void block(const Rows& points, std::int64_t first, Points numbers, Array<Out, 2> out,
               Numbers slots, std::int64_t first_column, std::int64_t n_points,
               std::int64_t threads) const {
        require(n_points >= 0, "as many points as columns to fill");
        const Selection where = checked(points, numbers, first, static_cast<std::size_t>(n_points));
        require_length(slots.size(), count(), "slots");
        const std::vector<Out*> rows = columns(out, slots, first_column, where.count);
        const nb::gil_scoped_release unlocked;
        points.kernel().visit([&](const auto& kernel) {
            hinge::share_points(where, threads, [&](std::int64_t at, Selection part) {
                hinge::fill_block<Real>(kernel, panels_, points.reader(part), part, points.sides(),
                                        moved(rows, at).data());
            });
        });
    }

    // out[i, j] = out[j, i] = k(term i, term j), for i <= j and j from `first` on; numbers has the
    // points j, which are terms. The last points meet the most terms, so that they come first.
    template <class Out>
    void square(const Rows& points, Numbers numbers, std::int64_t first, Array<Out, 2> out,
                std::int64_t threads) const {
        require(points.kernel().is_of_products(), "only products are the same in either order");
        require(out.shape(0) == count() && out.shape(1) == count(),
                "a row and a column for every term");
        require(first >= 0 && first <= panels_.count &&
                    static_cast<std::int64_t>(numbers.size()) <= panels_.count - first,
                "the points must be among the terms");
        const Selection where = checked(points, Points(numbers), 0, numbers.size());
        std::vector<Out*> rows(count());
        for (std::size_t k = 0; k < rows.size(); ++k) {
            rows[k] = out.data() + k * count();
        }
        const nb::gil_scoped_release unlocked;
        const std::int64_t tiles = (where.count + hinge::kTileRows - 1) / hinge::kTileRows;
        points.kernel().visit([&]<class Kernel>(const Kernel& kernel) {
            if constexpr (std::is_same_v<typename Kernel::Pairing, hinge::ProductPairing>) {
                hinge::share_out(tiles, threads, 1, [&](std::int64_t number, std::int64_t size) {
                    const std::int64_t at = (tiles - number - size) * hinge::kTileRows;
                    const std::int64_t end = (tiles - number) * hinge::kTileRows;
                    const Selection part = where.part(at, std::min(end, where.count) - at);
                    hinge::fill_square<Real>(kernel, panels_, points.reader(part), part, first + at,
                                             points.sides(), rows.data());
                });
            }
        });
    }

  private:
    static hinge::TermPanels<Real> made(const Rows& rows, const Numbers& numbers) {
        const Selection terms = rows.points(numbers, 0, numbers.size());
        const nb::gil_scoped_release unlocked;
        return rows.panels(terms);
    }

    Selection checked(const Rows& points, const Points& numbers, std::int64_t first,
                      std::size_t size) const {
        require(points.width() == width_, "points and terms must have as many features");
        require((points.sides().scales != nullptr) == panels_.is_scaled,
                "points and terms must both be normalised, or neither");
        return points.points(numbers, first, size);
    }

    // Where each term's row of a block begins.
    template <class Out>
    static std::vector<Out*> columns(const Array<Out, 2>& block, const Numbers& slots,
                                     std::int64_t first_column, std::int64_t n_columns) {
        const auto stride = static_cast<std::int64_t>(block.shape(1));
        require(first_column >= 0 && first_column <= stride - n_columns,
                "the columns to fill must be among those of the block");
        std::vector<Out*> rows(slots.size());
        for (std::size_t k = 0; k < rows.size(); ++k) {
            require(slots(k) >= 0 && slots(k) < static_cast<std::int64_t>(block.shape(0)),
                    "a slot must be among the rows of the block");
            rows[k] = block.data() + slots(k) * stride + first_column;
        }
        return rows;
    }

    // Rows from some column on.
    template <class Out>
    static std::vector<Out*> moved(std::vector<Out*> rows, std::int64_t columns) {
        for (Out*& row : rows) {
            row += columns;
        }
        return rows;
    }

    std::size_t count() const { return static_cast<std::size_t>(panels_.count); }

    hinge::TermPanels<Real> panels_;
    std::int64_t width_;
};

template <class Real, class Out, class Class>
void bind_blocks(Class& bound) {
    using Terms = KernelTerms<Real>;
    bound
        .def("block", &Terms::template block<Out>, nb::arg("points"), nb::arg("first"),
             nb::arg("numbers").noconvert().none(), nb::arg("out").noconvert(),
             nb::arg("slots").noconvert(), nb::arg("first_column"), nb::arg("count"),
             nb::arg("threads") = 1, "Fill columns of a block of kernel values.")
        .def("square", &Terms::template square<Out>, nb::arg("points"),
             nb::arg("numbers").noconvert(), nb::arg("first"), nb::arg("out").noconvert(),
             nb::arg("threads") = 1,
             "Fill the kernel matrix of the terms, as far as a point comes after a term.");
}

template <class Real>
void bind_terms(nb::module_& module, const char* name) {
    using Terms = KernelTerms<Real>;
    auto bound = nb::class_<Terms>(module, name, "Terms of a pass over points.");
    bound
        .def(nb::init<const KernelRows<Real>&, const Numbers&>(), nb::arg("rows"),
             nb::arg("numbers").noconvert())
        .def("add", &Terms::add, nb::arg("points"), nb::arg("coef").noconvert(), nb::arg("first"),
             nb::arg("numbers").noconvert().none(), nb::arg("out").noconvert(),
             nb::arg("threads") = 1, "Add sums of terms at points.")
        .def("add_and_keep", &Terms::add_and_keep, nb::arg("points"), nb::arg("coef").noconvert(),
             nb::arg("first"), nb::arg("numbers").noconvert().none(), nb::arg("out").noconvert(),
             nb::arg("rows").noconvert(), nb::arg("slots").noconvert(), nb::arg("first_column"),
             nb::arg("threads") = 1,
             "Add sums of terms at points, and write the values of the first terms.");
    bind_blocks<Real, float>(bound);
    bind_blocks<Real, double>(bound);
}

}  // namespace

void bind_kernel_terms(nb::module_& module) {
    bind_terms<float>(module, "KernelTermsFloat");
    bind_terms<double>(module, "KernelTermsDouble");
}
