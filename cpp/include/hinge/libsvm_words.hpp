// Words of LIBSVM text. Every text ends with a newline, which ends every search.
#pragma once

#include <cstdint>
#include <cstring>

#include "hinge/decimal.hpp"

namespace hinge {

inline const char* skip_blanks(const char* at) noexcept {
    while (*at == ' ' || *at == '\t') {
        ++at;
    }
    return at;
}

inline bool ends_line(const char* at) noexcept {
    return *at == '\n' || *at == '#' || (*at == '\r' && at[1] == '\n');
}

inline bool ends_word(const char* at) noexcept {
    return *at == ' ' || *at == '\t' || ends_line(at);
}

inline const char* find_byte(const char* at, const char* end, char byte) noexcept {
    return static_cast<const char*>(std::memchr(at, byte, static_cast<std::size_t>(end - at)));
}

// Whether there is a colon in a word.
inline bool has_colon(const char* at) noexcept {
    while (!ends_word(at)) {
        if (*at++ == ':') {
            return true;
        }
    }
    return false;
}

inline bool starts_with_query(const char* at) noexcept {
    return std::memcmp(at, "qid:", 4) == 0;
}

// Reads digits; nullptr if there are none or they do not fit.
inline const char* read_integer(const char* at, std::int64_t& number) noexcept {
    std::uint64_t digits = 0;
    const char* const end = detail::append_digits(at, digits);
    while (end - at > kMostDigits && *at == '0') {
        ++at;
    }
    number = static_cast<std::int64_t>(digits);
    return end == at || end - at > kMostDigits || number < 0 ? nullptr : end;
}

}  // namespace hinge
