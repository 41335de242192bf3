#pragma once
/// What the kernels over MPI share.
#include <mpi.h>

#include <limits>

#include "../support/exchange_base.hpp"
#include "group.hpp"
#include "requests.hpp"

namespace merganser::comm::detail {

inline constexpr std::size_t kMostMpiBytes = std::numeric_limits<int>::max();

[[nodiscard]] inline int mpi_count(std::size_t bytes) { return static_cast<int>(bytes); }  // the plan has checked it

/// In-neighbours, then out-neighbours: the ranks of Requests.
[[nodiscard]] inline std::vector<int> in_then_out(const Graph& graph) {
  std::vector<int> ranks = graph.in;
  ranks.insert(ranks.end(), graph.out.begin(), graph.out.end());
  return ranks;
}

/// An exchange that waits for Requests.
class RequestExchange : public ExchangeBase {
 public:
  [[nodiscard]] std::vector<int> missing() const override { return requests_.missing(); }

 protected:
  RequestExchange(Transport& control, MpiGroup& group, ExchangePlan plan, Places places)
      : ExchangeBase(control, std::move(plan), places),
        comm_(group.comm),
        tag_(group.new_tag()),
        requests_(in_then_out(graph())) {}

  [[nodiscard]] MPI_Request& in_request(std::size_t arc) { return requests_[arc]; }
  [[nodiscard]] MPI_Request& out_request(std::size_t arc) { return requests_[in_.size() + arc]; }

  MPI_Comm comm_;
  int tag_;
  Requests requests_;
  const Waiter::Describe describe_ = [this] { return waiting_text(*this); };
};

}  // namespace merganser::comm::detail
