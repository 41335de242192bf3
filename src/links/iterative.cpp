#include <algorithm>
#include <exception>
#include <limits>
#include <optional>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/links/prune.hpp"
#include "src/links/cross_links.hpp"

namespace merganser::links {
namespace {

using Flag = std::uint32_t;
using Flags = comm::Segment<Flag>;

/// A link, with the rank of its target by the group's numbering (kHere: this one).
struct Edge {
  std::uint32_t from;
  std::uint32_t to;
  int rank;
};
constexpr int kHere = -1;

enum Kind : std::size_t { kLeaf, kAvailable, kMerged, kKinds };

/// The ranks that prune together, and their flags.
struct Group {
  std::unique_ptr<comm::Transport> sub;  // null: every rank takes part
  comm::Transport* transport = nullptr;
  std::vector<int> rank_of_arc;
  std::optional<Flags> flags;  // one Segment: what ends a phase of one kind of flag ends that of the others
  std::size_t words = 0;       // of each kind

  [[nodiscard]] std::span<Flag> local(Kind kind) { return flags->local().subspan(kind * words, words); }
};

/// Algorithm 1 on one rank.
class Sweeps {
 public:
  Sweeps(Group& group, const Links& links, const Ids& ids, PruneStatistics& statistics)
      : links_(links),
        ids_(ids),
        statistics_(statistics),
        flags_(*group.flags),
        words_(group.words),
        leaf_(group.local(kLeaf)),
        available_(group.local(kAvailable)),
        merged_(group.local(kMerged)) {
    for (std::uint32_t v = 0; v < links.target.size(); ++v) {
      const std::uint32_t t = links.target[v];
      if (t == kNone) continue;
      const CrossLink* cross = (t & kAway) != 0 ? &links.out[t & ~kAway] : nullptr;
      edges_.push_back(cross ? Edge{v, cross->remote_vertex, group.rank_of_arc[cross->arc]} : Edge{v, t, kHere});
    }
    got_.resize(edges_.size());
    keep_.resize(edges_.size());
    isolated_.resize(edges_.size());
  }

  void run() {
    while (round()) {
    }
    mark_leaf_targets();
    prune_duals();
    prune_isolated_duals();
  }

  [[nodiscard]] const std::vector<Edge>& edges() const { return edges_; }
  [[nodiscard]] bool kept(std::size_t edge) const { return keep_[edge] != 0; }
  /// False if a vertex is source and target, which takes a cycle of three or more links.
  [[nodiscard]] bool sound() const { return sound_; }

 private:
  bool round();
  void mark_leaf_targets();
  void prune_duals();
  void prune_isolated_duals();

  [[nodiscard]] std::size_t word(Kind kind, const Edge& edge) const { return kind * words_ + edge.to; }
  void put(Kind kind, const Edge& edge, Flag value) {
    if (edge.rank == kHere) {
      flags_.local()[word(kind, edge)] = value;
    } else {
      flags_.put(edge.rank, word(kind, edge), value);
      ++statistics_.words_written;
    }
  }
  /// The flag of the target is in got_[i] after the next sync.
  void get(Kind kind, std::size_t i) {
    const Edge& edge = edges_[i];
    if (edge.rank == kHere) {
      got_[i] = flags_.local()[word(kind, edge)];
    } else {
      flags_.get(edge.rank, word(kind, edge), 1, &got_[i]);
      ++statistics_.words_read;
    }
  }
  [[nodiscard]] bool wins_tie(const Edge& edge) const {
    const std::int64_t remote =
        edge.rank == kHere ? ids_[edge.to] : links_.out[links_.target[edge.from] & ~kAway].remote_id;
    return ids_[edge.from] < remote;
  }

  const Links& links_;
  const Ids& ids_;
  PruneStatistics& statistics_;
  Flags& flags_;
  std::size_t words_;
  std::span<Flag> leaf_, available_, merged_;
  std::vector<Edge> edges_;
  std::vector<Flag> got_;
  std::vector<std::uint8_t> keep_;
  std::vector<std::uint8_t> isolated_;
  bool sound_ = true;
};

/// Lines 2 to 10 of Algorithm 1. @return whether any rank found a merger
bool Sweeps::round() {
  for (const Edge& edge : edges_) {
    if (merged_[edge.from]) continue;
    leaf_[edge.from] = 1;
    put(kAvailable, edge, 1);
  }
  flags_.sync();

  for (const Edge& edge : edges_) {
    if (!merged_[edge.from]) put(kLeaf, edge, 0);
  }
  flags_.sync();

  for (const Edge& edge : edges_) {
    if (!merged_[edge.from] && !leaf_[edge.from]) put(kAvailable, edge, 0);
  }
  flags_.sync();

  for (std::size_t i = 0; i < edges_.size(); ++i) {
    if (!merged_[edges_[i].from]) get(kAvailable, i);
  }
  flags_.sync();  // lets the gets deliver

  bool again = false;
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    const Edge& edge = edges_[i];
    // A leaf is nobody's target, so no other rank writes the `merged` that is read here.
    if (!leaf_[edge.from] || merged_[edge.from] || !got_[i]) continue;
    again = true;
    merged_[edge.from] = 1;
    put(kMerged, edge, 1);
  }
  ++statistics_.rounds;
  ++statistics_.reductions;
  return flags_.sync_any(again);
}

/// Lines 12 and 13.
void Sweeps::mark_leaf_targets() {
  for (const Edge& edge : edges_) {
    if (!merged_[edge.from] && leaf_[edge.from]) put(kAvailable, edge, 1);
  }
  flags_.sync();
}

/// Lines 14 and 15.
void Sweeps::prune_duals() {
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    const std::uint32_t v = edges_[i].from;
    if (merged_[v] && leaf_[v]) {
      get(kLeaf, i);
    } else if (!merged_[v] && !leaf_[v] && !available_[v]) {
      get(kAvailable, i);
    }
  }
  flags_.sync();  // lets the gets deliver

