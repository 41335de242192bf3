#pragma once
/// Network model of a simulated machine for messages that the library simulates itself: routes between simulated ranks from
/// SimGrid's platform, and SimGrid's timers. The time to simulate SMPI's own messages grows with the square of the ranks
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

/// Returns true if messages between simulated ranks are timers of the library, false if they are SMPI's, by the variable
/// MERGANSER_SIMULATED_MESSAGES: "timers" (the default) or "smpi". Local. @throws UsageError for another value
[[nodiscard]] bool messages_are_timers();

/// Route in the simulated network from the node of one rank to the node of another, with its costs.
struct Route {
  double overhead_s;                  ///< time in s of the sender, and of the receiver, for a message
  double latency_s;                   ///< time in s until the first byte of a message can arrive
  double bytes_per_s;                 ///< bandwidth of a message that does not share the route
  double weight;                      ///< weight of a message's share of a link's bandwidth, > 0
  std::vector<std::uint32_t> shared;  ///< numbers of the links that are shared with other messages; none within a node
};

/// Network of the simulated machine, one for all simulated ranks. Costs of a message: its sender's overhead, the latency of its
/// route, its share of the links' bandwidths (each link independently: a message arrives when its slowest link has carried it), its
/// receiver's overhead. The transfer begins after the latency, as in SimGrid's models.
class SimulatedNetwork : Pinned {
 public:
  /// Returns the network of the simulated machine; the first call must be in the context of a simulated rank.
  static SimulatedNetwork& get();

  /// Returns the route from one simulated rank of the world to another; the reference stays valid.
  [[nodiscard]] const Route& way(int from, int to);

  /// Returns true if two simulated ranks of the world share a node.
  [[nodiscard]] bool on_one_node(int a, int b) const {
    return node_of_[static_cast<std::size_t>(a)] == node_of_[static_cast<std::size_t>(b)];
  }

  /// Starts the transfer of a message of `bytes` bytes and SMPI's envelope between two simulated ranks at `date`; the simulator
  /// calls arrived(what) at its arrival, which must not block. In any context. @param date  in seconds, not in the past
  void send(int from, int to, std::size_t bytes, double date, Events::Act arrived, void* what);
  /// Starts the transfer of a message of `bytes` bytes and SMPI's envelope between two simulated ranks at `date`; the simulator
  /// calls arrived() at its arrival, which must not block. In any context. @param date  in seconds, not in the past
  void send(int from, int to, std::size_t bytes, double date, std::function<void()> arrived);

  /// Message in the simulated network whose date of arrival carry() computes.
  struct Message {
    int from, to;  ///< sending and receiving simulated rank of the world
    double date;   ///< simulated date of sending, then of arrival, in s
  };
  /// Computes the dates of arrival of messages of `bytes` bytes that share links with each other only, not with those of send().
  /// @param messages  with their dates of sending, which become those of arrival
  void carry(std::vector<Message>& messages, std::size_t bytes);

  /// Size in bytes of SMPI's envelope, which is sent with each message in the simulated network.
  static constexpr std::size_t kEnvelope = 16;

 private:
  struct Transfer;
  struct Link;
  SimulatedNetwork();
  ~SimulatedNetwork();
  /// Adds a message in the simulated network to the flows of its route's shared links.
  void enter(Transfer* flow);
  /// Schedules the event of the next message that a link of the simulated network has carried.
  void arm(Link& link);
  /// Removes the messages that a link of the simulated network has carried by now.
  void serve(Link& link);
  /// Computes the route between two nodes of the simulated machine and its costs.
  [[nodiscard]] std::unique_ptr<Route> find_way(std::uint32_t from, std::uint32_t to);

  std::vector<std::uint32_t> node_of_;                              // by rank of the world: number of its node
  std::vector<void*> hosts_;                                        // by node: SimGrid's host
  std::unordered_map<std::uint64_t, std::unique_ptr<Route>> ways_;  // by pair of nodes, 32 bits each
  std::unordered_map<void*, std::uint32_t> link_numbers_;           // by SimGrid's link
  std::vector<std::unique_ptr<Link>> links_;                        // by number
  std::vector<std::unique_ptr<Transfer>> flows_;                    // all objects, in use or free
  std::vector<Transfer*> spare_flows_;  // free list, since a simulation sends millions of messages
  /// Entry of a message into a shared link of its route, in carry().
  struct Entry {
    std::uint32_t link;     // number of the link
    std::uint32_t message;  // position of the message in the argument of carry()
    double date;            // date at which the message enters the link, s
    double weight;          // weight of the message's share of the bandwidth
  };
  std::vector<Entry> entries_;  // of carry()
};

/// Returns the date of the simulation in seconds, as seen by the event in progress or the calling simulated rank.
[[nodiscard]] double simulated_now();
/// Blocks this simulated rank, number `rank` of the world, for `seconds` seconds of the simulation.
void simulated_sleep(int rank, double seconds);
/// Blocks this simulated rank, number `rank` of the world, until the simulated date `date`, in seconds; returns at once for a date
/// in the past.
void simulated_sleep_until(int rank, double date);
/// Schedules a call of `act` at the simulated date `date` in the simulator's context, where it must not block.
/// @param date  in seconds, not in the past
void simulated_timer(double date, std::function<void()> act);

}  // namespace merganser::comm::detail
