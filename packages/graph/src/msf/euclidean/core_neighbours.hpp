#pragma once
/// Lists of the edges of each point that weigh exactly its core distance, for the search for edges of equal weight.
#include <cstdint>
#include <span>
#include <vector>

#include "merganser/base/release_memory.hpp"
#include "src/msf/euclidean/sites.hpp"
#include "src/msf/euclidean/state.hpp"

namespace merganser::msf::euclidean {

/// For each point v the points u within its core distance whose own core distance is not greater: the edges at v whose mutual
/// reachability distance is the core distance of v. No edge at v is lighter, and most points join a cluster by one of these (96 to
/// 98 % of uniform points in 3 to 10 dimensions). They are among the nearest points that the search for core distances finds.
class CoreNeighbours {
 public:
  static constexpr std::uint32_t kMax = 32;  ///< most nearest points per point that are searched
  static constexpr std::uint64_t kMaxPoints =
      ~std::uint32_t{0} / kMax;  ///< positions of entries are numbers of 32 bits

  /// Selects the lists from nearest points that are known. Local.
  /// @param tree   all points
  /// @param near   nearest points of each, at least min_samples, from 2 to kMax
  /// @param cores  squared core distances, by point of the tree
  /// @param threads  threads that share the points; the lists do not depend on it
  template <std::size_t D>
  CoreNeighbours(const PointTree<D>& tree, const NearPoints& near, std::span<const double> cores,
                 std::uint32_t min_samples, std::uint64_t total, int threads = 1);
  /// Searches the nearest points of all points, and selects the same lists. Local. All are empty without core distances, in more
  /// than kMaxAxes dimensions, and with min_samples below 2 or above kMax.
  /// @param cores  core distances as weights have them, by id; empty: plain distances
  /// Cost: that of core distances, with a tree of boxes meanwhile
  CoreNeighbours(const Sites& sites, std::span<const double> cores, int min_samples);

  /// Returns the number of points.
  [[nodiscard]] std::size_t size() const { return place_.size(); }
  /// Completes the lists of all points by what the search for a spanning tree of them has found out about other edges.
  /// @param tied  weights for which some minimum spanning tree may have an edge that neither that tree nor a list has, though all lists
  ///              are known; in any order
  void complete(std::vector<double> tied);
  /// Releases what complete() would need. Nothing is known then of edges that neither the tree nor a list has.
  void leave_incomplete() { release_memory(open_); }
  /// Returns whether it is known for which weights the lists and the tree of the forest that the lists came with have all edges of all
  /// minimum spanning trees.
  [[nodiscard]] bool is_complete() const { return complete_; }
  /// Returns the weights for which other edges are possible, ascending, each once. Nothing is known unless is_complete().
  [[nodiscard]] std::span<const double> open_weights() const { return open_; }
  /// Returns the list of the point at a place, as places, without an order. Empty: it is not known, where equal points or equal distances
  /// make it longer than min_samples - 1; which those are does not depend on the number of ranks.
  [[nodiscard]] std::span<const std::uint32_t> at(std::uint32_t place) const {
    return std::span<const std::uint32_t>(entries_).subspan(begin_[place], count_[place]);
  }
  /// Returns the list of point v, by id, as places, as at() does; empty also for a point without a place.
  [[nodiscard]] std::span<const std::uint32_t> of(std::uint64_t v) const {
    return place_.empty() || place_[v] == kNone ? std::span<const std::uint32_t>() : at(place_[v]);
  }
  /// Returns the ids of points by place. Places are in the order of a tree of boxes, so that those of a list are near each other; points that
  /// others represent have none.
  [[nodiscard]] std::span<const std::uint32_t> ids() const { return id_; }
  /// Returns the places of points, by id; kNone: there is none.
  [[nodiscard]] std::span<const std::uint32_t> places() const { return place_; }

 private:
  /// Sets the places of points, of `total`, and makes room for their lists. @param longest  most entries of a list
  template <std::size_t D>
  void set_places(const PointTree<D>& tree, std::uint64_t total, std::uint32_t longest);
  /// Does what the constructor from gathered points does with the `keep` nearest points of each, in a tree of D axes.
  template <std::size_t D>
  void search(const Sites& sites, std::span<const double> cores, std::uint32_t keep);
  /// Lists of consecutive points.
  struct Part {
    std::vector<std::uint32_t> entries;  ///< places, list after list
    std::vector<double> open;            ///< core distances of the points whose lists are not known
  };
  /// Appends the list of a point to `part`, unless it is not known.
  /// @param near     its nearest points, ascending; kNone where there are no more
  /// @param within   the distance to so many of them is known not to be above its core distance
  /// @param core_of  returns the core distance of a point of the tree, as weights have it
  /// @param folded   by point of the tree: 1: it represents several equal points
  /// @param measure  has the functions weight() and compared_above() of Metric
  template <std::size_t D>
  void add(const PointTree<D>& tree, std::uint32_t v, std::span<const std::uint32_t> near, std::uint32_t within,
           const auto& core_of, std::span<const std::uint8_t> folded, const auto& measure, Part& part);

  std::vector<std::uint32_t> id_;     // by place: the point
  std::vector<std::uint32_t> place_;  // by id: its place; no points: there are no lists
  std::vector<std::uint32_t> begin_;  // by place: position of the list in entries_
  std::vector<std::uint8_t> count_;   // by place: length of the list
  std::vector<std::uint32_t>
      entries_;               // places, list after list; memory: about half of those within the core distances
  std::vector<double> open_;  // weights for which lists may lack edges
  bool complete_ = false;     // complete() has been called
};

}  // namespace merganser::msf::euclidean
