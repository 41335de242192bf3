// Tree of boxes that finds the edges of equal weight between the parts of single-linkage clusters, for Prim's order.
#include "src/msf/linkage/equal_edges.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>

#include "merganser/base/parallel.hpp"

namespace merganser::msf {

// Search for alternatives of equal weight to the edges of a spanning tree, with a tree of boxes over the points.
EqualEdges::EqualEdges(const GatheredPoints& points, const std::function<std::vector<GrownEdge>()>& grow,
                       std::uint64_t most)
    : points_(points),
      axes_(points.sites->axes()),
      most_(most),
      lists_(points.neighbours != nullptr ? points.neighbours
                                          : std::make_shared<const euclidean::CoreNeighbours>(
                                                *points.sites, points.core_distances, points.min_samples)),
      clusters_({}),
      id_at_(points.sites->size()),
      place_(points.sites->size()),
      rank_(points.sites->size(), kNone),
      done_((points.sites->size() + kLeaf - 1) / kLeaf),
      unvisited_(points.sites->size()) {
  // The boxes are those of the points alone, so that both can be made at once.
  const int team = points.threads > 1 && place_.size() >= kMinThreadItems ? 2 : 1;
  std::vector<GrownEdge> grown;
  std::vector<std::uint32_t> order;
  in_parallel(team, [&](int t) {
    if (t == 0) grown = grow();
    if (t == team - 1) order = build();
  });
  clusters_ = NestedClusters(grown);
  // Until the boxes have their ranges, place_ is by id.
  for (std::size_t i = 0; i < grown.size(); ++i) {
    id_at_[i + 1] = grown[i].to;
    place_[grown[i].to] = static_cast<std::uint32_t>(i + 1);
  }
  set_ranges(order);
  const std::size_t room = (order.size() + kLeaf - 1) / kLeaf * kLeaf;
  data_.resize(room * axes_);
  position_.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t a = 0; a < axes_; ++a) data_[(i / 8 * axes_ + a) * 8 + i % 8] = points_.sites->at(order[i])[a];
    position_[order[i]] = static_cast<std::uint32_t>(i);
    order[i] = place_[order[i]];
  }
  place_ = std::move(order);
  pairs_ = points_.sites->pair_points(data_.data());
}

// Construction of the tree of boxes over all points on rank 0, for the search for edges of equal weight.
std::vector<std::uint32_t> EqualEdges::build() {
  struct PointRange {
    std::uint32_t begin;
    std::uint32_t end;
    std::uint32_t parent;
    bool second;
  };
  std::vector<std::uint32_t> order(place_.size());
  std::iota(order.begin(), order.end(), 0U);
  // All leaves but the last have kLeaf points, so their number is known, and memory is taken once.
  const std::size_t leaves = std::max<std::size_t>((order.size() + kLeaf - 1) / kLeaf, 1);
  nodes_.reserve(2 * leaves - 1);
  leaf_.reserve(leaves);
  bounds_.reserve((2 * leaves - 1) * 2 * axes_);
  // Depth first with a stack; the first child is pushed last, so that it becomes the next node.
  std::vector<PointRange> waiting{{0, static_cast<std::uint32_t>(order.size()), 0, false}};
  while (!waiting.empty()) {
    const PointRange part = waiting.back();
    waiting.pop_back();
    const std::uint32_t node = add_node(order, part.begin, part.end, part.parent);
    if (part.second) nodes_[part.parent].right = node;
    if (part.end - part.begin <= kLeaf) {
      leaf_.push_back(node);
      continue;
    }
    const std::size_t axis = widest(node);
    // Leaves begin at multiples of kLeaf, so that a leaf is one group of pair_distances().
    const std::uint32_t middle = part.begin + std::max(kLeaf, (part.end - part.begin) / 2 / kLeaf * kLeaf);
    const auto less = [&](std::uint32_t a, std::uint32_t b) {
      const double x = points_.sites->at(a)[axis];
      const double y = points_.sites->at(b)[axis];
      return x != y ? x < y : a < b;  // Prim's algorithm adds the points of one place in this order
    };
    std::nth_element(order.begin() + part.begin, order.begin() + middle, order.begin() + part.end, less);
    waiting.push_back({middle, part.end, node, true});
    waiting.push_back({part.begin, middle, node, false});
  }
  return order;
}

// Box of a range of points.
std::uint32_t EqualEdges::add_node(const std::vector<std::uint32_t>& order, std::uint32_t begin, std::uint32_t end,
                                   std::uint32_t parent) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  const auto number = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back({begin, end, 0, parent, end - begin, ~std::uint32_t{0}, 0, kInfinite});
  bounds_.insert(bounds_.end(), axes_, kInfinite);
  bounds_.insert(bounds_.end(), axes_, -kInfinite);
  double* const lower = bounds_.data() + number * 2 * axes_;
  double* const upper = lower + axes_;
  for (std::uint32_t i = begin; i < end; ++i) {
    const double* const at = points_.sites->at(order[i]);
    for (std::size_t a = 0; a < axes_; ++a) {
      lower[a] = std::min(lower[a], at[a]);
      upper[a] = std::max(upper[a], at[a]);
    }
  }
  return number;
}

