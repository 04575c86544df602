// The arrays that rows of LIBSVM text are read into and written from, as Python has them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>

#include "hinge/libsvm_outcome.hpp"
#include "require.hpp"

namespace hinge::binding {

namespace nb = nanobind;

template <class Value>
using Array = nb::ndarray<Value, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using AnyArray = nb::ndarray<nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Arrays for the rows of one piece of text.
struct LibsvmArrays {
    AnyArray values;
    AnyArray indices;
    Array<std::int64_t> row_ends;
    Array<double> labels;
    Array<std::int64_t> label_ends;
    Array<std::int64_t> queries;

    void require_room(std::size_t bytes) const {
        require(values.size() >= bytes / 4 + 1 && indices.size() >= bytes / 4 + 1,
                "values and indices must have a place for every four bytes of text");
        const std::size_t rows = bytes / 2 + 1;
        require(row_ends.size() >= rows && labels.size() >= rows && label_ends.size() >= rows &&
                    queries.size() >= rows,
                "rows, labels and queries must have a place for every two bytes of text");
    }

    template <class Value, class Index>
    hinge::TextArrays<Value, Index> typed() const {
        return {static_cast<Value*>(values.data()),
                static_cast<Index*>(indices.data()),
                row_ends.data(),
                labels.data(),
                label_ends.data(),
                queries.data()};
    }
};

}  // namespace hinge::binding
