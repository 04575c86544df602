// A tile: some rows, read once and paired with one panel after the other; see kernel_panel.hpp.
// It points into the rows where they are stored as it needs them, or it makes a copy. The rows must
// outlive it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "hinge/kernel_panel.hpp"
#include "hinge/wide_pairing.hpp"

namespace hinge {

template <class Real>
class Tile {
  public:
    template <class Rows>
    void read(const Rows& rows, const std::int64_t* numbers, std::int64_t first, std::int64_t count,
              const Centre<Real>& centre) {
        count_ = count;
        width_ = rows.width;
        starts_.clear();
        const std::int64_t chunks = (width_ + most_in_chunk() - 1) / most_in_chunk();
        chunk_ = chunks == 0 ? 1 : (width_ + chunks - 1) / chunks;
        const auto number = [&](std::int64_t r) {
            return numbers == nullptr ? first + r : numbers[r];
        };
        read_rows(rows, number, centre);
    }

    // Writes the sums of every row with every row of the panel; out has kPanelRows a row.
    template <class Pairing>
    void pair_with(const Panel<Real>& panel, const Real* panel_selfs, Real* out) {
        const bool is_full = is_full_ && panel.is_direct();
        const std::int64_t lanes = is_full ? kPanelRows<Real> : panel.registers() * kLanes<Real>;
        for (std::int64_t r = 0; r < count_; ++r) {
            for (std::int64_t lane = 0; lane < lanes; ++lane) {
                out[r * kPanelRows<Real> + lane] =
                    Pairing::kSelfIsFirst ? panel_selfs[lane] : Real{0};
            }
        }
        if (std::is_same_v<Pairing, ProductPairing> && panel.is_direct() && has_wide_registers()) {
            pair_in_wide_registers(panel, out);
        } else if (is_full) {
            pair_all_full<Pairing>(panel, out);
        } else if (panel.registers() == 2) {
            pair_all_lists<Pairing, 2>(panel, out);
        } else if (panel.registers() == 4) {
            pair_all_lists<Pairing, 4>(panel, out);
        } else if (panel.registers() == 6) {
            pair_all_lists<Pairing, 6>(panel, out);
        } else {
            pair_all_lists<Pairing, kPanelRegisters>(panel, out);
        }
    }

    std::int64_t width() const noexcept { return width_; }

    // One row with all of its features, in the buffer if the tile has only a list of them.
    const Real* all_features(std::int64_t r, std::vector<Real>& buffer) const {
        if (is_dense_) {
            return rows_[static_cast<std::size_t>(r)];
        }
        buffer.assign(static_cast<std::size_t>(width_), Real{0});
        const std::int64_t* starts = starts_.data() + r * (chunks() + 1);
        for (std::int64_t at = starts[0]; at < starts[chunks()]; ++at) {
            buffer[static_cast<std::size_t>(features_[at])] = values_[at];
        }
        return buffer.data();
    }

  private:
    std::int64_t most_in_chunk() const noexcept {
        if (width_ > kMostDirectFeatures) {
            return width_;  // panels have places for features of their own, and take a row whole
        }
        // Wide registers ask for half as many lines of a panel: it may lie in the next cache.
        return has_wide_registers() ? 2 * kChunkFeatures : kChunkFeatures;
    }

    // Entries of rows, where the tile has to make a list of them.
    struct Lists {
        std::vector<Real> values;
        std::vector<std::int32_t> features;
    };

    // Rows in the right precision that nothing is subtracted from are used where they are.
    template <class Value, class Number>
    void read_rows(const DenseRows<Value>& rows, const Number& number, const Centre<Real>& centre) {
        std::int64_t entries = 0;
        is_dense_ = true;
        rows_.resize(static_cast<std::size_t>(count_));
        if (!point_to(rows, number, centre)) {
            copy_rows(rows, number, centre);
        }
        for (const Real* row : rows_) {
            entries += count_entries(row);
        }
        is_full_ = width_ <= kMostDirectFeatures &&
                   static_cast<double>(entries) > kFullShare * static_cast<double>(count_ * width_);
        if (!is_full_) {
            make_lists(entries);
        }
    }

