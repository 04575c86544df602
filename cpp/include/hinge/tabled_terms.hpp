// Sums of kernel values over rows of small whole numbers, in whole numbers alone.
//
// Where the features of two rows are small whole numbers, their inner product and their squared
// distance are whole numbers of a short range, and a kernel value is an entry of a short table:
//
//   v(x, z) = base(x) + base(z) + factor x'z,     k(x, z) = table[v]
//
// v is added up in bytes, 32 terms an instruction; a point's entry of size n is n additions, so
// that nothing is multiplied. Sums in bytes wrap around, which does no harm where v itself is known
// to lie in the table. The table holds 16-bit numbers and is read by the instruction that shuffles
// bytes, 16 entries at a time. Products with coefficients of 13 bits are summed in 32 bits over one
// panel, which cannot overflow, then in 64 bits. Every sum is exact.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "hinge/aligned.hpp"
#include "hinge/kernel_panel.hpp"
#include "hinge/registers.hpp"

#if defined(__SSSE3__)
#include <immintrin.h>
#endif

namespace hinge {

inline constexpr std::int64_t kByteRegisters = 4;
#if defined(__AVX2__)
inline constexpr std::int64_t kBytes = 32;
#else
inline constexpr std::int64_t kBytes = 16;
#endif
inline constexpr std::int64_t kBytePanel = kByteRegisters * kBytes;
inline constexpr std::int64_t kTableStep = 16;
inline constexpr std::int64_t kMostTabled = 256;
// 8 sums of two products of a coefficient and a table's entry stay below 2^31.
inline constexpr std::int64_t kLargestDigit = 4095;
inline constexpr std::int64_t kLargestEntry = 127;  // of a term, by size
inline constexpr std::int64_t kMostSteps = 1024;    // additions for one point

typedef std::uint8_t ByteRegister __attribute__((vector_size(kBytes)));

inline ByteRegister load_bytes(const std::uint8_t* at) noexcept {
    ByteRegister values;
    __builtin_memcpy(&values, at, sizeof(values));
    return values;
}

inline ByteRegister all_bytes(std::uint8_t value) noexcept {
    return ByteRegister{} + value;
}

// What the points must be like for their v to lie in the table.
struct TabledLimits {
    std::int64_t factor;        // of inner products in v
    std::int64_t point_factor;  // of a point's squared norm in v: base(x) = offset + factor x'x
    std::int64_t offset;
    std::int64_t largest_self;  // squared norm of a point, at the most
    bool takes_negative;        // whether points may have negative entries
};

// A point as the list of features to add and, after them, to subtract.
struct TabledPoint {
    std::vector<std::int32_t> steps;
    std::int64_t added = 0;
    std::int64_t self = 0;

    // False where the point is not one that the table is for.
    template <class Rows>
    bool read(const Rows& rows, std::int64_t i, const TabledLimits& limits) {
        steps.clear();
        self = 0;
        bool fits = true;
        std::int64_t repeats = 0;
        for_entries(rows, i, Centre<double>{}, [&](std::int64_t, double value) {
            const double size = std::abs(value);
            fits = fits && size <= 16.0 && size == std::floor(size) &&
                   (value >= 0.0 || limits.takes_negative);
            if (fits) {
                const auto whole = static_cast<std::int64_t>(size);
                self += whole * whole;
                repeats += whole;
            }
        });
        if (!fits || self > limits.largest_self || repeats > kMostSteps) {
            return false;
        }
        append(rows, i, 1.0);
        added = static_cast<std::int64_t>(steps.size());
        append(rows, i, -1.0);
        return true;
    }

  private:
    template <class Rows>
    void append(const Rows& rows, std::int64_t i, double sign) {
        for_entries(rows, i, Centre<double>{}, [&](std::int64_t feature, double value) {
            for (double left = sign * value; left > 0.0; left -= 1.0) {
                steps.push_back(static_cast<std::int32_t>(feature));
            }
        });
    }
};

class TabledTerms {
  public:
    // digits has a row of `rows.count` numbers for every sum; table has 16-bit entries.
    template <class Rows>
    TabledTerms(const Rows& rows, const std::int64_t* bases, const std::int16_t* digits,
                std::int64_t sums, const std::int16_t* table, std::int64_t entries,
                const TabledLimits& limits)
        : limits_(limits), count_(rows.count), width_(rows.width), sums_(sums) {
        panels_ = (count_ + kBytePanel - 1) / kBytePanel;
        values_.assign(static_cast<std::size_t>(panels_ * width_ * kBytePanel), 0);
        bases_.assign(static_cast<std::size_t>(panels_ * kBytePanel), 0);
        digits_.assign(static_cast<std::size_t>(panels_ * kBytePanel * sums), 0);
        in_use_.assign(static_cast<std::size_t>(panels_), {});
        read_table(table, entries);
        for (std::int64_t i = 0; i < count_; ++i) {
            read_term(rows, i, bases[i]);
            for (std::int64_t c = 0; c < sums; ++c) {
                read_digit(c, i, digits[c * count_ + i]);
            }
        }
    }

