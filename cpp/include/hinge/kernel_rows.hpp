// Kernel values of some rows (the terms) with many others (the points), by panels and tiles.
//
//   add_terms   f_j += sum_i coef_i k(x_i, z_j)    nothing is stored: a pass over the points
//   fill_block  K_ij  = k(x_i, z_j)                a row of floats or doubles for every term
//
// Terms are summed in their order, panel by panel, in float64: f_j has the same bits whatever other
// points are evaluated with it and whoever shares out the points among threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "hinge/aligned.hpp"
#include "hinge/kernel.hpp"
#include "hinge/kernel_panel.hpp"
#include "hinge/kernel_tile.hpp"
#include "hinge/team.hpp"
#include "hinge/transpose.hpp"

namespace hinge {

// Some rows of a matrix by number, or consecutive ones where numbers is null.
struct Selection {
    const std::int64_t* numbers;
    std::int64_t first;
    std::int64_t count;

    std::int64_t number(std::int64_t k) const noexcept {
        return numbers == nullptr ? first + k : numbers[k];
    }
    Selection part(std::int64_t from, std::int64_t size) const noexcept {
        return {numbers == nullptr ? nullptr : numbers + from, first + from, size};
    }
};

// Calls work(first, part) for parts of a selection, each of whole tiles, on so many threads. What a
// point gets depends on no other one, so that any parts will do.
template <class Work>
void share_points(Selection points, std::int64_t threads, Work&& work) {
    share_out(points.count, threads, kTileRows, [&](std::int64_t first, std::int64_t size) {
        work(first, points.part(first, size));
    });
}

// What is known of every row of a matrix: its sum with itself, and a factor of its kernel values
// (null: 1) with which a kernel is normalised.
template <class Real>
struct Sides {
    const Real* selfs;
    const Real* scales;
};

// The terms of a pass, panel by panel, with their sides.
template <class Real>
struct TermPanels {
    struct Lanes {
        alignas(64) Real selfs[kPanelRows<Real>];
        alignas(64) Real scales[kPanelRows<Real>];
    };

    template <class Rows>
    TermPanels(const Rows& rows, Selection terms, Sides<Real> sides, const Centre<Real>& centre)
        : count(terms.count), is_scaled(sides.scales != nullptr) {
        std::vector<std::int64_t> numbers(static_cast<std::size_t>(kPanelRows<Real>));
        for (std::int64_t first = 0; first < count; first += kPanelRows<Real>) {
            const std::int64_t size = std::min(kPanelRows<Real>, count - first);
            Lanes of_panel{};
            for (std::int64_t lane = 0; lane < size; ++lane) {
                const std::int64_t number = terms.number(first + lane);
                numbers[static_cast<std::size_t>(lane)] = number;
                of_panel.selfs[lane] = sides.selfs[number];
                of_panel.scales[lane] = is_scaled ? sides.scales[number] : Real{1};
            }
            panels.emplace_back(rows, numbers.data(), size, centre);
            lanes.push_back(of_panel);
        }
    }

    std::int64_t count;
    bool is_scaled;
    std::vector<Panel<Real>> panels;
    AlignedVector<Lanes> lanes;
};

// Reads the points from `first` on into the tile, `size` of them: the one place that knows how the
// points are stored.
template <class Real>
using TileReader = std::function<void(Tile<Real>& tile, std::int64_t first, std::int64_t size)>;

template <class Real, class Kernel>
class KernelPass {
  public:
    KernelPass(const Kernel& kernel, const TermPanels<Real>& terms)
        : kernel_(kernel), terms_(terms) {
        values_.resize(static_cast<std::size_t>(kTileRows * kPanelRows<Real>));
    }

    // Calls take(panel, first point, points, values) with values of shape (points, kPanelRows).
    template <class Take>
    void over(const TileReader<Real>& read, Selection points, Sides<Real> sides, Take&& take) {
        const std::size_t panels = terms_.panels.size();
        over_first(read, points, sides, [panels](std::int64_t) { return panels; }, take);
    }

