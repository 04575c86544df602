# What every translation unit of hinge is compiled with, in the Python modules and in the C++ tests
# alike. Sets HINGE_CPU_LEVELS, lowest first, and defines hinge_compile_options(target level).
include_guard(GLOBAL)
include(CheckCXXSourceCompiles)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release unless the caller says otherwise" FORCE)
endif()

option(HINGE_WERROR "Treat compiler warnings as errors" OFF)
set(HINGE_SANITIZE "" CACHE STRING "Sanitizers to compile with, as in 'address,undefined'")

# The compiler's target decides, not the machine that runs CMake: cross builds see their own level.
if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
  check_cxx_source_compiles("
    #if !defined(__x86_64__)
    #error another architecture
    #endif
    int main() { return 0; }" HINGE_TARGET_IS_X86_64)
endif()
if(HINGE_TARGET_IS_X86_64)
  set(HINGE_CPU_LEVELS v2 v3)
else()
  set(HINGE_CPU_LEVELS base)
endif()

function(hinge_compile_options target level)
  set_target_properties(${target} PROPERTIES
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  if(MSVC)
    target_compile_options(${target} PRIVATE /W4 /fp:precise $<$<BOOL:${HINGE_WERROR}>:/WX>)
    return()
  endif()
  # -ffp-contract=off: a multiply and an add are fused where the source says fma, nowhere else, so
  # that rounding bounds hold as written. -fopenmp-simd: honours `#pragma omp simd` (reductions that
  # may be reordered) without linking an OpenMP runtime. -fno-math-errno: nobody reads errno, and a
  # square root that need not set it is one instruction, for vectors too. -fno-trapping-math: nobody
  # unmasks exceptions, and a choice between two numbers need not be a jump; no number changes.
  target_compile_options(${target} PRIVATE
    -ffp-contract=off -fopenmp-simd -fno-math-errno -fno-trapping-math
    -Wall -Wextra -Wpedantic $<$<BOOL:${HINGE_WERROR}>:-Werror>)
  if(level MATCHES "^v[0-9]+$")
    target_compile_options(${target} PRIVATE -march=x86-64-${level})
  endif()
  if(HINGE_SANITIZE)
    target_compile_options(${target} PRIVATE
      -fsanitize=${HINGE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
    target_link_options(${target} PRIVATE -fsanitize=${HINGE_SANITIZE})
  endif()
endfunction()
