#pragma once
/// Broadcast from any rank to all ranks without a collective: announcements are flooded over a sparse network, one hop per step.
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

/// Topic of an announcement: a number by which parts of a program that share one network tell theirs apart. Topics from
/// kFirstServiceTopic on are the defaults of the services of this library.
using Topic = std::uint16_t;
/// Lowest topic of announcements that services of this library use by default.
inline constexpr Topic kFirstServiceTopic = 0xFF00;

/// Step that delivers an announcement which its origin made after its step t.
enum class Delivery : std::uint8_t {
  same_step,  ///< step t + time_to_live() on every rank, the origin included
  immediate,  ///< step t + h on a rank that is h hops from the origin; step t + 1 on the origin
};

/// Identifier of an announcement: its origin and a count of the origin, unique during the lifetime of a network.
struct AnnouncementId {
  int origin = 0;             ///< rank that made the announcement
  std::uint64_t counter = 0;  ///< number of announcements that this rank had made before
  friend auto operator<=>(const AnnouncementId&, const AnnouncementId&) = default;
};

/// Announcement of a rank as AnnouncementNetwork::step() delivers it on every rank.
struct Announcement {
  AnnouncementId id;                        ///< origin, and its count of announcements
  std::int64_t announced = 0;               ///< number of steps that the origin had made before the announcement
  Topic topic = 0;                          ///< number that announce() was called with
  Delivery delivery = Delivery::same_step;  ///< step that delivers it
  std::span<const std::byte> bytes;         ///< payload, valid until the next step()

  /// Returns the payload as a value of type T, which must be trivially copyable. @throws CommError if it does not have the size of
  /// a T
  template <class T>
  [[nodiscard]] T as() const {
    static_assert(std::is_trivially_copyable_v<T>, "values are announced as bytes");
    check_size(sizeof(T));
    T value;
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }

 private:
  /// Checks that the payload has the size of the type that a caller reads, in bytes. @throws CommError if not
  void check_size(std::size_t wanted) const;
};

/// Limits of the payloads of announcements over an AnnouncementNetwork; equal on all ranks.
struct AnnouncementOptions {
  std::size_t max_bytes = std::size_t{1} << 20;       ///< greatest payload of one announcement, in bytes; at least 1
  std::size_t max_step_bytes = std::size_t{1} << 24;  ///< greatest sum of payloads of a rank between two steps
};

/// Counters of an AnnouncementNetwork on this rank since it was made: announcements, messages, and the bytes it stores now.
struct AnnouncementStatistics {
  std::int64_t steps = 0;       ///< steps made
  std::int64_t announced = 0;   ///< announcements made on this rank
  std::int64_t delivered = 0;   ///< announcements delivered on this rank
  std::int64_t duplicates = 0;  ///< announcements that were received again and dropped
  std::int64_t sent = 0;        ///< announcements put on out-arcs: each counts once per out-arc
  std::int64_t messages = 0;    ///< messages sent: one per out-arc and step
  std::int64_t empty = 0;       ///< messages without any announcement
  std::int64_t bytes = 0;       ///< bytes of the messages: payloads, and header_bytes for each announcement
  std::int64_t held = 0;        ///< announcements stored now
  std::int64_t held_bytes = 0;  ///< payload bytes stored now
  std::int64_t peak_held = 0;   ///< greatest value of `held` so far
  std::int64_t peak_bytes = 0;  ///< greatest value of `held_bytes` so far
};

/// Floods announcements from any rank to all ranks of a transport, along the arcs of a sparse network.
///
/// The constructor is collective. After that no call is collective: a step sends one message (perhaps empty) along each arc of the
/// network, and a rank waits for its in-neighbours only. If a rank stalls after step t, a rank that is h hops from it can still
/// complete step t + h - 1.
///
/// Guarantees, for every communication model, number of ranks and order of messages:
/// - every announcement is delivered exactly once on every rank, by the step that Delivery names;
/// - announcements delivered by one step are ordered by (announced, origin, counter). So those of one origin and one kind of
/// delivery are delivered in the order in which they were made, and those with Delivery::same_step in one total order, the same on
/// every rank;
/// - an announcement is stored for time_to_live() + 1 steps, since no duplicate can arrive later: at most
///   ranks * (time_to_live() + 1) * max_step_bytes bytes on each rank.
///
/// Every rank must make the same number of steps. On a rank a network is used by one thread at a time.
class AnnouncementNetwork {
 public:
  /// Opens the network on all ranks of the transport, which must outlive it. Collective. The time to live is the exact diameter of
  /// the network, at least 1: every rank computes the distances from itself, in O(arcs of the network) time.
  /// @param network  graph with one vertex per rank, equal on all ranks; not needed afterwards
  /// @throws UsageError on every rank if the network does not have one vertex per rank, or ranks passed different networks or
  /// options
  AnnouncementNetwork(comm::Transport& transport, const Network& network, const AnnouncementOptions& options = {});
  ~AnnouncementNetwork();
  AnnouncementNetwork(AnnouncementNetwork&&) noexcept;
  AnnouncementNetwork& operator=(AnnouncementNetwork&&) noexcept;

