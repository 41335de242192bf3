#pragma once
/// What the kernels over MPI share.
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

inline constexpr std::size_t kMaxMpiBytes = std::numeric_limits<int>::max();

/// An entry of a kernel over MPI.
[[nodiscard]] constexpr KernelEntry mpi_kernel(const KernelInfo& info, decltype(KernelEntry::make) make) {
  return {info, make, kMaxMpiBytes};
}

[[nodiscard]] inline int mpi_count(std::size_t bytes) { return static_cast<int>(bytes); }  // the plan has checked it

/// In-neighbours, then out-neighbours: the ranks of Requests.
[[nodiscard]] inline std::vector<int> in_then_out(const comm::Graph& graph) {
  std::vector<int> ranks = graph.in;
  ranks.insert(ranks.end(), graph.out.begin(), graph.out.end());
  return ranks;
}

/// The requests of one iteration, waited for in a way that lets another thread ask for whom: one per in-arc, then one per
/// out-arc. They are tested one after the other, which costs what MPI_Waitall does:
/// the library works on all of them in every test.
class Requests : Pinned {
 public:
  /// `ranks` are those of the in-arcs, then those of the out-arcs.
  explicit Requests(std::vector<int> ranks);
  ~Requests();

  [[nodiscard]] MPI_Request& operator[](std::size_t at) { return requests_[at]; }
  [[nodiscard]] MPI_Request* data() { return requests_.data(); }
  [[nodiscard]] std::size_t size() const { return requests_.size(); }

  void wait(const comm::detail::Waiter::Describe& describe);
  /// Ranks of the requests that wait() waits for, each once. May be called by another thread.
  [[nodiscard]] std::vector<int> missing() const;
  /// Frees persistent requests.
  void free();

 private:
  void wait_long(std::size_t at, const comm::detail::Waiter::Describe& describe);
  void look(std::size_t from);

  std::vector<int> ranks_;
  std::vector<MPI_Request> requests_;
  std::atomic<std::size_t> at_;  // the request being tested
  std::atomic<bool> looked_{false};
  std::vector<std::atomic<bool>> pending_;  // what the last look found
};

/// Waits for requests (one that is null is not waited for).
void wait_for(std::span<MPI_Request> requests, const comm::detail::Waiter::Describe& describe);
inline void wait_for(MPI_Request& request, const comm::detail::Waiter::Describe& describe) {
  wait_for({&request, 1}, describe);
}

}  // namespace merganser::kernels::detail