// Parents come before their children, so that those are complete when they are taken into their parent.
void EqualEdges::set_ranges(const std::vector<std::uint32_t>& order) {
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    Node& node = nodes_[i];
    const auto add = [&](std::uint32_t first, std::uint32_t last, double core) {
      node.first_place = std::min(node.first_place, first);
      node.last_place = std::max(node.last_place, last);
      node.least_core = std::min(node.least_core, core);
    };
    if (node.right != 0) {
      for (const Node& child : {nodes_[i + 1], nodes_[node.right]})
        add(child.first_place, child.last_place, child.least_core);
    } else {
      for (std::uint32_t p = node.begin; p < node.end; ++p)
        add(place_[order[p]], place_[order[p]], core_distance(order[p]));
    }
  }
}

std::size_t EqualEdges::widest(std::uint32_t node) const {
  const double* const lower = bounds(node);
  std::size_t axis = 0;
  for (std::size_t a = 1; a < axes_; ++a)
    if (lower[axes_ + a] - lower[a] > lower[axes_ + axis] - lower[axis]) axis = a;
  return axis;
}

// Boxes without unvisited points are skipped by the search, so each box on the way to the root counts them.
void EqualEdges::mark_done(std::uint32_t position) {
  if (is_done(position)) return;
  done_[position / kLeaf] |= 1U << position % kLeaf;
  // The root is its own parent.
  for (std::uint32_t node = leaf_[position / kLeaf];; node = nodes_[node].parent) {
    --nodes_[node].open;
    if (node == 0) return;
  }
}

// The side of a merge with fewer points searches. Settled points have their edges already.
bool EqualEdges::choose_members(const Places& part, const Places& all, const NestedClusters::Cluster& cluster) {
  members_.clear();
  const bool from = part.end - part.begin <= all.end - all.begin - cluster.visited;
  if (from) {
    for (std::uint32_t p = part.begin; p < part.end; ++p) members_.push_back(position_[id_at_[p]]);
  } else {
    for (std::uint32_t p = next_unvisited(all.begin); p < all.end; p = next_unvisited(p + 1))
      if (const std::uint32_t to = position_[id_at_[p]]; !is_done(to)) members_.push_back(to);
  }
  std::sort(members_.begin(), members_.end());
  return from;
}

// Search from the smaller side of a merge.
void EqualEdges::join(const Places& part, const Places& all, const NestedClusters::Cluster& cluster) {
  found_.clear();
  const bool from = choose_members(part, all, cluster);
  collect_listed_edges(from, from ? all : part, cluster.height);
  if (!members_.empty()) {
    group_members();
    begin_near_members();
    if (from) {
      search<true>(all, cluster.height);
    } else {
      search<false>(part, cluster.height);
    }
  }
  keep_first();
  if (gave_up()) found_.clear();
}

// Edges of mutual reachability distance that weigh the core distance of one end are those to the points within it.
void EqualEdges::collect_listed_edges(bool from_done, const Places& among, double height) {
  const auto& sites = *points_.sites;
  std::size_t kept = 0;
  for (const std::uint32_t member : members_) {
    const std::uint32_t v = id(member);
    const auto list = core_distance(v) == height ? lists_->of(v) : std::span<const std::uint32_t>();
    if (list.empty()) {
      members_[kept++] = member;
      continue;
    }
    steps_ += list.size();
    for (const std::uint32_t at : list) {
      const std::uint32_t u = lists_->ids()[at];
      const std::uint32_t other = position_[u];
      if (is_done(other) == from_done || place_[other] < among.begin || place_[other] >= among.end) continue;
      // The lists may be of other points than the tree: then the edge may be heavier, and the caller refuses the tree.
      if (sites.weight(sites.compared(sites.at(v), sites.at(u))) > height) continue;
      found_.push_back(from_done ? Found{height, member, other} : Found{height, other, member});
    }
  }
  members_.resize(kept);
}

// One edge to each point, in the order of points.
void EqualEdges::keep_first() {
  if (found_.size() < 2) return;
  std::sort(found_.begin(), found_.end(), [&](const Found& x, const Found& y) {
    if (x.to != y.to) return x.to < y.to;
    return x.weight != y.weight ? x.weight < y.weight : rank_[x.from] < rank_[y.from];
  });
  const auto same = [](const Found& x, const Found& y) { return x.to == y.to; };
  found_.erase(std::unique(found_.begin(), found_.end(), same), found_.end());
}

// Neighbours in the order of boxes are near each other, so that halves of it have small boxes.
void EqualEdges::group_members() {
  groups_.clear();
  group_bounds_.clear();
  add_group(0, static_cast<std::uint32_t>(members_.size()));
}

