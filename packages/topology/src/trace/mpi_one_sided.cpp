// requires: MPI
// Wrappers of MPI's one-sided calls in the tracing library.
#include "src/trace/mpi_wrap.hpp"

/// Operations that change the target's memory are counted as puts, operations that return data as gets, and those that do both
/// as both.

namespace {

using namespace merganser::trace;

/// Counts a put of n elements to a rank of an MPI window.
void count_put(MPI_Win window, int target, int n, MPI_Datatype type) {
  count(Move::put, world_rank_of_window(window, target), data_bytes(n, type));
}
/// Counts a get of n elements from a rank of an MPI window.
void count_get(MPI_Win window, int target, int n, MPI_Datatype type) {
  count(Move::get, world_rank_of_window(window, target), data_bytes(n, type));
}

/// Returns true for MPI_NO_OP, with which an accumulate operation only reads. In Open MPI it is the address of an object.
bool is_no_op(MPI_Op op) {
#ifdef OPEN_MPI
  static void* none = nullptr;
  if (none == nullptr) none = find_object("ompi_mpi_op_no_op");
  return static_cast<void*>(op) == none;
#else
  return op == MPI_NO_OP;
#endif
}

}  // namespace

#define AT int target, MPI_Aint at, int target_n, MPI_Datatype target_type
#define AT_ARGUMENTS target, at, target_n, target_type
#define PUT const void *from, int n, MPI_Datatype type
#define BOTH_WAYS PUT, void *to, int to_n, MPI_Datatype to_type

MERGANSER_WRAP_BOTH(Put, Rput, (PUT, AT, MPI_Win window), (from, n, type, AT_ARGUMENTS, window),
                    count_put(window, target, n, type))
MERGANSER_WRAP_BOTH(Get, Rget, (void* to, int n, MPI_Datatype type, AT, MPI_Win window),
                    (to, n, type, AT_ARGUMENTS, window), count_get(window, target, n, type))
MERGANSER_WRAP_BOTH(Accumulate, Raccumulate, (PUT, AT, MPI_Op op, MPI_Win window),
                    (from, n, type, AT_ARGUMENTS, op, window), count_put(window, target, n, type))
MERGANSER_WRAP_BOTH(Get_accumulate, Rget_accumulate, (BOTH_WAYS, AT, MPI_Op op, MPI_Win window),
                    (from, n, type, to, to_n, to_type, AT_ARGUMENTS, op, window),
                    if (!is_no_op(op)) count_put(window, target, n, type);
                    count_get(window, target, to_n, to_type))
MERGANSER_WRAP(Fetch_and_op,
               (const void* from, void* to, MPI_Datatype type, int target, MPI_Aint at, MPI_Op op, MPI_Win window),
               (from, to, type, target, at, op, window), if (!is_no_op(op)) count_put(window, target, 1, type);
               count_get(window, target, 1, type))
MERGANSER_WRAP(Compare_and_swap,
               (const void* from, const void* compared, void* to, MPI_Datatype type, int target, MPI_Aint at,
                MPI_Win window),
               (from, compared, to, type, target, at, window), count_put(window, target, 1, type);
               count_get(window, target, 1, type))
