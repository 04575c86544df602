// Python's view of the interior point method's passes: rows and variables that Python owns.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "hinge/interior_rows.hpp"
#include "panels.hpp"

namespace nb = nanobind;

namespace {

using hinge::binding::Array;
using hinge::binding::Matrix;
using hinge::binding::Panels;
using hinge::binding::require;
using Vector = Array<double, 1>;
using Numbers = Array<const double, 1>;
using Signs = Array<const std::int8_t, 1>;
using Table = Array<double, 2>;
using SingleTable = Array<float, 2>;
using Rule = std::array<double, 2>;  // of a matrix: tau, and the least weight of a row in it

constexpr std::size_t kVariables = sizeof(hinge::PathVariables) / sizeof(double*);
constexpr std::int64_t kVectors = 3;  // sums of rows that come with the matrix
constexpr std::int64_t kValues = 3;   // sums that objective values are made of

void require_length(std::size_t got, std::int64_t want, const char* name) {
    hinge::binding::require_length(got, static_cast<std::size_t>(want), name);
}

// What is known of the rows, and what the method makes of it.
struct InteriorArrays {
    Signs signs;
    std::optional<Numbers> costs;
    Table variables;
};

// What the passes do, whatever the rows are.
class AnyPasses {
  public:
    virtual ~AnyPasses() = default;
    virtual std::int64_t width() const = 0;
    virtual void measure(hinge::Extent, const double*, double*, hinge::ValueSums&) = 0;
    virtual double trial(hinge::Extent, const double*, double, double) = 0;
    virtual double search(hinge::Extent, double, double) = 0;
    virtual void settle(hinge::Extent, double) = 0;
    virtual void affine(hinge::Extent, const double*, double*, hinge::MoveSums&) = 0;
    virtual double final(hinge::Extent, const double*, double, double*) = 0;
    virtual void refine(hinge::Extent, double, double, double*) = 0;
    virtual void update(hinge::Extent, double, double, hinge::ValueSums&) = 0;
    virtual std::int64_t scaled(hinge::Extent, hinge::MatrixRule, double*, double*) = 0;
    virtual std::int64_t scaled(hinge::Extent, hinge::MatrixRule, double*, float*) = 0;
    virtual void outer(hinge::Extent, hinge::MatrixRule, double*, double*) = 0;
};

template <class Rows>
class Passes final : public AnyPasses {
  public:
    explicit Passes(const Rows& rows) : rows_(rows) {}
    std::int64_t width() const override { return rows_.width(); }
    void measure(hinge::Extent e, const double* w, double* out, hinge::ValueSums& s) override {
        rows_.measure(e, w, out, s);
    }
    double trial(hinge::Extent e, const double* z, double tau, double length) override {
        return rows_.trial(e, z, tau, length);
    }
    double search(hinge::Extent e, double tau, double length) override {
        return rows_.search(e, tau, length);
    }
    void settle(hinge::Extent e, double length) override { rows_.settle(e, length); }
    void affine(hinge::Extent e, const double* z, double* out, hinge::MoveSums& s) override {
        rows_.follow_affine(e, z, out, s);
    }
    double final(hinge::Extent e, const double* z, double tau, double* out) override {
        return rows_.follow_corrected(e, z, tau, out);
    }
    void refine(hinge::Extent e, double tau, double length, double* out) override {
        rows_.refine(e, tau, length, out);
    }
    void update(hinge::Extent e, double tau, double length, hinge::ValueSums& s) override {
        rows_.update(e, tau, length, s);
    }
    std::int64_t scaled(hinge::Extent e, hinge::MatrixRule rule, double* vectors,
                        double* out) override {
        return rows_.scaled_rows(e, rule, vectors, out);
    }
    std::int64_t scaled(hinge::Extent e, hinge::MatrixRule rule, double* vectors,
                        float* out) override {
        return rows_.scaled_rows(e, rule, vectors, out);
    }
    void outer(hinge::Extent e, hinge::MatrixRule rule, double* vectors, double* out) override {
        rows_.outer_products(e, rule, vectors, out);
    }

