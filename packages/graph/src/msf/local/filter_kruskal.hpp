#pragma once
/// Filter-Kruskal [osipov2009] over the edges of one rank or of all ranks: selection by pivots, radix sort, joining of trees, and the
/// filter that drops edges within one tree unsorted.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "merganser/base/parallel.hpp"
#include "merganser/base/simulated.hpp"
#include "src/msf/local/between_trees.hpp"
#include "src/msf/local/buffer.hpp"
#include "src/msf/local/edge_lists.hpp"
#include "src/msf/local/edge_sort.hpp"
#include "src/msf/local/interior.hpp"
#include "src/msf/local/light_batches.hpp"
#include "src/msf/local/union_find.hpp"

namespace merganser::msf {

/// Cost of sorting and joining an edge, relative to filtering one; for the share of work that progress callbacks report.
inline constexpr std::size_t kSortCost = 8;

/// Validates the number of vertices of a filter-Kruskal run, whose numbers must fit 32 bits. @throws InputError
void check_vertices(std::uint64_t vertices);

/// Validates the largest end of a rank's edges. @throws InputError unless it is one of the vertices of the graph
void check_highest_end(std::uint64_t end, std::uint64_t vertices);

/// Progress of filter-Kruskal on one rank, in units of filtered edges. Used by one thread, which counts for all.
class ForestProgress {
 public:
  ForestProgress(const std::function<void(double)>& tell, std::size_t total)
      : tell_(tell), total_(static_cast<double>(total)) {}
  /// Counts filtered edges (or work of that cost) as done, and calls the progress callback with the share after every 2^22 edges.
  void add(std::size_t edges) {
    if (!tell_) return;
    done_ += edges;
    if (done_ < told_ + kEvery) return;
    told_ = done_;
    tell_(std::min(1.0, static_cast<double>(done_) / total_));
  }

