// Python's view of sums and products of vectors as long as the weights.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <optional>
#include <tuple>

#include "any_rows.hpp"
#include "hinge/weight_vectors.hpp"

namespace nb = nanobind;

namespace {

using hinge::binding::require;
using hinge::binding::require_entries;
using hinge::binding::Vector;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::int64_t length(std::size_t size) {
    return static_cast<std::int64_t>(size);
}

void dots(Matrix matrix, Vector<const double> vector, Vector<double> products) {
    require_entries(vector.size(), length(matrix.shape(1)), "vector");
    require_entries(products.size(), length(matrix.shape(0)), "products");
    const std::int64_t width = length(matrix.shape(1));
    for (std::int64_t k = 0; k < length(matrix.shape(0)); ++k) {
        products.data()[k] = hinge::dot(matrix.data() + k * width, vector.data(), width);
    }
}

void require_apart(const Vector<double>& total, const Vector<const double>& vector,
                   const char* name) {
    const std::int64_t width = length(total.size());
    require_entries(vector.size(), width, name);
    const double* const out = total.data();
    const double* const in = vector.data();
    require(in + width <= out || out + width <= in, "total shares no memory with the terms");
}

std::tuple<double, double, double> movement(Vector<const double> w, Vector<const double> before,
                                            std::optional<Vector<const double>> base, Matrix matrix,
                                            Vector<double> products) {
    const std::int64_t width = length(w.size());
    require_entries(before.size(), width, "before");
    require(!base || length(base->size()) == width, "base is as long as w");
    require_entries(matrix.shape(1), width, "a row of the matrix");
    require_entries(products.size(), length(matrix.shape(0)), "products");
    const hinge::MovementSums sums =
        hinge::movement(w.data(), before.data(), base ? base->data() : nullptr, matrix.data(),
                        length(matrix.shape(0)), width, products.data());
    return {sums.square, sums.moved, sums.with_base};
}

double combine(Vector<double> total, double a, Vector<const double> x, double b,
               Vector<const double> y) {
    require_apart(total, x, "x");
    require_apart(total, y, "y");
    return hinge::combine(length(total.size()), total.data(), hinge::Term{a, x.data()},
                          hinge::Term{b, y.data()});
}

double combine_three(Vector<double> total, double a, Vector<const double> x, double b,
                     Vector<const double> y, double c, Vector<const double> z) {
    require_apart(total, x, "x");
    require_apart(total, y, "y");
    require_apart(total, z, "z");
    return hinge::combine(length(total.size()), total.data(), hinge::Term{a, x.data()},
                          hinge::Term{b, y.data()}, hinge::Term{c, z.data()});
}

}  // namespace

void bind_weight_vectors(nb::module_& module) {
    const auto unlocked = nb::call_guard<nb::gil_scoped_release>();
    module.def("dots", &dots, nb::arg("matrix").noconvert(), nb::arg("vector").noconvert(),
               nb::arg("products").noconvert(), unlocked,
               "Write the dot product of every row of a matrix with a vector.");
    module.def("movement", &movement, nb::arg("w").noconvert(), nb::arg("before").noconvert(),
               nb::arg("base").noconvert().none(), nb::arg("matrix").noconvert(),
               nb::arg("products").noconvert(), unlocked,
               "Return w'w, the square of d = w - before, and w'base; write d times the matrix.");
    module.def("combine", &combine, nb::arg("total").noconvert(), nb::arg("a"),
               nb::arg("x").noconvert(), nb::arg("b"), nb::arg("y").noconvert(), unlocked,
               "Write a x + b y; return the square of its length.");
    module.def("combine", &combine_three, nb::arg("total").noconvert(), nb::arg("a"),
               nb::arg("x").noconvert(), nb::arg("b"), nb::arg("y").noconvert(), nb::arg("c"),
               nb::arg("z").noconvert(), unlocked,
               "Write a x + b y + c z; return the square of its length.");
}