  private:
    Rows rows_;
};

struct Setting {
    hinge::RowNumbers numbers;
    hinge::PathProgram program;
    hinge::PathVariables variables;
    double constant;
};

template <class Rows>
std::unique_ptr<AnyPasses> make_passes(const Rows& rows, const Setting& s) {
    if (s.program.curvature != 0.0) {
        using Curved = hinge::InteriorRows<Rows, false>;
        return std::make_unique<Passes<Curved>>(
            Curved(rows, s.numbers, s.program, s.variables, s.constant));
    }
    using Bounded = hinge::InteriorRows<Rows, true>;
    return std::make_unique<Passes<Bounded>>(
        Bounded(rows, s.numbers, s.program, s.variables, s.constant));
}

// The passes, and the Python objects whose memory they work on.
class InteriorPasses {
  public:
    InteriorPasses(Matrix matrix, InteriorArrays arrays, hinge::PathProgram program, double cost,
                   double constant)
        : matrix_(std::move(matrix)), arrays_(std::move(arrays)) {
        const std::int64_t count = matrix_.count;
        require(count >= 0 && matrix_.width >= 0, "the rows must have a shape");
        require_length(arrays_.signs.size(), count, "signs");
        require(arrays_.variables.shape(0) == kVariables &&
                    arrays_.variables.shape(1) >= static_cast<std::size_t>(count),
                "the variables must have shape (8, n_rows) at the least");
        if (arrays_.costs) {
            require_length(arrays_.costs->size(), count, "costs");
        }
        const hinge::RowNumbers numbers{arrays_.signs.data(),
                                        arrays_.costs ? arrays_.costs->data() : nullptr, cost};
        const Setting setting{numbers, program, variables(), constant};
        passes_ = hinge::binding::with_rows(
            matrix_, [&](const auto& rows) { return make_passes(rows, setting); });
    }

    void measure(std::int64_t start, std::int64_t stop, std::int64_t size, Numbers weights,
                 Table sums, std::int64_t threads) {
        const std::int64_t n = passes_->width();
        const Panels panels =
            checked({within(start, stop), size}, weights, "the weights", sums, n + kValues);
        panels.share_out(threads, [&](hinge::Extent rows, std::int64_t panel) {
            double* const at = Panels::row_of(sums, panel);
            hinge::ValueSums values;
            passes_->measure(rows, weights.data(), at, values);
            store(values, at + n);
        });
    }
    void trial(std::int64_t start, std::int64_t stop, std::int64_t size, Numbers direction,
               std::array<double, 2> tau_and_length, Table sums, std::int64_t threads) {
        const double tau = tau_and_length[0];
        const double length = tau_and_length[1];
        const Panels panels =
            checked({within(start, stop), size}, direction, "the direction", sums, 1);
        panels.share_out(threads, [&](hinge::Extent rows, std::int64_t panel) {
            sums.data()[panel] = passes_->trial(rows, direction.data(), tau, length);
        });
    }
    void search(std::int64_t start, std::int64_t stop, std::int64_t size, double tau, double length,
                Table sums, std::int64_t threads) {
        const Panels panels{within(start, stop), size};
        panels.require_sums(sums, 1);
        panels.share_out(threads, [&](hinge::Extent rows, std::int64_t panel) {
            sums.data()[panel] = passes_->search(rows, tau, length);
        });
    }
    void settle(std::int64_t start, std::int64_t stop, std::int64_t size, double length,
                std::int64_t threads) {
        const Panels panels{within(start, stop), size};
        panels.share_out(threads,
                         [&](hinge::Extent rows, std::int64_t) { passes_->settle(rows, length); });
    }
    void affine(std::int64_t start, std::int64_t stop, std::int64_t size, Numbers direction,
                Table sums, Vector peaks, std::int64_t threads) {
        const std::int64_t n = passes_->width();
        const Panels panels =
            checked({within(start, stop), size}, direction, "the direction", sums, n + kValues);
        require_length(peaks.size(), panels.count(), "the peaks");
        panels.share_out(threads, [&](hinge::Extent rows, std::int64_t panel) {
            double* const at = Panels::row_of(sums, panel);
            hinge::MoveSums move;
            passes_->affine(rows, direction.data(), at, move);
            at[n] = move.now;
            at[n + 1] = move.first;
            at[n + 2] = move.second;
            peaks.data()[panel] = move.peak;
        });
    }
    void final(std::int64_t start, std::int64_t stop, std::int64_t size, Numbers direction,
               double tau, Table sums, Vector peaks, std::int64_t threads) {
        const Panels panels = checked({within(start, stop), size}, direction, "the direction", sums,
                                      passes_->width());
        require_length(peaks.size(), panels.count(), "the peaks");
        panels.share_out(threads, [&](hinge::Extent rows, std::int64_t panel) {
            peaks.data()[panel] =
                passes_->final(rows, direction.data(), tau, Panels::row_of(sums, panel));
        });
    }
    void refine(std::int64_t start, std::int64_t stop, std::int64_t size, double tau, double length,
                Table sums, std::int64_t threads) {
        const Panels panels{within(start, stop), size};
        panels.require_sums(sums, static_cast<std::size_t>(passes_->width()));
        panels.share_out(threads, [&](hinge::Extent rows, std::int64_t panel) {
            passes_->refine(rows, tau, length, Panels::row_of(sums, panel));
        });
    }
    void update(std::int64_t start, std::int64_t stop, std::int64_t size, double tau, double length,
                Table sums, std::int64_t threads) {
        const Panels panels{within(start, stop), size};
        panels.require_sums(sums, kValues + 1);
        panels.share_out(threads, [&](hinge::Extent rows, std::int64_t panel) {
            double* const at = Panels::row_of(sums, panel);
            hinge::ValueSums values;
            passes_->update(rows, tau, length, values);
            store(values, at);
            at[kValues] = values.products;
        });
    }
    template <class Out>
    std::int64_t scaled(std::int64_t start, std::int64_t stop, Rule rule, Vector sums, Out out) {
        const hinge::Extent rows = within(start, stop);
        require_length(sums.size(), kVectors * passes_->width(), "the sums");
        require_length(out.shape(1), passes_->width(), "a scaled row");
        require(out.shape(0) >= static_cast<std::size_t>(stop - start), "too few scaled rows");
        return passes_->scaled(rows, {rule[0], rule[1]}, sums.data(), out.data());
    }
    void outer(std::int64_t start, std::int64_t stop, Rule rule, Vector sums, Table out) {
        const hinge::Extent rows = within(start, stop);
        require_length(sums.size(), kVectors * passes_->width(), "the sums");
        require_length(out.shape(0), passes_->width(), "the matrix");
        require_length(out.shape(1), passes_->width(), "the matrix");
        passes_->outer(rows, {rule[0], rule[1]}, sums.data(), out.data());
    }

