// Single-pass pruning of links into stars by the closed form (prune.hpp): each vertex is labelled once, each cross-rank
// link carries one label.
#include <algorithm>
#include <string>

#include "merganser/base/aligned_memory.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/simulated.hpp"
#include "merganser/links/prune.hpp"
#include "src/links/cross_links.hpp"
#include "src/links/scan.hpp"

namespace merganser::links {
namespace {

/// State of a vertex in the labelling of the single-pass pruning. A vertex without a link, or in a local dual link, never waits: no
/// other vertex depends on its label.
enum Mark : std::uint8_t { kChildless = 0, kParent = 1, kWaiting = 2 };

/// Packs a cross-rank label of the single-pass pruning as a record of the Stream: the label in bit 0, above it the number of
/// cross-rank labels on which it depends. Along a link the label is 1 if its source is a LEAF, which merges into the target;
/// between the ends of a dual link, 1 if the sender is a CENTRE.
std::uint32_t pack_label(bool label, std::uint32_t depth) { return depth << 1 | static_cast<std::uint32_t>(label); }

/// Returns yes ? a : b, without a branch: links are as good as random to a branch predictor.
std::uint32_t select(bool yes, std::uint32_t a, std::uint32_t b) {
  return b ^ ((a ^ b) & (0U - static_cast<std::uint32_t>(yes)));
}

/// Uninitialised buffer of per-vertex values of the pruning, on huge pages where it is large, which grows and never shrinks; growing
/// discards its contents.
template <class T>
class ScratchBuffer {
 public:
  /// Returns memory for the values of at least n vertices, whose contents are undefined.
  T* grow(std::size_t n) {
    if (n * sizeof(T) > memory_.bytes()) {
      memory_ = RawBuffer();
      memory_ = RawBuffer(n * sizeof(T));
    }
    return reinterpret_cast<T*>(memory_.data());
  }
  /// Frees the memory on simulated ranks, of which all of a process may hold a buffer of the pruning at once; else keeps it.
  void release_simulated() {
    if constexpr (kSimulated) memory_ = RawBuffer();
  }

 private:
  RawBuffer memory_;
};

}  // namespace

/// Single-pass pruning by the closed form (prune.hpp): labels local vertices from the leaves up, and exchanges one
/// label for each cross-rank link. A vertex is labelled as soon as one child is a LEAF, or all are known not to be.
struct SinglePass::Impl {
  ScratchBuffer<std::uint8_t> marks, centres, flags;
  ScratchBuffer<std::uint32_t> lists, pair_list, counters, depths;
  CrossLinks cross;
  std::vector<std::uint8_t> remote_centre;  // per Links::in: 1 if the remote end of a dual link is a CENTRE
  Stars stars;

  // State of one call.
  Links* links = nullptr;
  comm::Stream* stream = nullptr;
  std::uint32_t n = 0;
  std::uint32_t* target = nullptr;
  std::uint8_t* mark = nullptr;      // n + 1 entries; entry n is a sink for branch-free writes
  std::uint8_t* centre = nullptr;    // n + 1 entries: 1 if the vertex has a LEAF child
  std::uint32_t* list = nullptr;     // vertices with a link that are not labelled yet; shrinks from stage to stage
  std::uint32_t* pair = nullptr;     // the lower vertex of each local dual link
  std::uint32_t* pending = nullptr;  // waiting vertices: number of children without a label
  std::uint32_t* depth = nullptr;    // waiting vertices: length of the longest chain of cross-rank labels received
  std::size_t sources = 0;           // entries of `list`: sources of local links, dual ones apart
  std::size_t pairs = 0;             // entries of `pair`: local dual links
  std::size_t waiting = 0;           // vertices that wait for a label
  std::int64_t kept = 0;             // kept links whose source is on this rank
  std::int64_t linked_targets = 0;   // local links whose target had a link before pruning
  std::uint32_t rounds = 0;          // longest chain of cross-rank labels received

