#pragma once
/// Communication of filter-Kruskal over ranks, for graphs whose vertices fit every rank's memory.
#include <algorithm>
#include <bit>
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

  static constexpr bool kContracts = true;  // each rank its interior, where ranks share few vertices

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
  /// Returns the sum of counts of all ranks. Collective.
  [[nodiscard]] JoinCount sum(const JoinCount& mine) {
    std::int64_t counts[2] = {static_cast<std::int64_t>(mine.edges), static_cast<std::int64_t>(mine.joined)};
    transport_.all_reduce(counts, comm::Op::sum);
    return {static_cast<std::size_t>(counts[0]), static_cast<std::size_t>(counts[1])};
  }
  /// Returns a range of vertices for this rank, which overlaps no other rank's, if at least three quarters of the ends of a sample of all
  /// ranks' edges lie in the ranges of their ranks; else nothing, on every rank. Collective.
  /// @param sample  of this rank's edges, in the same proportion to all of them on every rank
  template <class Edge>
  [[nodiscard]] std::optional<VertexRange> own_range(std::span<const Edge> sample, std::uint64_t vertices) {
    // About 128 pieces of consecutive vertices for each rank, few enough that each has many ends of the sample.
    const auto ranks = static_cast<std::size_t>(transport_.size());
    const auto bits = std::min(16U, static_cast<unsigned>(std::bit_width(128 * ranks)));
    const auto width = static_cast<unsigned>(std::bit_width(vertices));
    const unsigned shift = width > bits ? width - bits : 0;
    std::vector<std::uint32_t> mine;
    for (const Edge& e : sample)
      for (const std::uint64_t v : {std::uint64_t{e.low}, std::uint64_t{e.high}})
        mine.push_back(static_cast<std::uint32_t>(std::min(v >> shift, (std::uint64_t{1} << bits) - 1)));
    const auto ends = comm::all_gather(transport_, mine);
    const std::vector<Pieces> owned = longest_runs(piece_owners(ends, std::size_t{1} << bits), ranks);
    std::size_t inside = 0;
    for (std::size_t r = 0; r < ranks; ++r)
      for (const std::uint32_t piece : ends[r])
        inside += static_cast<std::size_t>(piece - owned[r].first < owned[r].count);
    if (inside == 0 || 4 * inside < 3 * ends.records()) return std::nullopt;
    const Pieces& own = owned[static_cast<std::size_t>(transport_.rank())];
    if (own.count == 0) return VertexRange{1, 0};
    return VertexRange{std::uint64_t{own.first} << shift, (std::uint64_t{own.first + own.count} << shift) - 1};
  }
  /// Returns the union of the lists of vertices of all ranks, ascending, on every rank. Collective.
  [[nodiscard]] std::vector<std::uint32_t> union_of(const std::vector<std::uint32_t>& mine) {
    const Scope scope(*this, false);
    std::vector<std::uint32_t> all = comm::all_gather(transport_, mine).flat();
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }
  /// Sends each edge to the rank of its range of weights. Collective. @param splitters  last edge of each range but the last; none: all
  /// edges go to rank 0. @return this rank's range, unsorted
  template <class Joinable, class Edge>
  [[nodiscard]] Buffer<Joinable> distribute(Buffer<Joinable> batch, const std::vector<Edge>& splitters) {
    const Scope scope(*this, false);
    const std::vector<Buffer<Joinable>> to = divide(std::as_const(batch).span(), splitters);
    std::vector<std::span<const Joinable>> parts;
    for (const auto& part : to) parts.push_back(part.span());
    auto received = comm::all_to_all(transport_, parts);
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
    Buffer<Ends> ends(sorted.size());
    Ends* const to = ends.data();
    for (std::size_t i = 0; i < sorted.size(); ++i) to[i] = ends_of(sorted[i]);
    const auto all = comm::all_gather(transport_, std::as_const(ends).span());
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
  /// Consecutive pieces of a graph's vertices.
  struct Pieces {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };
  /// Returns the owner of each of `pieces` pieces of vertices: the rank with most ends there, or where there are none that of the piece
  /// before. @param ends  pieces of the ends of each rank's edges
  static std::vector<std::size_t> piece_owners(const comm::Received<std::uint32_t>& ends, std::size_t pieces) {
    std::vector<std::size_t> owners(pieces);
    std::vector<std::uint32_t> most(pieces);
    std::vector<std::uint32_t> counts(pieces);
    for (std::size_t r = 0; r < ends.size(); ++r) {
      for (const std::uint32_t piece : ends[r]) {
        if (++counts[piece] <= most[piece]) continue;
        most[piece] = counts[piece];
        owners[piece] = r;
      }
      for (const std::uint32_t piece : ends[r]) counts[piece] = 0;
    }
    for (std::size_t piece = 1; piece < pieces; ++piece)
      if (most[piece] == 0) owners[piece] = owners[piece - 1];
    return owners;
  }
  /// Returns the longest run of consecutive pieces that each rank owns.
  static std::vector<Pieces> longest_runs(const std::vector<std::size_t>& owners, std::size_t ranks) {
    std::vector<Pieces> longest(ranks);
    for (std::size_t begin = 0, end = 0; begin < owners.size(); begin = end) {
      while (end < owners.size() && owners[end] == owners[begin]) ++end;
      if (end - begin > longest[owners[begin]].count)
        longest[owners[begin]] = {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end - begin)};
    }
    return longest;
  }
  /// Returns edges divided by the rank of their range of weights, each part in their order. @param splitters  last edge of each range
  /// but the last; none: all edges are for rank 0
  template <class Joinable, class Edge>
  [[nodiscard]] std::vector<Buffer<Joinable>> divide(std::span<const Joinable> edges,
                                                     const std::vector<Edge>& splitters) const {
    constexpr std::size_t kBlock = 256;  // edges for which every part has memory before they are divided
    std::vector<Buffer<Joinable>> parts(static_cast<std::size_t>(transport_.size()));
    std::vector<Joinable*> to(parts.size());
    for (std::size_t r = 0; r <= splitters.size(); ++r)
      parts[r].reserve(edges.size() / (splitters.size() + 1) / 8 * 9 + kBlock);
    const Edge* const first = splitters.data();
    const Edge* const end = first + splitters.size();
    for (std::size_t begin = 0; begin < edges.size(); begin += kBlock) {
      const auto block = edges.subspan(begin, std::min(kBlock, edges.size() - begin));
      for (std::size_t r = 0; r <= splitters.size(); ++r) to[r] = parts[r].reserve_more(block.size());
      for (const Joinable& e : block) {
        std::size_t rank = 0;  // splitters are few, and a search by halves would branch at random
        for (const Edge* splitter = first; splitter != end; ++splitter)
          rank += static_cast<std::size_t>(is_above<Edge>(e, *splitter));
        *to[rank]++ = e;
      }
      for (std::size_t r = 0; r <= splitters.size(); ++r)
        parts[r].resize(static_cast<std::size_t>(to[r] - std::as_const(parts[r]).data()));
    }
    return parts;
  }
  /// Ends of an edge, which are all that joining trees needs.
  struct Ends {
    std::uint32_t low;
    std::uint32_t high;
  };
  template <class Edge>
  static Ends ends_of(const Edge& e) {
    return {static_cast<std::uint32_t>(e.low), static_cast<std::uint32_t>(e.high)};
  }
  template <class Edge>
  static Ends ends_of(const UndecidedEdge<Edge>& e) {
    return {e.from, e.to};
  }

  comm::Transport& transport_;
  Report& report_;
};

}  // namespace merganser::msf
