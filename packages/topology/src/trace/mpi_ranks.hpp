#pragma once
/// Ranks of MPI_COMM_WORLD behind communicators, windows and persistent requests, for the tracing library.
#include <mpi.h>

#include <cstdint>
#include <cstring>

#include "src/trace/record.hpp"

namespace merganser::trace {

/// Returns the bits of a handle as an integer, whatever its type is in this MPI.
template <class Handle>
[[nodiscard]] std::uintptr_t bits(Handle handle) {
  std::uintptr_t value = 0;
  // NOLINTBEGIN(bugprone-sizeof-expression): a handle may be a pointer
  static_assert(sizeof(Handle) <= sizeof value);
  std::memcpy(&value, &handle, sizeof handle);
  // NOLINTEND(bugprone-sizeof-expression)
  return value;
}

/// A function of MPI by its profiling name PMPI_NAME, looked up at its first use.
#define MERGANSER_REAL(NAME)                                                                            \
  ([]() noexcept {                                                                                      \
    static decltype(&MPI_##NAME) found = nullptr;                                                       \
    auto real = __atomic_load_n(&found, __ATOMIC_RELAXED);                                              \
    if (__builtin_expect(real == nullptr, 0)) {                                                         \
      real = reinterpret_cast<decltype(&MPI_##NAME)>(::merganser::trace::find_function("PMPI_" #NAME)); \
      __atomic_store_n(&found, real, __ATOMIC_RELAXED);                                                 \
    }                                                                                                   \
    return real;                                                                                        \
  }())

/// World ranks by rank of a communicator or window; and, for a communicator with a topology, the destinations of its
/// neighbourhood collectives, in the order of the send buffer.
struct WorldRanks {
  int size;
  int neighbours;
  int world[1];  // size ranks, then neighbours ranks
  /// Returns the world rank of a rank; kNobody if it is out of range.
  [[nodiscard]] int operator[](int rank) const { return rank >= 0 && rank < size ? world[rank] : kNobody; }
  /// Returns the world rank of neighbour i.
  [[nodiscard]] int neighbour(int i) const { return world[size + i]; }
};

/// Returns MPI_COMM_WORLD.
[[nodiscard]] MPI_Comm world();
/// Returns the world rank of a rank that a call on a communicator names; kNobody for MPI_PROC_NULL and invalid ranks.
/// (Functions are named by kind of handle and not overloaded: in some libraries every handle is an int.)
[[nodiscard]] int world_rank(MPI_Comm comm, int rank);
/// Returns the world rank of a rank that a call on a window names; kNobody for MPI_PROC_NULL and invalid ranks.
[[nodiscard]] int world_rank_of_window(MPI_Win window, int rank);
/// Returns the ranks behind a communicator, from the cache or from MPI; null on an error of MPI.
[[nodiscard]] const WorldRanks* get_ranks(MPI_Comm comm);
/// Removes a communicator from the cache, before it is freed: its handle may be reused.
void erase_comm(MPI_Comm comm);
/// Removes a window from the cache, before it is freed: its handle may be reused.
void erase_window(MPI_Win window);

/// Messages that a persistent request sends each time it is started.
struct Sends {
  int count;
  /// One message.
  struct One {
    int peer;
    std::uint64_t bytes;
  } one[1];
};
/// Allocates a list of `count` messages; null without memory.
[[nodiscard]] Sends* new_sends(int count);
/// Stores the messages of a persistent request; takes ownership of `sends`.
void store_sends(MPI_Request request, Sends* sends);
/// Removes a request, before it is freed: its handle may be reused.
void erase_request(MPI_Request request);
/// Counts the messages of a persistent request that has been started.
void count_start(MPI_Request request);

/// Returns the bytes of the data of some elements, without the gaps of their type; 0 on an error of MPI.
[[nodiscard]] inline std::uint64_t data_bytes(MPI_Count elements, MPI_Datatype type) {
  MPI_Count size = 0;
  if (elements <= 0 || MERGANSER_REAL(Type_size_x)(type, &size) != MPI_SUCCESS || size <= 0) return 0;
  return static_cast<std::uint64_t>(elements) * static_cast<std::uint64_t>(size);
}

/// Counts a message of `elements` elements to a rank of a communicator.
inline void count_send(MPI_Comm comm, int rank, MPI_Count elements, MPI_Datatype type) {
  const int peer = world_rank(comm, rank);
  if (peer != kNobody) count(Move::message, peer, data_bytes(elements, type));
}

/// Starts counting, once MPI is initialised: gets rank and size of the world, and finds the bindings of other languages.
void start_counting();
/// Returns true if the address lies in a library that translates Fortran calls: those call functions by their PMPI names.
[[nodiscard]] bool from_bindings(const void* address);

}  // namespace merganser::trace
