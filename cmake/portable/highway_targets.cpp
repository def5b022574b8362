// Highway's run-time dispatcher, in the place of libhwy, which Debian ships as a shared library only. What a target
// asks of an x86-64 is as in Highway 1.0; the compiler's run-time library looks at the processor and at what the
// operating system saves. Every aarch64 has NEON, which is all that is compiled for it (engine/cpu/kernels.cpp);
// Highway asks for AES beside it, which no kernel uses and a Raspberry Pi 4 lacks.
#include <hwy/targets.h>

namespace hwy {

int64_t SupportedTargets() {
  static const int64_t found = []() -> int64_t {
#ifdef __aarch64__
    return HWY_NEON | HWY_EMU128 | HWY_SCALAR;
#else
    __builtin_cpu_init();
    int64_t targets = HWY_EMU128 | HWY_SCALAR;
    if (!__builtin_cpu_supports("ssse3")) return targets;
    targets |= HWY_SSSE3;
    if (!(__builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("aes") &&
          __builtin_cpu_supports("pclmul"))) {
      return targets;
    }
    targets |= HWY_SSE4;
    if (!(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") &&
          __builtin_cpu_supports("lzcnt") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2"))) {
      return targets;
    }
    targets |= HWY_AVX2;
    if (!(__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
          __builtin_cpu_supports("avx512cd"))) {
      return targets;
    }
    return targets | HWY_AVX3;
#endif
  }();
  return found;
}

ChosenTarget& GetChosenTarget() {
  static ChosenTarget chosen;
  return chosen;
}

}  // namespace hwy
