// Values that are kept while they are summed, and squares of which half is computed, against blocks
// and sums of their own: the same bits, at sizes around those of panels and tiles.
#include <cstdint>
#include <string>
#include <vector>

#include "check.hpp"
#include "hinge/kernel_terms.hpp"
#include "hinge/random.hpp"

namespace {

using hinge::testing::check;

template <class Real>
struct Case {
    Case(std::int64_t rows, std::int64_t width)
        : matrix(rows * width), dense{matrix.data(), rows, width} {
        auto words = hinge::seeded_words(3);
        hinge::Random random(words.data());
        for (Real& value : matrix) {
            value = static_cast<Real>(static_cast<double>(random.next() >> 11) * 0x1.0p-53);
        }
        for (std::int64_t i = 0; i < rows; ++i) {
            selfs.push_back(hinge::self_sum<hinge::ProductPairing, Real>(dense, i, centre));
            numbers.push_back((7 * i + 3) % rows);
            coef.push_back(i % 3 == 0 ? 0.75 : -0.5);
        }
    }
    hinge::TermPanels<Real> panels(std::int64_t count) const {
        return {dense, {numbers.data(), 0, count}, sides(), centre};
    }
    hinge::Sides<Real> sides() const { return {selfs.data(), nullptr}; }
    hinge::TileReader<Real> reader(hinge::Selection points) const {
        return [this, points](hinge::Tile<Real>& tile, std::int64_t first, std::int64_t size) {
            const hinge::Selection part = points.part(first, size);
            tile.read(dense, part.numbers, part.first, part.count, centre);
        };
    }

    std::vector<Real> matrix;
    hinge::DenseRows<Real> dense;
    hinge::Centre<Real> centre{};
    std::vector<Real> selfs;
    std::vector<std::int64_t> numbers;
    std::vector<double> coef;
};

template <class Out>
struct Block {
    Block(std::int64_t rows, std::int64_t columns)
        : values(static_cast<std::size_t>(rows * columns), Out{-1}) {
        for (std::int64_t i = 0; i < rows; ++i) {
            pointers.push_back(values.data() + i * columns);
        }
    }
    std::vector<Out> values;
    std::vector<Out*> pointers;
};

template <class Real, class Out>
void check_kept(std::int64_t rows, std::int64_t n_terms, std::int64_t n_kept) {
    const hinge::RbfKernel kernel{0.5};
    const Case<Real> some(rows, 5);
    const hinge::TermPanels<Real> terms = some.panels(n_terms);
    const hinge::Selection points{nullptr, 0, rows};
    Block<Out> want(n_terms, rows);
    hinge::fill_block<Real>(kernel, terms, some.reader(points), points, some.sides(),
                            want.pointers.data());
    std::vector<double> sums(static_cast<std::size_t>(rows), 1.0);
    hinge::add_terms<Real>(kernel, terms, some.reader(points), points, some.sides(),
                           hinge::TermFunctions<Real>(some.coef.data(), n_terms, 1), sums.data());
    Block<Out> kept(n_kept, rows);
    std::vector<double> added(static_cast<std::size_t>(rows), 1.0);
    hinge::add_and_keep<Real, hinge::RbfKernel, Out>(kernel, terms, some.reader(points), points,
                                                     some.sides(), some.coef.data(),
                                                     {kept.pointers.data(), n_kept}, added.data());
    const std::string name = std::to_string(n_kept) + " of " + std::to_string(n_terms);
    check(added == sums, name + " terms: the sums");
    want.values.resize(kept.values.size());
    check(kept.values == want.values, name + " terms: the values that are kept");
}

// The points come in two pieces, as two threads would take them.
template <class Real, class Out>
void check_square(std::int64_t count, std::int64_t cut) {
    const hinge::RbfKernel kernel{0.5};
    const Case<Real> some(count + 3, 5);
    const hinge::TermPanels<Real> terms = some.panels(count);
    const hinge::Selection all{some.numbers.data(), 0, count};
    Block<Out> want(count, count);
    hinge::fill_block<Real>(kernel, terms, some.reader(all), all, some.sides(),
                            want.pointers.data());
    Block<Out> got(count, count);
    for (const auto& [first, last] : {std::pair{cut, count}, std::pair{std::int64_t{0}, cut}}) {
        const hinge::Selection piece = all.part(first, last - first);
        hinge::fill_square<Real>(kernel, terms, some.reader(piece), piece, first, some.sides(),
                                 got.pointers.data());
    }
    check(got.values == want.values,
          "a square of " + std::to_string(count) + " cut at " + std::to_string(cut));
}

template <class Real, class Out>
void check_all() {
    constexpr std::int64_t kPanel = hinge::kPanelRows<Real>;
    for (const std::int64_t rows : {std::int64_t{1}, hinge::kTileRows, 2 * hinge::kTileRows + 7}) {
        for (const std::int64_t wanted : {std::int64_t{1}, kPanel - 1, kPanel, 2 * kPanel + 5}) {
            const std::int64_t n_terms = std::min(wanted, rows);
            check_kept<Real, Out>(rows, n_terms, 0);
            check_kept<Real, Out>(rows, n_terms, (n_terms + 1) / 2);
            check_kept<Real, Out>(rows, n_terms, n_terms);
        }
    }
    for (const std::int64_t count : {std::int64_t{1}, kPanel - 1, kPanel + 1, hinge::kTileRows,
                                     2 * kPanel + 2 * hinge::kTileRows + 1}) {
        check_square<Real, Out>(count, 0);
        check_square<Real, Out>(count, count / 2);
        check_square<Real, Out>(count, count);
    }
}

}  // namespace

int main() {
    check_all<float, float>();
    check_all<double, double>();
    check_all<double, float>();
    return hinge::testing::finish();
}
