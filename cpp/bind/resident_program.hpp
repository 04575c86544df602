// The dual program of a small problem as Python has it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hinge/resident_rounds.hpp"
#include "rows_view.hpp"

namespace hinge::binding {

using Floats = Array<const double, 1>;
using Mutable = Array<double, 1>;

// The program, in the order of the rows of the problem.
struct ResidentProgram {
    Floats linear;
    Floats diagonal;
    Floats lower;
    Floats upper;
    Array<const bool, 1> settled;
    bool is_balanced;

    void check(std::size_t count) const {
        require_length(linear.size(), count, "linear");
        require_length(diagonal.size(), count, "diagonal");
        require_length(lower.size(), count, "lower");
        require_length(upper.size(), count, "upper");
        require_length(settled.size(), count, "settled");
    }

    // The program with its variables, which the caller owns.
    hinge::ResidentProgram view(const Mutable& beta, const Mutable& scores) const {
        return {static_cast<std::int64_t>(beta.size()),
                linear.data(),
                diagonal.data(),
                lower.data(),
                upper.data(),
                settled.data(),
                beta.data(),
                scores.data(),
                is_balanced};
    }
};

}  // namespace hinge::binding
