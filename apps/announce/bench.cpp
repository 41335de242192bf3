// announce bench: steps of the weak scaling experiment of [berghoff2018], and the counts of messages that formulas predict.
#include "apps/announce/bench.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "apps/frame/progress.hpp"
#include "merganser/base/simulated.hpp"
#include "merganser/base/timing.hpp"

namespace merganser::app {
namespace {

using announce::AnnouncementNetwork;
using kernels::GatherKind;

/// Name of a variant of announce bench, and its kind of all-gather if it makes one; an array of them is in the order of Exchanged.
struct ExchangedFacts {
  std::string_view name;
  std::optional<GatherKind> gather;
};
constexpr std::array<ExchangedFacts, kExchanged.size()> kVariants{{{"none", {}},
                                                                   {"network", {}},
                                                                   {"all-gather", GatherKind::blocking},
                                                                   {"non-blocking", GatherKind::non_blocking},
                                                                   {"neighborhood", GatherKind::neighborhood}}};

/// Factorizes the number of ranks into a grid of blocks whose longest side is shortest.
std::array<int, 3> block_grid(int ranks) {
  std::array<int, 3> best{ranks, 1, 1};
  for (int x = 1; x <= ranks; ++x) {
    if (ranks % x != 0) continue;
    for (int y = 1; y <= ranks / x; ++y) {
      if (ranks / x % y != 0) continue;
      const std::array<int, 3> grid{x, y, ranks / x / y};
      if (*std::max_element(grid.begin(), grid.end()) < *std::max_element(best.begin(), best.end())) best = grid;
    }
  }
  return best;
}

/// Returns the six neighbours of a rank in the periodic grid of blocks. Where an axis has one or two blocks, ranks repeat, or are
/// the rank itself.
std::vector<int> side_neighbours(int rank, int ranks) {
  const auto grid = block_grid(ranks);
  const std::array<int, 3> at{rank % grid[0], rank / grid[0] % grid[1], rank / grid[0] / grid[1]};
  std::vector<int> to;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (const int step : {-1, 1}) {
      auto x = at;
      x[axis] = (x[axis] + step + grid[axis]) % grid[axis];
      to.push_back(x[0] + grid[0] * (x[1] + grid[1] * x[2]));
    }
  }
  return to;
}

/// Returns the number of announcements that a rank makes in steps 0 to last - 1, one where (step + rank) % every == 0.
std::int64_t count_announcements(std::int64_t last, int rank, int every) {
  const std::int64_t first = (every - rank % every) % every;
  return last <= first ? 0 : (last - 1 - first) / every + 1;
}

/// Counts the bytes equal to `byte` in gathered data. Sums of 8 bits vectorise: several times as fast as std::count, whose sums
/// have 64 bits.
std::int64_t count_bytes(std::byte byte, std::span<const std::byte> bytes) {
  constexpr std::size_t kMax = 240;  // bytes per sum, which must not exceed 8 bits
  std::int64_t count = 0;
  while (!bytes.empty()) {
    const auto some = bytes.first(std::min(kMax, bytes.size()));
    std::uint8_t equal = 0;
    for (const std::byte b : some) equal = static_cast<std::uint8_t>(equal + (b == byte ? 1 : 0));
    count += equal;
    bytes = bytes.subspan(some.size());
  }
  return count;
}

}  // namespace

std::string_view exchanged_name(Exchanged e) { return kVariants[static_cast<std::size_t>(e)].name; }
std::optional<kernels::GatherKind> gather_kind(Exchanged e) { return kVariants[static_cast<std::size_t>(e)].gather; }

/// State of announce bench on one rank: announcement network, halo exchange, all-gathers, times and counts.
struct AnnounceBench::Impl {
  Impl(comm::Transport& t, const AnnounceExperiment& e, const std::vector<Exchanged>& v)
      : transport(t),
        experiment(e),
        variants(v),
        network(announce::make_network(e.network, t.size(), e.dimension)),
        announcements(t, *network, limits(e)),
        payload(static_cast<std::size_t>(e.size), static_cast<std::byte>(t.rank())),
        side(static_cast<std::size_t>(e.edge) * static_cast<std::size_t>(e.edge) * sizeof(double)) {
    const auto to = side_neighbours(t.rank(), t.size());
    auto distinct = to;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    for (const int rank : distinct) sides_of.push_back(std::count(to.begin(), to.end(), rank));
    halo = t.mailbox(comm::Graph::symmetric(distinct));
    for (const Exchanged variant : variants) {
      if (const auto kind = gather_kind(variant)) gathers[variant] = kernels::make_gather(t, *kind, payload.size());
    }
  }

