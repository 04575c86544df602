// Pegasos: stochastic subgradient descent on lambda/2 ||w||^2 + mean of s_i max(0, 1 - y_i w'x_i).
//
// Step t draws a batch of k rows and, with A those of margin below 1,
//
//     w <- (1 - 1/t) w + 1/(lambda t k) sum_{i in A} s_i y_i x_i,  then onto ||w|| <=
//     lambda^(-1/2).
//
// w = scale * v, so that shrinking costs nothing; coefficients of the rows are kept in the same
// scale, so that w is always the weights of a dual point.
//
// A row whose side of 1 is known is not read (Guillory and Bilmes, Algorithm 3). With margins m'_i
// stored under old weights, and any number beta,
//
//     w'x_i = beta old'x_i + e'c + e'(x_i - c),   e = w - beta old,   |last| <= ||e|| ||x_i - c||.
//
// The paper has beta = 1 and c = 0; here beta is the best one and c the mean of the rows. Rounding
// is part of every test, so that a row counts as it would if it were read: the weights have the
// same bits with and without the bound.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "hinge/linalg.hpp"
#include "hinge/random.hpp"
#include "hinge/rows.hpp"
#include "hinge/stochastic_state.hpp"

namespace hinge {

inline constexpr double kUnitRoundoff = 0x1p-53;
inline constexpr double kFloatRoundoff = 0x1p-23;  // twice that of float32
inline constexpr double kTiniestScale = 1e-60;     // below it v takes the scale in
inline constexpr std::int64_t kFreshSums = 4096;   // steps between sums made afresh
inline constexpr double kRateMemory = 1.0 / 16.0;  // how much the last batch tells of the rate
inline constexpr double kHopelessRate = 0.1;       // spared rows below which to begin anew
inline constexpr double kSurePay = 1.5;            // times its price, before the first refresh
inline constexpr std::int64_t kAhead = 8;          // rows asked for ahead of their use
inline constexpr std::int64_t kWatchEvery = 8;     // rows of which one tells what a bound would do
inline constexpr std::uint32_t kSure = 1;
// What a drawn row and a step cost besides stored values, in these.
inline constexpr std::int64_t kRowWork = 8;
inline constexpr std::int64_t kStepWork = 1000;

// The bound of one step: what it takes to decide a row.
struct StepBound {
    double beta;
    double shift;  // e'c
    double reach;  // ||e||, rounding included
    double error;  // rounding of margins
};

template <class Rows>
class StochasticRun {
  public:
    StochasticRun(const Rows& rows, const StochasticSettings& settings,
                  const StochasticLabels& labels, const StochasticArrays& at,
                  StochasticCounters& counters, StochasticNumbers& numbers) noexcept
        : rows_(rows), s_(settings), labels_(labels), at_(at), c_(counters), n_(numbers) {}

    // Does about this much work in stored values, at least one step or some rows of a refresh.
    std::int64_t advance(std::int64_t work, std::int64_t last_step) noexcept {
        std::int64_t done = 0;
        while (c_.step < last_step && done < std::max<std::int64_t>(work, 1)) {
            if (c_.phase == kRefreshing) {
                done += refresh(work - done);
            } else {
                done += one_step();
                if (c_.step % s_.round == 0) {
                    break;
                }
            }
        }
        return done;
    }

  private:
    std::int64_t width() const noexcept { return rows_.width + 1; }
    double sign(std::int64_t i) const noexcept { return static_cast<double>(labels_.signs[i]); }
    double factor(std::int64_t i) const noexcept {
        return s_.share * labels_.weights[i * labels_.weight_stride];
    }
    double dot_row(std::int64_t i, const double* w) const noexcept {
        return rows_.dot(i, w) + s_.constant * w[rows_.width];
    }
    void add_row(std::int64_t i, double by, double* w) const noexcept {
        rows_.add(i, by, w);
        w[rows_.width] += by * s_.constant;
    }

