#pragma once
/// Common parts of the kernels over MPI: requests that a watchdog can inspect, and waits with a time limit.
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

/// Greatest number of bytes of one message: counts of MPI are of type int.
inline constexpr std::size_t kMaxMpiBytes = std::numeric_limits<int>::max();

/// Makes the registry entry of a kernel over MPI.
[[nodiscard]] constexpr KernelEntry mpi_kernel(const KernelInfo& info, decltype(KernelEntry::make) make) {
  return {info, make, kMaxMpiBytes};
}

[[nodiscard]] inline int mpi_count(std::size_t bytes) { return static_cast<int>(bytes); }  // the plan has checked it

/// Returns the in-neighbours followed by the out-neighbours, the order of the requests in Requests.
[[nodiscard]] inline std::vector<int> in_then_out(const comm::Graph& graph) {
  std::vector<int> ranks = graph.in;
  ranks.insert(ranks.end(), graph.out.begin(), graph.out.end());
  return ranks;
}

/// Requests of one iteration, one per in-arc, then one per out-arc, whose pending ranks another thread can read during the wait.
///
/// wait() tests them one after the other, which costs as much as MPI_Waitall, since every test drives the progress of all requests.
class Requests : Pinned {
 public:
  /// Makes null requests.
  /// @param ranks  by request: the rank at the other end
  explicit Requests(std::vector<int> ranks);
  ~Requests();

  [[nodiscard]] MPI_Request& operator[](std::size_t at) { return requests_[at]; }
  [[nodiscard]] MPI_Request* data() { return requests_.data(); }
  [[nodiscard]] std::size_t size() const { return requests_.size(); }

  /// Completes all requests. @throws CommError, with the text of `describe`, if the wait exceeds MERGANSER_WAIT_LIMIT
  void wait(const comm::detail::Waiter::Describe& describe);
  /// Returns the ranks of the requests that wait() has not completed yet, each once, ascending. Another thread may call it.
  [[nodiscard]] std::vector<int> missing() const;
  /// Frees persistent requests, which must be inactive.
  void free();

 private:
  void wait_long(std::size_t at, const comm::detail::Waiter::Describe& describe);
  void update_pending(std::size_t from);

  std::vector<int> ranks_;
  std::vector<MPI_Request> requests_;
  std::atomic<std::size_t> at_;             // index of the request being tested
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
