// Iterative pruning of links into stars by the published Algorithm 1 (prune.hpp): sweeps over flags that are put to and
// fetched from the owners of targets.
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

using Flag = std::uint32_t;         // flag of a vertex in Algorithm 1: 0 or 1
using Flags = comm::Segment<Flag>;  // flags of the vertices of all ranks

/// Nearest-neighbour link as Algorithm 1 reads it: source on this rank, target by its owner's numbering, and the owner.
struct Edge {
  std::uint32_t from;  // source of the link, on this rank
  std::uint32_t to;    // target of the link, by the numbering of its rank
  int rank;            // rank of the target in the group; kHere: this rank
};
constexpr int kHere = -1;

/// Kinds of flags in Algorithm 1 (iterative pruning); each vertex has one flag of each kind.
enum FlagKind : std::size_t { kLeaf, kAvailable, kMerged, kKinds };

/// Ranks that take part in the iterative pruning (all, or a sub-communicator of those with links), and their segment of flags.
struct PruningGroup {
  std::unique_ptr<comm::Transport> sub;  // sub-communicator; null: every rank takes part
  comm::Transport* transport = nullptr;  // ranks that take part: `sub`, or the transport of all
  std::vector<int> rank_of_arc;          // by arc: rank at its other end in the group; kHere: it does not take part
  std::optional<Flags> flags;            // one Segment for all three kinds, so that one sync ends the phase of each
  std::size_t words = 0;                 // flags of each kind per rank

  /// Returns the flags of one kind (leaf, available or merged) of the vertices of this rank.
  [[nodiscard]] std::span<Flag> local(FlagKind kind) { return flags->local().subspan(kind * words, words); }
};

/// Algorithm 1 of [frey2025] on one rank: the published sweeps over three flags per vertex (leaf, available, merged).
/// Flags of a target are put to and fetched from its owner; every phase of puts or gets ends with a sync of the
/// segment.
class Sweeps {
 public:
  /// Lists the links of this rank with the ranks of their targets in the group. Local.
  Sweeps(PruningGroup& group, const Links& links, const Ids& ids, PruneStatistics& statistics)
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

  /// Runs rounds of Algorithm 1 (iterative pruning) until no rank finds a merger, then the stage that decides dual links.
  /// Collective over the group.
  void run() {
    while (round()) {
    }
    mark_leaf_targets();
    prune_duals();
    prune_isolated_duals();
  }

  /// Returns the nearest-neighbour links of this rank, in the order of their sources.
  [[nodiscard]] const std::vector<Edge>& edges() const { return edges_; }
  /// Returns whether Algorithm 1 keeps a link of this rank, by its index in edges(). Valid after run().
  [[nodiscard]] bool is_kept(std::size_t edge) const { return keep_[edge] != 0; }
  /// Returns false if some vertex of this rank is both a kept source and a target, which takes a cycle of three or more links.
  [[nodiscard]] bool is_sound() const { return sound_; }

 private:
  bool round();
  void mark_leaf_targets();
  void prune_duals();
  void prune_isolated_duals();

  /// Returns the index, in the segment of flags on its owner, of a flag of the target of a link.
  [[nodiscard]] std::size_t word(FlagKind kind, const Edge& edge) const { return kind * words_ + edge.to; }
  /// Sets a flag (Algorithm 1) of the target of a link, at once if the target is on this rank, else at the next sync.
  void put(FlagKind kind, const Edge& edge, Flag value) {
    if (edge.rank == kHere) {
      flags_.local()[word(kind, edge)] = value;
    } else {
      flags_.put(edge.rank, word(kind, edge), value);
      ++statistics_.words_written;
    }
  }
  /// Fetches a flag of the target of edge i; the flag is in got_[i] after the next sync.
  void get(FlagKind kind, std::size_t i) {
    const Edge& edge = edges_[i];
    if (edge.rank == kHere) {
      got_[i] = flags_.local()[word(kind, edge)];
    } else {
      flags_.get(edge.rank, word(kind, edge), 1, &got_[i]);
      ++statistics_.words_read;
    }
  }
  /// Returns whether the source has a lower global id than the target: the tie rule of isolated dual links.
  [[nodiscard]] bool has_lower_id(const Edge& edge) const {
    const std::int64_t remote =
        edge.rank == kHere ? ids_[edge.to] : links_.out[links_.target[edge.from] & ~kAway].remote_id;
    return ids_[edge.from] < remote;
  }

