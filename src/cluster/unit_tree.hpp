#pragma once
/// Tree of the units of one rank (parcels of a step under a merge policy), in which a looker finds the nearest unit that the policy
/// admits as its partner, by any metric and pair conditions of a policy.
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "merganser/base/aligned_memory.hpp"
#include "merganser/nearest/box_tree.hpp"
#include "src/cluster/policy_units.hpp"

namespace merganser::cluster {

/// Conditions of a merge policy on a pair of units, and its metric, for one step.
struct PairFilter {
  /// Makes the conditions of a policy. @param columns  of the caller's schema
  PairFilter(const MergePolicy& policy, const PolicyColumns& columns, const Grid& grid);

  Box box;                 ///< domain
  PolicyColumns packed;    ///< columns of the metric and of equality in a packed row: metric first, then equality
  PolicyColumns columns;   ///< columns of the metric and of equality in a payload row of the parcels
  double within2;          ///< greatest squared distance of positions, inclusive; infinite: any
  double max_weight;       ///< greatest sum of volumes; infinite: any
  std::int64_t max_count;  ///< greatest sum of members; the greatest integer: any

  /// Returns the numbers of a packed row.
  [[nodiscard]] std::size_t width() const { return packed.phase.size() + packed.same.size(); }
  /// Writes the packed row of a unit, width() numbers, of which none is the bits of an integer. @param row  one that
  /// PolicyColumns::check_row() has accepted
  void pack(const double* row, double* packed_row) const;
  /// Writes the columns of the metric of a unit times their factors. @param row  as of pack()
  void place(const double* row, double* to) const {
    for (std::size_t i = 0; i < columns.phase.size(); ++i)
      to[i] = columns.value(row, columns.phase[i]) * columns.factors[i];
  }
};

/// Unit that looks for a partner, as compared with the units of a rank.
struct LookingUnit {
  Site site;                              ///< position and volume
  std::int64_t id;                        ///< id of the unit
  std::int64_t members;                   ///< parcels that it holds
  const double* packed;                   ///< its packed row
  std::span<const std::int64_t> refused;  ///< ids of the units that may not be its partners in this step
};

/// Partner found for a looking unit; partners compare by (distance2, id).
struct Partner {
  double distance2 = std::numeric_limits<double>::infinity();  ///< squared distance in the policy's metric
  std::int64_t id = std::numeric_limits<std::int64_t>::max();  ///< id of the partner
  std::uint32_t vertex = links::kNone;                         ///< its index on its rank; links::kNone: none found
  std::uint32_t arc = links::kNone;                            ///< arc to its rank; links::kNone: this rank
  std::uint32_t entry = links::kNone;  ///< of another rank: where PolicySearch keeps more about it
  std::uint32_t out = links::kNone;    ///< of another rank: index in PolicySearch::links().out
  /// Compares two partners of one unit.
  friend bool operator<(const Partner& a, const Partner& b) {
    return a.distance2 < b.distance2 || (a.distance2 == b.distance2 && a.id < b.id);
  }
};

/// Inserts a partner that is less than the last into an ascending list, from which the last goes.
inline void insert_partner(std::span<Partner> best, const Partner& partner) {
  std::size_t at = best.size() - 1;
  for (; at > 0 && partner < best[at - 1]; --at) best[at] = best[at - 1];
  best[at] = partner;
}

/// Tree of boxes over the units of a rank, kept over the rounds of a step: one or more trees for each combination of values of the
/// columns in which partners are equal. Nodes have the bounds of their units in all dimensions of the metric and the least id, volume
/// and number of members, so that units that are not admissible are left out together.
class UnitTree {
 public:
  /// Builds the tree of the units of this rank, which it refers to until the next call. Local. Cost: O(n) for units that do not crowd,
  /// else O(n log n).
  void build(const Units& units, const PairFilter& filter);
  /// Updates the tree to Units::changed and the units appended since the last call; those appended get trees of their own.
  /// Local. Cost: O(n), little for each.
  void update();
  /// Puts the least admissible partners of a unit of any rank into an ascending list, in place of those that are greater. Local.
  void find(const LookingUnit& looking, std::span<Partner> best) const;
  /// Puts units of the tree into an order in which those near each other are together. Local.
  void sort(std::vector<std::uint32_t>& units) const;
  /// Does what find() does for each of several units of this rank. Takes less time in the order of sort(), in which successive units
  /// visit the same nodes. Local.
  /// @param found  list of each, of `fan` partners
  void find_all(std::span<const std::uint32_t> lookers, std::size_t fan, std::span<Partner> found) const;
  /// Returns the packed row of a unit, by index.
  [[nodiscard]] const double* packed(std::size_t i) const { return packed_.data() + i * filter_->width(); }

