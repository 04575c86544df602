// Python's view of terms that are packed once: sums in float32 with a measure of what was summed.
#include "hinge/kept_terms.hpp"
#include "kernel_rows.hpp"

namespace nb = nanobind;

namespace {

using hinge::KeptTerms;
using hinge::Selection;
using hinge::binding::Array;
using hinge::binding::Coefficients;
using hinge::binding::KernelRows;
using hinge::binding::Numbers;
using hinge::binding::require;

using Rows = KernelRows<float>;

class TermsInFloat {
  public:
    TermsInFloat(const Rows& rows, Coefficients coef)
        : kept_(made(rows, coef)),
          width_(rows.width()),
          is_scaled_(rows.sides().scales != nullptr) {}

    void sums(const Rows& points, std::int64_t first, std::optional<Numbers> numbers,
              Array<double, 2> out) const {
        require(points.width() == width_, "points and terms must have as many features");
        require((points.sides().scales != nullptr) == is_scaled_,
                "points and terms must both be normalised, or neither");
        require(static_cast<std::int64_t>(out.shape(1)) == kept_.functions() + 1,
                "a column for every function, and one for the sizes");
        const Selection where = points.points(numbers, first, out.shape(0));
        const nb::gil_scoped_release unlocked;
        const auto read = points.reader(where);
        points.kernel().visit([&](const auto& kernel) {
            kept_.sums(kernel, read, where, points.sides(), out.data());
        });
    }

  private:
    static KeptTerms made(const Rows& rows, const Coefficients& coef) {
        require(static_cast<std::int64_t>(coef.shape(1)) == rows.count() && coef.shape(0) > 0,
                "one coefficient for every term and function");
        const nb::gil_scoped_release unlocked;
        return {rows.all_panels(), coef.data(), static_cast<std::int64_t>(coef.shape(0))};
    }

    KeptTerms kept_;
    std::int64_t width_;
    bool is_scaled_;
};

// Terms in float64, packed once: the sums of KernelRows::add, with the same bits.
class TermsInDouble {
  public:
    using Doubles = KernelRows<double>;

    TermsInDouble(const Doubles& rows, Coefficients coef)
        : panels_(rows.all_panels()),
          functions_(static_cast<std::int64_t>(coef.shape(0))),
          width_(rows.width()) {
        require(static_cast<std::int64_t>(coef.shape(1)) == rows.count() && functions_ > 0,
                "one coefficient for every term and function");
        coef_.assign(coef.data(), coef.data() + coef.size());
    }

    void add(const Doubles& points, std::int64_t first, Array<double, 2> out) const {
        require(points.width() == width_, "points and terms must have as many features");
        require((points.sides().scales != nullptr) == panels_.is_scaled,
                "points and terms must both be normalised, or neither");
        require(static_cast<std::int64_t>(out.shape(1)) == functions_,
                "as many outputs as functions");
        const Selection where = points.points(std::nullopt, first, out.shape(0));
        const nb::gil_scoped_release unlocked;
        const auto read = points.reader(where);
        points.kernel().visit([&](const auto& kernel) {
            hinge::add_terms<double>(kernel, panels_, read, where, points.sides(), coef_.data(),
                                     functions_, out.data());
        });
    }

  private:
    hinge::TermPanels<double> panels_;
    std::vector<double> coef_;
    std::int64_t functions_;
    std::int64_t width_;
};

}  // namespace

void bind_kept_terms(nb::module_& module) {
    nb::class_<TermsInFloat>(module, "KeptTerms", "Terms packed once, in float32.")
        .def(nb::init<const Rows&, Coefficients>(), nb::arg("rows"), nb::arg("coef").noconvert())
        .def("sums", &TermsInFloat::sums, nb::arg("points"), nb::arg("first"),
             nb::arg("numbers").noconvert().none(), nb::arg("out").noconvert(),
             "Write the sums of every function, and of the sizes of their terms.");
    nb::class_<TermsInDouble>(module, "KeptTermsDouble", "Terms packed once, in float64.")
        .def(nb::init<const KernelRows<double>&, Coefficients>(), nb::arg("rows"),
             nb::arg("coef").noconvert())
        .def("add", &TermsInDouble::add, nb::arg("points"), nb::arg("first"),
             nb::arg("out").noconvert(), "Add the sums of every function.");
}
