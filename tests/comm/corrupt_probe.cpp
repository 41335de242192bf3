/// Program with a faulty MPI that self_test_test starts: corrupt_probe FAULT MODEL [open] runs a model, or opens it over a
/// communicator, and prints the result.
#include <mpi.h>

#include <cstring>
#include <iostream>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/comm/open.hpp"
#include "merganser/comm/runtime.hpp"

namespace {
std::string fault;
}

extern "C" {

/// "put": a word for rank 1 gets lost.
int MPI_Put(const void* from, int n, MPI_Datatype type, int target, MPI_Aint at, int target_n, MPI_Datatype target_type,
            MPI_Win window) {
  if (fault == "put" && target == 1 && n == 8) return MPI_SUCCESS;
  return PMPI_Put(from, n, type, target, at, target_n, target_type, window);
}

/// "or": an OR is an exchange.
int MPI_Fetch_and_op(const void* from, void* to, MPI_Datatype type, int target, MPI_Aint at, MPI_Op op,
                     MPI_Win window) {
  static std::uint64_t other = 0;
  std::memcpy(&other, from, 4);
  if (fault == "or") other ^= 1;
  return PMPI_Fetch_and_op(fault == "or" ? &other : from, to, type, target, at, op, window);
}

/// "alltoallw": the last byte of a rank's first message is another.
int MPI_Ineighbor_alltoallw(const void* from, const int* out, const MPI_Aint* places, const MPI_Datatype* types,
                            void* to, const int* in, const MPI_Aint* into, const MPI_Datatype* in_types, MPI_Comm comm,
                            MPI_Request* request) {
  static char copy[4096];
  static MPI_Aint changed[64];
  if (fault == "alltoallw" && out[0] > 0 && out[0] <= static_cast<int>(sizeof copy)) {
    std::memcpy(copy, reinterpret_cast<const void*>(places[0]), static_cast<std::size_t>(out[0]));
    copy[out[0] - 1] = static_cast<char>(copy[out[0] - 1] ^ 1);
    std::memcpy(changed, places, sizeof(MPI_Aint));
    MPI_Get_address(copy, &changed[0]);
    places = changed;  // those who send have one arc out in the test
  }
  return PMPI_Ineighbor_alltoallw(from, out, places, types, to, in, into, in_types, comm, request);
}

/// "isend": a message gets shorter.
int MPI_Isend(const void* from, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  if (fault == "isend" && tag > 0 && n > 4) --n;
  return PMPI_Isend(from, n, type, to, tag, comm, request);
}

}  // extern "C"

int main(int argc, char** argv) {
  using namespace merganser;
  const std::string model = argc > 2 ? argv[2] : "auto";
  const bool by_open = argc > 3;
  comm::RunOptions options;
  options.backend = by_open ? "p2p" : model;
  try {
    if (!by_open) fault = argc > 1 ? argv[1] : "";
    comm::run(options, [&](comm::Transport& t) {
      if (by_open) {
        fault = argv[1];
        const auto opened =
            comm::open(MPI_Comm_c2f(MPI_COMM_WORLD), {.backend = model, .decorators = {}, .pattern = {}});
        if (t.rank() == 0) std::cout << "opened " << opened->name() << '\n';
        return;
      }
      if (t.rank() == 0) std::cout << "ran " << t.name() << "; " << t.choice() << '\n';
      if (t.counters().collectives != 0) std::cout << "wrong: the test counts\n";
    });
  } catch (const Error& e) {
    std::cout << e.what() << std::endl;
    return e.exit_code();
  }
  return 0;
}
