// requires: OpenSHMEM
// Wrappers of OpenSHMEM's calls in the tracing library.
#include <cstddef>
#include <cstdint>

#include "src/trace/record.hpp"

/// OpenSHMEM 1.4 in C: every put, get and atomic operation, by all its names. Declared here as the standard defines them, since
/// its header has macros of the same names; a context is a pointer or an integer of its size.
namespace {

using namespace merganser::trace;
using Context = void*;  // shmem_ctx_t

/// Returns the OpenSHMEM library's own function of this name, looked up at its first use. Threads may look it up twice, with one
/// result.
template <class Function>
Function* cached_function(Function** known, const char* name) {
  Function* real = __atomic_load_n(known, __ATOMIC_RELAXED);
  if (__builtin_expect(real == nullptr, 0)) {
    real = reinterpret_cast<Function*>(find_function(name));
    __atomic_store_n(known, real, __ATOMIC_RELAXED);
  }
  return real;
}

/// Starts counting in the tracing library, once OpenSHMEM is initialised.
void start_counting() {
  using Ask = int();
  static Ask* rank = nullptr;
  static Ask* ranks = nullptr;
  start(cached_function(&rank, "shmem_my_pe")(), cached_function(&ranks, "shmem_n_pes")(), false);
}

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses): types stand without
#define UNPACK(...) __VA_ARGS__
#define SHOWN extern "C" __attribute__((visibility("default")))

