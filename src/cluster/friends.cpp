// Search of friends of friends over all ranks (friends.hpp): ghosts, local search, then rounds in which connected parts of
// groups agree on the lowest id: each part takes the least label of its neighbours, hooks its root to it, and shortens
// its way to the root by pointer doubling.
#include "src/cluster/friends.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <tuple>

#include "merganser/base/simulated.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/comm/questions.hpp"
#include "src/cluster/star_core.hpp"

namespace merganser::cluster {
namespace {

constexpr FriendPeriods kNoPeriods{0, 0, 0};

/// Returns a + sign * b.
FriendPeriods add_periods(const FriendPeriods& a, const FriendPeriods& b, int sign = 1) {
  return {a[0] + sign * b[0], a[1] + sign * b[1], a[2] + sign * b[2]};
}

/// Returns whether a label is of a lower id than another one.
bool is_lower(const FriendLabel& a, const FriendLabel& b) {
  return std::tie(a.id, a.rank, a.vertex) < std::tie(b.id, b.rank, b.vertex);
}

/// Returns a label seen from a part that is k periods from where it was.
FriendLabel moved(FriendLabel label, const FriendPeriods& k, int sign) {
  label.k = add_periods(label.k, k, sign);
  return label;
}

/// Sorts edges and drops those that are there twice.
void sort_unique(std::vector<FriendEdge>& edges) {
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
}

/// Returns a linking length with a margin for rounding, by which ghosts are chosen: a few more do not matter.
double ghost_reach(const Box& box, double length) {
  double extent = 0;
  for (std::size_t a = 0; a < 3; ++a) extent += std::fabs(box.lower[a]) + box.extent[a];
  return length * (1 + 1e-9) + 1e-11 * extent;
}

}  // namespace

// Finds the groups in three steps: receives ghosts from the ranks within the linking length, connects friends among points and
// ghosts, then names the groups over all ranks. Collective.
void FriendSearch::find(const FriendPoints& input, double length, FriendNumbers& numbers) {
  input_ = input;
  size_ = static_cast<std::uint32_t>(input.points.size);
  parts_.clear();
  edges_.clear();
  face_edges_.clear();
  table_ = IdTable();
  Laps laps;
  connect_neighbours(length);
  send_ghosts(length, input.same.size());
  laps.add_to(numbers.exchange_seconds);
  part_.resize(size_ + ghosts_.size());
  if (input.same.empty()) {
    find_friends(box(), length, input_.points, {}, ghosts_, workspace_, part_.data(), face_edges_);
  } else {
    find_local_by_groups(length);
  }
  name_parts();
  spend(Work::search, part_.size());
  laps.add_to(numbers.local_seconds);
  list_edges();
  agree_on_labels(numbers);
  laps.add_to(numbers.exchange_seconds);
  numbers.length = length;
  numbers.points = size_;
  numbers.ghosts = static_cast<std::int64_t>(ghosts_.size());
  numbers.parts = static_cast<std::int64_t>(parts_.size());
}

/// Makes the mailbox to the ranks whose blocks are within the linking length, unless there is one. Collective.
void FriendSearch::connect_neighbours(double length) {
  if (mailbox_ && length == reach_) return;
  std::vector<int> near = decomposition_.within(transport_.rank(), ghost_reach(box(), length));
  if (mailbox_ == nullptr || transport_.all_reduce(near != mailbox_->graph().out, comm::Op::max) != 0)
    mailbox_ = transport_.mailbox(comm::Graph::symmetric(std::move(near)));
  reach_ = length;
}

/// Sends points near the blocks of neighbours as ghosts, with their columns `same`, and receives theirs: one wave.
void FriendSearch::send_ghosts(double length, std::size_t same) {
  post_ghosts(length);
  mailbox_->step();
  const std::size_t arcs = mailbox_->graph().in.size();
  const std::size_t bytes = sizeof(Vec3) + same * sizeof(double);
  ghosts_.clear();
  ghost_same_.clear();
  first_ghost_.assign(1, 0);
  for (std::size_t arc = 0; arc < arcs; ++arc) {
    const auto message = mailbox_->inbox(arc);
    for (std::size_t at = 0; at + bytes <= message.size(); at += bytes) {
      Vec3 p;
      std::memcpy(&p, message.data() + at, sizeof p);
      ghosts_.push_back({p[0], p[1], p[2], size_ + static_cast<std::uint32_t>(ghosts_.size())});
      const std::size_t filled = ghost_same_.size();
      ghost_same_.resize(filled + same);
      if (same > 0) std::memcpy(&ghost_same_[filled], message.data() + at + sizeof p, same * sizeof(double));
    }
    first_ghost_.push_back(ghosts_.size());
  }
}

/// Posts this rank's points that are within the linking length of a neighbour's block to that neighbour.
void FriendSearch::post_ghosts(double length) {
  const std::vector<int>& ranks = mailbox_->graph().out;
  sent_.assign(ranks.size(), {});
  if (ranks.empty()) return;
  const double reach = ghost_reach(box(), length);
  const double reach2 = reach * reach;
  const auto block = decomposition_.block(transport_.rank());
  const auto walls = decomposition_.walls(transport_.rank());
  // Faces beyond which no other rank is: walls, and those of a periodic axis that is not divided.
  Vec3 lower;
  Vec3 upper;
  for (std::size_t a = 0; a < 3; ++a) {
    const bool whole = block.upper[a] - block.lower[a] >= box().extent[a] * (1 - 1e-12);
    lower[a] = walls[a][0] || whole ? -HUGE_VAL : block.lower[a] + reach;
    upper[a] = walls[a][1] || whole ? HUGE_VAL : block.upper[a] - reach;
  }
  for (std::uint32_t v = 0; v < size_; ++v) {
    const Vec3 p = position(v);
    if (p[0] > lower[0] && p[0] < upper[0] && p[1] > lower[1] && p[1] < upper[1] && p[2] > lower[2] && p[2] < upper[2])
      continue;
    for (std::size_t arc = 0; arc < ranks.size(); ++arc) {
      if (decomposition_.distance2_to_block(p, ranks[arc]) > reach2) continue;
      sent_[arc].push_back(v);
      mailbox_->post(arc, p);
      for (const ConstColumn& c : input_.same) mailbox_->post(arc, c[v]);
    }
  }
}

/// Finds the friends on this rank among the points and ghosts of each combination of equal columns.
void FriendSearch::find_local_by_groups(double length) {
  struct Members {
    std::vector<std::uint32_t> points;
    std::vector<FriendSpot> ghosts;
  };
  std::map<std::vector<double>, Members> groups;
  const std::size_t width = input_.same.size();
  std::vector<double> key(width);
  for (std::uint32_t v = 0; v < size_; ++v) {
    for (std::size_t c = 0; c < width; ++c) key[c] = input_.same[c][v];
    groups[key].points.push_back(v);
  }
  for (std::size_t g = 0; g < ghosts_.size(); ++g) {
    key.assign(ghost_same_.begin() + static_cast<std::ptrdiff_t>(g * width),
               ghost_same_.begin() + static_cast<std::ptrdiff_t>((g + 1) * width));
    groups[key].ghosts.push_back(ghosts_[g]);
  }
  for (std::size_t g = 0; g < ghosts_.size(); ++g) part_[size_ + g] = ghosts_[g].point;
  for (const auto& [values, members] : groups)
    if (!members.points.empty())
      find_friends(box(), length, input_.points, members.points, members.ghosts, workspace_, part_.data(), face_edges_);
}

/// Names each connected set of this rank by its point of lowest id; sets of ghosts alone belong to other ranks.
void FriendSearch::name_parts() {
  FriendVector<std::uint32_t>& lowest = workspace_.keys;
  lowest.assign(part_.size(), links::kNone);
  for (std::uint32_t v = 0; v < size_; ++v) {
    std::uint32_t& low = lowest[part_[v]];
    if (low == links::kNone || input_.ids[v] < input_.ids[low]) low = v;
  }
  for (std::uint32_t& set : part_) set = lowest[set];
}

/// Returns the index in parts_ of the part of this vertex; a new one gets the label of its own id.
std::uint32_t FriendSearch::add_part(std::uint32_t vertex) {
  const std::uint32_t at = table_.insert(vertex);
  if (at == parts_.size()) {
    FriendPart part;
    part.vertex = vertex;
    part.label = {input_.ids[vertex], transport_.rank(), vertex, kNoPeriods, 0};
    parts_.push_back(part);
  }
  return at;
}

/// Returns the part of this vertex, which has edges. @throws CommError if there is none, which another rank claims
FriendPart& FriendSearch::part_at(std::uint32_t vertex) {
  const std::uint32_t at = table_.find(vertex);
  if (at == IdTable::kNone)
    throw CommError("a label names vertex " + std::to_string(vertex) + " of rank " + std::to_string(transport_.rank()) +
                    ", which has no edges to other parts");
  return parts_[at];
}

/// Lists the edges between parts: within this rank across periodic faces, and to those of neighbours that share ghosts.
void FriendSearch::list_edges() {
  std::vector<FriendEdge> to_ghosts;  // of a part and a ghost that is in no part of this rank
  std::size_t kept = 0;
  for (const FriendEdge& e : face_edges_) {
    const std::uint32_t a = part_[e.a];
    const std::uint32_t b = part_[e.b];
    if (a != links::kNone && b != links::kNone) face_edges_[kept++] = {a, b, e.k};
    if (a != links::kNone && b == links::kNone) to_ghosts.push_back({a, e.b - size_, e.k});
    if (a == links::kNone && b != links::kNone) to_ghosts.push_back({b, e.a - size_, add_periods(kNoPeriods, e.k, -1)});
  }
  face_edges_.resize(kept);
  sort_unique(face_edges_);
  for (const FriendEdge& e : face_edges_) {
    edges_.push_back({-1, e.b, add_part(e.a), e.k});
    edges_.push_back({-1, e.a, add_part(e.b), add_periods(kNoPeriods, e.k, -1)});
  }
  list_neighbour_edges(to_ghosts);
  std::sort(edges_.begin(), edges_.end(), [](const Edge& a, const Edge& b) {
    return std::tie(a.arc, a.other, a.part, a.k) < std::tie(b.arc, b.other, b.part, b.k);
  });
}

/// Lists the edges to parts of neighbours: two waves over the arcs. A point that is a ghost elsewhere is in a part there
/// and in one here; both ends must know, so each tells the other.
/// @param to_ghosts  edges of a part of this rank and a ghost, across a periodic face
void FriendSearch::list_neighbour_edges(const std::vector<FriendEdge>& to_ghosts) {
  const std::size_t arcs = mailbox_->graph().out.size();
  if (arcs == 0) return;
  for (std::size_t arc = 0; arc < arcs; ++arc)
    for (const std::uint32_t v : sent_[arc]) mailbox_->post(arc, part_[v]);
  mailbox_->step();
  std::vector<std::uint32_t> theirs;  // by ghost: its part on its rank
  for (std::size_t arc = 0; arc < arcs; ++arc) {
    const auto named = mailbox_->records<std::uint32_t>(arc);
    if (named.size() != first_ghost_[arc + 1] - first_ghost_[arc])
      throw CommError("rank " + std::to_string(mailbox_->graph().in[arc]) + " named " + std::to_string(named.size()) +
                      " parts of " + std::to_string(first_ghost_[arc + 1] - first_ghost_[arc]) + " ghosts");
    theirs.insert(theirs.end(), named.begin(), named.end());
  }
  std::vector<std::vector<FriendEdge>> pairs(arcs);  // a: part of this rank; b: of the neighbour
  for (std::size_t arc = 0; arc < arcs; ++arc)
    for (std::size_t g = first_ghost_[arc]; g < first_ghost_[arc + 1]; ++g)
      if (part_[size_ + g] != links::kNone) pairs[arc].push_back({part_[size_ + g], theirs[g], kNoPeriods});
  for (const FriendEdge& e : to_ghosts) {
    const auto after = std::upper_bound(first_ghost_.begin(), first_ghost_.end(), std::size_t{e.b});
    pairs[static_cast<std::size_t>(after - first_ghost_.begin()) - 1].push_back({e.a, theirs[e.b], e.k});
  }
  for (std::size_t arc = 0; arc < arcs; ++arc) {
    sort_unique(pairs[arc]);
    mailbox_->post_all(arc, std::span<const FriendEdge>(pairs[arc]));
  }
  mailbox_->step();
  for (std::size_t arc = 0; arc < arcs; ++arc) {
    for (const FriendEdge& e : mailbox_->records<FriendEdge>(arc))
      pairs[arc].push_back({e.b, e.a, add_periods(kNoPeriods, e.k, -1)});
    sort_unique(pairs[arc]);
    for (const FriendEdge& e : pairs[arc]) edges_.push_back({static_cast<std::int32_t>(arc), e.b, add_part(e.a), e.k});
  }
}

/// Makes rounds until every part has the label of its group, then finds the groups that wind round the box. Collective.
void FriendSearch::agree_on_labels(FriendNumbers& numbers) {
  if (transport_.all_reduce(!parts_.empty(), comm::Op::max) == 0) return;
  do ++numbers.rounds;
  while (transport_.all_reduce(make_round(), comm::Op::max) != 0);
  mark_winding();
  ask_roots();
}

/// Makes one round of labels: neighbours' labels, hooks, pointer doubling. Collective. @return whether a label changed
bool FriendSearch::make_round() {
  exchange_labels();
  const bool hooked = hook();
  return shorten() || hooked;
}

/// Sends labels that have changed along edges to neighbours, and stores theirs in the edges: one wave.
void FriendSearch::exchange_labels() {
  struct Told {
    FriendLabel label;
    std::uint32_t vertex;
    std::uint32_t unused;
  };
  std::vector<std::vector<std::uint32_t>> dirty(mailbox_->graph().out.size());
  for (const Edge& e : edges_)
    if (e.arc >= 0 && parts_[e.part].is_dirty) dirty[static_cast<std::size_t>(e.arc)].push_back(e.part);
  for (std::size_t arc = 0; arc < dirty.size(); ++arc) {
    auto& list = dirty[arc];
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    for (const std::uint32_t part : list) mailbox_->post(arc, Told{parts_[part].label, parts_[part].vertex, 0});
  }
  for (FriendPart& part : parts_) part.is_dirty = false;
  if (dirty.empty()) return;
  mailbox_->step();
  for (std::size_t arc = 0; arc < dirty.size(); ++arc)
    for (const Told& told : mailbox_->records<Told>(arc)) {
      const auto at = std::pair(static_cast<std::int32_t>(arc), told.vertex);
      auto e = std::lower_bound(edges_.begin(), edges_.end(), at,
                                [](const Edge& x, const auto& y) { return std::pair(x.arc, x.other) < y; });
      for (; e != edges_.end() && std::pair(e->arc, e->other) == at; ++e) {
        e->label = told.label;
        e->is_known = true;
      }
    }
}

/// Gives each part the least label of its neighbours, and sends that to the root it had, which takes the least of all.
/// Collective: one exchange. @return whether a label of this rank changed
bool FriendSearch::hook() {
  std::vector<Request> requests;
  for (const Edge& e : edges_) {
    if (e.arc >= 0 && !e.is_known) continue;
    FriendPart& part = parts_[e.part];
    const FriendLabel label = moved(e.arc < 0 ? part_at(e.other).label : e.label, e.k, -1);
    if (!is_lower(label, part.label)) continue;
    requests.push_back({part.label.rank, part.label.vertex, moved(label, part.label.k, -1)});
    part.label = label;
    part.is_dirty = true;
  }
  bool changed = !requests.empty();
  for (const auto theirs :
       comm::send_to_owners(transport_, std::span<const Request>(requests), [](const Request& r) { return r.rank; }))
    for (const Request& r : theirs) {
      FriendPart& root = part_at(r.vertex);
      if (!is_lower(r.label, root.label)) continue;
      root.label = r.label;
      root.is_dirty = changed = true;
    }
  return changed;
}

/// Replaces the label of each part by that of the part it names: pointer doubling. Collective: two exchanges.
/// @return whether a label of this rank changed
bool FriendSearch::shorten() {
  std::vector<PartName> questions;
  std::vector<std::uint32_t> asked;
  for (std::uint32_t i = 0; i < parts_.size(); ++i) {
    if (is_root(parts_[i])) continue;
    questions.push_back({parts_[i].label.rank, parts_[i].label.vertex});
    asked.push_back(i);
  }
  const auto labels = comm::query_owners(
      transport_, std::span<const PartName>(questions), [](const PartName& q) { return q.rank; },
      [&](const PartName& q) { return part_at(q.vertex).label; });
  bool changed = false;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    FriendPart& part = parts_[asked[i]];
    if (!is_lower(labels[i], part.label)) continue;
    part.label = moved(labels[i], part.label.k, 1);
    part.is_dirty = changed = true;
  }
  return changed;
}