    std::int64_t sums() const noexcept { return sums_; }
    std::int64_t width() const noexcept { return width_; }

    // out[k, c] = sum of digit_ci table[v(point k, term i)], selfs[k] = the point's squared norm,
    // -1 where the table is not for it and nothing was summed.
    template <class Rows, class Number>
    void evaluate(const Rows& rows, const Number& number, std::int64_t count, std::int64_t* out,
                  std::int64_t* selfs) const {
        std::fill_n(out, count * sums_, std::int64_t{0});
        std::vector<TabledPoint> tile(static_cast<std::size_t>(std::min(kTilePoints, count)));
        for (std::int64_t first = 0; first < count; first += kTilePoints) {
            const std::int64_t size = std::min(kTilePoints, count - first);
            for (std::int64_t r = 0; r < size; ++r) {
                TabledPoint& point = tile[static_cast<std::size_t>(r)];
                const bool fits = point.read(rows, number(first + r), limits_);
                selfs[first + r] = fits ? point.self : -1;
            }
            for (std::int64_t p = 0; p < panels_; ++p) {
                for (std::int64_t r = 0; r < size; ++r) {
                    if (selfs[first + r] >= 0) {
                        add_panel(p, tile[static_cast<std::size_t>(r)], out + (first + r) * sums_);
                    }
                }
            }
        }
    }

    // The sums of one panel as the definition has them, one term after the other.
    void add_panel_plainly(std::int64_t p, const std::uint8_t* indices, std::int64_t* out) const {
        for (const std::int64_t c : in_use_[static_cast<std::size_t>(p)]) {
            const std::int16_t* digits = digits_at(p, c);
            std::int64_t sum = 0;
            for (std::int64_t t = 0; t < kBytePanel; ++t) {
                sum += std::int64_t{digits[place(t)]} * std::int64_t{table_[indices[t]]};
            }
            out[c] += sum;
        }
    }

  private:
    static constexpr std::int64_t kTilePoints = 256;

    // Where the digit of a term of a panel is: in the order in which bytes are unpacked.
    static constexpr std::int64_t place(std::int64_t t) noexcept {
        const std::int64_t r = t / kBytes;
        const std::int64_t in = t % kBytes;
        if constexpr (kBytes == 32) {
            return r * kBytes + (in / 8 % 2) * 16 + in / 16 * 8 + in % 8;
        }
        return r * kBytes + in;
    }

    const std::int16_t* digits_at(std::int64_t p, std::int64_t c) const noexcept {
        return digits_.data() + (p * sums_ + c) * kBytePanel;
    }

    void read_table(const std::int16_t* table, std::int64_t entries) {
        if (entries < 1 || entries > kMostTabled) {
            throw std::invalid_argument("the table must have 1 to 256 entries");
        }
        std::fill_n(table_, kMostTabled, std::int16_t{0});
        std::copy_n(table, entries, table_);
        parts_ = (entries + kTableStep - 1) / kTableStep;
        for (std::int64_t k = 0; k < parts_ * kTableStep; ++k) {
            const auto bits = static_cast<std::uint16_t>(table_[k]);
            for (std::int64_t lane = 0; lane < kBytes; lane += kTableStep) {
                const std::int64_t at = k / kTableStep * kBytes + lane + k % kTableStep;
                low_[at] = static_cast<std::uint8_t>(bits & 0xFFU);
                high_[at] = static_cast<std::uint8_t>(bits >> 8U);
            }
        }
    }

