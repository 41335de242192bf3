// Timed all-gathers of simulated ranks: dates of Bruck's algorithm by messages without bytes, of the ring by a recurrence.
#include "src/comm/simulated/gathering.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "merganser/base/error.hpp"
#include "src/comm/simulated/network.hpp"

namespace merganser::comm::detail {
namespace {

constexpr double kNotYet = -1;  // in place of a date: the message has not arrived

/// Returns the contributions of all simulated ranks to an all-gather, one behind the other. @param parts  by rank
std::shared_ptr<const Parts> concatenate(const std::vector<Bytes>& parts) {
  auto all = std::make_shared<Parts>();
  all->begin.push_back(0);
  for (const Bytes& part : parts) all->begin.push_back(all->begin.back() + part.size());
  all->bytes.reserve(all->begin.back());
  for (const Bytes& part : parts) all->bytes.insert(all->bytes.end(), part.begin(), part.end());
  return all;
}

}  // namespace

// Rule by which timed all-gathers of simulated ranks use a ring instead of Bruck's algorithm, from an environment variable.
std::size_t ring_threshold() {
  constexpr const char* kVariable = "MERGANSER_SIMULATED_ALL_GATHERS";
  constexpr std::size_t kLong = 524288;
  const char* which = std::getenv(kVariable);
  const std::string_view name = which == nullptr ? "mpich" : which;
  if (name == "mpich") return kLong;
  if (name == "bruck") return std::numeric_limits<std::size_t>::max();
  if (name == "ring") return 0;
  throw UsageError(std::string(kVariable) + " is '" + std::string(name) + "'; allowed: mpich, bruck, ring");
}

/// State of one timed all-gather of simulated ranks. In a round a rank sends a message, then receives one. Lengths, if they differ,
/// take a pass of rounds of their own. Arrivals may be early: they are stored by round.
struct Gatherings::Gathering : Pinned {
  /// State of one simulated rank in a timed all-gather.
  struct Rank {
    bool here = false;            // the rank has entered the all-gather
    bool through = false;         // the rank may leave the all-gather
    double clock = 0;             // date until which the rank is busy, s
    std::size_t round = 0;        // current round of the rank
    bool sent = false;            // the rank has sent its message of the current round
    std::vector<double> arrived;  // by round: date of arrival of the rank's message, s, or kNotYet
  };

  /// Begins an all-gather of the ranks of the world in `w`. @param equal  all contributions have one size
  Gathering(const std::vector<int>& w, bool equal)
      : world(w), rounds(std::bit_width(w.size() - 1)), passes(equal ? 1 : 2), ranks(w.size()), parts(w.size()) {
    for (Rank& rank : ranks) rank.arrived.assign(rounds * passes, kNotYet);
  }

  /// Enters a simulated rank into the all-gather with its contribution and starts its rounds.
  void enter(std::size_t r, BytesView mine) {
    parts[r].assign(mine.begin(), mine.end());
    if (++present == ranks.size()) result = concatenate(std::exchange(parts, {}));
    ranks[r].here = true;
    ranks[r].clock = simulated_now();
    advance(r);
  }

  /// Advances a simulated rank through its rounds of the all-gather until it needs a message that has not arrived.
  void advance(std::size_t r) {
    Rank& rank = ranks[r];
    auto& network = SimulatedNetwork::get();
    // Bruck's algorithm: in round k of a pass a rank sends to the rank 2^k before it and receives from the one 2^k behind it.
    while (rank.round < rank.arrived.size()) {
      if (rank.round + rounds == rank.arrived.size() && is_long(r)) return enter_ring();
      const std::size_t distance = std::size_t{1} << rank.round % rounds;
      const std::size_t to = (r + ranks.size() - distance) % ranks.size();
      const std::size_t from = (r + distance) % ranks.size();
      if (!std::exchange(rank.sent, true)) {
        rank.clock += network.way(world[r], world[to]).overhead_s;
        network.send(world[r], world[to], bytes(r, distance, rank.round), rank.clock,
                     [this, to, round = rank.round] { arrive(to, round); });
      }
      if (rank.arrived[rank.round] == kNotYet) return;
      rank.clock = std::max(rank.clock, rank.arrived[rank.round]) + network.way(world[from], world[r]).overhead_s;
      ++rank.round;
      rank.sent = false;
    }
    leave(r);
  }

  /// Schedules the end of the all-gather for a simulated rank, at the date until which it is busy.
  void leave(std::size_t r) {
    simulated_timer(ranks[r].clock, [this, r] {
      ranks[r].through = true;
      notify_rank(world[r]);
    });
  }

  /// Records the arrival, now, of a round's message at a simulated rank, and advances the rank if it waits for it.
  void arrive(std::size_t r, std::size_t round) {
    ranks[r].arrived[round] = simulated_now();
    if (ranks[r].here && ranks[r].round == round) advance(r);
  }

