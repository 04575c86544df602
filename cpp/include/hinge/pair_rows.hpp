// Kernel rows of the problem of two classes, as resident_rounds.hpp asks for them.
//
// The rows of the problem are those of the first class, then those of the second. A kernel row has
// two pieces: at the rows of its own class, which other pairs of classes share (class_rows.hpp),
// and at those of the other class, which is this pair's own. A row that moves has both from then
// on.
//
// The kernel matrix of a working set is picked from rows that have moved before, also those columns
// of other rows that are theirs: the kernel is symmetric to the bit. So it is from rows of a class
// that other pairs have computed. What is left is computed, of the two classes with each other
// once. Rows of the matrix are picked when steps ask for them: most sets are left before all of
// them have.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hinge/aligned.hpp"
#include "hinge/cached_rows.hpp"
#include "hinge/class_rows.hpp"
#include "hinge/row_store.hpp"

namespace hinge {

// Values has two calls, both with numbers of rows:
//   values.block(terms, points, rows)     rows[i][k] = k(term i, point k)
//   values.at(terms, panels, rows)        the same at points that are packed
template <class Values>
class PairRows {
  public:
    PairRows(ClassRows& first, ClassRows& second, Values& values)
        : sides_{&first, &second},
          begins_{0, first.count()},
          pieces_(static_cast<std::size_t>(first.count() + second.count())),
          stores_{RowStore(first.count()), RowStore(second.count())},
          values_(values) {}

    std::int64_t count() const noexcept { return static_cast<std::int64_t>(pieces_.size()); }

    // As if this pair had computed all of its values itself, whatever others had done before.
    std::int64_t computed() const noexcept { return computed_; }

    // The kernel matrix of a set, for as long as no other is asked for.
    class SetMatrix {
      public:
        using Value = float;

        explicit SetMatrix(const PairRows& rows) noexcept : rows_(rows) {}

        double own(std::int64_t k) const noexcept {
            return static_cast<double>(rows_.own_value(static_cast<std::size_t>(k)));
        }
        const float* row(std::int64_t k, int /*place*/) const noexcept {
            return rows_.row(static_cast<std::size_t>(k));
        }

      private:
        const PairRows& rows_;
    };

    SetMatrix among(const std::vector<std::int64_t>& set) {
        set_ = set;
        is_picked_.assign(set.size(), false);
        if (picked_.size() < set.size() * set.size()) {
            picked_.resize(set.size() * set.size());
        }
        find_set();
        compute_new();
        computed_ += static_cast<std::int64_t>((new_[0].size() + new_[1].size()) * set.size());
        return SetMatrix(*this);
    }

    void add(const std::vector<std::int64_t>& moved, const std::vector<double>& changes,
             double* scores) {
        for (int side = 0; side < 2; ++side) {
            compute_pieces(side, new_rows(moved, side));
        }
        std::vector<const float*> rows[2];  // pieces of the moved rows at either class
        for (const std::int64_t row : moved) {
            const Pieces& pieces = pieces_[static_cast<std::size_t>(row)];
            const int side = side_of(row);
            rows[side].push_back(pieces.own);
            rows[1 - side].push_back(pieces.other);
        }
        for (int side = 0; side < 2; ++side) {
            add_rows(rows[side].data(), changes.data(), static_cast<std::int64_t>(moved.size()),
                     sides_[side]->count(), scores + begins_[side]);
        }
    }

  private:
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

    struct Pieces {
        const float* own = nullptr;    // at the rows of its class; null before it moves
        const float* other = nullptr;  // at the rows of the other class
    };

    int side_of(std::int64_t row) const noexcept { return row < begins_[1] ? 0 : 1; }

    // Finds out which rows of the set have moved, and where kernel rows of others are.
    void find_set() {
        in_class_.resize(set_.size());
        place_in_new_.assign(set_.size(), kNone);
        place_in_absent_.assign(set_.size(), kNone);
        at_.assign(set_.size(), {nullptr, nullptr});
        for (int side = 0; side < 2; ++side) {
            new_[side].clear();
            absent_[side].clear();
        }
        for (std::size_t k = 0; k < set_.size(); ++k) {
            const Pieces& pieces = pieces_[static_cast<std::size_t>(set_[k])];
            const int side = side_of(set_[k]);
            in_class_[k] = set_[k] - begins_[side];
            if (pieces.own == nullptr) {
                place_in_new_[k] = new_[side].size();
                new_[side].push_back(in_class_[k]);
            } else {
                at_[k][side] = pieces.own;
                at_[k][1 - side] = pieces.other;
            }
        }
        std::vector<const float*> found[2];
        sides_[0]->look_up(new_[0], found[0]);
        sides_[1]->look_up(new_[1], found[1]);
        for (std::size_t k = 0; k < set_.size(); ++k) {
            const int side = side_of(set_[k]);
            if (place_in_new_[k] != kNone) {
                at_[k][side] = found[side][place_in_new_[k]];
                if (at_[k][side] == nullptr) {
                    place_in_absent_[k] = absent_[side].size();
                    absent_[side].push_back(in_class_[k]);
                }
            }
        }
    }

    // Computes what no kernel row has: of either class with itself, and of one with the other.
    void compute_new() {
        for (int side = 0; side < 2; ++side) {
            compute_block(numbers_in(side, absent_[side]), numbers_in(side, absent_[side]),
                          among_absent_[side]);
        }
        compute_block(numbers_in(0, new_[0]), numbers_in(1, new_[1]), between_new_);
    }