    // The same where the points before `end` meet only the first panels_until(end) panels.
    template <class Count, class Take>
    void over_first(const TileReader<Real>& read, Selection points, Sides<Real> sides,
                    Count&& panels_until, Take&& take) {
        for (std::int64_t first = 0; first < points.count; first += kTileRows) {
            const std::int64_t size = std::min(kTileRows, points.count - first);
            read(tile_, first, size);
            const std::size_t panels = panels_until(first + size);
            for (std::size_t p = 0; p < panels; ++p) {
                tile_.template pair_with<typename Kernel::Pairing>(
                    terms_.panels[p], terms_.lanes[p].selfs, values_.data());
                for (std::int64_t r = 0; r < size; ++r) {
                    finish(p, points.number(first + r), sides,
                           values_.data() + r * kPanelRows<Real>);
                }
                take(static_cast<std::int64_t>(p), first, size, values_.data());
            }
        }
    }

  private:
    // Sums become kernel values.
    void finish(std::size_t p, std::int64_t point, Sides<Real> sides, Real* values) const {
        const Register<Real> self = broadcast(sides.selfs[point]);
        const auto& lanes = terms_.lanes[p];
        const std::int64_t filled = terms_.panels[p].registers() * kLanes<Real>;
        for (std::int64_t k = 0; k < filled; k += kLanes<Real>) {
            const Register<Real> sum = load(values + k);
            store(values + k, kernel_.template value<Real>(sum, load(lanes.selfs + k), self));
        }
        if (terms_.is_scaled) {
            const Register<Real> scale = broadcast(sides.scales[point]);
            for (std::int64_t k = 0; k < filled; k += kLanes<Real>) {
                store(values + k, load(values + k) * (scale * load(lanes.scales + k)));
            }
        }
    }

    Kernel kernel_;
    const TermPanels<Real>& terms_;
    Tile<Real> tile_;
    AlignedVector<Real> values_;
};

// sum of `count` values times coefficients in a fixed order: four partial sums, then the four. The
// count is a multiple of two registers of doubles.
template <class Real>
inline double panel_sum(const Real* values, const double* coef, std::int64_t count) noexcept {
    Register<double> sums[4] = {};
    std::int64_t at = 0;
    const auto add = [&](Register<double>& sum) {
        Register<double> wide{};
        for (std::int64_t lane = 0; lane < kLanes<double>; ++lane) {
            wide[lane] = static_cast<double>(values[at + lane]);
        }
        sum = fused(wide, load(coef + at), sum);
        at += kLanes<double>;
    };
    while (at + 4 * kLanes<double> <= count) {
        add(sums[0]);
        add(sums[1]);
        add(sums[2]);
        add(sums[3]);
    }
    while (at < count) {
        add(sums[0]);
        add(sums[1]);
    }
    const Register<double> all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    double total = all[0];
    for (std::int64_t lane = 1; lane < kLanes<double>; ++lane) {
        total += all[lane];
    }
    return total;
}

// Coefficients of the terms, output by output, each padded with zeros to whole panels.
template <class Real>
AlignedVector<double> padded(const double* coef, std::int64_t terms, std::int64_t outputs) {
    const std::int64_t panels = (terms + kPanelRows<Real> - 1) / kPanelRows<Real>;
    const std::int64_t length = panels * kPanelRows<Real>;
    AlignedVector<double> all(static_cast<std::size_t>(length * outputs), 0.0);
    for (std::int64_t c = 0; c < outputs; ++c) {
        for (std::int64_t i = 0; i < terms; ++i) {
            all[static_cast<std::size_t>(c * length + i)] = coef[c * terms + i];
        }
    }
    return all;
}

// Which functions have a coefficient in each panel, of coefficients that are padded to whole
// panels. In machines of pairs of classes, whose terms come class by class, they are few.
template <class Real, class Number>
std::vector<std::vector<std::int64_t>> functions_in_use(const AlignedVector<Number>& coef,
                                                        std::int64_t functions) {
    const std::int64_t length = static_cast<std::int64_t>(coef.size()) / functions;
    std::vector<std::vector<std::int64_t>> used(
        static_cast<std::size_t>(length / kPanelRows<Real>));
    for (std::int64_t c = 0; c < functions; ++c) {
        const Number* of_function = coef.data() + c * length;
        for (std::int64_t p = 0; p * kPanelRows<Real> < length; ++p) {
            const Number* const begin = of_function + p * kPanelRows<Real>;
            if (std::any_of(begin, begin + kPanelRows<Real>,
                            [](Number value) { return value != Number{0}; })) {
                used[static_cast<std::size_t>(p)].push_back(c);
            }
        }
    }
    return used;
}

// The functions whose sums are taken: their coefficients, padded, and who has any in which panel.
template <class Real>
struct TermFunctions {
    TermFunctions(const double* of_terms, std::int64_t terms, std::int64_t count)
        : functions(count),
          coef(padded<Real>(of_terms, terms, count)),
          in_use(functions_in_use<Real>(coef, count)) {}

