#pragma once
/// k-d tree of the units of one rank (parcels of a step under a merge policy), in which a looker finds the nearest unit that
/// the policy admits as its partner, by any metric and pair conditions of a policy.
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "src/cluster/policy_units.hpp"

namespace merganser::cluster {

/// Conditions of a merge policy on a pair of units, and its metric, for one step.
struct PairFilter {
  /// Makes the conditions of a policy. @param columns  of the caller's schema
  PairFilter(const MergePolicy& policy, const PolicyColumns& columns, const Grid& grid);

  Box box;                 ///< domain
  PolicyColumns packed;    ///< columns of the metric and of equality in a packed row: metric first, then equality
  PolicyColumns columns;   ///< the same in a payload row
  double within2;          ///< greatest squared distance of positions, inclusive; infinite: any
  double max_weight;       ///< greatest sum of volumes; infinite: any
  std::int64_t max_count;  ///< greatest sum of members; the greatest integer: any

  /// Returns the numbers of a packed row.
  [[nodiscard]] std::size_t width() const { return packed.phase.size() + packed.same.size(); }
  /// Writes the packed row of a unit, width() numbers, of which none is the bits of an integer.
  /// @throws InputError as PolicyColumns::check_row()
  void pack(const double* row, double* packed_row) const;
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

/// k-d tree of the units of a rank: one tree for each combination of values of the columns in which partners are equal. Nodes hold
/// the bounds of their units in all dimensions of the metric and the least id, volume and number of members, so that units that
/// are not admissible are left out together.
class UnitTree {
 public:
  /// Builds the tree of the units of this rank. Local. Cost: O(n log n).
  /// @throws InputError as PairFilter::pack()
  void build(const Units& units, const PairFilter& filter);
  /// Puts the least admissible partners of a unit into an ascending list, in place of those that are greater. Local.
  void find(const LookingUnit& looking, std::span<Partner> best) const;
  /// Returns the packed row of a unit, by index.
  [[nodiscard]] const double* packed(std::size_t i) const { return packed_.data() + i * filter_->width(); }

 private:
  static constexpr std::size_t kMaxAxes = 3 + MergePolicy::kMaxPhaseColumns;
  static constexpr std::uint32_t kLeaf = 12;  // units of a leaf, at most
  /// Node of the tree; its first child follows it.
  struct Node {
    double lower[kMaxAxes];  // bounds of the units, columns times their factors
    double upper[kMaxAxes];
    double volume;             // least volume
    std::int64_t id;           // least id
    std::int64_t members;      // least number of members
    std::uint32_t begin, end;  // entries
    std::uint32_t second;      // second child; 0: a leaf
  };
  /// Unit in the order of the tree.
  struct Entry {
    Site site;
    std::int64_t id;
    std::int64_t members;
    std::uint32_t vertex;
  };
  void build_node(std::uint32_t begin, std::uint32_t end);
  void set_bounds(Node& node) const;
  [[nodiscard]] double coordinate(const Entry& e, std::size_t axis) const;
  [[nodiscard]] bool is_out_of_reach(const Node& node, const LookingUnit& looking, const double* at,
                                     const Partner& best) const;
  void scan(const Node& node, const LookingUnit& looking, std::span<Partner> best) const;

  const PairFilter* filter_ = nullptr;
  std::size_t axes_ = 3;
  double slack_[3] = {};  // bound of the rounding error of a distance along an axis
  std::vector<double> packed_;
  std::vector<Entry> entries_;
  std::vector<Node> nodes_;
  std::map<std::vector<double>, std::uint32_t> roots_;  // by values of the columns in which partners are equal
};

}  // namespace merganser::cluster
