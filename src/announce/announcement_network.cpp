// Flooding of announcements over an overlay network: stores of the announcements of each step, messages, delivery in order.
#include "merganser/announce/announcement_network.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "merganser/base/error.hpp"

namespace merganser::announce {
namespace {

constexpr std::size_t kMinSlots = 16;  // of the hash table of a store
constexpr std::size_t kKeep = 4096;    // capacity, in entries or bytes, that is never released
constexpr std::size_t kSpare = 8;      // greater capacity is released if it is this many times what was used

/// Hashes the identifier of an announcement, origin and counter, for the hash set that detects duplicates.
std::size_t hash(const AnnouncementId& id) {
  std::uint64_t x = id.counter * 0x9E3779B97F4A7C15U + static_cast<std::uint64_t>(id.origin);
  x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93U;
  return static_cast<std::size_t>(x ^ (x >> 32));
}

/// Clears a buffer of stored announcements, and releases capacity that a burst left and that was hardly used since.
template <class T>
void clear_and_shrink(std::vector<T>& items) {
  const std::size_t used = items.size();
  items.clear();
  if (items.capacity() > kKeep && items.capacity() / kSpare > used) {
    items.shrink_to_fit();
    items.reserve(used);
  }
}

}  // namespace

namespace detail {

/// Announcement held in the store of the step after which it was made; its payload is a part of the store's bytes.
struct Stored {
  AnnouncementId id;   ///< origin and counter
  std::size_t first;   ///< offset of the announcement's payload in the store's bytes
  std::size_t length;  ///< bytes of the announcement's payload
  Topic topic;         ///< number that announce() was called with
  Delivery delivery;   ///< step that delivers the announcement
};

/// Store of all announcements that were made after the same step: a hash set by id, which detects duplicates, and the payloads.
/// Reused for later steps without allocation in the steady state.
class StepStore {
 public:
  /// Adds an announcement. @return its index, or nothing if one with this id is stored already
  std::optional<std::size_t> add(AnnouncementId id, Topic topic, Delivery delivery, std::span<const std::byte> bytes) {
    if (2 * (stored_.size() + 1) > table_.size()) grow();
    const std::size_t slot = find_slot(id);
    if (table_[slot] != 0) return std::nullopt;
    stored_.push_back({id, bytes_.size(), bytes.size(), topic, delivery});
    table_[slot] = stored_.size();
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return stored_.size() - 1;
  }

  /// Removes all announcements, for reuse by a later step; releases the memory that a burst left.
  void clear() {
    if (table_.size() > kKeep && table_.size() / kSpare > 2 * stored_.size()) {
      table_ = std::vector<std::size_t>();
    } else if (!stored_.empty()) {
      std::fill(table_.begin(), table_.end(), 0);
    }
    clear_and_shrink(stored_);
    clear_and_shrink(bytes_);
  }
  /// Returns the number of announcements stored that were made after this step.
  [[nodiscard]] std::size_t size() const noexcept { return stored_.size(); }
  /// Returns the payload bytes of the announcements stored that were made after this step.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_.size(); }
  /// Returns a stored announcement by the index that add() returned.
  [[nodiscard]] const Stored& operator[](std::size_t place) const { return stored_[place]; }
  /// Returns the payload of an announcement of this store, valid until the next add() or clear().
  [[nodiscard]] std::span<const std::byte> payload(const Stored& stored) const {
    return std::span(bytes_).subspan(stored.first, stored.length);
  }

 private:
  /// Returns the slot of an announcement's id in the hash set by linear probing, or the free one in which it would be inserted.
  [[nodiscard]] std::size_t find_slot(const AnnouncementId& id) const {
    std::size_t slot = hash(id) & (table_.size() - 1);
    while (table_[slot] != 0 && stored_[table_[slot] - 1].id != id) slot = (slot + 1) & (table_.size() - 1);
    return slot;
  }

  /// Doubles the hash set of announcement ids and inserts all ids anew.
  void grow() {
    table_.assign(std::max(kMinSlots, 2 * table_.size()), 0);
    for (std::size_t place = 0; place < stored_.size(); ++place) table_[find_slot(stored_[place].id)] = place + 1;
  }

