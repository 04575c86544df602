// Python's view of margins and their sums: stateless functions over arrays that Python owns.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "any_rows.hpp"
#include "hinge/margin_pass.hpp"
#include "hinge/row_moments.hpp"
#include "hinge/sorted_margins.hpp"

namespace nb = nanobind;

namespace {

using hinge::binding::AnyRows;
using hinge::binding::require;
using hinge::binding::require_entries;
using hinge::binding::Vector;

constexpr std::int64_t kSums = 4;
static_assert(sizeof(hinge::PassSums) == kSums * sizeof(double));

std::int64_t length(std::size_t size) {
    return static_cast<std::int64_t>(size);
}

bool all_below(const std::uint32_t* numbers, std::int64_t count, std::int64_t limit) {
    std::uint32_t largest = 0;
    for (std::int64_t k = 0; k < count; ++k) {
        largest = std::max(largest, numbers[k]);
    }
    return count == 0 || static_cast<std::int64_t>(largest) < limit;
}

hinge::PassSums& as_sums(const Vector<double>& sums) {
    return *static_cast<hinge::PassSums*>(static_cast<void*>(sums.data()));
}

// Rows with their labels and weights.
class LabelledRows {
  public:
    LabelledRows(AnyRows rows, Vector<const std::int8_t> signs, Vector<const double> weights)
        : rows_(std::move(rows)), signs_(std::move(signs)), weights_(std::move(weights)) {
        require_entries(signs_.size(), rows_.count(), "signs");
        require(weights_.size() == 1 || length(weights_.size()) == rows_.count(),
                "one weight, or one for every row");
    }

    void pass_over_range(Vector<const double> w, double b, const hinge::LossPieces& loss,
                         std::pair<std::int64_t, std::int64_t> range, Vector<double> margins,
                         Vector<double> linear, Vector<double> curved, Vector<double> sums) const {
        const auto [begin, end] = range;
        require(0 <= begin && begin <= end && end <= rows_.count(), "a range of the rows");
        require_entries(margins.size(), rows_.count(), "margins");
        require_entries(w.size(), rows_.width(), "w");
        require_entries(linear.size(), rows_.width(), "linear");
        require_entries(curved.size(), rows_.width(), "curved");
        require_entries(sums.size(), kSums, "sums");
        rows_.visit([&, begin = begin, end = end](const auto& rows) {
            hinge::pass_over_range(rows, labels(), {w.data(), b}, loss, begin, end, margins.data(),
                                   linear.data(), curved.data(), as_sums(sums));
        });
    }

    void pass_over_list(Vector<const double> w, double b, const hinge::LossPieces& loss,
                        Vector<const std::uint32_t> list,
                        std::pair<std::int64_t, std::int64_t> range, Vector<const double> stored,
                        Vector<double> descent, double factor, Vector<double> sums) const {
        const auto [begin, end] = range;
        require(0 <= begin && begin <= end && end <= length(list.size()), "a range of the list");
        require_listed(list, begin);
        require_entries(stored.size(), rows_.count(), "stored");
        require_entries(w.size(), rows_.width(), "w");
        require_entries(descent.size(), rows_.width(), "descent");
        require_entries(sums.size(), kSums, "sums");
        rows_.visit([&, begin = begin, end = end](const auto& rows) {
            hinge::pass_over_list(rows, labels(), {w.data(), b}, loss, list.data(), begin, end,
                                  length(list.size()), stored.data(), {descent.data(), factor},
                                  as_sums(sums));
        });
    }

    void margins_of_list(Vector<const double> w, double b, Vector<const std::uint32_t> list,
                         Vector<double> margins) const {
        require_listed(list, 0);
        require_entries(w.size(), rows_.width(), "w");
        require_entries(margins.size(), length(list.size()), "margins");
        rows_.visit([&](const auto& rows) {
            hinge::margins_of_list(rows, labels(), {w.data(), b}, list.data(), length(list.size()),
                                   margins.data());
        });
    }

