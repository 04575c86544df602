// Python's view of rounds of decomposition on pairs of classes that share kernel rows.
#include <nanobind/stl/tuple.h>

#include <tuple>
#include <vector>

#include "hinge/class_rows.hpp"
#include "hinge/pair_rows.hpp"
#include "hinge/resident_rounds.hpp"
#include "kernel_rows.hpp"
#include "resident_program.hpp"

namespace nb = nanobind;

namespace {

using hinge::Selection;
using hinge::binding::Array;
using hinge::binding::KernelRows;
using hinge::binding::Mutable;
using hinge::binding::Numbers;
using hinge::binding::require;
using hinge::binding::require_length;
using hinge::binding::ResidentProgram;

// The rows of one class, of those of a matrix, with the kernel rows that pairs share.
class ClassOfRows {
  public:
    ClassOfRows(const KernelRows<float>& rows, Numbers numbers, std::int64_t room)
        : rows_(rows), shared_(packed(rows, numbers), {numbers.data(), end(numbers)}, room) {}

    const KernelRows<float>& rows() const noexcept { return rows_; }
    hinge::ClassRows& shared() noexcept { return shared_; }

  private:
    static const std::int64_t* end(const Numbers& numbers) noexcept {
        return numbers.data() + numbers.size();
    }
    static hinge::TermPanels<float> packed(const KernelRows<float>& rows, const Numbers& numbers) {
        require(rows.kernel().is_of_products(), "a kernel of products is symmetric to the bit");
        const Selection chosen = rows.points(numbers, 0, numbers.size());
        const nb::gil_scoped_release unlocked;
        return rows.panels(chosen);
    }

    const KernelRows<float>& rows_;
    hinge::ClassRows shared_;
};

// Kernel values by the rows of the matrix.
class Values {
  public:
    explicit Values(const KernelRows<float>& rows) : rows_(rows) {}

    void block(const std::vector<std::int64_t>& terms, const std::vector<std::int64_t>& points,
               float* const* rows) const {
        rows_.fill(selection(terms), selection(points), rows);
    }
    void at(const std::vector<std::int64_t>& terms, const hinge::TermPanels<float>& points,
            float* const* rows) const {
        rows_.fill_at(selection(terms), points, rows);
    }

  private:
    static Selection selection(const std::vector<std::int64_t>& numbers) noexcept {
        return {numbers.data(), 0, static_cast<std::int64_t>(numbers.size())};
    }

    const KernelRows<float>& rows_;
};

// Steps, kernel values as if none were shared, why it has ended, and both ends of the gradient.
using Ending = std::tuple<std::int64_t, std::int64_t, std::int64_t, double, double>;

// The problem of two classes on its way to the optimum.
class PairRun {
  public:
    PairRun(ClassOfRows& first, ClassOfRows& second, ResidentProgram program, Mutable beta,
            Mutable scores, const hinge::RoundLimits& limits)
        : program_(std::move(program)),
          beta_(std::move(beta)),
          scores_(std::move(scores)),
          values_(first.rows()),
          rows_(first.shared(), second.shared(), values_),
          rounds_(checked(first, second), limits, {}, rows_) {}

    // Does a bounded number of rounds.
    Ending advance() {
        const nb::gil_scoped_release unlocked;
        const hinge::RoundsEnd end = rounds_.run();
        return {end.steps, end.computed, static_cast<std::int64_t>(end.stop), end.up, end.down};
    }

  private:
    hinge::ResidentProgram checked(ClassOfRows& first, ClassOfRows& second) const {
        require(&first.rows() == &second.rows(), "both classes must be of the same matrix");
        const auto count = static_cast<std::size_t>(rows_.count());
        require_length(beta_.size(), count, "beta");
        require_length(scores_.size(), count, "scores");
        program_.check(count);
        return program_.view(beta_, scores_);
    }

    ResidentProgram program_;
    Mutable beta_;
    Mutable scores_;
    Values values_;
    hinge::PairRows<Values> rows_;
    hinge::ResidentRounds<hinge::PairRows<Values>> rounds_;
};

}  // namespace

void bind_class_pairs(nb::module_& module) {
    nb::class_<ClassOfRows>(module, "ClassOfRows", "The rows of a class, which pairs share.")
        .def(nb::init<const KernelRows<float>&, Numbers, std::int64_t>(), nb::keep_alive<1, 2>(),
             nb::arg("rows"), nb::arg("numbers").noconvert(), nb::arg("room"));
    nb::class_<PairRun>(module, "PairRun", "The problem of two classes, while it is solved.")
        .def(nb::init<ClassOfRows&, ClassOfRows&, ResidentProgram, Mutable, Mutable,
                      const hinge::RoundLimits&>(),
             nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::arg("first"), nb::arg("second"),
             nb::arg("program"), nb::arg("beta").noconvert(), nb::arg("scores").noconvert(),
             nb::arg("limits"))
        .def("advance", &PairRun::advance,
             "Do some rounds; return steps and kernel values so far, why it has ended, and the "
             "gradient where it is worst: of what may grow, of what may shrink.");
}
