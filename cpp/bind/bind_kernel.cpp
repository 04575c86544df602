// Python's view of kernel values: sums of terms at points, and blocks of the kernel matrix.
#include <algorithm>

#include "kernel_rows.hpp"

namespace nb = nanobind;

namespace {

using hinge::Centre;
using hinge::binding::Array;
using hinge::binding::KernelChoice;
using hinge::binding::KernelRows;
using hinge::binding::Matrix;
using hinge::binding::Numbers;
using hinge::binding::require;
using hinge::binding::require_length;

// Each row's sum with itself, from `first` on, as kernel values are taken.
template <class Real>
void self_sums(const Matrix& matrix, const KernelChoice& choice,
               std::optional<Array<const double, 1>> centre, std::int64_t first,
               Array<Real, 1> out) {
    const auto count = static_cast<std::int64_t>(out.size());
    require(first >= 0 && first <= matrix.count && count <= matrix.count - first,
            "the rows must be among those that there are");
    const Centre<Real> from{centre ? centre->data() : nullptr};
    hinge::binding::with_rows(matrix, [&](const auto& rows) {
        const nb::gil_scoped_release unlocked;
        choice.visit([&]<class Kernel>(const Kernel&) {
            hinge::self_sums<typename Kernel::Pairing, Real>(rows, first, count, from, out.data());
        });
    });
}

// How many entries of each dense row, from `first` on, are not zero.
void count_entries(const Matrix& matrix, std::int64_t first, Array<std::int64_t, 1> out) {
    const auto count = static_cast<std::int64_t>(out.size());
    require(first >= 0 && first <= matrix.count && count <= matrix.count - first,
            "the rows must be among those that there are");
    hinge::binding::with_rows(matrix, [&](const auto& rows) {
        const nb::gil_scoped_release unlocked;
        for (std::int64_t k = 0; k < count; ++k) {
            std::int64_t entries = 0;
            hinge::for_entries(rows, first + k, Centre<float>{},
                               [&](std::int64_t, float) { ++entries; });
            out.data()[k] = entries;
        }
    });
}

// The entries of the dense rows from `first` on that are not zero, as float32, to where each
// begins.
void copy_entries(const Matrix& matrix, std::int64_t first, Numbers offsets, Array<float, 1> values,
                  Array<std::int32_t, 1> columns) {
    require(offsets.size() > 0, "an offset for every row, and the end");
    const auto count = static_cast<std::int64_t>(offsets.size()) - 1;
    require(first >= 0 && first <= matrix.count && count <= matrix.count - first,
            "the rows must be among those that there are");
    require(!matrix.columns, "the rows must be dense");
    require_length(columns.size(), values.size(), "columns");
    const auto room = static_cast<std::int64_t>(values.size());
    bool fits = true;
    hinge::binding::with_rows(matrix, [&]<class Rows>(const Rows& rows) {
        if constexpr (requires { rows.row(first); }) {
            const nb::gil_scoped_release unlocked;
            std::vector<float> some(static_cast<std::size_t>(matrix.width));
            std::vector<std::int32_t> features(static_cast<std::size_t>(matrix.width));
            for (std::int64_t k = 0; k < count && fits; ++k) {
                const std::int64_t begin = offsets(static_cast<std::size_t>(k));
                const std::int64_t end = offsets(static_cast<std::size_t>(k) + 1);
                const std::int64_t entries =
                    hinge::list_entries(rows, first + k, some.data(), features.data());
                fits = begin >= 0 && end <= room && end - begin == entries;
                if (fits) {
                    std::copy_n(some.data(), entries, values.data() + begin);
                    std::copy_n(features.data(), entries, columns.data() + begin);
                }
            }
        }
    });
    require(fits, "the rows do not have as many entries as there is room for");
}

template <class Real>
void bind_rows(nb::module_& module, const char* name) {
    using Rows = KernelRows<Real>;
    nb::class_<Rows>(module, name, "Rows as terms or points of kernel values.")
        .def(
            nb::init<Matrix, KernelChoice, typename Rows::Values,
                     std::optional<typename Rows::Values>, std::optional<Array<const double, 1>>>(),
            nb::arg("matrix"), nb::arg("kernel"), nb::arg("selfs").noconvert(),
            nb::arg("scales").noconvert().none(), nb::arg("centre").noconvert().none())
        .def_prop_ro("count", &Rows::count, "How many rows there are.")
        .def("block", &Rows::template block<float>, nb::arg("terms"),
             nb::arg("numbers").noconvert(), nb::arg("first"), nb::arg("points").noconvert().none(),
             nb::arg("out").noconvert(), nb::arg("slots").noconvert().none(),
             nb::arg("first_column"), nb::arg("count"), "Fill columns of a block of kernel values.")
        .def("block", &Rows::template block<double>, nb::arg("terms"),
             nb::arg("numbers").noconvert(), nb::arg("first"), nb::arg("points").noconvert().none(),
             nb::arg("out").noconvert(), nb::arg("slots").noconvert().none(),
             nb::arg("first_column"), nb::arg("count"),
             "Fill columns of a block of kernel values.");
    module.def("kernel_self_sums", &self_sums<Real>, nb::arg("matrix"), nb::arg("kernel"),
               nb::arg("centre").noconvert().none(), nb::arg("first"), nb::arg("out").noconvert(),
               "Write each row's sum with itself.");
}

}  // namespace

void bind_kernel(nb::module_& module) {
    nb::class_<KernelChoice>(module, "KernelChoice", "A kernel by name, with its parameters.")
        .def(nb::init<std::string, double, double, std::int64_t>(), nb::arg("name"),
             nb::arg("gamma"), nb::arg("coef0"), nb::arg("degree"));
    module.def("count_entries", &count_entries, nb::arg("matrix"), nb::arg("first"),
               nb::arg("out").noconvert(), "Count the entries of rows that are not zero.");
    module.def("copy_entries", &copy_entries, nb::arg("matrix"), nb::arg("first"),
               nb::arg("offsets").noconvert(), nb::arg("values").noconvert(),
               nb::arg("columns").noconvert(), "Copy the entries of rows that are not zero.");
    bind_rows<float>(module, "KernelRowsFloat");
    bind_rows<double>(module, "KernelRowsDouble");
}
