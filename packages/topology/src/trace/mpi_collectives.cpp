// requires: MPI
// Wrappers of MPI's collectives in the tracing library.
#include "src/trace/mpi_wrap.hpp"
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

/// Neighbourhood collectives are counted as messages along the arcs of their communicator; of the others only calls are counted.

namespace {

using namespace merganser::trace;

/// Counts a message of bytes(i) bytes to every out-neighbour i of a communicator with a topology; nothing without one.
template <class Bytes>
void for_neighbours(MPI_Comm comm, const Bytes& bytes) {
  const WorldRanks* ranks = get_ranks(comm);
  for (int i = 0; ranks != nullptr && i < ranks->neighbours; ++i) {
    if (ranks->neighbour(i) != kNobody) count(Move::message, ranks->neighbour(i), bytes(i));
  }
}

/// Counts the messages of a neighbourhood collective of MPI that sends n elements to every neighbour.
void count_even(MPI_Comm comm, int n, MPI_Datatype type) {
  const std::uint64_t bytes = data_bytes(n, type);
  for_neighbours(comm, [=](int) { return bytes; });
}
/// Counts the messages of a neighbourhood collective of MPI that sends n[i] elements to neighbour i.
void count_uneven(MPI_Comm comm, const int* n, MPI_Datatype type) {
  for_neighbours(comm, [=](int i) { return data_bytes(n[i], type); });
}
/// Counts the messages of MPI_Neighbor_alltoallw, which sends n[i] elements of types[i] to neighbour i.
void count_typed(MPI_Comm comm, const int* n, const MPI_Datatype* types) {
  for_neighbours(comm, [=](int i) { return data_bytes(n[i], types[i]); });
}

/// Stores the messages of a persistent neighbourhood collective of MPI under its request, to be counted when it is started.
template <class Bytes>
[[maybe_unused]] void store_neighbour_sends(MPI_Comm comm, MPI_Request request, const Bytes& bytes) {
  const WorldRanks* ranks = get_ranks(comm);
  if (ranks == nullptr) return;
  Sends* sends = new_sends(ranks->neighbours);
  for (int i = 0; sends != nullptr && i < ranks->neighbours; ++i) sends->one[i] = {ranks->neighbour(i), bytes(i)};
  store_sends(request, sends);
}

}  // namespace

// Parameters and arguments of the collectives that share a signature.
#define EVEN const void *from, int n, MPI_Datatype type, void *to, int to_n, MPI_Datatype to_type, MPI_Comm comm
#define EVEN_ARGUMENTS from, n, type, to, to_n, to_type, comm
#define GATHERV                                                                                                     \
  const void *from, int n, MPI_Datatype type, void *to, const int to_n[], const int places[], MPI_Datatype to_type, \
      MPI_Comm comm
#define GATHERV_ARGUMENTS from, n, type, to, to_n, places, to_type, comm
#define ALLTOALLV                                                                                     \
  const void *from, const int n[], const int places[], MPI_Datatype type, void *to, const int to_n[], \
      const int to_places[], MPI_Datatype to_type, MPI_Comm comm
#define ALLTOALLV_ARGUMENTS from, n, places, type, to, to_n, to_places, to_type, comm
#define ALLTOALLW                                                                                                   \
  const void *from, const int n[], const MPI_Aint places[], const MPI_Datatype types[], void *to, const int to_n[], \
      const MPI_Aint to_places[], const MPI_Datatype to_types[], MPI_Comm comm
#define ALLTOALLW_ARGUMENTS from, n, places, types, to, to_n, to_places, to_types, comm

MERGANSER_WRAP_BOTH(Neighbor_allgather, Ineighbor_allgather, (EVEN), (EVEN_ARGUMENTS), count_even(comm, n, type))
MERGANSER_WRAP_BOTH(Neighbor_allgatherv, Ineighbor_allgatherv, (GATHERV), (GATHERV_ARGUMENTS),
                    count_even(comm, n, type))
MERGANSER_WRAP_BOTH(Neighbor_alltoall, Ineighbor_alltoall, (EVEN), (EVEN_ARGUMENTS), count_even(comm, n, type))
MERGANSER_WRAP_BOTH(Neighbor_alltoallv, Ineighbor_alltoallv, (ALLTOALLV), (ALLTOALLV_ARGUMENTS),
                    count_uneven(comm, n, type))
MERGANSER_WRAP_BOTH(Neighbor_alltoallw, Ineighbor_alltoallw, (ALLTOALLW), (ALLTOALLW_ARGUMENTS),
                    count_typed(comm, n, types))

