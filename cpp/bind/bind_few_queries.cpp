// Python's view of the labels of a few queries.
#include "few_rows.hpp"
#include "hinge/few_queries.hpp"
#include "packed_terms.hpp"

namespace nb = nanobind;

namespace {

using hinge::FewLimits;
using hinge::FewStep;
using hinge::LabelRule;
using hinge::SumBounds;
using hinge::binding::AnyArray;
using hinge::binding::Array;
using hinge::binding::FewRows;
using hinge::binding::require;
using hinge::binding::require_length;
using hinge::binding::TabledRows;
using hinge::binding::TermsInFloat;
using hinge::binding::TermsInWholeNumbers;

using Doubles = Array<const double, 1>;

constexpr std::int64_t kNotCanonical = -1;  // instead of how many rows are open
constexpr std::int64_t kMostClasses = 1 << 16;

std::vector<double> vector_of(const Doubles& from) {
    return {from.data(), from.data() + from.size()};
}

LabelRule rule_of(const std::string& name) {
    if (name == "sign") {
        return LabelRule::kSign;
    }
    if (name == "strict sign") {
        return LabelRule::kStrictSign;
    }
    if (name == "largest") {
        return LabelRule::kLargest;
    }
    require(name == "votes", [&] { return "no rule is called " + name; });
    return LabelRule::kVotes;
}

void require_functions(LabelRule rule, std::int64_t classes, std::int64_t functions) {
    require(functions > 0, "at least one function");
    require(rule != LabelRule::kVotes ||
                (classes > 1 && classes < kMostClasses && functions == classes * (classes - 1) / 2),
            "a function for every pair of classes");
}

class FewQueries {
  public:
    FewQueries(std::int64_t width, double wide, double narrow, std::int64_t stored,
               const Doubles& full, const Doubles& intercept,
               const std::optional<Doubles>& wide_centre,
               const std::optional<Doubles>& narrow_centre, const std::string& rule,
               std::int64_t classes)
        : few_(FewLimits{wide, narrow, stored, vector_of(full), vector_of(intercept),
                         centre(wide_centre, width), centre(narrow_centre, width), rule_of(rule),
                         classes}),
          width_(width) {
        require_functions(rule_of(rule), classes, static_cast<std::int64_t>(intercept.size()));
        require_length(full.size(), intercept.size(), "full");
    }

    void add_products(std::int64_t tier, const TermsInFloat& terms, double gamma, double slope,
                      double share, const Doubles& fixed) {
        require_terms(terms);
        few_.add(tier, hinge::ProductStep{terms.terms(), gamma, bounds_of(slope, share, fixed)});
    }
    void add_differences(std::int64_t tier, const TermsInFloat& terms, double gamma, double slope,
                         double share, const Doubles& fixed) {
        require_direct(terms);
        few_.add(tier, hinge::DifferenceStep{terms.terms(), gamma, bounds_of(slope, share, fixed)});
    }
    void add_wide(std::int64_t tier, const TermsInFloat& terms, double gamma, double slope,
                  double share, const Doubles& fixed) {
        require_direct(terms);
        few_.add(tier, hinge::WideStep{terms.terms(), gamma, bounds_of(slope, share, fixed)});
    }
    void add_whole(std::int64_t tier, const TermsInWholeNumbers& terms, double gamma,
                   double multiple, double left, double slope, double share, const Doubles& fixed) {
        require(terms.terms()->width() == width_ && terms.terms()->functions() == few_.functions(),
                "terms must have as many features, and a coefficient for every function");
        few_.add(tier, hinge::WholeStep{terms.terms(), gamma, multiple, left,
                                        bounds_of(slope, share, fixed)});
    }
    void add_table(std::int64_t tier, const TabledRows& terms, double middle, double slope,
                   double step, double factor, bool is_distance, const Doubles& sums,
                   const Doubles& of_bases, const Array<const double, 2>& direction,
                   const Array<const double, 2>& digit_steps, const Doubles& errors) {
        const auto functions = static_cast<std::size_t>(few_.functions());
        require(terms.terms()->width() == width_ && terms.terms()->sums() == 2 * few_.functions(),
                "terms must have as many features, and two digits for every function");
        require_length(sums.size(), functions, "sums");
        require_length(of_bases.size(), functions, "of_bases");
        require_length(errors.size(), functions, "errors");
        require(direction.shape(0) == static_cast<std::size_t>(width_) &&
                    direction.shape(1) == functions,
                "a direction for every feature and function");
        require(digit_steps.shape(0) == functions && digit_steps.shape(1) == 2,
                "two steps for every function");
        few_.add(tier,
                 hinge::TableStep{terms.terms(),
                                  {middle,
                                   slope,
                                   step,
                                   factor,
                                   is_distance,
                                   vector_of(sums),
                                   vector_of(of_bases),
                                   {direction.data(), direction.data() + direction.size()},
                                   {digit_steps.data(), digit_steps.data() + digit_steps.size()},
                                   vector_of(errors)}});
    }

    // Returns how many rows are open; -1 if the arrays are not those of canonical rows.
    std::int64_t codes(const AnyArray& values, const std::optional<AnyArray>& columns,
                       const std::optional<AnyArray>& offsets, Array<std::int64_t, 1> out) const {
        FewRows rows;
        const auto count = static_cast<std::int64_t>(out.size());
        const nb::gil_scoped_release unlocked;
        if (!rows.read(values, columns, offsets, count, width_)) {
            return kNotCanonical;
        }
        return rows.visit([&](const auto& view) { return few_.codes(view, out.data()); });
    }