 private:
  static constexpr std::size_t kEvery = std::size_t{1} << 22;
  const std::function<void(double)>& tell_;
  double total_;
  std::size_t done_ = 0;
  std::size_t told_ = 0;
};

/// Filter step of filter-Kruskal: returns the edges for which `keep` holds, in their order, filtered by several threads; every weight
/// is xored with `flip` first (all bits for a maximum forest).
///
/// Appending has no branch on the outcome, which is unpredictable. A predicate may have a member list(block, positions), which lists the
/// positions of edges that may be kept, of all that are to be kept, and returns their number; it is applied to these edges only.
/// @param expected  estimated number of edges kept, for the first allocation
template <class Edge, class Keep>
Buffer<Edge> select(std::span<const Edge> edges, typename Edge::bits_type flip, int threads, std::size_t expected,
                    ForestProgress& progress, const Keep& keep) {
  constexpr std::size_t kBlock = 2048;  // edges that a thread filters at a time, which the first-level cache holds
  std::vector<Buffer<Edge>> parts(static_cast<std::size_t>(threads));
  in_parallel(threads, [&](int t) {
    const auto mine = thread_share(edges, t, threads);
    auto& out = parts[static_cast<std::size_t>(t)];
    out.reserve(expected / static_cast<std::size_t>(threads) + kBlock);
    std::vector<std::uint32_t> positions(kBlock + kListSlack);
    for (std::size_t begin = 0; begin < mine.size(); begin += kBlock) {
      const auto block = mine.subspan(begin, std::min(kBlock, mine.size() - begin));
      std::size_t listed = block.size();
      if constexpr (requires { keep.list(block, positions.data()); }) listed = keep.list(block, positions.data());
      Edge* const to = out.reserve_more(listed);
      std::size_t kept = 0;
      const auto add = [&](Edge e) {
        e.weight ^= flip;
        to[kept] = e;
        kept += static_cast<std::size_t>(keep(e));
      };
      if (listed == block.size())
        for (const Edge& e : block) add(e);
      else
        for (std::size_t i = 0; i < listed; ++i) add(block[positions[i]]);
      out.resize(out.size() + kept);
      if (t == 0) progress.add(block.size() * static_cast<std::size_t>(threads));
    }
  });
  Buffer<Edge> all = std::move(parts[0]);
  for (std::size_t t = 1; t < parts.size(); ++t) all.append(parts[t].span());
  return all;
}

/// Returns `count` edges of a non-empty list, drawn with replacement by a fixed sequence that begins at `seed`: a stride would see
/// weights that repeat. Weights are xored with `flip`.
template <class Edge>
std::vector<Edge> sample_edges(std::span<const Edge> edges, typename Edge::bits_type flip, std::size_t count,
                               std::uint64_t seed) {
  std::vector<Edge> sample;
  sample.reserve(count);
  std::uint64_t at = 0x9e3779b97f4a7c15ULL * (seed + 1);
  for (std::size_t i = 0; i < count; ++i) {
    at = at * 6364136223846793005ULL + 1442695040888963407ULL;
    __extension__ using Wide = unsigned __int128;
    sample.push_back(edges[static_cast<std::size_t>((static_cast<Wide>(at) * edges.size()) >> 64)]);
    sample.back().weight ^= flip;
  }
  return sample;
}

/// Kruskal's algorithm on edges, or pairs of their ends, in ascending order: joins the trees at their ends, and calls joined(i) for
/// every edge that joined two trees. Local. Ends are prefetched, since a random vertex's parent is seldom in the cache.
template <class Edge, class Joined>
void join_trees(UnionFind& sets, std::span<const Edge> edges, const Joined& joined) {
  constexpr std::size_t kAhead = 24;  // distance in edges at which ends are prefetched
  const std::size_t n = edges.size();
  for (std::size_t i = 0; i < n; ++i) {
    if (i + kAhead < n) {
      sets.prefetch(static_cast<std::uint32_t>(edges[i + kAhead].low));
      sets.prefetch(static_cast<std::uint32_t>(edges[i + kAhead].high));
    }
    if (sets.join(static_cast<std::uint32_t>(edges[i].low), static_cast<std::uint32_t>(edges[i].high))) joined(i);
  }
}

/// Edges of all ranks that were joined along, and how many of them joined two trees.
struct JoinCount {
  std::size_t edges = 0;   ///< number of edges of all ranks
  std::size_t joined = 0;  ///< number of those that joined two trees
};

/// Filter-Kruskal over the edges of all ranks of `Ranks`, which is one rank or communicates.
///
/// A round selects the light edges, about two per tree that is left, joins trees along them in ascending order, and drops the heavy
/// edges within one tree by then. The light edges are joined in batches of increasing weight, each filtered by the trees before it:
/// in graphs with hubs most of them lie within the largest tree, and are never sorted. All ranks have the same trees.
///
/// Where few vertices are touched by edges of several ranks, as a sample tells, each rank first contracts its interior (see
/// InteriorTrees), and only the edges that are undecided then are sorted and joined by all ranks together. The trees of vertices that
/// only one rank's edges touch are then known to that rank alone.
///
/// `Ranks` has, each collective: count(edges), the number on all ranks; gather(sample), of all ranks, on every rank; agree(check),
/// which throws on every rank what check() throws on one; distribute(batch, splitters), this rank's range of all ranks' batches;
/// join(sets, sorted, joined), which calls join_trees() with the sorted ranges of all ranks in order, and joined(i) for edges of this
/// rank, and returns a JoinCount; and Scope(ranks, local), the measurement of local work or of communication. Where its kContracts is
/// true also: own_range(sample, vertices), this rank's range of vertices, if ranks share few; union_of(lists) of vertices of all ranks,
/// ascending; and sum(count), a JoinCount over all ranks.
template <class Edge, class Ranks>
class FilterKruskal {
 public:
  using Bits = typename Edge::bits_type;

  /// @param flip  complements the bits of all weights first, for a maximum spanning forest
  FilterKruskal(std::uint64_t vertices, int threads, bool flip, Ranks& ranks, ForestProgress& progress)
      : vertices_(vertices),
        ranks_(ranks),
        threads_(std::max(1, threads)),
        flip_(flip ? static_cast<Bits>(~Bits{0}) : Bits{0}),
        progress_(progress) {}

