// Registers of this CPU level as values: as many floats or doubles as one instruction takes.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace hinge {

#if defined(__AVX__)
inline constexpr std::int64_t kRegisterBytes = 32;
#else
inline constexpr std::int64_t kRegisterBytes = 16;
#endif

template <class Real>
struct RegisterOf;
template <>
struct RegisterOf<float> {
    typedef float Values __attribute__((vector_size(kRegisterBytes)));
    typedef std::int32_t Integers __attribute__((vector_size(kRegisterBytes)));
    typedef std::uint32_t Bits __attribute__((vector_size(kRegisterBytes)));
};
template <>
struct RegisterOf<double> {
    typedef double Values __attribute__((vector_size(kRegisterBytes)));
    typedef std::int64_t Integers __attribute__((vector_size(kRegisterBytes)));
    typedef std::uint64_t Bits __attribute__((vector_size(kRegisterBytes)));
};

template <class Real>
using Register = typename RegisterOf<Real>::Values;
template <class Real>
using BitRegister = typename RegisterOf<Real>::Bits;
template <class Real>
using IntegerRegister = typename RegisterOf<Real>::Integers;
template <class Real>
inline constexpr std::int64_t kLanes = kRegisterBytes / static_cast<std::int64_t>(sizeof(Real));

template <class Real>
inline Register<Real> load(const Real* at) noexcept {
    Register<Real> values;
    std::memcpy(&values, at, sizeof(values));
    return values;
}

template <class Real>
inline void store(Real* at, Register<Real> values) noexcept {
    std::memcpy(at, &values, sizeof(values));
}

template <class Real>
inline Register<Real> broadcast(Real value) noexcept {
#if defined(__AVX__)
    if constexpr (sizeof(Real) == sizeof(float)) {
        return _mm256_set1_ps(value);
    } else {
        return _mm256_set1_pd(value);
    }
#else
    Register<Real> values;
    for (std::int64_t k = 0; k < kLanes<Real>; ++k) {
        values[k] = value;
    }
    return values;
#endif
}

// a * b + c in every lane, fused where the instruction exists, as linalg.hpp does for one number.
inline Register<float> fused(Register<float> a, Register<float> b, Register<float> c) noexcept {
#if defined(__AVX__) && defined(__FMA__)
    return _mm256_fmadd_ps(a, b, c);
#else
    return a * b + c;
#endif
}

inline Register<double> fused(Register<double> a, Register<double> b, Register<double> c) noexcept {
#if defined(__AVX__) && defined(__FMA__)
    return _mm256_fmadd_pd(a, b, c);
#else
    return a * b + c;
#endif
}

// The same for one number: what a lane computes, to the bit.
template <class Real>
inline Real fused_one(Real a, Real b, Real c) noexcept {
#if defined(__AVX__) && defined(__FMA__)
    return std::fma(a, b, c);
#else
    return a * b + c;
#endif
}

template <class Real>
inline Register<Real> larger(Register<Real> a, Register<Real> b) noexcept {
    return a > b ? a : b;
}

}  // namespace hinge
