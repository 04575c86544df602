// Python's view of what the allocator keeps of memory that nobody holds any more.
#include <nanobind/nanobind.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace nb = nanobind;

void bind_heap(nb::module_& module) {
    module.def(
        "trim_heap",
        [] {
#if defined(__GLIBC__)
            const nb::gil_scoped_release unlocked;
            malloc_trim(0);
#endif
        },
        "Give pages of the heap that nobody uses back to the system, where that can be asked for.");
}