  /// Returns the limits of announcements, which must hold one of the experiment's size.
  static announce::AnnouncementOptions limits(const AnnounceExperiment& e) {
    announce::AnnouncementOptions o;
    o.max_bytes = std::max(o.max_bytes, static_cast<std::size_t>(e.size));
    o.max_step_bytes = std::max(o.max_step_bytes, o.max_bytes);
    return o;
  }

  /// Executes and times `count` steps of one variant of announce bench. Called by every rank.
  void time_steps(Exchanged e, std::int64_t count) {
    kernels::Gather* const gather = gathers.contains(e) ? gathers.at(e).get() : nullptr;
    std::span<const std::byte> all;
    repeat(
        {count}, now, [](std::int64_t) {}, [&](std::int64_t) { all = step(e, gather); },
        [&](std::int64_t, double begin, double end) {
          seconds[e].push_back(end - begin);
          if (gather != nullptr) verify_gathered(all);
        });
  }

  /// Executes one step of announce bench: work, halo exchange, and the exchange of the variant. @return the gathered parts of all
  /// ranks; empty without a gather
  std::span<const std::byte> step(Exchanged e, kernels::Gather* gather) {
    const double start = now();
    if (e == Exchanged::non_blocking) begin(*gather);
    busy_until(start + experiment.work_ms / 1e3);
    const auto before = transport.counters();
    for (std::size_t arc = 0; arc < sides_of.size(); ++arc) {
      halo->outbox(arc).resize(static_cast<std::size_t>(sides_of[arc]) * side);
    }
    halo->step();
    const auto after = transport.counters() - before;
    counts.halo_messages += after.messages;
    counts.halo_bytes += after.bytes;
    if (e == Exchanged::network) {
      if ((announcements.now() + transport.rank()) % experiment.every == 0) announcements.announce(0, payload);
      announcements.step();
    }
    counts.collectives += (transport.counters() - before).collectives;
    if (gather != nullptr && e != Exchanged::non_blocking) begin(*gather);
    return gather != nullptr ? gather->complete() : std::span<const std::byte>{};
  }

  /// Starts an all-gather of this rank's payload, and counts its calls, messages and bytes.
  void begin(kernels::Gather& gather) {
    const auto before = transport.counters();
    gather.start(payload);
    const auto after = transport.counters() - before;
    counts.gather_calls += after.collectives;
    counts.gather_messages += after.messages;
    counts.gather_bytes += after.bytes;
  }

  /// Counts the bytes of an all-gather that have the value of the rank whose part they are: each rank sends its number as bytes.
  void verify_gathered(std::span<const std::byte> all) {
    for (std::size_t r = 0; r < static_cast<std::size_t>(transport.size()); ++r) {
      const auto part = all.subspan(r * payload.size(), payload.size());
      counts.gathered += count_bytes(static_cast<std::byte>(r), part);
    }
  }

  [[nodiscard]] AnnounceCounts expected_network_counts(std::int64_t steps) const;

  comm::Transport& transport;
  AnnounceExperiment experiment;
  std::vector<Exchanged> variants;  // global exchanges that are measured in turns
  std::unique_ptr<announce::Network> network;
  AnnouncementNetwork announcements;
  std::vector<std::byte> payload;      // of an announcement or all-gather: the rank's number in every byte
  std::size_t side;                    // bytes of one side of a block in the halo exchange
  std::vector<std::int64_t> sides_of;  // number of sides along each arc of the halo
  std::unique_ptr<comm::Mailbox> halo;
  std::map<Exchanged, std::unique_ptr<kernels::Gather>> gathers;
  std::map<Exchanged, std::vector<double>> seconds;  // times of this rank's steps by variant
  AnnounceCounts counts;
};

AnnounceBench::AnnounceBench(comm::Transport& transport, const AnnounceExperiment& experiment,
                             const std::vector<Exchanged>& variants)
    : impl_(std::make_unique<Impl>(transport, experiment, variants)) {}
AnnounceBench::~AnnounceBench() = default;