  /// Announces bytes to all ranks, this one included; the next step sends them. Local; any rank may call it at any time, from a
  /// subscriber too (then the step after the current one sends them).
  /// @param bytes  payload, copied; of any size from 0 to max_bytes, which other ranks need not know
  /// @return identifier of the announcement
  /// @throws UsageError if the payload exceeds max_bytes or the sum since the last step exceeds max_step_bytes, and after close()
  AnnouncementId announce(Topic topic, std::span<const std::byte> bytes, Delivery delivery = Delivery::same_step);
  /// Announces the bytes of one trivially copyable value to all ranks, this one included; Announcement::as() reads it. Local.
  /// @return identifier of the announcement
  /// @throws UsageError if the value exceeds max_bytes or the sum since the last step exceeds max_step_bytes, and after close()
  template <class T>
  AnnouncementId announce_value(Topic topic, const T& value, Delivery delivery = Delivery::same_step) {
    static_assert(std::is_trivially_copyable_v<T>, "values are announced as bytes");
    return announce(topic, std::as_bytes(std::span(&value, 1)), delivery);
  }

  /// Forwards announcements by one hop: sends one message, perhaps empty, along each out-arc and waits for one along each in-arc.
  /// Every rank must call it the same number of times; not collective.
  /// @return announcements that this step delivers, of all topics, in the order of (announced, origin, counter); valid until the
  /// next step
  /// @throws CommError if a message is malformed, or if the wait for in-neighbours exceeds MERGANSER_WAIT_LIMIT, with their ranks
  std::span<const Announcement> step();
  /// Returns the announcements that the last step delivered, of all topics; valid until the next step. Local.
  [[nodiscard]] std::span<const Announcement> received() const noexcept;

  /// Function of a subscriber or of drain() that receives each delivered announcement.
  using Take = std::function<void(const Announcement&)>;
  /// Subscribes to a topic on this rank: at the end of every step, `take` is called for each announcement of the topic that the
  /// step delivers, in the order of delivery; earlier subscriptions are called first. It may announce, subscribe and unsubscribe.
  /// Local.
  /// @return number of the subscription, for unsubscribe()
  std::size_t subscribe(Topic topic, Take take);
  /// Ends a subscription to announcements of a topic on this rank, by the number that subscribe() returned. Local.
  void unsubscribe(std::size_t subscription);

  /// Forbids further announcements by this rank, which goes on forwarding those of others. Local; may be repeated.
  void close() noexcept;
  /// Makes time_to_live() steps, after which all announcements made before are delivered on every rank. Called by every rank.
  /// @param take  called for every announcement that these steps deliver, of all topics, in addition to the subscribers
  void drain(const Take& take = {});

  /// Returns the number of steps that this rank has made on the announcement network.
  [[nodiscard]] std::int64_t now() const noexcept;
  /// Returns the number of steps after which an announcement has reached every rank: the diameter of the network, at least 1.
  [[nodiscard]] int time_to_live() const noexcept;
  /// Returns the rank of the caller in the transport of the announcement network.
  [[nodiscard]] int rank() const noexcept;
  /// Returns the number of ranks of the announcement network, those of its transport.
  [[nodiscard]] int size() const noexcept;
  /// Returns the in- and out-neighbours of this rank in the overlay network along which announcements are flooded.
  [[nodiscard]] const comm::Graph& graph() const noexcept;
  /// Returns the limits of payload sizes that the announcement network was made with.
  [[nodiscard]] const AnnouncementOptions& options() const noexcept;
  /// Returns the counters of announcements, messages and stored bytes of this rank.
  [[nodiscard]] const AnnouncementStatistics& statistics() const noexcept;

  static constexpr std::size_t header_bytes = 24;  ///< bytes of a message for each announcement besides its payload

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace merganser::announce
