// Python's view of rounds of decomposition on small problems.
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "hinge/resident_rounds.hpp"
#include "hinge/resident_slots.hpp"
#include "kernel_rows.hpp"
#include "resident_program.hpp"

namespace nb = nanobind;

namespace {

using hinge::Selection;
using hinge::binding::Array;
using hinge::binding::Floats;
using hinge::binding::KernelRows;
using hinge::binding::Mutable;
using hinge::binding::Numbers;
using hinge::binding::require;
using hinge::binding::require_length;
using hinge::binding::ResidentProgram;
using MutableNumbers = Array<std::int64_t, 1>;

// Kernel rows by slot, with room for every row of the problem.
struct Slots {
    Array<float, 2> rows;
    MutableNumbers slot_of;
    MutableNumbers kept;
    MutableNumbers used;
    Array<bool, 1> is_written;
    std::int64_t clock;

    // Native code follows these numbers: they must belong together.
    void check(std::size_t count) const {
        require(rows.shape(0) == count && rows.shape(1) == count, "a slot for every row");
        require_length(slot_of.size(), count, "slot_of");
        require_length(kept.size(), count, "kept");
        require_length(used.size(), count, "used");
        require_length(is_written.size(), count, "is_written");
        const auto size = static_cast<std::int64_t>(count);
        std::int64_t found = 0;
        for (std::size_t row = 0; row < count; ++row) {
            const std::int64_t slot = slot_of(row);
            require(slot < size, "a slot must be among those that there are");
            if (slot >= 0) {
                const auto at = static_cast<std::size_t>(slot);
                require(kept(at) == static_cast<std::int64_t>(row) && is_written(at),
                        "a kept row must be written to its slot");
                ++found;
            }
        }
        for (std::size_t slot = 0; slot < count; ++slot) {
            found -= kept(slot) >= 0 ? 1 : 0;
        }
        require(found == 0, "every slot that is taken must be that of its row");
    }
};

// The kernel values of a problem whose rows are some of those of a matrix.
class Values {
  public:
    Values(const KernelRows<float>& rows, const std::optional<Numbers>& numbers)
        : rows_(rows), numbers_(numbers ? numbers->data() : nullptr) {}

    void operator()(const std::int64_t* ids, std::int64_t count, const std::int64_t* columns,
                    std::int64_t n_columns, float* const* out) {
        const Selection terms = selection(ids, count, terms_);
        const Selection points = columns == nullptr ? Selection{numbers_, 0, n_columns}
                                                    : selection(columns, n_columns, points_);
        rows_.fill(terms, points, out);
    }

  private:
    Selection selection(const std::int64_t* ids, std::int64_t count,
                        std::vector<std::int64_t>& buffer) const {
        if (numbers_ == nullptr) {
            return {ids, 0, count};
        }
        buffer.clear();
        for (std::int64_t k = 0; k < count; ++k) {
            buffer.push_back(numbers_[ids[k]]);
        }
        return {buffer.data(), 0, count};
    }

    const KernelRows<float>& rows_;
    const std::int64_t* numbers_;
    std::vector<std::int64_t> terms_;
    std::vector<std::int64_t> points_;
};

// Rounds, steps, kernel values computed, why it has ended, and the size of the last set.
using Ending = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

Ending solve_rounds(const KernelRows<float>& rows, std::optional<Numbers> numbers,
                    const ResidentProgram& program, const Slots& slots, Mutable beta,
                    Mutable scores, const hinge::RoundLimits& limits, MutableNumbers last_set,
                    std::int64_t last_size) {
    const std::size_t count = beta.size();
    const auto size = static_cast<std::int64_t>(count);
    require_length(scores.size(), count, "scores");
    require_length(last_set.size(), count, "last_set");
    program.check(count);
    slots.check(count);
    rows.points(numbers, 0, count);
    require(last_size >= 0 && last_size <= size, "the last set must be of these rows");
    std::vector<std::int64_t> previous(last_set.data(), last_set.data() + last_size);
    for (const std::int64_t row : previous) {
        require(row >= 0 && row < size, "the last set must be of these rows");
    }
    const nb::gil_scoped_release unlocked;
    Values values(rows, numbers);
    hinge::SlotRows kept({slots.rows.data(), slots.slot_of.data(), slots.kept.data(),
                          slots.used.data(), slots.is_written.data(), slots.clock},
                         size, values);
    hinge::ResidentRounds rounds(program.view(beta, scores), limits, std::move(previous), kept);
    const hinge::RoundsEnd end = rounds.run();
    const auto& last = rounds.last_set();
    std::copy(last.begin(), last.end(), last_set.data());
    return {end.rounds, end.steps, end.computed, static_cast<std::int64_t>(end.stop),
            static_cast<std::int64_t>(last.size())};
}

}  // namespace

void bind_resident_rounds(nb::module_& module) {
    nb::class_<ResidentProgram>(module, "ResidentProgram", "The dual program of a small problem.")
        .def(nb::init<Floats, Floats, Floats, Floats, Array<const bool, 1>, bool>(),
             nb::arg("linear").noconvert(), nb::arg("diagonal").noconvert(),
             nb::arg("lower").noconvert(), nb::arg("upper").noconvert(),
             nb::arg("settled").noconvert(), nb::arg("is_balanced"));
    nb::class_<Slots>(module, "ResidentSlots", "Kernel rows, with room for all.")
        .def(nb::init<Array<float, 2>, MutableNumbers, MutableNumbers, MutableNumbers,
                      Array<bool, 1>, std::int64_t>(),
             nb::arg("rows").noconvert(), nb::arg("slot_of").noconvert(),
             nb::arg("kept").noconvert(), nb::arg("used").noconvert(),
             nb::arg("is_written").noconvert(), nb::arg("clock"));
    nb::class_<hinge::RoundLimits>(module, "RoundLimits", "How far rounds may go.")
        .def(nb::init<double, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                      std::int64_t, std::int64_t>(),
             nb::arg("aim"), nb::arg("fewest"), nb::arg("most"), nb::arg("steps"),
             nb::arg("set_steps"), nb::arg("stored"), nb::arg("work"), nb::arg("round_work"));
    module.def("solve_rounds", &solve_rounds, nb::arg("rows"),
               nb::arg("numbers").noconvert().none(), nb::arg("program"), nb::arg("slots"),
               nb::arg("beta").noconvert(), nb::arg("scores").noconvert(), nb::arg("limits"),
               nb::arg("last_set").noconvert(), nb::arg("last_size"),
               "Improve the coefficients by rounds on working sets; return rounds, steps, kernel "
               "values, why it has ended, and how many rows of last_set are the last set.");
}
