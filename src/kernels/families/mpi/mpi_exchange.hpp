#pragma once
/// Common parts of the benchmark kernels over MPI: requests that a watchdog can inspect, and waits with a time limit.
#include <mpi.h>

#include <atomic>
#include <limits>
#include <span>
#include <vector>

#include "merganser/base/pinned.hpp"
#include "src/comm/detail/waiter.hpp"
#include "src/kernels/families/mpi/group.hpp"
#include "src/kernels/families/support/exchange_base.hpp"
#include "src/kernels/families/support/family.hpp"

namespace merganser::kernels::detail {

/// Greatest number of bytes of one message of an exchange kernel over MPI: counts of MPI are of type int.
inline constexpr std::size_t kMaxMpiBytes = std::numeric_limits<int>::max();

/// Makes the registry entry of an exchange kernel over MPI, whose arcs carry at most kMaxMpiBytes each.
[[nodiscard]] constexpr KernelEntry mpi_kernel(const KernelInfo& info, decltype(KernelEntry::make) make) {
  return {info, make, kMaxMpiBytes};
}

/// Converts the bytes of an arc to a count of MPI; make_plan() has checked that they fit an int.
[[nodiscard]] inline int mpi_count(std::size_t bytes) { return static_cast<int>(bytes); }

/// Returns the in-neighbours of a rank followed by its out-neighbours, the order of the MPI requests of an exchange kernel.
[[nodiscard]] inline std::vector<int> in_then_out(const comm::Graph& graph) {
  std::vector<int> ranks = graph.in;
  ranks.insert(ranks.end(), graph.out.begin(), graph.out.end());
  return ranks;
}

/// MPI requests of one iteration of an exchange kernel, one per in-arc, then one per out-arc. Another thread, that of a watchdog,
/// can read during the wait which ranks are pending.
///
/// wait() tests them one after the other, which costs as much as MPI_Waitall, since every test drives the progress of all requests.
class Requests : Pinned {
 public:
  /// Makes null requests, which the kernel overwrites by those of its sends and receives.
  /// @param ranks  by request: the rank at the other end
  explicit Requests(std::vector<int> ranks);
  /// Cancels requests that are still active, which is so only after an error.
  ~Requests();

  /// Returns the MPI request of an arc by its index: in-arcs first, then out-arcs.
  [[nodiscard]] MPI_Request& operator[](std::size_t at) { return requests_[at]; }
  /// Returns the array of MPI requests of an exchange kernel, null ones included.
  [[nodiscard]] MPI_Request* data() { return requests_.data(); }
  /// Returns the number of MPI requests of an exchange kernel: in-arcs and out-arcs together.
  [[nodiscard]] std::size_t size() const { return requests_.size(); }

  /// Completes all MPI requests of an iteration by polling. @throws CommError, with the text of `describe`, if the wait exceeds
  /// MERGANSER_WAIT_LIMIT
  void wait(const comm::detail::Waiter::Describe& describe);
  /// Returns the ranks of the requests that wait() has not completed yet, each once, ascending. Another thread may call it.
  [[nodiscard]] std::vector<int> missing() const;
  /// Frees the persistent requests of MPI_Send_init and MPI_Recv_init, which must be inactive. Local.
  void free();

 private:
  /// Completes one MPI request by polling, and keeps the list of pending requests and the time limit up to date.
  void wait_long(std::size_t at, const comm::detail::Waiter::Describe& describe);
  /// Notes for missing() which MPI requests from index `from` on are pending. Local.
  void update_pending(std::size_t from);

  std::vector<int> ranks_;                  // by request: rank at the other end of its arc
  std::vector<MPI_Request> requests_;       // requests of all arcs, in-arcs first, then out-arcs
  std::atomic<std::size_t> at_;             // index of the request that wait() is testing
  std::atomic<bool> looked_{false};         // pending_ is valid in this wait
  std::vector<std::atomic<bool>> pending_;  // by request, as of the last update_pending()
};

/// Completes requests of MPI by polling; null requests count as complete. @throws CommError, with the text of
/// `describe`, if the wait takes longer than MERGANSER_WAIT_LIMIT
void wait_for(std::span<MPI_Request> requests, const comm::detail::Waiter::Describe& describe);
/// Completes one request of MPI by polling. @throws CommError, with the text of `describe`, if the wait takes longer
/// than MERGANSER_WAIT_LIMIT
inline void wait_for(MPI_Request& request, const comm::detail::Waiter::Describe& describe) {
  wait_for({&request, 1}, describe);
}

}  // namespace merganser::kernels::detail
