// The least that a C++ test needs: checks that report where they failed, and a main that cannot
// pass without having checked anything.
//
//     int main() {
//         hinge::testing::check_equal(add(1, 2), 3, "one and two");
//         return hinge::testing::finish();
//     }
#pragma once

#include <cmath>
#include <cstdio>
#include <source_location>
#include <sstream>
#include <string>
#include <string_view>

namespace hinge::testing {

struct Tally {
    long checks = 0;
    long failures = 0;
};

inline Tally& tally() {
    static Tally counts;
    return counts;
}

// Counts one check; prints what failed and where, and goes on, so that a run shows every failure.
inline void check(bool holds, std::string_view what,
                  std::source_location where = std::source_location::current()) {
    ++tally().checks;
    if (holds) {
        return;
    }
    ++tally().failures;
    std::fprintf(stderr, "%s:%u: in %s: %.*s\n", where.file_name(),
                 static_cast<unsigned>(where.line()), where.function_name(),
                 static_cast<int>(what.size()), what.data());
}

template <typename Got, typename Want>
std::string difference(std::string_view what, const Got& got, const Want& want) {
    std::ostringstream text;
    text.precision(17);
    text << what << ": got " << got << ", want " << want;
    return text.str();
}

template <typename Got, typename Want>
void check_equal(const Got& got, const Want& want, std::string_view what,
                 std::source_location where = std::source_location::current()) {
    const bool holds = got == want;
    check(holds, holds ? std::string(what) : difference(what, got, want), where);
}

// The tolerance is absolute: the caller scales it by the magnitudes that were added up. A NaN on
// either side fails.
inline void check_close(double got, double want, double tolerance, std::string_view what,
                        std::source_location where = std::source_location::current()) {
    const bool holds = std::abs(got - want) <= tolerance;
    check(holds, holds ? std::string(what) : difference(what, got, want), where);
}

// The exit status of the test program.
inline int finish() {
    std::printf("%ld checks, %ld failures\n", tally().checks, tally().failures);
    return tally().checks > 0 && tally().failures == 0 ? 0 : 1;
}

}  // namespace hinge::testing
