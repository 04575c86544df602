// What a binding asks of its arguments before native code works on them.
//
// Checks stand in loops over rows and in calls of a few microseconds: a message is a literal, or a
// function that makes it when it is needed. As a std::string it would be made for every row.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace hinge::binding {

inline void require(bool holds, const char* message) {
    if (!holds) [[unlikely]] {
        throw std::invalid_argument(message);
    }
}

template <std::invocable Message>
void require(bool holds, Message&& message) {
    if (!holds) [[unlikely]] {
        throw std::invalid_argument(message());
    }
}

inline void require_length(std::size_t got, std::size_t want, const char* name) {
    require(got == want, [&] {
        return std::string(name) + " has " + std::to_string(got) + " entries, not " +
               std::to_string(want);
    });
}

// The same for a length that may have been computed as a negative one.
inline void require_entries(std::size_t got, std::int64_t want, const char* name) {
    require(want >= 0, "a length must not be negative");
    require_length(got, static_cast<std::size_t>(want), name);
}

// That so many numbers are those of some of `count` rows.
inline void require_rows(const std::int64_t* numbers, std::size_t size, std::int64_t count) {
    const std::int64_t* const end = numbers + size;
    const std::int64_t* const wrong = std::find_if(
        numbers, end, [count](std::int64_t number) { return number < 0 || number >= count; });
    require(wrong == end, [&] { return "there is no row " + std::to_string(*wrong); });
}

}  // namespace hinge::binding
