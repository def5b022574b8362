#pragma once
/// Every file of this room is compiled twice: by nvcc for the GPU, and with TYCHE_CUDA_EMULATED by the C++ compiler for
/// tests on the CPU (emulate.hpp). The two live in namespaces of their own, so that one program can hold both.
#ifdef TYCHE_CUDA_EMULATED
#define TYCHE_CUDA_NS cuda_emulated
#else
#define TYCHE_CUDA_NS cuda
#endif