    template <class Rows>
    void read_term(const Rows& rows, std::int64_t i, std::int64_t base) {
        const std::int64_t p = i / kBytePanel;
        const std::int64_t lane = i % kBytePanel;
        bases_[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(base & 0xFF);
        for_entries(rows, i, Centre<double>{}, [&](std::int64_t feature, double value) {
            if (!(std::abs(value) <= static_cast<double>(kLargestEntry)) ||
                value != std::floor(value)) {
                throw std::invalid_argument("terms must be small whole numbers");
            }
            const std::int64_t share = limits_.factor * static_cast<std::int64_t>(value);
            values_[static_cast<std::size_t>((p * width_ + feature) * kBytePanel + lane)] =
                static_cast<std::uint8_t>(share & 0xFF);
        });
    }

    void read_digit(std::int64_t c, std::int64_t i, std::int16_t digit) {
        if (std::abs(std::int64_t{digit}) > kLargestDigit) {
            throw std::invalid_argument("digits must be at most 4095 in size");
        }
        const std::int64_t p = i / kBytePanel;
        digits_[static_cast<std::size_t>((p * sums_ + c) * kBytePanel + place(i % kBytePanel))] =
            digit;
        auto& users = in_use_[static_cast<std::size_t>(p)];
        if (digit != 0 && std::find(users.begin(), users.end(), c) == users.end()) {
            users.push_back(c);
        }
    }

    void add_panel(std::int64_t p, const TabledPoint& point, std::int64_t* out) const {
        const std::uint8_t* from = values_.data() + p * width_ * kBytePanel;
        const auto start =
            static_cast<std::uint8_t>((limits_.offset + limits_.point_factor * point.self) & 0xFF);
        ByteRegister v[kByteRegisters];
#pragma GCC unroll 4
        for (std::int64_t u = 0; u < kByteRegisters; ++u) {
            v[u] = load_bytes(bases_.data() + p * kBytePanel + u * kBytes) + start;
        }
        const auto count = static_cast<std::int64_t>(point.steps.size());
        for (std::int64_t k = 0; k < point.added; ++k) {
            const std::uint8_t* at = from + point.steps[static_cast<std::size_t>(k)] * kBytePanel;
#pragma GCC unroll 4
            for (std::int64_t u = 0; u < kByteRegisters; ++u) {
                v[u] += load_bytes(at + u * kBytes);
            }
        }
        for (std::int64_t k = point.added; k < count; ++k) {
            const std::uint8_t* at = from + point.steps[static_cast<std::size_t>(k)] * kBytePanel;
#pragma GCC unroll 4
            for (std::int64_t u = 0; u < kByteRegisters; ++u) {
                v[u] -= load_bytes(at + u * kBytes);
            }
        }
        finish(p, v, out);
    }

    void finish(std::int64_t p, const ByteRegister (&v)[kByteRegisters],
                std::int64_t* out) const noexcept {
        switch (parts_) {
            case 1:
                return finish_parts<1>(p, v, out);
            case 2:
                return finish_parts<2>(p, v, out);
            case 3:
                return finish_parts<3>(p, v, out);
            case 4:
                return finish_parts<4>(p, v, out);
            default:
                return finish_parts<0>(p, v, out);
        }
    }

#if defined(__AVX2__)
    using Words = __m256i;
    static Words words(ByteRegister x) noexcept { return reinterpret_cast<Words>(x); }
    static Words shuffled(const std::uint8_t* table, Words at) noexcept {
        return _mm256_shuffle_epi8(words(load_bytes(table)), at);
    }
    static Words saturated(Words a, Words b) noexcept { return _mm256_adds_epu8(a, b); }
    static Words either(Words a, Words b) noexcept { return _mm256_or_si256(a, b); }
    static Words unpacked_low(Words a, Words b) noexcept { return _mm256_unpacklo_epi8(a, b); }
    static Words unpacked_high(Words a, Words b) noexcept { return _mm256_unpackhi_epi8(a, b); }
    static Words products(Words a, const std::int16_t* b) noexcept {
        return _mm256_madd_epi16(a, _mm256_loadu_si256(reinterpret_cast<const Words*>(b)));
    }
    static Words added(Words a, Words b) noexcept { return _mm256_add_epi32(a, b); }
    static std::int64_t total(Words x) noexcept {
        const __m256i wide =
            _mm256_add_epi64(_mm256_cvtepi32_epi64(_mm256_castsi256_si128(x)),
                             _mm256_cvtepi32_epi64(_mm256_extracti128_si256(x, 1)));
        const __m128i two =
            _mm_add_epi64(_mm256_castsi256_si128(wide), _mm256_extracti128_si256(wide, 1));
        return _mm_extract_epi64(two, 0) + _mm_extract_epi64(two, 1);
    }
#elif defined(__SSSE3__) && defined(__SSE4_1__)
    using Words = __m128i;
    static Words words(ByteRegister x) noexcept { return reinterpret_cast<Words>(x); }
    static Words shuffled(const std::uint8_t* table, Words at) noexcept {
        return _mm_shuffle_epi8(words(load_bytes(table)), at);
    }
    static Words saturated(Words a, Words b) noexcept { return _mm_adds_epu8(a, b); }
    static Words either(Words a, Words b) noexcept { return _mm_or_si128(a, b); }
    static Words unpacked_low(Words a, Words b) noexcept { return _mm_unpacklo_epi8(a, b); }
    static Words unpacked_high(Words a, Words b) noexcept { return _mm_unpackhi_epi8(a, b); }
    static Words products(Words a, const std::int16_t* b) noexcept {
        return _mm_madd_epi16(a, _mm_loadu_si128(reinterpret_cast<const Words*>(b)));
    }
    static Words added(Words a, Words b) noexcept { return _mm_add_epi32(a, b); }
    static std::int64_t total(Words x) noexcept {
        const __m128i wide =
            _mm_add_epi64(_mm_cvtepi32_epi64(x), _mm_cvtepi32_epi64(_mm_srli_si128(x, 8)));
        return _mm_extract_epi64(wide, 0) + _mm_extract_epi64(wide, 1);
    }
#endif

#if defined(__SSSE3__) && defined(__SSE4_1__)
    // kParts is the number of parts of the table, 0 for more of them than are worth a copy.
    template <std::int64_t kParts>
    void finish_parts(std::int64_t p, const ByteRegister (&v)[kByteRegisters],
                      std::int64_t* out) const noexcept {
        const std::int64_t parts = kParts == 0 ? parts_ : kParts;
        Words halves[2 * kByteRegisters];
        const Words in_range = words(all_bytes(0x70));
#pragma GCC unroll 4
        for (std::int64_t u = 0; u < kByteRegisters; ++u) {
            Words low{};
            Words high{};
#pragma GCC unroll 4
            for (std::int64_t part = 0; part < parts; ++part) {
                // Indices of other parts saturate to 128 or more, for which a shuffle gives zero.
                const auto first = static_cast<std::uint8_t>(part * kTableStep);
                const Words at = saturated(words(v[u] - first), in_range);
                low = either(low, shuffled(low_ + part * kBytes, at));
                high = either(high, shuffled(high_ + part * kBytes, at));
            }
            halves[2 * u] = unpacked_low(low, high);
            halves[2 * u + 1] = unpacked_high(low, high);
        }
        for (const std::int64_t c : in_use_[static_cast<std::size_t>(p)]) {
            const std::int16_t* digits = digits_at(p, c);
            Words sum{};
#pragma GCC unroll 8
            for (std::int64_t h = 0; h < 2 * kByteRegisters; ++h) {
                sum = added(sum, products(halves[h], digits + h * (kBytes / 2)));
            }
            out[c] += total(sum);
        }
    }
#else
    template <std::int64_t kParts>
    void finish_parts(std::int64_t p, const ByteRegister (&v)[kByteRegisters],
                      std::int64_t* out) const noexcept {
        std::uint8_t indices[kBytePanel];
        __builtin_memcpy(indices, v, sizeof(indices));
        add_panel_plainly(p, indices, out);
    }
#endif

    TabledLimits limits_;
    std::int64_t count_;
    std::int64_t width_;
    std::int64_t sums_;
    std::int64_t panels_ = 0;
    std::int64_t parts_ = 1;
    AlignedVector<std::uint8_t> values_;
    AlignedVector<std::uint8_t> bases_;
    AlignedVector<std::int16_t> digits_;
    std::vector<std::vector<std::int64_t>> in_use_;
    std::int16_t table_[kMostTabled];
    alignas(64) std::uint8_t low_[kMostTabled / kTableStep * kBytes] = {};
    alignas(64) std::uint8_t high_[kMostTabled / kTableStep * kBytes] = {};
};

}  // namespace hinge
