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

# For code whose speed nobody notices: a release build spends half the time on it. No result depends on the level: products
# and sums are never fused or reordered at any. Debuggers and sanitizers see most in code as it was written, and compilers
# need a third of the time for it; what is fuzzed has to be fast. tyche_cold(name -O0) is for tests, whose time goes into
# what they test.
function(tyche_cold name)
  set(options -O1)
  if(ARGC GREATER 1)
    set(options ${ARGV1})
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND options -Wno-maybe-uninitialized) # as above
  endif()
  target_compile_options(${name} PRIVATE "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:${options}>"
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Debug>>:-O0>)
  if(TYCHE_SANITIZE AND NOT TYCHE_BUILD_FUZZ)
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O0>)
  endif()
endfunction()

# What ccache wants to see to keep objects that use precompiled headers.
function(tyche_pch_options name)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
endfunction()

# tyche_precompile(name [HEADER...]): what nearly every file of a target includes, and these, parsed once (TYCHE_PCH). Every
# file still includes what it uses. ccache keeps such objects where CCACHE_SLOPPINESS holds pch_defines,time_macros.
function(tyche_precompile name)
  if(NOT TYCHE_PCH)
    return()
  endif()
  set(headers <algorithm> <array> <chrono> <cmath> <cstdint> <filesystem> <functional> <map> <memory> <mutex> <numeric>
    <optional> <set> <span> <string> <string_view> <unordered_map> <variant> <vector> <fmt/format.h> ${ARGN})
  list(TRANSFORM headers REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:\\1>")
  target_precompile_headers(${name} PRIVATE ${headers})
  tyche_pch_options(${name})
endfunction()

# tyche_precompile_as(name other): with the headers precompiled for `other`, whose flags must be the same.
function(tyche_precompile_as name other)
  if(NOT TYCHE_PCH)
    return()
  endif()
  target_precompile_headers(${name} REUSE_FROM ${other})
  tyche_pch_options(${name})
endfunction()

# tyche_precompile_cold(name): JSON too, parsed once for all targets that are cold and inner.
function(tyche_precompile_cold name)
  if(NOT TYCHE_PCH)
    return()
  endif()
  if(NOT TARGET tyche_cold_headers)
    file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/generated/cold_headers.cpp CONTENT "")
    add_library(tyche_cold_headers OBJECT ${CMAKE_CURRENT_BINARY_DIR}/generated/cold_headers.cpp)
    tyche_target(tyche_cold_headers)
    tyche_cold(tyche_cold_headers)
    tyche_inner(tyche_cold_headers)
    tyche_roomy(tyche_cold_headers)
    tyche_precompile(tyche_cold_headers <nlohmann/json.hpp>)
    target_link_libraries(tyche_cold_headers PRIVATE fmt::fmt nlohmann_json::nlohmann_json)
  endif()
  tyche_inner(${name})
  tyche_precompile_as(${name} tyche_cold_headers)
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fPIC>) # a program too, as the headers are
endfunction()

# tyche_room(room [COLD [file...]] [ALONE [file...]] [IN group] [IN_COLD group]): the sources of a room, for the library.
# COLD: those for tyche_cold() (no files named: all of the room). Files of a room are compiled together (TYCHE_TOGETHER), and
# with those of other rooms IN the same group; names in unnamed namespaces must then differ within it. ALONE: not these.
function(tyche_room room)
  cmake_parse_arguments(ARG "" "IN;IN_COLD" "COLD;ALONE" ${ARGN})
  string(REGEX REPLACE "/.*" "" top ${room})
  if(TYCHE_ROOMS AND NOT top IN_LIST TYCHE_ROOMS)
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS src/${room}/*.cpp)
  string(REPLACE "/" "_" own ${room})
  foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    set(kind TYCHE)
    set(group ${own})
    if(ARG_IN)
      set(group ${ARG_IN})
    endif()
    if("COLD" IN_LIST ARG_KEYWORDS_MISSING_VALUES OR name IN_LIST ARG_COLD)
      set(kind TYCHE_COLD)
      set(group ${own})
      if(ARG_IN_COLD)
        set(group ${ARG_IN_COLD})
      endif()
    endif()
    set_property(GLOBAL APPEND PROPERTY ${kind}_SOURCES ${source})
    if(NOT "ALONE" IN_LIST ARG_KEYWORDS_MISSING_VALUES AND NOT name IN_LIST ARG_ALONE)
      set_property(GLOBAL APPEND PROPERTY ${kind}_GROUPS ${group})
      set_property(GLOBAL APPEND PROPERTY ${kind}_IN_${group} ${source})
    endif()
  endforeach()
endfunction()

# tyche_together(target kind): compiles the groups of rooms of this kind (TYCHE or TYCHE_COLD) up to fourteen files at a time,
# so that what they all include is parsed, and what they all instantiate compiled, once for fourteen.
function(tyche_together target kind)
  get_property(groups GLOBAL PROPERTY ${kind}_GROUPS)
  list(REMOVE_DUPLICATES groups)
  foreach(group ${groups})
    get_property(sources GLOBAL PROPERTY ${kind}_IN_${group})
    tyche_group(${target} ${group} 14 ${sources})
  endforeach()
endfunction()

# tyche_group(target name most source...): the same for these sources, at most `most` at a time.
function(tyche_group target name most)
  if(NOT TYCHE_TOGETHER)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  list(LENGTH ARGN count)
  math(EXPR groups "(${count} + ${most} - 1) / ${most}")
  set(index 0)
  foreach(source ${ARGN})
    math(EXPR number "${index} * ${groups} / ${count}") # groups of like size
    math(EXPR index "${index} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${name}_${number})
  endforeach()
  tyche_roomy(${target})
endfunction()

# Many files at a time are more than the 128 MB that g++ fills before it looks for memory to use again, which took a sixth of
# the time. Only where each core has 1.5 GB.
function(tyche_roomy name)
  cmake_host_system_information(RESULT memory QUERY TOTAL_PHYSICAL_MEMORY)
  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  math(EXPR each "${memory} / ${cores}")
  get_target_property(options ${name} COMPILE_OPTIONS)
  if(TYCHE_TOGETHER AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND each GREATER 1500 AND NOT "${options}" MATCHES "ggc-min")
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=524288>)
  endif()
endfunction()

# Objects that go into the program and into libtyche_c.so alike: position-independent, and hidden, so that the compiler
# may still inline across functions and the shared library shows nothing of them.
function(tyche_inner name)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON CUDA_VISIBILITY_PRESET hidden)
endfunction()

# tyche_find_library(bliss HEADER bliss/graph.hh) sets TYCHE_BLISS_LIBRARY, or stops with the package to install.
function(tyche_find_library name)
  cmake_parse_arguments(ARG "" "HEADER" "" ${ARGN})
  string(TOUPPER ${name} upper)
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
