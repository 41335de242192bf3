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
#include "merganser/msf/forest.hpp"
#include "python/src/arrays.hpp"
#include "python/src/team.hpp"

namespace merganser::python {

/// Vertices that this process passed, in its order: consecutive numbers, or a list of ids.
struct Numbering {
  std::uint64_t first = 0;         ///< number of the first, if ids is empty
  std::size_t count = 0;           ///< number of vertices
  std::vector<std::uint64_t> ids;  ///< numbers of the vertices; empty: first, first + 1, ...
};

/// Share of a forest's edges that this process holds (all, if all ranks are threads of it), and the team of the forest.
class ForestObject : Pinned {
 public:
  /// Takes a share of a forest. Collective over a communicator, where it computes the totals.
  ForestObject(std::shared_ptr<Team> team, msf::Forest forest, Numbering own);

  /// Returns the ends of the edges, (m, 2), low before high, in ascending order of (weight, low, high): a read-only view.
  [[nodiscard]] static nb::object edges(const nb::handle& self);
  /// Returns a copy of the weights in the order of edges(), of the type that they have.
  [[nodiscard]] nb::object weights();
  /// Returns digest, weight and counts of the whole forest. Local.
  [[nodiscard]] const msf::ForestTotals& totals();
  /// Sorts the edges at the first call, and returns the forest. Requires the interpreter's lock, which it releases meanwhile.
  const msf::Forest& sorted();
  /// Returns the forest after a call of sorted(). Needs no lock.
  [[nodiscard]] const msf::Forest& sorted_forest() const noexcept { return forest_; }
  /// Calls body with the forest, whose edges are in any order, and prevents sorting meanwhile. Without the interpreter's lock.
  template <class Body>
  void read(const Body& body) {
    const std::lock_guard lock(mutex_);
    body(std::as_const(forest_));
  }
  /// Returns the number of vertices of the whole forest.
  [[nodiscard]] std::uint64_t vertices() const noexcept { return forest_.vertices; }
  /// Returns the vertices that this process passed.
  [[nodiscard]] const Numbering& own() const noexcept { return own_; }
  /// Returns the team whose ranks hold the forest.
  [[nodiscard]] const std::shared_ptr<Team>& team() const noexcept { return team_; }

 private:
  std::shared_ptr<Team> team_;
  msf::Forest forest_;
  Numbering own_;
  std::mutex mutex_;
  bool sorted_ = false;
  std::optional<msf::ForestTotals> totals_;
};

/// Accumulator of the shares of a forest of ranks that are threads. The order of the edges depends on the order of calls.
class Shares {
 public:
  /// Appends a rank's share. Thread-safe.
  void add(msf::Forest&& share);
  /// Moves the whole forest out, after all ranks have added theirs.
  [[nodiscard]] msf::Forest release() { return std::move(all_); }

 private:
  std::mutex mutex_;
  msf::Forest all_;
};

}  // namespace merganser::python
