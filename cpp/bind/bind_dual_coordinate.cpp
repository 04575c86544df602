// Python's view of dual coordinate descent: a run over arrays that Python owns.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "hinge/dual_schedule.hpp"
#include "hinge/dual_state.hpp"
#include "hinge/random.hpp"
#include "rows_view.hpp"

namespace nb = nanobind;

namespace {

using hinge::binding::Array;
using hinge::binding::Matrix;
using hinge::binding::require;
using hinge::binding::require_length;

static_assert(sizeof(hinge::RowState) == 4 * sizeof(double));
static_assert(sizeof(hinge::Counters) % sizeof(std::int64_t) == 0);
static_assert(sizeof(hinge::Numbers) % sizeof(double) == 0);

constexpr std::size_t kCounters = sizeof(hinge::Counters) / sizeof(std::int64_t);
constexpr std::size_t kNumbers = sizeof(hinge::Numbers) / sizeof(double);
constexpr std::size_t kVectors = 5;
constexpr std::size_t kMostRows = std::size_t{1} << 32;

struct Arrays {
    Array<double, 2> rows;
    Array<double, 1> best_margins;
    Array<std::uint32_t, 1> order;
    Array<double, 2> vectors;
    Array<std::uint64_t, 1> random;
    Array<std::int64_t, 1> counters;
    Array<double, 1> numbers;
};

class AnyRun {
  public:
    virtual ~AnyRun() = default;
    virtual void start(bool warm, bool weights) = 0;
    virtual std::int64_t advance(std::int64_t work, std::int64_t steps) = 0;
    virtual double radius() const = 0;
    virtual double intercept() const = 0;
};

template <class Run>
class TypedRun final : public AnyRun {
  public:
    explicit TypedRun(const Run& run) : run_(run) {}
    void start(bool warm, bool weights) override { hinge::start(run_, warm, weights); }
    std::int64_t advance(std::int64_t work, std::int64_t steps) override {
        return hinge::advance(run_, work, steps);
    }
    double radius() const override { return hinge::settling_radius(run_); }
    double intercept() const override { return run_.intercept(); }

  private:
    Run run_;
};

struct Parts {
    hinge::DualProgram program;
    hinge::Schedule schedule;
    hinge::DualArrays at;
    hinge::Counters* counters;
    hinge::Numbers* numbers;
};

template <class Rows>
std::unique_ptr<AnyRun> make_run(const Rows& rows, const Parts& p) {
    if (p.program.curvature != 0.0) {
        using Run = hinge::DualRun<Rows, true>;
        return std::make_unique<TypedRun<Run>>(
            Run{rows, p.program, p.schedule, p.at, *p.counters, *p.numbers});
    }
    using Run = hinge::DualRun<Rows, false>;
    return std::make_unique<TypedRun<Run>>(
        Run{rows, p.program, p.schedule, p.at, *p.counters, *p.numbers});
}

// A run and the Python objects whose memory it works on.
class DualCoordinateRun {
  public:
    DualCoordinateRun(Matrix matrix, Array<const double, 1> costs, hinge::DualProgram program,
                      const hinge::Schedule& schedule, Arrays arrays)
        : matrix_(std::move(matrix)), costs_(std::move(costs)), arrays_(std::move(arrays)) {
        check_lengths();
        program.costs = costs_.data();
        program.cost_stride = costs_.size() == 1 ? 0 : 1;
        const Parts parts{program, schedule, views(), counters(), numbers()};
        run_ = hinge::binding::with_rows(
            matrix_, [&parts](const auto& rows) { return make_run(rows, parts); });
    }

    void start(bool warm, bool weights) { run_->start(warm, weights); }
    std::int64_t advance(std::int64_t work, std::int64_t steps) {
        return run_->advance(work, steps);
    }
    double primal() const { return numbers()->primal; }
    double dual() const { return numbers()->dual; }
    double offset() const { return numbers()->offset; }
    void set_offset(double offset) { numbers()->offset = offset; }
    double radius() const { return run_->radius(); }
    double intercept() const { return run_->intercept(); }
    std::pair<double, double> intercepts() const {
        return {numbers()->lowest_intercept, numbers()->highest_intercept};
    }
    void set_intercepts(std::pair<double, double> interval) {
        numbers()->lowest_intercept = interval.first;
        numbers()->highest_intercept = interval.second;
    }
    std::pair<std::int64_t, std::int64_t> on_trial() const { return hinge::on_trial(*counters()); }
    std::int64_t sweeps() const { return counters()->sweeps; }
    std::int64_t steps() const { return counters()->steps; }
    std::int64_t checks() const { return counters()->checks; }
    std::int64_t settled() const { return counters()->settled; }
    bool at_rest() const { return counters()->at_rest != 0 && counters()->inner_sweeps == 0; }

  private:
    void check_lengths() const {
        const auto count = static_cast<std::size_t>(matrix_.count);
        require(count < kMostRows, "at most 2^32 - 1 rows");
        require(costs_.size() == 1 || costs_.size() == count, "one cost, or one for every row");
        require(arrays_.rows.shape(0) == count && arrays_.rows.shape(1) == 4,
                "the row states must have shape (n_rows, 4)");
        require_length(arrays_.best_margins.size(), count, "best_margins");
        require_length(arrays_.order.size(), count, "order");
        require(arrays_.vectors.shape(0) == kVectors &&
                    arrays_.vectors.shape(1) == static_cast<std::size_t>(matrix_.width) + 1,
                "the vectors must have shape (5, n_features + 1)");
        require_length(arrays_.random.size(), 4, "random");
        require_length(arrays_.counters.size(), kCounters, "counters");
        require_length(arrays_.numbers.size(), kNumbers, "numbers");
        const char* const fault =
            hinge::fault_in_state(*counters(), arrays_.order.data(), matrix_.count);
        require(fault == nullptr, fault == nullptr ? "" : fault);
    }