  const Links& links_;
  const Ids& ids_;
  PruneStatistics& statistics_;
  Flags& flags_;
  std::size_t words_;                          // flags of each kind per rank
  std::span<Flag> leaf_, available_, merged_;  // by vertex of this rank, in the segment
  std::vector<Edge> edges_;                    // nearest-neighbour links of this rank
  std::vector<Flag> got_;                      // by edge: flag of its target that get() fetched
  std::vector<std::uint8_t> keep_;             // by edge, 1: the link is kept
  std::vector<std::uint8_t> isolated_;         // by edge, 1: dual link with neither end available
  bool sound_ = true;                          // false: a vertex is kept source and target
};

/// Runs one round of Algorithm 1 (lines 2 to 10): puts and gets of the flags leaf, available and merged. Collective over the group.
/// @return whether any rank found a merger
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
    // A leaf is the target of no unmerged link, so no other rank writes the `merged` that is read here: no race.
    if (!leaf_[edge.from] || merged_[edge.from] || !got_[i]) continue;
    again = true;
    merged_[edge.from] = 1;
    put(kMerged, edge, 1);
  }
  ++statistics_.rounds;
  ++statistics_.reductions;
  return flags_.sync_any(again);
}

/// Marks the targets of unmerged leaves as available (lines 12 and 13 of Algorithm 1). Collective over the group.
void Sweeps::mark_leaf_targets() {
  for (const Edge& edge : edges_) {
    if (!merged_[edge.from] && leaf_[edge.from]) put(kAvailable, edge, 1);
  }
  flags_.sync();
}

/// Keeps the links of leaves, and of dual links those whose target is available (lines 14 and 15 of Algorithm 1); a dual link with
/// neither end available is isolated, and its lower id becomes available. Collective over the group.
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
  // In a loop of its own: the loop above reads `available_` of every vertex.
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    if (isolated_[i] && has_lower_id(edges_[i])) available_[edges_[i].from] = 1;
  }
  flags_.sync();
}

/// Keeps, of an isolated dual link, the link to the end that has become available (line 16 of Algorithm 1). Collective over the
/// group.
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

/// State of the iterative pruning that calls reuse: the group of participating ranks and its segment of flags.
struct IterativePruner::Impl {
  explicit Impl(const IterativeOptions& o) : options(o) {}

  IterativeOptions options;
  CrossLinks cross;                   // index of the cross-rank links of the last call
  PruningGroup group;                 // participants of the last call and their flags
  std::vector<std::uint8_t> members;  // by rank, 1: takes part; empty: every rank does
  std::int64_t capacity = 0;          // flags of each kind for which the segment has room, on every rank

  bool prepare_group(const Links& links, const Channels& channels);
  void make_group(const Channels& channels, bool take_part);
  void make_flags(const comm::Graph& graph);
  void clear_flags(std::size_t vertices);
  void send_kept(const Links& links, comm::Mailbox& mailbox, Stars& stars) const;
};

namespace {

// Vertex count of a rank whose links are invalid: the maximum over the ranks then shows it to all.
constexpr std::int64_t kRefused = std::numeric_limits<std::int64_t>::max();

/// Contribution of a rank to the agreement on participants and number of flags of the iterative pruning.
struct Participation {
  std::int64_t vertices;    // number of local vertices; kRefused: its links are invalid
  std::int64_t takes_part;  ///< 1 if the rank has links, else 0
};

/// Gathers the participations of all ranks in the iterative pruning, by rank; where every rank takes part anyway, returns one entry
/// with the maximum. Collective.
std::vector<Participation> gather_entries(comm::Transport& transport, const Participation& mine, bool by_rank) {
  if (!by_rank) return {{transport.all_reduce(mine.vertices, comm::Op::max), 1}};
  return comm::all_gather_value(transport, mine);
}

}  // namespace

/// Clears this rank's flags leaf, available and merged of its first `vertices` vertices. Local.
void IterativePruner::Impl::clear_flags(std::size_t vertices) {
  for (const FlagKind kind : {kLeaf, kAvailable, kMerged}) std::fill_n(group.local(kind).begin(), vertices, 0);
}

