# What every target of the project gets, and finders for libraries that ship no CMake package.

# Warnings are errors; sanitizers where asked for.
function(tyche_target name)
  # Results must not depend on whether the compiler fuses a product and a sum.
  target_compile_options(${name} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wshadow;-Wconversion;-Werror;-ffp-contract=off>)
  if(TYCHE_SANITIZE)
    target_compile_options(${name} PRIVATE -fsanitize=${TYCHE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(${name} PUBLIC -fsanitize=${TYCHE_SANITIZE})
  endif()
  # Without all of -O3, or among instrumentation, g++ 12 takes values for unset that its own library's vectors have set.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND (TYCHE_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Debug"))
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>)
  endif()
endfunction()

# The headers that most of a target's sources include, parsed once (TYCHE_PCH): a third of the time of a build.
function(tyche_precompiled name)
  if(TYCHE_PCH)
    target_precompile_headers(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${PROJECT_SOURCE_DIR}/cmake/precompiled.hpp>)
  endif()
endfunction()

# Objects that go into the program and into libtyche_c.so alike: position-independent, and hidden, so that the compiler
# may still inline across functions and the shared library shows nothing of them.
function(tyche_inner name)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON CUDA_VISIBILITY_PRESET hidden)
endfunction()

# tyche_find_library(bliss HEADER bliss/graph.hh) sets TYCHE_BLISS_LIBRARY, or stops with the package to install.
function(tyche_find_library name)
  cmake_parse_arguments(ARG "" "HEADER" "" ${ARGN})
  string(TOUPPER ${name} upper)
  if(TYCHE_PORTABLE)
    set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
  endif()
  find_library(TYCHE_${upper}_LIBRARY ${name})
  find_path(TYCHE_${upper}_INCLUDE ${ARG_HEADER})
  if(NOT TYCHE_${upper}_LIBRARY OR NOT TYCHE_${upper}_INCLUDE)
    message(FATAL_ERROR "tyche needs ${name} (${ARG_HEADER}). On Debian: script/setup, or apt-get install lib${name}-dev")
  endif()
endfunction()

function(tyche_find_header name)
  cmake_parse_arguments(ARG "" "HEADER" "" ${ARGN})
  string(TOUPPER ${name} upper)
  find_path(TYCHE_${upper}_INCLUDE ${ARG_HEADER})
  if(NOT TYCHE_${upper}_INCLUDE)
    message(FATAL_ERROR "tyche needs ${name} (${ARG_HEADER}). On Debian: script/setup, or apt-get install lib${name}-dev")
  endif()
endfunction()
