// Runs over a communication model, limits of thread ranks, and the end of a job after failures.
#include "merganser/comm/runtime.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <thread>
#include <utility>

#include "merganser/base/error.hpp"
#include "merganser/base/resources.hpp"
#include "merganser/base/text.hpp"
#include "merganser/base/vectors.hpp"
#include "src/comm/decorators/decorators.hpp"
#include "src/comm/detail/auto_choice.hpp"
#include "src/comm/detail/models.hpp"
#include "src/comm/detail/process.hpp"
#include "src/comm/detail/registry.hpp"
#include "src/comm/detail/waiter.hpp"

namespace merganser::comm {
namespace {

/// Runs the program's `body` on all ranks over a chosen communication model: on threads of this process, or on this process of the
/// job. Collective for processes. @param choice  line on the models that "auto" measured
void run_on(const detail::BackendEntry& entry, const RunOptions& options, const std::string& choice,
            const std::function<void(Transport&)>& body) {
  detail::check_ranks(options, entry.info);
  detail::read_wait_limit();
  choose_vectors();
  const auto decorators = detail::parse_decorators(options.decorators);
  const auto each = [&](detail::TransportBase& transport) {
    transport.note_choice(choice);
    const auto decorated = detail::decorate(transport, decorators);
    body(decorated ? *decorated : static_cast<Transport&>(transport));
  };
  if (entry.run != nullptr) return entry.run(options.ranks == 0 ? 1 : options.ranks, each);
  detail::self_test_over_world(entry);
  detail::run_process(entry.start, each);
}

}  // namespace

std::span<const Backend> backends() {
  static detail::ListOfAll<Backend> all;
  return all.get([] { return detail::collect_infos<Backend>(detail::backend_entries()); });
}

void check_backend(std::string_view name) {
  if (name != "auto") (void)detail::find_model(name);
}

std::span<const std::string_view> missing_backends() { return detail::missing_backend_names(); }

bool launched() { return launcher_world().size > 1; }

// Run of a program's body on all ranks: the model is chosen first, by name or measurement.
void run(const RunOptions& options, const std::function<void(Transport&)>& body) {
  const detail::Choice choice = detail::choose_job_model(options);
  run_on(*choice.entry, options, choice.line, body);
}

// Bound of the number of thread ranks, so that a run that would exhaust memory or threads is refused before any thread starts.
void check_thread_ranks(int ranks) {
  if (ranks <= 1) return;  // the calling thread exists already
  // Per rank: stack and kernel memory of a thread, its transport and its part of the heap. Per pair: an entry of a gather.
  constexpr double kBytesPerRank = 48 * 1024;
  constexpr double kBytesPerPair = 64;
  const ThreadHeadroom room = thread_headroom();
  const auto there = static_cast<double>(available_bytes());
  // The largest P with P (a + b P) <= available memory; without a known amount any 32-bit number is allowed.
  const double fit = there == 0
                         ? 0x1p31
                         : (std::sqrt(kBytesPerRank * kBytesPerRank + 4 * kBytesPerPair * there) - kBytesPerRank) /
                               (2 * kBytesPerPair);
  const std::int64_t most = std::min(room.more + 1, std::max<std::int64_t>(1, static_cast<std::int64_t>(fit)));
  if (ranks <= most) return;
  const double p = ranks;
  throw UsageError("ranks: " + std::to_string(ranks) + " threads, which need about " +
                   bytes_text(p * (kBytesPerRank + kBytesPerPair * p)) + "; allowed here: up to " +
                   std::to_string(most) + " (" + (most <= room.more ? "there is " + bytes_text(there) : room.limit) +
                   "); more ranks need processes on more machines: merganser run -n N");
}

// End of the job without collective calls; returns never.
void abort(int exit_code) {
  if (detail::mpi() != nullptr) detail::mpi()->abort(exit_code);
  if (detail::shmem() != nullptr) detail::shmem()->abort(exit_code);
  std::_Exit(exit_code);
}

namespace {

constexpr auto kGrace =
    std::chrono::milliseconds(300);                  // time in which notices of failures on other ranks are collected
constexpr auto kMaxWait = std::chrono::seconds(10);  // time for the reporting rank to end the job
// Time for the launcher to forward the output of a rank: Hydra drops output that it has not read when a rank aborts.
constexpr auto kForwarding = std::chrono::milliseconds(100);

/// Returns true if the exit code of a failing rank is that of errors of communication (CommError).
bool is_comm_exit_code(int exit_code) { return exit_code == CommError("").exit_code(); }

/// Returns true if end_job() is to report another rank's failure instead of this rank's. Errors of communication are mostly
/// consequences of another rank's failure, so they come last; then the lowest rank counts.
bool takes_precedence(const detail::FailureNotice& theirs, const detail::FailureNotice& mine) {
  const bool mine_is_comm = is_comm_exit_code(mine.exit_code);
  if (is_comm_exit_code(theirs.exit_code) != mine_is_comm) return mine_is_comm;
  return theirs.rank < mine.rank;
}

/// Returns true on the one rank of several failing ones that reports its failure to the user: sends a failure notice to the other
/// ranks and collects theirs for up to 0.3 s.
bool is_reporting_rank(const detail::Library& library, int exit_code) {
  if (!library.received_failure_notices().empty()) return false;
  const detail::FailureNotice mine{launcher_world().rank, exit_code};
  library.send_failure_notice(exit_code);
  // No rank takes precedence over rank 0, which pauses only so that its notice is sent.
  const bool foremost = mine.rank == 0 && !is_comm_exit_code(exit_code);
  const auto end = std::chrono::steady_clock::now() + (foremost ? kGrace / 10 : kGrace);
  while (std::chrono::steady_clock::now() < end) {  // receiving makes progress on the notice sent, too
    for (const auto& theirs : library.received_failure_notices()) {
      if (takes_precedence(theirs, mine)) return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace

// End of a job after a failure: one rank reports, the others wait until that rank has ended the job.
void end_job(int exit_code, const std::function<void()>& report) {
  const detail::Library* library = detail::mpi() != nullptr ? detail::mpi() : detail::shmem();
  if (launched() && library != nullptr && !is_reporting_rank(*library, exit_code)) {
    std::this_thread::sleep_for(kMaxWait);
  } else {
    report();
    if (launched()) std::this_thread::sleep_for(kForwarding);
  }
  abort(exit_code);
}

// Lists the known faults of the MPI and OpenSHMEM libraries in use, for `merganser doctor`.
std::vector<std::string> library_faults() {
  std::vector<std::string> known;
  for (const detail::Library* library : {detail::mpi(), detail::shmem()}) {
    if (library == nullptr || library->faults == nullptr) continue;
    for (std::string& fault : library->faults()) known.push_back(std::move(fault));
  }
  return known;
}
std::string mpi_library() { return detail::mpi() != nullptr ? detail::mpi()->version() : "none"; }
std::string shmem_library() { return detail::shmem() != nullptr ? detail::shmem()->version() : "none"; }

}  // namespace merganser::comm