    // Writes what one step proves of the true values; returns for how many rows, from the first on.
    std::int64_t bounds(std::size_t step, const AnyArray& values,
                        const std::optional<AnyArray>& columns,
                        const std::optional<AnyArray>& offsets, Array<double, 2> lower,
                        Array<double, 2> upper) const {
        require(step < few_.steps(), "there is no such step");
        const auto count = static_cast<std::int64_t>(lower.shape(0));
        require(static_cast<std::int64_t>(lower.shape(1)) == few_.functions() &&
                    upper.shape(0) == lower.shape(0) && upper.shape(1) == lower.shape(1),
                "a bound for every row and function");
        FewRows rows;
        require(rows.read(values, columns, offsets, count, width_), "the rows must be canonical");
        return rows.visit([&](const auto& view) {
            std::int64_t i = 0;
            while (i < count && few_.bounds(view, i, step, lower.data() + i * few_.functions(),
                                            upper.data() + i * few_.functions())) {
                ++i;
            }
            return i;
        });
    }

  private:
    static std::vector<double> centre(const std::optional<Doubles>& from, std::int64_t width) {
        require(!from || from->size() == static_cast<std::size_t>(width),
                "one number of a centre for every feature");
        return from ? vector_of(*from) : std::vector<double>{};
    }

    SumBounds bounds_of(double slope, double share, const Doubles& fixed) const {
        require_length(fixed.size(), static_cast<std::size_t>(few_.functions()), "fixed");
        return {slope, share, vector_of(fixed)};
    }

    void require_terms(const TermsInFloat& terms) const {
        require(terms.width() == width_ && terms.terms()->functions() == few_.functions() &&
                    !terms.is_scaled(),
                "terms must have as many features, a coefficient for every function, no scale");
    }
    void require_direct(const TermsInFloat& terms) const {
        require_terms(terms);
        require(terms.terms()->is_direct(), "these sums are for kernels of few features");
    }

    hinge::FewQueries few_;
    std::int64_t width_;
};

// Writes the code that the bounds of every row prove, -1 where they prove none.
void proven_codes(const std::string& rule, std::int64_t classes,
                  const Array<const double, 2>& lower, const Array<const double, 2>& upper,
                  Array<std::int64_t, 1> out) {
    const LabelRule kind = rule_of(rule);
    const auto functions = static_cast<std::int64_t>(lower.shape(1));
    require_functions(kind, classes, functions);
    require(upper.shape(0) == lower.shape(0) && upper.shape(1) == lower.shape(1),
            "a lower and an upper bound for every row and function");
    require_length(out.size(), lower.shape(0), "out");
    for (std::size_t i = 0; i < out.size(); ++i) {
        const std::size_t at = i * lower.shape(1);
        out.data()[i] =
            hinge::proven_code(kind, classes, lower.data() + at, upper.data() + at, functions);
    }
}

}  // namespace

void bind_few_queries(nb::module_& module) {
    using Self = FewQueries;
    const auto sums = [](auto& bound, const char* name, auto method, const char* text) {
        bound.def(name, method, nb::arg("tier"), nb::arg("terms"), nb::arg("gamma"),
                  nb::arg("slope"), nb::arg("share"), nb::arg("fixed").noconvert(), text);
    };
    nb::class_<Self> few(module, "FewQueries", "Labels of a few queries of a Gaussian machine.");
    few.def(nb::init<std::int64_t, double, double, std::int64_t, const Doubles&, const Doubles&,
                     const std::optional<Doubles>&, const std::optional<Doubles>&,
                     const std::string&, std::int64_t>(),
            nb::arg("width"), nb::arg("wide"), nb::arg("narrow"), nb::arg("stored"),
            nb::arg("full").noconvert(), nb::arg("intercept").noconvert(),
            nb::arg("wide_centre").noconvert().none(), nb::arg("narrow_centre").noconvert().none(),
            nb::arg("rule"), nb::arg("classes"));
    sums(few, "add_products", &Self::add_products, "Add sums by inner products in float32.");
    sums(few, "add_differences", &Self::add_differences, "Add sums by differences in float32.");
    sums(few, "add_wide", &Self::add_wide, "Add sums in float64 over terms of float32.");
    few.def("add_whole", &Self::add_whole, nb::arg("tier"), nb::arg("terms"), nb::arg("gamma"),
            nb::arg("multiple"), nb::arg("left"), nb::arg("slope"), nb::arg("share"),
            nb::arg("fixed").noconvert(), "Add sums over whole multiples.");
    few.def("add_table", &Self::add_table, nb::arg("tier"), nb::arg("terms"), nb::arg("middle"),
            nb::arg("slope"), nb::arg("step"), nb::arg("factor"), nb::arg("is_distance"),
            nb::arg("sums").noconvert(), nb::arg("of_bases").noconvert(),
            nb::arg("direction").noconvert(), nb::arg("digit_steps").noconvert(),
            nb::arg("errors").noconvert(), "Add sums by a table of kernel values.");
    few.def("codes", &Self::codes, nb::arg("values"), nb::arg("columns").none(),
            nb::arg("offsets").none(), nb::arg("out").noconvert(),
            "Write the code of every row, -1 where it is open; return how many are open, or -1 if "
            "the rows are not canonical.");
    few.def("bounds", &Self::bounds, nb::arg("step"), nb::arg("values"), nb::arg("columns").none(),
            nb::arg("offsets").none(), nb::arg("lower").noconvert(), nb::arg("upper").noconvert(),
            "Write what a step proves of true values; return for how many rows from the first on.");
    module.def("proven_codes", &proven_codes, nb::arg("rule"), nb::arg("classes"),
               nb::arg("lower").noconvert(), nb::arg("upper").noconvert(),
               nb::arg("out").noconvert(), "Write the code that bounds prove, -1 where none.");
}
