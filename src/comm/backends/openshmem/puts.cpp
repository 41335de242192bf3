// requires: OpenSHMEM
// Puts, gets and atomics of OpenSHMEM. Over Sandia OpenSHMEM with UCX 1.13 no process has more operations in flight than its share
// of the shared-memory queues of others (QueuePart), and sources of puts are copied or waited for.
#include "src/comm/backends/openshmem/puts.hpp"

#include <shmem.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "merganser/base/pinned.hpp"
#include "src/comm/detail/queue_part.hpp"

namespace merganser::comm::detail {
namespace {

constexpr std::size_t kKept = std::size_t{64} << 10;  // size in bytes of the memory for copies of put sources
constexpr std::size_t kShort = kKept / 8;             // longest put source in bytes that is copied

/// Copies of the sources of OpenSHMEM puts that the library may not have read, and the count of operations in flight. Never
/// freed, since the library may read a copy after an exception has destroyed the transport.
struct Copies {
  std::byte* bytes = new std::byte[kKept];
  std::size_t used = 0;  // bytes of copies made since the last complete_puts()
  bool unread = false;   // a put reads its source in the caller's memory
  long on_the_way = 0;   // queue elements in flight since the last complete_puts(): an upper bound
};
/// Returns this process's copies of put sources and its count of operations in flight.
Copies& copies() {
  static auto* const of_this_process = new Copies;
  return *of_this_process;
}

/// Returns the share of this process in UCX's shared-memory queues of the other processes on the host.
const QueuePart& part() {
  static const QueuePart of_this_process(queue_elements(), shmem_n_pes());
  return of_this_process;
}

/// Reserves the elements of UCX's queue for a put or get of `bytes` bytes, one piece at most, and completes all operations in
/// flight first if too few elements are free. The share of a process is by the size of the job, which bounds the number of
/// processes on a host.
void reserve_queue(std::size_t bytes) {
  const long elements = QueuePart::num_elements(bytes);
  if (copies().on_the_way + elements > part().max_elements()) complete_puts();
  copies().on_the_way += elements;
}

/// Reservation of elements of UCX's queue for a blocking get or atomic, which is complete when the call returns: its destructor
/// ends the reservation.
class QueueReservation : Pinned {
 public:
  explicit QueueReservation(std::size_t bytes) : elements_(sandia_shmem() ? QueuePart::num_elements(bytes) : 0) {
    if (elements_ > 0) reserve_queue(bytes);
  }
  ~QueueReservation() {
    if (elements_ > 0) copies().on_the_way -= elements_;
  }

 private:
  long elements_;
};

}  // namespace

// Detection of Sandia OpenSHMEM by the name that the library reports; once per process.
bool sandia_shmem() {
  static const bool sandia = [] {
    char name[SHMEM_MAX_NAME_LEN];
    shmem_info_get_name(name);
    return std::string_view(name).find("Sandia") != std::string_view::npos;
  }();
  return sandia;
}

void enable_shmem_yielding() {
  if (sandia_shmem()) enable_yielding(count_local_ranks());
}

// Put with the semantics of shmem_putmem; over Sandia OpenSHMEM short sources are copied and long ones put in pieces
// that fit the queues.
void put_bytes(void* to, const void* from, std::size_t bytes, int pe) {
  if (!sandia_shmem()) return shmem_putmem(to, from, bytes, pe);
  const ShmemCall call;
  Copies& kept = copies();
  if (bytes > std::min(kShort, part().piece_bytes())) {
    for_each_piece(bytes, part().piece_bytes(), [&](std::size_t at, std::size_t piece) {
      reserve_queue(piece);
      kept.unread = true;
      shmem_putmem_nbi(static_cast<std::byte*>(to) + at, static_cast<const std::byte*>(from) + at, piece, pe);
    });
    return;
  }
  if (kept.used + bytes > kKept) complete_puts();  // resets the count of elements, so before this put is counted
  reserve_queue(bytes);
  std::memcpy(kept.bytes + kept.used, from, bytes);
  shmem_putmem_nbi(to, kept.bytes + kept.used, bytes, pe);
  kept.used += bytes;
}

void put_word(std::uint64_t* to, std::uint64_t word, int pe) {
  const ShmemCall call;
  if (sandia_shmem()) reserve_queue(sizeof word);
  shmem_uint64_p(to, word, pe);
}

void put_word(std::uint32_t* to, std::uint32_t word, int pe) {
  const ShmemCall call;
  if (sandia_shmem()) reserve_queue(sizeof word);
  shmem_uint32_p(to, word, pe);
}

void release_sources() {
  if (sandia_shmem() && copies().unread) complete_puts();
}

void order_puts() {
  release_sources();
  shmem_fence();
}

// Completion of all puts and gets (quiet): copies of sources may be reused, and the queues count as empty.
void complete_puts() {
  const ShmemCall call;
  shmem_quiet();
  if (!sandia_shmem()) return;
  copies().used = 0;
  copies().unread = false;
  copies().on_the_way = 0;
}

// Non-blocking get; over Sandia OpenSHMEM in pieces that fit this process's share of the queues.
void get_bytes_nbi(void* to, const void* from, std::size_t bytes, int pe) {
  const ShmemCall call;
  if (!sandia_shmem()) return shmem_getmem_nbi(to, from, bytes, pe);
  for_each_piece(bytes, part().piece_bytes(), [&](std::size_t at, std::size_t piece) {
    reserve_queue(piece);
    shmem_getmem_nbi(static_cast<std::byte*>(to) + at, static_cast<const std::byte*>(from) + at, piece, pe);
  });
}

// Blocking get; over Sandia OpenSHMEM in pieces that fit this process's share of the queues.
void get_bytes(void* to, const void* from, std::size_t bytes, int pe) {
  const ShmemCall call;
  if (!sandia_shmem()) return shmem_getmem(to, from, bytes, pe);
  for_each_piece(bytes, part().piece_bytes(), [&](std::size_t at, std::size_t piece) {
    const QueueReservation reserved(piece);
    shmem_getmem(static_cast<std::byte*>(to) + at, static_cast<const std::byte*>(from) + at, piece, pe);
  });
}

std::uint64_t get_word(const std::uint64_t* from, int pe) {
  const ShmemCall call;
  const QueueReservation reserved(sizeof *from);
  return shmem_uint64_g(from, pe);
}

// Atomic compare-and-swap on which fetch_or of the model shmem is built.
std::uint64_t swap_word(std::uint64_t* at, std::uint64_t expected, std::uint64_t desired, int pe) {
  static_assert(sizeof(unsigned long) == sizeof(std::uint64_t));
  const ShmemCall call;
  const QueueReservation reserved(sizeof *at);
  return shmem_ulong_atomic_compare_swap(reinterpret_cast<unsigned long*>(at), expected, desired, pe);
}

// Known faults of Sandia OpenSHMEM, with the workarounds of this file.
std::vector<std::string> shmem_faults() {
  if (!sandia_shmem()) return {};
  return {
      "over UCX 1.13 and shared memory a full queue of a process loses or spoils what is put: queues are long "
      "(UCX_POSIX_FIFO_SIZE) and no process has more on its way than fits",
      "over UCX shmem_putmem returns before it has read its source where the target does not keep up: the model puts "
      "copies, or waits until they have landed",
      "ranks that wait in a call of OpenSHMEM keep their core: where ranks are more than cores, they sleep now and "
      "then (MERGANSER_YIELD=0 lets them poll)"};
}

}  // namespace merganser::comm::detail
