// requires: MPI
#include "library.hpp"

#include <cstdlib>
#include <string>

#include "../../detail/process.hpp"
#include "../../detail/registry.hpp"
#include "merganser/base/error.hpp"

namespace merganser::comm::detail {
namespace {

bool running() {
  int started = 0;
  int ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  return started != 0 && ended == 0;
}

void end_mpi() {
  // A rank that leaves with an error of its own must not wait for others here; the launcher ends the job.
  if (running() && !left_alone()) MPI_Finalize();
}

std::string version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string line(text, static_cast<std::size_t>(length));
  line.resize(std::min({line.find('\n'), line.find('\0'), line.size()}));  // some libraries count the end
  return line;
}

void abort_mpi(int exit_code) {
  if (running()) MPI_Abort(MPI_COMM_WORLD, exit_code);
}

void let_mpi_work() {
  int found = 0;
  check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE), "MPI_Iprobe");
}

}  // namespace

void throw_mpi_error(int result, const char* call) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (MPI_Error_string(result, text, &length) != MPI_SUCCESS) length = 0;
  throw CommError(
      std::string(call) + ": " +
      (length > 0 ? std::string(text, static_cast<std::size_t>(length)) : "MPI error " + std::to_string(result)));
}

void start_mpi() {
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended != 0) throw CommError("MPI has been ended in this process and cannot be started again");
  if (!running()) {
    cure_environment();
    const KeptSignals kept;
    int provided = 0;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    std::atexit(end_mpi);
  }
  int rank = 0;
  int size = 0;
  check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
  check_world(rank, size, "MPI");
}

extern const Library mpi_hooks;
const Library mpi_hooks{version, abort_mpi, start_mpi, let_mpi_work};

}  // namespace merganser::comm::detail
