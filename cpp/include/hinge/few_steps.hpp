// Bounds on the decision values of one query of a Gaussian machine, by one of several sums.
//
//   |f_c(x) - (sum_c + b_c)| <= slope h(x) + share g(x) + fixed_c + 1e-15 |sum_c + b_c|
//
// g and h are the sizes that were summed along (see kept_terms.hpp); the numbers hold for all
// queries of at most some norm, and are made in Python (few.py). A step that is not for a query
// says so: whole multiples and tables are for rows of such numbers alone. Rows are dense in float64
// or CSR with columns of 32 bits.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "hinge/kept_terms.hpp"
#include "hinge/tabled_terms.hpp"
#include "hinge/whole_terms.hpp"

namespace hinge {

// One of some rows, and its squared norm from the centre of float32.
template <class Rows>
struct Query {
    const Rows& rows;
    std::int64_t number;
    double self;
    const double* centre;  // null where rows are not moved

    template <class Real>
    TileReader<Real> reader() const {
        return [this](Tile<Real>& tile, std::int64_t, std::int64_t size) {
            tile.read(rows, nullptr, number, size, Centre<Real>{centre});
        };
    }
};

// Where the bounds of a query are written, function by function.
struct Interval {
    const std::vector<double>& intercept;
    double* lower;
    double* upper;

    void set(std::size_t c, double value, double error) const noexcept {
        lower[c] = value - error;
        upper[c] = value + error;
    }
};

struct SumBounds {
    double slope;
    double share;
    std::vector<double> fixed;

    void apply(const double* sums, double g, double h, const Interval& to) const noexcept {
        for (std::size_t c = 0; c < fixed.size(); ++c) {
            const double value = sums[c] + to.intercept[c];
            to.set(c, value, slope * h + share * g + fixed[c] + 1e-15 * std::abs(value));
        }
    }
};

inline constexpr Selection kOnePoint{nullptr, 0, 1};

// Inner products in float32, which skip zeros.
struct ProductStep {
    std::shared_ptr<const KeptTerms> terms;
    double gamma;
    SumBounds bounds;

    template <class Rows>
    bool bound(const Query<Rows>& query, const Interval& to) const {
        std::vector<double> sums(bounds.fixed.size() + 1);
        const auto self = static_cast<float>(query.self);
        terms->sums(RbfKernel{gamma}, query.template reader<float>(), kOnePoint, {&self, nullptr},
                    sums.data());
        bounds.apply(sums.data(), sums.back(), 0.0, to);
        return true;
    }
};

// Squared differences in float32.
struct DifferenceStep {
    std::shared_ptr<const KeptTerms> terms;
    double gamma;
    SumBounds bounds;

    template <class Rows>
    bool bound(const Query<Rows>& query, const Interval& to) const {
        std::vector<double> sums(bounds.fixed.size() + 2);
        terms->near_sums(gamma, query.template reader<float>(), kOnePoint, sums.data());
        bounds.apply(sums.data(), *(sums.end() - 2), sums.back(), to);
        return true;
    }
};

// Inner products in float64 with terms of float32.
struct WideStep {
    std::shared_ptr<const KeptTerms> terms;
    double gamma;
    SumBounds bounds;

    template <class Rows>
    bool bound(const Query<Rows>& query, const Interval& to) const {
        std::vector<double> sums(bounds.fixed.size() + 2);
        terms->wide_sums(gamma, query.template reader<double>(), kOnePoint, &query.self,
                         sums.data());
        bounds.apply(sums.data(), *(sums.end() - 2), sums.back(), to);
        return true;
    }
};

// Whole multiples of 1 / multiple, for dense rows that these leave little of.
struct WholeStep {
    std::shared_ptr<const WholeTerms> terms;
    double gamma;  // of the whole numbers
    double multiple;
    double left;  // what a query may leave, as a norm
    SumBounds bounds;

