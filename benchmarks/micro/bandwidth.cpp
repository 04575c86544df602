// Reads an array once and adds it up, as fast as one thread can: what memory gives, for comparison.
#include <cstdint>
#include <cstring>

#include "hinge/linalg.hpp"

namespace {

constexpr std::int64_t kRegisters = 8;
constexpr std::int64_t kStep = kRegisters * hinge::kPackWidth;
constexpr std::int64_t kLine = 64;

}  // namespace

extern "C" double read_all(const double* values, std::int64_t count, std::int64_t bytes_ahead) {
    hinge::Pack sums[kRegisters] = {};
    for (std::int64_t k = 0; k + kStep <= count; k += kStep) {
        const char* const ahead = reinterpret_cast<const char*>(values + k) + bytes_ahead;
        if (bytes_ahead > 0) {
            for (std::int64_t byte = 0; byte < kStep * 8; byte += kLine) {
                __builtin_prefetch(ahead + byte, 0, 3);
            }
        }
        for (std::int64_t r = 0; r < kRegisters; ++r) {
            sums[r] += hinge::load_pack(values + k + r * hinge::kPackWidth);
        }
    }
    double total = 0.0;
    for (const hinge::Pack& part : sums) {
        total += hinge::sum(part);
    }
    return total;
}
