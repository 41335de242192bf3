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

constexpr double kNotYet = -1;

std::shared_ptr<const Parts> joined(const std::vector<Bytes>& parts) {
  auto all = std::make_shared<Parts>();
  all->begin.push_back(0);
  for (const Bytes& part : parts) all->begin.push_back(all->begin.back() + part.size());
  all->bytes.reserve(all->begin.back());
  for (const Bytes& part : parts) all->bytes.insert(all->bytes.end(), part.begin(), part.end());
  return all;
}

}  // namespace

std::size_t ring_from() {
  constexpr const char* kVariable = "MERGANSER_SIMULATED_ALL_GATHERS";
  constexpr std::size_t kLong = 524288;
  const char* which = std::getenv(kVariable);
  const std::string_view name = which == nullptr ? "mpich" : which;
  if (name == "mpich") return kLong;
  if (name == "bruck") return std::numeric_limits<std::size_t>::max();
  if (name == "ring") return 0;
  throw UsageError(std::string(kVariable) + " is '" + std::string(name) + "'; allowed: mpich, bruck, ring");
}

/// A rank sends in a round, then waits for what it is sent in this round. Lengths, if there are, make a pass of their own.
struct Gatherings::Gathering : Pinned {
  struct Rank {
    bool here = false;
    bool through = false;
    double clock = 0;  // until when it is busy
    std::size_t round = 0;
    bool sent = false;            // in this round
    std::vector<double> arrived;  // by round
  };

  Gathering(const std::vector<int>& w, bool equal)
      : world(w), rounds(std::bit_width(w.size() - 1)), passes(equal ? 1 : 2), ranks(w.size()), parts(w.size()) {
    for (Rank& rank : ranks) rank.arrived.assign(rounds * passes, kNotYet);
  }

  void enter(std::size_t r, BytesView mine) {
    parts[r].assign(mine.begin(), mine.end());
    if (++present == ranks.size()) result = joined(std::exchange(parts, {}));
    ranks[r].here = true;
    ranks[r].clock = simulated_now();
    go_on(r);
  }

  /// As far as it can without what has not come.
  void go_on(std::size_t r) {
    Rank& rank = ranks[r];
    auto& network = SimulatedNetwork::get();
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

  void leave(std::size_t r) {
    simulated_timer(ranks[r].clock, [this, r] {
      ranks[r].through = true;
      ring_bell(world[r]);
    });
  }

  void arrive(std::size_t r, std::size_t round) {
    ranks[r].arrived[round] = simulated_now();
    if (ranks[r].here && ranks[r].round == round) go_on(r);
  }

  /// Alike on every rank, in its last pass.
  [[nodiscard]] bool is_long(std::size_t r) const {
    const std::size_t all = passes == 1 && result == nullptr ? parts[r].size() * ranks.size() : result->bytes.size();
    return all >= long_from;
  }

  /// Every rank sends to the next one, as often as there are others, what it was sent before. These are as many messages as
  /// pairs of ranks, of which a node sends and is sent one at a time: a link has one after the other, and what they take is
  /// added up.
  void enter_ring() {
    if (++in_ring < ranks.size()) return;
    const std::size_t size = ranks.size();
    struct Edge {  // to the next one
      double overhead, latency, bytes_per_s;
      bool shared;
      double free;  // its links: since when
    };
    std::vector<Edge> edges(size);
    std::vector<double> clock(size);
    std::vector<double> bytes(size);
    for (std::size_t r = 0; r < size; ++r) {
      const Way& way = SimulatedNetwork::get().way(world[r], world[r + 1 < size ? r + 1 : 0]);
      edges[r] = {way.overhead_s, way.latency_s, way.bytes_per_s, !way.shared.empty(), 0};
      clock[r] = ranks[r].clock;
      bytes[r] = static_cast<double>(result->begin[r + 1] - result->begin[r] + SimulatedNetwork::kEnvelope);
    }
    std::vector<double> arrived(size);
    for (std::size_t k = 0; k + 1 < size; ++k) {
      std::size_t part = k == 0 ? 0 : size - k;  // that rank 0 sends: the one that came to it last
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

  /// Of the parts that a rank sends: in the first of two passes their lengths.
  [[nodiscard]] std::size_t bytes(std::size_t r, std::size_t distance, std::size_t round) const {
    const std::size_t count = std::min(distance, ranks.size() - distance);
    if (round + rounds < rounds * passes) return count * sizeof(std::int64_t);
    if (passes == 1) return count * (result != nullptr ? result->begin[1] : parts[r].size());
    const std::size_t end = r + count;
    const auto& begin = result->begin;
    return end <= ranks.size() ? begin[end] - begin[r] : begin.back() - begin[r] + begin[end - ranks.size()];
  }

  const std::vector<int>& world;
  std::size_t rounds;
  std::size_t passes;
  std::size_t long_from = ring_from();  // bytes
  std::vector<Rank> ranks;
  std::vector<Bytes> parts;  // until all have come
  std::size_t present = 0;
  std::size_t in_ring = 0;
  std::shared_ptr<const Parts> result;
};

Gatherings::Gatherings(std::vector<int> world) : world_(std::move(world)) {}
Gatherings::~Gatherings() = default;

std::shared_ptr<const Parts> Gatherings::gather(std::size_t rank, std::uint64_t number, BytesView mine, bool equal) {
  auto& found = under_way_[number];
  if (found == nullptr) found = std::make_unique<Gathering>(world_, equal);
  Gathering& gathering = *found;
  gathering.enter(rank, mine);
  while (!gathering.ranks[rank].through) wait_for_bell(world_[rank]);
  auto all = gathering.result;
  if (--gathering.present == 0) under_way_.erase(number);
  return all;
}

}  // namespace merganser::comm::detail
