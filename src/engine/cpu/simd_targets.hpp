#pragma once
/// Which instruction sets the kernels are compiled for; every file that is compiled once per instruction set includes
/// this before any header of Highway, whose macros take the choice up where they are defined.
///
/// AVX3 is AVX-512 without its newest parts, which would bring nothing here. The tiles keep vectors in arrays, which
/// the sizeless vectors of SVE and RVV do not allow (NEON serves Arm).
#include <hwy/detect_targets.h>

#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_AVX3_DL | HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)

// After the choice.
#include <hwy/targets.h>
