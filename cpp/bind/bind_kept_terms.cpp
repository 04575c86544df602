// Python's view of terms that are packed once: sums in float32 with a measure of what was summed.
#include "hinge/kept_terms.hpp"
#include "hinge/whole_terms.hpp"
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

    // The same of a Gaussian kernel, with smaller errors; see kept_terms.hpp.
    void near_sums(const Rows& points, std::int64_t first, Array<double, 2> out) const {
        const Selection where = gaussian_points(points, first, out);
        const nb::gil_scoped_release unlocked;
        kept_.near_sums(points.kernel().gamma, points.reader(where), where, out.data());
    }

    void wide_sums(const KernelRows<double>& points, std::int64_t first,
                   Array<double, 2> out) const {
        const Selection where = gaussian_points(points, first, out);
        const nb::gil_scoped_release unlocked;
        kept_.wide_sums(points.kernel().gamma, points.reader(where), where, points.sides().selfs,
                        out.data());
    }

  private:
    template <class Real>
    Selection gaussian_points(const KernelRows<Real>& points, std::int64_t first,
                              const Array<double, 2>& out) const {
        require(points.width() == width_, "points and terms must have as many features");
        require(points.kernel().name == "rbf" && !is_scaled_ && kept_.is_direct(),
                "these sums are for Gaussian kernels of few features");
        require(static_cast<std::int64_t>(out.shape(1)) == kept_.functions() + 2,
                "a column for every function, and two for the sizes");
        return points.points(std::nullopt, first, out.shape(0));
    }

    static KeptTerms made(const Rows& rows, const Coefficients& coef) {
        require(static_cast<std::int64_t>(coef.shape(1)) == rows.count() && coef.shape(0) > 0,
                "one coefficient for every term and function");
        const nb::gil_scoped_release unlocked;
        return {rows.all_panels(), coef.data(), static_cast<std::int64_t>(coef.shape(0)),
                rows.width()};
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

// Terms of whole numbers of 16 bits, packed once.
class TermsInWholeNumbers {
  public:
    using Values = Array<const std::int16_t, 2>;

    TermsInWholeNumbers(const Values& values, const Coefficients& coef)
        : kept_(made(values, coef)) {}

    void sums(double gamma, const Values& points, Array<double, 2> out) const {
        require(static_cast<std::int64_t>(points.shape(1)) == kept_.width(),
                "points and terms must have as many features");
        require(out.shape(0) == points.shape(0) &&
                    static_cast<std::int64_t>(out.shape(1)) == kept_.functions() + 2,
                "a row for every point, a column for every function, and two for the sizes");
        require_small(points);
        const nb::gil_scoped_release unlocked;
        kept_.sums(static_cast<float>(gamma), points.data(),
                   static_cast<std::int64_t>(points.shape(0)), out.data());
    }

  private:
    static void require_small(const Values& rows) {
        const auto width = static_cast<std::int64_t>(rows.shape(1));
        for (std::size_t i = 0; i < rows.shape(0); ++i) {
            const std::int16_t* row = rows.data() + static_cast<std::int64_t>(i) * width;
            require(hinge::whole_square(row, width) < hinge::kMostWholeSquare,
                    "squared norms of whole numbers must be below 2^29");
        }
    }

    static hinge::WholeTerms made(const Values& values, const Coefficients& coef) {
        require(coef.shape(1) == values.shape(0) && coef.shape(0) > 0 && values.shape(1) > 0,
                "one coefficient for every term and function");
        require_small(values);
        const nb::gil_scoped_release unlocked;
        const auto count = static_cast<std::int64_t>(values.shape(0));
        return {
            values.data(), count, static_cast<std::int64_t>(values.shape(1)),
            hinge::TermCoefficients(coef.data(), count, static_cast<std::int64_t>(coef.shape(0)))};
    }

    hinge::WholeTerms kept_;
};

}  // namespace

void bind_kept_terms(nb::module_& module) {
    nb::class_<TermsInFloat>(module, "KeptTerms", "Terms packed once, in float32.")
        .def(nb::init<const Rows&, Coefficients>(), nb::arg("rows"), nb::arg("coef").noconvert())
        .def("sums", &TermsInFloat::sums, nb::arg("points"), nb::arg("first"),
             nb::arg("numbers").noconvert().none(), nb::arg("out").noconvert(),
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