  /// Returns true if the total size of the all-gather needs the ring. The same on every simulated rank, called in its last pass:
  /// with lengths of their own that begins after all ranks have entered, and without them all parts are equal.
  [[nodiscard]] bool is_long(std::size_t r) const {
    const std::size_t all = passes == 1 && result == nullptr ? parts[r].size() * ranks.size() : result->bytes.size();
    return all >= long_from;
  }

  /// Computes the dates of an all-gather in a ring, once all simulated ranks are in it: every rank sends to the next one, ranks - 1
  /// times, the part that it received before. Events for that would be quadratic in the ranks. On each link between neighbours one
  /// message follows the other, so a recurrence over dates suffices.
  void enter_ring() {
    if (++in_ring < ranks.size()) return;
    const std::size_t size = ranks.size();
    struct Edge {                             // route to the next rank of the ring
      double overhead, latency, bytes_per_s;  // costs of a message, s and bytes/s
      bool shared;                            // the route has links that messages share
      double free;                            // date at which these links have carried the message before
    };
    std::vector<Edge> edges(size);
    std::vector<double> clock(size);
    std::vector<double> bytes(size);
    for (std::size_t r = 0; r < size; ++r) {
      const Route& way = SimulatedNetwork::get().way(world[r], world[r + 1 < size ? r + 1 : 0]);
      edges[r] = {way.overhead_s, way.latency_s, way.bytes_per_s, !way.shared.empty(), 0};
      clock[r] = ranks[r].clock;
      bytes[r] = static_cast<double>(result->begin[r + 1] - result->begin[r] + SimulatedNetwork::kEnvelope);
    }
    std::vector<double> arrived(size);
    for (std::size_t k = 0; k + 1 < size; ++k) {
      std::size_t part = k == 0 ? 0 : size - k;  // that rank 0 sends in step k: the last one it received
      for (std::size_t r = 0; r < size; ++r) {
        Edge& edge = edges[r];
        clock[r] += edge.overhead;
        const double begin = std::max(clock[r] + edge.latency, edge.free);
        arrived[r] = begin + bytes[part] / edge.bytes_per_s;
        if (edge.shared) edge.free = arrived[r];
        if (++part == size) part = 0;
      }
      for (std::size_t r = 0, before = size - 1; r < size; before = r++)
        clock[r] = std::max(clock[r], arrived[before]) + edges[before].overhead;
    }
    for (std::size_t r = 0; r < size; ++r) {
      ranks[r].clock = clock[r];
      leave(r);
    }
  }

  /// Returns the size in bytes of the message that a simulated rank sends in a round of Bruck's algorithm: of parts, or, in the
  /// first of two passes, of their lengths.
  [[nodiscard]] std::size_t bytes(std::size_t r, std::size_t distance, std::size_t round) const {
    const std::size_t count = std::min(distance, ranks.size() - distance);
    if (round + rounds < rounds * passes) return count * sizeof(std::int64_t);
    if (passes == 1) return count * (result != nullptr ? result->begin[1] : parts[r].size());
    const std::size_t end = r + count;
    const auto& begin = result->begin;
    return end <= ranks.size() ? begin[end] - begin[r] : begin.back() - begin[r] + begin[end - ranks.size()];
  }

  const std::vector<int>& world;             // by rank of the transport: rank of the world
  std::size_t rounds;                        // rounds of a pass
  std::size_t passes;                        // 1, or 2 with a pass for the lengths
  std::size_t long_from = ring_threshold();  // total size in bytes from which the ring is used
  std::vector<Rank> ranks;                   // by rank of the transport
  std::vector<Bytes> parts;                  // by rank: its contribution, until all have entered
  std::size_t present = 0;                   // number of ranks that have entered and not left
  std::size_t in_ring = 0;                   // number of ranks that have got to the ring
  std::shared_ptr<const Parts> result;       // all contributions, once all ranks have entered
};

Gatherings::Gatherings(std::vector<int> world) : world_(std::move(world)) {}
Gatherings::~Gatherings() = default;

// Timed all-gather of one rank: blocks until the simulated messages of its rounds have arrived.
std::shared_ptr<const Parts> Gatherings::gather(std::size_t rank, std::uint64_t number, BytesView mine, bool equal) {
  auto& found = under_way_[number];
  if (found == nullptr) found = std::make_unique<Gathering>(world_, equal);
  Gathering& gathering = *found;
  gathering.enter(rank, mine);
  while (!gathering.ranks[rank].through) wait_for_notification(world_[rank]);
  auto all = gathering.result;
  if (--gathering.present == 0) under_way_.erase(number);
  return all;
}

}  // namespace merganser::comm::detail