  std::vector<Stored> stored_;      // announcements in the order of arrival
  std::vector<std::byte> bytes_;    // payloads of the announcements behind each other
  std::vector<std::size_t> table_;  // open addressing: place + 1, 0 for none; a power of two, at most half full
};

}  // namespace detail

namespace {

using detail::StepStore;
using detail::Stored;

/// Header of an announcement in a message between neighbours of the network; its payload follows.
struct Header {
  std::uint64_t counter;  ///< number of announcements that the origin had made before
  std::int32_t origin;    ///< rank that made the announcement
  std::uint32_t length;   ///< bytes of the announcement's payload
  std::uint32_t age;      ///< steps since the announcement, the one of this message included: the hops made
  Topic topic;            ///< number that announce() was called with
  std::uint8_t delivery;  ///< value of Delivery
  std::uint8_t zero;      ///< no indeterminate bytes are sent
};
static_assert(sizeof(Header) == AnnouncementNetwork::header_bytes);

constexpr std::size_t kMaxBytes = 0xFFFF'FFFF;  // greatest value of Header::length

/// Appends an announcement, header and payload, to the message of an out-arc.
void append(std::vector<std::byte>& message, const Header& header, std::span<const std::byte> bytes) {
  const std::size_t at = message.size();
  message.resize(at + sizeof(Header) + bytes.size());
  std::memcpy(message.data() + at, &header, sizeof(Header));
  if (!bytes.empty()) std::memcpy(message.data() + at + sizeof(Header), bytes.data(), bytes.size());
}

/// Checks that the network has one vertex per rank and that the limits of payloads are valid. Local. @throws UsageError if not
void check_options(const Network& network, int ranks, const AnnouncementOptions& options) {
  if (network.vertices() != ranks) {
    throw UsageError("AnnouncementNetwork: " + network.describe() + " has " + std::to_string(network.vertices()) +
                     " vertices; allowed: one per rank, " + std::to_string(ranks));
  }
  if (options.max_bytes < 1 || options.max_bytes > kMaxBytes || options.max_step_bytes < options.max_bytes) {
    throw UsageError("AnnouncementNetwork: max_bytes " + std::to_string(options.max_bytes) + ", max_step_bytes " +
                     std::to_string(options.max_step_bytes) +
                     "; allowed: 1 <= max_bytes <= max_step_bytes, max_bytes below 2^32");
  }
}

}  // namespace

// Refuses an announcement whose payload does not have the size of the type that is read from it.
void Announcement::check_size(std::size_t wanted) const {
  if (bytes.size() == wanted) return;
  throw CommError("announcement of rank " + std::to_string(id.origin) + " on topic " + std::to_string(topic) + " has " +
                  std::to_string(bytes.size()) + " bytes; expected " + std::to_string(wanted));
}

/// State of an announcement network on one rank: ring of stores, messages of the step, deliveries and subscriptions.
struct AnnouncementNetwork::Impl {
  /// Agrees on network and limits, computes the diameter by one search per rank, and opens the mailbox. Collective.
  Impl(comm::Transport& transport, const Network& network, const AnnouncementOptions& o)
      : options(o), rank(transport.rank()), size(transport.size()) {
    comm::agree(transport, [&] { check_options(network, size, o); });
    comm::check_uniform_across_ranks(transport, "AnnouncementNetwork",
                                     {{"the network", network.describe()},
                                      {"max_bytes", std::to_string(o.max_bytes)},
                                      {"max_step_bytes", std::to_string(o.max_step_bytes)}});
    int farthest = 0;
    comm::agree(transport, [&] { farthest = eccentricity(network, rank); });
    ttl = static_cast<int>(std::max<std::int64_t>(1, transport.all_reduce(std::int64_t{farthest}, comm::Op::max)));
    mailbox = transport.mailbox(network.graph(rank));
    stores.resize(static_cast<std::size_t>(ttl) + 1);
  }

  /// Returns the in- and out-neighbours of this rank in the announcement network.
  comm::Graph const& graph() const { return mailbox->graph(); }
  /// Returns the store of the announcements made after step t: a ring of ttl + 1 stores, since an announcement made after step t is
  /// received for the last time in step t + ttl.
  StepStore& store(std::int64_t t) { return stores[static_cast<std::size_t>(t % (ttl + 1))]; }

