// requires: MPI
// Waits of the benchmark kernels over MPI: polling of requests with a time limit, and the list of pending ranks for a watchdog.
#include "src/kernels/families/mpi/mpi_exchange.hpp"

#include <algorithm>

#include "src/comm/backends/mpi/library.hpp"
#include "src/comm/detail/scoped_yield.hpp"

namespace merganser::kernels::detail {

using comm::detail::check;
using comm::detail::ScopedYield;

namespace {
constexpr unsigned kLook = 4096;  // polls between two updates of the pending requests and checks of the time limit
}

// Completes requests of a kernel over MPI without a list of pending ranks, by polling, so that MERGANSER_WAIT_LIMIT holds.
void wait_for(std::span<MPI_Request> requests, const comm::detail::Waiter::Describe& describe) {
  comm::detail::Waiter waiter(describe);
  const ScopedYield yield(ScopedYield::Call::brief);
  int done = 0;
  for (unsigned polls = 1; done == 0; ++polls) {
    check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
    if (polls % kLook == 0) waiter.check_limit();
  }
}

// Makes one null request for each rank at the other end of an arc.
Requests::Requests(std::vector<int> ranks)
    : ranks_(std::move(ranks)),
      requests_(ranks_.size(), MPI_REQUEST_NULL),
      at_(ranks_.size()),
      pending_(ranks_.size()) {}

// Cancels requests of a kernel's iteration that failed, which must not outlive the memory of the zones.
Requests::~Requests() {
  if (!comm::detail::mpi_running()) return;
  // Requests are active here only after an error. They are cancelled, since the memory that they refer to is freed next.
  for (auto& request : requests_) {
    if (request == MPI_REQUEST_NULL) continue;
    int done = 0;
    if (MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0) MPI_Cancel(&request);
    MPI_Request_free(&request);
  }
}

// Completes the requests of one iteration of a kernel over MPI: the short path, which only tests them in their order.
void Requests::wait(const comm::detail::Waiter::Describe& describe) {
  looked_.store(false, std::memory_order_relaxed);
  for (std::size_t at = 0; at < requests_.size(); ++at) {
    at_.store(at, std::memory_order_relaxed);
    int done = 0;
    check(MPI_Test(&requests_[at], &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done == 0) wait_long(at, describe);
  }
  at_.store(requests_.size(), std::memory_order_relaxed);
}

// Completes one request of a kernel over MPI on the slow path of Requests::wait(): every kLook polls it notes for the watchdog
// which requests are pending, and checks the time limit.
void Requests::wait_long(std::size_t at, const comm::detail::Waiter::Describe& describe) {
  comm::detail::Waiter waiter(describe);
  int done = 0;
  for (unsigned polls = 1; done == 0; ++polls) {
    check(MPI_Test(&requests_[at], &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (polls % kLook != 0) continue;
    update_pending(at);
    waiter.check_limit();
  }
}

// Notes which requests of a kernel's iteration, from index `from` on, are still pending, for missing() of the watchdog's thread.
void Requests::update_pending(std::size_t from) {
  for (std::size_t at = from; at < requests_.size(); ++at) {
    int done = 0;
    check(MPI_Request_get_status(requests_[at], &done, MPI_STATUS_IGNORE), "MPI_Request_get_status");
    pending_[at].store(done == 0, std::memory_order_relaxed);
  }
  looked_.store(true, std::memory_order_release);  // with the acquire in missing(): a thread that sees it sees pending_
}

// Returns the ranks at the other ends of pending requests; called by the watchdog's thread while wait() runs.
std::vector<int> Requests::missing() const {
  std::vector<int> ranks;
  // Requests before at_ are complete; of the others all count as pending until they have been tested once.
  const bool looked = looked_.load(std::memory_order_acquire);
  for (std::size_t at = at_.load(std::memory_order_relaxed); at < ranks_.size(); ++at) {
    if (!looked || pending_[at].load(std::memory_order_relaxed)) ranks.push_back(ranks_[at]);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

// Frees the persistent requests of a kernel over MPI.
void Requests::free() {
  for (auto& request : requests_) {
    if (request != MPI_REQUEST_NULL) check(MPI_Request_free(&request), "MPI_Request_free");
  }
}

}  // namespace merganser::kernels::detail