  private:
    hinge::PathVariables variables() const {
        double* const at = arrays_.variables.data();
        const std::size_t n = arrays_.variables.shape(1);
        return {at, at + n, at + 2 * n, at + 3 * n, at + 4 * n, at + 5 * n, at + 6 * n, at + 7 * n};
    }
    hinge::Extent within(std::int64_t start, std::int64_t stop) const {
        require(0 <= start && start <= stop && stop <= matrix_.count, "no such rows");
        return {start, stop};
    }
    Panels checked(const Panels& panels, const Numbers& vector, const char* name, const Table& sums,
                   std::int64_t n_sums) const {
        require_length(vector.size(), passes_->width(), name);
        panels.require_sums(sums, static_cast<std::size_t>(n_sums));
        return panels;
    }
    static void store(const hinge::ValueSums& values, double* at) {
        at[0] = values.losses;
        at[1] = values.alpha;
        at[2] = values.bent;
    }

    Matrix matrix_;
    InteriorArrays arrays_;
    std::unique_ptr<AnyPasses> passes_;
};

}  // namespace

void bind_interior_rows(nb::module_& module) {
    using hinge::PathProgram;
    nb::class_<PathProgram>(module, "PathProgram", "The dual program of a loss.")
        .def(nb::init<double, double, double>(), nb::arg("linear"), nb::arg("curvature"),
             nb::arg("reach"));
    nb::class_<InteriorArrays>(module, "InteriorArrays", "Labels, costs and variables of the rows.")
        .def(nb::init<Signs, std::optional<Numbers>, Table>(), nb::arg("signs").noconvert(),
             nb::arg("costs").noconvert().none(), nb::arg("variables").noconvert());

    const auto unlocked = nb::call_guard<nb::gil_scoped_release>();
    nb::class_<InteriorPasses>(module, "InteriorPasses",
                               "Passes of the interior point method over consecutive rows.")
        .def(nb::init<Matrix, InteriorArrays, PathProgram, double, double>(), nb::arg("matrix"),
             nb::arg("arrays"), nb::arg("program"), nb::arg("cost"), nb::arg("constant"))
        .def("measure", &InteriorPasses::measure, unlocked)
        .def("trial", &InteriorPasses::trial, unlocked)
        .def("search", &InteriorPasses::search, unlocked)
        .def("settle", &InteriorPasses::settle, unlocked)
        .def("affine", &InteriorPasses::affine, unlocked)
        .def("final", &InteriorPasses::final, unlocked)
        .def("refine", &InteriorPasses::refine, unlocked)
        .def("update", &InteriorPasses::update, unlocked)
        .def("scaled", &InteriorPasses::scaled<Table>, unlocked)
        .def("scaled_single", &InteriorPasses::scaled<SingleTable>, unlocked)
        .def("outer", &InteriorPasses::outer, unlocked);
}
