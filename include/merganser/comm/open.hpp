#pragma once
/// Transports over ranks that run already: a communicator of the caller's, one process alone, or the ranks of the
/// launcher without a callback. The alternative is run() of runtime.hpp.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "merganser/base/pinned.hpp"
#include "merganser/comm/runtime.hpp"
#include "merganser/comm/transport.hpp"

namespace merganser::comm {

/// Options of open(); the same on every rank of the communicator.
struct OpenOptions {
  /// Communication model: a name of backends(), or "auto", which the variable MERGANSER_COMM overrides. `threads`: one rank only.
  /// `shmem`: for part of the ranks of MPI_COMM_WORLD only after it has been opened over all of them once.
  std::string backend = "auto";
  std::string decorators;  ///< comma list of decorators around the transport: "checked", "chaos:SEED"
  /// Process graph that "auto" measures on, as a function of (rank, size); empty: eight neighbours in a near-square grid.
  std::function<Graph(int rank, int size)> pattern;
  ChooseModel choose = first_of_the_fastest;  ///< decision of "auto" from the measured times
};

/// Makes a transport over an intra-communicator of the caller's, given as its Fortran handle (MPI_Comm_c2f; in the standard's
/// interface MPI_Comm_toint; in Python comm.toint() or comm.py2f()), so that no mpi.h is needed; mpi.hpp takes MPI_Comm.
/// A library built without MPI needs use_mpi() first (plugins.hpp). Collective over the communicator.
///
/// The communicator is duplicated, without its hints: messages of the caller and of the transport never match each other,
/// its error handler stays as it is, and it may be freed before the transport. MPI is neither initialised nor finalised
/// here; any thread level suffices as long as one thread at a time calls MPI, as MPI_THREAD_FUNNELED and
/// MPI_THREAD_SERIALIZED require. Many transports may live at once, over the same communicator, others or overlapping
/// ones; ranks that belong to several make the collective calls of these in one order, as for communicators of MPI.
///
/// "auto" chooses `threads` for one rank, and measures otherwise, which takes tens of milliseconds; shmem only where it can
/// run. `shmem` over all ranks initialises OpenSHMEM if it is not, and finalises it when the program calls MPI_Finalize. It
/// reserves a quarter of the symmetric heap for transports of some of the ranks, for the life of the process.
///
/// Destroying the transport is collective over its ranks, as is MPI_Comm_free, and comes before MPI_Finalize. While an
/// exception unwinds nothing collective is called: MPI's resources of the transport then stay until MPI_Finalize. To
/// continue after an error that every rank throws, keep the transport outside of the try block. Objects made from it may
/// outlive it, and it may outlive MPI; they can then only be destroyed.
/// @throws UsageError without MPI in this build, before MPI_Init and after MPI_Finalize; for MPI_COMM_NULL and for an
///         inter-communicator; on every rank for an unknown or missing model, a model that cannot have these ranks, a bad
///         decorator, and options that differ between ranks
/// @throws CommError if MPI fails
[[nodiscard]] std::unique_ptr<Transport> open(int communicator, const OpenOptions& options = {});

/// Makes a transport of one rank, in this process, without MPI. Local.
/// @throws UsageError for a bad decorator
[[nodiscard]] std::unique_ptr<Transport> open_alone(const std::string& decorators = {});

/// Cartesian topology of a communicator; ranks are numbered row by row, the last axis fastest.
struct Cartesian {
  std::vector<int> shape;      ///< number of ranks along each axis of the grid of ranks
  std::vector<bool> periodic;  ///< true for each axis of the grid of ranks that wraps around
};
/// Returns the Cartesian topology of a communicator made by MPI_Cart_create, given as its Fortran handle. Local.
/// @throws UsageError without MPI in this build or a running MPI, for MPI_COMM_NULL or an inter-communicator, and for a
///         communicator without a Cartesian topology
[[nodiscard]] Cartesian cartesian(int communicator);

/// Transport of all ranks of the launcher without a callback, for main(): initialises the libraries if they are not, as
/// run() does, and lets them end with the process. One thread rank without a launcher.
///
/// Making and destroying one is collective over all ranks. While an exception unwinds nothing collective is called, and
/// the process counts as failed: end it by abort() or end_job().
class Session : Pinned {
 public:
  /// Opens the chosen model over all ranks. Collective.
  /// @throws UsageError for an unknown or missing model, and for `threads` with more than one rank
  /// @throws CommError if the launcher promised several ranks and the library has one, or the library fails
  explicit Session(const RunOptions& options = {});
  ~Session();

  /// Returns the transport of all ranks, which lives as long as this object.
  [[nodiscard]] Transport& transport() noexcept { return *transport_; }

 private:
  std::unique_ptr<Transport> transport_;
};

}  // namespace merganser::comm
