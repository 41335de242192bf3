#pragma once
/// Cells in which a merge policy counts parcels: lookers of crowded cells, and levels of levelling thinning. A cell that several
/// ranks share is counted by the rank that owns its lower corner.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "src/cluster/policy_units.hpp"

namespace merganser::cluster {

/// Order to split a parcel of this rank.
struct SplitOrder {
  std::uint32_t index;  ///< of the parcel before the step's splits from which the one to split descends
  std::uint32_t unused = 0;
  std::int64_t parent;  ///< id of the parcel to split
  std::int64_t child;   ///< id of the new parcel
};

/// Counting of units by cell over the arcs of a symmetric process graph: two waves, none where no cell is shared by ranks.
class CrowdedCells {
 public:
  /// Makes the counting of a rank in the cells of a grid. Refers to its arguments. Local.
  /// @param away  whether parcels may be on other ranks than those that own them, as after a merge step
  CrowdedCells(comm::Mailbox& mailbox, const Decomposition& decomposition, int rank, const Grid& cells,
               bool away = false);

  /// Forgets what was counted: at the beginning of a step, and where units have other numbers than in the round before. Later rounds tell
  /// what has changed by Units::changed.
  void begin() { tallied_.clear(); }
  /// Chooses the lookers of a round: in each cell with more than `above` parcels, by (volume, id) ascending, units while their
  /// number fits into the difference to `target`. Called by every rank before the search of the round, which empties Units::changed;
  /// neighbours only.
  /// @param looks  set to 1 for each unit that looks
  void choose(const Units& units, std::int64_t above, std::int64_t target, std::vector<std::uint8_t>& looks);
  /// Computes for each parcel the level of its cell: `ratio` times the mean volume of its parcels, or 0 where these are fewer than
  /// `least`. Called by every rank; neighbours only.
  void compute_levels(const Parcels& parcels, double ratio, std::int64_t least, std::vector<double>& level);
  /// Lists the splits that give each cell with fewer than `least` parcels, but at least one, that many: the heaviest of a cell, of the
  /// lowest id among equals, is split, then the heaviest of those that result, and so on. Called by every rank; neighbours only.
  /// @param first_id  id of the first new parcel of cell 0; a cell has least - 1 of its own
  /// @param orders    receives the splits of this rank's parcels, in their order for each
  void plan_splits(const Parcels& parcels, std::int64_t least, std::int64_t first_id, std::vector<SplitOrder>& orders);
  /// Returns the grid of the cells.
  [[nodiscard]] const Grid& grid() const { return cells_; }
  /// Returns the number of the cell of a place.
  [[nodiscard]] std::int64_t cell_of(const Site& s) const {
    // Grid::cell() and Grid::cell_index(), with the spacing computed once.
    const auto cell = [&](std::size_t axis, double x) {
      const double g = (x - cells_.box.lower[axis]) / spacing_[axis];
      return static_cast<std::int64_t>(std::min(std::max(g, 0.0), static_cast<double>(cells_.cells[axis] - 1)));
    };
    return (cell(0, s.x) * cells_.cells[1] + cell(1, s.y)) * cells_.cells[2] + cell(2, s.z);
  }

 private:
  /// Unit in its cell, as its rank sends it to the rank that counts the cell.
  struct Member {
    std::int64_t cell;
    double volume;
    std::int64_t id;
    std::int32_t count;        // parcels that it leaves in its cell
    std::int32_t passed_over;  // 1 if it may not look
  };
  /// Member of a cell that this rank counts.
  struct Counted {
    Member member;
    std::uint32_t arc;    // to its rank; links::kNone: this one
    std::uint32_t index;  // among the units of this rank, or the members that came by the arc
  };
  [[nodiscard]] std::size_t arc_of(std::int64_t cell) const;
  template <class Order>
  void split_cell(std::size_t begin, std::size_t end, std::int64_t least, std::int64_t first_id, const Order& order);
  /// Member of a cell whose lookers are chosen.
  struct Candidate {
    double volume;
    std::int64_t id;
    std::uint32_t index;  // of whom it stands for
    std::int16_t count;
    std::uint16_t passed_over;
  };
  [[nodiscard]] Candidate candidate_of(const Units& units, std::uint32_t i) const;
  void tally(const Units& units, std::uint32_t i, std::int32_t cell);
  void tally_all(const Units& units);
  void tally_changes(const Units& units);
  [[nodiscard]] bool can_tally(const Units& units) const;
  [[nodiscard]] std::int64_t list_crowded(std::int64_t above);
  template <class Get, class Mark>
  void choose_of_cell(std::size_t n, const Get& member, std::int64_t above, std::int64_t target, const Mark& mark);
  void group_by_cell();
  template <class Slot>
  void list_by_slot(std::uint32_t n, std::size_t slots, const Slot& slot);
  template <class MakeMember>
  void gather(const Parcels& parcels, const MakeMember& make);

  comm::Mailbox& mailbox_;
  const Decomposition& decomposition_;
  int rank_;
  Grid cells_;
  Vec3 spacing_;                        // edges of a cell
  bool shared_;                         // cells may be shared by ranks
  std::vector<std::int32_t> tallied_;   // by unit: the cell in which it was counted; empty: none since begin()
  std::vector<std::uint8_t> leaves_;    // by unit: parcels that it was counted as
  std::vector<std::int64_t> counts_;    // by cell: parcels of the units in tallied_; at last 0, for those gone
  std::vector<std::uint32_t> members_;  // units of crowded cells, at the places of their cells
  std::vector<std::uint32_t> ends_;     // by cell: behind its last in members_
  std::vector<Candidate> candidates_;   // memory of choose_of_cell()
  std::vector<Counted> counted_;        // members of the cells that this rank counts, those of a cell together
  std::vector<Counted> spare_;          // memory of group_by_cell()
  std::vector<std::uint32_t> starts_;   // results of list_by_slot(): the first of each slot in listed_
  std::vector<std::uint32_t> listed_;   // and what is in the slots
  std::vector<std::vector<std::uint32_t>> sent_;  // per arc: units that were sent
};

}  // namespace merganser::cluster
