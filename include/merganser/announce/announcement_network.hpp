#pragma once
/// Telling every rank without a collective: messages are stored and passed on, one hop per step.
///
///     AnnouncementNetwork network(transport, *make_network("manhattan", transport.size(), 3));   // collective
///     network.announce(topic, bytes);                       // any rank, any time between steps
///     for (const Announcement& a : network.step()) ...      // every rank, once per time step
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>

#include "merganser/announce/network.hpp"
#include "merganser/comm/transport.hpp"

namespace merganser::announce {

/// Tells the users of one network apart. Those from kFirstServiceTopic are taken by the services of this library, unless
/// you give them others.
using Topic = std::uint16_t;
inline constexpr Topic kFirstServiceTopic = 0xFF00;

/// When an announcement made after step t is handed over.
enum class Delivery : std::uint8_t {
  same_step,  ///< on every rank, its origin too, by step t + time_to_live()
  immediate,  ///< on a rank h hops from the origin by step t + h; on the origin by step t + 1
};

/// Never used twice during the lifetime of a network.
struct AnnouncementId {
  int origin = 0;             ///< rank that announced
  std::uint64_t counter = 0;  ///< 0, 1, 2, ... of that rank
  friend auto operator<=>(const AnnouncementId&, const AnnouncementId&) = default;
};

/// What was announced, as step() hands it over.
struct Announcement {
  AnnouncementId id;
  std::int64_t announced = 0;  ///< number of steps the origin had made when it announced
  Topic topic = 0;
  Delivery delivery = Delivery::same_step;
  std::span<const std::byte> bytes;  ///< valid until the next step()

  /// The bytes as one T. @throws CommError if their number is another
  template <class T>
  [[nodiscard]] T as() const {
    static_assert(std::is_trivially_copyable_v<T>);
    check_size(sizeof(T));
    T value;
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }

 private:
  void check_size(std::size_t wanted) const;
};

/// Limits of what is announced; the same on every rank.
struct AnnouncementOptions {
  std::size_t max_bytes = std::size_t{1} << 20;       ///< of one announcement; at least 1
  std::size_t max_step_bytes = std::size_t{1} << 24;  ///< of all that one rank announces between two steps
};

/// What one rank has done and holds.
struct AnnouncementStatistics {
  std::int64_t steps = 0;
  std::int64_t announced = 0;   ///< here
  std::int64_t delivered = 0;   ///< handed over here
  std::int64_t duplicates = 0;  ///< came again and were dropped
  std::int64_t sent = 0;        ///< announcements put on arcs: each counts once per out-arc
  std::int64_t messages = 0;    ///< one per out-arc and step
  std::int64_t empty = 0;       ///< of these without any announcement
  std::int64_t bytes = 0;       ///< in messages: payloads, and header_bytes each
  std::int64_t held = 0;        ///< announcements remembered now
  std::int64_t held_bytes = 0;  ///< payload bytes of these
  std::int64_t peak_held = 0;
  std::int64_t peak_bytes = 0;
};

/// Spreads announcements over every rank of a transport.
///
/// Made together: collective, a few reductions. After that nothing is collective: a step is one message (perhaps empty)
/// along each arc of the network, and a rank waits only for its in-neighbours. A rank that stalls after step t lets a
/// rank h hops behind it complete step t + h - 1.
///
/// Promises, for every model, number of ranks and order of messages:
/// - every announcement is handed over exactly once on every rank, at the step that Delivery names;
/// - announcements handed over by one step come in the order of (announced, origin, counter). So those of one origin and
///   one kind of delivery come in the order in which they were made, and those of the same step are one sequence, the same
///   on every rank: a total order;
/// - ids are remembered for time_to_live() steps, the longest that a duplicate can take; then they are forgotten. What
///   is held is what all ranks announced in the last time_to_live() + 1 steps, and never more:
///   ranks * (time_to_live() + 1) * max_step_bytes bytes at most.
///
/// Every rank must make the same number of steps. A rank's network is used by one thread at a time.
class AnnouncementNetwork {
 public:
  /// Makes the network together. Collective. The time to live is the exact diameter: every rank measures the distances
  /// from itself, O(arcs) time.
  /// @throws UsageError on every rank if the network has not one vertex per rank, or ranks passed different networks or
  /// options
  AnnouncementNetwork(comm::Transport& transport, const Network& network, const AnnouncementOptions& options = {});
  ~AnnouncementNetwork();
  AnnouncementNetwork(AnnouncementNetwork&&) noexcept;
  AnnouncementNetwork& operator=(AnnouncementNetwork&&) noexcept;

  /// Takes bytes for every rank, this one too; they leave with the next step. Local. Sizes need no agreement; zero bytes
  /// are fine. May be called by a subscriber: what it announces leaves with the step after.
  /// @throws UsageError if the bytes are too many, for one announcement or this step, or after close()
  AnnouncementId announce(Topic topic, std::span<const std::byte> bytes, Delivery delivery = Delivery::same_step);
  /// The same with the bytes of one value.
  template <class T>
  AnnouncementId announce_value(Topic topic, const T& value, Delivery delivery = Delivery::same_step) {
    static_assert(std::is_trivially_copyable_v<T>);
    return announce(topic, std::as_bytes(std::span(&value, 1)), delivery);
  }

  /// Takes everything one hop further. Called by every rank. Returns what it hands over, all topics; valid until the
  /// next step.
  /// @throws CommError if a message is damaged, or what the Mailbox throws (a wait over MERGANSER_WAIT_LIMIT names the
  /// ranks waited for)
  std::span<const Announcement> step();
  /// What the last step handed over.
  [[nodiscard]] std::span<const Announcement> received() const noexcept;

  /// Gets an announcement that is handed over.
  using Take = std::function<void(const Announcement&)>;
  /// Calls `take` for every announcement of a topic, in the order of delivery, at the end of the step that hands it over
  /// (those subscribed first are called first). Returns a number for unsubscribe().
  std::size_t subscribe(Topic topic, Take take);
  /// Ends a subscription, by the number that subscribe() returned.
  void unsubscribe(std::size_t subscription);

  /// No announcements from this rank any more; it goes on passing on those of others. Local, may be repeated.
  void close() noexcept;
  /// Makes time_to_live() steps, after which everything announced before has been handed over on every rank. Called by
  /// every rank. `take` sees what they hand over; subscribers too.
  void drain(const Take& take = {});

  [[nodiscard]] std::int64_t now() const noexcept;  ///< steps made
  [[nodiscard]] int time_to_live() const noexcept;  ///< steps to every rank: the diameter, at least 1
  /// This rank.
  [[nodiscard]] int rank() const noexcept;
  /// Number of ranks.
  [[nodiscard]] int size() const noexcept;
  [[nodiscard]] const comm::Graph& graph() const noexcept;  ///< the arcs of this rank
  /// The limits, as given.
  [[nodiscard]] const AnnouncementOptions& options() const noexcept;
  /// What this rank has done so far.
  [[nodiscard]] const AnnouncementStatistics& statistics() const noexcept;

  static constexpr std::size_t header_bytes = 24;  ///< that each announcement adds to its bytes on the wire

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace merganser::announce
