#pragma once
/// A spanning forest that Python holds.
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

/// Which vertices are this process's own: those that it gave, in its order.
struct Numbering {
  std::uint64_t first = 0;  ///< number of the first, where ids is empty
  std::size_t count = 0;
  std::vector<std::uint64_t> ids;
};

/// The edges of a forest that this process holds, all of them if all ranks are here, and whose ranks they are.
class ForestObject : Pinned {
 public:
  /// Collective over a communicator, where it adds up what the forest is.
  ForestObject(std::shared_ptr<Team> team, msf::Forest forest, Numbering own);

  /// Ends of the edges, low and high, in ascending order of (weight, low, high); read only, over our memory.
  [[nodiscard]] static nb::object edges(const nb::handle& self);
  /// Weights of the edges in the same order, of the type that they have.
  [[nodiscard]] nb::object weights();
  /// What all ranks' shares have in common.
  [[nodiscard]] const msf::ForestTotals& totals();
  /// The forest with its edges in order. Called with the interpreter's lock, which it lets go of meanwhile.
  const msf::Forest& sorted();
  /// The same without the lock, after sorted().
  [[nodiscard]] const msf::Forest& sorted_forest() const noexcept { return forest_; }
  /// Calls body with the forest, whose edges are in any order, and nobody sorts them meanwhile. Without the lock.
  template <class Body>
  void read(const Body& body) {
    const std::lock_guard lock(mutex_);
    body(std::as_const(forest_));
  }
  /// Vertices of the whole forest.
  [[nodiscard]] std::uint64_t vertices() const noexcept { return forest_.vertices; }
  /// Vertices that this process gave.
  [[nodiscard]] const Numbering& own() const noexcept { return own_; }
  /// Whose it is.
  [[nodiscard]] const std::shared_ptr<Team>& team() const noexcept { return team_; }

 private:
  std::shared_ptr<Team> team_;
  msf::Forest forest_;
  Numbering own_;
  std::mutex mutex_;
  bool sorted_ = false;
  std::optional<msf::ForestTotals> totals_;
};

/// Takes the shares of ranks that are threads together, in any order.
class Shares {
 public:
  /// Adds a rank's share; from any thread.
  void add(msf::Forest&& share);
  /// All of it.
  [[nodiscard]] msf::Forest take() { return std::move(all_); }

 private:
  std::mutex mutex_;
  msf::Forest all_;
};

}  // namespace merganser::python
