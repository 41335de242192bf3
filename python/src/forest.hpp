#pragma once
/// Spanning forest that Python owns, of which each process holds its share of the edges.
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "merganser/base/pinned.hpp"
#include "merganser/msf/euclidean.hpp"
#include "merganser/msf/forest.hpp"
#include "python/src/arrays.hpp"
#include "python/src/team.hpp"

namespace merganser::python {

/// Vertices of a spanning forest (points, or vertices of a graph) that this process passed, in its order: consecutive numbers, or
/// a list of ids. Cluster labels are returned to the process in this order.
struct Numbering {
  std::uint64_t first = 0;         ///< number of the first vertex of this process, if ids is empty
  std::size_t count = 0;           ///< number of vertices that this process passed
  std::vector<std::uint64_t> ids;  ///< numbers of the vertices; empty: first, first + 1, ...
};

/// Spanning forest that Python owns as Forest: the share of its edges that this process holds (all, if all ranks are threads of
/// it), and the team of ranks that found it.
class ForestObject : Pinned {
 public:
  /// Takes this process's share of the edges of a spanning forest and the vertices that it passed. Collective over a communicator,
  /// where it computes the forest's totals.
  ForestObject(std::shared_ptr<Team> team, msf::Forest forest, Numbering own);

  /// Returns the ends of this process's forest edges, int64 of shape (m, 2), low before high, in ascending order of (weight, low,
  /// high): a read-only NumPy view, which keeps the Python object `self` alive.
  [[nodiscard]] static nb::object edges(const nb::handle& self);
  /// Returns a copy of the weights of this process's forest edges in the order of edges(), as the type that the graph had.
  [[nodiscard]] nb::object weights();
  /// Returns digest, total weight, and numbers of edges and components of the whole spanning forest, over all ranks. Local.
  [[nodiscard]] const msf::ForestTotals& totals();
  /// Sorts this process's edges by (weight, low, high) at the first call, and returns its share of the spanning forest.
  /// Thread-safe. Requires the interpreter's lock, which it releases meanwhile.
  const msf::Forest& sorted();
  /// Returns this process's share of the spanning forest after a call of sorted(), which later calls do not change. Needs no lock.
  [[nodiscard]] const msf::Forest& sorted_forest() const noexcept { return forest_; }
  /// Calls body with this process's share of the spanning forest, whose edges are in any order, and prevents sorted() from
  /// reordering them meanwhile. Called without the interpreter's lock.
  template <class Body>
  void read(const Body& body) {
    const std::lock_guard lock(mutex_);
    body(std::as_const(forest_));
  }
  /// Returns the number of vertices of the whole spanning forest, over all ranks.
  [[nodiscard]] std::uint64_t vertices() const noexcept { return forest_.vertices; }
  /// Returns the vertices that this process passed to the search for the spanning forest.
  [[nodiscard]] const Numbering& own() const noexcept { return own_; }
  /// Keeps the core distances of the vertices that this process passed, for gather_points().
  void set_cores(std::vector<double> cores, msf::euclidean::NeighboursPointer neighbours) {
    cores_ = std::move(cores);
    neighbours_ = std::move(neighbours);
  }
  /// Returns what the first call of gather_points() takes beside the core distances, and does not keep it. Thread-safe.
  [[nodiscard]] msf::euclidean::NeighboursPointer take_neighbours() {
    const std::lock_guard lock(mutex_);
    return std::exchange(neighbours_, nullptr);
  }
  /// Returns the core distances of the vertices that this process passed; empty if they were not kept.
  [[nodiscard]] const std::vector<double>& cores() const noexcept { return cores_; }
  /// Returns the team whose ranks hold the edges of the spanning forest.
  [[nodiscard]] const std::shared_ptr<Team>& team() const noexcept { return team_; }

 private:
  std::shared_ptr<Team> team_;
  msf::Forest forest_;
  Numbering own_;
  std::vector<double> cores_;
  msf::euclidean::NeighboursPointer neighbours_;
  std::mutex mutex_;
  bool sorted_ = false;
  std::optional<msf::ForestTotals> totals_;
};

/// Accumulator of the spanning forest edges that ranks which are threads of this process have found. The order of the edges depends
/// on the order in which the threads add theirs.
class ForestShares {
 public:
  /// Appends the forest edges that one rank found. Thread-safe.
  void add(msf::Forest&& share);
  /// Moves the whole spanning forest out, after all ranks have added their edges.
  [[nodiscard]] msf::Forest release() { return std::move(all_); }

 private:
  std::mutex mutex_;
  msf::Forest all_;
};

}  // namespace merganser::python
