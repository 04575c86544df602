// Memory that begins with a cache line: a register that straddles two lines costs two loads.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace hinge {

template <class Value>
struct LineAllocator {
    using value_type = Value;
    static constexpr std::align_val_t kLine{64};

    LineAllocator() = default;
    template <class Other>
    explicit LineAllocator(const LineAllocator<Other>&) noexcept {}

    Value* allocate(std::size_t count) {
        return static_cast<Value*>(::operator new(count * sizeof(Value), kLine));
    }
    void deallocate(Value* at, std::size_t) noexcept { ::operator delete(at, kLine); }
    bool operator==(const LineAllocator&) const noexcept { return true; }
};

template <class Value>
using AlignedVector = std::vector<Value, LineAllocator<Value>>;

}  // namespace hinge