/// Marks the roots of groups that wind round the box: those with an edge whose ends differ in periods. Collective.
void FriendSearch::mark_winding() {
  std::vector<PartName> marks;
  for (const Edge& e : edges_) {
    const FriendLabel& label = parts_[e.part].label;
    const FriendLabel& other = e.arc < 0 ? part_at(e.other).label : e.label;
    if (add_periods(label.k, e.k) != other.k) marks.push_back({label.rank, label.vertex});
  }
  const auto name = [](const PartName& p) { return std::pair(p.rank, p.vertex); };
  std::sort(marks.begin(), marks.end(), [&](const auto& a, const auto& b) { return name(a) < name(b); });
  marks.erase(std::unique(marks.begin(), marks.end(), [&](const auto& a, const auto& b) { return name(a) == name(b); }),
              marks.end());
  for (const auto theirs :
       comm::send_to_owners(transport_, std::span<const PartName>(marks), [](const PartName& p) { return p.rank; }))
    for (const PartName& p : theirs) part_at(p.vertex).winds = true;
}

/// Gets the position of the centre and whether the group winds from the root of each part. Collective: two exchanges.
void FriendSearch::ask_roots() {
  std::vector<PartName> questions;
  for (const FriendPart& part : parts_) questions.push_back({part.label.rank, part.label.vertex});
  const auto states = comm::query_owners(
      transport_, std::span<const PartName>(questions), [](const PartName& q) { return q.rank; },
      [&](const PartName& q) {
        return State{position(q.vertex), part_at(q.vertex).winds ? 1 : 0};
      });
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    parts_[i].centre = states[i].centre;
    parts_[i].winds = states[i].winds != 0;
  }
}

}  // namespace merganser::cluster
