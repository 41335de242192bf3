// requires: MPI
// Life of MPI in this process for the models over MPI: start and end, failure notices, faults of versions, the caller's
// communicators; and the table of entry points (Library) by which the rest of comm calls MPI.
#include "src/comm/backends/mpi/library.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <string>
#include <type_traits>

#include "merganser/base/error.hpp"
#include "merganser/base/pinned.hpp"
#include "src/comm/detail/process.hpp"
#include "src/comm/detail/registry.hpp"
#include "src/comm/detail/scoped_yield.hpp"
#include "src/comm/detail/simulated.hpp"

namespace merganser::comm::detail {

bool mpi_running() {
  int started = 0;
  int ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  return started != 0 && ended == 0;
}

namespace {

bool started_here = false;  // this library, not the program, has initialised MPI

/// Returns rank and size of this process in MPI_COMM_WORLD. Local.
World world() {
  World here;
  here.rank = rank_in(MPI_COMM_WORLD);
  check(MPI_Comm_size(MPI_COMM_WORLD, &here.size), "MPI_Comm_size");
  return here;
}

/// Finalises MPI when the process ends (atexit), if this library has initialised it.
void end_mpi() {
  // MPI_Finalize is collective: a rank with an error of its own would hang in it. The launcher ends the job.
  if (!mpi_running() || failed_locally()) return;
  const ScopedYield yield;
  MPI_Finalize();
}

/// Returns the whole version text of the MPI library, from MPI_Get_library_version.
std::string library_text() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string all(text, static_cast<std::size_t>(length));
  all.resize(std::min(all.find('\0'), all.size()));  // some libraries count the terminating zero
  return all;
}

/// Returns the first line of the version text of the MPI library.
std::string version() {
  const std::string all = library_text();
  return all.substr(0, all.find('\n'));
}

/// Ends every process of the job by MPI_Abort with `exit_code`, if MPI is initialised and not finalised.
void abort_mpi(int exit_code) {
  if constexpr (kSimulated) return;  // the caller ends the process, and with it all simulated ranks
  if (mpi_running()) MPI_Abort(MPI_COMM_WORLD, exit_code);
}

/// Communicator of the failure notices of ranks (end_job()), which match no other message. Never freed: it lives as long as MPI.
MPI_Comm failures = MPI_COMM_NULL;
constexpr int kFailureTag = 1;

/// Sends the exit code of this failing rank to every other rank by MPI messages, without waiting for receives.
void send_failure_notice(int exit_code) {
  if (!mpi_running() || failures == MPI_COMM_NULL) return;
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(failures, &rank);
  MPI_Comm_size(failures, &size);
  static int code = 0;  // buffer of sends that may be incomplete when this function returns
  code = exit_code;
  for (int other = 0; other < size; ++other) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (other == rank || MPI_Isend(&code, 1, MPI_INT, other, kFailureTag, failures, &request) != MPI_SUCCESS) continue;
    MPI_Request_free(&request);
  }
}

/// Receives the failure notices of other ranks that have arrived as MPI messages. Local.
std::vector<FailureNotice> received_failure_notices() {
  std::vector<FailureNotice> notices;
  for (;;) {
    int found = 0;
    int code = 0;
    MPI_Status status;
    if (!mpi_running() || failures == MPI_COMM_NULL ||
        MPI_Iprobe(MPI_ANY_SOURCE, kFailureTag, failures, &found, &status) != MPI_SUCCESS || found == 0 ||
        MPI_Recv(&code, 1, MPI_INT, status.MPI_SOURCE, kFailureTag, failures, &status) != MPI_SUCCESS) {
      return notices;
    }
    notices.push_back({status.MPI_SOURCE, code});
  }
}

/// Makes progress in the MPI library by a probe on MPI_COMM_SELF that finds nothing. Local.
void progress_mpi() {
  int found = 0;
  check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE), "MPI_Iprobe");
}

