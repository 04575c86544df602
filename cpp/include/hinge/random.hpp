// A small seeded generator whose whole state is four words in the caller's array, so that a run can
// be stopped, pickled and resumed in the middle of a permutation.
//
// The generator is xoshiro256++ (Blackman and Vigna 2021); its words must not all be zero.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace hinge {

class Random {
  public:
    // The words are a copy until the generator goes out of scope: a loop keeps them in registers.
    explicit Random(std::uint64_t* words) noexcept : kept_(words) {
        std::copy(words, words + words_.size(), words_.begin());
    }
    ~Random() { std::copy(words_.begin(), words_.end(), kept_); }
    Random(const Random&) = delete;
    Random& operator=(const Random&) = delete;

    std::uint64_t next() noexcept {
        const std::uint64_t result = std::rotl(words_[0] + words_[3], 23) + words_[0];
        const std::uint64_t shifted = words_[1] << 17;
        words_[2] ^= words_[0];
        words_[3] ^= words_[1];
        words_[1] ^= words_[2];
        words_[0] ^= words_[3];
        words_[2] ^= shifted;
        words_[3] = std::rotl(words_[3], 45);
        return result;
    }

    // A number in [0, bound), bound below 2^32. The high half of a 32 x 32 bit product: its bias is
    // below bound / 2^32, far too small to matter for the order of rows, and it needs no division.
    std::uint32_t below(std::uint32_t bound) noexcept {
        const std::uint64_t high = next() >> 32;
        return static_cast<std::uint32_t>((high * bound) >> 32);
    }

  private:
    std::uint64_t* kept_;
    std::array<std::uint64_t, 4> words_;
};

// Fills four words from one seed by splitmix64, which never gives four zeros.
inline std::array<std::uint64_t, 4> seeded_words(std::uint64_t seed) noexcept {
    std::array<std::uint64_t, 4> words{};
    for (std::uint64_t& word : words) {
        seed += 0x9e3779b97f4a7c15U;
        std::uint64_t mixed = seed;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
        word = mixed ^ (mixed >> 31);
    }
    return words;
}

}  // namespace hinge