    void sum_of_list(Vector<const std::uint32_t> list, Vector<double> total) const {
        require_listed(list, 0);
        require_entries(total.size(), rows_.width(), "total");
        rows_.visit([&](const auto& rows) {
            hinge::sum_of_list(rows, labels(), list.data(), length(list.size()), total.data());
        });
    }

    void moments_of_list(Vector<const std::uint32_t> list, double scale, Vector<double> moments,
                         Vector<double> sums) const {
        require_listed(list, 0);
        const std::int64_t side = rows_.width() + 1;
        require_entries(moments.size(), side * side, "moments");
        require_entries(sums.size(), side, "sums");
        rows_.visit([&](const auto& rows) {
            hinge::moments_of_list(rows, labels(), list.data(), length(list.size()), scale,
                                   moments.data(), sums.data());
        });
    }

  private:
    // A list is checked once, by the call that begins at its beginning: it costs a read of it.
    void require_listed(const Vector<const std::uint32_t>& list, std::int64_t begin) const {
        if (begin != 0) {
            return;
        }
        require(all_below(list.data(), length(list.size()), rows_.count()),
                "the list names a row that is not there");
    }

    hinge::RowLabels labels() const {
        return {signs_.data(), weights_.data(), weights_.size() == 1 ? 0 : 1};
    }

    AnyRows rows_;
    Vector<const std::int8_t> signs_;
    Vector<const double> weights_;
};

// The arrays of positions, whose lengths agree.
class CellPositions {
  public:
    CellPositions(Vector<const std::uint32_t> order, Vector<const float> keys,
                  std::optional<Vector<const float>> slopes,
                  std::optional<Vector<const float>> distances, Vector<const std::int64_t> starts,
                  bool sorted)
        : order_(std::move(order)),
          keys_(std::move(keys)),
          slopes_(std::move(slopes)),
          distances_(std::move(distances)),
          starts_(std::move(starts)),
          sorted_(sorted) {
        const std::int64_t count = length(order_.size());
        require_entries(keys_.size(), count, "keys");
        require(!slopes_ || length(slopes_->size()) == count, "one slope for every row");
        require(!distances_ || length(distances_->size()) == count, "one distance for every row");
        require(starts_.size() >= 1 && starts_.data()[0] == 0, "the first cell begins at 0");
        for (std::size_t cell = 1; cell < starts_.size(); ++cell) {
            require(starts_.data()[cell - 1] <= starts_.data()[cell], "cells follow in order");
        }
        require(starts_.data()[starts_.size() - 1] == count, "the cells hold every row");
    }

    hinge::Positions view() const {
        return {order_.data(),
                keys_.data(),
                slopes_ ? slopes_->data() : nullptr,
                distances_ ? distances_->data() : nullptr,
                starts_.data(),
                length(starts_.size()) - 1,
                sorted_};
    }
    std::int64_t count() const { return length(order_.size()); }

