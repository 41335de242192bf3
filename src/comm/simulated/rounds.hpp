#pragma once
/// Times of reductions and barriers of simulated ranks, from the rounds of messages of SMPI's algorithms (machines.py).
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "src/comm/simulated/network.hpp"

namespace merganser::comm::detail {

/// Dates at which simulated ranks have completed the rounds of messages of a collective. In a round a rank sends at
/// most one message, then receives at most one.
class Rounds {
 public:
  /// Begins the rounds of a collective with the dates at which the simulated ranks enter it.
  /// @param world  by rank of the transport: rank of the world
  /// @param came   by rank: simulated date of its entry in seconds
  Rounds(const std::vector<int>& world, std::vector<double> came) : world_(world), dates_(std::move(came)) {}

  /// Adds a round of messages of `bytes` bytes to the simulated collective. to(rank) returns the rank that `rank` sends to, -1 for
  /// none.
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

  /// Returns the number of simulated ranks in the collective.
  [[nodiscard]] int size() const { return static_cast<int>(world_.size()); }
  /// Returns, by rank, the simulated date in seconds at which it has completed the rounds so far.
  [[nodiscard]] std::vector<double> dates() && { return std::move(dates_); }

 private:
  const std::vector<int>& world_;                    // by rank of the transport: rank of the world
  std::vector<double> dates_;                        // by rank: simulated date until which it is busy, s
  std::vector<SimulatedNetwork::Message> messages_;  // of the current round
  std::vector<std::size_t> receivers_;               // per message: receiving rank of the transport
};

/// Adds the rounds of a reduction of `bytes` bytes on simulated ranks by recursive doubling, SMPI's "rdb".
void recursive_doubling(Rounds& rounds, std::size_t bytes);
/// Adds the rounds of a reduction of `bytes` bytes on simulated ranks by recursive halving and doubling, SMPI's "rab_rdb", which
/// MPICH uses for long arrays.
void halving_and_doubling(Rounds& rounds, std::size_t bytes);
/// Adds the rounds of a dissemination barrier of simulated ranks, SMPI's "ompi_bruck".
void dissemination(Rounds& rounds);

/// Returns true if a reduction of simulated ranks uses halving and doubling, by the rule of MPICH: more than 2 KiB and a word for
/// each rank of the largest power of two.
[[nodiscard]] bool is_long(std::size_t words, std::size_t bytes, int ranks);

}  // namespace merganser::comm::detail
