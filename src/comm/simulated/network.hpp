#pragma once
/// The network of a simulated machine, for messages that the library carries itself: ways between ranks as SimGrid's platform
/// has them, and SimGrid's timers. SMPI's own messages take time with the square of the ranks (docs/communication.md).
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

/// Whether the library carries messages itself. @throws UsageError if MERGANSER_SIMULATED_MESSAGES is neither "timers" nor
/// "smpi"; it is "timers" where it is not set
[[nodiscard]] bool messages_are_timers();

/// From the node of one rank to that of another.
struct Way {
  double overhead_s;                  ///< of who sends, and of who receives
  double latency_s;                   ///< until the first byte could be there
  double bytes_per_s;                 ///< of a message that has the way for itself
  double weight;                      ///< of its share of a link
  std::vector<std::uint32_t> shared;  ///< links that others use, too; none within a node
};

/// All ranks use one. Costs of a message: its sender's overhead, the latency of its way, its share of the links' bandwidths
/// (each link by itself: a message is there when it is through the slowest), its receiver's overhead. Transfer and latency begin
/// one after the other, as in SimGrid's models.
class SimulatedNetwork : Pinned {
 public:
  /// A rank's context must call it first.
  static SimulatedNetwork& get();

  /// Of ranks of the world.
  [[nodiscard]] const Way& way(int from, int to);

  [[nodiscard]] bool on_one_node(int a, int b) const {
    return node_of_[static_cast<std::size_t>(a)] == node_of_[static_cast<std::size_t>(b)];
  }

  /// Lets `bytes`, to which SMPI's envelope is added, begin their way; `arrived(what)` is called by the simulator when they are
  /// there, and must not block. In any context. @param date  not in the past
  void send(int from, int to, std::size_t bytes, double date, Events::Act arrived, void* what);
  void send(int from, int to, std::size_t bytes, double date, std::function<void()> arrived);

  /// When messages that know nothing of send()'s are there. @param messages  with their dates of sending, which they leave with
  /// those of their arrival
  struct Message {
    int from, to;  ///< ranks of the world
    double date;
  };
  void carry(std::vector<Message>& messages, std::size_t bytes);

  /// What else is sent with each message.
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
  std::vector<Transfer*> spare_flows_;  // for messages to come: there are millions
  struct Entry {
    std::uint32_t link;
    std::uint32_t message;
    double date;
    double weight;
  };
  std::vector<Entry> entries_;  // of carry()
};

/// Seconds of the simulation.
[[nodiscard]] double simulated_now();
/// Keeps this rank, `rank` of the world, busy.
void simulated_sleep(int rank, double seconds);
void simulated_sleep_until(int rank, double date);
/// Calls `act` in the simulator's context, where it must not block. @param date  not in the past
void simulated_timer(double date, std::function<void()> act);

}  // namespace merganser::comm::detail
