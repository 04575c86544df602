// Python's view of stochastic subgradient descent: one function over arrays that Python owns.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <utility>

#include "any_rows.hpp"
#include "hinge/stochastic.hpp"

namespace nb = nanobind;

namespace {

using hinge::binding::AnyRows;
using hinge::binding::require;
using hinge::binding::require_entries;
using hinge::binding::Vector;

template <class Value>
using Table = nb::ndarray<Value, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

constexpr std::int64_t kCounters = sizeof(hinge::StochasticCounters) / sizeof(std::int64_t);
constexpr std::int64_t kNumbers = sizeof(hinge::StochasticNumbers) / sizeof(double);
constexpr std::size_t kVectors = 4;
static_assert(sizeof(hinge::KnownMargin) == 2 * sizeof(float));

std::int64_t length(std::size_t size) {
    return static_cast<std::int64_t>(size);
}

// The arrays that a run lives in; checked when they are joined with rows.
struct StochasticMemory {
    Table<float> known;
    Vector<double> coefficients;
    Vector<std::uint32_t> order;
    Table<double> vectors;
    Vector<std::uint64_t> random;
    Vector<std::int64_t> counters;
    Vector<double> numbers;
};

class StochasticRun {
  public:
    StochasticRun(AnyRows rows, Vector<const std::int8_t> signs, Vector<const double> weights,
                  Vector<const double> squared_norms, const hinge::StochasticSettings& settings,
                  StochasticMemory arrays, Vector<std::uint32_t> scratch)
        : rows_(std::move(rows)),
          signs_(std::move(signs)),
          weights_(std::move(weights)),
          squared_norms_(std::move(squared_norms)),
          settings_(settings),
          arrays_(std::move(arrays)),
          scratch_(std::move(scratch)) {
        check_rows();
        check_state();
    }

    std::int64_t advance(std::int64_t work, std::int64_t last_step) const {
        std::int64_t done = 0;
        const hinge::StochasticLabels labels{signs_.data(), weights_.data(),
                                             weights_.size() == 1 ? 0 : 1, squared_norms_.data()};
        const hinge::StochasticArrays at = views();
        rows_.visit([&](const auto& rows) {
            hinge::StochasticRun run(rows, settings_, labels, at, counters(), numbers());
            done = run.advance(work, last_step);
        });
        return done;
    }

    std::int64_t step() const { return counters().step; }
    std::int64_t examined() const { return counters().examined; }
    std::int64_t refreshes() const { return counters().refreshes; }
    double scale() const { return numbers().scale; }

  private:
    void check_rows() const {
        require_entries(signs_.size(), rows_.count(), "signs");
        require_entries(squared_norms_.size(), rows_.count(), "squared_norms");
        require(weights_.size() == 1 || length(weights_.size()) == rows_.count(),
                "one weight, or one for every row");
        require(settings_.batch > 0, "a batch has at least one row");
        require(settings_.round > 0, "a round has at least one step");
        require_entries(scratch_.size(), 2 * settings_.batch, "scratch");
    }

    void check_state() const {
        const std::int64_t count = rows_.count();
        require(length(arrays_.known.shape(0)) == count && arrays_.known.shape(1) == 2,
                "the known margins must have shape (n_rows, 2)");
        require_entries(arrays_.coefficients.size(), count, "coefficients");
        require(arrays_.vectors.shape(0) == kVectors &&
                    length(arrays_.vectors.shape(1)) == rows_.width() + 1,
                "the vectors must have shape (4, n_features + 1)");
        require_entries(arrays_.random.size(), 4, "random");
        require_entries(arrays_.counters.size(), kCounters, "counters");
        require_entries(arrays_.numbers.size(), kNumbers, "numbers");
        require(arrays_.order.size() > 0, "at least one row can be drawn");
        for (std::size_t k = 0; k < arrays_.order.size(); ++k) {
            require(arrays_.order.data()[k] < count, "the order names a row that is not there");
        }
        const hinge::StochasticCounters& c = counters();
        require(0 <= c.position && c.position < length(arrays_.order.size()),
                "the position lies in the order");
        require(0 <= c.refreshed && c.refreshed <= count, "at most all rows are refreshed");
        require(hinge::kWatching <= c.phase && c.phase <= hinge::kPruning, "a known phase");
        require(0 <= c.step, "steps are counted from 0");
    }

