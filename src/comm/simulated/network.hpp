#pragma once
/// Network model of a simulated machine for messages that the library simulates itself: routes between ranks from SimGrid's
/// platform, and SimGrid's timers. The time to simulate SMPI's own messages grows with the square of the ranks
/// (docs/communication.md).
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "merganser/base/pinned.hpp"
#include "src/comm/simulated/events.hpp"
#include "src/comm/simulated/shared_link.hpp"

namespace merganser::comm::detail {

/// Returns true if messages are timers of the library, false if they are SMPI's, by the variable MERGANSER_SIMULATED_MESSAGES:
/// "timers" (the default) or "smpi". Local. @throws UsageError for another value
[[nodiscard]] bool messages_are_timers();

/// Route in the simulated network from the node of one rank to the node of another, with its costs.
struct Way {
  double overhead_s;                  ///< time of the sender, and of the receiver, for a message
  double latency_s;                   ///< time until the first byte can arrive
  double bytes_per_s;                 ///< bandwidth of a message that does not share the route
  double weight;                      ///< weight of its share of a link, > 0
  std::vector<std::uint32_t> shared;  ///< numbers of the links that are shared with other messages; none within a node
};

/// Network of the simulated machine, one for all ranks. Costs of a message: its sender's overhead, the latency of its route, its
/// share of the links' bandwidths (each link independently: a message arrives when its slowest link has carried it), its
/// receiver's overhead. The transfer begins after the latency, as in SimGrid's models.
class SimulatedNetwork : Pinned {
 public:
  /// Returns the network; the first call must be in the context of a rank.
  static SimulatedNetwork& get();

  /// Returns the route between two ranks of the world; the reference stays valid.
  [[nodiscard]] const Way& way(int from, int to);

  /// Returns true if two ranks of the world share a node.
  [[nodiscard]] bool on_one_node(int a, int b) const {
    return node_of_[static_cast<std::size_t>(a)] == node_of_[static_cast<std::size_t>(b)];
  }

  /// Starts the transfer of `bytes` bytes and SMPI's envelope at `date`; the simulator calls arrived(what) at their arrival,
  /// which must not block. In any context. @param date  in seconds, not in the past
  void send(int from, int to, std::size_t bytes, double date, Events::Act arrived, void* what);
  /// Starts the transfer of `bytes` bytes and SMPI's envelope at `date`; the simulator calls arrived() at their arrival, which
  /// must not block. In any context. @param date  in seconds, not in the past
  void send(int from, int to, std::size_t bytes, double date, std::function<void()> arrived);

  /// Message whose arrival carry() computes.
  struct Message {
    int from, to;  ///< ranks of the world
    double date;   ///< date of sending, then of arrival, s
  };
  /// Computes the dates of arrival of messages of `bytes` bytes that share links with each other only, not with those of send().
  /// @param messages  with their dates of sending, which become those of arrival
  void carry(std::vector<Message>& messages, std::size_t bytes);

  /// Bytes of SMPI's envelope, sent with each message.
  static constexpr std::size_t kEnvelope = 16;

 private:
  struct Transfer;
  struct Link;
  SimulatedNetwork();
  ~SimulatedNetwork();
  void enter(Transfer* flow);
  void arm(Link& link);
  void serve(Link& link);
  [[nodiscard]] std::unique_ptr<Way> find_way(std::uint32_t from, std::uint32_t to);

  std::vector<std::uint32_t> node_of_;  // by rank of the world
  std::vector<void*> hosts_;            // by node
  std::unordered_map<std::uint64_t, std::unique_ptr<Way>> ways_;
  std::unordered_map<void*, std::uint32_t> link_numbers_;
  std::vector<std::unique_ptr<Link>> links_;
  std::vector<std::unique_ptr<Transfer>> flows_;
  std::vector<Transfer*> spare_flows_;  // free list, since a simulation sends millions of messages
  struct Entry {
    std::uint32_t link;
    std::uint32_t message;
    double date;
    double weight;
  };
  std::vector<Entry> entries_;  // of carry()
};

/// Returns the date of the simulation in seconds.
[[nodiscard]] double simulated_now();
/// Blocks this rank, number `rank` of the world, for `seconds` seconds of the simulation.
void simulated_sleep(int rank, double seconds);
/// Blocks this rank, number `rank` of the world, until `date`, in seconds; returns at once for a date in the past.
void simulated_sleep_until(int rank, double date);
/// Calls `act` at `date` in the simulator's context, where it must not block. @param date  in seconds, not in the past
void simulated_timer(double date, std::function<void()> act);

}  // namespace merganser::comm::detail
