#pragma once
/// Ranks of the world behind communicators, windows and persistent requests.
#include <mpi.h>

#include <cstdint>
#include <cstring>

#include "src/trace/record.hpp"

namespace merganser::trace {

template <class Handle>
[[nodiscard]] std::uintptr_t bits(Handle handle) {
  std::uintptr_t value = 0;
  // NOLINTBEGIN(bugprone-sizeof-expression): a handle may be a pointer
  static_assert(sizeof(Handle) <= sizeof value);
  std::memcpy(&value, &handle, sizeof handle);
  // NOLINTEND(bugprone-sizeof-expression)
  return value;
}

/// A function of MPI by its second name, found at its first use.
#define MERGANSER_REAL(NAME)                                                                   \
  ([]() noexcept {                                                                             \
    static decltype(&MPI_##NAME) found = nullptr;                                              \
    auto real = __atomic_load_n(&found, __ATOMIC_RELAXED);                                     \
    if (__builtin_expect(real == nullptr, 0)) {                                                \
      real = reinterpret_cast<decltype(&MPI_##NAME)>(::merganser::trace::next("PMPI_" #NAME)); \
      __atomic_store_n(&found, real, __ATOMIC_RELAXED);                                        \
    }                                                                                          \
    return real;                                                                               \
  }())

/// Ranks of the world by rank of a communicator or window; and, for a communicator with a topology, where its
/// neighbourhood collectives send to, in order.
struct WorldRanks {
  int size;
  int neighbours;
  int world[1];  // size ranks, then neighbours ranks
  [[nodiscard]] int operator[](int rank) const { return rank >= 0 && rank < size ? world[rank] : kNobody; }
  [[nodiscard]] int neighbour(int i) const { return world[size + i]; }
};

[[nodiscard]] MPI_Comm world();
/// World rank of a rank that a call names; kNobody where there is none. (Named by kind: in some libraries every handle is
/// an int.)
[[nodiscard]] int world_rank(MPI_Comm comm, int rank);
[[nodiscard]] int world_rank_of_window(MPI_Win window, int rank);
/// Null if nothing can be found out.
[[nodiscard]] const WorldRanks* ranks_of(MPI_Comm comm);
void forget_comm(MPI_Comm comm);
void forget_window(MPI_Win window);

/// What a persistent request sends each time it is started.
struct Sends {
  int count;
  struct One {
    int peer;
    std::uint64_t bytes;
  } one[1];
};
[[nodiscard]] Sends* new_sends(int count);
void remember(MPI_Request request, Sends* sends);
void forget_request(MPI_Request request);
void count_start(MPI_Request request);

/// Bytes of so many elements, without the gaps of their type.
[[nodiscard]] inline std::uint64_t bytes_of(MPI_Count elements, MPI_Datatype type) {
  MPI_Count size = 0;
  if (elements <= 0 || MERGANSER_REAL(Type_size_x)(type, &size) != MPI_SUCCESS || size <= 0) return 0;
  return static_cast<std::uint64_t>(elements) * static_cast<std::uint64_t>(size);
}

inline void count_send(MPI_Comm comm, int rank, MPI_Count elements, MPI_Datatype type) {
  const int peer = world_rank(comm, rank);
  if (peer != kNobody) count(Move::message, peer, bytes_of(elements, type));
}

/// Takes note of MPI's start; finds the bindings of other languages.
void started();
/// True if the address lies in a library that translates Fortran calls: those use the second names of functions.
[[nodiscard]] bool from_bindings(const void* address);

}  // namespace merganser::trace
