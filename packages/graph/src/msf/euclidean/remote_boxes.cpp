// Replicated upper boxes of all ranks' point trees, and lower bounds of the distances to points of other ranks by them.
#include "src/msf/euclidean/remote_boxes.hpp"

#include <queue>

namespace merganser::msf::euclidean {

constexpr std::uint32_t kSeveral = kNone - 1;  // box of several components; not kNone, which a query may exclude

// Replication of the upper boxes of every rank's tree on all ranks.
template <std::size_t D>
RemoteBoxes<D>::RemoteBoxes(const PointTree<D>& tree, comm::Transport& transport)
    : metric_(tree.metric()), mine_(static_cast<std::size_t>(transport.rank())) {
  const auto bounds = comm::all_gather_value(transport, tree.bounds());
  std::vector<Node> mine;
  if (tree.size() > 0) copy_nodes(tree, choose_opened(tree, bounds), 0, mine);
  for (const auto& node : mine) told_.push_back(node.node);  // mark() sends their components in this order
  boxes_ = comm::all_gather(transport, mine);
  boxes_.drop(mine_);
  for (const auto boxes : boxes_) component_.emplace_back(boxes.size(), kSeveral);
}

// Start of a global round: boxes whose points are all of one component can be ignored by that component.
template <std::size_t D>
void RemoteBoxes<D>::mark(const BoruvkaState<D>& state, comm::Transport& transport) {
  // Only the components are exchanged: the boxes do not change between rounds.
  std::vector<std::uint32_t> mine;
  for (const auto node : told_)
    mine.push_back(state.node_component[node] == kNone ? kSeveral : state.node_component[node]);
  const auto all = comm::all_gather(transport, mine);
  for (std::size_t r = 0; r < all.size(); ++r) component_[r].assign(all[r].begin(), all[r].end());
}

/// Chooses the nodes of this rank's point tree whose children are sent to all ranks: greedily those with many points in a box that is
/// long compared to its distance from other ranks. @param bounds  by rank: bounding box of its points
/// @return by node: 1: its children are sent
template <std::size_t D>
std::vector<std::uint8_t> RemoteBoxes<D>::choose_opened(const PointTree<D>& tree,
                                                        const std::vector<Bounds<D>>& bounds) const {
  // A distance to a box is looser the longer the box is. What matters is that relative to the distance: small boxes far from all
  // other ranks would be of no use to them. Few ranks share more memory for boxes than many.
  constexpr std::size_t kTotal = 4096;
  constexpr std::size_t kMin = 511;
  const std::size_t most = std::max(kMin, kTotal / bounds.size());
  const auto& nodes = tree.nodes();
  using Weighed = std::pair<double, std::uint32_t>;
  std::priority_queue<Weighed> next;
  const auto weigh = [&](std::uint32_t node) {
    const Bounds<D>& box = nodes[node].box;
    const double extent = box.extent(box.widest());
    if (nodes[node].right == 0 || extent == 0) return;
    double d2 = kInfinity;
    for (std::size_t r = 0; r < bounds.size(); ++r)
      if (r != mine_ && !bounds[r].empty()) d2 = std::min(d2, metric_.distance2(box, bounds[r]));
    const double length = metric_.norm == Norm::squares ? extent * extent : extent;  // as distances are compared
    next.emplace(static_cast<double>(nodes[node].end - nodes[node].begin) * (length / (length + d2)), node);
  };
  std::vector<std::uint8_t> opened(nodes.size(), 0);
  weigh(0);
  for (std::size_t i = 0; i < most && !next.empty(); ++i) {
    const std::uint32_t node = next.top().second;
    next.pop();
    opened[node] = 1;
    weigh(node + 1);
    weigh(nodes[node].right);
  }
  return opened;
}

/// Appends a node of this rank's point tree and the descendants that are sent to all ranks to `to`, in preorder.
template <std::size_t D>
void RemoteBoxes<D>::copy_nodes(const PointTree<D>& tree, const std::vector<std::uint8_t>& opened, std::uint32_t node,
                                std::vector<Node>& to) {
  const auto& place = tree.nodes()[node];
  // Preorder: the first child follows its parent, the second one is found by `right`, as in the trees themselves.
  const std::size_t here = to.size();
  to.push_back({place.box, 0, node});
  if (opened[node] == 0) return;
  copy_nodes(tree, opened, node + 1, to);
  to[here].right = static_cast<std::uint32_t>(to.size());
  copy_nodes(tree, opened, place.right, to);
}

// Branch and bound in the replicated upper boxes of another rank's tree.
template <std::size_t D>
double RemoteBoxes<D>::distance2(const Bounds<D>& from, std::size_t rank, double most, std::uint32_t component) const {
  // nextafter: a box at exactly `most` still counts, and a result above `most` says that there is none.
  const auto nodes = boxes_[rank];
  double least = std::nextafter(most, kInfinity);
  if (nodes.empty()) return kInfinity;
  visit_leaves(
      nodes, 0, todo_, [&](const Bounds<D>& box) { return metric_.distance2(from, box); },
      [&](double d2) { return d2 < least; }, [&](std::uint32_t node) { return component_[rank][node] != component; },
      [&](std::uint32_t, double d2) { least = d2; });
  return least;
}

template <std::size_t D>
double RemoteBoxes<D>::distance2(const Bounds<D>& from, std::uint32_t component, double most) const {
  double least = most < kInfinity ? std::nextafter(most, kInfinity) : kInfinity;
  for (std::size_t r = 0; r < boxes_.size(); ++r)
    if (!boxes_[r].empty()) least = std::min(least, distance2(from, r, least, component));
  return least;
}

template <std::size_t D>
void RemoteBoxes<D>::gather_near(const Bounds<D>& from, double most) const {
  // A descent of the boxes costs as much as some 30 distances.
  constexpr std::size_t kMany = 24;
  near_.clear();
  reach_ = most;
  for (std::size_t r = 0; r < boxes_.size(); ++r) {
    if (boxes_[r].empty()) continue;
    visit_leaves(
        boxes_[r], 0, todo_, [&](const Bounds<D>& box) { return metric_.distance2(from, box); },
        [&](double d2) { return d2 <= reach_; }, [](std::uint32_t) { return true; },
        [&](std::uint32_t node, double) {
          near_.push_back({r, node});
          if (near_.size() > kMany) reach_ = -1;
        });
  }
}

template <std::size_t D>
double RemoteBoxes<D>::bound_within(const Place<D>& at, std::uint32_t component) const {
  if (reach_ < 0) return distance2(Bounds<D>{at, at}, component);
  double least = std::nextafter(reach_, kInfinity);
  for (const NearBox& near : near_)
    if (component_[near.rank][near.node] != component)
      least = std::min(least, metric_.distance2(at, boxes_[near.rank][near.node].box));
  return least;
}

template <std::size_t D>
void RemoteBoxes<D>::set_bounds(const BoruvkaState<D>& state, const std::vector<double>& greatest, std::uint32_t node,
                                std::vector<double>& out) const {
  // Multiples of the squared distance to the first neighbour: a component with a longer edge is seldom small compared to a node.
  constexpr double kList = 4;
  constexpr double kFar = 16;
  const auto& place = state.tree.nodes()[node];
  const double common = distance2(place.box);
  const bool far = common > kFar * greatest[node];
  if (!far && place.right != 0) {
    set_bounds(state, greatest, node + 1, out);
    set_bounds(state, greatest, place.right, out);
    return;
  }
  // One bound serves for all points; a point needs one of its own only if that bound could matter.
  const bool near = common <= kList * greatest[node];
  if (near) gather_near(place.box, kFar * greatest[node]);
  for (std::uint32_t v = place.begin; v < place.end; ++v) {
    const bool alone = near && common <= kList * state.bound[v];
    out[v] = std::max(alone ? bound_within(state.tree.at(v)) : common, state.core_or_zero(v));
  }
}

// Bounds that certify edges of the local rounds: no point of another rank is nearer.
template <std::size_t D>
std::vector<double> RemoteBoxes<D>::bounds(const BoruvkaState<D>& state) const {
  std::vector<double> out(state.tree.size(), kInfinity);
  const auto& nodes = state.tree.nodes();
  std::vector<double> greatest(nodes.size());
  for (std::size_t i = nodes.size(); i-- > 0;)
    greatest[i] = nodes[i].right != 0
                      ? std::max(greatest[i + 1], greatest[nodes[i].right])
                      : *std::max_element(state.bound.begin() + nodes[i].begin, state.bound.begin() + nodes[i].end);
  if (!nodes.empty()) set_bounds(state, greatest, 0, out);
  return out;
}

MERGANSER_FOR_AXES(MERGANSER_CLASS, class RemoteBoxes)

}  // namespace merganser::msf::euclidean
