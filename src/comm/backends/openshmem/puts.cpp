// requires: OpenSHMEM
#include "src/comm/backends/openshmem/puts.hpp"

#include <shmem.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace merganser::comm::detail {
namespace {

constexpr std::size_t kKept = std::size_t{64} << 10;
constexpr std::size_t kShort = kKept / 8;  // longer ones are not copied
constexpr std::size_t kPiece = std::size_t{64} << 10;
constexpr std::size_t kElement = 8192;  // bytes that UCX has behind an element of a queue
constexpr long kUsualQueue = 64;        // elements, where no variable says how many

/// Copies of what has been put and may not have been read. As long-lived as the library, which may read it after an exception
/// has destroyed the transport.
struct Copies {
  std::byte* bytes = new std::byte[kKept];
  std::size_t used = 0;
  bool unread = false;  // something was put from where it lies
  long on_the_way = 0;  // elements of queues since all had landed
};
Copies& copies() {
  static auto* const of_this_process = new Copies;
  return *of_this_process;
}

int ranks_here() {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}) {
    const char* value = std::getenv(name);
    if (value != nullptr) return static_cast<int>(std::strtol(value, nullptr, 10));
  }
  return 0;
}

/// UCX 1.13 delivers other bytes, or none, when the queue of a process in shared memory has no room. Nothing is put into a full
/// one where each process has no more on its way than its part of half a queue; the other half is for answers.
long most_on_the_way() {
  static const long most = [] {
    const char* value = std::getenv("UCX_POSIX_FIFO_SIZE");
    const long queue = value != nullptr ? std::strtol(value, nullptr, 10) : kUsualQueue;
    return std::max(1L, queue / 2 / shmem_n_pes());
  }();
  return most;
}

/// Before so many bytes are put or asked for.
void make_room(std::size_t bytes) {
  Copies& kept = copies();
  const long elements = 1 + static_cast<long>(bytes / kElement);
  if (kept.on_the_way + elements > most_on_the_way()) complete_puts();
  kept.on_the_way += elements;
}

}  // namespace

bool sandia_shmem() {
  static const bool sandia = [] {
    char name[SHMEM_MAX_NAME_LEN];
    shmem_info_get_name(name);
    return std::string_view(name).find("Sandia") != std::string_view::npos;
  }();
  return sandia;
}

void begin_shmem_courtesy() {
  if (sandia_shmem()) begin_courtesy(ranks_here());
}

void put_bytes(void* to, const void* from, std::size_t bytes, int pe) {
  if (!sandia_shmem()) return shmem_putmem(to, from, bytes, pe);
  const ShmemCall call;
  Copies& kept = copies();
  if (bytes > kShort) {
    for (std::size_t at = 0; at < bytes; at += kPiece) {
      const std::size_t piece = std::min(kPiece, bytes - at);
      make_room(piece);
      kept.unread = true;
      shmem_putmem_nbi(static_cast<std::byte*>(to) + at, static_cast<const std::byte*>(from) + at, piece, pe);
    }
    return;
  }
  make_room(bytes);
  if (kept.used + bytes > kKept) complete_puts();
  std::memcpy(kept.bytes + kept.used, from, bytes);
  shmem_putmem_nbi(to, kept.bytes + kept.used, bytes, pe);
  kept.used += bytes;
}

void put_word(std::uint64_t* to, std::uint64_t word, int pe) {
  const ShmemCall call;
  if (sandia_shmem()) make_room(sizeof word);
  shmem_uint64_p(to, word, pe);
}

void put_word(std::uint32_t* to, std::uint32_t word, int pe) {
  const ShmemCall call;
  if (sandia_shmem()) make_room(sizeof word);
  shmem_uint32_p(to, word, pe);
}

void release_sources() {
  if (sandia_shmem() && copies().unread) complete_puts();
}

void order_puts() {
  release_sources();
  shmem_fence();
}

void complete_puts() {
  const ShmemCall call;
  shmem_quiet();
  if (!sandia_shmem()) return;
  copies().used = 0;
  copies().unread = false;
  copies().on_the_way = 0;
}

void get_bytes_soon(void* to, const void* from, std::size_t bytes, int pe) {
  const ShmemCall call;
  if (sandia_shmem()) make_room(bytes);
  shmem_getmem_nbi(to, from, bytes, pe);
}

void get_bytes(void* to, const void* from, std::size_t bytes, int pe) {
  const ShmemCall call;
  shmem_getmem(to, from, bytes, pe);
}

std::uint64_t get_word(const std::uint64_t* from, int pe) {
  const ShmemCall call;
  return shmem_uint64_g(from, pe);
}

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