    hinge::DualArrays views() const {
        double* const vectors = arrays_.vectors.data();
        const std::int64_t length = matrix_.width + 1;
        return {static_cast<hinge::RowState*>(static_cast<void*>(arrays_.rows.data())),
                arrays_.best_margins.data(),
                arrays_.order.data(),
                vectors,
                vectors + length,
                vectors + 2 * length,
                vectors + 3 * length,
                vectors + 4 * length,
                arrays_.random.data()};
    }
    hinge::Counters* counters() const {
        return static_cast<hinge::Counters*>(static_cast<void*>(arrays_.counters.data()));
    }
    hinge::Numbers* numbers() const {
        return static_cast<hinge::Numbers*>(static_cast<void*>(arrays_.numbers.data()));
    }

    Matrix matrix_;
    Array<const double, 1> costs_;
    Arrays arrays_;
    std::unique_ptr<AnyRun> run_;
};

}  // namespace

void bind_dual_coordinate(nb::module_& module) {
    using hinge::DualProgram;
    using hinge::Order;
    using hinge::Schedule;
    module.attr("dual_counters") = kCounters;
    module.attr("dual_numbers") = kNumbers;
    module.def("seeded_words", &hinge::seeded_words, nb::arg("seed"),
               "Return the four words of a random generator's state that a seed stands for.");

    nb::enum_<Order>(module, "Order", "In which order rows are visited.")
        .value("cyclic", Order::cyclic)
        .value("permuted", Order::permuted)
        .value("random", Order::random);

    nb::class_<Schedule>(module, "DualSchedule", "When dual coordinate descent does what.")
        .def(nb::init<>())
        .def_rw("order", &Schedule::order)
        .def_rw("shrinking", &Schedule::shrinking)
        .def_rw("screening", &Schedule::screening)
        .def_rw("extrapolation", &Schedule::extrapolation)
        .def_rw("aim", &Schedule::aim);

    nb::class_<DualProgram>(module, "DualProgram", "The quadratic program of a loss.")
        .def(
            "__init__",
            [](DualProgram* self, double linear, double curvature, double reach, double constant,
               double scale) {
                new (self) DualProgram{nullptr, 0, linear, curvature, reach, constant, scale};
            },
            nb::kw_only(), nb::arg("linear"), nb::arg("curvature"), nb::arg("reach"),
            nb::arg("constant"), nb::arg("scale"));

    nb::class_<Arrays>(module, "DualArrays", "The arrays that a run lives in.")
        .def(nb::init<Array<double, 2>, Array<double, 1>, Array<std::uint32_t, 1>, Array<double, 2>,
                      Array<std::uint64_t, 1>, Array<std::int64_t, 1>, Array<double, 1>>(),
             nb::kw_only(), nb::arg("rows").noconvert(), nb::arg("best_margins").noconvert(),
             nb::arg("order").noconvert(), nb::arg("vectors").noconvert(),
             nb::arg("random").noconvert(), nb::arg("counters").noconvert(),
             nb::arg("numbers").noconvert());

    const auto unlocked = nb::call_guard<nb::gil_scoped_release>();
    nb::class_<DualCoordinateRun>(module, "DualCoordinateRun",
                                  "Dual coordinate descent over arrays that the caller owns.")
        .def(nb::init<Matrix, Array<const double, 1>, DualProgram, const Schedule&, Arrays>(),
             nb::arg("matrix"), nb::arg("costs").noconvert(), nb::arg("program"),
             nb::arg("schedule"), nb::arg("arrays"))
        .def("start", &DualCoordinateRun::start, nb::arg("warm"), nb::arg("weights") = false,
             "Prepare the arrays; warm says whether they hold dual coefficients to start from, "
             "weights whether the best vector holds weights beside these.")
        .def("advance", &DualCoordinateRun::advance, nb::arg("work"),
             nb::arg("steps") = std::numeric_limits<std::int64_t>::max(), unlocked,
             "Do about this much work, less after a check pass; return how much was done.")
        .def_prop_rw("offset", &DualCoordinateRun::offset, &DualCoordinateRun::set_offset)
        .def_prop_rw("intercepts", &DualCoordinateRun::intercepts,
                     &DualCoordinateRun::set_intercepts)
        .def_prop_ro("intercept", &DualCoordinateRun::intercept)
        .def_prop_ro("radius", &DualCoordinateRun::radius)
        .def_prop_ro("primal", &DualCoordinateRun::primal)
        .def_prop_ro("dual", &DualCoordinateRun::dual)
        .def_prop_ro("on_trial", &DualCoordinateRun::on_trial)
        .def_prop_ro("sweeps", &DualCoordinateRun::sweeps)
        .def_prop_ro("steps", &DualCoordinateRun::steps)
        .def_prop_ro("checks", &DualCoordinateRun::checks)
        .def_prop_ro("settled", &DualCoordinateRun::settled)
        .def_prop_ro("at_rest", &DualCoordinateRun::at_rest);
}
