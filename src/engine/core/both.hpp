#pragma once
/// Functions for host and device alike. nvcc must inline them on the device: a pointer into shared memory that is
/// handed to a function of its own becomes a slower, generic one.
#ifdef __CUDACC__
#define TYCHE_BOTH __host__ __device__ __forceinline__
#else
#define TYCHE_BOTH inline
#endif