    hinge::StochasticArrays views() const {
        double* const vectors = arrays_.vectors.data();
        const std::int64_t width = rows_.width() + 1;
        return {static_cast<hinge::KnownMargin*>(static_cast<void*>(arrays_.known.data())),
                arrays_.coefficients.data(),
                arrays_.order.data(),
                length(arrays_.order.size()),
                vectors,
                vectors + width,
                vectors + 2 * width,
                vectors + 3 * width,
                scratch_.data(),
                arrays_.random.data()};
    }
    hinge::StochasticCounters& counters() const {
        return *static_cast<hinge::StochasticCounters*>(
            static_cast<void*>(arrays_.counters.data()));
    }
    hinge::StochasticNumbers& numbers() const {
        return *static_cast<hinge::StochasticNumbers*>(static_cast<void*>(arrays_.numbers.data()));
    }

    AnyRows rows_;
    Vector<const std::int8_t> signs_;
    Vector<const double> weights_;
    Vector<const double> squared_norms_;
    hinge::StochasticSettings settings_;
    StochasticMemory arrays_;
    Vector<std::uint32_t> scratch_;
};

void bind_settings(nb::module_& module) {
    using hinge::StochasticSettings;
    nb::class_<StochasticSettings>(module, "StochasticSettings", "How Pegasos runs.")
        .def(nb::init<>())
        .def_rw("penalty", &StochasticSettings::penalty)
        .def_rw("constant", &StochasticSettings::constant)
        .def_rw("share", &StochasticSettings::share)
        .def_rw("largest_norm", &StochasticSettings::largest_norm)
        .def_rw("row_price", &StochasticSettings::row_price)
        .def_rw("skip_price", &StochasticSettings::skip_price)
        .def_rw("refresh_price", &StochasticSettings::refresh_price)
        .def_rw("batch", &StochasticSettings::batch)
        .def_rw("round", &StochasticSettings::round)
        .def_rw("projects", &StochasticSettings::projects)
        .def_rw("replaces", &StochasticSettings::replaces)
        .def_rw("prunes", &StochasticSettings::prunes)
        .def_rw("accumulates", &StochasticSettings::accumulates);
}

}  // namespace

void bind_stochastic(nb::module_& module) {
    module.attr("stochastic_counters") = kCounters;
    module.attr("stochastic_numbers") = kNumbers;
    bind_settings(module);
    nb::class_<StochasticMemory>(module, "StochasticArrays", "The arrays that a run lives in.")
        .def(nb::init<Table<float>, Vector<double>, Vector<std::uint32_t>, Table<double>,
                      Vector<std::uint64_t>, Vector<std::int64_t>, Vector<double>>(),
             nb::kw_only(), nb::arg("known").noconvert(), nb::arg("coefficients").noconvert(),
             nb::arg("order").noconvert(), nb::arg("vectors").noconvert(),
             nb::arg("random").noconvert(), nb::arg("counters").noconvert(),
             nb::arg("numbers").noconvert());
    nb::class_<StochasticRun>(module, "StochasticRun", "Pegasos over arrays that Python owns.")
        .def(
            nb::init<AnyRows, Vector<const std::int8_t>, Vector<const double>, Vector<const double>,
                     const hinge::StochasticSettings&, StochasticMemory, Vector<std::uint32_t>>(),
            nb::kw_only(), nb::arg("rows"), nb::arg("signs").noconvert(),
            nb::arg("weights").noconvert(), nb::arg("squared_norms").noconvert(),
            nb::arg("settings"), nb::arg("arrays"), nb::arg("scratch").noconvert())
        .def("advance", &StochasticRun::advance, nb::arg("work"), nb::arg("last_step"),
             nb::call_guard<nb::gil_scoped_release>(),
             "Do about this much work, at least one step; return how much was done.")
        .def_prop_ro("step", &StochasticRun::step)
        .def_prop_ro("examined", &StochasticRun::examined)
        .def_prop_ro("refreshes", &StochasticRun::refreshes)
        .def_prop_ro("scale", &StochasticRun::scale);
}