    template <class Value, class Number>
    bool point_to(const DenseRows<Value>& rows, const Number& number, const Centre<Real>& centre) {
        if constexpr (std::is_same_v<Value, Real>) {
            if (centre.values == nullptr) {
                for (std::int64_t r = 0; r < count_; ++r) {
                    rows_[static_cast<std::size_t>(r)] = rows.row(number(r));
                }
                return true;
            }
        }
        return false;
    }

    template <class Value, class Number>
    void copy_rows(const DenseRows<Value>& rows, const Number& number, const Centre<Real>& centre) {
        copies_.resize(static_cast<std::size_t>(count_ * width_));
        for (std::int64_t r = 0; r < count_; ++r) {
            const Value* from = rows.row(number(r));
            Real* to = copies_.data() + r * width_;
            for (std::int64_t k = 0; k < width_; ++k) {
                to[k] = centre.moved(from[k], k);
            }
            rows_[static_cast<std::size_t>(r)] = to;
        }
    }

    std::int64_t count_entries(const Real* row) const noexcept {
        std::int32_t filled = 0;  // a row has less than 2^31 features
        for (std::int64_t k = 0; k < width_; ++k) {
            filled += row[k] != Real{0} ? 1 : 0;
        }
        return filled;
    }

    void make_lists(std::int64_t entries) {
        lists_.values.resize(static_cast<std::size_t>(entries) + 1);
        lists_.features.resize(static_cast<std::size_t>(entries) + 1);
        std::int64_t at = 0;
        for (const Real* row : rows_) {
            for (std::int64_t k = 0; k < width_; ++k) {
                if (k % chunk_ == 0) {
                    starts_.push_back(at);
                }
                lists_.values[static_cast<std::size_t>(at)] = row[k];
                lists_.features[static_cast<std::size_t>(at)] = static_cast<std::int32_t>(k);
                at += row[k] != Real{0} ? 1 : 0;
            }
            starts_.push_back(at);
        }
        values_ = lists_.values.data();
        features_ = lists_.features.data();
    }

    template <class Value, class Index, class Number>
    void read_rows(const CsrRows<Value, Index>& rows, const Number& number, const Centre<Real>&) {
        is_full_ = is_dense_ = false;
        if constexpr (std::is_same_v<Value, Real> && std::is_same_v<Index, std::int32_t>) {
            values_ = rows.values;
            features_ = rows.columns;
            for (std::int64_t r = 0; r < count_; ++r) {
                note_starts(rows.begin(number(r)), rows.begin(number(r) + 1));
            }
        } else {
            copy_lists(rows, number);
        }
    }

    template <class Value, class Index, class Number>
    void copy_lists(const CsrRows<Value, Index>& rows, const Number& number) {
        lists_.values.clear();
        lists_.features.clear();
        for (std::int64_t r = 0; r < count_; ++r) {
            const std::int64_t end = rows.begin(number(r) + 1);
            for (std::int64_t at = rows.begin(number(r)); at < end; ++at) {
                lists_.values.push_back(static_cast<Real>(rows.values[at]));
                lists_.features.push_back(static_cast<std::int32_t>(rows.columns[at]));
            }
        }
        values_ = lists_.values.data();
        features_ = lists_.features.data();
        std::int64_t begin = 0;
        for (std::int64_t r = 0; r < count_; ++r) {
            const std::int64_t end = begin + rows.stored(number(r));
            note_starts(begin, end);
            begin = end;
        }
    }

    // Where each chunk of a row begins, and where the last one ends.
    void note_starts(std::int64_t begin, std::int64_t end) {
        const std::int32_t* from = features_ + begin;
        const std::int32_t* const stop = features_ + end;
        for (std::int64_t feature = 0; feature < width_; feature += chunk_) {
            from = feature == 0 ? from : std::lower_bound(from, stop, feature);
            starts_.push_back(from - features_);
        }
        starts_.push_back(end);
    }

    std::int64_t chunks() const noexcept { return (width_ + chunk_ - 1) / chunk_; }

    // Products with a panel that has all features.
    void pair_in_wide_registers(const Panel<Real>& panel, Real* out) const noexcept {
        if (panel.registers() == 2) {
            pair_in_so_many<1>(panel, out);
        } else if (panel.registers() == 4) {
            pair_in_so_many<2>(panel, out);
        } else if (panel.registers() == 6) {
            pair_in_so_many<3>(panel, out);
        } else {
            pair_in_so_many<4>(panel, out);
        }
    }

