#include "src/msf/local/halting.hpp"

#include <algorithm>

#include "merganser/base/id_table.hpp"
#include "merganser/msf/local_forest.hpp"
#include "src/msf/local/union_find.hpp"

namespace merganser::msf {
namespace {

/// Dense numbers in the order of ids: vertices below the range, the range, vertices above it.
class DenseIds {
 public:
  template <class Edge>
  DenseIds(const std::vector<Edge>& edges, std::uint64_t first, std::uint64_t end, std::uint64_t vertices)
      : first_(first), end_(end), table_(edges.size(), vertices) {
    for (const Edge& e : edges)
      for (const std::uint64_t v : {std::uint64_t{e.low}, std::uint64_t{e.high}})
        if (!own(v)) table_.insert(v);
    away_ = table_.keys();
    std::sort(away_.begin(), away_.end());
    below_ = static_cast<std::size_t>(std::lower_bound(away_.begin(), away_.end(), first) - away_.begin());
    place_.resize(away_.size());
    for (std::size_t i = 0; i < away_.size(); ++i) place_[table_.insert(away_[i])] = i;
  }
  [[nodiscard]] bool own(std::uint64_t v) const { return v >= first_ && v < end_; }
  [[nodiscard]] std::uint64_t size() const { return away_.size() + (end_ - first_); }
  [[nodiscard]] std::uint64_t dense(std::uint64_t v) {
    if (own(v)) return below_ + (v - first_);
    const std::uint64_t at = place_[table_.insert(v)];
    return v < first_ ? at : at + (end_ - first_);
  }
  [[nodiscard]] std::uint64_t id(std::uint64_t dense) const {
    if (dense < below_) return away_[static_cast<std::size_t>(dense)];
    if (dense < below_ + (end_ - first_)) return first_ + (dense - below_);
    return away_[static_cast<std::size_t>(dense - (end_ - first_))];
  }

 private:
  std::uint64_t first_;
  std::uint64_t end_;
  IdTable table_;                    // of vertices beyond the range
  std::vector<std::uint64_t> away_;  // the same, ascending
  std::vector<std::uint64_t> place_;
  std::size_t below_ = 0;
};

/// Edges in ascending order, one after the other. A component is halted once an edge that it cannot take has left it:
/// that edge is its least one. An edge between two components of which one is not halted is the least of that one.
template <class Edge>
class Halting {
 public:
  Halting(std::uint64_t first, std::uint64_t end)
      : first_(first), end_(end), sets_(end - first), halted_(end - first) {}

  void take(const Edge& e) {
    const bool low_own = own(e.low);
    if (!low_own || !own(e.high)) {
      halted_[root(low_own ? e.low : e.high)] = 1;
      if (low_own) left_.push_back(e);
      return;
    }
    const std::uint32_t a = root(e.low);
    const std::uint32_t b = root(e.high);
    if (a == b) return;
    if (halted_[a] != 0 && halted_[b] != 0) {
      left_.push_back(e);
      return;
    }
    const std::uint8_t halted = halted_[a] | halted_[b];
    sets_.join(a, b);
    halted_[sets_.find(a)] = halted;
    forest_.push_back(e);
  }

  LocalContraction<Edge> result() {
    sets_.flatten();
    LocalContraction<Edge> out;
    for (const Edge& e : left_)
      if (!own(e.high) || sets_.labels()[e.low - first_] != sets_.labels()[e.high - first_]) out.left.push_back(e);
    out.forest = std::move(forest_);
    out.parent.resize(static_cast<std::size_t>(end_ - first_));
    for (std::size_t v = 0; v < out.parent.size(); ++v) out.parent[v] = first_ + sets_.labels()[v];
    return out;
  }

 private:
  [[nodiscard]] bool own(std::uint64_t v) const { return v >= first_ && v < end_; }
  std::uint32_t root(std::uint64_t v) { return sets_.find(static_cast<std::uint32_t>(v - first_)); }

  std::uint64_t first_;
  std::uint64_t end_;
  UnionFind sets_;
  std::vector<std::uint8_t> halted_;
  std::vector<Edge> forest_;
  std::vector<Edge> left_;
};

}  // namespace

template <class Edge>
LocalContraction<Edge> contract_locally(std::vector<Edge> edges, std::uint64_t first, std::uint64_t end,
                                        std::uint64_t vertices, int threads) {
  using Id = typename Edge::id_type;
  DenseIds ids(edges, first, end, vertices);
  for (Edge& e : edges) e = {static_cast<Id>(ids.dense(e.low)), static_cast<Id>(ids.dense(e.high)), e.weight};
  const auto least = local_forest<Edge>(edges, ids.size(), threads);
  edges = std::vector<Edge>();
  Halting<Edge> halting(first, end);
  for (const Edge& e : least) halting.take({static_cast<Id>(ids.id(e.low)), static_cast<Id>(ids.id(e.high)), e.weight});
  return halting.result();
}

template LocalContraction<graphs::Edge12> contract_locally(std::vector<graphs::Edge12>, std::uint64_t, std::uint64_t,
                                                           std::uint64_t, int);
template LocalContraction<graphs::Edge16> contract_locally(std::vector<graphs::Edge16>, std::uint64_t, std::uint64_t,
                                                           std::uint64_t, int);
template LocalContraction<graphs::Edge24> contract_locally(std::vector<graphs::Edge24>, std::uint64_t, std::uint64_t,
                                                           std::uint64_t, int);

}  // namespace merganser::msf
