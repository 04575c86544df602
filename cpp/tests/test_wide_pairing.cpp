// Sums in wide registers against sums of one lane at a time, to the bit: rows and lists of entries,
// at numbers of rows, features and registers around those that are taken together.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "check.hpp"
#include "hinge/aligned.hpp"
#include "hinge/random.hpp"
#include "hinge/wide_pairing.hpp"

namespace {

using hinge::testing::check_equal;

template <class Real>
Real some_number(hinge::Random& random) {
    return static_cast<Real>(static_cast<double>(random.next() >> 11) * 0x1.0p-53 - 0.5);
}

// Some rows with zeros among their features, as rows and as lists, and a panel.
template <class Real>
struct Case {
    static constexpr std::int64_t kLanes = 256 / static_cast<std::int64_t>(sizeof(Real));

    Case(std::int64_t rows, std::int64_t features, std::int64_t chunk, hinge::Random& random)
        : count(rows), width(features), chunks((features + chunk - 1) / chunk) {
        for (std::int64_t k = 0; k < features * kLanes; ++k) {
            panel.push_back(some_number<Real>(random));
        }
        for (std::int64_t k = 0; k < rows * features; ++k) {
            full.push_back(random.next() % 3 == 0 ? Real{0} : some_number<Real>(random));
        }
        for (std::int64_t r = 0; r < rows; ++r) {
            pointers.push_back(full.data() + r * features);
            for (std::int64_t k = 0; k < features; ++k) {
                if (k % chunk == 0) {
                    starts.push_back(static_cast<std::int64_t>(values.size()));
                }
                if (pointers.back()[k] != Real{0}) {
                    values.push_back(pointers.back()[k]);
                    places.push_back(static_cast<std::int32_t>(k));
                }
            }
            starts.push_back(static_cast<std::int64_t>(values.size()));
        }
    }

    Real expected(std::int64_t r, std::int64_t lane) const {
        Real sum{0};
        for (std::int64_t k = 0; k < width; ++k) {
            sum = std::fma(pointers[static_cast<std::size_t>(r)][k],
                           panel[static_cast<std::size_t>(k * kLanes + lane)], sum);
        }
        return sum;
    }

    std::int64_t count;
    std::int64_t width;
    std::int64_t chunks;
    hinge::AlignedVector<Real> panel;
    std::vector<Real> full;
    std::vector<const Real*> pointers;
    std::vector<Real> values;
    std::vector<std::int32_t> places;
    std::vector<std::int64_t> starts;
};

template <class Real, std::int64_t kWide>
void check_case(const Case<Real>& some, const std::string& name) {
    constexpr std::int64_t kLanes = Case<Real>::kLanes;
    hinge::AlignedVector<Real> of_rows(static_cast<std::size_t>(some.count * kLanes), Real{0});
    hinge::AlignedVector<Real> of_lists = of_rows;
    hinge::pair_all_wide_rows<Real, kWide>(some.pointers.data(), some.count, some.width,
                                           some.panel.data(), of_rows.data());
    hinge::pair_all_wide_lists<Real, kWide>({some.values.data(), some.places.data(), 0},
                                            some.starts.data(), some.chunks, some.count,
                                            some.panel.data(), of_lists.data());
    for (std::int64_t r = 0; r < some.count; ++r) {
        for (std::int64_t lane = 0; lane < kLanes; ++lane) {
            const Real want = lane < kWide * kLanes / 4 ? some.expected(r, lane) : Real{0};
            const auto at = static_cast<std::size_t>(r * kLanes + lane);
            check_equal(of_rows[at], want, name + " rows");
            check_equal(of_lists[at], want, name + " lists");
        }
    }
}

template <class Real>
void check_type(const std::string& type) {
    auto words = hinge::seeded_words(11);
    hinge::Random random(words.data());
    const std::int64_t shapes[][3] = {{1, 1, 1},   {2, 7, 4},     {5, 130, 256}, {6, 513, 257},
                                      {13, 70, 9}, {25, 129, 65}, {3, 0, 1}};
    for (const auto& shape : shapes) {
        const Case<Real> some(shape[0], shape[1], shape[2], random);
        const std::string name = type + ", " + std::to_string(shape[0]) + " of " +
                                 std::to_string(shape[1]) + " features:";
        check_case<Real, 1>(some, name);
        check_case<Real, 2>(some, name);
        check_case<Real, 3>(some, name);
        check_case<Real, 4>(some, name);
    }
}

}  // namespace

int main() {
    if (hinge::has_wide_registers()) {
        check_type<float>("float");
        check_type<double>("double");
    } else {
        check_equal(hinge::has_wide_registers(), false, "nothing to check on this CPU or level");
    }
    return hinge::testing::finish();
}
