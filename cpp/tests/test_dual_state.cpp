// A state that was tampered with is told from one that a run has left.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "check.hpp"
#include "hinge/dual_state.hpp"

namespace {

using hinge::Counters;
using hinge::Phase;
using hinge::testing::check;
using hinge::testing::check_equal;

constexpr std::int64_t kRows = 10;

std::string fault(const Counters& counters, std::vector<std::uint32_t> order = {}) {
    order.resize(kRows);
    const char* const found = hinge::fault_in_state(counters, order.data(), kRows);
    return found == nullptr ? "" : found;
}

// In the middle of a sweep over seven of ten rows.
Counters sweeping() {
    Counters c{};
    c.phase = Phase::sweep;
    c.present = 10;
    c.met = 8;
    c.active = 7;
    c.position = 5;
    c.kept = 4;
    c.prepared = 7;
    return c;
}

void check_sound_states() {
    check_equal(fault(Counters{}), std::string(), "a run that begins");
    check_equal(fault(sweeping(), {9, 8, 7, 6, 5, 4, 3, 2, 1, 0}), std::string(), "a sweep");
    Counters selecting = sweeping();
    selecting.phase = Phase::select;
    selecting.position = kRows;
    selecting.kept = 7;
    check_equal(fault(selecting), std::string(), "a check that has seen every row");
}

template <class Change>
void check_refused(const char* what, Change change) {
    Counters c = sweeping();
    change(c);
    check(!fault(c).empty(), what);
}

void check_broken_states() {
    check_refused("a phase beyond the last", [](Counters& c) { c.phase = Phase{10}; });
    check_refused("a negative phase", [](Counters& c) { c.phase = Phase{-1}; });
    check_refused("a negative counter", [](Counters& c) { c.backoff = -1; });
    check_refused("a counter about to overflow",
                  [](Counters& c) { c.sweeps = std::numeric_limits<std::int64_t>::max(); });
    check_refused("more rows than there are", [](Counters& c) { c.present = kRows + 1; });
    check_refused("more met than present", [](Counters& c) { c.met = 11; });
    check_refused("more active than met", [](Counters& c) { c.active = 9; });
    check_refused("a position beyond the active rows", [](Counters& c) { c.position = 8; });
    check_refused("more kept than visited", [](Counters& c) { c.kept = 6; });
    check_refused("more drawn than active", [](Counters& c) { c.prepared = 8; });
    check_refused("more listed than loaded", [](Counters& c) { c.phase = Phase::load; });
    check_refused("a position beyond the last row", [](Counters& c) {
        c.phase = Phase::check;
        c.position = kRows + 1;
    });
    check(!fault(sweeping(), {0, 1, 2, 3, kRows}).empty(), "a row that does not exist");
    check(!fault(sweeping(), {std::numeric_limits<std::uint32_t>::max()}).empty(), "a wild row");
}

}  // namespace

int main() {
    check_sound_states();
    check_broken_states();
    return hinge::testing::finish();
}