/// Wrap an OpenSHMEM function without, and one with a result; the last argument is the statement that counts its operations.
#define WRAP(NAME, PARAMETERS, ARGUMENTS, ...)         \
  SHOWN void NAME(UNPACK PARAMETERS) {                 \
    static void (*known)(UNPACK PARAMETERS) = nullptr; \
    const Call call;                                   \
    cached_function(&known, #NAME)(UNPACK ARGUMENTS);  \
    if (call.counts()) {                               \
      __VA_ARGS__;                                     \
    }                                                  \
  }
#define WRAP_RESULT(T, NAME, PARAMETERS, ARGUMENTS, ...)               \
  SHOWN T NAME(UNPACK PARAMETERS) {                                    \
    static T (*known)(UNPACK PARAMETERS) = nullptr;                    \
    const Call call;                                                   \
    const T result = cached_function(&known, #NAME)(UNPACK ARGUMENTS); \
    if (call.counts()) {                                               \
      __VA_ARGS__;                                                     \
    }                                                                  \
    return result;                                                     \
  }

/// Wrap an OpenSHMEM function in both its forms, with and without a context.
#define EACH(NAME, PARAMETERS, ARGUMENTS, ...)                             \
  WRAP(shmem_##NAME, (UNPACK PARAMETERS), (UNPACK ARGUMENTS), __VA_ARGS__) \
  WRAP(shmem_ctx_##NAME, (Context context, UNPACK PARAMETERS), (context, UNPACK ARGUMENTS), __VA_ARGS__)
#define EACH_RESULT(T, NAME, PARAMETERS, ARGUMENTS, ...)                             \
  WRAP_RESULT(T, shmem_##NAME, (UNPACK PARAMETERS), (UNPACK ARGUMENTS), __VA_ARGS__) \
  WRAP_RESULT(T, shmem_ctx_##NAME, (Context context, UNPACK PARAMETERS), (context, UNPACK ARGUMENTS), __VA_ARGS__)

/// Wrap contiguous puts and gets of OpenSHMEM. T: declared type of elements; SIZE: bytes of one.
#define BLOCKS(T, SIZE, PUT, GET, SUFFIX)                                                                              \
  EACH(PUT##SUFFIX, (T * to, const T* from, std::size_t n, int pe), (to, from, n, pe), count(Move::put, pe, n*(SIZE))) \
  EACH(GET##SUFFIX, (T * to, const T* from, std::size_t n, int pe), (to, from, n, pe), count(Move::get, pe, n*(SIZE)))
/// Wrap strided puts and gets.
#define STRIDED(T, SIZE, PUT, GET)                                                                         \
  EACH(PUT, (T * to, const T* from, std::ptrdiff_t step, std::ptrdiff_t from_step, std::size_t n, int pe), \
       (to, from, step, from_step, n, pe), count(Move::put, pe, n*(SIZE)))                                 \
  EACH(GET, (T * to, const T* from, std::ptrdiff_t step, std::ptrdiff_t from_step, std::size_t n, int pe), \
       (to, from, step, from_step, n, pe), count(Move::get, pe, n*(SIZE)))
/// Wrap all puts and gets of one element type: blocks, non-blocking blocks, strided, single elements.
#define TYPED(NAME, T)                                                                        \
  BLOCKS(T, sizeof(T), NAME##_put, NAME##_get, )                                              \
  BLOCKS(T, sizeof(T), NAME##_put, NAME##_get, _nbi)                                          \
  STRIDED(T, sizeof(T), NAME##_iput, NAME##_iget)                                             \
  EACH(NAME##_p, (T * to, T value, int pe), (to, value, pe), count(Move::put, pe, sizeof(T))) \
  EACH_RESULT(T, NAME##_g, (const T* from, int pe), (from, pe), count(Move::get, pe, sizeof(T)))
/// Wrap all puts and gets of elements of so many bits.
#define SIZED(BITS)                                    \
  BLOCKS(void, (BITS) / 8, put##BITS, get##BITS, )     \
  BLOCKS(void, (BITS) / 8, put##BITS, get##BITS, _nbi) \
  STRIDED(void, (BITS) / 8, iput##BITS, iget##BITS)

// An atomic operation that changes the target's memory counts as a put, one that returns a value as a get.
#define CHANGES(T) count(Move::put, pe, sizeof(T))
#define BRINGS(T) count(Move::get, pe, sizeof(T))
#define ATOMIC_VALUE(NAME, T) /* the types that are read and written only */          \
  EACH_RESULT(T, NAME##_atomic_fetch, (const T* from, int pe), (from, pe), BRINGS(T)) \
  EACH(NAME##_atomic_set, (T * to, T value, int pe), (to, value, pe), CHANGES(T))     \
  EACH_RESULT(T, NAME##_atomic_swap, (T * to, T value, int pe), (to, value, pe), CHANGES(T); BRINGS(T))
#define ATOMIC_NUMBER(NAME, T)                                                                                       \
  ATOMIC_VALUE(NAME, T)                                                                                              \
  EACH_RESULT(T, NAME##_atomic_compare_swap, (T * to, T if_is, T value, int pe), (to, if_is, value, pe), CHANGES(T); \
              BRINGS(T))                                                                                             \
  EACH_RESULT(T, NAME##_atomic_fetch_inc, (T * to, int pe), (to, pe), CHANGES(T); BRINGS(T))                         \
  EACH(NAME##_atomic_inc, (T * to, int pe), (to, pe), CHANGES(T))                                                    \
  EACH_RESULT(T, NAME##_atomic_fetch_add, (T * to, T value, int pe), (to, value, pe), CHANGES(T); BRINGS(T))         \
  EACH(NAME##_atomic_add, (T * to, T value, int pe), (to, value, pe), CHANGES(T))
#define ATOMIC_INTEGER(NAME, T)                                                                              \
  ATOMIC_NUMBER(NAME, T)                                                                                     \
  EACH_RESULT(T, NAME##_atomic_fetch_and, (T * to, T value, int pe), (to, value, pe), CHANGES(T); BRINGS(T)) \
  EACH_RESULT(T, NAME##_atomic_fetch_or, (T * to, T value, int pe), (to, value, pe), CHANGES(T); BRINGS(T))  \
  EACH_RESULT(T, NAME##_atomic_fetch_xor, (T * to, T value, int pe), (to, value, pe), CHANGES(T); BRINGS(T)) \
  EACH(NAME##_atomic_and, (T * to, T value, int pe), (to, value, pe), CHANGES(T))                            \
  EACH(NAME##_atomic_or, (T * to, T value, int pe), (to, value, pe), CHANGES(T))                             \
  EACH(NAME##_atomic_xor, (T * to, T value, int pe), (to, value, pe), CHANGES(T))
#define OLD_VALUE(NAME, T) /* names from before 1.4 */                                 \
  WRAP_RESULT(T, shmem_##NAME##_fetch, (const T* from, int pe), (from, pe), BRINGS(T)) \
  WRAP(shmem_##NAME##_set, (T * to, T value, int pe), (to, value, pe), CHANGES(T))     \
  WRAP_RESULT(T, shmem_##NAME##_swap, (T * to, T value, int pe), (to, value, pe), CHANGES(T); BRINGS(T))
#define OLD_NUMBER(NAME, T)                                                                                    \
  OLD_VALUE(NAME, T)                                                                                           \
  WRAP_RESULT(T, shmem_##NAME##_cswap, (T * to, T if_is, T value, int pe), (to, if_is, value, pe), CHANGES(T); \
              BRINGS(T))                                                                                       \
  WRAP_RESULT(T, shmem_##NAME##_finc, (T * to, int pe), (to, pe), CHANGES(T); BRINGS(T))                       \
  WRAP(shmem_##NAME##_inc, (T * to, int pe), (to, pe), CHANGES(T))                                             \
  WRAP_RESULT(T, shmem_##NAME##_fadd, (T * to, T value, int pe), (to, value, pe), CHANGES(T); BRINGS(T))       \
  WRAP(shmem_##NAME##_add, (T * to, T value, int pe), (to, value, pe), CHANGES(T))
// NOLINTEND(bugprone-macro-parentheses)

TYPED(float, float)
TYPED(double, double)
TYPED(longdouble, long double)
TYPED(char, char)
TYPED(schar, signed char)
TYPED(short, short)
TYPED(int, int)
TYPED(long, long)
TYPED(longlong, long long)
TYPED(uchar, unsigned char)
TYPED(ushort, unsigned short)
TYPED(uint, unsigned)
TYPED(ulong, unsigned long)
TYPED(ulonglong, unsigned long long)
TYPED(int8, std::int8_t)
TYPED(int16, std::int16_t)
TYPED(int32, std::int32_t)
TYPED(int64, std::int64_t)
TYPED(uint8, std::uint8_t)
TYPED(uint16, std::uint16_t)
TYPED(uint32, std::uint32_t)
TYPED(uint64, std::uint64_t)
TYPED(size, std::size_t)
TYPED(ptrdiff, std::ptrdiff_t)
SIZED(8)
SIZED(16)
SIZED(32)
SIZED(64)
SIZED(128)
BLOCKS(void, 1, putmem, getmem, )
BLOCKS(void, 1, putmem, getmem, _nbi)

ATOMIC_VALUE(float, float)
ATOMIC_VALUE(double, double)
ATOMIC_INTEGER(int, int)
ATOMIC_INTEGER(long, long)
ATOMIC_INTEGER(longlong, long long)
ATOMIC_INTEGER(uint, unsigned)
ATOMIC_INTEGER(ulong, unsigned long)
ATOMIC_INTEGER(ulonglong, unsigned long long)
ATOMIC_INTEGER(int32, std::int32_t)
ATOMIC_INTEGER(int64, std::int64_t)
ATOMIC_INTEGER(uint32, std::uint32_t)
ATOMIC_INTEGER(uint64, std::uint64_t)
ATOMIC_NUMBER(size, std::size_t)
ATOMIC_NUMBER(ptrdiff, std::ptrdiff_t)
OLD_VALUE(float, float)
OLD_VALUE(double, double)
OLD_NUMBER(int, int)
OLD_NUMBER(long, long)
OLD_NUMBER(longlong, long long)

// Start and end of OpenSHMEM: counting begins once rank and number of ranks are known, and the trace file is written before the
// end.
SHOWN void shmem_init() {
  static void (*known)() = nullptr;
  cached_function(&known, "shmem_init")();
  start_counting();
}
SHOWN void start_pes(int pes) {
  static void (*known)(int) = nullptr;
  cached_function(&known, "start_pes")(pes);
  start_counting();
}
SHOWN int shmem_init_thread(int wanted, int* provided) {
  static int (*known)(int, int*) = nullptr;
  const int result = cached_function(&known, "shmem_init_thread")(wanted, provided);
  start_counting();
  return result;
}
SHOWN void shmem_finalize() {
  static void (*known)() = nullptr;
  write_part("finalize");
  cached_function(&known, "shmem_finalize")();
}
SHOWN void shmem_global_exit(int code) {
  static void (*known)(int) = nullptr;
  write_part("abort");
  cached_function(&known, "shmem_global_exit")(code);
}