  for (std::size_t i = 0; i < edges_.size(); ++i) {
    const std::uint32_t v = edges_[i].from;
    if (merged_[v] && leaf_[v]) {
      keep_[i] = 1;
      sound_ = sound_ && !got_[i];
    } else if (!merged_[v] && leaf_[v]) {
      keep_[i] = 1;
    } else if (!merged_[v] && !available_[v]) {
      keep_[i] = got_[i] != 0;
      isolated_[i] = got_[i] == 0;
    }
  }
  // Only now: `available_` was still being read above.
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    if (isolated_[i] && wins_tie(edges_[i])) available_[edges_[i].from] = 1;
  }
  flags_.sync();
}

/// Line 16.
void Sweeps::prune_isolated_duals() {
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    if (isolated_[i]) get(kAvailable, i);
  }
  flags_.sync();  // lets the gets deliver
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    if (isolated_[i]) keep_[i] = got_[i] != 0;
  }
}

}  // namespace

struct IterativePruner::Impl {
  explicit Impl(const IterativeOptions& o) : options(o) {}

  IterativeOptions options;
  CrossLinks cross;
  Group group;
  std::vector<std::uint8_t> members;  // by rank; empty: every rank
  std::int64_t capacity = 0;          // words of each Segment

  bool join(const Links& links, const Channels& channels);
  void make_group(const Channels& channels, bool take_part);
  void make_flags(const comm::Graph& graph);
  void clear_flags(std::size_t vertices);
  void share_kept(const Links& links, comm::Mailbox& mailbox, Stars& stars) const;
};

namespace {

constexpr std::int64_t kRefused = std::numeric_limits<std::int64_t>::max();

/// What a rank tells the others before they prune.
struct Entry {
  std::int64_t vertices;  // kRefused: its links are bad
  std::int64_t takes_part;
};

/// By rank where the group may be a part of the ranks; else one entry, the largest of all.
std::vector<Entry> gather(comm::Transport& transport, const Entry& mine, bool by_rank) {
  if (!by_rank) return {{transport.all_reduce(mine.vertices, comm::Op::max), 1}};
  return comm::all_gather_value(transport, mine);
}

}  // namespace

void IterativePruner::Impl::clear_flags(std::size_t vertices) {
  for (const Kind kind : {kLeaf, kAvailable, kMerged}) std::fill_n(group.local(kind).begin(), vertices, 0);
}

/// Makes group and flags fit, and clears the flags. Collective.
/// @return whether this rank takes part
bool IterativePruner::Impl::join(const Links& links, const Channels& channels) {
  comm::Transport& all = channels.transport;
  const bool by_rank = options.sub_communicator && all.capabilities().sub_transports;
  std::exception_ptr refusal;
  Entry mine{static_cast<std::int64_t>(links.target.size()), 0};
  try {
    refuse_relays(links);
    cross.find(links, channels.mailbox.graph().out.size());
    const auto is_link = [](std::uint32_t t) { return t != kNone; };
    mine.takes_part = !links.in.empty() || std::any_of(links.target.begin(), links.target.end(), is_link);
  } catch (...) {
    refusal = std::current_exception();
    mine.vertices = kRefused;
  }
  const auto entries = gather(all, mine, by_rank);
  std::int64_t most = 1;
  std::vector<std::uint8_t> now;
  for (const Entry& entry : entries) {
    most = std::max(most, entry.vertices);
    if (by_rank) now.push_back(entry.takes_part != 0);
  }
  if (most == kRefused) {
    comm::agree(all, [&] {
      if (refusal) std::rethrow_exception(refusal);
    });
  }

  const auto none = [](std::uint8_t member) { return member == 0; };
  if (by_rank && std::all_of(now.begin(), now.end(), none)) return false;
  const bool takes_part = !by_rank || mine.takes_part != 0;
  const bool fits = group.transport && now == members && most <= capacity;
  if (fits) {
    if (takes_part) {
      clear_flags(links.target.size());
      group.flags->sync();  // nobody puts before its neighbours have cleared
    }
    return takes_part;
  }
  if (most > capacity) capacity = most + most / 4;
  members = std::move(now);
  make_group(channels, takes_part);
  return takes_part;
}

