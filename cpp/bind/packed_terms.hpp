// Terms that are packed once, as Python holds them: in float32, in whole numbers of 16 bits, and in
// bytes with a table. Whoever sums over them shares them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "hinge/kept_terms.hpp"
#include "hinge/tabled_terms.hpp"
#include "hinge/whole_terms.hpp"
#include "kernel_rows.hpp"

namespace hinge::binding {

inline constexpr std::int64_t kMostTabledFeatures = 1 << 16;

// Terms in float32.
class TermsInFloat {
  public:
    TermsInFloat(const KernelRows<float>& rows, Coefficients coef)
        : kept_(std::make_shared<const KeptTerms>(made(rows, coef))),
          width_(rows.width()),
          is_scaled_(rows.sides().scales != nullptr) {}

    // Threads of the team share out the points.
    void sums(const KernelRows<float>& points, std::int64_t first, std::optional<Numbers> numbers,
              Array<double, 2> out, std::int64_t threads) const {
        require(points.width() == width_, "points and terms must have as many features");
        require((points.sides().scales != nullptr) == is_scaled_,
                "points and terms must both be normalised, or neither");
        require(static_cast<std::int64_t>(out.shape(1)) == kept_->functions() + 1,
                "a column for every function, and one for the sizes");
        const Selection where = points.points(numbers, first, out.shape(0));
        const auto width = static_cast<std::int64_t>(out.shape(1));
        const nanobind::gil_scoped_release unlocked;
        points.kernel().visit([&](const auto& kernel) {
            share_points(where, threads, [&](std::int64_t at, Selection part) {
                kept_->sums(kernel, points.reader(part), part, points.sides(),
                            out.data() + at * width);
            });
        });
    }

    // The same of a Gaussian kernel, with smaller errors; see kept_terms.hpp.
    void near_sums(const KernelRows<float>& points, std::int64_t first,
                   Array<double, 2> out) const {
        const Selection where = gaussian_points(points, first, out);
        const nanobind::gil_scoped_release unlocked;
        kept_->near_sums(points.kernel().gamma, points.reader(where), where, out.data());
    }

    void wide_sums(const KernelRows<double>& points, std::int64_t first,
                   Array<double, 2> out) const {
        const Selection where = gaussian_points(points, first, out);
        const nanobind::gil_scoped_release unlocked;
        kept_->wide_sums(points.kernel().gamma, points.reader(where), where, points.sides().selfs,
                         out.data());
    }

    const std::shared_ptr<const KeptTerms>& terms() const { return kept_; }
    std::int64_t width() const { return width_; }
    bool is_scaled() const { return is_scaled_; }

  private:
    template <class Real>
    Selection gaussian_points(const KernelRows<Real>& points, std::int64_t first,
                              const Array<double, 2>& out) const {
        require(points.width() == width_, "points and terms must have as many features");
        require(points.kernel().name == "rbf" && !is_scaled_ && kept_->is_direct(),
                "these sums are for Gaussian kernels of few features");
        require(static_cast<std::int64_t>(out.shape(1)) == kept_->functions() + 2,
                "a column for every function, and two for the sizes");
        return points.points(std::nullopt, first, out.shape(0));
    }

    static KeptTerms made(const KernelRows<float>& rows, const Coefficients& coef) {
        require(static_cast<std::int64_t>(coef.shape(1)) == rows.count() && coef.shape(0) > 0,
                "one coefficient for every term and function");
        const nanobind::gil_scoped_release unlocked;
        return {rows.all_panels(), coef.data(), static_cast<std::int64_t>(coef.shape(0)),
                rows.width()};
    }

    std::shared_ptr<const KeptTerms> kept_;
    std::int64_t width_;
    bool is_scaled_;
};

// Terms of whole numbers of 16 bits, packed once.
class TermsInWholeNumbers {
  public:
    using Values = Array<const std::int16_t, 2>;

    TermsInWholeNumbers(const Values& values, const Coefficients& coef)
        : kept_(std::make_shared<const WholeTerms>(made(values, coef))) {}

    void sums(double gamma, const Values& points, Array<double, 2> out) const {
        require(static_cast<std::int64_t>(points.shape(1)) == kept_->width(),
                "points and terms must have as many features");
        require(out.shape(0) == points.shape(0) &&
                    static_cast<std::int64_t>(out.shape(1)) == kept_->functions() + 2,
                "a row for every point, a column for every function, and two for the sizes");
        require_small(points);
        const nanobind::gil_scoped_release unlocked;
        kept_->sums(static_cast<float>(gamma), points.data(),
                    static_cast<std::int64_t>(points.shape(0)), out.data());
    }

    const std::shared_ptr<const WholeTerms>& terms() const { return kept_; }

  private:
    static void require_small(const Values& rows) {
        const auto width = static_cast<std::int64_t>(rows.shape(1));
        for (std::size_t i = 0; i < rows.shape(0); ++i) {
            const std::int16_t* row = rows.data() + static_cast<std::int64_t>(i) * width;
            require(whole_square(row, width) < kMostWholeSquare,
                    "squared norms of whole numbers must be below 2^29");
        }
    }

    static WholeTerms made(const Values& values, const Coefficients& coef) {
        require(coef.shape(1) == values.shape(0) && coef.shape(0) > 0 && values.shape(1) > 0,
                "one coefficient for every term and function");
        require_small(values);
        const nanobind::gil_scoped_release unlocked;
        const auto count = static_cast<std::int64_t>(values.shape(0));
        return {values.data(), count, static_cast<std::int64_t>(values.shape(1)),
                TermCoefficients(coef.data(), count, static_cast<std::int64_t>(coef.shape(0)))};
    }

    std::shared_ptr<const WholeTerms> kept_;
};

// Terms of small whole numbers, with a table of kernel values.
class TabledRows {
  public:
    TabledRows(const Matrix& rows, Numbers bases, Array<const std::int16_t, 2> digits,
               Array<const std::int16_t, 1> table, std::int64_t factor, std::int64_t point_factor,
               std::int64_t offset, std::int64_t largest_self, bool takes_negative) {
        const auto count = static_cast<std::size_t>(rows.count);
        require_length(bases.size(), count, "bases");
        require(digits.shape(1) == count && digits.shape(0) > 0, "a digit for every term and sum");
        require(rows.width <= kMostTabledFeatures, "at most 65,536 features");
        require(largest_self >= 0 && largest_self < kMostTabled,
                "squared norms of points must be below 256");
        const TabledLimits limits{factor, point_factor, offset, largest_self, takes_negative};
        with_rows(rows, [&](const auto& view) {
            const nanobind::gil_scoped_release unlocked;
            terms_ = std::make_shared<const TabledTerms>(
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
            require_rows(numbers->data(), numbers->size(), points.count);
        } else {
            require(first >= 0 && first <= points.count && count <= points.count - first,
                    "the points must be among the rows");
        }
        const Selection where{numbers ? numbers->data() : nullptr, first, count};
        with_rows(points, [&](const auto& view) {
            const nanobind::gil_scoped_release unlocked;
            terms_->evaluate(
                view, [&](std::int64_t k) { return where.number(k); }, count, out.data(),
                selfs.data());
        });
    }

    const std::shared_ptr<const TabledTerms>& terms() const { return terms_; }

  private:
    std::shared_ptr<const TabledTerms> terms_;
};

}  // namespace hinge::binding