    template <std::int64_t kWide>
    void pair_in_so_many(const Panel<Real>& panel, Real* out) const noexcept {
        if (is_full_) {
            pair_all_wide_rows<Real, kWide>(rows_.data(), count_, width_, panel.at(0), out);
        } else {
            pair_all_wide_lists<Real, kWide>({values_, features_, 0}, starts_.data(), chunks(),
                                             count_, panel.at(0), out);
        }
    }

    template <class Pairing, std::int64_t kRegisters>
    void pair_all_lists(const Panel<Real>& panel, Real* out) {
        if (!panel.is_direct()) {
            for (std::int64_t r = 0; r < count_; ++r) {
                pair_shared<Pairing, kRegisters>(r, panel, out + r * kPanelRows<Real>);
            }
            return;
        }
        const std::int64_t per_row = chunks();
        for (std::int64_t c = 0; c < per_row; ++c) {
            for (std::int64_t r = 0; r < count_; ++r) {
                const std::int64_t* starts = starts_.data() + r * (per_row + 1) + c;
                pair_entries<Pairing, kRegisters>(values_ + starts[0], features_ + starts[0],
                                                  starts[1] - starts[0], panel,
                                                  out + r * kPanelRows<Real>);
            }
        }
    }

    // Adds some entries of one row to its sums.
    template <class Pairing, std::int64_t kRegisters>
    static void pair_entries(const Real* values, const std::int32_t* places, std::int64_t count,
                             const Panel<Real>& panel, Real* out) noexcept {
        Register<Real> sums[kRegisters];
#pragma GCC unroll 8
        for (std::int64_t u = 0; u < kRegisters; ++u) {
            sums[u] = load(out + u * kLanes<Real>);
        }
        for (std::int64_t k = 0; k < count; ++k) {
            const Register<Real> value = broadcast(values[k]);
            const Real* lanes = panel.at(places[k]);
#pragma GCC unroll 8
            for (std::int64_t u = 0; u < kRegisters; ++u) {
                sums[u] =
                    Pairing::template add<Real>(value, load(lanes + u * kLanes<Real>), sums[u]);
            }
        }
#pragma GCC unroll 8
        for (std::int64_t u = 0; u < kRegisters; ++u) {
            store(out + u * kLanes<Real>, sums[u]);
        }
    }

    // A row whose features the panel keeps only in part: entries that no row of the panel has add
    // nothing to a product, and their own size to a distance.
    template <class Pairing, std::int64_t kRegisters>
    void pair_shared(std::int64_t r, const Panel<Real>& panel, Real* out) {
        const std::int64_t per_row = chunks();
        const std::int64_t* starts = starts_.data() + r * (per_row + 1);
        const std::int64_t begin = starts[0];
        const std::int64_t end = starts[per_row];
        shared_.values.resize(static_cast<std::size_t>(end - begin) + 1);
        shared_.features.resize(static_cast<std::size_t>(end - begin) + 1);
        std::size_t kept = 0;
        Real alone{0};
        for (std::int64_t at = begin; at < end; ++at) {
            const Real value = values_[at];
            const std::int64_t place = panel.place(features_[at]);
            shared_.values[kept] = value;
            shared_.features[kept] = static_cast<std::int32_t>(place);
            kept += place >= 0 ? 1 : 0;
            if constexpr (Pairing::kSelfIsFirst) {
                alone = place >= 0 ? alone : Pairing::template add_self<Real>(value, alone);
            }
        }
        pair_entries<Pairing, kRegisters>(shared_.values.data(), shared_.features.data(),
                                          static_cast<std::int64_t>(kept), panel, out);
        if constexpr (Pairing::kSelfIsFirst) {
            for (std::int64_t lane = 0; lane < kPanelRows<Real>; ++lane) {
                out[lane] += alone;
            }
        }
    }