    std::int64_t one_step() noexcept {
        draw();
        const StepBound bound = s_.prunes ? step_bound() : StepBound{};
        const std::int64_t listed = c_.phase == kPruning ? list_open(bound) : list_all();
        const std::int64_t touched = look(listed, bound);
        ++c_.step;
        update();
        if (s_.prunes) {
            decide_phase();
        }
        return touched + (s_.accumulates ? width() : 0) + kRowWork * s_.batch + kStepWork;
    }

    // 1. The batch: the next rows of a random order of all, or any rows.
    void draw() noexcept {
        Random random(at_.random);
        const auto count = static_cast<std::uint32_t>(at_.count);
        for (std::int64_t k = 0; k < s_.batch; ++k) {
            if (s_.replaces) {
                at_.drawn[k] = at_.order[random.below(count)];
                continue;
            }
            const auto place = static_cast<std::uint32_t>(c_.position);
            std::swap(at_.order[place], at_.order[place + random.below(count - place)]);
            at_.drawn[k] = at_.order[place];
            c_.position = place + 1 == count ? 0 : place + 1;
        }
    }

    // 2. Which of them must be read: numbers of rows, and whether their side is known to be below.
    std::int64_t list_all() noexcept {
        for (std::int64_t k = s_.batch; k-- > 0;) {
            at_.drawn[2 * k] = at_.drawn[k];
            at_.drawn[2 * k + 1] = 0;
        }
        return s_.batch;
    }

    std::int64_t list_open(const StepBound& bound) noexcept {
        std::uint32_t* const rows = at_.drawn + s_.batch;  // moved behind, to write from the front
        std::copy_backward(at_.drawn, at_.drawn + s_.batch, rows + s_.batch);
        std::int64_t listed = 0;
        for (std::int64_t k = 0; k < s_.batch; ++k) {
            if (k + 2 * kAhead < s_.batch) {
                __builtin_prefetch(at_.known + rows[k + 2 * kAhead]);
                __builtin_prefetch(labels_.signs + rows[k + 2 * kAhead]);
            }
            const std::uint32_t i = rows[k];
            const double stored = bound.beta * static_cast<double>(at_.known[i].margin);
            const double middle = stored + sign(i) * bound.shift;
            const double spread = bound.reach * static_cast<double>(at_.known[i].radius) +
                                  bound.error + kFloatRoundoff * std::abs(stored);
            if (middle - spread >= 1.0) {
                continue;
            }
            at_.drawn[2 * listed] = i;
            at_.drawn[2 * listed + 1] = middle + spread < 1.0 ? kSure : 0;
            ++listed;
        }
        c_.spared += s_.batch - listed;
        return listed;
    }

    // 3. Reads the listed rows in the order in which they were drawn. Those below 1 stay in the
    // list, or are added up at once while the cache holds them.
    std::int64_t look(std::int64_t listed, const StepBound& bound) noexcept {
        std::int64_t touched = 0;
        std::int64_t below = 0;
        std::int64_t spared = 0;
        const bool watches = s_.prunes && c_.phase == kWatching;
        for (std::int64_t k = 0; k < listed; ++k) {
            ask_ahead(k, listed);
            const std::uint32_t i = at_.drawn[2 * k];
            bool is_below = at_.drawn[2 * k + 1] == kSure;
            touched += rows_.stored(i);
            if (!is_below) {
                const double margin = sign(i) * n_.scale * dot_row(i, at_.v);
                is_below = margin < 1.0;
                ++c_.examined;
                // Not every row: its radius is one more line of memory to wait for.
                if (watches && k % kWatchEvery == 0) {
                    const auto radius = static_cast<double>(at_.known[i].radius);
                    spared += std::abs(margin - 1.0) > bound.reach * radius;
                }
            }
            if (is_below) {
                if (s_.accumulates) {
                    add_row(i, factor(i) * sign(i), at_.sum);
                }
                at_.drawn[below++] = i;
            }
        }
        below_ = below;
        c_.drawn += s_.batch;
        if (watches) {
            const std::int64_t watched = (listed + kWatchEvery - 1) / kWatchEvery;
            now_spared_ = spared * s_.batch / watched;
            c_.spared += now_spared_;
        } else {
            now_spared_ = s_.batch - listed;
        }
        return touched;
    }

