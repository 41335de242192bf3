#pragma once
/// Ranks of MPI_COMM_WORLD behind communicators, windows and persistent requests, for the tracing library.
#include <mpi.h>

#include <cstdint>
#include <cstring>

#include "src/trace/record.hpp"

namespace merganser::trace {

/// Returns the bits of an MPI handle as an integer, whatever its type is in this MPI library: key of a HandleTable.
template <class Handle>
[[nodiscard]] std::uintptr_t bits(Handle handle) {
  std::uintptr_t value = 0;
  // NOLINTBEGIN(bugprone-sizeof-expression): a handle may be a pointer
  static_assert(sizeof(Handle) <= sizeof value);
  std::memcpy(&value, &handle, sizeof handle);
  // NOLINTEND(bugprone-sizeof-expression)
  return value;
}

/// Yields the MPI library's own function by its profiling name PMPI_NAME, looked up at its first use. Threads may look it up twice,
/// with one result.
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

/// Ranks of MPI_COMM_WORLD by rank of a communicator or window; and, for a communicator with a topology, the destinations of its
/// neighbourhood collectives, in the order of the send buffer.
struct WorldRanks {
  int size;        ///< number of ranks; 0 if they could not be translated
  int neighbours;  ///< number of destinations of neighbourhood collectives
  int world[1];    ///< world ranks: of `size` ranks, then of `neighbours` destinations
  /// Returns the world rank of a rank of the communicator or window; kNobody if it is out of range.
  [[nodiscard]] int operator[](int rank) const { return rank >= 0 && rank < size ? world[rank] : kNobody; }
  /// Returns the world rank of destination i of this rank's neighbourhood collectives.
  [[nodiscard]] int neighbour(int i) const { return world[size + i]; }
};

/// Returns MPI_COMM_WORLD, found by name where it is the address of an object of the MPI library.
[[nodiscard]] MPI_Comm world();
/// Returns the world rank of a rank that a call on a communicator names; kNobody for MPI_PROC_NULL and invalid ranks.
/// (Functions are named by kind of handle and not overloaded: in some libraries every handle is an int.)
[[nodiscard]] int world_rank(MPI_Comm comm, int rank);
/// Returns the world rank of a rank that a call on a window names; kNobody for MPI_PROC_NULL and invalid ranks.
[[nodiscard]] int world_rank_of_window(MPI_Win window, int rank);
/// Returns the world ranks behind a communicator's ranks, from the cache or from MPI; null on an error of MPI.
[[nodiscard]] const WorldRanks* get_ranks(MPI_Comm comm);
/// Removes a communicator from the cache of world ranks, before it is freed: its handle may be reused.
void erase_comm(MPI_Comm comm);
/// Removes a window from the cache of world ranks, before it is freed: its handle may be reused.
void erase_window(MPI_Win window);

/// Messages that a persistent request of MPI sends each time it is started; allocated by new_sends().
struct Sends {
  int count;  ///< number of messages
  /// One message of a persistent request.
  struct One {
    int peer;             ///< rank of MPI_COMM_WORLD that receives it
    std::uint64_t bytes;  ///< length of its data
  } one[1];
};
/// Allocates the list of `count` messages of a persistent request; null without memory.
[[nodiscard]] Sends* new_sends(int count);
/// Stores the messages that a persistent request of MPI sends; takes ownership of `sends`, which may be null.
void store_sends(MPI_Request request, Sends* sends);
/// Removes the stored messages of a persistent request, before it is freed: its handle may be reused.
void erase_request(MPI_Request request);
/// Counts the messages of a persistent request that has been started.
void count_start(MPI_Request request);

/// Returns the bytes of data in so many elements of an MPI datatype, without its gaps; 0 on an error of MPI.
[[nodiscard]] inline std::uint64_t data_bytes(MPI_Count elements, MPI_Datatype type) {
  MPI_Count size = 0;
  if (elements <= 0 || MERGANSER_REAL(Type_size_x)(type, &size) != MPI_SUCCESS || size <= 0) return 0;
  return static_cast<std::uint64_t>(elements) * static_cast<std::uint64_t>(size);
}

/// Counts a message of MPI of `elements` elements to a rank of a communicator; none to MPI_PROC_NULL.
inline void count_send(MPI_Comm comm, int rank, MPI_Count elements, MPI_Datatype type) {
  const int peer = world_rank(comm, rank);
  if (peer != kNobody) count(Move::message, peer, data_bytes(elements, type));
}

/// Starts counting in a traced program, once MPI is initialised: gets rank and size of the world, and finds the bindings of other
/// languages.
void start_counting();
/// Returns true if an address of code lies in a library of MPI's Fortran bindings: those call functions by their PMPI names.
[[nodiscard]] bool from_bindings(const void* address);

}  // namespace merganser::trace
