// Single-linkage clusters of a spanning tree, from the edges in the order of Prim's algorithm.
#include "src/msf/linkage/nested_clusters.hpp"

namespace merganser::msf {

// The tree of maxima over the weights, with equal ones joined (a Cartesian tree), by a stack of clusters of descending heights.
NestedClusters::NestedClusters(std::span<const GrownEdge> grown) : around_(grown.size() + 1, kNone) {
  clusters_.reserve(grown.size());  // memory is taken once; what is not written takes none
  std::vector<std::uint32_t> open;  // clusters that may still gain points, the smallest last
  std::uint32_t begin = 0;  // the part that ends at the current place: its first place, and where its parent is noted
  std::uint32_t part = kNone;  // its number; kNone: it is one point
  const auto enclose = [&](std::uint32_t parent) {
    (part == kNone ? around_[begin] : clusters_[part].parent) = parent;
  };
  const auto close = [&](std::uint32_t end) {
    enclose(open.back());
    part = open.back();
    begin = clusters_[part].begin;
    clusters_[part].end = end;
    open.pop_back();
  };
  for (std::uint32_t i = 0; i < grown.size(); ++i) {
    const double height = grown[i].weight;
    while (!open.empty() && clusters_[open.back()].height < height) close(i + 1);
    if (open.empty() || clusters_[open.back()].height > height) {
      open.push_back(static_cast<std::uint32_t>(clusters_.size()));
      clusters_.push_back({height, begin, 0, kNone});
    }
    enclose(open.back());
    begin = i + 1;
    part = kNone;
  }
  while (!open.empty()) close(static_cast<std::uint32_t>(grown.size() + 1));
}

}  // namespace merganser::msf
