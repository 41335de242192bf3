// Counting of units by cell under a merge policy.
#include "src/cluster/crowded_cells.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <tuple>

#include "merganser/base/error.hpp"
#include "merganser/base/exact_sum.hpp"
#include "merganser/parcels/limits.hpp"

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

/// Returns the member of a unit, but for its cell.
CrowdedCells::Member CrowdedCells::member_of(const Units& units, std::uint32_t i) const {
  return {0, units.parcels.site(i).volume, units.parcels.id(i), static_cast<std::int32_t>(units.count_of(i)),
          (units.flags[i] & Units::kPassedOver) != 0};
}

/// Counts a unit in its cell, and no longer in the one where it was.
void CrowdedCells::tally(const Units& units, std::uint32_t i) {
  Tallied& t = tallied_[i];
  counts_[static_cast<std::size_t>(t.cell)] -= t.count;
  t = {static_cast<std::int32_t>(counts_.size() - 1), 0};
  if (units.gone[i] != 0) return;
  t = {static_cast<std::int32_t>(cell_of(units.parcels.site(i))), static_cast<std::int32_t>(units.count_of(i))};
  counts_[static_cast<std::size_t>(t.cell)] += t.count;
}

/// Counts the units of a round by cell; of those of the rounds before only the ones that have changed.
void CrowdedCells::tally_changes(const Units& units) {
  const auto known = static_cast<std::uint32_t>(tallied_.size());
  const auto cells = static_cast<std::size_t>(cells_.cells[0] * cells_.cells[1] * cells_.cells[2]);
  if (known == 0) counts_.assign(cells + 1, 0);
  tallied_.resize(units.size(), {static_cast<std::int32_t>(cells), 0});
  for (const std::uint32_t i : units.changed)
    if (i < known) tally(units, i);
  for (std::uint32_t i = known; i < units.size(); ++i) tally(units, i);
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

/// Computes for each of a few members how many are before it by (volume, id). Without branches: which of two is the less is as good as
/// random.
void CrowdedCells::rank_members(std::span<const Counted> members, std::array<std::uint32_t, kMaxRanked>& place) {
  __extension__ using Key = unsigned __int128;
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;  // of an id, so that keys ascend with signed ids
  std::array<Key, kMaxRanked> key;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Member& m = members[i].member;
    // The bits of volumes, which are positive, ascend with them.
    const Key own = Key{std::bit_cast<std::uint64_t>(m.volume)} << 64 | (static_cast<std::uint64_t>(m.id) ^ kSign);
    key[i] = own;
    std::uint32_t before = 0;
    for (std::size_t j = 0; j < i; ++j) {
      const auto is_less = static_cast<std::uint32_t>(key[j] < own);
      before += is_less;
      place[j] += 1 - is_less;
    }
    place[i] = before;
  }
}

/// Chooses the lookers of one cell, of which those of other ranks are posted. @param members  all of the cell; their order changes
void CrowdedCells::choose_of_cell(std::span<Counted> members, std::int64_t above, std::int64_t target,
                                  std::vector<std::uint8_t>& looks) {
  std::int64_t count = 0;
  bool alike = true;  // each counts one, and may look
  for (const Counted& c : members) {
    count += c.member.count;
    alike = alike && c.member.count == 1 && c.member.passed_over == 0;
  }
  if (count <= above) return;
  const auto look = [&](const Counted& c) {
    if (c.arc == links::kNone)
      looks[c.index] = 1;
    else
      mailbox_.post(c.arc, c.index);
  };
  std::int64_t left = count - target;
  if (alike && members.size() <= kMaxRanked) {
    std::array<std::uint32_t, kMaxRanked> place;
    rank_members(members, place);
    for (std::size_t i = 0; i < members.size(); ++i)
      if (place[i] < left) look(members[i]);
    return;
  }
  const auto less = [](const Counted& a, const Counted& b) {
    return std::tie(a.member.volume, a.member.id) < std::tie(b.member.volume, b.member.id);
  };
  // Where members are alike, the least of them look, in any order.
  if (alike && left < count)
    std::nth_element(members.begin(), members.begin() + left, members.end(), less);
  else
    std::sort(members.begin(), members.end(), less);
  for (const Counted& c : members) {
    if (left == 0) return;
    if (c.member.passed_over != 0 || c.member.count > left) continue;
    left -= c.member.count;
    look(c);
  }
}

void CrowdedCells::choose(const Units& units, std::int64_t above, std::int64_t target,
                          std::vector<std::uint8_t>& looks) {
  if (can_tally(units)) {
    tally_changes(units);
    const auto is_crowded = [&](std::int64_t count) { return count > above; };
    if (std::none_of(counts_.begin(), counts_.end(), is_crowded)) return;
    list_by_slot(static_cast<std::uint32_t>(units.size()), counts_.size(),
                 [&](std::uint32_t i) { return static_cast<std::size_t>(tallied_[i].cell); });
    for (std::size_t cell = 0; cell < counts_.size(); ++cell) {
      if (!is_crowded(counts_[cell])) continue;
      counted_.clear();
      for (std::uint32_t at = starts_[cell]; at < starts_[cell + 1]; ++at)
        counted_.push_back({member_of(units, listed_[at]), links::kNone, listed_[at]});
      choose_of_cell(counted_, above, target, looks);
    }
    return;
  }
  gather(units.parcels, [&](std::uint32_t i) { return units.gone[i] != 0 ? Member{kNone} : member_of(units, i); });
  for (std::size_t begin = 0; begin < counted_.size();) {
    std::size_t end = begin;
    while (end < counted_.size() && counted_[end].member.cell == counted_[begin].member.cell) ++end;
    choose_of_cell(std::span(counted_).subspan(begin, end - begin), above, target, looks);
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