  void reset(Links& l, const Channels& channels);
  void release_simulated();
  void scan();
  void send_childless();
  void label_leaves();
  void drop_centres();
  void count_children();
  void resolve(std::uint32_t v);
  void receive();
  void process_label(std::size_t i, std::uint32_t value);
  void send(std::uint32_t k, bool centre_here, std::uint32_t depth_here);
  void resolve_local_duals(const Ids& ids);
  void resolve_cross_duals(const Ids& ids);
  void require_resolved(const Ids& ids) const;
};

/// Sets up the buffers of the single-pass pruning for the links of one call and validates cross-rank links. @throws InputError
/// before anything is sent
void SinglePass::Impl::reset(Links& l, const Channels& channels) {
  links = &l;
  stream = &channels.stream;
  if (l.target.size() >= kAway) {
    throw InputError(std::to_string(l.target.size()) + " vertices on one rank; allowed: below 2147483648");
  }
  n = static_cast<std::uint32_t>(l.target.size());
  target = l.target.data();
  cross.build(l, stream->graph().out.size());
  mark = marks.grow(n + 1);
  centre = centres.grow(n + 1);
  std::fill_n(mark, n + 1, kChildless);
  std::fill_n(centre, n + 1, 0);
  list = lists.grow(n + kListSlack);
  pair = pair_list.grow(n / 2 + kListSlack);
  pending = counters.grow(n);
  depth = l.in.empty() ? nullptr : depths.grow(n);
  remote_centre.assign(l.in.size(), 0);
  stars.in_kept.assign(l.in.size(), 0);
  stars.out_kept.assign(l.out.size(), 0);
  sources = pairs = waiting = 0;
  kept = 0;
  rounds = 0;
}

/// Frees the memory per vertex of the single-pass pruning on simulated ranks, once all links are decided.
void SinglePass::Impl::release_simulated() {
  for (auto* buffer : {&marks, &centres, &flags}) buffer->release_simulated();
  for (auto* buffer : {&lists, &pair_list, &counters, &depths}) buffer->release_simulated();
}

/// Lists the sources of local links, and apart from them the lower end of each local dual link; marks vertices with a
/// child. Separate loops: each is bound by other memory accesses, and a processor looks further ahead in a short one.
/// @throws InputError for a target that is no vertex, or a vertex that links to itself
void SinglePass::Impl::scan() {
  const LocalLinks found = list_local(target, n, list);
  const std::uint32_t* const __restrict to = target;
  const std::uint32_t* const __restrict listed = list;
  std::uint8_t* const __restrict marked = mark;
  std::uint8_t* const __restrict kinds = flags.grow(n);
  std::int64_t linked = 0;
  for (std::size_t i = 0; i < found.local; ++i) {
    const std::uint32_t v = listed[i];
    const std::uint32_t t = to[v];
    const std::uint32_t beyond = to[t];
    const unsigned dual = beyond == v;
    linked += beyond != kNone;
    kinds[i] = static_cast<std::uint8_t>(dual + (dual & (v < t)));  // kKept; dual: kApart at the lower end, else kGone
  }
  linked_targets = linked;
  // Dual links mark their partner too, which does no harm: a vertex in a local dual link never waits, and for it
  // childless and parent make no difference.
  for (std::size_t i = 0; i < found.local; ++i) marked[to[listed[i]]] = kParent;
  const SplitLinks split = split_list(kinds, list, found.local, pair);
  sources = split.kept;
  pairs = split.apart;
  const std::size_t away = n - found.local - found.unlinked;
  const std::size_t loops = found.local - sources - 2 * pairs;
  if (away != links->out.size() || loops != 0) {
    throw InputError("links of " + std::to_string(n) + " vertices: " + std::to_string(away) + " leave the rank where " +
                     std::to_string(links->out.size()) + " are listed, " + std::to_string(loops) +
                     " go from a vertex to itself; allowed: a local vertex, " +
                     "a cross-rank link or none, and no link to oneself");
  }
}

/// Sends the label of cross-rank link k (an index in Links::out) to the rank of its target. Of a link that is not dual the label
/// decides: it is kept if the source is a LEAF. A dual link is decided in resolve_cross_duals(), from the labels of both ends.
void SinglePass::Impl::send(std::uint32_t k, bool centre_here, std::uint32_t depth_here) {
  const CrossLink& link = links->out[k];
  const bool dual = cross.dual_out[k] != kNone;
  stream->send(link.arc, link.slot, pack_label(dual ? centre_here : !centre_here, depth_here + 1));
  if (dual) return;
  stars.out_kept[k] = !centre_here;
  kept += !centre_here;
  if (centre_here) target[link.vertex] = kNone;
}

/// Marks the targets of arriving links, then sends the labels of childless vertices, which are LEAFs and depend on no
/// other label.
void SinglePass::Impl::send_childless() {
  for (std::size_t i = 0; i < links->in.size(); ++i) {
    if (cross.dual_in[i] == kNone) mark[links->in[i].vertex] = kParent;
  }
  for (std::uint32_t k = 0; k < links->out.size(); ++k) {
    if (mark[links->out[k].vertex] == kChildless) send(k, false, 0);
  }
}

/// Labels sources without a child as LEAF, and their targets as CENTRE. The other sources stay listed.
void SinglePass::Impl::label_leaves() {
  const std::uint32_t* const __restrict to = target;
  const std::uint8_t* const __restrict marked = mark;
  std::uint8_t* const __restrict is_centre = centre;
  std::uint32_t* const __restrict listed = list;
  // Branch-free: sources with a child write to the sink entry n instead of their target.
  const std::uint32_t nowhere = n;
  const std::size_t count = sources;
  std::size_t parents = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t v = listed[i];
    const bool childless = marked[v] == kChildless;
    is_centre[select(childless, to[v], nowhere)] = 1;
    listed[parents] = v;
    parents += !childless;
  }
  kept += static_cast<std::int64_t>(count - parents);
  sources = parents;
}

