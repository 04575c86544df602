// Kernel rows of the problem of two classes, as resident_rounds.hpp asks for them.
//
// The rows of the problem are those of the first class, then those of the second. A kernel row has
// two pieces: at the rows of its own class, which other pairs of classes share (class_rows.hpp),
// and at those of the other class, which is this pair's own. A row that moves has both from then
// on.
//
// The kernel matrix of a working set is picked from rows that have moved before, also those columns
// of other rows that are theirs: the kernel is symmetric to the bit. What is left is computed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hinge/aligned.hpp"
#include "hinge/cached_rows.hpp"
#include "hinge/class_rows.hpp"

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
          values_(values) {}

    std::int64_t count() const noexcept { return static_cast<std::int64_t>(pieces_.size()); }

    // As if this pair had computed all of its values itself, whatever others had done before.
    std::int64_t computed() const noexcept { return computed_; }

    void among(const std::vector<std::int64_t>& set, float* matrix) {
        const auto size = static_cast<std::int64_t>(set.size());
        std::vector<std::int64_t> places;  // in the set, of rows that have not moved yet
        for (std::int64_t k = 0; k < size; ++k) {
            const std::int64_t row = set[static_cast<std::size_t>(k)];
            if (pieces_[static_cast<std::size_t>(row)].own == nullptr) {
                places.push_back(k);
            } else {
                pick(row, set, matrix + k * size);
            }
        }
        const std::vector<float> among_new = block_of(set, places);
        const std::size_t count = places.size();
        std::vector<bool> is_new(set.size(), false);
        for (std::size_t a = 0; a < count; ++a) {
            is_new[static_cast<std::size_t>(places[a])] = true;
        }
        for (std::size_t a = 0; a < count; ++a) {
            float* const row = matrix + places[a] * size;
            for (std::size_t b = 0; b < count; ++b) {
                row[places[b]] = among_new[a * count + b];
            }
            for (std::int64_t k = 0; k < size; ++k) {
                if (!is_new[static_cast<std::size_t>(k)]) {
                    row[k] = matrix[k * size + places[a]];
                }
            }
        }
        computed_ += static_cast<std::int64_t>(count) * size;
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
            rows[1 - side].push_back(pieces.other.data());
        }
        for (int side = 0; side < 2; ++side) {
            add_rows(rows[side].data(), changes.data(), static_cast<std::int64_t>(moved.size()),
                     sides_[side]->count(), scores + begins_[side]);
        }
    }

  private:
    struct Pieces {
        const float* own = nullptr;     // at the rows of its class; null before it moves
        AlignedVector<float> other;     // at the rows of the other class
        AlignedVector<float> unshared;  // what `own` points to where the class has no room for it
    };

    int side_of(std::int64_t row) const noexcept { return row < begins_[1] ? 0 : 1; }
    std::int64_t number_of(std::int64_t row) const noexcept {
        const int side = side_of(row);
        return sides_[side]->numbers()[static_cast<std::size_t>(row - begins_[side])];
    }

    // A kept row at the rows of the set, which come class by class.
    void pick(std::int64_t row, const std::vector<std::int64_t>& set, float* out) const noexcept {
        const Pieces& pieces = pieces_[static_cast<std::size_t>(row)];
        const int side = side_of(row);
        const float* const at[2] = {side == 0 ? pieces.own : pieces.other.data(),
                                    side == 0 ? pieces.other.data() : pieces.own};
        std::size_t k = 0;
        for (; k < set.size() && set[k] < begins_[1]; ++k) {
            out[k] = at[0][set[k]];
        }
        for (; k < set.size(); ++k) {
            out[k] = at[1][set[k] - begins_[1]];
        }
    }

    // The kernel of some rows of the set with each other.
    std::vector<float> block_of(const std::vector<std::int64_t>& set,
                                const std::vector<std::int64_t>& places) {
        std::vector<float> block(places.size() * places.size());
        std::vector<std::int64_t> numbers;
        std::vector<float*> rows;
        for (const std::int64_t place : places) {
            rows.push_back(block.data() + rows.size() * places.size());
            numbers.push_back(number_of(set[static_cast<std::size_t>(place)]));
        }
        if (!numbers.empty()) {
            values_.block(numbers, numbers, rows.data());
        }
        return block;
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
        const std::int64_t width = sides_[1 - side]->count();
        std::vector<float*> rows;
        for (const std::int64_t id : ids) {
            auto& other = pieces_[static_cast<std::size_t>(id + begins_[side])].other;
            other.resize(static_cast<std::size_t>(width));
            rows.push_back(other.data());
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
                pieces.unshared.resize(static_cast<std::size_t>(shared.count()));
                pieces.own = pieces.unshared.data();
                unshared.push_back(ids[k]);
                rows.push_back(pieces.unshared.data());
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
    Values& values_;
    std::int64_t computed_ = 0;
};

}  // namespace hinge