    void ask_ahead(std::int64_t k, std::int64_t listed) const noexcept {
        if (k + 2 * kAhead < listed) {
            rows_.prefetch_extent(at_.drawn[2 * (k + 2 * kAhead)]);
        }
        if (k + kAhead < listed) {
            rows_.prefetch(at_.drawn[2 * (k + kAhead)], typical_);
        }
    }

    // 4. The step itself, the projection, and the sums that both need.
    void update() noexcept {
        const double t = static_cast<double>(c_.step);
        if (c_.step > 1) {
            n_.scale *= 1.0 - 1.0 / t;
        }
        const double length = 1.0 / (s_.penalty * t * static_cast<double>(s_.batch) * n_.scale);
        for (std::int64_t k = 0; k < below_; ++k) {
            at_.coefficients[at_.drawn[k]] += length * factor(at_.drawn[k]);
        }
        if (s_.accumulates) {
            dense_add(at_.sum, length, at_.v, width());
            std::fill(at_.sum, at_.sum + width(), 0.0);
            sum_afresh();
        } else {
            add_one_by_one(length);
        }
        const double squared_norm = n_.scale * n_.scale * n_.square;
        if (s_.projects && squared_norm * s_.penalty > 1.0) {
            n_.scale /= std::sqrt(squared_norm * s_.penalty);
        }
        if (n_.scale < kTiniestScale) {
            take_scale_in();
        }
    }

    void sum_afresh() noexcept {
        n_.square = dot(at_.v, at_.v, width());
        n_.square_mass = n_.square;
        c_.terms = 0;
        if (s_.prunes) {
            n_.cross = dot(at_.v, at_.old, width());
            n_.middle = dot(at_.v, at_.centre, width());
            n_.cross_mass = std::sqrt(n_.square * n_.old_square);
        }
    }

    // Where a row has far fewer values than the weights, sums follow every row instead.
    void add_one_by_one(double length) noexcept {
        double norm = std::sqrt(std::max(n_.square, 0.0));
        for (std::int64_t k = 0; k < below_; ++k) {
            const std::int64_t i = at_.drawn[k];
            const double by = length * factor(i) * sign(i);
            const double size = labels_.squared_norms[i] + s_.constant * s_.constant;
            n_.square += 2.0 * by * dot_row(i, at_.v) + by * by * size;
            const double step = std::abs(by) * std::sqrt(size);
            n_.square_mass += 2.0 * step * norm + step * step;
            norm += step;
            if (s_.prunes) {
                n_.cross += by * dot_row(i, at_.old);
                n_.cross_mass += step * std::sqrt(n_.old_square);
            }
            add_row(i, by, at_.v);
            c_.terms += 4;
        }
        if (c_.step % kFreshSums == 0) {
            sum_afresh();
        }
    }

    void take_scale_in() noexcept {
        for (std::int64_t j = 0; j < width(); ++j) {
            at_.v[j] *= n_.scale;
        }
        for (std::int64_t i = 0; i < rows_.count; ++i) {
            at_.coefficients[i] *= n_.scale;
        }
        n_.scale = 1.0;
        sum_afresh();
    }

    StepBound step_bound() const noexcept {
        const double a = n_.scale;
        const double beta = n_.old_square > 0.0 ? a * n_.cross / n_.old_square : 0.0;
        const double rest = a * a * n_.square - beta * beta * n_.old_square;
        const auto terms = static_cast<double>(width() + c_.terms + 16);
        const double mass = a * a * n_.square_mass + 2.0 * std::abs(beta) * a * n_.cross_mass +
                            beta * beta * n_.old_square;
        const double reach = std::sqrt(std::max(rest, 0.0) + 8.0 * kUnitRoundoff * terms * mass);
        const double norms =
            a * std::sqrt(n_.square_mass) + std::abs(beta) * std::sqrt(n_.old_square);
        const double error =
            8.0 * kUnitRoundoff * static_cast<double>(width() + 16) * norms * s_.largest_norm;
        const double shift = c_.has_radii != 0 ? a * n_.middle - beta * n_.old_middle : 0.0;
        return {beta, shift, reach * (1.0 + 8.0 * kUnitRoundoff), error};
    }

