// Counting of units by cell under a merge policy.
#include "src/cluster/crowded_cells.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>

#include "merganser/base/error.hpp"
#include "merganser/base/exact_sum.hpp"
#include "merganser/parcels/limits.hpp"
#include "src/cluster/crowded_vectors.hpp"

namespace merganser::cluster {
namespace {

constexpr std::int32_t kNone = -1;                                      // no cell
constexpr std::size_t kMine = std::numeric_limits<std::size_t>::max();  // no arc: this rank

}  // namespace

CrowdedCells::CrowdedCells(comm::Mailbox& mailbox, const Decomposition& decomposition, int rank, const Grid& cells,
                           bool away)
    : mailbox_(mailbox),
      decomposition_(decomposition),
      rank_(rank),
      cells_(cells),
      spacing_{cells.spacing(0), cells.spacing(1), cells.spacing(2)},
      shared_(decomposition.ranks() > 1 && (away || !(decomposition.is_by_cells() && cells == decomposition.grid()))) {}

/// Returns the arc to the rank that counts a cell, which owns its lower corner; kMine if that is this rank.
std::size_t CrowdedCells::arc_of(std::int64_t cell) const {
  if (!shared_) return kMine;
  const std::int64_t index[3] = {cell / cells_.cells[2] / cells_.cells[1], cell / cells_.cells[2] % cells_.cells[1],
                                 cell % cells_.cells[2]};
  Vec3 corner;
  for (std::size_t a = 0; a < 3; ++a)
    corner[a] = cells_.box.wrap(
        static_cast<int>(a), cells_.box.lower[a] + static_cast<double>(index[a]) * cells_.spacing(static_cast<int>(a)));
  const int owner = decomposition_.owner(corner);
  if (owner == rank_) return kMine;
  const auto& out = mailbox_.graph().out;
  const auto at = std::lower_bound(out.begin(), out.end(), owner);
  // PolicyStep has checked that cells are shorter than the distance to ranks that are no candidates.
  if (at == out.end() || *at != owner)
    throw CommError("cell " + std::to_string(cell) + " is counted by rank " + std::to_string(owner) +
                    ", which is no candidate of rank " + std::to_string(rank_));
  return static_cast<std::size_t>(at - out.begin());
}

/// Sends the members of cells that other ranks count, and stores those of this rank's cells in counted_, cell after cell. One wave if
/// cells may be shared. @param make  returns the member of unit i, but for its cell, which is kNone if it does not count
template <class MakeMember>
void CrowdedCells::gather(const Parcels& parcels, const MakeMember& make) {
  counted_.clear();
  sent_.assign(mailbox_.graph().out.size(), {});
  std::int64_t last = -1;
  std::size_t arc = kMine;
  for (std::uint32_t i = 0; i < parcels.size(); ++i) {
    Member m = make(i);
    if (m.cell == kNone) continue;
    m.cell = cell_of(parcels.site(i));
    if (m.cell != last) arc = arc_of(m.cell), last = m.cell;
    if (arc == kMine) {
      counted_.push_back({m, links::kNone, i});
    } else {
      mailbox_.post(arc, m);
      sent_[arc].push_back(i);
    }
  }
  if (shared_) {
    mailbox_.step();
    for (std::uint32_t a = 0; a < sent_.size(); ++a) {
      std::uint32_t index = 0;
      for (const Member& m : mailbox_.records<Member>(a)) counted_.push_back({m, a, index++});
    }
  }
  group_by_cell();
}

/// Lists the numbers up to n by their slots, ascending in each: those of slot k are listed_[starts_[k]] .. listed_[starts_[k + 1] - 1].
/// O(n + slots).
template <class Slot>
void CrowdedCells::list_by_slot(std::uint32_t n, std::size_t slots, const Slot& slot) {
  starts_.assign(slots + 2, 0);
  listed_.resize(n);
  for (std::uint32_t i = 0; i < n; ++i) ++starts_[slot(i) + 2];
  for (std::size_t k = 2; k < slots + 2; ++k) starts_[k] += starts_[k - 1];
  for (std::uint32_t i = 0; i < n; ++i) listed_[starts_[slot(i) + 1]++] = i;
}

/// Puts the members of a cell together: by counting where the numbers of cells are close to each other, which takes O(n), else by
/// sorting.
void CrowdedCells::group_by_cell() {
  if (counted_.empty()) return;
  const auto by_cell = [](const Counted& a, const Counted& b) { return a.member.cell < b.member.cell; };
  const auto [least, most] = std::minmax_element(counted_.begin(), counted_.end(), by_cell);
  const std::int64_t first = least->member.cell;
  const auto span = static_cast<std::size_t>(most->member.cell - first) + 1;
  if (span > 4 * counted_.size()) {
    std::sort(counted_.begin(), counted_.end(), by_cell);
    return;
  }
  list_by_slot(static_cast<std::uint32_t>(counted_.size()), span,
               [&](std::uint32_t i) { return static_cast<std::size_t>(counted_[i].member.cell - first); });
  spare_.clear();
  for (const std::uint32_t i : listed_) spare_.push_back(counted_[i]);
  std::swap(counted_, spare_);
}

/// Returns a unit as a member of its cell.
inline CrowdedCells::Candidate CrowdedCells::candidate_of(const Units& units, std::uint32_t i) const {
  return {units.parcels.site(i).volume, units.parcels.id(i), i, static_cast<std::int16_t>(units.count_of(i)),
          static_cast<std::uint16_t>((units.flags[i] & Units::kPassedOver) != 0)};
}

/// Counts a unit, which is not counted yet, in a cell if it is not gone. Without branches, as whether it is gone is as good as random.
inline void CrowdedCells::tally(const Units& units, std::uint32_t i, std::int32_t cell) {
  const bool gone = units.gone[i] != 0;
  tallied_[i] = gone ? static_cast<std::int32_t>(counts_.size() - 1) : cell;
  leaves_[i] = gone ? std::uint8_t{0} : static_cast<std::uint8_t>(units.count_of(i));
  counts_[static_cast<std::size_t>(tallied_[i])] += leaves_[i];
}

/// Counts all units of a round by cell.
void CrowdedCells::tally_all(const Units& units) {
  NumberedCells grid{};
  for (std::size_t a = 0; a < 3; ++a) {
    grid.lower[a] = cells_.box.lower[a];
    grid.spacing[a] = spacing_[a];
    grid.cells[a] = static_cast<std::int32_t>(cells_.cells[a]);
  }
  const std::size_t n = units.size();
  tallied_.resize(n);
  leaves_.resize(n);
  counts_.assign(static_cast<std::size_t>(cells_.cells[0] * cells_.cells[1] * cells_.cells[2]) + 1, 0);
  number_cells(grid, units.parcels.sites(), n, tallied_.data());
  for (std::uint32_t i = 0; i < n; ++i) tally(units, i, tallied_[i]);
}

/// Counts the units of a round by cell; of those of the rounds before only the ones that have changed, if these are few.
void CrowdedCells::tally_changes(const Units& units) {
  constexpr std::size_t kMany = 8;  // units have changed if they are more than 1 of so many
  const std::size_t known = tallied_.size();
  if (units.size() - known + units.changed.size() > units.size() / kMany) return tally_all(units);
  tallied_.resize(units.size(), 0);
  leaves_.resize(units.size(), 0);
  const auto again = [&](std::uint32_t i) {
    counts_[static_cast<std::size_t>(tallied_[i])] -= leaves_[i];
    tally(units, i, static_cast<std::int32_t>(cell_of(units.parcels.site(i))));
  };
  for (const std::uint32_t i : units.changed)
    if (i < known) again(i);
  for (auto i = static_cast<std::uint32_t>(known); i < units.size(); ++i) again(i);
}

/// Returns whether counts of all cells are kept over the rounds of a step: all units of a cell are on this rank, and an array of the
/// cells is not too large.
bool CrowdedCells::can_tally(const Units& units) const {
  constexpr double kCellsOfUnit = 8;  // most cells for each unit
  const double cells = static_cast<double>(cells_.cells[0]) * static_cast<double>(cells_.cells[1]) *
                       static_cast<double>(cells_.cells[2]);
  return !shared_ && units.size() > 0 && cells <= kCellsOfUnit * static_cast<double>(units.size()) &&
         cells < std::numeric_limits<std::int32_t>::max();
}

/// Lists the members of cells with more than `above` parcels in members_, and others if most cells have more: whether one has is
/// then as good as random. The place of a cell has room for as many members as it has parcels, which are no fewer.
/// @return parcels of a cell above which its members are listed
std::int64_t CrowdedCells::list_crowded(std::int64_t above) {
  const auto crowded = static_cast<std::size_t>(
      std::count_if(counts_.begin(), counts_.end(), [&](std::int64_t count) { return count > above; }));
  const std::int64_t least = crowded > counts_.size() / 2 ? 0 : above;
  ends_.resize(counts_.size());
  std::size_t room = 0;
  for (std::size_t cell = 0; cell < counts_.size(); ++cell) {
    ends_[cell] = static_cast<std::uint32_t>(room);
    room += counts_[cell] > least ? static_cast<std::size_t>(counts_[cell]) : 0;
  }
  if (members_.size() < room) members_.resize(room);
  if (crowded == 0) return least;
  std::uint32_t* const to = members_.data();
  for (std::uint32_t i = 0; i < tallied_.size(); ++i) {
    const auto cell = static_cast<std::size_t>(tallied_[i]);
    if (counts_[cell] > least) to[ends_[cell]++] = i;
  }
  return least;
}

/// Chooses the lookers of one cell. @param n  number of its members @param member  returns member k @param mark  gets indices of
/// members, and 1 for those that look, else 0
template <class Get, class Mark>
void CrowdedCells::choose_of_cell(std::size_t n, const Get& member, std::int64_t above, std::int64_t target,
                                  const Mark& mark) {
  std::int64_t count = 0;
  bool alike = true;  // each counts one, and may look
  for (std::size_t k = 0; k < n; ++k) {
    const Candidate c = member(k);
    count += c.count;
    alike = alike & (c.count == 1) & (c.passed_over == 0);
  }
  if (count <= above) return;
  std::int64_t left = count - target;
  if (alike && n <= kMaxRanked) {
    RankedMembers ranked;
    for (std::size_t k = 0; k < n; ++k) {
      const Candidate c = member(k);
      ranked.volume[k] = c.volume;
      ranked.id[k] = c.id;
    }
    mark_least(ranked, n, left);
    for (std::size_t k = 0; k < n; ++k) mark(member(k).index, ranked.least[k]);
    return;
  }
  candidates_.clear();
  for (std::size_t k = 0; k < n; ++k) candidates_.push_back(member(k));
  const auto less = [](const Candidate& a, const Candidate& b) {
    return std::tie(a.volume, a.id) < std::tie(b.volume, b.id);
  };
  // Where members are alike, the least of them look, in any order.
  if (alike && left < count)
    std::nth_element(candidates_.begin(), candidates_.begin() + left, candidates_.end(), less);
  else
    std::sort(candidates_.begin(), candidates_.end(), less);
  for (const Candidate& c : candidates_) {
    if (left == 0) return;
    if (c.passed_over != 0 || c.count > left) continue;
    left -= c.count;
    mark(c.index, 1);
  }
}

void CrowdedCells::choose(const Units& units, std::int64_t above, std::int64_t target,
                          std::vector<std::uint8_t>& looks) {
  if (can_tally(units)) {
    tally_changes(units);
    const std::int64_t least = list_crowded(above);
    std::size_t begin = 0;
    for (std::size_t cell = 0; cell < counts_.size(); ++cell) {
      if (counts_[cell] <= least) continue;
      if (counts_[cell] > above)
        choose_of_cell(
            ends_[cell] - begin,
            [&, members = members_.data() + begin](std::size_t k) { return candidate_of(units, members[k]); }, above,
            target, [to = looks.data()](std::uint32_t i, std::uint8_t yes) { to[i] = yes; });
      begin += static_cast<std::size_t>(counts_[cell]);
    }
    return;
  }
  gather(units.parcels, [&](std::uint32_t i) {
    if (units.gone[i] != 0) return Member{kNone};
    const Candidate c = candidate_of(units, i);
    return Member{0, c.volume, c.id, c.count, c.passed_over};
  });
  for (std::size_t begin = 0; begin < counted_.size();) {
    std::size_t end = begin;
    while (end < counted_.size() && counted_[end].member.cell == counted_[begin].member.cell) ++end;
    const auto member = [&](std::size_t k) {
      const Member& m = counted_[begin + k].member;
      return Candidate{m.volume, m.id, static_cast<std::uint32_t>(begin + k), static_cast<std::int16_t>(m.count),
                       static_cast<std::uint16_t>(m.passed_over)};
    };
    choose_of_cell(end - begin, member, above, target, [&](std::uint32_t at, std::uint8_t yes) {
      const Counted& c = counted_[at];
      if (yes == 0) return;
      if (c.arc == links::kNone)
        looks[c.index] = 1;
      else
        mailbox_.post(c.arc, c.index);
    });
    begin = end;
  }
  if (!shared_) return;
  mailbox_.step();
  for (std::size_t arc = 0; arc < sent_.size(); ++arc)
    for (const std::uint32_t index : mailbox_.records<std::uint32_t>(arc)) looks[sent_[arc].at(index)] = 1;
}

/// Lists the splits of one cell, the members from `begin` to `end` of counted_, in their order. @param order  gets the member from
/// which the parcel to split descends, and the ids of both
template <class Order>
void CrowdedCells::split_cell(std::size_t begin, std::size_t end, std::int64_t least, std::int64_t first_id,
                              const Order& order) {
  struct Part {
    double volume;
    std::int64_t id;
    std::size_t from;  // in counted_
  };
  const auto lighter = [](const Part& a, const Part& b) {
    return a.volume != b.volume ? a.volume < b.volume : a.id > b.id;
  };
  std::vector<Part> heap;
  for (std::size_t i = begin; i < end; ++i) heap.push_back({counted_[i].member.volume, counted_[i].member.id, i});
  std::make_heap(heap.begin(), heap.end(), lighter);
  std::int64_t next = first_id + counted_[begin].member.cell * (least - 1);
  for (auto count = static_cast<std::int64_t>(end - begin); count < least; ++count, ++next) {
    const Part part = heap.front();
    const double half = 0.5 * part.volume;
    if (half < kMinVolume) return;
    order(counted_[part.from], part.id, next);
    std::pop_heap(heap.begin(), heap.end(), lighter);
    heap.back() = {half, part.id, part.from};
    std::push_heap(heap.begin(), heap.end(), lighter);
    heap.push_back({half, next, part.from});
    std::push_heap(heap.begin(), heap.end(), lighter);
  }
}

void CrowdedCells::plan_splits(const Parcels& parcels, std::int64_t least, std::int64_t first_id,
                               std::vector<SplitOrder>& orders) {
  gather(parcels, [&](std::uint32_t i) { return Member{0, parcels.site(i).volume, parcels.id(i), 1, 0}; });
  orders.clear();
  for (std::size_t begin = 0; begin < counted_.size();) {
    std::size_t end = begin;
    while (end < counted_.size() && counted_[end].member.cell == counted_[begin].member.cell) ++end;
    split_cell(begin, end, least, first_id, [&](const Counted& c, std::int64_t parent, std::int64_t child) {
      if (c.arc == links::kNone)
        orders.push_back({c.index, 0, parent, child});
      else
        mailbox_.post(c.arc, SplitOrder{c.index, 0, parent, child});
    });
    begin = end;
  }
  if (!shared_) return;
  mailbox_.step();
  for (std::size_t arc = 0; arc < sent_.size(); ++arc)
    for (SplitOrder order : mailbox_.records<SplitOrder>(arc)) {
      order.index = sent_[arc].at(order.index);
      orders.push_back(order);
    }
}

void CrowdedCells::compute_levels(const Parcels& parcels, double ratio, std::int64_t least,
                                  std::vector<double>& level) {
  gather(parcels, [&](std::uint32_t i) { return Member{0, parcels.site(i).volume, parcels.id(i), 1, 0}; });
  level.assign(parcels.size(), 0);
  std::vector<std::vector<double>> replies(sent_.size());
  for (std::size_t begin = 0; begin < counted_.size();) {
    std::size_t end = begin;
    ExactSum sum;
    for (; end < counted_.size() && counted_[end].member.cell == counted_[begin].member.cell; ++end)
      sum.add(counted_[end].member.volume);
    const auto count = static_cast<std::int64_t>(end - begin);
    const double value = count >= least ? ratio * (sum.value() / static_cast<double>(count)) : 0;
    for (; begin < end; ++begin) {
      const Counted& c = counted_[begin];
      if (c.arc == links::kNone) {
        level[c.index] = value;
        continue;
      }
      auto& to = replies[c.arc];
      to.resize(std::max<std::size_t>(to.size(), c.index + 1));
      to[c.index] = value;
    }
  }
  if (!shared_) return;
  for (std::size_t arc = 0; arc < replies.size(); ++arc) mailbox_.post_all(arc, std::span<const double>(replies[arc]));
  mailbox_.step();
  for (std::size_t arc = 0; arc < sent_.size(); ++arc) {
    const auto values = mailbox_.records<double>(arc);
    if (values.size() != sent_[arc].size())
      throw CommError("rank " + std::to_string(mailbox_.graph().in[arc]) + " returned " +
                      std::to_string(values.size()) + " levels of " + std::to_string(sent_[arc].size()));
    for (std::size_t k = 0; k < values.size(); ++k) level[sent_[arc][k]] = values[k];
  }
}

}  // namespace merganser::cluster
