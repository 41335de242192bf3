/* Moves known bytes by every operation of OpenSHMEM and prints the expected counts, as trace_mpi_program does. */
#include <shmem.h>
#include <stdio.h>
#include <string.h>

enum { PUT, GET, MOVES };
enum { MAX_RANKS = 16 };
static long operations[MAX_RANKS][MOVES];
static long bytes[MAX_RANKS][MOVES];
static long memory[512] __attribute__((aligned(16)));
static int rank, ranks;

static void note(int peer, int move, long n) {
  ++operations[peer][move];
  bytes[peer][move] += n;
}
static void both(int peer, long n) {
  note(peer, PUT, n);
  note(peer, GET, n);
}

static void tell(void) {
  char text[1 << 12];
  size_t used = 0;
  for (int peer = 0; peer < ranks; ++peer)
    for (int m = 0; m < MOVES; ++m) {
      if (operations[peer][m] == 0 || peer == rank) continue;
      used += (size_t)snprintf(text + used, sizeof text - used, "truth 0 %d %d %s %ld %ld\n", m == GET ? peer : rank,
                               m == GET ? rank : peer, m == GET ? "get" : "put", operations[peer][m], bytes[peer][m]);
    }
  fwrite(text, 1, used, stdout);
  fflush(stdout);
}

static void blocks(int to) {
  static char from[4096];
  char* at = (char*)memory;
  shmem_putmem(at, from, 100, to), note(to, PUT, 100);
  shmem_putmem_nbi(at, from, 101, to), note(to, PUT, 101);
  shmem_put8(at, from, 3, to), note(to, PUT, 3);
  shmem_put16(at, from, 3, to), note(to, PUT, 6);
  shmem_put32(at, from, 3, to), note(to, PUT, 12);
  shmem_put64(at, from, 3, to), note(to, PUT, 24);
  shmem_put128(at, from, 3, to), note(to, PUT, 48);
  shmem_put64_nbi(at, from, 5, to), note(to, PUT, 40);
  shmem_int_put((int*)at, (const int*)from, 7, to), note(to, PUT, 28);
  shmem_double_put_nbi((double*)at, (const double*)from, 7, to), note(to, PUT, 56);
  shmem_uint16_put((uint16_t*)at, (const uint16_t*)from, 7, to), note(to, PUT, 14);
  shmem_longdouble_put((long double*)at, (const long double*)from, 2, to), note(to, PUT, 2 * (long)sizeof(long double));
  shmem_long_p(memory, 5, to), note(to, PUT, (long)sizeof(long));
  shmem_float_p((float*)at, 1.5F, to), note(to, PUT, 4);
  shmem_int_iput((int*)at, (const int*)from, 3, 2, 5, to), note(to, PUT, 20);
  shmem_iput64(at, from, 2, 1, 4, to), note(to, PUT, 32);
  shmem_quiet();
  shmem_getmem(from, at, 200, to), note(to, GET, 200);
  shmem_getmem_nbi(from, at, 201, to), note(to, GET, 201);
  shmem_get32(from, at, 9, to), note(to, GET, 36);
  shmem_short_get((short*)from, (const short*)at, 9, to), note(to, GET, 18);
  shmem_size_get_nbi((size_t*)from, (const size_t*)at, 2, to), note(to, GET, 16);
  (void)shmem_long_g(memory, to), note(to, GET, (long)sizeof(long));
  (void)shmem_double_g((const double*)at, to), note(to, GET, 8);
  shmem_double_iget((double*)from, (const double*)at, 2, 3, 4, to), note(to, GET, 32);
  shmem_quiet();
}

static void atomics(int to) {
  long* word = memory + 500;
  unsigned long* bits = (unsigned long*)word;
  shmem_long_atomic_add(word, 3, to), note(to, PUT, 8);
  shmem_long_atomic_inc(word, to), note(to, PUT, 8);
  shmem_long_atomic_set(word, 1, to), note(to, PUT, 8);
  shmem_ulong_atomic_and(bits, 7, to), note(to, PUT, 8);
  (void)shmem_long_atomic_fetch(word, to), note(to, GET, 8);
  (void)shmem_long_atomic_fetch_add(word, 2, to), both(to, 8);
  (void)shmem_long_atomic_fetch_inc(word, to), both(to, 8);
  (void)shmem_long_atomic_swap(word, 9, to), both(to, 8);
  (void)shmem_long_atomic_compare_swap(word, 9, 10, to), both(to, 8);
  (void)shmem_long_fadd(word, 1, to), both(to, 8); /* the name from before 1.4 */
  shmem_quiet();
}