/// Drops the links of sources with a LEAF child, which are CENTREs. The others stay listed and wait for a label.
void SinglePass::Impl::drop_centres() {
  std::uint32_t* const __restrict to = target;
  const std::uint8_t* const __restrict is_centre = centre;
  std::uint32_t* const __restrict listed = list;
  const std::size_t count = sources;
  std::size_t left = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t v = listed[i];
    // A centre drops its own link; its label is known, so it does not wait.
    const bool dropped = is_centre[v];
    listed[left] = v;
    left += !dropped;
    to[v] = select(dropped, kNone, to[v]);
  }
  waiting = left;
  for (std::uint32_t k = 0; k < links->out.size(); ++k) {
    const std::uint32_t v = links->out[k].vertex;
    if (mark[v] == kChildless) continue;
    if (centre[v]) {
      send(k, true, 0);
    } else {
      list[waiting++] = v;
    }
  }
}

/// Counts the children of waiting vertices, and labels those that depend on local labels only. A child that is already
/// labelled is not listed, so it is not counted.
void SinglePass::Impl::count_children() {
  const std::size_t listed = waiting;
  for (std::size_t i = 0; i < listed; ++i) {
    const std::uint32_t v = list[i];
    mark[v] = kWaiting;
    pending[v] = 0;
    if (target[v] < n) pending[target[v]] = 0;  // written below also for targets that do not wait
    if (depth) depth[v] = 0;
  }
  for (const CrossLink& link : links->in) pending[link.vertex] = 0;
  for (std::size_t i = 0; i < listed; ++i) {
    const std::uint32_t t = target[list[i]];
    if (t < n) ++pending[t];
  }
  for (std::size_t i = 0; i < links->in.size(); ++i) {
    if (cross.dual_in[i] == kNone) ++pending[links->in[i].vertex];
  }
  for (std::size_t i = 0; i < listed; ++i) {
    const std::uint32_t v = list[i];
    if (mark[v] == kWaiting && pending[v] == 0) resolve(v);
  }
}

/// Labels a waiting vertex, then its target if that was the last label it needed, and so on towards the root.
/// Iterative, since chains may be as long as there are vertices.
void SinglePass::Impl::resolve(std::uint32_t v) {
  for (;;) {
    mark[v] = kParent;
    --waiting;
    const std::uint32_t t = target[v];
    const bool leaf = !centre[v];
    const std::uint32_t chain = depth ? depth[v] : 0;
    if (t >= n) return send(t & ~kAway, !leaf, chain);
    if (leaf) {
      centre[t] = 1;
      ++kept;
    } else {
      target[v] = kNone;
    }
    if (mark[t] != kWaiting) return;
    // A LEAF child decides alone: only its chain counts. Else the target depends on all children, hence on the longest
    // chain.
    if (depth) depth[t] = leaf ? chain : std::max(depth[t], chain);
    if (!leaf && --pending[t] != 0) return;
    v = t;
  }
}

/// Processes the received label of arriving link i (an index in Links::in): stores the label, and labels the link's target if that
/// was the last label for which the target waited.
void SinglePass::Impl::process_label(std::size_t i, std::uint32_t value) {
  const bool label = value & 1;
  const std::uint32_t chain = value >> 1;
  rounds = std::max(rounds, chain);
  if (cross.dual_in[i] != kNone) {
    remote_centre[i] = label;
    return;
  }
  const std::uint32_t v = links->in[i].vertex;
  stars.in_kept[i] = label;
  if (label) centre[v] = 1;
  if (mark[v] != kWaiting) return;
  depth[v] = label ? chain : std::max(depth[v], chain);
  if (label || --pending[v] == 0) resolve(v);
}

/// Receives the labels of arriving links until all expected ones have arrived, and forwards those of relays. On an in-arc links
/// have the first slots and relays those above, so the slot determines which it is.
void SinglePass::Impl::receive() {
  const auto take = [this](std::size_t arc, std::size_t slot, std::uint32_t value) {
    if (slot < cross.links_in[arc]) return process_label(cross.first_in[arc] + slot, value);
    const Relay& relay = links->relays[cross.first_relay[arc] + slot - cross.links_in[arc]];
    stream->send(relay.arc_out, relay.slot_out, value);
  };
  while (stream->take(take) != 0) stream->wait();
}

