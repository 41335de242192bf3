#pragma once
/// Registry of the communication models and libraries in this build, and of those of a plug-in once one is in use
/// (plugin.hpp). CMake generates its table from the files in src/comm/backends/, see cmake/comm.cmake.
#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/comm/open.hpp"
#include "merganser/comm/runtime.hpp"
#include "src/comm/detail/transport_base.hpp"

namespace merganser::comm::detail {

/// Description and entry points of one communication model, defined as <file>_backend in a file of backends/.
struct BackendEntry {
  /// Callback that is run on every rank over a transport of the model, such as the body of comm::run().
  using Each = std::function<void(TransportBase&)>;

  using Made = std::unique_ptr<TransportBase>;

  Backend info;  ///< name and description of the communication model
  /// Makes the transport of all ranks of the job, and initialises MPI or OpenSHMEM if it has not been. Collective.
  /// `threads`: makes a transport of one rank.
  Made (*start)();
  /// Makes a transport of the ranks of an intra-communicator, given as its Fortran handle, while MPI runs. Collective over
  /// it. `threads`: makes a transport of one rank.
  Made (*open)(int communicator);
  /// Runs `each` on `ranks` thread ranks of this process and returns when all have ended. Null for models of processes.
  void (*run)(int ranks, const Each& each) = nullptr;
  /// Returns the reason why the model cannot run on the ranks of an intra-communicator, empty if it can; the same on
  /// each of the ranks. Null: the model always can.
  std::string (*refusal)(int communicator) = nullptr;
};

/// Notice that a failing rank sends to the others, so that end_job() prints the message of one of them only.
struct FailureNotice {
  int rank = 0;       ///< the failing rank in the launcher's world
  int exit_code = 0;  ///< exit code with which the failing rank ends its process
};

/// Entry points of MPI for communicators of the program, by their Fortran handles, and for the state of MPI. All are local.
struct Communicators {
  /// Returns the reason why a transport cannot use an MPI communicator: MPI does not run, it is MPI_COMM_NULL or an
  /// inter-communicator. Empty if it can.
  std::string (*refusal)(int communicator);
  /// Returns the rank in MPI_COMM_WORLD of each rank of an MPI communicator; -1 for processes outside MPI_COMM_WORLD.
  std::vector<int> (*world_ranks)(int communicator);
  /// Returns rank and size of this process in MPI_COMM_WORLD.
  World (*world)();
  /// Returns the topology of a Cartesian MPI communicator; without axes for another one.
  Cartesian (*cartesian)(int communicator);
  /// Returns true if MPI is initialised and not finalised in this process.
  bool (*running)();
  /// Returns true if the program, not this library, has initialised MPI, and so finalises it.
  bool (*is_started_by_program)();
  /// Registers a function that is called at the beginning of MPI_Finalize.
  void (*at_end)(void (*end)());
};

/// Entry points of a message-passing library (MPI or OpenSHMEM) that models of processes need.
struct Library {
  /// Returns the version string of the message-passing library, on one line.
  std::string (*version)();
  /// Ends every process of the job with `exit_code` if the message-passing library is initialised.
  void (*abort)(int exit_code);
  /// Initialises the message-passing library, once; it is finalised when the process ends.
  void (*start)();
  /// Makes progress in the message-passing library; null if it has no call for that.
  void (*progress)() = nullptr;
  /// Sends a notice to every other rank that this rank fails with `exit_code`. Local: no rank needs to receive the
  /// notice. Null if the library has no means for notices; then received_failure_notices is null too.
  void (*send_failure_notice)(int exit_code) = nullptr;
  /// Returns the failure notices of other ranks that have arrived since the last call. Local.
  std::vector<FailureNotice> (*received_failure_notices)() = nullptr;
  /// Entry points for communicators, if the library is MPI; else null.
  const Communicators* communicators = nullptr;
  /// Returns the known faults of this version of the message-passing library, with their workarounds. Null: no faults are known of
  /// any version.
  std::vector<std::string> (*faults)() = nullptr;
};

/// Returns the communication models compiled into this library.
[[nodiscard]] std::span<const BackendEntry* const> built_in_entries();
/// Returns a line on each communication model that was not compiled into this library, with the reason.
[[nodiscard]] std::span<const std::string_view> built_in_missing_names();
/// Returns the MPI that this library was built with; null without one.
[[nodiscard]] const Library* built_in_mpi();

/// Returns the communication models of this library and of the plug-in in use. Lists returned before a plug-in was registered stay
/// valid.
[[nodiscard]] std::span<const BackendEntry* const> backend_entries();
/// Returns a line on each communication model that neither this library nor the plug-in in use has.
[[nodiscard]] std::span<const std::string_view> missing_backend_names();
/// Returns the MPI of the plug-in in use, else the one that this library was built with; null without either.
[[nodiscard]] const Library* mpi();
/// Returns the OpenSHMEM that this library was built with; null without one.
[[nodiscard]] const Library* shmem();

/// Returns true if a plug-in (models over an MPI that the library was not built with) is in use. Thread-safe.
[[nodiscard]] bool has_plugin() noexcept;

/// Lazily made list over all communication models (or kernels) of the library and of the plug-in in use. A second list is made at
/// the first use after a plug-in was registered, so that spans over the first list stay valid. Thread-safe.
template <class T>
class ListOfAll {
 public:
  /// Returns the list, made by make() at the first use, and again at the first use after a plug-in was registered.
  template <class Make>
  [[nodiscard]] const std::vector<T>& get(const Make& make) {
    const std::size_t now = has_plugin() ? 1 : 0;
    std::call_once(made_[now], [&] { lists_[now] = make(); });
    return lists_[now];
  }

 private:
  std::array<std::once_flag, 2> made_;
  std::array<std::vector<T>, 2> lists_;
};

/// Returns the public description (`info`) of each entry of a registry of communication models or kernels.
template <class Info, class Entries>
[[nodiscard]] std::vector<Info> collect_infos(const Entries& entries) {
  std::vector<Info> infos;
  for (const auto* entry : entries) infos.push_back(entry->info);
  return infos;
}

}  // namespace merganser::comm::detail
