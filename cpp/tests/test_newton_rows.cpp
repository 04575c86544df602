// Newton's passes against plain loops over a dense copy of the rows.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "check.hpp"
#include "hinge/newton_rows.hpp"
#include "hinge/random.hpp"

namespace {

using hinge::Extent;
using hinge::LossWindow;
using hinge::NewtonPlace;
using hinge::testing::check_close;
using hinge::testing::check_equal;
using Vector = std::vector<double>;

constexpr std::int64_t kRows = 700;  // more than two chunks
constexpr Extent kPart{3, 650};
constexpr double kTolerance = 1e5 * std::numeric_limits<double>::epsilon();

double uniform(hinge::Random& random) {
    return static_cast<double>(random.next() >> 11) * 0x1.0p-52 - 1.0;
}

Vector uniforms(std::int64_t count, hinge::Random& random) {
    Vector values(static_cast<std::size_t>(count));
    for (double& value : values) {
        value = uniform(random);
    }
    return values;
}

// Rows, dense and sparse, and their numbers; half of the values are zero.
template <class Value>
struct Data {
    std::int64_t width;
    double constant;
    std::vector<Value> dense;
    std::vector<Value> values;
    std::vector<std::int32_t> columns;
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int8_t> signs;
    std::vector<std::uint8_t> exact = std::vector<std::uint8_t>(kRows, 1);
    Vector costs, squared_norms, margin, change, curvature, in_matrix, offset;

    Data(std::int64_t features, double feature, hinge::Random& random)
        : width(features), constant(feature) {
        for (std::int64_t i = 0; i < kRows; ++i) {
            double square = 0.0;
            for (std::int64_t k = 0; k < width; ++k) {
                const bool filled = (random.next() >> 40) % 2 == 0;
                dense.push_back(filled ? static_cast<Value>(uniform(random)) : Value{0});
                square += static_cast<double>(dense.back()) * static_cast<double>(dense.back());
                if (filled) {
                    values.push_back(dense.back());
                    columns.push_back(static_cast<std::int32_t>(k));
                }
            }
            offsets.push_back(static_cast<std::int64_t>(values.size()));
            squared_norms.push_back(square);
            signs.push_back(uniform(random) > 0.0 ? 1 : -1);
            costs.push_back(i % 7 == 0 ? 0.0 : 1.0 + uniform(random));
        }
        margin = uniforms(kRows, random);
        change = uniforms(kRows, random);
        curvature = Vector(kRows, 0.0);
        in_matrix = Vector(kRows, 0.0);
        for (std::int64_t i = 0; i < kRows; ++i) {
            offset.push_back(0.2 * static_cast<double>(i % 3));
        }
    }