// Loop of announce bench: variants take turns in blocks of steps, so that a drift of the machine affects all of them.
void AnnounceBench::run() {
  Impl& m = *impl_;
  ProgressLine line(m.transport.rank() == 0);
  for (std::int64_t done = 0; done < m.experiment.steps; done += m.experiment.block) {
    line.show_count("step", static_cast<double>(done), m.experiment.steps);
    for (const Exchanged e : m.variants) {
      m.transport.barrier();  // so that delays of the former variant are not measured with this one
      m.time_steps(e, std::min<std::int64_t>(m.experiment.block, m.experiment.steps - done));
    }
  }
}

const std::vector<double>& AnnounceBench::seconds(Exchanged e) const { return impl_->seconds[e]; }

// Counts of announce bench on this rank: those of halo and all-gathers, and those that the announcement network has kept itself.
AnnounceCounts AnnounceBench::counted() const {
  AnnounceCounts c = impl_->counts;
  const auto& s = impl_->announcements.statistics();
  c.messages = s.messages;
  c.bytes = s.bytes;
  c.sent = s.sent;
  c.delivered = s.delivered;
  c.duplicates = s.duplicates;
  return c;
}

/// Computes the counts of messages that this rank must have after `steps` steps of the announcement network, from distances in
/// it. Every rank forwards an
/// announcement once, along each of its out-arcs, in the step after it first arrived.
AnnounceCounts AnnounceBench::Impl::expected_network_counts(std::int64_t steps) const {
  AnnounceCounts c;
  if (steps == 0) return c;
  const int rank = transport.rank();
  const int ttl = announcements.time_to_live();
  const auto out = network->out(rank);
  // Announcements of `origin` that a rank d hops behind it has forwarded: those made at least d steps ago, one hop a step.
  const auto passed = [&](int origin, int d) {
    return d < ttl ? count_announcements(steps - d, origin, experiment.every) : 0;
  };
  c.messages = steps * static_cast<std::int64_t>(out.size());
  const auto to_here = announce::distances(*network, rank, true);
  std::int64_t first_time = 0;
  for (int origin = 0; origin < transport.size(); ++origin) {
    const int d = to_here[static_cast<std::size_t>(origin)];
    c.sent += passed(origin, d) * static_cast<std::int64_t>(out.size());
    c.delivered += count_announcements(steps - ttl + 1, origin, experiment.every);
    if (d > 0) first_time += count_announcements(steps - d + 1, origin, experiment.every);
  }
  for (const int neighbour : network->in(rank)) {
    const auto to_there = announce::distances(*network, neighbour, true);
    for (int origin = 0; origin < transport.size(); ++origin) {
      c.duplicates += passed(origin, to_there[static_cast<std::size_t>(origin)]);
    }
  }
  c.duplicates -= first_time;  // so far all receipts: those that are no first arrivals are duplicates
  c.bytes = c.sent * (experiment.size + static_cast<std::int64_t>(AnnouncementNetwork::header_bytes));
  return c;
}

// Counts that announce bench must have on this rank: announcements by distances in the network, halo messages and all-gathers by
// the number of steps. Messages to the rank itself are not counted.
AnnounceCounts AnnounceBench::expected() const {
  const Impl& m = *impl_;
  const int rank = m.transport.rank();
  const int ranks = m.transport.size();
  AnnounceCounts c = m.expected_network_counts(
      static_cast<std::int64_t>(m.seconds.contains(Exchanged::network) ? m.seconds.at(Exchanged::network).size() : 0));
  std::int64_t all_steps = 0;
  for (const auto& [e, seconds] : m.seconds) all_steps += static_cast<std::int64_t>(seconds.size());
  for (std::size_t arc = 0; arc < m.sides_of.size(); ++arc) {
    if (m.halo->graph().out[arc] == rank || m.side == 0) continue;
    c.halo_messages += all_steps;
    c.halo_bytes += all_steps * m.sides_of[arc] * static_cast<std::int64_t>(m.side);
  }
  for (const auto& [e, seconds] : m.seconds) {
    const auto kind = gather_kind(e);
    if (!kind) continue;
    const auto calls = static_cast<std::int64_t>(seconds.size());
    c.gather_calls += calls;
    c.gathered += calls * ranks * m.experiment.size;
    if (kind != kernels::GatherKind::neighborhood) continue;
    c.gather_messages += calls * (ranks - 1);
    c.gather_bytes += calls * (ranks - 1) * m.experiment.size;
  }
  return c;
}

const announce::Network& AnnounceBench::network() const { return *impl_->network; }
int AnnounceBench::time_to_live() const { return impl_->announcements.time_to_live(); }

}  // namespace merganser::app
