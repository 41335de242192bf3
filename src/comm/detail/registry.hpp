#pragma once
/// The models and libraries in this build. The table behind these functions is made at configure time from the files in
/// src/comm/backends/, see cmake/comm.cmake.
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/comm/runtime.hpp"
#include "src/comm/detail/transport_base.hpp"

namespace merganser::comm::detail {

/// What a file in backends/ defines, named <file>_backend.
struct BackendEntry {
  using Each = std::function<void(TransportBase&)>;

  Backend info;
  /// Runs `each` for every rank of this process. Models of processes have one, whatever `ranks` says.
  void (*run)(int ranks, const Each& each);
};

/// What a rank that fails by itself tells the others, see end_job().
struct FailureNotice {
  int rank = 0;
  int exit_code = 0;
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
};

[[nodiscard]] std::span<const BackendEntry* const> backend_entries();
[[nodiscard]] std::span<const std::string_view> missing_backend_names();
[[nodiscard]] const Library* mpi();    ///< null where absent
[[nodiscard]] const Library* shmem();  ///< null where absent

}  // namespace merganser::comm::detail
