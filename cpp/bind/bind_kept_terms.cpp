// Python's view of terms that are packed once: sums in float32 with a measure of what was summed.
#include "packed_terms.hpp"

namespace nb = nanobind;

namespace {

using hinge::Selection;
using hinge::binding::Array;
using hinge::binding::Coefficients;
using hinge::binding::KernelRows;
using hinge::binding::require;
using hinge::binding::TermsInFloat;
using hinge::binding::TermsInWholeNumbers;

using Rows = KernelRows<float>;

// Terms in float64, packed once: the sums of KernelTerms::add, with the same bits.
class TermsInDouble {
  public:
    using Doubles = KernelRows<double>;

    TermsInDouble(const Doubles& rows, Coefficients coef)
        : panels_(rows.all_panels()),
          functions_(checked(rows, coef), rows.count(), static_cast<std::int64_t>(coef.shape(0))),
          width_(rows.width()) {}

    void add(const Doubles& points, std::int64_t first, Array<double, 2> out) const {
        require(points.width() == width_, "points and terms must have as many features");
        require((points.sides().scales != nullptr) == panels_.is_scaled,
                "points and terms must both be normalised, or neither");
        require(static_cast<std::int64_t>(out.shape(1)) == functions_.functions,
                "as many outputs as functions");
        const Selection where = points.points(std::nullopt, first, out.shape(0));
        const nb::gil_scoped_release unlocked;
        const auto read = points.reader(where);
        points.kernel().visit([&](const auto& kernel) {
            hinge::add_terms<double>(kernel, panels_, read, where, points.sides(), functions_,
                                     out.data());
        });
    }

  private:
    static const double* checked(const Doubles& rows, const Coefficients& coef) {
        require(static_cast<std::int64_t>(coef.shape(1)) == rows.count() && coef.shape(0) > 0,
                "one coefficient for every term and function");
        return coef.data();
    }

    hinge::TermPanels<double> panels_;
    hinge::TermFunctions<double> functions_;
    std::int64_t width_;
};

}  // namespace

void bind_kept_terms(nb::module_& module) {
    nb::class_<TermsInFloat>(module, "KeptTerms", "Terms packed once, in float32.")
        .def(nb::init<const Rows&, Coefficients>(), nb::arg("rows"), nb::arg("coef").noconvert())
        .def("sums", &TermsInFloat::sums, nb::arg("points"), nb::arg("first"),
             nb::arg("numbers").noconvert().none(), nb::arg("out").noconvert(),
             nb::arg("threads") = 1,
             "Write the sums of every function, and of the sizes of their terms.")
        .def("near_sums", &TermsInFloat::near_sums, nb::arg("points"), nb::arg("first"),
             nb::arg("out").noconvert(),
             "Write the same sums by squared differences, and of sizes times exponents.")
        .def("wide_sums", &TermsInFloat::wide_sums, nb::arg("points"), nb::arg("first"),
             nb::arg("out").noconvert(), "Write what near_sums does, in float64.");
    nb::class_<TermsInWholeNumbers>(module, "WholeTerms", "Terms of 16 bits, packed once.")
        .def(nb::init<const TermsInWholeNumbers::Values&, const Coefficients&>(),
             nb::arg("values").noconvert(), nb::arg("coef").noconvert())
        .def("sums", &TermsInWholeNumbers::sums, nb::arg("gamma"), nb::arg("points").noconvert(),
             nb::arg("out").noconvert(),
             "Write the sums of every function, of sizes, and of sizes times exponents.");
    nb::class_<TermsInDouble>(module, "KeptTermsDouble", "Terms packed once, in float64.")
        .def(nb::init<const KernelRows<double>&, Coefficients>(), nb::arg("rows"),
             nb::arg("coef").noconvert())
        .def("add", &TermsInDouble::add, nb::arg("points"), nb::arg("first"),
             nb::arg("out").noconvert(), "Add the sums of every function.");
}