/// Returns the version number of MPICH, "4.0.2" for the version text "MPICH Version:      4.0.2"; empty for other MPI libraries.
std::string mpich_version() {
  std::string text = version();
  std::replace(text.begin(), text.end(), '\t', ' ');
  return text.starts_with("MPICH Version:") ? text.substr(text.find_last_of(' ') + 1) : std::string();
}

/// Returns true if the MPI library is MPICH 4.0, 4.0.1 or 4.0.2, whose faults in neighbourhood collectives and windows 4.0.3
/// corrected.
bool early_mpich_4() {
  static const bool early = [] {
    const std::string number = mpich_version();
    return number == "4.0" || number == "4.0.1" || number == "4.0.2";
  }();
  return early;
}

/// Returns the known faults of the MPI library in use and their workarounds, for `merganser doctor`.
std::vector<std::string> faults() {
  std::vector<std::string> known;
  if (!mpich_version().empty()) {
    known.emplace_back(
        "ranks that wait in a blocking call keep their core: where ranks are more than cores, they sleep now and then "
        "(MERGANSER_YIELD=0 lets them poll)");
    known.emplace_back(
        "over UCX MPI_Finalize crashes if a window is left, as by an exception: it is freed when MPI begins to end");
    if (library_text().find("ch4:ucx") != std::string::npos)
      known.emplace_back(
          "over UCX and TCP MPI_Finalize on several hosts may wait for ever, when all results are there: a rank still "
          "closes its connections when others answer nobody any more (4.0.2; not avoided)");
  }
  if (early_mpich_4()) {
    known.emplace_back(
        "MPI_Neighbor_alltoallw delivers wrong bytes where a rank has more arcs in than out, or fewer: such graphs get "
        "empty arcs back (4.0.3 has it mended)");
    known.emplace_back(
        "MPI_Win_flush_all returns before it has read what was put, after many puts to several ranks: each rank is "
        "flushed "
        "by itself; exchange kernels that call it may deliver wrong bytes, which their check tells (4.0.3 has it "
        "mended)");
    known.emplace_back(
        "windows of one host whose small sizes differ misplace what is put: windows are whole pages (4.0.3 has it "
        "mended)");
  }
  if (version().starts_with("Open MPI v5")) {
    known.emplace_back(
        "graphs made over a Cartesian communicator stay Cartesian, and neighbourhood collectives crash: transports use "
        "a "
        "communicator without topology");
  }
  return known;
}

}  // namespace

void enable_mpi_yielding() {
  if constexpr (kSimulated) return;
  if (!mpich_version().empty()) enable_yielding(count_local_ranks());
}

bool unequal_degrees_fail() { return early_mpich_4(); }
bool flush_all_is_early() { return early_mpich_4(); }
bool left_windows_crash() { return !mpich_version().empty(); }

// Communicator of a neighbourhood collective: arcs keep the order of the graph, since messages are given by arc.
MPI_Comm graph_communicator(MPI_Comm parent, const Graph& graph) {
  static const int none = 0;  // some versions refuse a null list even if it is empty
  MPI_Comm comm = MPI_COMM_NULL;
  const ScopedYield yield;
  check(MPI_Dist_graph_create_adjacent(parent, static_cast<int>(graph.in.size()),
                                       graph.in.empty() ? &none : graph.in.data(), MPI_UNWEIGHTED,
                                       static_cast<int>(graph.out.size()), graph.out.empty() ? &none : graph.out.data(),
                                       MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm),
        "MPI_Dist_graph_create_adjacent");
  return comm;
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  return rank;
}

