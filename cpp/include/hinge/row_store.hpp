// Memory for rows of equal length that all live as long as their owner: taken in large pieces, and
// written by whoever asks for it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace hinge {

class RowStore {
  public:
    explicit RowStore(std::int64_t length)
        // Rows begin with a cache line.
        : stride_((static_cast<std::size_t>(length) + kLine - 1) / kLine * kLine) {}
    RowStore(const RowStore&) = delete;
    RowStore& operator=(const RowStore&) = delete;
    ~RowStore() {
        for (float* slab : slabs_) {
            ::operator delete(slab, kAlignment);
        }
    }

    // A row that nobody else has; its values are yet to be written.
    float* take() {
        if (used_ == rows_in_slab_) {
            add_slab();
        }
        return slabs_.back() + stride_ * used_++;
    }

  private:
    static constexpr std::size_t kLine = 16;
    static constexpr std::align_val_t kAlignment{64};
    static constexpr std::size_t kFirstRows = 16;
    static constexpr std::size_t kMostRows = 256;

    // Each piece is twice as large as the one before, so that few rows take little memory.
    void add_slab() {
        const std::size_t rows =
            slabs_.empty() ? kFirstRows : std::min(2 * rows_in_slab_, kMostRows);
        slabs_.reserve(slabs_.size() + 1);
        const std::size_t bytes = rows * stride_ * sizeof(float);
        slabs_.push_back(static_cast<float*>(::operator new(bytes, kAlignment)));
        rows_in_slab_ = rows;
        used_ = 0;
    }

    std::size_t stride_;
    std::vector<float*> slabs_;
    std::size_t rows_in_slab_ = 0;
    std::size_t used_ = 0;
};

}  // namespace hinge
