// Rows as Python has them, of any storage, and the call of a function with the view that fits.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "hinge/rows.hpp"
#include "require.hpp"

namespace hinge::binding {

namespace nb = nanobind;

template <class Value>
using Vector = nb::ndarray<Value, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using AnyVector = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

// Dense values, or the three arrays of a CSR matrix. The arrays are checked where this is made;
// whether indices point into the rows is for the caller to know, who has validated them.
class AnyRows {
  public:
    AnyRows(AnyVector values, std::optional<AnyVector> columns, std::optional<AnyVector> offsets,
            std::int64_t count, std::int64_t width)
        : values_(std::move(values)),
          columns_(std::move(columns)),
          offsets_(std::move(offsets)),
          count_(count),
          width_(width) {
        require(count >= 0 && width >= 0, "the rows must have a shape");
        require(count < (std::int64_t{1} << 32), "at most 2^32 - 1 rows");
        require(is<float>(values_) || is<double>(values_),
                "the values of the rows must be float32 or float64");
        if (!columns_) {
            require_entries(values_.size(), count * width, "values");
            return;
        }
        require(offsets_.has_value(), "sparse rows need their offsets");
        require(is<std::int32_t>(*columns_) || is<std::int64_t>(*columns_),
                "the column indices must be int32 or int64");
        require(is<std::int32_t>(*offsets_) || is<std::int64_t>(*offsets_),
                "the row offsets must be int32 or int64");
        require_entries(offsets_->size(), count + 1, "the row offsets");
        require(columns_->size() == values_.size(), "one column index for every value");
    }

    std::int64_t count() const noexcept { return count_; }
    std::int64_t width() const noexcept { return width_; }

    template <class Function>
    void visit(Function&& function) const {
        is<double>(values_) ? visit_typed<double>(function) : visit_typed<float>(function);
    }

  private:
    template <class Value>
    static bool is(const AnyVector& array) {
        return array.dtype() == nb::dtype<Value>();
    }

    template <class Value, class Function>
    void visit_typed(Function&& function) const {
        if (!columns_) {
            function(DenseRows<Value>{static_cast<const Value*>(values_.data()), count_, width_});
        } else if (is<std::int32_t>(*columns_)) {
            function(sparse<Value, std::int32_t>());
        } else {
            function(sparse<Value, std::int64_t>());
        }
    }

    template <class Value, class Index>
    CsrRows<Value, Index> sparse() const {
        return {static_cast<const Value*>(values_.data()),
                static_cast<const Index*>(columns_->data()),
                offsets_->data(),
                is<std::int64_t>(*offsets_),
                count_,
                width_};
    }

    AnyVector values_;
    std::optional<AnyVector> columns_;
    std::optional<AnyVector> offsets_;
    std::int64_t count_;
    std::int64_t width_;
};

}  // namespace hinge::binding
