/* Moves known bytes with every kind of operation of OpenSHMEM and prints what it has moved, as trace_mpi_program does. */
#include <shmem.h>
#include <stdio.h>
#include <string.h>

enum { PUT, GET, MOVES };
enum { MAX_RANKS = 16 };
static long operations[MAX_RANKS][MOVES];
static long bytes[MAX_RANKS][MOVES];
static long memory[512];
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

int main(int argc, char** argv) {
  shmem_init();
  rank = shmem_my_pe();
  ranks = shmem_n_pes();
  for (int peer = 0; peer < ranks; ++peer) { /* itself too, which is no arc */
    blocks(peer);
    atomics(peer);
    contexts(peer);
  }
  shmem_barrier_all();
  tell();
  if (argc > 1 && strcmp(argv[1], "no-finalize") == 0) return 0;
  shmem_finalize();
  return 0;
}
