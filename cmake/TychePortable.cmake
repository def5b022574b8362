# A binary that runs where nothing of ours is installed (docs/portable.md): of other libraries it wants only glibc and, on a
# GPU, the driver. Debian ships fmt, toml++ and Highway as shared libraries; the first two have a header-only form, of the
# third the kernels need only the dispatcher.
option(TYCHE_PORTABLE "Link everything but glibc and the NVIDIA driver statically" OFF)
set(TYCHE_FMT_TARGET fmt::fmt)
set(TYCHE_TOML_TARGET tomlplusplus::tomlplusplus)
set(TYCHE_HIGHWAY_TARGET hwy::hwy)
if(TYCHE_PORTABLE)
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    message(FATAL_ERROR "TYCHE_PORTABLE knows x86-64 only, this is ${CMAKE_SYSTEM_PROCESSOR}")
  endif()
  set(TYCHE_WITH_C OFF) # Debian's archives are not made to be linked into a shared library
  set(TYCHE_FMT_TARGET fmt::fmt-header-only)
  set(TYCHE_TOML_TARGET "") # its headers are on the system's path and header-only unless told otherwise
  add_library(tyche_highway OBJECT ${CMAKE_CURRENT_LIST_DIR}/portable/highway_targets.cpp)
  tyche_inner(tyche_highway)
  set(TYCHE_HIGHWAY_TARGET tyche_highway)
  set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
  add_link_options(-static-libstdc++ -static-libgcc)
endif()
