#pragma once
/// Fluid model of one link of a simulated network, whose bandwidth is shared by the flows in transit.
#include <limits>
#include <queue>
#include <utility>

namespace merganser::comm::detail {

/// Link with weighted fair sharing: each flow has a share of the bandwidth in proportion to its weight, as in SimGrid's models
/// of networks. Dates are in seconds and do not decrease from call to call. Since all shares change by one factor when a flow
/// enters or leaves, flows are ordered by the bytes per weight at which they end, and each call takes O(log flows).
template <class Item>
class SharedLink {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();  ///< date of an event that does not occur

  /// Makes an idle link with a bandwidth in bytes/s.
  explicit SharedLink(double bytes_per_s) : bytes_per_s_(bytes_per_s) {}

  /// Adds a flow of `bytes` bytes to the link at date `now`, not after next_end().
  /// @param weight  weight of the flow's share of the bandwidth, > 0
  void enter(double now, double bytes, double weight, Item flow) {
    if (flows_.empty()) {  // the sums begin at 0 again, without the rounding errors of flows that have left
      through_ = 0;
      weights_ = 0;
    } else {
      through_ += (now - since_) * bytes_per_s_ / weights_;
    }
    since_ = now;
    weights_ += weight;
    flows_.push({through_ + bytes / weight, entered_++, weight, std::move(flow)});
  }

  /// Returns the date at which the next flow over the link ends if no other one enters; kNever without flows.
  [[nodiscard]] double next_end() const {
    if (flows_.empty()) return kNever;
    const double left = flows_.top().end - through_;
    return left > 0 ? since_ + left * weights_ / bytes_per_s_ : since_;
  }

  /// Removes the flow that ends next from the link, at date next_end(), and returns it. Requires a flow.
  Item leave() {
    since_ = next_end();
    through_ = flows_.top().end;
    weights_ -= flows_.top().weight;
    Item flow = flows_.top().flow;
    flows_.pop();
    return flow;
  }

 private:
  /// Flow in transit over a link with weighted fair sharing.
  struct FlowInTransit {
    double end;                // value of through_ at which the flow ends
    unsigned long long order;  // number of the flow, by which ties are broken
    double weight;             // weight of its share of the bandwidth
    Item flow;                 // the caller's object
    bool operator<(const FlowInTransit& o) const { return end > o.end || (end == o.end && order > o.order); }
  };

  double bytes_per_s_;
  double since_ = 0;                // date of the last call
  double through_ = 0;              // at since_: bytes carried for a flow of weight one since the link was last empty
  double weights_ = 0;              // sum of the weights of the flows in transit
  unsigned long long entered_ = 0;  // flows so far, to break ties
  std::priority_queue<FlowInTransit> flows_;
};

}  // namespace merganser::comm::detail