  /// Computes the forest of all ranks' edges. Collective over the ranks. @return this rank's edges of it, ascending. @throws InputError
  /// on every rank for ends that are no vertices or too many vertices
  std::vector<Edge> run(std::span<const Edge> edges) {
    ranks_.agree([&] {
      const typename Ranks::Scope scope(ranks_, true);
      check_vertices(vertices_);
      trees_ = static_cast<std::size_t>(vertices_);
      sets_ = UnionFind(trees_);
    });
    Buffer<Edge> heavy;  // memory of `edges` from the second round on
    for (bool last = false; !last;) {
      const std::size_t count = ranks_.count(edges.size());
      last = count <= std::max(2 * kSample, 3 * trees_);
      // At least twice the trees that are left, so that light edges join most of them, and an eighth, so that rounds are few.
      choose_pivots(edges, count, last ? count : std::max(2 * trees_, count / 8));
      LightEdges light = select_light(edges, last);
      ranks_.agree([&] {
        if (!edges.empty()) check_highest_end(light.highest, vertices_);
      });
      if (range_ && !interior_) start_interior(light.away);
      first_round_ = false;
      join_in_batches(std::move(light.batches));
      if (last) break;
      const typename Ranks::Scope scope(ranks_, true);
      // Light edges lie within trees by now, so this filter drops them with the heavy edges that cannot be in the forest.
      heavy = select(edges, flip_, threads_, edges.size() / 16, progress_, between_trees());
      edges = heavy.span();
      flip_ = 0;
    }
    return {forest_.begin(), forest_.end()};
  }

 private:
  static constexpr std::size_t kSample = 4096;      // least number of edges in the sample for pivots
  static constexpr std::size_t kManyEdges = 65536;  // light edges from which on they may be joined in batches

  /// Range of weights of a batch of light edges: its last edge, and the last edges of ranges for all ranks but the last.
  struct BatchRange {
    Edge last;
    std::vector<Edge> splitters;
  };

  /// Chooses the batches in which about `wanted` of all ranks' `count` edges are joined, by a sample: the last edge of the last one is
  /// the pivot between light and heavy edges. A few edges are one batch, of rank 0. Collective; the same on every rank.
  void choose_pivots(std::span<const Edge> edges, std::size_t count, std::size_t wanted) {
    batches_.clear();
    if (count <= 2 * kSample) return batches_.push_back({});
    const auto ranks = static_cast<std::size_t>(ranks_.size());
    // Filters between batches pass over all vertices, at about a thirtieth of the cost of sorting and joining as many edges.
    // Every rank sorts the sample for the smallest of them, about 2,048 edges for each rank: at most an eighth of the light edges.
    const std::size_t many = std::max({kManyEdges, kManyEdges / 4 * ranks, static_cast<std::size_t>(vertices_ / 4)});
    const std::vector<std::size_t> parts =
        wanted < many ? std::vector<std::size_t>{0, 8} : std::vector<std::size_t>{0, 1, 2, 4, 8};
    // At least 32 edges of the sample for a rank's range of the smallest batch, so that ranges differ by a fifth.
    const std::size_t size = ranks == 1 ? kSample : std::max(kSample, 32 * ranks * (count / wanted) * 8 / parts[1]);
    std::vector<Edge> sample;
    if (!edges.empty())
      sample = sample_edges(edges, flip_, (edges.size() * size + count - 1) / count,
                            static_cast<std::uint64_t>(ranks_.rank()));
    // In the first round only, since a vertex must not become a shared one later.
    if constexpr (Ranks::kContracts) {
      if (first_round_ && vertices_ <= InteriorTrees::kMaxVertices)
        range_ = ranks_.own_range(std::span<const Edge>(sample), vertices_);
    }
    sample = ranks_.gather(std::move(sample));
    const typename Ranks::Scope scope(ranks_, true);
    std::sort(sample.begin(), sample.end());
    const auto at = [&](std::size_t eighths, std::size_t of, std::size_t to) {
      const std::size_t from = wanted * of / 8;
      const std::size_t place = from + (wanted * to / 8 - from) * eighths / ranks;
      return sample[std::min(sample.size() - 1, place * sample.size() / count)];
    };
    for (std::size_t b = 1; b < parts.size(); ++b) {
      BatchRange range{at(ranks, parts[b - 1], parts[b]), {}};
      for (std::size_t r = 1; r < ranks; ++r) range.splitters.push_back(at(r, parts[b - 1], parts[b]));
      batches_.push_back(std::move(range));
    }
  }

  /// Result of a scan of this rank's edges: light ones, and ends.
  struct LightEdges {
    std::vector<Buffer<Edge>> batches;
    std::uint64_t highest = 0;  // largest end of all edges
    std::vector<std::uint64_t>
        away_bits;  // by vertex, if interior trees begin: an edge ends there, outside this rank's range
    std::vector<std::uint32_t> away;  // the same vertices, ascending
  };

