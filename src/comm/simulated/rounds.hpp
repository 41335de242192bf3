#pragma once
/// When ranks are through with a reduction, by the rounds of messages of SMPI's algorithms (machines.py).
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "src/comm/simulated/network.hpp"

namespace merganser::comm::detail {

/// When ranks are through with rounds of messages. A rank sends at most one message in a round, then receives at most one.
class Rounds {
 public:
  /// @param world  ranks of the world, by rank
  /// @param came   when each rank has come
  Rounds(const std::vector<int>& world, std::vector<double> came) : world_(world), dates_(std::move(came)) {}

  /// One round of messages of one size. `to(rank)` is the rank that `rank` sends to, or -1.
  template <class To>
  void round(const To& to, std::size_t bytes) {
    auto& network = SimulatedNetwork::get();
    messages_.clear();
    receivers_.clear();
    for (int from = 0; from < size(); ++from) {
      const int receiver = to(from);
      if (receiver < 0) continue;
      const int a = world_[static_cast<std::size_t>(from)];
      const int b = world_[static_cast<std::size_t>(receiver)];
      const double sent = dates_[static_cast<std::size_t>(from)] += network.way(a, b).overhead_s;
      messages_.push_back({a, b, sent});
      receivers_.push_back(static_cast<std::size_t>(receiver));
    }
    network.carry(messages_, bytes);
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      const auto& m = messages_[i];
      double& date = dates_[receivers_[i]];
      date = std::max(date, m.date) + network.way(m.from, m.to).overhead_s;
    }
  }

  [[nodiscard]] int size() const { return static_cast<int>(world_.size()); }
  [[nodiscard]] std::vector<double> dates() && { return std::move(dates_); }

 private:
  const std::vector<int>& world_;
  std::vector<double> dates_;  // by rank: until when it is busy
  std::vector<SimulatedNetwork::Message> messages_;
  std::vector<std::size_t> receivers_;
};

/// Reductions of so many bytes: SMPI's "rdb", and "rab_rdb", which MPICH takes for long arrays.
void recursive_doubling(Rounds& rounds, std::size_t bytes);
void halving_and_doubling(Rounds& rounds, std::size_t bytes);
/// A barrier: SMPI's "ompi_bruck".
void dissemination(Rounds& rounds);

/// Whether a reduction takes halving and doubling, as MPICH decides.
[[nodiscard]] bool is_long(std::size_t words, std::size_t bytes, int ranks);

}  // namespace merganser::comm::detail
