// Kernel rows of a problem in slots, of which there are as many as rows: what resident_rounds.hpp
// asks for. Every row that moves is computed and kept.
#pragma once

#include <cstdint>
#include <vector>

#include "hinge/aligned.hpp"
#include "hinge/cached_rows.hpp"
#include "hinge/working_set.hpp"

namespace hinge {

struct ResidentSlots {
    float* rows;
    std::int64_t* slot_of;  // of every row, -1 where it is not kept
    std::int64_t* kept;     // the row of every slot, -1 for none
    std::int64_t* used;     // the round in which each slot was used last
    bool* is_written;
    std::int64_t clock;
};

// Fill is called as fill(ids, count, columns, n_columns, rows) and writes the kernel of these rows
// with these columns, or with all rows where columns is null, to rows[0], rows[1], ...
template <class Fill>
class SlotRows {
  public:
    SlotRows(const ResidentSlots& slots, std::int64_t count, Fill& fill)
        : slots_(slots), count_(count), fill_(fill) {}

    std::int64_t computed() const noexcept { return computed_; }

    // Kept rows are looked up, others computed as far as the set needs them.
    WholeMatrix<float> among(const std::vector<std::int64_t>& set) {
        const auto size = static_cast<std::int64_t>(set.size());
        matrix_.resize(set.size() * set.size());
        float* const matrix = matrix_.data();
        std::vector<std::int64_t> missing;
        std::vector<float*> rows;
        for (std::int64_t k = 0; k < size; ++k) {
            const std::int64_t row = set[static_cast<std::size_t>(k)];
            const std::int64_t slot = slots_.slot_of[row];
            float* const to = matrix + k * size;
            if (slot < 0) {
                missing.push_back(row);
                rows.push_back(to);
            } else {
                pick_cached(slots_.rows, count_, &slot, 1, set.data(), size, to, size);
            }
        }
        compute(missing, set.data(), size, rows);
        return {matrix, size};
    }

    void add(const std::vector<std::int64_t>& moved, const std::vector<double>& changes,
             double* scores) {
        std::vector<std::int64_t> missing;
        std::vector<std::int64_t> slots;
        std::vector<float*> rows;
        for (const std::int64_t row : moved) {
            std::int64_t& slot = slots_.slot_of[row];
            if (slot < 0) {
                while (slots_.kept[free_] >= 0) {
                    ++free_;  // there are as many slots as rows, and this one has none
                }
                slot = free_;
                slots_.kept[slot] = row;
                slots_.is_written[slot] = true;
                missing.push_back(row);
                rows.push_back(slots_.rows + slot * count_);
            }
            slots_.used[slot] = slots_.clock;
            slots.push_back(slot);
        }
        compute(missing, nullptr, count_, rows);
        add_cached(slots_.rows, count_, slots.data(), changes.data(),
                   static_cast<std::int64_t>(slots.size()), 0, count_, scores);
    }

  private:
    void compute(const std::vector<std::int64_t>& ids, const std::int64_t* columns,
                 std::int64_t n_columns, const std::vector<float*>& rows) {
        if (!ids.empty()) {
            const auto count = static_cast<std::int64_t>(ids.size());
            fill_(ids.data(), count, columns, n_columns, rows.data());
            computed_ += count * n_columns;
        }
    }

    ResidentSlots slots_;
    std::int64_t count_;
    Fill& fill_;
    AlignedVector<float> matrix_;
    std::int64_t free_ = 0;  // no slot before it is free
    std::int64_t computed_ = 0;
};

}  // namespace hinge