  /// Returns this rank's light edges, or in the last round all its edges but loops, divided into the batches; in their order.
  LightEdges select_light(std::span<const Edge> edges, bool last) {
    const typename Ranks::Scope scope(ranks_, true);
    std::vector<LightEdges> parts(static_cast<std::size_t>(threads_));
    in_parallel(threads_, [&](int t) {
      select_light(thread_share(edges, t, threads_), last, t, parts[static_cast<std::size_t>(t)]);
    });
    LightEdges all = std::move(parts[0]);
    for (std::size_t t = 1; t < parts.size(); ++t) {
      for (std::size_t b = 0; b < all.batches.size(); ++b) all.batches[b].append(parts[t].batches[b].span());
      for (std::size_t w = 0; w < all.away_bits.size(); ++w) all.away_bits[w] |= parts[t].away_bits[w];
      all.highest = std::max(all.highest, parts[t].highest);
    }
    for (std::size_t w = 0; w < all.away_bits.size(); ++w)
      for (std::uint64_t bits = all.away_bits[w]; bits != 0; bits &= bits - 1)
        all.away.push_back(static_cast<std::uint32_t>(64 * w + static_cast<std::size_t>(std::countr_zero(bits))));
    return all;
  }

  /// Selects the light edges among the part of this rank's edges that thread t takes, split into batches. Local.
  void select_light(std::span<const Edge> edges, bool last, int t, LightEdges& found) {
    constexpr std::size_t kBlock = 2048;  // edges that are listed at a time, which the first-level cache holds
    const std::size_t parts = batches_.size();
    found.batches.resize(parts);
    // An eighth, an eighth, a quarter and a half, and a sixteenth more: growing would copy them and touch new memory.
    const std::size_t expected = (last ? edges.size() : edges.size() / 7) / 16 * 17;
    for (std::size_t b = 0; b < parts; ++b)
      found.batches[b].reserve((parts == 1 ? expected : expected >> std::min<std::size_t>(3, 4 - b)) + kBlock);
    const bool marks = range_ && !interior_;
    if (marks) found.away_bits.resize(static_cast<std::size_t>(vertices_ / 64 + 1));
    std::array<Edge, LightBatches<Edge>::kMax> lasts{};
    for (std::size_t b = 0; b < parts; ++b) lasts[b] = batches_[b].last;
    const LightBatches<Edge> batch_of(std::span<const Edge>(lasts).first(parts), last);
    std::vector<std::uint32_t> light(kBlock + kListSlack);
    std::vector<std::uint32_t> away(kBlock + kListSlack);
    Buffer<Edge> dropped(kBlock);
    std::array<Edge*, LightBatches<Edge>::kMax + 1> to{};
    for (std::size_t begin = 0; begin < edges.size(); begin += kBlock) {
      const auto block = edges.subspan(begin, std::min(kBlock, edges.size() - begin));
      const ListedEdges listed =
          list_edges<Edge>(block, flip_, batch_of.pivot(), marks ? *range_ : VertexRange{}, light.data(), away.data());
      found.highest = std::max(found.highest, listed.highest);
      for (std::size_t b = 0; b < parts; ++b) to[b] = found.batches[b].reserve_more(listed.light);
      to[parts] = dropped.data();
      for (std::size_t i = 0; i < listed.light; ++i) {
        Edge e = block[light[i]];
        e.weight ^= flip_;
        // A loop before the last sort goes to `dropped`.
        const std::size_t b = last && e.low == e.high ? parts : batch_of(e);
        *to[b]++ = e;
      }
      for (std::size_t b = 0; b < parts; ++b)
        found.batches[b].resize(static_cast<std::size_t>(to[b] - found.batches[b].data()));
      for (std::size_t i = 0; marks && i < listed.away; ++i) mark_away(block[away[i]], found.away_bits);
      if (t == 0) progress_.add(block.size() * static_cast<std::size_t>(threads_));
    }
  }

  /// Marks the ends of an edge that lie outside this rank's range of vertices; ends that are no vertices are refused later.
  void mark_away(const Edge& e, std::vector<std::uint64_t>& bits) const {
    for (const std::uint64_t v : {std::uint64_t{e.low}, std::uint64_t{e.high}})
      if ((v < range_->first || v > range_->last) && v < vertices_) bits[v / 64] |= std::uint64_t{1} << (v % 64);
  }

