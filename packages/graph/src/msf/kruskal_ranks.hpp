#pragma once
/// Communication of filter-Kruskal over ranks, for graphs whose vertices fit every rank's memory.
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "merganser/base/simulated.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/msf/forest.hpp"
#include "src/msf/local/filter_kruskal.hpp"

namespace merganser::msf {

/// All ranks of a transport, for FilterKruskal.
///
/// Light edges are sorted by a sample sort: rank r receives the r-th range of weights. All ranks then gather the ends of all light
/// edges in ascending order, 8 bytes each, and join trees in a union-find of all vertices: joining is repeated on every rank, so that
/// heavy edges are dropped without a message.
class KruskalRanks {
 public:
  /// Guard that adds the time to the phase "local forest", or to "merge" if messages are sent.
  class Scope {
   public:
    Scope(KruskalRanks& ranks, bool local) : scope_(ranks.report_, local ? "local forest" : "merge", ranks.transport_) {
      if (local) work_.emplace();
    }

   private:
    Report::Scope scope_;
    std::optional<MeasuredWork> work_;
  };

  KruskalRanks(comm::Transport& transport, Report& report) : transport_(transport), report_(report) {}
  [[nodiscard]] int rank() const { return transport_.rank(); }
  [[nodiscard]] int size() const { return transport_.size(); }
  /// Returns the number of edges on all ranks. Collective.
  [[nodiscard]] std::size_t count(std::size_t edges) {
    return static_cast<std::size_t>(transport_.all_reduce(static_cast<std::int64_t>(edges), comm::Op::sum));
  }
  /// Throws on every rank what check() throws on the lowest. Collective.
  void agree(const auto& check) { comm::agree(transport_, check); }
  /// Returns the samples of all ranks, on every rank. Collective.
  template <class Edge>
  [[nodiscard]] std::vector<Edge> gather(const std::vector<Edge>& sample) {
    return comm::all_gather(transport_, sample).flat();
  }
  /// Sends each edge to the rank of its range of weights. Collective. @param splitters  last edge of each range but the last; none: all
  /// edges go to rank 0. @return this rank's range, unsorted
  template <class Edge>
  [[nodiscard]] Buffer<Edge> distribute(Buffer<Edge> batch, const std::vector<Edge>& splitters) {
    const Scope scope(*this, false);
    const auto owner = [&](const Edge& e) {
      int rank = 0;  // splitters are few, and a search by halves would branch at random
      for (const Edge& splitter : splitters) rank += static_cast<int>(is_above(e, splitter));
      return rank;
    };
    auto received = comm::send_to_owners(transport_, std::as_const(batch).span(), owner);
    batch.resize(0);  // keeps the memory
    batch.reserve(received.records());
    for (std::size_t r = 0; r < received.size(); ++r) {
      batch.append(received[r]);
      received.drop(r);
    }
    return batch;
  }
  /// Joins the trees along the edges of all ranks, range after range, and calls joined(i) for each of this rank's edges that joins two
  /// trees. Collective.
  template <class Edge>
  JoinCount join(UnionFind& sets, std::span<const Edge> sorted, const auto& joined) {
    const Scope scope(*this, false);
    std::vector<Ends> ends;
    ends.reserve(sorted.size());
    for (const Edge& e : sorted)
      ends.push_back({static_cast<std::uint32_t>(e.low), static_cast<std::uint32_t>(e.high)});
    const auto all = comm::all_gather(transport_, ends);
    const MeasuredWork work;
    JoinCount count{all.records(), 0};
    for (std::size_t r = 0; r < all.size(); ++r) {
      const bool own = r == static_cast<std::size_t>(transport_.rank());
      join_trees(sets, all[r], [&](std::size_t i) {
        if (own) joined(i);
        ++count.joined;
      });
    }
    return count;
  }

 private:
  /// Ends of an edge, which are all that joining trees needs.
  struct Ends {
    std::uint32_t low;
    std::uint32_t high;
  };

  comm::Transport& transport_;
  Report& report_;
};

}  // namespace merganser::msf