  void forward();
  void read_message(std::size_t arc);
  void accept(const Header& header, std::span<const std::byte> bytes, int from);
  void deliver_due();
  void call_subscribers();
  void deliver(const StepStore& from, const Stored& stored, std::int64_t announced);
  void count_stored(std::int64_t count, std::size_t bytes);
  void drop_oldest();

  AnnouncementOptions options;
  int rank;
  int size;                                // number of ranks
  int ttl = 1;                             // time to live in steps: diameter of the network, at least 1
  std::int64_t now = 0;                    // steps made
  std::uint64_t counter = 0;               // announcements made by this rank
  std::size_t step_bytes = 0;              // payload bytes announced by this rank since the last step
  bool closed = false;                     // close() was called: this rank announces nothing more
  std::unique_ptr<comm::Mailbox> mailbox;  // one message per arc of the network and step
  std::vector<StepStore> stores;           // ring: announcements made after step t are in store t % (ttl + 1)
  /// Reference to a stored announcement: the step after which it was made, which selects its store, and its index there.
  struct StoredReference {
    std::int64_t announced;
    std::size_t place;  // index of the announcement in its store
  };
  std::vector<StoredReference> to_forward;  // first received in the last step, or announced since
  std::vector<StoredReference> fresh;       // with Delivery::immediate, first received in this step
  std::vector<StoredReference> own;         // with Delivery::immediate, announced by this rank since the last step
  std::vector<Announcement> delivered;      // by the last step, in the order of (announced, origin, counter)
  /// Subscription of this rank to the announcements of a topic.
  struct Subscriber {
    std::size_t number;  // number of the subscription, which subscribe() returned
    Topic topic;
    Take take;  // called for each announcement of the topic
  };
  std::vector<Subscriber> subscribers;  // in the order of subscription
  std::size_t next_subscription = 0;    // number of the next subscription
  AnnouncementStatistics statistics;
};

/// Adds announcements and their payload bytes to the counters of what this rank stores, and updates the peaks.
void AnnouncementNetwork::Impl::count_stored(std::int64_t count, std::size_t bytes) {
  auto& s = statistics;
  s.held += count;
  s.held_bytes += static_cast<std::int64_t>(bytes);
  s.peak_held = std::max(s.peak_held, s.held);
  s.peak_bytes = std::max(s.peak_bytes, s.held_bytes);
}

/// Clears the store that announcements made after the step that begins, now + 1, will use. In the ring it is the store of step now
/// - ttl, whose announcements were delivered and received for the last time in step now.
void AnnouncementNetwork::Impl::drop_oldest() {
  StepStore& oldest = store(now + 1);
  statistics.held -= static_cast<std::int64_t>(oldest.size());
  statistics.held_bytes -= static_cast<std::int64_t>(oldest.bytes());
  oldest.clear();
}

/// Appends every announcement that was first received in the last step, or announced since, to the messages of all out-arcs.
void AnnouncementNetwork::Impl::forward() {
  // Flooding: what is new since the last step goes to every out-neighbour; the age counts this hop.
  const std::size_t arcs = graph().out.size();
  for (const StoredReference& item : to_forward) {
    const StepStore& from = store(item.announced);
    const Stored& stored = from[item.place];
    const auto bytes = from.payload(stored);
    const Header header{stored.id.counter,
                        stored.id.origin,
                        static_cast<std::uint32_t>(bytes.size()),
                        static_cast<std::uint32_t>(now + 1 - item.announced),
                        stored.topic,
                        static_cast<std::uint8_t>(stored.delivery),
                        0};
    for (std::size_t arc = 0; arc < arcs; ++arc) append(mailbox->outbox(arc), header, bytes);
    statistics.sent += static_cast<std::int64_t>(arcs);
  }
  to_forward.clear();
  for (std::size_t arc = 0; arc < arcs; ++arc) {
    const std::size_t bytes = mailbox->outbox(arc).size();
    ++statistics.messages;
    statistics.empty += bytes == 0 ? 1 : 0;
    statistics.bytes += static_cast<std::int64_t>(bytes);
  }
}

/// Parses the message of one in-arc and accepts its announcements. @throws CommError for a message that no correct step can have
/// sent
void AnnouncementNetwork::Impl::read_message(std::size_t arc) {
  const int from = graph().in[arc];
  auto message = mailbox->inbox(arc);
  while (!message.empty()) {
    Header header;
    const bool whole = message.size() >= sizeof(Header);
    if (whole) std::memcpy(&header, message.data(), sizeof(Header));
    if (!whole || message.size() - sizeof(Header) < header.length || header.age < 1 ||
        header.age > static_cast<std::uint32_t>(ttl) || header.age > now || header.origin < 0 ||
        header.origin >= size || header.delivery > static_cast<std::uint8_t>(Delivery::immediate)) {
      throw CommError("announcements: the message of rank " + std::to_string(from) + " to rank " +
                      std::to_string(rank) + " in step " + std::to_string(now) +
                      " is damaged; do all ranks make the same steps?");
    }
    accept(header, message.subspan(sizeof(Header), header.length), from);
    message = message.subspan(sizeof(Header) + header.length);
  }
}

/// Stores a received announcement unless it is a duplicate, and schedules it for forwarding and delivery. Shortest paths need at
/// most ttl hops, so an announcement of that age has reached every rank and is not forwarded.
void AnnouncementNetwork::Impl::accept(const Header& header, std::span<const std::byte> bytes, int from) {
  // The age gives the step after which it was made, and so its store in the ring.
  const std::int64_t announced = now - header.age;
  StepStore& to = store(announced);
  const AnnouncementId id{header.origin, header.counter};
  // An announcement of this rank that it never made: a damaged message.
  if (header.origin == rank && header.counter >= counter) {
    throw CommError("announcements: rank " + std::to_string(from) + " passed on number " +
                    std::to_string(header.counter) + " of rank " + std::to_string(rank) + ", which is none of its own");
  }
  const auto delivery = static_cast<Delivery>(header.delivery);
  const auto place = to.add(id, header.topic, delivery, bytes);
  if (!place) {
    ++statistics.duplicates;
    return;
  }
  count_stored(1, bytes.size());
  if (header.age < static_cast<std::uint32_t>(ttl)) to_forward.push_back({announced, *place});
  if (delivery == Delivery::immediate) fresh.push_back({announced, *place});
}

/// Appends a stored announcement to those that this step delivers; its payload stays in the store.
void AnnouncementNetwork::Impl::deliver(const StepStore& from, const Stored& stored, std::int64_t announced) {
  delivered.push_back({stored.id, announced, stored.topic, stored.delivery, from.payload(stored)});
}

/// Delivers what is due in this step: with Delivery::same_step all announcements that are ttl steps old, which every rank has by
/// now, and with Delivery::immediate those first received. Sorting gives the order that does not depend on the order of messages.
void AnnouncementNetwork::Impl::deliver_due() {
  // Due now: same_step announcements whose time to live has passed, and immediate ones of this step.
  delivered.clear();
  if (now >= ttl) {
    const StepStore& due = store(now - ttl);
    for (std::size_t i = 0; i < due.size(); ++i) {
      if (due[i].delivery == Delivery::same_step) deliver(due, due[i], now - ttl);
    }
  }
  fresh.insert(fresh.end(), own.begin(), own.end());
  own.clear();
  for (const StoredReference& item : fresh)
    deliver(store(item.announced), store(item.announced)[item.place], item.announced);
  fresh.clear();
  std::sort(delivered.begin(), delivered.end(), [](const Announcement& a, const Announcement& b) {
    return a.announced != b.announced ? a.announced < b.announced : a.id < b.id;
  });
  statistics.delivered += static_cast<std::int64_t>(delivered.size());
}

/// Calls the subscribers of the delivered announcements. A subscriber may announce, subscribe and unsubscribe: the list is copied,
/// and one whose subscription has ended meanwhile is skipped.
void AnnouncementNetwork::Impl::call_subscribers() {
  if (delivered.empty() || subscribers.empty()) return;
  const auto called = subscribers;
  for (const Announcement& a : delivered) {
    for (const Subscriber& s : called) {
      const auto still = [&](const Subscriber& other) { return other.number == s.number; };
      if (s.topic == a.topic && std::any_of(subscribers.begin(), subscribers.end(), still)) s.take(a);
    }
  }
}

AnnouncementNetwork::AnnouncementNetwork(comm::Transport& transport, const Network& network,
                                         const AnnouncementOptions& options)
    : impl_(std::make_unique<Impl>(transport, network, options)) {}
AnnouncementNetwork::~AnnouncementNetwork() = default;
AnnouncementNetwork::AnnouncementNetwork(AnnouncementNetwork&&) noexcept = default;
AnnouncementNetwork& AnnouncementNetwork::operator=(AnnouncementNetwork&&) noexcept = default;

// Stores an announcement of this rank for the next step, after checks of its size.
AnnouncementId AnnouncementNetwork::announce(Topic topic, std::span<const std::byte> bytes, Delivery delivery) {
  Impl& m = *impl_;
  if (m.closed)
    throw UsageError("announce: rank " + std::to_string(m.rank) +
                     " has closed and announces; allowed: announcements before close");
  if (bytes.size() > m.options.max_bytes) {
    throw UsageError("announce: " + std::to_string(bytes.size()) + " bytes; allowed: up to max_bytes, " +
                     std::to_string(m.options.max_bytes));
  }
  if (bytes.size() > m.options.max_step_bytes - m.step_bytes) {
    throw UsageError("announce: " + std::to_string(bytes.size()) + " bytes more between two steps, after " +
                     std::to_string(m.step_bytes) + "; allowed: up to max_step_bytes, " +
                     std::to_string(m.options.max_step_bytes));
  }
  const AnnouncementId id{m.rank, m.counter};
  // Stored at once, so that copies that come back along cycles of the network count as duplicates.
  const auto place = m.store(m.now).add(id, topic, delivery, bytes);
  ++m.counter;
  m.step_bytes += bytes.size();
  m.count_stored(1, bytes.size());
  ++m.statistics.announced;
  m.to_forward.push_back({m.now, *place});
  if (delivery == Delivery::immediate) m.own.push_back({m.now, *place});
  return id;
}

// Runs one step of the flooding: sends what is new to all out-neighbours, waits for the in-neighbours, delivers what is due.
std::span<const Announcement> AnnouncementNetwork::step() {
  Impl& m = *impl_;
  m.forward();
  m.drop_oldest();  // after forward(), which has copied all that it needs of the stores
  m.mailbox->step();
  ++m.now;
  ++m.statistics.steps;
  m.step_bytes = 0;
  for (std::size_t arc = 0; arc < m.graph().in.size(); ++arc) m.read_message(arc);
  m.deliver_due();
  m.call_subscribers();
  return m.delivered;
}

std::span<const Announcement> AnnouncementNetwork::received() const noexcept { return impl_->delivered; }

// Registers a function for the announcements of a topic on this rank.
std::size_t AnnouncementNetwork::subscribe(Topic topic, Take take) {
  impl_->subscribers.push_back({impl_->next_subscription, topic, std::move(take)});
  return impl_->next_subscription++;
}

void AnnouncementNetwork::unsubscribe(std::size_t subscription) {
  std::erase_if(impl_->subscribers, [&](const auto& s) { return s.number == subscription; });
}

void AnnouncementNetwork::close() noexcept { impl_->closed = true; }

// Makes as many steps as announcements live, so that all made before are delivered everywhere.
void AnnouncementNetwork::drain(const Take& take) {
  for (int i = 0; i < impl_->ttl; ++i) {
    for (const Announcement& a : step()) {
      if (take) take(a);
    }
  }
}

std::int64_t AnnouncementNetwork::now() const noexcept { return impl_->now; }
int AnnouncementNetwork::time_to_live() const noexcept { return impl_->ttl; }
int AnnouncementNetwork::rank() const noexcept { return impl_->rank; }
int AnnouncementNetwork::size() const noexcept { return impl_->size; }
const comm::Graph& AnnouncementNetwork::graph() const noexcept { return impl_->graph(); }
const AnnouncementOptions& AnnouncementNetwork::options() const noexcept { return impl_->options; }
const AnnouncementStatistics& AnnouncementNetwork::statistics() const noexcept { return impl_->statistics; }

}  // namespace merganser::announce