// Translation of ranks of a communicator to ranks in MPI_COMM_WORLD, by the groups of both.
std::vector<int> world_ranks(MPI_Comm comm, std::span<const int> ranks) {
  std::vector<int> there(ranks.size());
  if (ranks.empty()) return there;
  MPI_Group some = MPI_GROUP_NULL;
  MPI_Group world = MPI_GROUP_NULL;
  check(MPI_Comm_group(comm, &some), "MPI_Comm_group");
  check(MPI_Comm_group(MPI_COMM_WORLD, &world), "MPI_Comm_group");
  check(MPI_Group_translate_ranks(some, static_cast<int>(ranks.size()), ranks.data(), world, there.data()),
        "MPI_Group_translate_ranks");
  std::replace(there.begin(), there.end(), static_cast<int>(MPI_UNDEFINED), -1);  // an enumerator in Open MPI 5
  check(MPI_Group_free(&some), "MPI_Group_free");
  check(MPI_Group_free(&world), "MPI_Group_free");
  return there;
}

std::vector<int> world_ranks(MPI_Comm comm) {
  int size = 0;
  check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  std::vector<int> all(static_cast<std::size_t>(size));
  std::iota(all.begin(), all.end(), 0);
  return world_ranks(comm, all);
}

// Memory barrier of a window, with an access epoch of its own where none is open.
void sync_window(MPI_Win window, MPI_Comm comm, bool open) {
  if (open) return check(MPI_Win_sync(window), "MPI_Win_sync");
  // MPI_Win_sync is allowed within an access epoch only.
  const int me = rank_in(comm);
  check(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, window), "MPI_Win_lock");
  check(MPI_Win_sync(window), "MPI_Win_sync");
  check(MPI_Win_unlock(me, window), "MPI_Win_unlock");
}

// MPI has no call for this; deletion of an attribute of MPI_COMM_SELF is the standard's idiom.
void register_finalize_callback(MPI_Comm_delete_attr_function* end) {
  int key = MPI_KEYVAL_INVALID;
  check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end, &key, nullptr), "MPI_Comm_create_keyval");
  check(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "MPI_Comm_set_attr");
}

// Error of an MPI call: MPI's text for the return code, or the code's number where there is no text.
void throw_mpi_error(int result, const char* call) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (MPI_Error_string(result, text, &length) != MPI_SUCCESS) length = 0;
  throw CommError(
      std::string(call) + ": " +
      (length > 0 ? std::string(text, static_cast<std::size_t>(length)) : "MPI error " + std::to_string(result)));
}

