/* One source for CUDA, OpenCL C 1.2 and Metal: the few words in which they differ.
 *
 * Rules for the text below this header: no pointers without GLOBAL, SHARED or PRIVATE; shared arrays only at the top of
 * a kernel; no bool, size_t, templates or references; (REAL)0, never 0.0; thread indices only in the kernel body;
 * barriers outside of divergent branches. A kernel reads
 *
 *     KERNEL name(GLOBAL REAL *data, GLOBAL const int *table, VALUE(int, n) THREADS) { ... }
 *
 * and the order of the arguments is the order in which they are bound. */

#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
#pragma OPENCL FP_CONTRACT OFF
#define KERNEL __kernel void
/* PoCL 3.1 loses what a function that is called writes through a pointer into shared memory. */
#define INLINE static inline __attribute__((always_inline))
#define GLOBAL __global
#define SHARED __local
#define SHARED_POINTER __local
#define PRIVATE __private
#define RESTRICT restrict
#define VALUE(type, name) const type name
#define THREADS
#define LANE(axis) ((int)get_local_id(axis))
#define GROUP(axis) ((int)get_group_id(axis))
#define WIDTH(axis) ((int)get_local_size(axis))
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
typedef long wide;
typedef uint word;
typedef ulong long_word;
#define BITS32(x) as_uint(x)
#define BITS64(x) as_ulong(x)
#define COUNT(counter, n) atomic_add((volatile __global int *)(counter), n)
/* Small structs would be returned as vectors by processors, which then take no lanes together. */
#define STRUCT_END float unused[4];

#elif defined(__CUDACC_RTC__) || defined(__CUDACC__)
#define KERNEL extern "C" __global__ void
#define INLINE static __device__ __forceinline__
#define GLOBAL
#define SHARED __shared__
#define SHARED_POINTER
#define PRIVATE
#define RESTRICT __restrict__
#define VALUE(type, name) const type name
#define THREADS
#define LANE(axis) ((int)LANE_##axis)
#define LANE_0 threadIdx.x
#define LANE_1 threadIdx.y
#define LANE_2 threadIdx.z
#define GROUP(axis) ((int)GROUP_##axis)
#define GROUP_0 blockIdx.x
#define GROUP_1 blockIdx.y
#define GROUP_2 blockIdx.z
#define WIDTH(axis) ((int)WIDTH_##axis)
#define WIDTH_0 blockDim.x
#define WIDTH_1 blockDim.y
#define WIDTH_2 blockDim.z
#define BARRIER() __syncthreads()
typedef long long wide;
typedef unsigned int word;
typedef unsigned long long long_word;
#define BITS32(x) __float_as_uint(x)
#define BITS64(x) ((long_word)__double_as_longlong(x))
#define COUNT(counter, n) atomicAdd(counter, n)

#elif defined(__METAL_VERSION__) || defined(METAL_MIMIC)
#ifdef METAL_MIMIC
/* A C++ compiler checks the address spaces; nothing is run. */
#define kernel
#define device __attribute__((address_space(1)))
#define constant __attribute__((address_space(2)))
#define threadgroup __attribute__((address_space(3)))
#define thread
#define BINDING(attribute)
struct uint3 { unsigned int x, y, z; };
namespace mem_flags { enum { mem_threadgroup }; }
inline void threadgroup_barrier(int) {}
inline float fabs(float x) { return __builtin_fabsf(x); }
inline float sqrt(float x) { return __builtin_sqrtf(x); }
inline float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
inline unsigned int as_word(float x) { union { float f; unsigned int u; } both; both.f = x; return both.u; }
#define SHARED static threadgroup
#define BITS32(x) as_word(x)
#define COUNT(counter, n) ((void)(*(counter) += (n)))
#else
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)
#define BINDING(attribute) [[attribute]]
#define SHARED threadgroup
#define BITS32(x) as_type<uint>(x)
#define COUNT(counter, n) atomic_fetch_add_explicit((device atomic_int *)(counter), n, memory_order_relaxed)
#endif
#define KERNEL kernel void
#define INLINE static inline
#define GLOBAL device
#define SHARED_POINTER threadgroup
#define PRIVATE thread
#define RESTRICT
#define VALUE(type, name) constant type &name
#define THREADS \
    , uint3 thread_lane BINDING(thread_position_in_threadgroup), \
      uint3 thread_group BINDING(threadgroup_position_in_grid), uint3 thread_width BINDING(threads_per_threadgroup)
#define LANE(axis) ((int)LANE_##axis)
#define LANE_0 thread_lane.x
#define LANE_1 thread_lane.y
#define LANE_2 thread_lane.z
#define GROUP(axis) ((int)GROUP_##axis)
#define GROUP_0 thread_group.x
#define GROUP_1 thread_group.y
#define GROUP_2 thread_group.z
#define WIDTH(axis) ((int)WIDTH_##axis)
#define WIDTH_0 thread_width.x
#define WIDTH_1 thread_width.y
#define WIDTH_2 thread_width.z
#define BARRIER() threadgroup_barrier(mem_flags::mem_threadgroup)
typedef long wide;
typedef unsigned int word;
typedef unsigned long long_word;
#endif

/* COUNT adds to an int in global memory, whoever else does so at the same time. */

/* Ends every generated struct; see where it is more than nothing. */
#ifndef STRUCT_END
#define STRUCT_END
#endif

/* Two ways to run the lanes of a sweep. Usually each is a thread of its own. With LANES_IN_A_LOOP, for processors, a
 * group is one thread that goes through all lanes in every EACH_LANE block, a loop that becomes vector instructions.
 * What a lane keeps from block to block is declared PER_LANE and named OF within the blocks; barriers are for threads.
 * EACH_LANE_APART is for what vectors cannot do. */
#ifdef LANES_IN_A_LOOP
/* Compilers may decline. */
#pragma clang diagnostic ignored "-Wpass-failed"
#define THIS_LANE(lane) ((void)0)
#define EACH_LANE(lane, first, end) \
    _Pragma("clang loop vectorize(assume_safety)") for (int lane = (first); lane < (end); lane++)
#define EACH_LANE_APART(lane, first, end) for (int lane = (first); lane < (end); lane++)
#define PER_LANE(name, lanes) name[lanes]
#define OF(name) name[lane]
#define LANE_BARRIER() ((void)0)
#else
#define THIS_LANE(lane) const int lane = LANE(0)
#define EACH_LANE(lane, first, end) if (lane >= (first) && lane < (end))
#define EACH_LANE_APART(lane, first, end) EACH_LANE(lane, first, end)
#define PER_LANE(name, lanes) name
#define OF(name) name
#define LANE_BARRIER() BARRIER()
#endif

/* A constant as the shortest decimals that read back exactly in single and in double precision. */
#ifdef REAL_IS_FLOAT64
#define LITERAL(single, twofold) twofold
#else
#define LITERAL(single, twofold) single
#endif

/* Ties follow the text: min keeps a, max takes b. */
INLINE REAL real_min(REAL a, REAL b) { return b < a ? b : a; }
INLINE REAL real_max(REAL a, REAL b) { return a > b ? a : b; }
#define REAL_ABS(x) fabs(x)
#define REAL_SQRT(x) sqrt(x)
#define REAL_FMA(x, y, z) fma(x, y, z)
/* Distance from 1 to the next number. */
#define REAL_EPSILON LITERAL(1.1920929e-7f, 2.220446049250313e-16)
