#include "merganser/msf/local_forest.hpp"

#include <algorithm>
#include <string>

#include "merganser/base/error.hpp"
#include "msf/local/buffer.hpp"
#include "msf/local/parallel.hpp"
#include "msf/local/sort_edges.hpp"
#include "msf/local/union_find.hpp"

namespace merganser::msf {
namespace {

constexpr std::size_t kBlock = 4096;
constexpr std::size_t kSample = 4096;
constexpr std::size_t kAhead = 24;  // edges whose ends are fetched before they are joined

void check_vertices(std::uint64_t vertices) {
  if (vertices > (std::uint64_t{1} << 32)) {
    throw InputError("vertices of one rank's forest: " + std::to_string(vertices) + "; allowed: at most 4294967296");
  }
}

/// The edges for which `keep` holds, found by several threads. Appending is free of branches: kept or not is chance.
template <class Edge, class Keep>
Buffer<Edge> select(std::span<const Edge> edges, int threads, std::size_t expected, const Keep& keep) {
  std::vector<Buffer<Edge>> parts(static_cast<std::size_t>(threads));
  in_parallel(threads, [&](int t) {
    const auto mine = part_of(edges, t, threads);
    auto& out = parts[static_cast<std::size_t>(t)];
    out.reserve(expected / static_cast<std::size_t>(threads) + kBlock);
    for (std::size_t begin = 0; begin < mine.size(); begin += kBlock) {
      const auto block = mine.subspan(begin, std::min(kBlock, mine.size() - begin));
      Edge* const to = out.room(block.size());
      std::size_t kept = 0;
      for (const Edge& e : block) {
        to[kept] = e;
        kept += static_cast<std::size_t>(keep(e));
      }
      out.resize(out.size() + kept);
    }
  });
  Buffer<Edge> all = std::move(parts[0]);
  for (std::size_t t = 1; t < parts.size(); ++t) all.append(parts[t].span());
  return all;
}

/// The edge below which about `wanted` of `edges` lie.
template <class Edge>
Edge pivot_of(std::span<const Edge> edges, std::size_t wanted) {
  std::vector<Edge> sample;
  sample.reserve(kSample);
  std::uint64_t at = 0x9e3779b97f4a7c15ULL;
  for (std::size_t i = 0; i < kSample; ++i) {  // a fixed sequence: weights may repeat with any stride
    at = at * 6364136223846793005ULL + 1442695040888963407ULL;
    sample.push_back(edges[static_cast<std::size_t>((at >> 32) * edges.size() >> 32)]);
  }
  std::sort(sample.begin(), sample.end());
  return sample[std::min(kSample - 1, wanted * kSample / edges.size())];
}

template <class Edge>
class FilterKruskal {
 public:
  FilterKruskal(std::uint64_t vertices, int threads)
      : trees_(static_cast<std::size_t>(vertices)), sets_(trees_), threads_(std::max(1, threads)) {
    forest_.reserve(trees_);
  }

  void run(std::span<const Edge> edges) {
    Buffer<Edge> again;  // what `edges` is, from the second round on
    for (bool first = true; edges.size() > small(first); first = false) {
      const std::size_t wanted = std::max(2 * trees_, edges.size() / 8);
      const Edge pivot = pivot_of(edges, wanted);
      Buffer<Edge> light = select(edges, threads_, wanted + wanted / 8, [&](const Edge& e) { return below(e, pivot); });
      const bool stuck = light.size() == 0;  // the pivot is the least edge: many equal ones
      if (stuck) light = select(edges, threads_, wanted, [&](const Edge& e) { return !(pivot < e); });
      join_all(light);
      light = Buffer<Edge>();
      sets_.flatten();
      const std::uint32_t* const label = sets_.labels();
      // Light edges are within trees by now, so that what is left is heavy and joins two trees.
      again = select(edges, threads_, edges.size() / 16, [&](const Edge& e) { return label[e.low] != label[e.high]; });
      edges = again.span();
    }
    Buffer<Edge> rest;
    rest.append(edges);
    again = Buffer<Edge>();
    join_all(rest);
  }
  std::vector<Edge> take() { return std::move(forest_); }

 private:
  /// So few that sorting them all is cheapest.
  [[nodiscard]] std::size_t small(bool first) const {
    return std::max<std::size_t>(2 * kSample, (first ? 3 : 4) * trees_);
  }
  static bool below(const Edge& e, const Edge& pivot) {
    if (e.weight != pivot.weight) [[likely]]
      return e.weight < pivot.weight;
    return e < pivot;
  }
  void join_all(Buffer<Edge>& edges) {
    sort_edges(edges, scratch_);
    const std::size_t n = edges.size();
    for (std::size_t i = 0; i < n; ++i) {
      if (i + kAhead < n) {
        sets_.prefetch(static_cast<std::uint32_t>(edges[i + kAhead].low));
        sets_.prefetch(static_cast<std::uint32_t>(edges[i + kAhead].high));
      }
      if (sets_.join(static_cast<std::uint32_t>(edges[i].low), static_cast<std::uint32_t>(edges[i].high))) {
        forest_.push_back(edges[i]);
        --trees_;
      }
    }
    scratch_ = Buffer<Edge>();
  }

  std::size_t trees_;
  UnionFind sets_;
  int threads_;
  Buffer<Edge> scratch_;
  std::vector<Edge> forest_;
};

}  // namespace

template <class Edge>
std::vector<Edge> local_forest(std::span<const Edge> edges, std::uint64_t vertices, int threads) {
  check_vertices(vertices);
  FilterKruskal<Edge> forest(vertices, threads);
  forest.run(edges);
  return forest.take();
}

template <class Edge>
std::vector<Edge> merge_forests(std::span<const Edge> a, std::span<const Edge> b, std::uint64_t vertices) {
  check_vertices(vertices);
  std::vector<Edge> forest;
  forest.reserve(std::min<std::size_t>(a.size() + b.size(), static_cast<std::size_t>(vertices)));
  UnionFind sets(static_cast<std::size_t>(vertices));
  const auto take = [&](const Edge& e) {
    if (sets.join(static_cast<std::uint32_t>(e.low), static_cast<std::uint32_t>(e.high))) forest.push_back(e);
  };
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) take(b[j] < a[i] ? b[j++] : a[i++]);
  for (; i < a.size(); ++i) take(a[i]);
  for (; j < b.size(); ++j) take(b[j]);
  return forest;
}

template std::vector<graphs::Edge12> local_forest(std::span<const graphs::Edge12>, std::uint64_t, int);
template std::vector<graphs::Edge16> local_forest(std::span<const graphs::Edge16>, std::uint64_t, int);
template std::vector<graphs::Edge24> local_forest(std::span<const graphs::Edge24>, std::uint64_t, int);
template std::vector<graphs::Edge12> merge_forests(std::span<const graphs::Edge12>, std::span<const graphs::Edge12>,
                                                   std::uint64_t);
template std::vector<graphs::Edge16> merge_forests(std::span<const graphs::Edge16>, std::span<const graphs::Edge16>,
                                                   std::uint64_t);
template std::vector<graphs::Edge24> merge_forests(std::span<const graphs::Edge24>, std::span<const graphs::Edge24>,
                                                   std::uint64_t);

}  // namespace merganser::msf