// Start of a model over MPI: workarounds for faults of libraries come before MPI_Init, since they are environment
// variables.
void start_mpi() {
  if constexpr (kSimulated) return void(simulated_world());
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended != 0) throw CommError("MPI has been ended in this process and cannot be started again");
  if (!mpi_running()) {
    apply_runtime_workarounds();
    const KeptSignals kept;
    enable_mpi_yielding();
    const ScopedYield yield;
    int provided = 0;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    std::atexit(end_mpi);
    started_here = true;
    check(MPI_Comm_dup(MPI_COMM_WORLD, &failures), "MPI_Comm_dup");
    check(MPI_Comm_set_errhandler(failures, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }
  const World here = world();
  check_world(here.rank, here.size, "MPI");
}

namespace {

/// Guard during which MPI calls with an invalid communicator return their errors: libraries raise them on MPI_COMM_WORLD or
/// MPI_COMM_SELF, whose error handlers abort by default. Its destructor restores the handlers.
class ScopedErrorsReturn : Pinned {
 public:
  /// Stores the error handlers of MPI_COMM_WORLD and MPI_COMM_SELF and sets MPI_ERRORS_RETURN.
  ScopedErrorsReturn() {
    for (std::size_t i = 0; i < kAsked.size(); ++i) {
      MPI_Comm_get_errhandler(kAsked[i], &before_[i]);
      MPI_Comm_set_errhandler(kAsked[i], MPI_ERRORS_RETURN);
    }
  }
  ~ScopedErrorsReturn() {
    for (std::size_t i = 0; i < kAsked.size(); ++i) {
      MPI_Comm_set_errhandler(kAsked[i], before_[i]);
      MPI_Errhandler_free(&before_[i]);
    }
  }

 private:
  const std::array<MPI_Comm, 2> kAsked{MPI_COMM_WORLD, MPI_COMM_SELF};
  std::array<MPI_Errhandler, 2> before_{};
};

/// Returns true if an MPI communicator handle is MPI_COMM_NULL or, where handles are addresses, the null pointer that an unknown
/// Fortran handle converts to.
template <class Handle>
bool is_null_handle(Handle comm) {
  if constexpr (std::is_pointer_v<Handle>) {
    if (comm == nullptr) return true;
  }
  return comm == MPI_COMM_NULL;
}

/// Returns the reason why open() cannot make a transport over the MPI communicator of a Fortran handle: MPI does not run, no
/// communicator, an inter-communicator. Empty if it can. Local.
std::string refusal(int communicator) {
  int started = 0;
  int ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  if (started == 0) return "MPI is not initialised; allowed: after MPI_Init, or run() and Session, which start it";
  if (ended != 0) return "MPI is finalised; allowed: before MPI_Finalize";
  const MPI_Comm comm = communicator_from_handle(communicator);
  const std::string which = "handle " + std::to_string(communicator);
  const std::string nothing =
      which + " is MPI_COMM_NULL or no communicator; allowed: an intra-communicator of this process";
  if (is_null_handle(comm)) return nothing;
  int between = 0;
  {
    const ScopedErrorsReturn forgiving;
    if (MPI_Comm_test_inter(comm, &between) != MPI_SUCCESS) return nothing;
  }
  if (between != 0) return which + " is an inter-communicator; allowed: an intra-communicator (MPI_Intercomm_merge)";
  return {};
}

/// Returns the ranks in MPI_COMM_WORLD of all ranks of an MPI communicator, given as its Fortran handle. Local.
std::vector<int> communicator_world_ranks(int communicator) {
  return world_ranks(communicator_from_handle(communicator));
}

/// Returns shape and periodicity of a Cartesian MPI communicator, given as its Fortran handle; without axes for another one. Local.
Cartesian query_cartesian(int communicator) {
  const MPI_Comm comm = communicator_from_handle(communicator);
  int kind = MPI_UNDEFINED;
  check(MPI_Topo_test(comm, &kind), "MPI_Topo_test");
  if (kind != MPI_CART) return {};
  int axes = 0;
  check(MPI_Cartdim_get(comm, &axes), "MPI_Cartdim_get");
  const auto n = static_cast<std::size_t>(axes);
  std::vector<int> shape(n);
  std::vector<int> periodic(n);
  std::vector<int> here(n);
  check(MPI_Cart_get(comm, axes, shape.data(), periodic.data(), here.data()), "MPI_Cart_get");
  return {shape, {periodic.begin(), periodic.end()}};
}

/// Returns true if MPI is running and the program, not this library, has initialised it, and so finalises it.
bool is_started_by_program() { return mpi_running() && !started_here; }

void (*to_end)() = nullptr;  // function that at_end() registered, called in MPI_Finalize

/// Deletion callback of an attribute of MPI_COMM_SELF: calls, in MPI_Finalize, the function that at_end() registered.
int call_end(MPI_Comm, int, void*, void*) {
  to_end();
  return MPI_SUCCESS;
}

/// Registers the one function that MPI_Finalize calls first: the end of OpenSHMEM, where the program has started MPI.
void at_end(void (*end)()) {
  to_end = end;
  register_finalize_callback(call_end);
}

constexpr Communicators kCommunicators{refusal,     communicator_world_ranks, world, query_cartesian,
                                       mpi_running, is_started_by_program,    at_end};

}  // namespace

/// Entry points of MPI for the registry of libraries (cmake generates the table that refers to it).
extern const Library mpi_hooks;
const Library mpi_hooks{
    version,         abort_mpi, start_mpi, progress_mpi, send_failure_notice, received_failure_notices,
    &kCommunicators, faults};

}  // namespace merganser::comm::detail