std::uint32_t EqualEdges::add_group(std::uint32_t begin, std::uint32_t end) {
  const auto number = static_cast<std::uint32_t>(groups_.size());
  groups_.push_back({begin, end, 0});
  group_bounds_.resize(group_bounds_.size() + 2 * axes_);
  if (end - begin > kLeaf) {
    const std::uint32_t middle = begin + (end - begin) / 2;
    add_group(begin, middle);
    groups_[number].right = add_group(middle, end);
  }
  // The box of a point, or the union of both halves' boxes.
  double* const lower = group_bounds_.data() + number * 2 * axes_;
  double* const upper = lower + axes_;
  const auto add = [&](const double* low, const double* high) {
    for (std::size_t a = 0; a < axes_; ++a) {
      lower[a] = std::min(lower[a], low[a]);
      upper[a] = std::max(upper[a], high[a]);
    }
  };
  const double* const first = points_.sites->at(id(members_[begin]));
  std::copy_n(first, axes_, lower);
  std::copy_n(first, axes_, upper);
  if (const std::uint32_t right = groups_[number].right; right != 0) {
    for (const std::size_t half : {std::size_t{number} + 1, std::size_t{right}})
      add(group_bounds_.data() + half * 2 * axes_, group_bounds_.data() + half * 2 * axes_ + axes_);
  } else {
    for (std::uint32_t i = begin + 1; i < end; ++i) {
      const double* const at = points_.sites->at(id(members_[i]));
      add(at, at);
    }
  }
  return number;
}

// Puts boxes that together hold all points on the stack of boxes to search: the least box around members_ on top, which is searched
// first, and below it the siblings of the boxes on the way up to the root. So the search need not descend from the root.
void EqualEdges::begin_near_members() {
  todo_.clear();
  std::uint32_t node = leaf_[members_.front() / kLeaf];
  while (nodes_[node].end <= members_.back()) node = nodes_[node].parent;
  const std::uint32_t nearest = node;
  for (; node != 0; node = nodes_[node].parent) {
    const std::uint32_t parent = nodes_[node].parent;
    todo_.push_back({0, node == parent + 1 ? nodes_[parent].right : parent + 1});
  }
  todo_.push_back({0, nearest});
}

// Pairs of a group and a box that are within reach of each other are halved, the one with more points first.
template <bool kFrom>
void EqualEdges::search(const Places& among, double heaviest) {
  const double most = points_.sites->compared_above(heaviest);
  limits_.fill(points_.sites->pair_limit(most));
  std::size_t room = 1 << 16;  // edges to keep before those to one point are reduced to one
  while (!todo_.empty() && !gave_up()) {
    const Pair next = todo_.back();
    todo_.pop_back();
    const Node& node = nodes_[next.node];
    if (kFrom && node.open == 0) continue;
    if (node.first_place >= among.end || node.last_place < among.begin || node.least_core > heaviest) continue;
    steps_ += axes_;
    const double* const box = bounds(next.node);
    const double* const lower = group_bounds_.data() + next.group * 2 * axes_;
    if (points_.sites->compared_between_boxes(lower, lower + axes_, box, box + axes_, most) > most) continue;
    const Group& group = groups_[next.group];
    if (group.right != 0 && (node.right == 0 || group.end - group.begin > node.end - node.begin)) {
      todo_.push_back({group.right, next.node});
      todo_.push_back({next.group + 1, next.node});
    } else if (node.right != 0) {
      todo_.push_back({next.group, node.right});
      todo_.push_back({next.group, next.node + 1});
    } else {
      search_leaf<kFrom>(group, next.node, among, heaviest, most);
      if (found_.size() < room) continue;
      keep_first();
      room = std::max(room, 2 * found_.size());
    }
  }
}

template <bool kFrom>
void EqualEdges::search_leaf(const Group& group, std::uint32_t leaf, const Places& among, double heaviest,
                             double most) {
  const auto& sites = *points_.sites;
  const Node& node = nodes_[leaf];
  // Edges lead from visited points, which all are taken, to points that are not.
  const std::uint32_t done = done_[node.begin / kLeaf];
  const std::uint32_t eligible = (kFrom ? ~done : done) & (~std::uint32_t{0} >> (kLeaf - (node.end - node.begin)));
  if (eligible == 0) return;
  std::array<double, kLeaf> compared;
  for (std::uint32_t i = group.begin; i < group.end; ++i) {
    const std::uint32_t member = members_[i];
    const double* const at = sites.at(id(member));
    if (group.end - group.begin > 1) {
      steps_ += axes_;
      if (sites.compared_between_boxes(at, at, bounds(leaf), bounds(leaf) + axes_, most) > most) continue;
    }
    steps_ += axes_ * kLeaf;
    std::uint32_t near = nearest::near_pairs(pairs_, at, limits_.data(), node.begin, compared.data()) & eligible;
    for (; near != 0; near &= near - 1) {
      const std::uint32_t other = node.begin + static_cast<std::uint32_t>(std::countr_zero(near));
      if (place_[other] < among.begin || place_[other] >= among.end) continue;
      const double distance = sites.compared_from_pair(compared[other - node.begin], at, sites.at(id(other)));
      if (distance > most) continue;
      const double cores = std::max(core_distance(id(member)), core_distance(id(other)));
      const double weight = std::max(cores, sites.weight(distance));
      if (weight > heaviest) continue;
      found_.push_back(kFrom ? Found{weight, member, other} : Found{weight, other, member});
    }
  }
}

}  // namespace merganser::msf