  private:
    Vector<const std::uint32_t> order_;
    Vector<const float> keys_;
    std::optional<Vector<const float>> slopes_;
    std::optional<Vector<const float>> distances_;
    Vector<const std::int64_t> starts_;
    bool sorted_;
};

// Per cell the shift, the spread, the rounding and the steepest slope, as rows of one array.
using CellTable = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

struct Movement {
    double length;
    double along;
    double slope_error;
    double store_error;
};

hinge::CellChanges changes(const CellTable& table, const Movement& movement,
                           const hinge::Positions& at) {
    require(table.shape(0) == 4 && length(table.shape(1)) == at.cells,
            "the table of cells must have shape (4, n_cells)");
    const double* const data = table.data();
    return {data,
            data + at.cells,
            data + 2 * at.cells,
            data + 3 * at.cells,
            movement.length,
            movement.along,
            movement.slope_error,
            movement.store_error};
}

std::int64_t open_rows(const CellPositions& positions, CellTable table, const Movement& movement,
                       std::pair<double, double> window, hinge::Range span,
                       Vector<std::uint32_t> open) {
    const auto [begin, end] = span;
    require(0 <= begin && begin <= end && end <= positions.count(), "a span of the positions");
    require(length(open.size()) > end - begin, "open has a place too few");
    const hinge::Positions at = positions.view();
    return hinge::open_rows(at, changes(table, movement, at), {window.first, window.second}, span,
                            open.data());
}

void lower_bounds(const CellPositions& positions, CellTable table, const Movement& movement,
                  Vector<double> lowest) {
    require_entries(lowest.size(), positions.count(), "lowest");
    const hinge::Positions at = positions.view();
    hinge::lower_bounds(at, changes(table, movement, at), lowest.data());
}

std::int64_t violators(const CellPositions& positions, CellTable table, const Movement& movement,
                       Vector<const std::int8_t> signs, Vector<const std::uint8_t> allowed,
                       std::pair<double, double> limits, Vector<std::uint32_t> rows) {
    require(length(rows.size()) > positions.count(), "rows has a place too few");
    require(signs.size() == allowed.size(), "one label and one flag for every row");
    const hinge::Positions at = positions.view();
    require(all_below(at.order, positions.count(), length(signs.size())),
            "the order names a row that is not there");
    return hinge::violators(at, changes(table, movement, at), signs.data(), allowed.data(),
                            {limits.first, limits.second}, rows.data());
}

void sort_run(Vector<const float> keys, Vector<std::uint32_t> places) {
    require(length(keys.size()) <= hinge::kSortedRun, "more keys than a run has");
    require_entries(places.size(), length(keys.size()), "places");
    hinge::sorted_places(keys.data(), length(keys.size()), places.data());
}

double fill_positions(Vector<const double> margins, std::optional<Vector<const double>> before,
                      Vector<const std::int8_t> signs, double intercept_step,
                      Vector<const std::uint32_t> order,
                      std::pair<std::int64_t, std::int64_t> range, Vector<float> keys,
                      std::optional<Vector<float>> slopes) {
    const std::int64_t count = length(margins.size());
    const std::int64_t places = length(order.size());
    const auto [begin, end] = range;
    require(0 <= begin && begin <= end && end <= places, "a range of the positions");
    require(!before || length(before->size()) == count, "one margin before for every row");
    require(!slopes == !before, "slopes go with margins before");
    require(!slopes || length(slopes->size()) == places, "one slope for every position");
    require_entries(signs.size(), count, "signs");
    require_entries(keys.size(), places, "keys");
    require(all_below(order.data() + begin, end - begin, count),
            "the order names a row that is not there");
    const hinge::MarginHistory history{margins.data(), before ? before->data() : nullptr,
                                       signs.data(), intercept_step};
    return hinge::fill_positions(history, order.data(), begin, end, keys.data(),
                                 slopes ? slopes->data() : nullptr);
}

void bind_positions(nb::module_& module) {
    const auto unlocked = nb::call_guard<nb::gil_scoped_release>();
    nb::class_<CellPositions>(module, "CellPositions", "Rows cell by cell, with stored margins.")
        .def(nb::init<Vector<const std::uint32_t>, Vector<const float>,
                      std::optional<Vector<const float>>, std::optional<Vector<const float>>,
                      Vector<const std::int64_t>, bool>(),
             nb::arg("order").noconvert(), nb::arg("keys").noconvert(),
             nb::arg("slopes").noconvert().none(), nb::arg("distances").noconvert().none(),
             nb::arg("starts").noconvert(), nb::arg("sorted"));
    nb::class_<Movement>(module, "Movement", "How far the weights are from the stored ones.")
        .def(nb::init<double, double, double, double>(), nb::arg("length"), nb::arg("along"),
             nb::arg("slope_error"), nb::arg("store_error"))
        .def_ro("length", &Movement::length)
        .def_ro("along", &Movement::along)
        .def_ro("slope_error", &Movement::slope_error)
        .def_ro("store_error", &Movement::store_error);
    module.def("open_rows", &open_rows, nb::arg("positions"), nb::arg("table").noconvert(),
               nb::arg("movement"), nb::arg("window"), nb::arg("span"), nb::arg("open").noconvert(),
               unlocked,
               "List the rows of a span that may have left their side of the window; count them.");
    module.attr("sorted_run") = hinge::kSortedRun;
    module.def("lower_bounds", &lower_bounds, nb::arg("positions"), nb::arg("table").noconvert(),
               nb::arg("movement"), nb::arg("lowest").noconvert(), unlocked,
               "Write a lower bound on the margin at every position.");
    module.def("violators", &violators, nb::arg("positions"), nb::arg("table").noconvert(),
               nb::arg("movement"), nb::arg("signs").noconvert(), nb::arg("allowed").noconvert(),
               nb::arg("limits"), nb::arg("rows").noconvert(), unlocked,
               "List the rows that may rise or fall by more than known ones; count them.");
    module.def("sort_run", &sort_run, nb::arg("keys").noconvert(), nb::arg("places").noconvert(),
               unlocked, "Write the places of a run in the order of their keys.");
    module.def("fill_positions", &fill_positions, nb::arg("margins").noconvert(),
               nb::arg("before").noconvert().none(), nb::arg("signs").noconvert(),
               nb::arg("intercept_step"), nb::arg("order").noconvert(), nb::arg("range"),
               nb::arg("keys").noconvert(), nb::arg("slopes").noconvert().none(), unlocked,
               "Fill keys and slopes of a range of positions; return the largest slope.");
}

}  // namespace