    template <class Pairing>
    void pair_all_full(const Panel<Real>& panel, Real* out) const {
        constexpr std::int64_t kChunk = kChunkFeatures * kPanelRegisters / kRegistersAtOnce;
        const std::int64_t together = count_ / kRowsAtOnce * kRowsAtOnce;
        for (std::int64_t begin = 0; begin < width_ && together > 0; begin += kChunk) {
            const std::int64_t end = std::min(begin + kChunk, width_);
            for (std::int64_t u = 0; u < panel.registers(); u += kRegistersAtOnce) {
                const Real* lanes = panel.at(begin) + u * kLanes<Real>;
                Real* to = out + u * kLanes<Real>;
                for (std::int64_t r = 0; r < together; r += kRowsAtOnce) {
                    pair_full<Pairing, kRowsAtOnce>(r, begin, end, lanes,
                                                    to + r * kPanelRows<Real>);
                }
            }
        }
        for (std::int64_t begin = 0; begin < width_; begin += kChunkFeatures) {
            const std::int64_t end = std::min(begin + kChunkFeatures, width_);
            for (std::int64_t r = together; r < count_; ++r) {
                pair_alone<Pairing>(r, begin, end, panel, out + r * kPanelRows<Real>);
            }
        }
    }

    // Adds some features of one row to its sums, for all registers of the panel: it is read once,
    // from its beginning to its end, and as many sums are under way as hide their latency.
    template <class Pairing>
    void pair_alone(std::int64_t r, std::int64_t begin, std::int64_t end, const Panel<Real>& panel,
                    Real* out) const noexcept {
        const Real* row = rows_[static_cast<std::size_t>(r)];
        Register<Real> sums[kPanelRegisters];
#pragma GCC unroll 8
        for (std::int64_t u = 0; u < kPanelRegisters; ++u) {
            sums[u] = load(out + u * kLanes<Real>);
        }
        for (std::int64_t k = begin; k < end; ++k) {
            const Register<Real> value = broadcast(row[k]);
            const Real* lanes = panel.at(k);
#pragma GCC unroll 8
            for (std::int64_t u = 0; u < kPanelRegisters; ++u) {
                sums[u] =
                    Pairing::template add<Real>(value, load(lanes + u * kLanes<Real>), sums[u]);
            }
        }
#pragma GCC unroll 8
        for (std::int64_t u = 0; u < kPanelRegisters; ++u) {
            store(out + u * kLanes<Real>, sums[u]);
        }
    }

    // Adds some features of several rows to their sums, for two registers of the panel: each number
    // that is loaded is used several times.
    template <class Pairing, std::int64_t kRows>
    void pair_full(std::int64_t r, std::int64_t begin, std::int64_t end, const Real* lanes,
                   Real* out) const noexcept {
        const Real* rows[kRows];
        std::copy_n(rows_.data() + r, kRows, rows);
        Register<Real> sums[kRows][kRegistersAtOnce];
#pragma GCC unroll 6
        for (std::int64_t row = 0; row < kRows; ++row) {
            sums[row][0] = load(out + row * kPanelRows<Real>);
            sums[row][1] = load(out + row * kPanelRows<Real> + kLanes<Real>);
        }
        for (std::int64_t k = begin; k < end; ++k, lanes += kPanelRows<Real>) {
            const Register<Real> first = load(lanes);
            const Register<Real> second = load(lanes + kLanes<Real>);
#pragma GCC unroll 6
            for (std::int64_t row = 0; row < kRows; ++row) {
                const Register<Real> value = broadcast(rows[row][k]);
                sums[row][0] = Pairing::template add<Real>(value, first, sums[row][0]);
                sums[row][1] = Pairing::template add<Real>(value, second, sums[row][1]);
            }
        }
#pragma GCC unroll 6
        for (std::int64_t row = 0; row < kRows; ++row) {
            store(out + row * kPanelRows<Real>, sums[row][0]);
            store(out + row * kPanelRows<Real> + kLanes<Real>, sums[row][1]);
        }
    }

    std::int64_t count_ = 0;
    std::int64_t width_ = 0;
    std::int64_t chunk_ = 1;
    bool is_full_ = false;
    bool is_dense_ = false;
    std::vector<const Real*> rows_;  // of dense storage
    const Real* values_ = nullptr;   // entries of the rows, and the features that they are of
    const std::int32_t* features_ = nullptr;
    std::vector<std::int64_t> starts_;  // in them, chunk by chunk, and the end of each row
    std::vector<Real> copies_;
    Lists lists_;
    Lists shared_;
};

}  // namespace hinge
