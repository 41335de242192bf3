// Lists of the edges of each point that weigh exactly its core distance, from its nearest points.
#include "src/msf/euclidean/core_neighbours.hpp"

#include <algorithm>

#include "merganser/base/parallel.hpp"

namespace merganser::msf::euclidean {
namespace {

/// Returns which points of a tree represent several equal points, by point: 1: it does.
template <std::size_t D>
std::vector<std::uint8_t> mark_folded(const PointTree<D>& tree) {
  std::vector<std::uint8_t> folded(tree.size(), 0);
  for (const std::uint32_t v : tree.representatives()) folded[v] = 1;
  return folded;
}

}  // namespace

template <std::size_t D>
void CoreNeighbours::set_places(const PointTree<D>& tree, std::uint64_t total, std::uint32_t longest) {
  if (total > kMaxPoints) return;
  entries_.reserve(std::size_t{tree.size()} * longest);  // memory is taken once; what is not written takes none
  begin_.resize(tree.size());
  count_.resize(tree.size());
  id_.resize(tree.size());
  place_.assign(static_cast<std::size_t>(total), kNone);
  for (std::uint32_t v = 0; v < tree.size(); ++v) {
    id_[v] = static_cast<std::uint32_t>(tree.id(v));
    place_[id_[v]] = v;
  }
}

template <std::size_t D>
void CoreNeighbours::add(const PointTree<D>& tree, std::uint32_t v, std::span<const std::uint32_t> near,
                         std::uint32_t within, const auto& core_of, std::span<const std::uint8_t> folded,
                         const auto& measure, Part& part) {
  // A list is known if the last of the nearest points is beyond the core distance, also as rounded, or if there are no other points.
  const double core = core_of(v);
  std::vector<std::uint32_t>& entries = part.entries;
  const std::size_t begin = entries.size();
  const auto leave_open = [&] {
    entries.resize(begin);
    part.open.push_back(core);
  };
  if (folded[v] != 0) return leave_open();
  if (near.back() != kNone && !(tree.distance2(v, near.back()) > measure.compared_above(core))) return leave_open();
  for (std::uint32_t i = 0; i < near.size(); ++i) {
    const std::uint32_t u = near[i];
    if (u == kNone) break;
    if (i >= within && measure.weight(tree.distance2(v, u)) > core) continue;
    if (folded[u] != 0) return leave_open();
    if (core_of(u) <= core) entries.push_back(u);
  }
  begin_[v] = static_cast<std::uint32_t>(begin);
  count_[v] = static_cast<std::uint8_t>(entries.size() - begin);
}

template <std::size_t D>
CoreNeighbours::CoreNeighbours(const PointTree<D>& tree, const NearPoints& near, std::span<const double> cores,
                               std::uint32_t min_samples, std::uint64_t total, int threads) {
  set_places(tree, total, min_samples - 1);
  if (place_.empty()) return;
  const auto folded = mark_folded(tree);
  const std::span<const std::uint32_t> all(near.point);
  std::vector<double> weights(tree.size());
  const auto core_of = [&](std::uint32_t v) { return weights[v]; };
  // Without folded points a core distance is that to the (min_samples - 1)-th neighbour.
  const std::uint32_t within = tree.folds().empty() ? min_samples - 1 : 0;
  // Each thread makes the lists of consecutive points, which are then joined in that order. The first one's are in place.
  const auto team = static_cast<std::uint64_t>(tree.size() < kMinThreadItems ? 1 : threads);
  const auto first = [&](std::uint64_t t) { return static_cast<std::uint32_t>(tree.size() * t / team); };
  std::vector<Part> parts(static_cast<std::size_t>(team));
  parts[0].entries = std::move(entries_);
  in_parallel(static_cast<int>(team), [&](int t) {
    const auto at = static_cast<std::uint64_t>(t);
    for (std::uint32_t v = first(at); v < first(at + 1); ++v) weights[v] = tree.metric().weight(cores[v]);
  });
  in_parallel(static_cast<int>(team), [&](int t) {
    const auto at = static_cast<std::uint64_t>(t);
    for (std::uint32_t v = first(at); v < first(at + 1); ++v)
      add(tree, v, all.subspan(std::size_t{v} * near.keep, min_samples), within, core_of, folded, tree.metric(),
          parts[at]);
  });
  entries_ = std::move(parts[0].entries);
  open_ = std::move(parts[0].open);
  for (std::uint64_t t = 1; t < team; ++t) {
    const auto before = static_cast<std::uint32_t>(entries_.size());
    entries_.insert(entries_.end(), parts[t].entries.begin(), parts[t].entries.end());
    open_.insert(open_.end(), parts[t].open.begin(), parts[t].open.end());
    release_memory(parts[t].entries);
    for (std::uint32_t v = first(t); v < first(t + 1); ++v) begin_[v] += before;
  }
}

void CoreNeighbours::complete(std::vector<double> tied) {
  open_.insert(open_.end(), tied.begin(), tied.end());
  std::sort(open_.begin(), open_.end());
  open_.erase(std::unique(open_.begin(), open_.end()), open_.end());
  complete_ = true;
}

CoreNeighbours::CoreNeighbours(const Sites& sites, std::span<const double> cores, int min_samples) {
  if (cores.empty() || min_samples < 2 || min_samples > static_cast<int>(kMax) || sites.axes() > kMaxAxes) return;
  if (sites.size() > kMaxPoints) return;
  with_axes(sites.axes(),
            [&](auto axes) { search<axes.value>(sites, cores, static_cast<std::uint32_t>(min_samples)); });
}

template <std::size_t D>
void CoreNeighbours::search(const Sites& sites, std::span<const double> cores, std::uint32_t keep) {
  std::vector<IdentifiedPoint<D>> items(sites.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    items[i] = {{}, i};
    std::copy_n(sites.at(i), sites.axes(), items[i].at.begin());
  }
  // Many equal points would make the search quadratic. One of them stands for all, and lists with it are not known.
  const PointTree<D> tree(items, sites.metric<D>(), leaf_capacity({}, D), keep);
  release_memory(items);
  set_places(tree, sites.size(), keep - 1);
  const auto folded = mark_folded(tree);
  const auto core_of = [&](std::uint32_t v) { return cores[tree.id(v)]; };
  std::vector<std::uint32_t> near(keep);
  Part part{std::move(entries_), {}};
  find_neighbours(tree, {keep, nullptr, 1}, [&](const LeafResult& found) {
    for (std::uint32_t q = 0; q < found.count; ++q) {
      const std::size_t from = static_cast<std::size_t>(q) * found.row;
      for (std::uint32_t i = 0; i < keep; ++i)
        near[i] = found.distance2[from + i] < kInfinity ? static_cast<std::uint32_t>(found.point[from + i]) : kNone;
      add(tree, found.first + q, near, 0, core_of, folded, sites, part);
    }
  });
  entries_ = std::move(part.entries);
}

#define MERGANSER_LISTS(NAME, D)                                                                                \
  template CoreNeighbours::NAME(const PointTree<D>&, const NearPoints&, std::span<const double>, std::uint32_t, \
                                std::uint64_t, int);
MERGANSER_FOR_AXES(MERGANSER_LISTS, CoreNeighbours)

}  // namespace merganser::msf::euclidean