 private:
  static constexpr std::size_t kMaxAxes = 3 + MergePolicy::kMaxPhaseColumns;
  static constexpr std::uint32_t kLeaf = 16;  // units of a leaf, at most
  static constexpr std::size_t kWide = nearest::BoxTree::kChildren;
  /// Node of the tree of two children, in which it is built and updated; its first child follows it. Its bounds are in bounds_, its
  /// least id and the slots of a leaf in view_nodes_.
  struct Node {
    double volume;         // least volume, if the policy limits it
    std::int64_t members;  // least number of members, if the policy limits it
    std::uint32_t second;  // second child; 0: a leaf
    std::uint32_t box;     // place among the children of inner nodes; links::kNone: none
    bool dirty;            // the bounds do not suit the units
  };
  /// Unit while a tree is built.
  template <std::size_t N>
  struct Item {
    std::array<double, N> at;
    std::uint32_t vertex;
    std::uint32_t bucket;
  };
  template <std::size_t N>
  struct Builder;
  class Search;
  void append_trees();
  [[nodiscard]] std::uint32_t group_of(const double* values);
  void remove(std::uint32_t vertex);
  void refit(std::size_t first);
  void refit_leaf(std::size_t node);
  void set_box(std::size_t node);
  void widen(std::uint32_t top);
  void set_view();
  template <class F>
  static void with_axes(std::size_t axes, const F& f);
  template <std::size_t N>
  void set_place(std::uint32_t vertex, std::array<double, N>& at) const;
  [[nodiscard]] double* place(std::uint32_t node, std::size_t axis, std::uint32_t slot);
  void search(Search& search, std::uint32_t own, std::uint32_t tree_group) const;
  [[nodiscard]] bool reaches_faces(const Search& search) const;

  const PairFilter* filter_ = nullptr;
  const Units* units_ = nullptr;
  bool is_limited_ = false;  // the policy limits distances, volumes or members
  std::size_t axes_ = 3;
  bool is_periodic_ = false;
  nearest::BoxTree view_;                   // of all that follows
  std::vector<double> packed_;              // by unit
  std::vector<std::uint32_t> slot_, leaf_;  // by unit: its slot and the node of its leaf; links::kNone: not in the tree
  std::vector<std::uint32_t> group_;        // by unit: its group, if partners are equal in some column
  std::vector<double> places_;              // by leaf, axis and slot: coordinates, columns times their factors
  std::vector<std::int64_t> id_;            // by slot
  std::vector<std::uint32_t> vertex_;       // by slot
  std::vector<Node> nodes_;                 // each before its children
  std::vector<nearest::BoxTree::Node> view_nodes_;       // by node
  std::vector<double> bounds_;                           // by node: axes_ lower and axes_ upper bounds of the units
  std::vector<std::uint32_t> children_;                  // by inner node of the view
  std::vector<double, AlignedAllocator<double>> boxes_;  // by inner node of the view
  std::map<std::vector<double>, std::uint32_t> groups_;  // by values of the columns in which partners are equal
  std::vector<std::vector<std::uint32_t>> roots_;        // by group: nodes
};

}  // namespace merganser::cluster