    std::int64_t functions;
    AlignedVector<double> coef;
    std::vector<std::vector<std::int64_t>> in_use;
};

// out[point, c] += sum over the terms of coef[c, term] k(term, point); out has all c of a point.
template <class Real, class Kernel>
void add_terms(const Kernel& kernel, const TermPanels<Real>& terms, const TileReader<Real>& read,
               Selection points, Sides<Real> sides, const TermFunctions<Real>& functions,
               double* out) {
    const std::int64_t outputs = functions.functions;
    const std::int64_t length = static_cast<std::int64_t>(functions.coef.size()) / outputs;
    KernelPass<Real, Kernel> pass(kernel, terms);
    pass.over(read, points, sides,
              [&](std::int64_t panel, std::int64_t first, std::int64_t size, const Real* values) {
                  const auto& of_panel = terms.panels[static_cast<std::size_t>(panel)];
                  const auto& used = functions.in_use[static_cast<std::size_t>(panel)];
                  const double* coef = functions.coef.data() + panel * kPanelRows<Real>;
                  const std::int64_t filled = of_panel.registers() * kLanes<Real>;
                  for (std::int64_t r = 0; r < size; ++r) {
                      const Real* row = values + r * kPanelRows<Real>;
                      for (const std::int64_t c : used) {
                          out[(first + r) * outputs + c] +=
                              panel_sum(row, coef + c * length, filled);
                      }
                  }
              });
}

// Writes the values of one tile and panel, of shape (points, kPanelRows), to a row for every term.
template <class Real, class Out>
void turn_over(const Real* values, std::int64_t points, std::int64_t terms, Out* const* rows,
               std::int64_t first) {
    constexpr std::int64_t kSide = kLanes<float>;
    std::int64_t turned = 0;
    if constexpr (sizeof(Real) == sizeof(float) && sizeof(Out) == sizeof(float)) {
        turned = terms / kSide * kSide;
        for (std::int64_t lane = 0; lane < turned; lane += kSide) {
            std::int64_t r = 0;
            for (; r + kSide <= points; r += kSide) {
                transpose_square(values + r * kPanelRows<Real> + lane, kPanelRows<Real>,
                                 rows + lane, first + r);
            }
            for (; r < points; ++r) {
                for (std::int64_t k = lane; k < lane + kSide; ++k) {
                    rows[k][first + r] = values[r * kPanelRows<Real> + k];
                }
            }
        }
    }
    for (std::int64_t r = 0; r < points; ++r) {
        for (std::int64_t lane = turned; lane < terms; ++lane) {
            rows[lane][first + r] = static_cast<Out>(values[r * kPanelRows<Real> + lane]);
        }
    }
}

// rows[term][point] = k(term, point).
template <class Real, class Kernel, class Out>
void fill_block(const Kernel& kernel, const TermPanels<Real>& terms, const TileReader<Real>& read,
                Selection points, Sides<Real> sides, Out* const* rows) {
    KernelPass<Real, Kernel> pass(kernel, terms);
    pass.over(read, points, sides,
              [&](std::int64_t panel, std::int64_t first, std::int64_t size, const Real* values) {
                  const std::int64_t term = panel * kPanelRows<Real>;
                  const std::int64_t lanes = std::min(kPanelRows<Real>, terms.count - term);
                  turn_over(values, size, lanes, rows + term, first);
              });
}

}  // namespace hinge