    std::int64_t length() const { return width + (constant == 0.0 ? 0 : 1); }
    double entry(std::int64_t i, std::int64_t k) const {
        return k == width ? constant : static_cast<double>(dense[i * width + k]);
    }
    double margin_along(std::int64_t i, const Vector& v) const {
        double score = 0.0;
        for (std::int64_t k = 0; k < length(); ++k) {
            score += entry(i, k) * v[k];
        }
        return signs[i] * score;
    }
    hinge::DenseRows<Value> dense_rows() const { return {dense.data(), kRows, width}; }
    hinge::CsrRows<Value, std::int32_t> sparse_rows() const {
        return {values.data(), columns.data(), offsets.data(), true, kRows, width};
    }
    hinge::NewtonVariables variables(bool has_costs) {
        return {signs.data(),
                has_costs ? costs.data() : nullptr,
                1.5,
                squared_norms.data(),
                margin.data(),
                change.data(),
                curvature.data(),
                in_matrix.data(),
                exact.data(),
                offset.data()};
    }
};

double depth_of(const LossWindow& window, double margin) {
    return std::fmin(std::fmax(window.top - margin, 0.0), window.width);
}

// What is taken from a row's margin: something only where coefficients are held.
template <class Plain>
double offset_of(const Plain& data, const LossWindow& window, std::int64_t i) {
    return window.held.spread > 0.0 ? data.offset[i] : 0.0;
}

void check_all(const double* got, const Vector& want, const std::string& what) {
    for (std::size_t k = 0; k < want.size(); ++k) {
        check_close(got[k], want[k], kTolerance, what + " " + std::to_string(k));
    }
}

template <class Plain>
void test_derivatives(Plain& data, const LossWindow& window, const NewtonPlace& at, bool weighted,
                      const std::string& kind) {
    const hinge::NewtonVariables v = data.variables(weighted);
    for (const bool by_shift : {false, true}) {
        Vector want(3, 0.0);
        for (std::int64_t i = kPart.start; i < kPart.stop; ++i) {
            const double rate = by_shift ? data.signs[i] : data.change[i];
            const double moved =
                data.margin[i] + at.length * data.change[i] + at.shift * data.signs[i];
            const double depth = depth_of(window, moved);
            const double cost = at.ease * window.bend * (weighted ? data.costs[i] : 1.5);
            want[0] -= cost * depth * rate;
            want[1] += depth > 0.0 && depth < window.width ? cost * rate * rate : 0.0;
            want[2] += std::abs(cost * depth * rate);
        }
        hinge::DerivativeSums got;
        if (by_shift) {
            hinge::add_derivatives<true>(window, v, kPart, at, got);
        } else {
            hinge::add_derivatives<false>(window, v, kPart, at, got);
        }
        const double sums[] = {got.slope, got.curvature, got.size};
        check_all(sums, want, kind + " derivatives");
    }
}

template <class Rows, class Plain>
void test_gradient(Rows rows, const Plain& data, const LossWindow& window, const NewtonPlace& at,
                   bool weighted, const std::string& kind) {
    const std::int64_t n = data.length();
    Vector want(3 * n, 0.0), margins = data.margin, curvatures = data.curvature, sums(6, 0.0);
    for (std::int64_t i = kPart.start; i < kPart.stop; ++i) {
        const double cost = at.ease * window.bend * (weighted ? data.costs[i] : 1.5);
        const double end = depth_of(window, data.margin[i] + data.change[i]);
        margins[i] += at.length * data.change[i] + at.shift * data.signs[i];
        const double depth = depth_of(window, margins[i]);
        const bool inside = depth > 0.0 && depth < window.width;
        const bool foreseen = window.foresees && !inside && at.length > 0.0 &&
                              at.length < hinge::kShortStep && end > 0.0 && end < window.width;
        curvatures[i] = inside || foreseen ? cost : 0.0;
        const double beyond = foreseen ? cost * (depth - (window.top - margins[i])) : 0.0;
        for (std::int64_t k = 0; k < n; ++k) {
            const double x = data.entry(i, k);
            want[k] -= cost * depth * data.signs[i] * x;
            want[n + k] += curvatures[i] * x * x;
            want[2 * n + k] += beyond * data.signs[i] * x;
        }
        if (window.held.spread > 0.0) {
            const hinge::HeldLoss& loss = window.held;
            const double own = cost / window.bend;
            const double below = std::fmax(loss.top - margins[i] - data.offset[i], 0.0);
            const double inside = std::fmin(below, loss.width);
            sums[0] += own * 0.5 * loss.bend * inside * inside;
            sums[0] += std::isfinite(loss.width) ? own * loss.slope * (below - inside) : 0.0;
            const double away = window.bend * depth - data.offset[i] / loss.spread;
            sums[3] += own * loss.spread * away * away;
        } else {
            sums[0] += cost * depth * (window.top - margins[i] - 0.5 * depth);
            const double reach = window.top - 0.5 * window.width - margins[i];
            sums[3] +=
                std::isfinite(window.width) ? cost * window.width * std::max(reach, 0.0) : 0.0;
        }
        sums[1] += cost * depth;
        sums[2] += cost * depth * depth;
        sums[4] += curvatures[i] != 0.0 ? 1.0 : 0.0;
        sums[5] += curvatures[i] != data.in_matrix[i] ? 1.0 : 0.0;
    }
    Vector out(3 * n, 0.0);
    hinge::GradientSums got;
    rows.gradient(kPart, at, {out.data(), out.data() + n, out.data() + 2 * n}, got);
    check_all(out.data(), want, kind + " gradient");
    const double numbers[] = {got.losses,
                              got.slopes,
                              got.squares,
                              got.cornered,
                              static_cast<double>(got.curved),
                              static_cast<double>(got.changed)};
    check_all(numbers, sums, kind + " values");
    check_all(data.margin.data(), margins, kind + " margin");
    check_all(data.curvature.data(), curvatures, kind + " curvature");
}

// The change of the matrix, from rows that BLAS would multiply or summed up directly.
template <class Rows, class Plain>
void test_matrix(Rows rows, Plain& data, const std::string& kind) {
    const std::int64_t n = data.length();
    Vector want(n * n, 0.0), got(n * n, 0.0);
    for (std::int64_t i = kPart.start; i < kPart.stop; ++i) {
        for (std::int64_t k = 0; k < n * n; ++k) {
            const double change = data.curvature[i] - data.in_matrix[i];
            want[k] += k % n <= k / n ? change * data.entry(i, k / n) * data.entry(i, k % n) : 0.0;
        }
    }
    if constexpr (requires(typename Rows::View view) { view.columns; }) {
        rows.outer_changes(kPart, got.data());
    } else {
        const auto count = hinge::count_changed(data.variables(false), kPart);
        check_equal(count.come + count.gone > 0, true, kind + " changes");
        Vector scaled((count.come + count.gone) * n);
        rows.scaled_changes(kPart, count, scaled.data());
        for (std::int64_t i = 0; i < count.come + count.gone; ++i) {
            for (std::int64_t k = 0; k < n * n; ++k) {
                const double square = scaled[i * n + k / n] * scaled[i * n + k % n];
                got[k] += k % n > k / n ? 0.0 : i < count.come ? square : -square;
            }
        }
    }
    check_all(got.data(), want, kind + " matrix");
    for (std::int64_t i = 0; i < kRows; ++i) {
        const bool is_part = kPart.start <= i && i < kPart.stop;
        check_equal(!is_part || data.in_matrix[i] == data.curvature[i], true, kind + " taken over");
    }
}

constexpr std::int64_t kWide = 1500;  // features of dense rows that are worth passing by

// Margins that cannot reach the window get a bound, all others their exact change; and so do the
// former where rows are so short that all are sooner read than some.
template <class Rows, class Plain>
void test_trial(Rows rows, Plain& data, const LossWindow& window, hinge::Random& random,
                const std::string& kind) {
    const Vector weights = uniforms(data.length(), random);
    Vector direction = uniforms(data.length(), random);
    double norm = 0.0;
    for (std::int64_t k = 0; k < data.width; ++k) {
        direction[k] *= data.width < kWide ? 0.2 : 1e-4;
        norm += direction[k] * direction[k];
    }
    const double last = data.constant == 0.0 ? 0.0 : data.constant * direction[data.width];
    const hinge::NewtonReach reach{std::sqrt(norm), last, 2.0, 0.01};
    for (std::int64_t i = 0; i < kRows; ++i) {
        data.margin[i] *= 4.0;
        data.exact[i] = i % 2 == 0 ? 1 : 0;
    }
    const Vector before = data.margin;
    const std::int64_t n_read = rows.trial(kPart, weights.data(), direction.data(), reach);
    std::int64_t n_exact = 0;
    for (std::int64_t i = kPart.start; i < kPart.stop; ++i) {
        const double exact = data.margin_along(i, direction);
        if (data.exact[i] != 0) {
            ++n_exact;
            const double anew = data.margin_along(i, weights) - offset_of(data, window, i);
            const double known = i % 2 == 0 ? before[i] : anew;
            check_close(data.margin[i], known, kTolerance, kind + " margin before the step");
            check_close(data.change[i], exact, kTolerance, kind + " change");
        } else {
            check_equal(data.change[i] <= exact + kTolerance, true, kind + " lower bound");
            const double lowest = before[i] + 2.0 * std::fmin(data.change[i], 0.0) - 0.01;
            check_equal(lowest > window.top, true, kind + " row that cannot matter");
        }
    }
    check_equal(n_read, n_exact, kind + " rows read");
    const std::int64_t n_rows = kPart.stop - kPart.start;
    if (kind.starts_with("dense") && data.width < kWide) {
        check_equal(n_read, n_rows, kind + " all of them");
    } else {
        check_equal(0 < n_read && n_read < n_rows, true, kind + " some of them");
    }
}

template <class View, class Plain>
void test_passes(const View& view, Plain data, const LossWindow& window, hinge::Random& random,
                 const std::string& kind) {
    for (const bool weighted : {false, true}) {
        hinge::NewtonRows<View> rows(view, window, data.variables(weighted), data.constant);
        const Vector weights = uniforms(data.length(), random);
        rows.measure({0, kRows}, weights.data());
        for (std::int64_t i = 0; i < kRows; ++i) {
            const double margin = data.margin_along(i, weights) - offset_of(data, window, i);
            check_close(data.margin[i], margin, kTolerance, kind + " score");
        }
        for (double& change : data.change) {
            change = uniform(random);
        }
        for (const NewtonPlace at : {NewtonPlace{1.0, 0.0, 1.0}, NewtonPlace{0.3, -0.2, 0.5}}) {
            test_derivatives(data, window, at, weighted, kind);
            test_gradient(rows, data, window, at, weighted, kind);
            test_matrix(rows, data, kind);
        }
        Vector want(data.length(), 0.0);
        for (std::int64_t i = kPart.start; i < kPart.stop; ++i) {
            const double along = data.signs[i] * data.margin_along(i, weights);
            for (std::int64_t k = 0; k < data.length(); ++k) {
                want[k] += data.curvature[i] * along * data.entry(i, k);
            }
        }
        Vector got(data.length(), 0.0);
        rows.product(kPart, weights.data(), got.data());
        check_all(got.data(), want, kind + " product");
        test_trial(rows, data, window, random, kind);
    }
}

template <class Value>
void test_wide(const std::string& type, hinge::Random& random) {
    const LossWindow window{1.0, 0.5, 2.0};
    Data<Value> data(kWide, 1.0, random);
    data.margin = uniforms(kRows, random);
    hinge::NewtonRows rows(data.dense_rows(), window, data.variables(false), data.constant);
    test_trial(rows, data, window, random, "dense wide " + type);
}

template <class Value>
void test_type(const std::string& type, hinge::Random& random) {
    test_wide<Value>(type, random);
    for (const std::int64_t width : {1, 5, 17}) {
        for (const double constant : {0.0, 1.0, 2.5}) {
            // Two losses as they are; a hinge, a Huber and a squared hinge whose coefficients are
            // held.
            for (const LossWindow& window :
                 {LossWindow{1.0, HUGE_VAL, 2.0}, LossWindow{1.0, 0.5, 2.0},
                  LossWindow{1.01, 0.25, 4.0, false, {0.25, 1.0, 0.0, 0.0, 1.0}},
                  LossWindow{1.0, 0.75, 1.0 / 0.75, false, {0.25, 1.0, 0.5, 2.0, 1.0}},
                  LossWindow{1.0, HUGE_VAL, 1.0, false, {0.5, 1.0, HUGE_VAL, 2.0, 0.0}}}) {
                const Data<Value> data(width, constant, random);
                const std::string kind = type + " of " + std::to_string(width);
                test_passes(data.dense_rows(), data, window, random, "dense " + kind);
                test_passes(data.sparse_rows(), data, window, random, "sparse " + kind);
            }
        }
    }
}

}  // namespace

int main() {
    auto words = hinge::seeded_words(12);
    hinge::Random random(words.data());
    test_type<double>("double", random);
    test_type<float>("float", random);
    return hinge::testing::finish();
}
