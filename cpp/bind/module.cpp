// The compiled core as a Python module. The same file is compiled once per CPU level; src/hinge/
// _native.py asks the lowest level which of them this CPU can run.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "hinge/team.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace nb = nanobind;

// One per topic, each in its own bind_<topic>.cpp; CMakeLists.txt lists the topics.
void bind_dual_coordinate(nb::module_& module);
void bind_rows_view(nb::module_& module);
void bind_interior_rows(nb::module_& module);
void bind_newton_rows(nb::module_& module);
void bind_primal_newton(nb::module_& module);
void bind_libsvm_text(nb::module_& module);
void bind_libsvm_format(nb::module_& module);
void bind_sorted_margins(nb::module_& module);
void bind_weight_vectors(nb::module_& module);
void bind_stochastic(nb::module_& module);
void bind_kernel(nb::module_& module);
void bind_kernel_terms(nb::module_& module);
void bind_kept_terms(nb::module_& module);
void bind_tabled_terms(nb::module_& module);
void bind_few_queries(nb::module_& module);
void bind_working_set(nb::module_& module);
void bind_violators(nb::module_& module);
void bind_heap(nb::module_& module);
void bind_resident_rounds(nb::module_& module);
void bind_class_pairs(nb::module_& module);
void bind_best_intercept(nb::module_& module);
void bind_packed_cholesky(nb::module_& module);
void bind_linear_scores(nb::module_& module);

namespace {

#if defined(__x86_64__)
// Everything that -march=x86-64-v3 lets the compiler use. __builtin_cpu_supports also asks the
// operating system whether it saves the wide registers; older compilers do not know the names of
// the last three features, so their CPUID bits are read directly.
bool runs_x86_64_v3() {
    constexpr unsigned movbe = 1U << 22;
    constexpr unsigned f16c = 1U << 29;
    constexpr unsigned lzcnt = 1U << 5;
    constexpr unsigned extended_features = 0x80000001U;
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
        !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2")) {
        return false;
    }
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & movbe) == 0 || (ecx & f16c) == 0) {
        return false;
    }
    return __get_cpuid(extended_features, &eax, &ebx, &ecx, &edx) != 0 && (ecx & lzcnt) != 0;
}
#endif

std::vector<std::string> runnable_cpu_levels() {
#if defined(__x86_64__)
    std::vector<std::string> levels{"v2"};
    if (runs_x86_64_v3()) {
        levels.emplace_back("v3");
    }
    return levels;
#else
    return {HINGE_CPU_LEVEL};
#endif
}

}  // namespace

NB_MODULE(HINGE_CORE_NAME, module) {
    module.doc() = "The compiled core of hinge; import it through hinge._native.";
    module.attr("cpu_level") = HINGE_CPU_LEVEL;
    module.def("runnable_cpu_levels", &runnable_cpu_levels,
               "Return the CPU levels this machine can run, lowest first.");
    hinge::Team::prepare();
    bind_rows_view(module);
    bind_dual_coordinate(module);
    bind_interior_rows(module);
    bind_newton_rows(module);
    bind_primal_newton(module);
    bind_libsvm_text(module);
    bind_libsvm_format(module);
    bind_sorted_margins(module);
    bind_weight_vectors(module);
    bind_stochastic(module);
    bind_kernel(module);
    bind_kernel_terms(module);
    bind_kept_terms(module);
    bind_tabled_terms(module);
    bind_few_queries(module);
    bind_working_set(module);
    bind_violators(module);
    bind_heap(module);
    bind_resident_rounds(module);
    bind_class_pairs(module);
    bind_best_intercept(module);
    bind_packed_cholesky(module);
    bind_linear_scores(module);
}
