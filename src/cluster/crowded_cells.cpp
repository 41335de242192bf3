// Counting of units by cell under a merge policy.
#include "src/cluster/crowded_cells.hpp"

#include <algorithm>
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

// The cells of Grid::cell(), with the spacing computed once.
std::int64_t CrowdedCells::cell_of(const Site& s) const {
  const auto cell = [&](std::size_t axis, double x) {
    const double g = (x - cells_.box.lower[axis]) / spacing_[axis];
    const auto top = static_cast<double>(cells_.cells[axis] - 1);
    return static_cast<std::int64_t>(std::min(std::max(g, 0.0), top));
  };
  return (cell(0, s.x) * cells_.cells[1] + cell(1, s.y)) * cells_.cells[2] + cell(2, s.z);
}

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
  const auto at = [&](const Counted& c) { return static_cast<std::size_t>(c.member.cell - first); };
  starts_.assign(span + 1, 0);
  for (const Counted& c : counted_) ++starts_[at(c) + 1];
  for (std::size_t cell = 0; cell < span; ++cell) starts_[cell + 1] += starts_[cell];
  spare_.resize(counted_.size());
  for (const Counted& c : counted_) spare_[starts_[at(c)]++] = c;
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
  if (t.cell != kNone) counts_[static_cast<std::size_t>(t.cell)] -= t.count;
  t.cell = kNone;
  if (units.gone[i] != 0) return;
  t = {static_cast<std::int32_t>(cell_of(units.parcels.site(i))), static_cast<std::int32_t>(units.count_of(i))};
  counts_[static_cast<std::size_t>(t.cell)] += t.count;
}

/// Stores the members of crowded cells in counted_, cell after cell, where all units of a cell are on this rank and an array of all
/// cells is not too large. Counts are kept over the rounds of a step.
void CrowdedCells::gather_crowded(const Units& units, std::int64_t above) {
  const auto known = static_cast<std::uint32_t>(tallied_.size());
  if (known == 0) counts_.assign(static_cast<std::size_t>(cells_.cells[0] * cells_.cells[1] * cells_.cells[2]), 0);
  tallied_.resize(units.size(), {kNone, 0});
  for (const std::uint32_t i : units.changed)
    if (i < known) tally(units, i);
  for (std::uint32_t i = known; i < units.size(); ++i) tally(units, i);
  sent_.assign(mailbox_.graph().out.size(), {});
  // Without branches: whether the cell of a unit is crowded is as good as random.
  const auto all = static_cast<std::uint32_t>(units.size());
  in_crowded_.resize(all);
  std::size_t n = 0;
  for (std::uint32_t i = 0; i < all; ++i) {
    const std::int32_t cell = tallied_[i].cell;
    in_crowded_[n] = i;
    n += static_cast<std::size_t>((cell != kNone) & (counts_[static_cast<std::size_t>(std::max(cell, 0))] > above));
  }
  in_crowded_.resize(n);
  counted_.clear();
  if (n == 0) return;
  starts_.assign(counts_.size() + 1, 0);
  for (const std::uint32_t i : in_crowded_) ++starts_[static_cast<std::size_t>(tallied_[i].cell) + 1];
  for (std::size_t cell = 0; cell < counts_.size(); ++cell) starts_[cell + 1] += starts_[cell];
  counted_.resize(n);
  const Parcels& p = units.parcels;
  for (const std::uint32_t i : in_crowded_) {
    const Tallied t = tallied_[i];
    const std::int32_t passed_over = (units.flags[i] & Units::kPassedOver) != 0;
    counted_[starts_[static_cast<std::size_t>(t.cell)]++] = {
        {t.cell, p.site(i).volume, p.id(i), t.count, passed_over}, links::kNone, i};
  }
}

void CrowdedCells::choose(const Units& units, std::int64_t above, std::int64_t target,
                          std::vector<std::uint8_t>& looks) {
  constexpr std::int64_t kCellsOfUnit = 8;  // most cells for each unit that are counted in an array
  const double cells = static_cast<double>(cells_.cells[0]) * static_cast<double>(cells_.cells[1]) *
                       static_cast<double>(cells_.cells[2]);
  if (!shared_ && units.size() > 0 && cells <= static_cast<double>(kCellsOfUnit) * static_cast<double>(units.size()) &&
      cells < std::numeric_limits<std::int32_t>::max()) {
    gather_crowded(units, above);
  } else {
    gather(units.parcels, [&](std::uint32_t i) { return units.gone[i] != 0 ? Member{kNone} : member_of(units, i); });
  }
  for (std::size_t begin = 0; begin < counted_.size();) {
    std::size_t end = begin;
    std::int64_t count = 0;
    bool alike = true;  // each counts one, and may look
    for (; end < counted_.size() && counted_[end].member.cell == counted_[begin].member.cell; ++end) {
      count += counted_[end].member.count;
      alike = alike && counted_[end].member.count == 1 && counted_[end].member.passed_over == 0;
    }
    if (count <= above) {
      begin = end;
      continue;
    }
    std::int64_t left = count - target;
    const auto first = counted_.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = counted_.begin() + static_cast<std::ptrdiff_t>(end);
    const auto less = [](const Counted& a, const Counted& b) {
      return std::tie(a.member.volume, a.member.id) < std::tie(b.member.volume, b.member.id);
    };
    // Where members are alike, the least of them look, in any order.
    if (alike && left < count)
      std::nth_element(first, first + left, last, less);
    else
      std::sort(first, last, less);
    for (; begin < end; ++begin) {
      if (left == 0) break;
      const Counted& c = counted_[begin];
      if (c.member.passed_over != 0 || c.member.count > left) continue;
      left -= c.member.count;
      if (c.arc == links::kNone) {
        looks[c.index] = 1;
      } else {
        mailbox_.post(c.arc, c.index);
      }
    }
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
