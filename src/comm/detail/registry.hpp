#pragma once
/// The models and libraries in this build, and those of a plug-in once one is in use (plugin.hpp). The table behind these
/// functions is made at configure time from the files in src/comm/backends/, see cmake/comm.cmake.
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

/// What a file in backends/ defines, named <file>_backend.
struct BackendEntry {
  using Each = std::function<void(TransportBase&)>;

  using Made = std::unique_ptr<TransportBase>;

  Backend info;
  /// Transport of all ranks of the job, whose libraries it starts if nobody has. Collective. `threads`: of one rank.
  Made (*start)();
  /// Transport of the ranks of an intra-communicator, given as its Fortran handle, while MPI runs. Collective over it.
  /// `threads`: of one rank.
  Made (*open)(int communicator);
  /// Runs `each` on so many threads. Null for models of processes.
  void (*run)(int ranks, const Each& each) = nullptr;
  /// Why it cannot have the ranks of an intra-communicator, empty if it can; the same on each of them. Null: it can always.
  std::string (*refusal)(int communicator) = nullptr;
};

/// What a rank that fails by itself tells the others, see end_job().
struct FailureNotice {
  int rank = 0;
  int exit_code = 0;
};

/// Communicators of the caller's, by their Fortran handles, and the life of MPI.
struct Communicators {
  /// Why there can be no transport over this one: MPI does not run, none or two groups of ranks. Empty if there can.
  std::string (*refusal)(int communicator);
  /// Which rank of MPI_COMM_WORLD each of its ranks is, by rank; -1 for those that are none of it.
  std::vector<int> (*world_ranks)(int communicator);
  /// This process in MPI_COMM_WORLD.
  World (*world)();
  /// Shape of a Cartesian communicator; no axes if it is none.
  Cartesian (*cartesian)(int communicator);
  /// Whether MPI has been started and has not been ended.
  bool (*running)();
  /// Whether the program has started MPI, so that it ends it.
  bool (*of_program)();
  /// Has `end` called when MPI begins to end.
  void (*at_end)(void (*end)());
};

/// A message-passing library that processes need.
struct Library {
  std::string (*version)();
  /// Ends the job, if the library has been started.
  void (*abort)(int exit_code);
  /// Starts the library, once; it is ended when the process ends.
  void (*start)();
  /// Lets the started library work; null where it has no call for that.
  void (*progress)() = nullptr;
  /// Tells every other rank that this one fails with `exit_code`. Local: those who do not listen miss nothing. Null where
  /// the library cannot, like the next.
  void (*tell_failure)(int exit_code) = nullptr;
  /// What others have told so far.
  std::vector<FailureNotice> (*heard_failures)() = nullptr;
  /// What open() and models of other libraries ask of MPI; null elsewhere.
  const Communicators* communicators = nullptr;
  /// Faults that this version of it is known to have, and how they are avoided. Null: none are known of any.
  std::vector<std::string> (*faults)() = nullptr;
};

/// What was compiled in.
[[nodiscard]] std::span<const BackendEntry* const> built_in_entries();
[[nodiscard]] std::span<const std::string_view> built_in_lacks();
[[nodiscard]] const Library* built_in_mpi();  ///< null where absent

/// What there is now. Lists given before a plug-in came stay valid.
[[nodiscard]] std::span<const BackendEntry* const> backend_entries();
[[nodiscard]] std::span<const std::string_view> missing_backend_names();
[[nodiscard]] const Library* mpi();    ///< null where absent
[[nodiscard]] const Library* shmem();  ///< null where absent

/// Whether a plug-in is in use.
[[nodiscard]] bool plugged_in() noexcept;

/// A list of what there is, made when it is first asked for, and once more after a plug-in has come.
template <class T>
class ListOfAll {
 public:
  template <class Make>
  [[nodiscard]] const std::vector<T>& get(const Make& make) {
    const std::size_t now = plugged_in() ? 1 : 0;
    std::call_once(made_[now], [&] { lists_[now] = make(); });
    return lists_[now];
  }

 private:
  std::array<std::once_flag, 2> made_;
  std::array<std::vector<T>, 2> lists_;
};

/// The `info` of each of a list of entries.
template <class Info, class Entries>
[[nodiscard]] std::vector<Info> infos_of(const Entries& entries) {
  std::vector<Info> infos;
  for (const auto* entry : entries) infos.push_back(entry->info);
  return infos;
}

}  // namespace merganser::comm::detail
