#include "msf/euclidean/outside.hpp"

#include "msf/euclidean/wire.hpp"

namespace merganser::msf::euclidean {

Outside::Outside(const PointTree& tree, comm::Transport& transport)
    : metric_(tree.metric()), mine_(static_cast<std::size_t>(transport.rank())) {
  std::vector<Node> mine;
  if (tree.size() > 0) shorten(tree, 0, std::max(tree.size() / 256, 16U), mine);
  boxes_ = gather_each(transport, mine);
  boxes_[mine_].clear();
}

void Outside::shorten(const PointTree& tree, std::uint32_t node, std::uint32_t few, std::vector<Node>& to) {
  constexpr std::size_t kMost = 1024;
  const auto& place = tree.nodes()[node];
  const std::size_t here = to.size();
  to.push_back({place.box, 0});
  if (place.right == 0 || place.end - place.begin <= few || here >= kMost / 2) return;
  shorten(tree, node + 1, few, to);
  to[here].right = to.size();
  shorten(tree, place.right, few, to);
}

double Outside::distance2(const Bounds& from, std::size_t rank, double most) const {
  const auto& nodes = boxes_[rank];
  double least = std::nextafter(most, kInfinity);
  if (nodes.empty()) return kInfinity;
  todo_.assign(1, {0, metric_.distance2(from, nodes[0].box)});
  while (!todo_.empty()) {
    const Visit next = todo_.back();
    todo_.pop_back();
    if (next.d2 >= least) continue;
    const Node& node = nodes[next.node];
    if (node.right == 0) {
      least = next.d2;
      continue;
    }
    Visit near{next.node + 1, metric_.distance2(from, nodes[next.node + 1].box)};
    Visit far{node.right, metric_.distance2(from, nodes[node.right].box)};
    if (far.d2 < near.d2) std::swap(near, far);
    todo_.push_back(far);
    todo_.push_back(near);
  }
  return least;
}

double Outside::distance2(const Bounds& from) const {
  double least = kInfinity;
  for (std::size_t r = 0; r < boxes_.size(); ++r)
    if (!boxes_[r].empty()) least = std::min(least, distance2(from, r, least));
  return least;
}

std::vector<double> Outside::bounds(const State& state) const {
  constexpr double kList = 4;  // of the distance squared to the first neighbour: longer ones are seldom needed
  std::vector<double> out(state.tree.size(), kInfinity);
  for (const auto leaf : state.tree.leaves()) {
    const auto& node = state.tree.nodes()[leaf];
    const double common = distance2(node.box);
    for (std::uint32_t v = node.begin; v < node.end; ++v) {
      const Vec3 at = state.tree.at(v);
      const bool near = common <= kList * state.bound[v];
      out[v] = std::max(near ? distance2(Bounds{at, at}) : common, state.core_of(v));
    }
  }
  return out;
}

}  // namespace merganser::msf::euclidean
