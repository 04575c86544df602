// Python's view of terms of small whole numbers, whose kernel values are entries of a table.
#include <memory>

#include "hinge/tabled_terms.hpp"
#include "kernel_rows.hpp"

namespace nb = nanobind;

namespace {

using hinge::Selection;
using hinge::TabledLimits;
using hinge::TabledTerms;
using hinge::binding::Array;
using hinge::binding::Matrix;
using hinge::binding::Numbers;
using hinge::binding::require;
using hinge::binding::require_length;

constexpr std::int64_t kMostFeatures = 1 << 16;

class WholeTerms {
  public:
    WholeTerms(const Matrix& rows, Numbers bases, Array<const std::int16_t, 2> digits,
               Array<const std::int16_t, 1> table, std::int64_t factor, std::int64_t point_factor,
               std::int64_t offset, std::int64_t largest_self, bool takes_negative) {
        const auto count = static_cast<std::size_t>(rows.count);
        require_length(bases.size(), count, "bases");
        require(digits.shape(1) == count && digits.shape(0) > 0, "a digit for every term and sum");
        require(rows.width <= kMostFeatures, "at most 65,536 features");
        require(largest_self >= 0 && largest_self < hinge::kMostTabled,
                "squared norms of points must be below 256");
        const TabledLimits limits{factor, point_factor, offset, largest_self, takes_negative};
        hinge::binding::with_rows(rows, [&](const auto& view) {
            const nb::gil_scoped_release unlocked;
            terms_ = std::make_unique<TabledTerms>(
                view, bases.data(), digits.data(), static_cast<std::int64_t>(digits.shape(0)),
                table.data(), static_cast<std::int64_t>(table.size()), limits);
        });
    }

    void sums(const Matrix& points, std::int64_t first, std::optional<Numbers> numbers,
              Array<std::int64_t, 2> out, Array<std::int64_t, 1> selfs) const {
        require(points.width == terms_->width(), "points and terms must have as many features");
        require(static_cast<std::int64_t>(out.shape(1)) == terms_->sums(),
                "a column for every sum");
        require_length(selfs.size(), out.shape(0), "selfs");
        const auto count = static_cast<std::int64_t>(out.shape(0));
        if (numbers) {
            require_length(numbers->size(), out.shape(0), "numbers");
            for (std::size_t k = 0; k < numbers->size(); ++k) {
                require((*numbers)(k) >= 0 && (*numbers)(k) < points.count,
                        "there is no row " + std::to_string((*numbers)(k)));
            }
        } else {
            require(first >= 0 && first <= points.count && count <= points.count - first,
                    "the points must be among the rows");
        }
        const Selection where{numbers ? numbers->data() : nullptr, first, count};
        hinge::binding::with_rows(points, [&](const auto& view) {
            const nb::gil_scoped_release unlocked;
            terms_->evaluate(
                view, [&](std::int64_t k) { return where.number(k); }, count, out.data(),
                selfs.data());
        });
    }

  private:
    std::unique_ptr<TabledTerms> terms_;
};

}  // namespace

void bind_tabled_terms(nb::module_& module) {
    nb::class_<WholeTerms>(module, "TabledTerms", "Terms of small whole numbers, packed once.")
        .def(nb::init<const Matrix&, Numbers, Array<const std::int16_t, 2>,
                      Array<const std::int16_t, 1>, std::int64_t, std::int64_t, std::int64_t,
                      std::int64_t, bool>(),
             nb::arg("rows"), nb::arg("bases").noconvert(), nb::arg("digits").noconvert(),
             nb::arg("table").noconvert(), nb::arg("factor"), nb::arg("point_factor"),
             nb::arg("offset"), nb::arg("largest_self"), nb::arg("takes_negative"))
        .def("sums", &WholeTerms::sums, nb::arg("points"), nb::arg("first"),
             nb::arg("numbers").noconvert().none(), nb::arg("out").noconvert(),
             nb::arg("selfs").noconvert(), "Write exact sums, and the squared norms of points.");
}