    // 5. When to keep the weights and store all margins. All prices are counted, none is timed.
    void decide_phase() noexcept {
        const double price = s_.refresh_price * static_cast<double>(at_.count);
        const double saving = s_.row_price - s_.skip_price;
        const double share = static_cast<double>(now_spared_) / static_cast<double>(s_.batch);
        n_.rate += kRateMemory * (share - n_.rate);
        const double gain = saving * static_cast<double>(c_.spared);
        const double rest = saving * n_.rate * static_cast<double>(c_.drawn);
        if (c_.phase == kWatching) {
            if (gain > kSurePay * price) {
                keep_weights();
                c_.phase = kRefreshing;
                c_.refreshed = 0;
            } else if (n_.rate < kHopelessRate) {
                keep_weights();
            }
        } else if (gain > price && rest <= gain - price) {
            // What a row spares now is no more than what it has spared on average, price paid.
            keep_weights();
            c_.phase = kRefreshing;
            c_.refreshed = 0;
        } else if (n_.rate < kHopelessRate && gain <= price) {
            keep_weights();
            c_.phase = kWatching;
        }
    }

    void keep_weights() noexcept {
        for (std::int64_t j = 0; j < width(); ++j) {
            at_.old[j] = n_.scale * at_.v[j];
        }
        n_.old_square = dot(at_.old, at_.old, width());
        n_.old_middle = dot(at_.old, at_.centre, width());
        sum_afresh();
        c_.drawn = 0;
        c_.spared = 0;
        n_.rate = 1.0;
    }

    std::int64_t refresh(std::int64_t work) noexcept {
        std::int64_t done = 0;
        while (c_.refreshed < rows_.count && done < std::max<std::int64_t>(work, 1)) {
            const std::int64_t i = c_.refreshed++;
            if (factor(i) == 0.0) {
                continue;  // a row without weight is never drawn
            }
            const auto margin = static_cast<float>(sign(i) * dot_row(i, at_.old));
            const bool fits = std::abs(margin) <= std::numeric_limits<float>::max();
            at_.known[i].margin = fits ? margin : std::numeric_limits<float>::quiet_NaN();
            if (c_.has_radii == 0 && s_.accumulates) {
                at_.known[i].radius = distance(i);
            }
            done += rows_.stored(i) + 1;
        }
        if (c_.refreshed == rows_.count) {
            c_.phase = kPruning;
            c_.has_radii = s_.accumulates ? 1 : 0;
            ++c_.refreshes;
        }
        return done;
    }

    // ||x_i - c||, from ||x_i||^2 - 2 c'x_i + ||c||^2 and a bound on what cancels there.
    float distance(std::int64_t i) const noexcept {
        const double row = labels_.squared_norms[i] + s_.constant * s_.constant;
        const double centre = n_.centre_square;
        const double terms = 8.0 * kUnitRoundoff * static_cast<double>(width() + 16);
        const double square = row - 2.0 * dot_row(i, at_.centre) + centre;
        const double above = std::sqrt(std::max(square, 0.0) + terms * (row + centre));
        // Beyond float32 the radius is infinite, and its row always open.
        return std::nextafter(static_cast<float>(above), std::numeric_limits<float>::infinity());
    }

    const Rows& rows_;
    const std::int64_t typical_ = rows_.typical();
    const StochasticSettings& s_;
    const StochasticLabels& labels_;
    const StochasticArrays& at_;
    StochasticCounters& c_;
    StochasticNumbers& n_;
    std::int64_t below_ = 0;
    std::int64_t now_spared_ = 0;
};

}  // namespace hinge
