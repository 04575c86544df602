// A few rows as a caller has them, checked and viewed as the two kinds that are evaluated: dense in
// float64, or CSR in float64 with columns of 32 bits. Others are copied, and nothing is believed:
// rows that are not canonical have no view.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "rows_view.hpp"

namespace hinge::binding {

class FewRows {
  public:
    // False where the arrays are not those of `count` canonical rows of `width` features.
    bool read(const AnyArray& values, const std::optional<AnyArray>& columns,
              const std::optional<AnyArray>& offsets, std::int64_t count, std::int64_t width) {
        count_ = count;
        width_ = width;
        is_sparse_ = columns.has_value();
        if (is_sparse_ != offsets.has_value() || count < 0 || width < 0) {
            return false;
        }
        if (values.dtype() == nb::dtype<double>()) {
            return read_values<double>(values, columns, offsets);
        }
        return values.dtype() == nb::dtype<float>() && read_values<float>(values, columns, offsets);
    }

    template <class Function>
    auto visit(Function&& function) const {
        if (is_sparse_) {
            return function(CsrRows<double, std::int32_t>{copies_.data(), columns_.data(),
                                                          offsets_.data(), true, count_, width_});
        }
        return function(DenseRows<double>{dense_, count_, width_});
    }

  private:
    template <class Value>
    bool read_values(const AnyArray& values, const std::optional<AnyArray>& columns,
                     const std::optional<AnyArray>& offsets) {
        const auto* from = static_cast<const Value*>(values.data());
        if (is_sparse_) {
            return values.ndim() == 1 && columns->ndim() == 1 && offsets->ndim() == 1 &&
                   values.size() == columns->size() && read_offsets(*offsets, values.size()) &&
                   read_columns(*columns) && read_copies(from, values.size());
        }
        if (values.ndim() != 2 || values.shape(0) != static_cast<std::size_t>(count_) ||
            values.shape(1) != static_cast<std::size_t>(width_)) {
            return false;
        }
        if constexpr (sizeof(Value) == sizeof(double)) {
            dense_ = from;
            return true;
        }
        read_copies(from, values.size());
        dense_ = copies_.data();
        return true;
    }

    template <class Value>
    bool read_copies(const Value* from, std::size_t size) {
        copies_.assign(from, from + size);
        return true;
    }

    bool read_offsets(const AnyArray& offsets, std::size_t stored) {
        if (offsets.size() != static_cast<std::size_t>(count_) + 1 || !copied(offsets, offsets_)) {
            return false;
        }
        for (std::size_t i = 1; i < offsets_.size(); ++i) {
            if (offsets_[i] < offsets_[i - 1]) {
                return false;
            }
        }
        return offsets_.front() == 0 && offsets_.back() == static_cast<std::int64_t>(stored);
    }

    // Columns of a row must rise, and lie among the features.
    bool read_columns(const AnyArray& columns) {
        std::vector<std::int64_t> all;
        if (width_ > std::numeric_limits<std::int32_t>::max() || !copied(columns, all)) {
            return false;
        }
        for (std::int64_t i = 0; i < count_; ++i) {
            std::int64_t last = -1;
            const auto end = static_cast<std::size_t>(offsets_[static_cast<std::size_t>(i) + 1]);
            for (auto at = static_cast<std::size_t>(offsets_[static_cast<std::size_t>(i)]);
                 at < end; ++at) {
                if (all[at] <= last || all[at] >= width_) {
                    return false;
                }
                last = all[at];
            }
        }
        columns_.assign(all.begin(), all.end());
        return true;
    }

    static bool copied(const AnyArray& from, std::vector<std::int64_t>& to) {
        if (from.dtype() == nb::dtype<std::int32_t>()) {
            const auto* values = static_cast<const std::int32_t*>(from.data());
            to.assign(values, values + from.size());
            return true;
        }
        if (from.dtype() != nb::dtype<std::int64_t>()) {
            return false;
        }
        const auto* values = static_cast<const std::int64_t*>(from.data());
        to.assign(values, values + from.size());
        return true;
    }

    std::int64_t count_ = 0;
    std::int64_t width_ = 0;
    bool is_sparse_ = false;
    const double* dense_ = nullptr;
    std::vector<double> copies_;
    std::vector<std::int32_t> columns_;
    std::vector<std::int64_t> offsets_;
};

}  // namespace hinge::binding