void bind_sorted_margins(nb::module_& module) {
    const auto unlocked = nb::call_guard<nb::gil_scoped_release>();
    using hinge::binding::AnyVector;
    nb::class_<AnyRows>(module, "AnyRows", "Rows in the caller's memory, dense or CSR.")
        .def(nb::init<AnyVector, std::optional<AnyVector>, std::optional<AnyVector>, std::int64_t,
                      std::int64_t>(),
             nb::arg("values").noconvert(), nb::arg("columns").noconvert().none(),
             nb::arg("offsets").noconvert().none(), nb::arg("count"), nb::arg("width"));
    nb::class_<hinge::LossPieces>(module, "LossPieces",
                                  "A loss: one piece, then a parabola, then 0.")
        .def(nb::init<double, double, double, double, double, bool, double>(), nb::arg("low"),
             nb::arg("high"), nb::arg("level"), nb::arg("slope"), nb::arg("curvature"),
             nb::arg("tie_errs"), nb::arg("bend"));
    nb::class_<LabelledRows>(module, "LabelledRows", "Rows with labels and weights.")
        .def(nb::init<AnyRows, Vector<const std::int8_t>, Vector<const double>>(), nb::arg("rows"),
             nb::arg("signs").noconvert(), nb::arg("weights").noconvert())
        .def("pass_over_range", &LabelledRows::pass_over_range, nb::arg("w").noconvert(),
             nb::arg("b"), nb::arg("loss"), nb::arg("range"), nb::arg("margins").noconvert(),
             nb::arg("linear").noconvert(), nb::arg("curved").noconvert(),
             nb::arg("sums").noconvert(), unlocked,
             "Add up a loss over a range of rows, and store their margins.")
        .def("pass_over_list", &LabelledRows::pass_over_list, nb::arg("w").noconvert(),
             nb::arg("b"), nb::arg("loss"), nb::arg("list").noconvert(), nb::arg("range"),
             nb::arg("stored").noconvert(), nb::arg("descent").noconvert(), nb::arg("factor"),
             nb::arg("sums").noconvert(), unlocked,
             "Add up what listed rows change since their margins were stored.")
        .def("margins_of_list", &LabelledRows::margins_of_list, nb::arg("w").noconvert(),
             nb::arg("b"), nb::arg("list").noconvert(), nb::arg("margins").noconvert(), unlocked,
             "Write the margins of listed rows.")
        .def("sum_of_list", &LabelledRows::sum_of_list, nb::arg("list").noconvert(),
             nb::arg("total").noconvert(), unlocked,
             "Add up listed rows, each times its weight and label.")
        .def("moments_of_list", &LabelledRows::moments_of_list, nb::arg("list").noconvert(),
             nb::arg("scale"), nb::arg("moments").noconvert(), nb::arg("sums").noconvert(),
             unlocked, "Add up second moments of listed rows (lower half), and labelled rows.");
    bind_positions(module);
}
