#pragma once
/// One link of a simulated network, whose bandwidth is shared by what is under way over it.
#include <limits>
#include <queue>
#include <utility>

namespace merganser::comm::detail {

/// Each flow has a share of the bandwidth in proportion to its weight, as in SimGrid's models of networks. Times are seconds
/// that never go back.
template <class Item>
class SharedLink {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  explicit SharedLink(double bytes_per_s) : bytes_per_s_(bytes_per_s) {}

  /// A flow enters. @param weight  above 0
  void enter(double now, double bytes, double weight, Item flow) {
    if (flows_.empty()) {
      through_ = 0;
      weights_ = 0;
    } else {
      through_ += (now - since_) * bytes_per_s_ / weights_;
    }
    since_ = now;
    weights_ += weight;
    flows_.push({through_ + bytes / weight, entered_++, weight, std::move(flow)});
  }

  /// When the next one is through, if no other enters; kNever: there is none.
  [[nodiscard]] double next_end() const {
    if (flows_.empty()) return kNever;
    const double left = flows_.top().end - through_;
    return left > 0 ? since_ + left * weights_ / bytes_per_s_ : since_;
  }

  /// Takes out what is through next, at next_end(). Requires a flow.
  Item leave() {
    since_ = next_end();
    through_ = flows_.top().end;
    weights_ -= flows_.top().weight;
    Item flow = flows_.top().flow;
    flows_.pop();
    return flow;
  }

 private:
  struct Under {
    double end;  // through_ at which it is through
    unsigned long long order;
    double weight;
    Item flow;
    bool operator<(const Under& o) const { return end > o.end || (end == o.end && order > o.order); }
  };

  double bytes_per_s_;
  double since_ = 0;
  double through_ = 0;  // at since_: bytes for a weight of one
  double weights_ = 0;
  unsigned long long entered_ = 0;
  std::priority_queue<Under> flows_;
};

}  // namespace merganser::comm::detail
