# Files that run where nothing of ours is installed (docs/portable.md): of other libraries they want only glibc, and none newer
# than 2.28, and on a GPU the driver. libtyche_c.so is always linked so, since the Python wheel carries it; with
# TYCHE_PORTABLE the program and the tests are too. The objects are those of every build: only the last step differs.
option(TYCHE_PORTABLE "Link the program and the tests so that they run on other machines" OFF)
set(TYCHE_GLIBC 2.28)

# What takes the place of shared libraries: the compiled parts of fmt and toml++ and Highway's dispatcher, which Debian has
# as shared libraries only, archives of four more, and what glibc 2.28 lacks.
function(tyche_portable_parts)
  set(here ${PROJECT_SOURCE_DIR}/cmake/portable)
  set(missing "")
  foreach(name bliss gmp expat z)
    string(TOUPPER ${name} upper)
    find_library(TYCHE_${upper}_ARCHIVE lib${name}.a)
    if(NOT TYCHE_${upper}_ARCHIVE)
      list(APPEND missing lib${name}.a)
    endif()
  endforeach()
  if(TYCHE_SANITIZE)
    set(missing "a build without sanitizers")
  elseif(NOT fmt_VERSION VERSION_LESS 10)
    list(APPEND missing "fmt 9")
  endif()
  if(missing)
    list(JOIN missing ", " missing)
    if(TYCHE_PORTABLE)
      message(FATAL_ERROR "TYCHE_PORTABLE needs ${missing}. Debian 12 has all of it (script/setup)")
    endif()
    message(STATUS "tyche: libtyche_c.so is for this machine alone, a portable one needs ${missing}")
    return()
  endif()
  add_library(tyche_portable OBJECT ${here}/fmt.cpp ${here}/toml.cpp ${here}/highway_targets.cpp ${here}/glibc.c)
  add_library(tyche_portable_start OBJECT ${here}/start.c)
  foreach(name tyche_portable tyche_portable_start)
    tyche_inner(${name})
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:C>:-Wall;-Wextra;-Werror>)
  endforeach()
  tyche_cold(tyche_portable)
  target_link_libraries(tyche_portable PRIVATE fmt::fmt tomlplusplus::tomlplusplus)
  execute_process(COMMAND ${here}/stubs.sh ${CMAKE_C_COMPILER} ${TYCHE_GLIBC} ${PROJECT_BINARY_DIR}/glibc
    COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# tyche_portable(target): archives and objects stand before the shared libraries that `tyche` brings, so that none of those
# is needed.
function(tyche_portable name)
  if(NOT TARGET tyche_portable)
    return()
  endif()
  target_link_libraries(${name} PRIVATE tyche_portable $<BUILD_INTERFACE:tyche>
    ${TYCHE_BLISS_ARCHIVE} ${TYCHE_GMP_ARCHIVE} ${TYCHE_EXPAT_ARCHIVE} ${TYCHE_Z_ARCHIVE})
  target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc -Wl,--as-needed -L${PROJECT_BINARY_DIR}/glibc
    -Wl,--wrap=stdout -Wl,--wrap=stderr)
  set_target_properties(${name} PROPERTIES SKIP_BUILD_RPATH ON)
  get_target_property(type ${name} TYPE)
  if(type STREQUAL EXECUTABLE)
    target_link_libraries(${name} PRIVATE tyche_portable_start)
    target_link_options(${name} PRIVATE -Wl,--wrap=__libc_start_main)
  endif()
endfunction()
