#pragma once
/// Cell lists of the units of one rank (parcels of a step under a merge policy), by position.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "merganser/base/aligned_memory.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "merganser/nearest/cell_list.hpp"
#include "merganser/nearest/several_nearest.hpp"
#include "src/cluster/unit_tree.hpp"

namespace merganser::cluster {

/// Cell lists of the units of one rank in one round, one list for each combination of values of the columns in which partners are
/// equal. They find the partners that UnitTree finds, if no condition but equal columns and the greatest distance tells units apart, and
/// give up where the metric has more columns and many positions are nearer than the partner.
class UnitCells {
 public:
  /// Makes the cell lists of a rank, empty. Refers to the decomposition.
  UnitCells(const Decomposition& decomposition, int rank) : decomposition_(decomposition), rank_(rank) {}

  /// Returns whether the conditions of a policy suit cell lists in a round.
  /// @param single  whether all units of all ranks are single parcels, and none has been refused
  [[nodiscard]] static bool suit(const PairFilter& filter, bool single);
  /// Stores the units of a round. Refers to the units and the filter until the next call. Local. Cost: O(n). Memory: for at most about four times
  /// the units of the round.
  /// @param looks  per unit: 1 if it looks
  /// @param fan  number of partners of each looker
  /// @return false, and the lists are empty, if the equal columns have more than kMaxLists combinations of values
  [[nodiscard]] bool build(const Units& units, const std::vector<std::uint8_t>& looks, const PairFilter& filter,
                           std::size_t fan);
  /// Finds the partner of every looker of build() among the units of this rank. Local.
  /// @param lookers  replaced by the lookers, those near each other together
  /// @param found  replaced by the partners of each looker, ascending, in the order of the lookers: `fan` of build() for each, Partner()
  /// in place of those that it lacks and of the lookers for which it gave up
  /// @return places in `lookers` of those for which it gave up
  /// @throws InputError as nearest::CellList::bin()
  [[nodiscard]] std::vector<std::uint32_t> find_all(std::vector<std::uint32_t>& lookers, std::vector<Partner>& found) {
    return find_partners(fan_, lookers, found);
  }
  /// Does what find_all() does for the least partner of each looker alone: one for each in `found`.
  [[nodiscard]] std::vector<std::uint32_t> find_first(std::vector<std::uint32_t>& lookers,
                                                      std::vector<Partner>& found) {
    return find_partners(1, lookers, found);
  }
  /// Finds what find_all() does where lookers have one partner by position, at any distance. Local.
  /// @param lookers  as for find_all() @param targets  by unit: receives the partner of each looker that has one
  void find_targets(std::vector<std::uint32_t>& lookers, std::vector<std::uint32_t>& targets);
  /// Finds all partners of some lookers of find_first(), as find_all() does. Local.
  /// @param places  of these in `lookers`, ascending
  /// @param found  receives the partners in their order, `fan` of build() for each, where Partner() stands
  /// @return places in `places` of those for which it gave up
  [[nodiscard]] std::vector<std::uint32_t> find_rest(std::span<const std::uint32_t> places, std::span<Partner> found);
  /// Replaces the partners `best` of a unit of another rank, equal bounds, by the least partners among the units of this rank that are
  /// less than the bound, ascending; copies of the bound follow. Local.
  /// @param looking  unit that is not in the lists, with no refused ids
  /// @return false if it gave up, and `best` is as before
  /// @throws InputError as nearest::CellList::bin()
  [[nodiscard]] bool find(const LookingUnit& looking, std::span<Partner> best);
  /// Returns whether some list has so many units in a cell that find_all() and find() are slow, which they are only for several partners
  /// of a looker, or with more columns in the metric.
  /// @throws InputError as nearest::CellList::bin()
  [[nodiscard]] bool is_crowded();
  /// Gives back the memory of the lists.
  void clear() {
    lists_.clear();
    used_ = 0;
  }
  /// Returns the number of units for which the lists keep memory.
  [[nodiscard]] std::size_t capacity() const;

 private:
  static constexpr std::size_t kMaxLists = 16;  // more combinations of values take too many passes over the cells
  /// Units with the same values of the columns in which partners are equal.
  struct List {
    explicit List(nearest::CellList&& list) : cells(std::move(list)) {}
    bool whole = false;                  // points are the units of the rank, all of which are here: no places and units
    std::vector<double> values;          // of those columns
    std::vector<double> places;          // x, y, z by point
    std::vector<std::int64_t> ids;       // by point
    std::vector<std::uint32_t> units;    // by point
    std::vector<std::uint8_t> looks;     // by point
    std::vector<std::uint32_t> targets;  // by vertex of the cell list
    std::vector<double> more;            // by vertex: columns of the metric beside the position, times their factors
    std::vector<std::uint32_t> lookers;  // vertices of the lookers, in the order in which they were found
    std::size_t first = 0;               // place of the first of these among the lookers of all lists
    nearest::CellList cells;
    RawBuffer sorted, scratch;
    bool ready = false;  // the points are sorted into the cells
    void fill(const Units& of, const std::vector<std::uint8_t>& looking, std::size_t here);
    void store(std::span<const nearest::Near> nearest, Partner* to) const;
    [[nodiscard]] std::uint32_t unit(std::uint32_t point) const { return whole ? point : units[point]; }
  };
  [[nodiscard]] bool build_lists(const Units& units, const std::vector<std::uint8_t>& looks);
  [[nodiscard]] List* list_of(const double* values, bool add);
  [[nodiscard]] nearest::PointSet points(const List& list) const;
  [[nodiscard]] nearest::CellList empty_cells() const;
  void sort(List& list);
  [[nodiscard]] std::vector<std::uint32_t> find_partners(std::size_t fan, std::vector<std::uint32_t>& lookers,
                                                         std::vector<Partner>& found);
  void search_nearest(List& list);
  template <class Take>
  static void for_lookers(const List& list, const Take& take);
  void find_nearest(List& list, std::vector<std::uint32_t>& lookers, std::vector<Partner>& found);
  void find_several(List& list, std::size_t fan, std::vector<std::uint32_t>& lookers, std::vector<Partner>& found,
                    std::vector<std::uint32_t>& given_up);
  [[nodiscard]] bool is_nearest(std::size_t fan) const { return fan == 1 && filter_->packed.phase.empty(); }
  [[nodiscard]] nearest::MoreAxes more_axes(const List& list) const;
  [[nodiscard]] nearest::Best bound_of(const Partner& known) const;
  void trim(List& list) const;

  const Decomposition& decomposition_;
  int rank_;
  std::size_t fan_ = 1;
  const Units* units_ = nullptr;
  const PairFilter* filter_ = nullptr;
  std::vector<std::unique_ptr<List>> lists_;  // those in use first; after build() no others
  std::size_t used_ = 0;
  std::size_t last_ = 0;                // list of the last unit
  std::vector<nearest::Best> best_;     // of one unit
  std::vector<std::uint32_t> some_;     // memory of find_rest(): vertices of lookers
  std::vector<std::uint32_t> slot_of_;  // memory of find_rest(): by vertex, place in `places`
};

}  // namespace merganser::cluster
