// requires: MPI
#include "src/trace/mpi_wrap.hpp"

/// One-sided operations. What changes a target's memory is a put, what brings something back a get; operations that do
/// both are both.

namespace {

using namespace merganser::trace;

void count_put(MPI_Win window, int target, int n, MPI_Datatype type) {
  count(Move::put, world_rank_of_window(window, target), bytes_of(n, type));
}
void count_get(MPI_Win window, int target, int n, MPI_Datatype type) {
  count(Move::get, world_rank_of_window(window, target), bytes_of(n, type));
}

bool changes_nothing(MPI_Op op) {
#ifdef OPEN_MPI
  static void* none = nullptr;
  if (none == nullptr) none = object("ompi_mpi_op_no_op");
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
                    if (!changes_nothing(op)) count_put(window, target, n, type);
                    count_get(window, target, to_n, to_type))
MERGANSER_WRAP(Fetch_and_op,
               (const void* from, void* to, MPI_Datatype type, int target, MPI_Aint at, MPI_Op op, MPI_Win window),
               (from, to, type, target, at, op, window), if (!changes_nothing(op)) count_put(window, target, 1, type);
               count_get(window, target, 1, type))
MERGANSER_WRAP(Compare_and_swap,
               (const void* from, const void* compared, void* to, MPI_Datatype type, int target, MPI_Aint at,
                MPI_Win window),
               (from, compared, to, type, target, at, window), count_put(window, target, 1, type);
               count_get(window, target, 1, type))
