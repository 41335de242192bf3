#pragma once
/// Filter-Kruskal over ranks, for graphs whose vertices fit every rank's memory: edges are filtered and sorted where they lie, and
/// all ranks join the same light edges in the same order, so that each has the labels to filter its heavy edges by.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "merganser/base/simulated.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/msf/forest.hpp"
#include "src/msf/local/filter_kruskal.hpp"

namespace merganser::msf {

/// Minimum spanning forest of all ranks' edges by filter-Kruskal with one pivot for all ranks.
///
/// A round selects the light edges of all ranks, about two per tree that is left. They are sorted by a sample sort: rank r
/// receives the r-th range of weights. All ranks then gather the ends of all light edges in ascending order and join them in a
/// union-find of all vertices, which is the same on every rank. Heavy edges within one tree by then are dropped without a message.
/// Per rank and round: O(edges / ranks) to filter, O(trees / ranks) to sort, O(trees) to join; 8 bytes received per light edge.
/// Memory beside the edges: 4 bytes per vertex, and 8 bytes per light edge of all ranks.
template <class Edge>
class DistributedKruskal {
 public:
  using Bits = typename Edge::bits_type;

  /// @param flip  complements the bits of all weights first, for a maximum spanning forest
  DistributedKruskal(std::uint64_t vertices, comm::Transport& transport, int threads, bool flip, Report& report)
      : trees_(static_cast<std::size_t>(vertices)),
        transport_(transport),
        threads_(threads),
        flip_(flip ? static_cast<Bits>(~Bits{0}) : Bits{0}),
        report_(report) {}

  /// Computes the forest. Collective. @return this rank's share, ascending. @throws InputError on every rank for ends that are no
  /// vertices
  std::vector<Edge> run(std::span<const Edge> edges) {
    comm::agree(transport_, [&] {
      const MeasuredWork work;
      check_vertices(trees_);
      check_ends(edges, trees_, threads_);
      sets_ = UnionFind(trees_);
    });
    std::function<void(double)> tell;
    if (report_.progress && transport_.rank() == 0) tell = [this](double share) { report_.progress("local forest", share); };
    ForestProgress progress(tell, 2 * edges.size() + kSortCost * 2 * trees_);
    Buffer<Edge> again;  // memory of `edges` from the second round on
    for (bool last = false; !last;) {
      const auto total = static_cast<std::size_t>(
          transport_.all_reduce(static_cast<std::int64_t>(edges.size()), comm::Op::sum));
      last = is_last_round(trees_, total);
      const std::size_t wanted = last ? total : light_edges(trees_, total);
      choose_splitters(edges, total, wanted);
      Buffer<Edge> light;
      {
        const Report::Scope scope(report_, "local forest", transport_);
        const MeasuredWork work;
        const std::size_t mine = wanted / static_cast<std::size_t>(transport_.size());
        light = last ? select(edges, flip_, threads_, edges.size(), progress, [](const Edge& e) { return e.low != e.high; })
                     : select(edges, flip_, threads_, mine + mine / 8, progress,
                              [pivot = pivot_](const Edge& e) { return !is_above(e, pivot); });
      }
      join_all(sort_over_ranks(std::move(light)), progress);
      if (last) break;
      const Report::Scope scope(report_, "local forest", transport_);
      const MeasuredWork work;
      again = select(edges, flip_, threads_, edges.size() / 16, progress, BetweenTrees(sets_));
      edges = again.span();
      flip_ = 0;
    }
    return std::move(forest_);
  }

 private:
  /// Sets the pivot, below which about `wanted` of all ranks' `total` edges lie, and the splitters, which divide these into one
  /// range of about equal numbers for each rank; the same on every rank, by a sample. A few edges all go to rank 0. Collective.
  void choose_splitters(std::span<const Edge> edges, std::size_t total, std::size_t wanted) {
    splitters_.clear();
    if (total <= 2 * kPivotSample) return;
    const auto ranks = static_cast<std::size_t>(transport_.size());
    // At least 64 light edges of the sample for a rank, so that shares differ by an eighth.
    const std::size_t size = std::max(kPivotSample, 64 * ranks * (total / wanted));
    const std::size_t count = (edges.size() * size + total - 1) / total;
    const auto mine = edges.empty() ? std::vector<Edge>()
                                    : sample_edges(edges, flip_, count, static_cast<std::uint64_t>(transport_.rank()));
    auto sample = comm::all_gather(transport_, mine).flat();
    std::sort(sample.begin(), sample.end());
    const auto at = [&](std::size_t part) { return sample[part * wanted / ranks * sample.size() / total]; };
    for (std::size_t r = 1; r < ranks; ++r) splitters_.push_back(at(r));
    if (wanted < total) pivot_ = at(ranks);
  }

  /// Sorts the edges of all ranks. Collective. @return the r-th range, ascending, on rank r
  Buffer<Edge> sort_over_ranks(Buffer<Edge> edges) {
    Buffer<Edge> sorted;
    {
      const Report::Scope scope(report_, "merge", transport_);
      const auto owner = [this](const Edge& e) {
        int rank = 0;  // splitters are few, and a search by halves would branch at random
        for (const Edge& splitter : splitters_) rank += static_cast<int>(splitter < e);
        return rank;
      };
      auto received = comm::send_to_owners(transport_, std::as_const(edges).span(), owner);
      edges = Buffer<Edge>();
      sorted.reserve(received.records());
      for (std::size_t r = 0; r < received.size(); ++r) {
        sorted.append(received[r]);
        received.drop(r);
      }
    }
    const Report::Scope scope(report_, "local forest", transport_);
    const MeasuredWork work;
    Buffer<Edge> scratch;
    sort_edges(sorted, scratch);
    return sorted;
  }

  /// Joins the trees along all ranks' edges, in ascending order, and adds those of this rank's `mine` that join two trees to its
  /// share of the forest. Collective.
  void join_all(const Buffer<Edge>& mine, ForestProgress& progress) {
    const Report::Scope scope(report_, "merge", transport_);
    std::vector<Ends> ends;
    ends.reserve(mine.size());
    for (const Edge& e : mine.span()) ends.push_back({static_cast<std::uint32_t>(e.low), static_cast<std::uint32_t>(e.high)});
    const auto all = comm::all_gather(transport_, ends);
    const MeasuredWork work;
    for (std::size_t r = 0; r < all.size(); ++r) {
      const bool own = r == static_cast<std::size_t>(transport_.rank());
      join_trees(sets_, all[r], [&](std::size_t i) {
        if (own) forest_.push_back(mine[i]);
        --trees_;
      });
      progress.add(kSortCost * all[r].size());
    }
  }

  std::size_t trees_;
  comm::Transport& transport_;
  int threads_;
  Bits flip_;
  Report& report_;
  UnionFind sets_{0};
  std::vector<Edge> splitters_;  // last edge of each rank's range but the last rank's; empty: rank 0 has the only range
  Edge pivot_{};                 // last light edge
  std::vector<Edge> forest_;
};

}  // namespace merganser::msf