/// Wraps persistent neighbourhood collectives: part of MPI 4, an extension before. Where the library has none, no program calls
/// them.
#define MERGANSER_PERSISTENT(PREFIX, NAME, PARAMETERS, ARGUMENTS, BYTES)                                          \
  extern "C" MERGANSER_SHOWN int PREFIX##NAME(MERGANSER_UNPACK PARAMETERS, MPI_Info info, MPI_Request* request) { \
    static decltype(&PREFIX##NAME) real = nullptr;                                                                \
    if (real == nullptr) real = reinterpret_cast<decltype(&PREFIX##NAME)>(find_function("P" #PREFIX #NAME));      \
    const Call call;                                                                                              \
    const int result = real(MERGANSER_UNPACK ARGUMENTS, info, request);                                           \
    if (result == MPI_SUCCESS && call.counts()) {                                                                 \
      store_neighbour_sends(comm, *request, [=]([[maybe_unused]] int i) { return BYTES; });                       \
    }                                                                                                             \
    return result;                                                                                                \
  }
#define MERGANSER_ALL_PERSISTENT(PREFIX)                                                                            \
  MERGANSER_PERSISTENT(PREFIX, Neighbor_allgather_init, (EVEN), (EVEN_ARGUMENTS), data_bytes(n, type))              \
  MERGANSER_PERSISTENT(PREFIX, Neighbor_allgatherv_init, (GATHERV), (GATHERV_ARGUMENTS), data_bytes(n, type))       \
  MERGANSER_PERSISTENT(PREFIX, Neighbor_alltoall_init, (EVEN), (EVEN_ARGUMENTS), data_bytes(n, type))               \
  MERGANSER_PERSISTENT(PREFIX, Neighbor_alltoallv_init, (ALLTOALLV), (ALLTOALLV_ARGUMENTS), data_bytes(n[i], type)) \
  MERGANSER_PERSISTENT(PREFIX, Neighbor_alltoallw_init, (ALLTOALLW), (ALLTOALLW_ARGUMENTS), data_bytes(n[i], types[i]))
#if MPI_VERSION >= 4
MERGANSER_ALL_PERSISTENT(MPI_)
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
MERGANSER_ALL_PERSISTENT(MPIX_)
#endif

#define ROOTED \
  const void *from, int n, MPI_Datatype type, void *to, int to_n, MPI_Datatype to_type, int root, MPI_Comm comm
#define ROOTED_ARGUMENTS from, n, type, to, to_n, to_type, root, comm
#define REDUCED const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm
#define REDUCED_ARGUMENTS from, to, n, type, op, comm

/// Wraps a collective of MPI whose calls alone are counted, since MPI sends its messages in ways of its own.
#define MERGANSER_CALLS(NAME, PARAMETERS, ARGUMENTS) \
  MERGANSER_WRAP(NAME, PARAMETERS, ARGUMENTS, static int slot = 0; count_call("MPI_" #NAME, &slot))
/// Wraps such a collective with its non-blocking form, which has a request besides.
#define MERGANSER_BOTH(NAME, INAME, PARAMETERS, ARGUMENTS)                           \
  MERGANSER_CALLS(NAME, (MERGANSER_UNPACK PARAMETERS), (MERGANSER_UNPACK ARGUMENTS)) \
  MERGANSER_CALLS(INAME, (MERGANSER_UNPACK PARAMETERS, MPI_Request * request), (MERGANSER_UNPACK ARGUMENTS, request))

MERGANSER_BOTH(Barrier, Ibarrier, (MPI_Comm comm), (comm))
MERGANSER_BOTH(Bcast, Ibcast, (void* buffer, int n, MPI_Datatype type, int root, MPI_Comm comm),
               (buffer, n, type, root, comm))
MERGANSER_BOTH(Reduce, Ireduce,
               (const void* from, void* to, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
               (from, to, n, type, op, root, comm))
MERGANSER_BOTH(Allreduce, Iallreduce, (REDUCED), (REDUCED_ARGUMENTS))
MERGANSER_BOTH(Scan, Iscan, (REDUCED), (REDUCED_ARGUMENTS))
MERGANSER_BOTH(Exscan, Iexscan, (REDUCED), (REDUCED_ARGUMENTS))
MERGANSER_BOTH(Reduce_scatter_block, Ireduce_scatter_block, (REDUCED), (REDUCED_ARGUMENTS))
MERGANSER_BOTH(Reduce_scatter, Ireduce_scatter,
               (const void* from, void* to, const int n[], MPI_Datatype type, MPI_Op op, MPI_Comm comm),
               (from, to, n, type, op, comm))
MERGANSER_BOTH(Gather, Igather, (ROOTED), (ROOTED_ARGUMENTS))
MERGANSER_BOTH(Scatter, Iscatter, (ROOTED), (ROOTED_ARGUMENTS))
MERGANSER_BOTH(Gatherv, Igatherv,
               (const void* from, int n, MPI_Datatype type, void* to, const int to_n[], const int places[],
                MPI_Datatype to_type, int root, MPI_Comm comm),
               (from, n, type, to, to_n, places, to_type, root, comm))
MERGANSER_BOTH(Scatterv, Iscatterv,
               (const void* from, const int n[], const int places[], MPI_Datatype type, void* to, int to_n,
                MPI_Datatype to_type, int root, MPI_Comm comm),
               (from, n, places, type, to, to_n, to_type, root, comm))
MERGANSER_BOTH(Allgather, Iallgather, (EVEN), (EVEN_ARGUMENTS))
MERGANSER_BOTH(Allgatherv, Iallgatherv, (GATHERV), (GATHERV_ARGUMENTS))
MERGANSER_BOTH(Alltoall, Ialltoall, (EVEN), (EVEN_ARGUMENTS))
MERGANSER_BOTH(Alltoallv, Ialltoallv, (ALLTOALLV), (ALLTOALLV_ARGUMENTS))
MERGANSER_BOTH(Alltoallw, Ialltoallw,
               (const void* from, const int n[], const int places[], const MPI_Datatype types[], void* to,
                const int to_n[], const int to_places[], const MPI_Datatype to_types[], MPI_Comm comm),
               (from, n, places, types, to, to_n, to_places, to_types, comm))