  /// Joins trees along all ranks' light edges, batch after batch. Collective.
  void join_in_batches(std::vector<Buffer<Edge>> parts) {
    JoinCount before;
    for (std::size_t b = 0; b < parts.size(); ++b) {
      // A filter costs an eighth of sorting and joining, so it must drop an eighth, of which the batch before tells.
      if (b > 0 && 8 * before.joined < 7 * before.edges) {
        const typename Ranks::Scope scope(ranks_, true);
        parts[b] =
            select(std::as_const(parts[b]).span(), Bits{0}, threads_, parts[b].size(), progress_, between_trees());
      }
      before = interior_ ? join_interior(std::move(parts[b]), batches_[b].splitters)
                         : join(ranks_.distribute(std::move(parts[b]), batches_[b].splitters));
    }
  }

  /// Returns the predicate of edges between two trees, as the trees are now.
  BetweenTrees between_trees() { return interior_ ? BetweenTrees(*interior_) : BetweenTrees(sets_); }

  /// Starts the contraction of this rank's interior. Collective. @param away  ends of this rank's edges outside its range
  void start_interior([[maybe_unused]] const std::vector<std::uint32_t>& away) {
    if constexpr (Ranks::kContracts) {
      std::vector<std::uint32_t> shared = ranks_.union_of(away);
      const typename Ranks::Scope scope(ranks_, true);
      interior_.emplace(sets_, *range_, std::move(shared));
    }
  }

  /// Sorts a batch of this rank, contracts the interior along it, and joins trees along the edges of all ranks that are undecided then,
  /// in ascending order. Collective.
  JoinCount join_interior([[maybe_unused]] Buffer<Edge> mine, [[maybe_unused]] const std::vector<Edge>& splitters) {
    JoinCount here{mine.size(), 0};
    if constexpr (Ranks::kContracts) {
      Buffer<UndecidedEdge<Edge>> undecided;
      {
        const typename Ranks::Scope scope(ranks_, true);
        Buffer<Edge> scratch;
        sort_edges(mine, scratch);
        Edge* const found = forest_.reserve_more(mine.size());
        interior_->join(
            std::as_const(mine).span(), [&](const Edge& e) { found[here.joined++] = e; }, undecided);
        forest_.resize(forest_.size() + here.joined);
      }
      progress_.add(kSortCost * mine.size());
      const JoinCount all = ranks_.sum(here);
      trees_ -= all.joined;
      const JoinCount together = join(ranks_.distribute(std::move(undecided), splitters));
      return {all.edges, all.joined + together.joined};
    }
    return here;
  }

  /// Sorts this rank's range of a batch, joins trees along the edges of all ranks in ascending order, and adds those of this rank that
  /// join two trees to the forest. Collective.
  template <class Joinable>
  JoinCount join(Buffer<Joinable> mine) {
    {
      const typename Ranks::Scope scope(ranks_, true);
      Buffer<Joinable> scratch;
      sort_edges(mine, scratch);
    }
    progress_.add(kSortCost / 2 * mine.size());
    Edge* const found = forest_.reserve_more(std::min(mine.size(), trees_));
    const Joinable* const edges = mine.data();
    std::size_t joined = 0;
    const JoinCount count =
        ranks_.join(sets_, std::as_const(mine).span(), [&](std::size_t i) { found[joined++] = edges[i]; });
    forest_.resize(forest_.size() + joined);
    trees_ -= count.joined;
    progress_.add(kSortCost / 2 * mine.size());
    return count;
  }

  std::uint64_t vertices_;
  std::size_t trees_ = 0;  // trees left: vertices less edges of the forest
  Ranks& ranks_;
  UnionFind sets_{0};  // trees as sets of vertices; the same on every rank but for what interior_ contracts
  std::optional<InteriorTrees> interior_;  // of this rank, if it contracts it
  std::optional<VertexRange> range_;       // of this rank, if the ranks contract their interiors
  bool first_round_ = true;
  int threads_;
  Bits flip_;
  ForestProgress& progress_;
  std::vector<BatchRange> batches_;  // of the light edges of a round, ascending
  Buffer<Edge> forest_;
};

}  // namespace merganser::msf
