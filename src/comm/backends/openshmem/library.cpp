// requires: OpenSHMEM
// Life of OpenSHMEM in this process for the model shmem: start and end, together with MPI where both are in use, and failure
// notices; and the table of entry points (Library) by which the rest of comm calls it.
#include "src/comm/backends/openshmem/library.hpp"

#include <dlfcn.h>
#include <shmem.h>

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "src/comm/backends/openshmem/heap.hpp"
#include "src/comm/backends/openshmem/puts.hpp"
#include "src/comm/detail/process.hpp"
#include "src/comm/detail/registry.hpp"
#include "src/comm/detail/scoped_yield.hpp"

namespace merganser::comm::detail {
namespace {

constexpr std::size_t kUsualHeap = std::size_t{256} << 20;  // size of the symmetric heap by default in Open MPI

bool started = false;  // start_shmem() has initialised OpenSHMEM, and it is not finalised
HeapSetting heap{"SHMEM_SYMMETRIC_SIZE", "not set"};

/// Returns name and version of the OpenSHMEM library: "Open MPI ..., OpenSHMEM 1.4".
std::string version() {
  char name[SHMEM_MAX_NAME_LEN];
  int major = 0;
  int minor = 0;
  shmem_info_get_name(name);
  shmem_info_get_version(&major, &minor);
  return std::string(name) + ", OpenSHMEM " + std::to_string(major) + "." + std::to_string(minor);
}

/// Stores the environment variable of the symmetric heap's size before OpenSHMEM is initialised: Open MPI does not read the
/// variable of the standard, and moves the value of one variable to the other while it starts.
void note_heap_setting() {
  const bool open_mpi = version().find("open-mpi") != std::string::npos;
  if (open_mpi) heap.name = "SHMEM_SYMMETRIC_HEAP_SIZE";
  for (const char* name : {heap.name.c_str(), "SMA_SYMMETRIC_SIZE"}) {
    const char* value = std::getenv(name);
    if (value == nullptr) continue;
    heap = {name, value};
    return;
  }
}

/// Finalises OpenSHMEM by shmem_finalize, with yielding of the core. Collective.
void finalize() {
  const ScopedYield yield;
  shmem_finalize();
}

/// Finalises OpenSHMEM when the process ends (atexit), unless this rank failed by itself. Collective.
void end_shmem() {
  // Finalises MPI too, so it must run before MPI_Finalize would. A rank with an error of its own must not enter a collective.
  if (std::exchange(started, false) && !failed_locally()) finalize();
}

/// Finalises OpenSHMEM within MPI_Finalize of the program. Open MPI's shmem_finalize would finalise MPI once more, with an
/// error; without it the process crashes at its end. A variable of Open MPI's own keeps it from finalising MPI.
void end_shmem_in_mpi() {
  if (!std::exchange(started, false)) return;
  auto* leave_mpi = static_cast<int*>(dlsym(RTLD_DEFAULT, "oshmem_shmem_inglobalexit"));
  if (leave_mpi != nullptr) *leave_mpi = 1;
  finalize();
  if (leave_mpi != nullptr) *leave_mpi = 0;
}

/// Ends every process of the job by shmem_global_exit with `exit_code`, if OpenSHMEM is initialised.
void abort_shmem(int exit_code) {
  if (started) shmem_global_exit(exit_code);
}

/// Failure notices of ranks (end_job()) in symmetric memory, by rank: 1 + the exit code of a failing rank, 0 without a failure.
/// Never freed: the memory lives as long as the OpenSHMEM library.
long* failures = nullptr;

/// Puts the exit code of this failing rank into the symmetric memory of every other rank, as a failure notice. Local.
void send_failure_notice(int exit_code) {
  if (failures == nullptr) return;
  const int rank = shmem_my_pe();
  for (int other = 0; other < shmem_n_pes(); ++other) {
    if (other != rank) shmem_long_p(failures + rank, 1L + exit_code, other);
  }
  shmem_fence();
}

/// Returns the failure notices that other ranks have put into this rank's symmetric memory, and removes them. Local.
std::vector<FailureNotice> received_failure_notices() {
  std::vector<FailureNotice> notices;
  for (int rank = 0; failures != nullptr && rank < shmem_n_pes(); ++rank) {
    if (shmem_long_test(failures + rank, SHMEM_CMP_EQ, 0L) != 0 || rank == shmem_my_pe()) continue;
    notices.push_back({rank, static_cast<int>(failures[rank] - 1)});
    failures[rank] = 0;
  }
  return notices;
}

}  // namespace

// Start of the model shmem: MPI first, if it is in this build, then OpenSHMEM, then memory for failure notices and
// parts.
void start_shmem() {
  if (!started) {
    if (mpi() != nullptr) mpi()->start();
    apply_runtime_workarounds();  // in time for OpenSHMEM, even if the program has started MPI
    note_heap_setting();
    enable_shmem_yielding();  // may throw, so before the library is initialised
    const KeptSignals kept;
    const ScopedYield yield;
    shmem_init();
    started = true;
    if (mpi() != nullptr && mpi()->communicators->is_started_by_program()) {
      mpi()->communicators->at_end(end_shmem_in_mpi);
    } else {
      std::atexit(end_shmem);
    }
    if (mpi() == nullptr)
      failures = static_cast<long*>(shmem_calloc(static_cast<std::size_t>(shmem_n_pes()), sizeof(long)));
    reserve_for_parts();
  }
  check_world(shmem_my_pe(), shmem_n_pes(), "OpenSHMEM");
}

bool shmem_started() { return started && (mpi() == nullptr || mpi()->communicators->running()); }

const HeapSetting& heap_setting() { return heap; }

// Parses the size of the symmetric heap as the OpenSHMEM library does: a number with a unit k, m or g.
std::size_t heap_bytes() {
  std::size_t number = 0;
  const char* end = heap.value.data() + heap.value.size();
  const auto [at, error] = std::from_chars(heap.value.data(), end, number);
  if (error != std::errc{}) return kUsualHeap;
  constexpr std::string_view kUnits = "kKmMgG";
  const std::size_t unit = at == end ? kUnits.npos : kUnits.find(*at);  // two spellings of each power of 2^10
  return unit == kUnits.npos ? number : number << 10 * (1 + unit / 2);
}

extern const Library openshmem_hooks;
const Library openshmem_hooks{version, abort_shmem, start_shmem, nullptr, send_failure_notice, received_failure_notices,
                              nullptr, shmem_faults};

}  // namespace merganser::comm::detail