void IterativePruner::Impl::make_group(const Channels& channels, bool take_part) {
  comm::Transport& all = channels.transport;
  const std::vector<int>& neighbours = channels.mailbox.graph().out;
  group.flags.reset();  // before what it was made from
  group.sub.reset();
  group.transport = &all;
  group.rank_of_arc = neighbours;
  if (members.empty()) {
    make_flags(comm::Graph::symmetric(neighbours));
  } else {
    group.sub = all.subset(take_part);
    if (!take_part) return;
    group.transport = group.sub.get();
    std::vector<int> numbers(members.size(), kHere);
    int number = 0;
    for (const int member : comm::all_gather_value(*group.transport, all.rank()))
      numbers[static_cast<std::size_t>(member)] = number++;
    std::vector<int> taking_part;
    for (int& neighbour : group.rank_of_arc) {
      neighbour = numbers[static_cast<std::size_t>(neighbour)];
      if (neighbour != kHere) taking_part.push_back(neighbour);
    }
    make_flags(comm::Graph::symmetric(taking_part));
  }
  clear_flags(static_cast<std::size_t>(capacity));
  group.transport->barrier();
}

void IterativePruner::Impl::make_flags(const comm::Graph& graph) {
  group.words = static_cast<std::size_t>(capacity);
  group.flags.emplace(group.transport->segment<Flag>(graph, kKinds * group.words, options.epoch));
}

/// Tells the owner of each cross-rank target whether the link stays. In the published program the parcels that travel
/// say so.
void IterativePruner::Impl::share_kept(const Links& links, comm::Mailbox& mailbox, Stars& stars) const {
  const std::size_t arcs = cross.count_out.size();
  std::vector<std::uint8_t> sends(arcs);
  std::vector<std::uint8_t> receives(arcs);
  for (std::size_t arc = 0; arc < arcs; ++arc) {
    sends[arc] = cross.count_out[arc] > 0;
    receives[arc] = cross.count_in[arc] > 0;
  }
  for (std::size_t k = 0; k < links.out.size(); ++k) mailbox.post(links.out[k].arc, stars.out_kept[k]);
  mailbox.step(sends, receives);
  stars.in_kept.reserve(links.in.size());
  for (std::size_t arc = 0; arc < arcs; ++arc) {
    if (!receives[arc]) continue;
    const auto flags = mailbox.records<std::uint8_t>(arc);
    if (flags.size() != cross.count_in[arc]) {
      throw CommError("prune_iterative: " + std::to_string(flags.size()) + " links arrive along arc " +
                      std::to_string(arc) + ", but " + std::to_string(cross.count_in[arc]) + " were announced");
    }
    stars.in_kept.insert(stars.in_kept.end(), flags.begin(), flags.end());
  }
}

IterativePruner::IterativePruner(const IterativeOptions& options) : impl_(std::make_unique<Impl>(options)) {}
IterativePruner::~IterativePruner() = default;
IterativePruner::IterativePruner(IterativePruner&&) noexcept = default;
IterativePruner& IterativePruner::operator=(IterativePruner&&) noexcept = default;

Stars IterativePruner::prune(Links& links, const Ids& ids, const Channels& channels, PruneStatistics* statistics) {
  PruneStatistics counts;
  Stars stars;
  stars.out_kept.assign(links.out.size(), 0);
  for (const std::uint32_t t : links.target)
    if (t < links.target.size()) stars.linked_targets += links.target[t] != kNone;
  bool sound = true;
  if (impl_->join(links, channels)) {
    Sweeps sweeps(impl_->group, links, ids, counts);
    sweeps.run();
    sound = sweeps.sound();
    counts.syncs = counts.rounds * (channels.transport.capabilities().one_sided ? 3 : 4) + 2;
    for (std::size_t i = 0; i < sweeps.edges().size(); ++i) {
      std::uint32_t& target = links.target[sweeps.edges()[i].from];
      stars.kept += sweeps.kept(i);
      if ((target & kAway) != 0) stars.out_kept[target & ~kAway] = sweeps.kept(i);
      if (!sweeps.kept(i)) target = kNone;
    }
  }
  impl_->share_kept(links, channels.mailbox, stars);
  if (!sound) {
    throw InputError(
        "prune_iterative: a vertex is source and target after the first stage; allowed: links whose only "
        "cycles have two links (cut_long_cycles removes longer ones)");
  }
  if (statistics) *statistics = counts;
  return stars;
}

Stars prune_iterative(Links& links, const Ids& ids, const Channels& channels, const IterativeOptions& options,
                      PruneStatistics* statistics) {
  IterativePruner pruner(options);
  return pruner.prune(links, ids, channels, statistics);
}

}  // namespace merganser::links