    bool bound(const Query<DenseRows<double>>& query, const Interval& to) const {
        std::vector<std::int16_t> whole(static_cast<std::size_t>(query.rows.width));
        if (!is_rounded(query.rows.row(query.number), whole)) {
            return false;
        }
        std::vector<double> sums(bounds.fixed.size() + 2);
        terms->sums(static_cast<float>(gamma), whole.data(), 1, sums.data());
        bounds.apply(sums.data(), *(sums.end() - 2), sums.back(), to);
        return true;
    }
    template <class Rows>
    bool bound(const Query<Rows>&, const Interval&) const noexcept {
        return false;
    }

  private:
    // Writes the whole numbers; false where they leave too much, or are too large.
    bool is_rounded(const double* row, std::vector<std::int16_t>& whole) const noexcept {
        double square = 0.0;
        double off_square = 0.0;
        const std::size_t width = whole.size();
#pragma omp simd reduction(+ : square, off_square)
        for (std::size_t k = 0; k < width; ++k) {
            const double off = row[k] - std::rint(row[k] * multiple) / multiple;
            square += row[k] * row[k];
            off_square += off * off;
        }
        // Squared norms below 2^29 leave no number beyond 16 bits.
        const double norm = (std::sqrt(square) + left) * multiple;
        // A quotient is rounded once, and so is a difference.
        const double rest = 1.001 * (std::sqrt(off_square) + 0x1p-51 * std::sqrt(square));
        if (!(1.001 * norm * norm < static_cast<double>(kMostWholeSquare) && rest <= left)) {
            return false;
        }
        for (std::size_t k = 0; k < width; ++k) {
            whole[k] = static_cast<std::int16_t>(std::rint(row[k] * multiple));
        }
        return whole_square(whole.data(), static_cast<std::int64_t>(width)) < kMostWholeSquare;
    }
};

// The straight line of a table of kernel values, and what the digits of coefficients are worth; see
// tabled.py.
struct TableLine {
    double middle;
    double slope;
    double step;
    double factor;                    // of inner products
    bool is_distance;                 // whether a query's squared norm counts
    std::vector<double> sums;         // of coefficients, for every function
    std::vector<double> of_bases;     // of coefficients times what is known of the terms
    std::vector<double> direction;    // of coefficients times terms, feature by feature
    std::vector<double> digit_steps;  // two for every function
    std::vector<double> errors;
};

// A table of kernel values, for rows of small whole numbers.
struct TableStep {
    std::shared_ptr<const TabledTerms> terms;
    TableLine line;

    template <class Rows>
    bool bound(const Query<Rows>& query, const Interval& to) const {
        const std::size_t functions = line.sums.size();
        std::vector<std::int64_t> digits(2 * functions);
        std::int64_t self = 0;
        terms->evaluate(
            query.rows, [&](std::int64_t) { return query.number; }, 1, digits.data(), &self);
        if (self < 0) {
            return false;
        }
        std::vector<double> products(functions, 0.0);
        for_entries(query.rows, query.number, Centre<double>{},
                    [&](std::int64_t feature, double value) {
                        const double* of_feature =
                            line.direction.data() + static_cast<std::size_t>(feature) * functions;
                        for (std::size_t c = 0; c < functions; ++c) {
                            products[c] += value * of_feature[c];
                        }
                    });
        const double own = line.is_distance ? static_cast<double>(self) : 0.0;
        for (std::size_t c = 0; c < functions; ++c) {
            const double straight =
                line.of_bases[c] + line.factor * products[c] + own * line.sums[c];
            const double* steps = line.digit_steps.data() + 2 * c;
            const double rest = steps[0] * static_cast<double>(digits[2 * c]) +
                                steps[1] * static_cast<double>(digits[2 * c + 1]);
            const double value = to.intercept[c] + line.middle * line.sums[c] +
                                 line.slope * straight + line.step * rest;
            to.set(c, value, line.errors[c]);
        }
        return true;
    }
};

using FewStep = std::variant<ProductStep, DifferenceStep, WideStep, WholeStep, TableStep>;

}  // namespace hinge