/// Checks that the single-pass pruning has labelled every vertex of this rank. @throws InputError if a vertex still waits for a
/// label: the vertex lies on, or behind, a cycle of three or more links
void SinglePass::Impl::require_resolved(const Ids& ids) const {
  if (waiting == 0) return;
  for (std::uint32_t v = 0; v < n; ++v) {
    if (mark[v] != kWaiting) continue;
    throw InputError("a cycle of three or more links goes through global id " + std::to_string(ids[v]) +
                     "; allowed: cycles of two links (cut_long_cycles removes longer ones)");
  }
}

/// Decides the dual links within this rank: a CENTRE drops its link; if neither end is one, the lower global id does.
void SinglePass::Impl::resolve_local_duals(const Ids& ids) {
  std::uint32_t* const __restrict to = target;
  const std::uint32_t* const __restrict lower = pair;
  const std::uint8_t* const __restrict is_centre = centre;
  std::uint32_t* const __restrict isolated = lists.grow(n + kListSlack);
  std::uint8_t* const __restrict lower_stays = flags.grow(n);
  const std::size_t both = pairs;
  std::size_t count = 0;
  std::size_t cut = 0;
  for (std::size_t i = 0; i < both; ++i) {
    const std::uint32_t a = lower[i];
    const std::uint32_t b = to[a];
    // a and b are the ends of a local dual link; an end that a leaf merges into is a centre.
    const bool a_takes = is_centre[a];
    const bool b_takes = is_centre[b];
    isolated[count] = a;
    count += !a_takes & !b_takes;
    cut += a_takes & b_takes;
    to[a] = select(a_takes, kNone, b);
    to[b] = select(b_takes, kNone, a);
  }
  for (std::size_t i = 0; i < count; ++i) lower_stays[i] = ids[isolated[i]] < ids[to[isolated[i]]];
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t a = isolated[i];
    to[select(lower_stays[i], a, to[a])] = kNone;
  }
  kept += static_cast<std::int64_t>(both - cut);
}

/// Decides the dual links between ranks by the same rule as local ones. Both ends evaluate it on the same two labels
/// and ids, so they agree without a further message.
void SinglePass::Impl::resolve_cross_duals(const Ids& ids) {
  for (std::uint32_t k = 0; k < links->out.size(); ++k) {
    const std::uint32_t i = cross.dual_out[k];
    if (i == kNone) continue;
    const CrossLink& link = links->out[k];
    const bool here = centre[link.vertex];
    const bool there = remote_centre[i];
    const std::int64_t id = here || there ? 0 : ids[link.vertex];
    const bool leaves = here || there ? !here : id > link.remote_id;
    const bool arrives = here || there ? !there : id < link.remote_id;
    stars.out_kept[k] = leaves;
    stars.in_kept[i] = arrives;
    kept += leaves;
    if (!leaves) target[link.vertex] = kNone;
  }
}

SinglePass::SinglePass() : impl_(std::make_unique<Impl>()) {}
SinglePass::~SinglePass() = default;
SinglePass::SinglePass(SinglePass&&) noexcept = default;
SinglePass& SinglePass::operator=(SinglePass&&) noexcept = default;

// Prunes links into stars in a single pass, in the order of the labels' dependencies: childless vertices, leaves, centres, then
// chains of waiting vertices, then dual links.
const Stars& SinglePass::prune(Links& links, const Ids& ids, const Channels& channels, PruneStatistics* statistics) {
  Impl& p = *impl_;
  p.reset(links, channels);
  const bool alone = links.in.empty() && links.out.empty() && links.relays.empty();
  p.scan();
  if (!alone) {
    channels.stream.open(p.cross.count_out, p.cross.count_in);
    p.send_childless();
  }
  p.label_leaves();
  p.drop_centres();
  p.count_children();
  p.lists.release_simulated();
  p.flags.release_simulated();
  if (!alone) {
    p.receive();
    channels.stream.finish();
  }
  p.require_resolved(ids);
  p.resolve_local_duals(ids);
  p.resolve_cross_duals(ids);
  p.release_simulated();
  p.stars.kept = p.kept;
  p.stars.linked_targets = p.linked_targets;
  if (statistics) {
    *statistics = {};
    statistics->rounds = p.rounds;
    statistics->words_written = static_cast<std::int64_t>(links.out.size());
  }
  return p.stars;
}

// Prunes one set of nearest-neighbour links into stars in a single pass, without buffers to reuse.
Stars prune_single_pass(Links& links, const Ids& ids, const Channels& channels, PruneStatistics* statistics) {
  SinglePass pass;
  return pass.prune(links, ids, channels, statistics);
}

}  // namespace merganser::links