    void compute_block(const std::vector<std::int64_t>& terms,
                       const std::vector<std::int64_t>& points, std::vector<float>& block) {
        block.resize(terms.size() * points.size());
        std::vector<float*> rows;
        for (std::size_t a = 0; a < terms.size(); ++a) {
            rows.push_back(block.data() + a * points.size());
        }
        if (!block.empty()) {
            values_.block(terms, points, rows.data());
        }
    }

    // The kernel of the k-th row of the set with itself.
    float own_value(std::size_t k) const noexcept {
        const int side = side_of(set_[k]);
        if (at_[k][side] != nullptr) {
            return at_[k][side][in_class_[k]];
        }
        return among_absent_[side][place_in_absent_[k] * (absent_[side].size() + 1)];
    }

    // The k-th row of the set at all of its columns, which come class by class.
    const float* row(std::size_t k) const noexcept {
        float* const out = picked_.data() + k * set_.size();
        if (!is_picked_[k]) {
            is_picked_[k] = true;
            const auto middle = static_cast<std::size_t>(
                std::lower_bound(set_.begin(), set_.end(), begins_[1]) - set_.begin());
            pick(k, 0, 0, middle, out);
            pick(k, 1, middle, set_.size(), out);
        }
        return out;
    }

    // The columns from begin to end of a row of the set, all of one class.
    void pick(std::size_t k, int side, std::size_t begin, std::size_t end,
              float* out) const noexcept {
        const float* const from = at_[k][side];
        if (from != nullptr) {
            for (std::size_t j = begin; j < end; ++j) {
                out[j] = from[in_class_[j]];
            }
            return;
        }
        const int own = side_of(set_[k]);
        // Where the first of these values is, and how far apart they are.
        const float* computed = nullptr;
        std::size_t stride = 1;
        if (own == side) {
            computed = among_absent_[side].data() + place_in_absent_[k] * absent_[side].size();
        } else if (own == 0) {
            computed = between_new_.data() + place_in_new_[k] * new_[1].size();
        } else {
            computed = between_new_.data() + place_in_new_[k];
            stride = new_[1].size();
        }
        const std::vector<std::size_t>& places = own == side ? place_in_absent_ : place_in_new_;
        for (std::size_t j = begin; j < end; ++j) {
            const std::size_t place = places[j];
            out[j] = place == kNone ? at_[j][own][in_class_[k]] : computed[place * stride];
        }
    }

    // Which rows of a class move for the first time, as numbered in the class.
    std::vector<std::int64_t> new_rows(const std::vector<std::int64_t>& moved, int side) const {
        std::vector<std::int64_t> found;
        for (const std::int64_t row : moved) {
            if (side_of(row) == side && pieces_[static_cast<std::size_t>(row)].own == nullptr) {
                found.push_back(row - begins_[side]);
            }
        }
        return found;
    }

    void compute_pieces(int side, const std::vector<std::int64_t>& ids) {
        if (ids.empty()) {
            return;
        }
        std::vector<float*> rows;
        for (const std::int64_t id : ids) {
            rows.push_back(stores_[1 - side].take());
            pieces_[static_cast<std::size_t>(id + begins_[side])].other = rows.back();
        }
        values_.at(numbers_in(side, ids), sides_[1 - side]->panels(), rows.data());
        find_own(side, ids);
        computed_ += static_cast<std::int64_t>(ids.size()) * count();
    }

    void find_own(int side, const std::vector<std::int64_t>& ids) {
        ClassRows& shared = *sides_[side];
        std::vector<const float*> found;
        shared.find(
            ids,
            [&](const std::vector<std::int64_t>& some, const std::vector<float*>& to) {
                values_.at(numbers_in(side, some), shared.panels(), to.data());
            },
            found);
        std::vector<std::int64_t> unshared;
        std::vector<float*> rows;
        for (std::size_t k = 0; k < ids.size(); ++k) {
            Pieces& pieces = pieces_[static_cast<std::size_t>(ids[k] + begins_[side])];
            pieces.own = found[k];
            if (found[k] == nullptr) {
                rows.push_back(stores_[side].take());
                pieces.own = rows.back();
                unshared.push_back(ids[k]);
            }
        }
        if (!unshared.empty()) {
            values_.at(numbers_in(side, unshared), shared.panels(), rows.data());
        }
    }

    std::vector<std::int64_t> numbers_in(int side, const std::vector<std::int64_t>& ids) const {
        std::vector<std::int64_t> numbers;
        for (const std::int64_t id : ids) {
            numbers.push_back(sides_[side]->numbers()[static_cast<std::size_t>(id)]);
        }
        return numbers;
    }

    ClassRows* sides_[2];
    std::int64_t begins_[2];  // the first row of either class
    std::vector<Pieces> pieces_;
    RowStore stores_[2];  // for pieces at either class that nobody shares
    Values& values_;
    std::int64_t computed_ = 0;
    std::vector<std::int64_t> set_;                // the last set, in order
    std::vector<std::int64_t> in_class_;           // numbers of its rows in their classes
    std::vector<std::array<const float*, 2>> at_;  // their kernel rows at either class, or null
    std::vector<std::int64_t> new_[2];             // rows of it that have not moved yet,
    std::vector<std::size_t> place_in_new_;        // and the place of each row there, or kNone
    std::vector<std::int64_t> absent_[2];          // of these, rows that nobody has computed
    std::vector<std::size_t> place_in_absent_;
    std::vector<float> among_absent_[2];   // the kernel of these with each other, class by class
    std::vector<float> between_new_;       // the kernel of new rows of one class with the other
    mutable std::vector<bool> is_picked_;  // rows of the set's matrix that are there
    mutable AlignedVector<float> picked_;
};

}  // namespace hinge
