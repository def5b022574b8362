# The GPU engine: built where nvcc is found (PATH, CUDA_HOME, /usr/local/cuda), absent otherwise.
option(TYCHE_WITH_CUDA "Build the GPU engine where nvcc is found" ON)
set(TYCHE_CUDA_ARCHITECTURES 90 CACHE STRING "Generations of GPUs to build for; later ones run the newest")
set(TYCHE_NVCC "")
if(TYCHE_WITH_CUDA AND NOT TYCHE_SANITIZE)
  find_program(TYCHE_NVCC_PROGRAM nvcc HINTS $ENV{CUDA_HOME}/bin /usr/local/cuda/bin)
  if(TYCHE_NVCC_PROGRAM)
    set(TYCHE_NVCC ${TYCHE_NVCC_PROGRAM})
  endif()
endif()
if(TYCHE_NVCC)
  set(CMAKE_CUDA_COMPILER ${TYCHE_NVCC})
  set(CMAKE_CUDA_ARCHITECTURES ${TYCHE_CUDA_ARCHITECTURES})
  set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
  enable_language(CUDA)
  # CMake 3.25 does not know that this nvcc speaks C++20.
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  get_filename_component(cuda_bin ${TYCHE_NVCC} DIRECTORY)
  find_library(TYCHE_CUDART cudart_static HINTS ${cuda_bin}/../lib64 ${cuda_bin}/../targets/x86_64-linux/lib REQUIRED)
  message(STATUS "tyche: GPU engine by ${TYCHE_NVCC} for ${TYCHE_CUDA_ARCHITECTURES}")
else()
  message(STATUS "tyche: no nvcc, the GPU engine is not built")
endif()

# The least compute capability the kernels ask for, as the program's check wants it.
list(GET TYCHE_CUDA_ARCHITECTURES 0 first)
string(REGEX MATCH "^[0-9]+" first ${first})
math(EXPR TYCHE_CUDA_LEAST_MAJOR "${first} / 10")

function(tyche_cuda_target name)
  target_compile_options(${name} PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;-Werror=all-warnings;-Xcompiler=-Wall>)
  target_compile_definitions(${name} PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:TYCHE_CUDA_LEAST_MAJOR=${TYCHE_CUDA_LEAST_MAJOR}>)
endfunction()

# Sources with Hopper's own instructions, as a library of objects `name`: machine code for sm_90a, which nothing but Hopper
# runs, and for the generations asked for only what the driver makes of PTX (there those kernels are empty and never run).
function(tyche_cuda_hopper name)
  add_library(${name} OBJECT ${ARGN})
  set(architectures 90a-real)
  foreach(architecture ${TYCHE_CUDA_ARCHITECTURES})
    string(REGEX MATCH "^[0-9]+" number ${architecture})
    list(APPEND architectures ${number}-virtual)
  endforeach()
  set_target_properties(${name} PROPERTIES CUDA_ARCHITECTURES "${architectures}")
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/generated)
  tyche_cuda_target(${name})
endfunction()