static void contexts(int to) {
  shmem_ctx_t context;
  static long from[8];
  if (shmem_ctx_create(0, &context) != 0) return;
  shmem_ctx_long_put(context, memory, from, 4, to), note(to, PUT, 32);
  shmem_ctx_long_put_nbi(context, memory, from, 5, to), note(to, PUT, 40);
  shmem_ctx_putmem(context, memory, from, 9, to), note(to, PUT, 9);
  shmem_ctx_long_p(context, memory, 1, to), note(to, PUT, 8);
  shmem_ctx_quiet(context);
  (void)shmem_ctx_long_g(context, memory, to), note(to, GET, 8);
  shmem_ctx_long_get(context, from, memory, 3, to), note(to, GET, 24);
  (void)shmem_ctx_long_atomic_fetch_add(context, memory + 500, 1, to), both(to, 8);
  shmem_ctx_destroy(context);
}

/* Every operation by every name, with a context and without. Sizes differ, so that a confusion of two types shows. */
#define MOVE(F, NOTED, ...)                         \
  (void)shmem_##F(__VA_ARGS__), NOTED;              \
  (void)shmem_ctx_##F(context, __VA_ARGS__), NOTED;
#define CHANGES(T) note(to, PUT, (long)sizeof(T))
#define BRINGS(T) note(to, GET, (long)sizeof(T))
#define BOTH(T) both(to, (long)sizeof(T))
#define TYPED(NAME, T)                                                                                 \
  MOVE(NAME##_put, note(to, PUT, 3 * (long)sizeof(T)), (T*)at, (const T*)from, 3, to)                  \
  MOVE(NAME##_get, note(to, GET, 5 * (long)sizeof(T)), (T*)from, (const T*)at, 5, to)                  \
  MOVE(NAME##_put_nbi, note(to, PUT, 7 * (long)sizeof(T)), (T*)at, (const T*)from, 7, to)              \
  MOVE(NAME##_get_nbi, note(to, GET, 9 * (long)sizeof(T)), (T*)from, (const T*)at, 9, to)              \
  MOVE(NAME##_iput, note(to, PUT, 11 * (long)sizeof(T)), (T*)at, (const T*)from, 2, 3, 11, to)         \
  MOVE(NAME##_iget, note(to, GET, 13 * (long)sizeof(T)), (T*)from, (const T*)at, 3, 2, 13, to)         \
  MOVE(NAME##_p, CHANGES(T), (T*)at, 1, to)                                                            \
  MOVE(NAME##_g, BRINGS(T), (const T*)at, to)
#define SIZED(BITS)                                                       \
  MOVE(put##BITS, note(to, PUT, 3 * BITS / 8), at, from, 3, to)           \
  MOVE(get##BITS, note(to, GET, 5 * BITS / 8), from, at, 5, to)           \
  MOVE(put##BITS##_nbi, note(to, PUT, 7 * BITS / 8), at, from, 7, to)     \
  MOVE(get##BITS##_nbi, note(to, GET, 9 * BITS / 8), from, at, 9, to)     \
  MOVE(iput##BITS, note(to, PUT, 11 * BITS / 8), at, from, 2, 3, 11, to)  \
  MOVE(iget##BITS, note(to, GET, 13 * BITS / 8), from, at, 3, 2, 13, to)
#define ATOMIC_VALUE(NAME, T)                            \
  MOVE(NAME##_atomic_fetch, BRINGS(T), (const T*)at, to) \
  MOVE(NAME##_atomic_set, CHANGES(T), (T*)at, 1, to)     \
  MOVE(NAME##_atomic_swap, BOTH(T), (T*)at, 1, to)
#define ATOMIC_NUMBER(NAME, T)                                 \
  ATOMIC_VALUE(NAME, T)                                        \
  MOVE(NAME##_atomic_fetch_inc, BOTH(T), (T*)at, to)           \
  MOVE(NAME##_atomic_inc, CHANGES(T), (T*)at, to)              \
  MOVE(NAME##_atomic_fetch_add, BOTH(T), (T*)at, 1, to)        \
  MOVE(NAME##_atomic_add, CHANGES(T), (T*)at, 1, to)
#define ATOMIC_BITS(NAME, T)                            \
  MOVE(NAME##_atomic_fetch_and, BOTH(T), (T*)at, 1, to) \
  MOVE(NAME##_atomic_fetch_or, BOTH(T), (T*)at, 1, to)  \
  MOVE(NAME##_atomic_fetch_xor, BOTH(T), (T*)at, 1, to) \
  MOVE(NAME##_atomic_and, CHANGES(T), (T*)at, 1, to)    \
  MOVE(NAME##_atomic_or, CHANGES(T), (T*)at, 1, to)     \
  MOVE(NAME##_atomic_xor, CHANGES(T), (T*)at, 1, to)
#define COMPARED(NAME, T) MOVE(NAME##_atomic_compare_swap, BOTH(T), (T*)at, 1, 2, to)
#define OLD_VALUE(NAME, T) /* from before 1.4 */           \
  (void)shmem_##NAME##_fetch((const T*)at, to), BRINGS(T); \
  shmem_##NAME##_set((T*)at, 1, to), CHANGES(T);           \
  (void)shmem_##NAME##_swap((T*)at, 1, to), BOTH(T);
#define OLD_NUMBER(NAME, T)                              \
  OLD_VALUE(NAME, T)                                     \
  (void)shmem_##NAME##_finc((T*)at, to), BOTH(T);        \
  shmem_##NAME##_inc((T*)at, to), CHANGES(T);            \
  (void)shmem_##NAME##_fadd((T*)at, 1, to), BOTH(T);     \
  shmem_##NAME##_add((T*)at, 1, to), CHANGES(T);

static void every_name(int to) {
  static char from[4096] __attribute__((aligned(16)));
  char* at = (char*)memory;
  shmem_ctx_t context;
  if (shmem_ctx_create(0, &context) != 0) return;
  TYPED(float, float) TYPED(double, double) TYPED(longdouble, long double) TYPED(char, char)
  TYPED(schar, signed char) TYPED(short, short) TYPED(int, int) TYPED(long, long) TYPED(longlong, long long)
  TYPED(uchar, unsigned char) TYPED(ushort, unsigned short) TYPED(uint, unsigned) TYPED(ulong, unsigned long)
  TYPED(ulonglong, unsigned long long) TYPED(int8, int8_t) TYPED(int16, int16_t) TYPED(int32, int32_t)
  TYPED(int64, int64_t) TYPED(uint8, uint8_t) TYPED(uint16, uint16_t) TYPED(uint32, uint32_t) TYPED(uint64, uint64_t)
  TYPED(size, size_t) TYPED(ptrdiff, ptrdiff_t)
  SIZED(8) SIZED(16) SIZED(32) SIZED(64) SIZED(128)
  MOVE(putmem, note(to, PUT, 100), at, from, 100, to)
  MOVE(getmem, note(to, GET, 101), from, at, 101, to)
  MOVE(putmem_nbi, note(to, PUT, 102), at, from, 102, to)
  MOVE(getmem_nbi, note(to, GET, 103), from, at, 103, to)
  ATOMIC_VALUE(float, float) ATOMIC_VALUE(double, double) ATOMIC_NUMBER(int, int) ATOMIC_NUMBER(long, long)
  ATOMIC_NUMBER(longlong, long long) ATOMIC_NUMBER(uint, unsigned) ATOMIC_NUMBER(ulong, unsigned long)
  ATOMIC_NUMBER(ulonglong, unsigned long long) /* Open MPI has no others, and breaks its stack when it compares 4 bytes */
  COMPARED(long, long) COMPARED(longlong, long long) COMPARED(ulong, unsigned long)
  COMPARED(ulonglong, unsigned long long)
  (void)shmem_long_cswap(memory, 1, 2, to), BOTH(long);
  (void)shmem_longlong_cswap((long long*)at, 1, 2, to), BOTH(long long);
  ATOMIC_BITS(int, int) ATOMIC_BITS(long, long) ATOMIC_BITS(longlong, long long) ATOMIC_BITS(uint, unsigned)
  ATOMIC_BITS(ulong, unsigned long) ATOMIC_BITS(ulonglong, unsigned long long) ATOMIC_BITS(int32, int32_t)
  ATOMIC_BITS(int64, int64_t) ATOMIC_BITS(uint32, uint32_t) ATOMIC_BITS(uint64, uint64_t)
  OLD_VALUE(float, float) OLD_VALUE(double, double) OLD_NUMBER(int, int) OLD_NUMBER(long, long)
  OLD_NUMBER(longlong, long long)
  shmem_quiet();
  shmem_ctx_quiet(context);
  shmem_ctx_destroy(context);
}

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "";
  int provided;
  if (strcmp(name, "init-thread") == 0) {
    shmem_init_thread(SHMEM_THREAD_SINGLE, &provided);
  } else if (strcmp(name, "start-pes") == 0) {
    start_pes(0);
  } else {
    shmem_init();
  }
  rank = shmem_my_pe();
  ranks = shmem_n_pes();
  for (int peer = 0; peer < ranks; ++peer) { /* itself too, which is no arc */
    if (strcmp(name, "every-name") == 0) {
      every_name(peer);
      continue;
    }
    blocks(peer);
    atomics(peer);
    contexts(peer);
  }
  shmem_barrier_all();
  tell();
  if (strcmp(name, "no-finalize") == 0) return 0;
  if (strcmp(name, "exit") == 0) shmem_global_exit(3);
  shmem_finalize();
  return 0;
}
