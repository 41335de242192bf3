// requires: OpenSHMEM
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

constexpr std::size_t kUsualHeap = std::size_t{256} << 20;  // of Open MPI, where nothing is set

bool started = false;
HeapSetting heap{"SHMEM_SYMMETRIC_SIZE", "not set"};

std::string version() {
  char name[SHMEM_MAX_NAME_LEN];
  int major = 0;
  int minor = 0;
  shmem_info_get_name(name);
  shmem_info_get_version(&major, &minor);
  return std::string(name) + ", OpenSHMEM " + std::to_string(major) + "." + std::to_string(minor);
}

/// Open MPI does not read the name that the standard gives, and moves the value of one name to the other while it starts.
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

void finalize() {
  const ScopedYield yield;
  shmem_finalize();
}

void end_shmem() {
  // Ends MPI too; it must come first. As in MPI, a rank with an error of its own does not wait here.
  if (std::exchange(started, false) && !failed_locally()) finalize();
}

/// While the program ends MPI. Open MPI's shmem_finalize would end MPI once more, and complain; one that never comes
/// leaves a crash for the end of the process. A variable of its own makes it leave MPI alone.
void end_shmem_in_mpi() {
  if (!std::exchange(started, false)) return;
  auto* leave_mpi = static_cast<int*>(dlsym(RTLD_DEFAULT, "oshmem_shmem_inglobalexit"));
  if (leave_mpi != nullptr) *leave_mpi = 1;
  finalize();
  if (leave_mpi != nullptr) *leave_mpi = 0;
}

void abort_shmem(int exit_code) {
  if (started) shmem_global_exit(exit_code);
}

/// By rank: 1 + the exit code with which it fails, in the memory of every rank. Never freed: it lives as long as the
/// library.
long* failures = nullptr;

void tell_failure(int exit_code) {
  if (failures == nullptr) return;
  const int rank = shmem_my_pe();
  for (int other = 0; other < shmem_n_pes(); ++other) {
    if (other != rank) shmem_long_p(failures + rank, 1L + exit_code, other);
  }
  shmem_fence();
}

std::vector<FailureNotice> heard_failures() {
  std::vector<FailureNotice> notices;
  for (int rank = 0; failures != nullptr && rank < shmem_n_pes(); ++rank) {
    if (shmem_long_test(failures + rank, SHMEM_CMP_EQ, 0L) != 0 || rank == shmem_my_pe()) continue;
    notices.push_back({rank, static_cast<int>(failures[rank] - 1)});
    failures[rank] = 0;
  }
  return notices;
}

}  // namespace

void start_shmem() {
  if (!started) {
    if (mpi() != nullptr) mpi()->start();
    apply_runtime_workarounds();  // in time for OpenSHMEM, even if the program has started MPI
    note_heap_setting();
    enable_shmem_yielding();  // throws while there is nothing to end
    const KeptSignals kept;
    const ScopedYield yield;
    shmem_init();
    started = true;
    if (mpi() != nullptr && mpi()->communicators->of_program()) {
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

std::size_t heap_bytes() {
  std::size_t number = 0;
  const char* end = heap.value.data() + heap.value.size();
  const auto [at, error] = std::from_chars(heap.value.data(), end, number);
  if (error != std::errc{}) return kUsualHeap;
  constexpr std::string_view kUnits = "kKmMgG";
  const std::size_t unit = at == end ? kUnits.npos : kUnits.find(*at);
  return unit == kUnits.npos ? number : number << 10 * (1 + unit / 2);
}

extern const Library openshmem_hooks;
const Library openshmem_hooks{version,      abort_shmem,    start_shmem, nullptr,
                              tell_failure, heard_failures, nullptr,     shmem_faults};

}  // namespace merganser::comm::detail
