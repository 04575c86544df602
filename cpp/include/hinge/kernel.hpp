// Kernels: what two rows have in common, as a sum over features and a function of that sum.
//
// A pairing says what one feature adds to the sum, given that a feature which is zero in the row
// adds nothing: for distances the sum starts from the other row's own size. A kernel turns the sum
// and the sizes of the two rows ("self") into its value.
//
//   linear       a'b
//   polynomial   (gamma a'b + coef0)^degree, the degree a whole number
//   rbf          exp(-gamma ||a - b||^2),   ||a - b||^2 = a'a + b'b - 2 a'b
//   sigmoid      tanh(gamma a'b + coef0)
//   laplacian    exp(-gamma sum |a - b|),           self: sum |a|
//   chi_squared  exp(-gamma sum (a - b)^2 / (a + b)), self: sum a, which is never negative
//
// The product of a row with itself is taken in the same order and precision as that with any other
// row, so equal rows have distance 0 to the bit.
#pragma once

#include <cmath>
#include <cstdint>

#include "hinge/exponential.hpp"
#include "hinge/registers.hpp"

namespace hinge {

struct ProductPairing {
    static constexpr bool kSelfIsFirst = false;  // the sum starts from 0

    template <class Real>
    static Register<Real> add(Register<Real> row, Register<Real> lanes,
                              Register<Real> sum) noexcept {
        return fused(row, lanes, sum);
    }
    template <class Real>
    static Real add_self(Real value, Real sum) noexcept {
        return fused_one(value, value, sum);
    }
};

struct AbsolutePairing {
    static constexpr bool kSelfIsFirst = true;

    template <class Real>
    static Register<Real> magnitude(Register<Real> x) noexcept {
        return x < Register<Real>{} ? -x : x;
    }
    template <class Real>
    static Register<Real> add(Register<Real> row, Register<Real> lanes,
                              Register<Real> sum) noexcept {
        return sum + (magnitude<Real>(row - lanes) - magnitude<Real>(lanes));
    }
    template <class Real>
    static Real add_self(Real value, Real sum) noexcept {
        return sum + std::abs(value);
    }
};

struct ChiSquaredPairing {
    static constexpr bool kSelfIsFirst = true;

    // (x - t)^2 / (x + t) - t  =  x (x - 3 t) / (x + t), and 0 where both are 0.
    template <class Real>
    static Register<Real> add(Register<Real> row, Register<Real> lanes,
                              Register<Real> sum) noexcept {
        const Register<Real> total = row + lanes;
        const auto empty = total == Register<Real>{};
        const Register<Real> divisor = empty ? broadcast<Real>(1) : total;
        const Register<Real> share = row / divisor;
        return sum + share * (row - broadcast<Real>(3) * lanes);
    }
    template <class Real>
    static Real add_self(Real value, Real sum) noexcept {
        return sum + value;
    }
};

struct LinearKernel {
    using Pairing = ProductPairing;
    template <class Real>
    Register<Real> value(Register<Real> sum, Register<Real>, Register<Real>) const noexcept {
        return sum;
    }
};

struct PolynomialKernel {
    using Pairing = ProductPairing;
    double gamma;
    double coef0;
    std::int64_t degree;

    template <class Real>
    Register<Real> value(Register<Real> sum, Register<Real>, Register<Real>) const noexcept {
        Register<Real> base = fused(sum, broadcast<Real>(static_cast<Real>(gamma)),
                                    broadcast<Real>(static_cast<Real>(coef0)));
        Register<Real> power = broadcast<Real>(1);
        for (std::int64_t left = degree; left > 0; left >>= 1) {
            if ((left & 1) != 0) {
                power *= base;
            }
            base *= base;
        }
        return power;
    }
};

struct RbfKernel {
    using Pairing = ProductPairing;
    double gamma;

    template <class Real>
    Register<Real> value(Register<Real> sum, Register<Real> a, Register<Real> b) const noexcept {
        const Register<Real> squared = (a + b) - (sum + sum);
        const Register<Real> distance = larger<Real>(squared, Register<Real>{});
        return exp_not_positive<Real>(distance * broadcast<Real>(static_cast<Real>(-gamma)));
    }
};

struct SigmoidKernel {
    using Pairing = ProductPairing;
    double gamma;
    double coef0;

    template <class Real>
    Register<Real> value(Register<Real> sum, Register<Real>, Register<Real>) const noexcept {
        Register<Real> result = fused(sum, broadcast<Real>(static_cast<Real>(gamma)),
                                      broadcast<Real>(static_cast<Real>(coef0)));
        for (std::int64_t k = 0; k < kLanes<Real>; ++k) {
            result[k] = std::tanh(result[k]);
        }
        return result;
    }
};

// exp(-gamma times the sum): the pairing has made the sum a distance.
template <class PairingOfDistance>
struct DistanceKernel {
    using Pairing = PairingOfDistance;
    double gamma;

    template <class Real>
    Register<Real> value(Register<Real> sum, Register<Real>, Register<Real>) const noexcept {
        const Register<Real> distance = larger<Real>(sum, Register<Real>{});
        return exp_not_positive<Real>(distance * broadcast<Real>(static_cast<Real>(-gamma)));
    }
};

using LaplacianKernel = DistanceKernel<AbsolutePairing>;
using ChiSquaredKernel = DistanceKernel<ChiSquaredPairing>;

}  // namespace hinge