/// Validates the links and prepares group and flags, reusing them if members and capacity still fit, and clears the
/// flags. Collective.
/// @return whether this rank takes part
/// @throws InputError on every rank if the links of some rank are invalid
bool IterativePruner::Impl::prepare_group(const Links& links, const Channels& channels) {
  comm::Transport& all = channels.transport;
  const bool by_rank = options.sub_communicator && all.capabilities().sub_transports;
  std::exception_ptr refusal;
  Participation mine{static_cast<std::int64_t>(links.target.size()), 0};
  try {
    require_no_relays(links);
    cross.build(links, channels.mailbox.graph().out.size());
    const auto is_link = [](std::uint32_t t) { return t != kNone; };
    mine.takes_part = !links.in.empty() || std::any_of(links.target.begin(), links.target.end(), is_link);
  } catch (...) {
    refusal = std::current_exception();
    mine.vertices = kRefused;
  }
  const auto entries = gather_entries(all, mine, by_rank);
  std::int64_t most = 1;
  std::vector<std::uint8_t> now;
  for (const Participation& entry : entries) {
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
      group.flags->sync();  // no put may arrive before the target's flags are cleared
    }
    return takes_part;
  }
  if (most > capacity) capacity = most + most / 4;
  members = std::move(now);
  make_group(channels, takes_part);
  return takes_part;
}

/// Makes the group of ranks that take part in the iterative pruning, and its segment of flags over the arcs between them.
/// Collective.
void IterativePruner::Impl::make_group(const Channels& channels, bool take_part) {
  comm::Transport& all = channels.transport;
  const std::vector<int>& neighbours = channels.mailbox.graph().out;
  group.flags.reset();  // before the transport that it was made from
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

/// Makes the segment of the flags of Algorithm 1 (leaf, available, merged) over a process graph. Collective over the group.
void IterativePruner::Impl::make_flags(const comm::Graph& graph) {
  group.words = static_cast<std::size_t>(capacity);
  group.flags.emplace(group.transport->segment<Flag>(graph, kKinds * group.words, options.epoch));
}

/// Sends for each cross-rank link whether it is kept to the owner of its target. One wave over arcs with cross-rank
/// links. In the published program the arrival of the parcels carries this information.
void IterativePruner::Impl::send_kept(const Links& links, comm::Mailbox& mailbox, Stars& stars) const {
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

// Prunes links into stars iteratively (Algorithm 1): sweeps over the flags of vertices, then each target's rank receives whether
// its cross-rank links are kept.
Stars IterativePruner::prune(Links& links, const Ids& ids, const Channels& channels, PruneStatistics* statistics) {
  PruneStatistics counts;
  Stars stars;
  stars.out_kept.assign(links.out.size(), 0);
  for (const std::uint32_t t : links.target)
    if (t < links.target.size()) stars.linked_targets += links.target[t] != kNone;
  bool sound = true;
  if (impl_->prepare_group(links, channels)) {
    Sweeps sweeps(impl_->group, links, ids, counts);
    sweeps.run();
    sound = sweeps.is_sound();
    // Synchronisations as the publication counts them: per round, and two after the rounds.
    counts.syncs = counts.rounds * (channels.transport.capabilities().one_sided ? 3 : 4) + 2;
    for (std::size_t i = 0; i < sweeps.edges().size(); ++i) {
      std::uint32_t& target = links.target[sweeps.edges()[i].from];
      stars.kept += sweeps.is_kept(i);
      if ((target & kAway) != 0) stars.out_kept[target & ~kAway] = sweeps.is_kept(i);
      if (!sweeps.is_kept(i)) target = kNone;
    }
  }
  impl_->send_kept(links, channels.mailbox, stars);
  if (!sound) {
    throw InputError(
        "prune_iterative: a vertex is source and target after the first stage; allowed: links whose only "
        "cycles have two links (cut_long_cycles removes longer ones)");
  }
  if (statistics) *statistics = counts;
  return stars;
}

// Prunes one set of nearest-neighbour links into stars iteratively, without objects to reuse.
Stars prune_iterative(Links& links, const Ids& ids, const Channels& channels, const IterativeOptions& options,
                      PruneStatistics* statistics) {
  IterativePruner pruner(options);
  return pruner.prune(links, ids, channels, statistics);
}

}  // namespace merganser::links
