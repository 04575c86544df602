// Sums by a table against sums over one pair at a time: whole numbers of both signs, dense and
// sparse, at sizes around those of panels and tiles, tables of one to sixteen parts.
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "hinge/random.hpp"
#include "hinge/tabled_terms.hpp"

namespace {

using hinge::testing::check;
using hinge::testing::check_equal;

struct Matrix {
    Matrix(std::int64_t rows, std::int64_t width, std::int64_t low, std::int64_t high,
           hinge::Random& random)
        : count(rows), features(width), starts{0} {
        for (std::int64_t i = 0; i < rows * width; ++i) {
            const auto range = static_cast<std::uint64_t>(high - low + 1);
            const bool is_zero = random.next() % 2 == 0;
            const auto value = low + static_cast<std::int64_t>(random.next() % range);
            full.push_back(is_zero ? 0.0 : static_cast<double>(value));
            if (full.back() != 0.0) {
                values.push_back(full.back());
                columns.push_back(static_cast<std::int32_t>(i % width));
            }
            if (i % width == width - 1) {
                starts.push_back(static_cast<std::int64_t>(values.size()));
            }
        }
    }
    hinge::DenseRows<double> dense() const { return {full.data(), count, features}; }
    hinge::CsrRows<double, std::int32_t> sparse() const {
        return {values.data(), columns.data(), starts.data(), true, count, features};
    }
    std::int64_t product(std::int64_t i, const Matrix& other, std::int64_t j) const {
        std::int64_t sum = 0;
        for (std::int64_t k = 0; k < features; ++k) {
            sum +=
                static_cast<std::int64_t>(full[static_cast<std::size_t>(i * features + k)]) *
                static_cast<std::int64_t>(other.full[static_cast<std::size_t>(j * features + k)]);
        }
        return sum;
    }

    std::int64_t count;
    std::int64_t features;
    std::vector<double> full;
    std::vector<double> values;
    std::vector<std::int32_t> columns;
    std::vector<std::int64_t> starts;
};

// Distances of rows whose squared norms are at most `largest`, through a table of all of them.
void compare(std::int64_t terms, std::int64_t points, std::int64_t width, std::int64_t low,
             std::int64_t high, hinge::Random& random) {
    const Matrix z(terms, width, low, high, random);
    const Matrix x(points, width, low, high, random);
    const std::int64_t largest = 60;
    const std::int64_t entries = 4 * largest + 1;
    std::vector<std::int16_t> table;
    for (std::int64_t v = 0; v < entries; ++v) {
        table.push_back(
            static_cast<std::int16_t>(static_cast<std::int64_t>(random.next() % 65535) - 32767));
    }
    std::vector<std::int16_t> digits;
    for (std::int64_t i = 0; i < 2 * terms; ++i) {
        const bool is_second = i >= terms;
        const auto digit = static_cast<std::int64_t>(random.next() % 8191) - 4095;
        digits.push_back(static_cast<std::int16_t>(is_second && i % 3 != 0 ? 0 : digit));
    }
    std::vector<std::int64_t> bases;
    for (std::int64_t i = 0; i < terms; ++i) {
        bases.push_back(z.product(i, z, i));
        check(bases.back() <= largest, "the terms are as small as the table needs");
    }
    const hinge::TabledLimits limits{-2, 1, 0, largest, true};
    const hinge::TabledTerms by_lists(z.sparse(), bases.data(), digits.data(), 2, table.data(),
                                      entries, limits);
    const hinge::TabledTerms by_rows(z.dense(), bases.data(), digits.data(), 2, table.data(),
                                     entries, limits);
    std::vector<std::int64_t> out(static_cast<std::size_t>(2 * points));
    std::vector<std::int64_t> again(out.size());
    std::vector<std::int64_t> selfs(static_cast<std::size_t>(points));
    const auto number = [](std::int64_t k) { return k; };
    by_lists.evaluate(x.dense(), number, points, out.data(), selfs.data());
    by_rows.evaluate(x.sparse(), number, points, again.data(), selfs.data());
    for (std::int64_t k = 0; k < points; ++k) {
        const std::int64_t self = x.product(k, x, k);
        check_equal(selfs[static_cast<std::size_t>(k)], self <= largest ? self : -1, "its square");
        for (std::int64_t c = 0; c < 2; ++c) {
            std::int64_t sum = 0;
            for (std::int64_t i = 0; i < terms && self <= largest; ++i) {
                const std::int64_t v =
                    self + bases[static_cast<std::size_t>(i)] - 2 * x.product(k, z, i);
                sum += std::int64_t{digits[static_cast<std::size_t>(c * terms + i)]} *
                       std::int64_t{table[static_cast<std::size_t>(v)]};
            }
            check_equal(out[static_cast<std::size_t>(2 * k + c)], sum, "a sum over lists");
            check_equal(again[static_cast<std::size_t>(2 * k + c)], sum, "a sum over dense terms");
        }
    }
}

// The largest digits and entries everywhere: no sum of a panel overflows.
void largest_sums() {
    const std::int64_t terms = 3 * hinge::kBytePanel + 5;
    const std::vector<double> zeros(static_cast<std::size_t>(terms), 0.0);
    const hinge::DenseRows<double> rows{zeros.data(), terms, 1};
    const std::vector<std::int64_t> bases(static_cast<std::size_t>(terms), 0);
    for (const std::int16_t entry : {std::int16_t{32767}, std::int16_t{-32768}}) {
        const std::vector<std::int16_t> digits(static_cast<std::size_t>(terms), 4095);
        const hinge::TabledTerms made(rows, bases.data(), digits.data(), 1, &entry, 1,
                                      {-2, 1, 0, 0, false});
        std::int64_t sum = 0;
        std::int64_t self = 0;
        made.evaluate(rows, [](std::int64_t k) { return k; }, 1, &sum, &self);
        check_equal(sum, terms * 4095 * std::int64_t{entry}, "the largest sum");
    }
}

template <class Make>
void refused(Make&& make, const char* what) {
    bool was_refused = false;
    try {
        make();
    } catch (const std::invalid_argument&) {
        was_refused = true;
    }
    check(was_refused, what);
}

void refusals() {
    const double half = 0.5;
    const double one = 1.0;
    const std::int64_t base = 0;
    const std::int16_t digit = 1;
    const std::int16_t large = 4096;
    const std::vector<std::int16_t> table(300, 1);
    const hinge::TabledLimits limits{1, 0, 0, 1, false};
    using Rows = hinge::DenseRows<double>;
    refused(
        [&] { hinge::TabledTerms(Rows{&half, 1, 1}, &base, &digit, 1, table.data(), 2, limits); },
        "a half is no whole number");
    refused(
        [&] { hinge::TabledTerms(Rows{&one, 1, 1}, &base, &large, 1, table.data(), 2, limits); },
        "a digit that could overflow");
    refused(
        [&] { hinge::TabledTerms(Rows{&one, 1, 1}, &base, &digit, 1, table.data(), 300, limits); },
        "a table that bytes cannot reach");
}

}  // namespace

int main() {
    std::vector<std::uint64_t> words{7, 1, 8, 2};
    hinge::Random random(words.data());
    for (const std::int64_t terms : {1, 15, 16, 31, 33, 64, 127, 128, 129, 300}) {
        compare(terms, 9, 20, 0, 1, random);
        compare(terms, 9, 20, -1, 1, random);
        compare(terms, 9, 5, -3, 3, random);
    }
    compare(70, 600, 20, 0, 1, random);
    largest_sums();
    refusals();
    return hinge::testing::finish();
}
