// Search of partners in cell lists of the units of one rank, under a merge policy.
#include "src/cluster/unit_cells.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "merganser/nearest/several_nearest.hpp"
#include "src/cluster/distributed_search.hpp"

namespace merganser::cluster {

bool UnitCells::suit(const PairFilter& filter, bool single) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  return filter.max_weight == kInfinite &&
         (single ? filter.max_count >= 2 : filter.max_count == std::numeric_limits<std::int64_t>::max());
}

nearest::CellList UnitCells::empty_cells() const {
  return {decomposition_.grid().box, block_region(decomposition_, rank_)};
}

std::size_t UnitCells::capacity() const {
  std::size_t n = 0;
  for (const auto& list : lists_) n += list->ids.capacity();
  return n;
}

/// Returns the list of the units whose columns of equality (MergePolicy::same) have `values`. If there is none, adds an empty list
/// with `add`. Returns null if there is none without `add`, or kMaxLists lists are in use. Local.
UnitCells::List* UnitCells::list_of(const double* values, bool add) {
  const std::size_t equal = filter_->packed.same.size();
  const auto fits = [&](std::size_t i) { return std::equal(values, values + equal, lists_[i]->values.begin()); };
  if (last_ < used_ && fits(last_)) return lists_[last_].get();
  for (last_ = 0; last_ < used_; ++last_)
    if (fits(last_)) return lists_[last_].get();
  if (!add || used_ == kMaxLists) return nullptr;
  if (used_ == lists_.size()) lists_.push_back(std::make_unique<List>(empty_cells()));
  List& list = *lists_[used_++];
  list.values.assign(values, values + equal);
  list.whole = false;
  list.places.clear();
  list.ids.clear();
  list.units.clear();
  list.looks.clear();
  list.ready = false;
  return &list;
}

bool UnitCells::build(const Units& units, const std::vector<std::uint8_t>& looks, const PairFilter& filter,
                      std::size_t fan) {
  units_ = &units;
  filter_ = &filter;
  fan_ = fan;
  used_ = last_ = 0;
  const auto here = static_cast<std::size_t>(std::count(units.gone.begin(), units.gone.end(), 0));
  if (filter.packed.same.empty()) {
    if (here > 0) list_of(nullptr, true)->fill(units, looks, here);
  } else if (!build_lists(units, looks)) {
    lists_.clear();
    used_ = 0;
    return false;
  }
  lists_.resize(used_);
  for (const auto& list : lists_) trim(*list);
  return true;
}

/// Stores all units that are not gone in the list. @param here  their number
void UnitCells::List::fill(const Units& of, const std::vector<std::uint8_t>& looking, std::size_t here) {
  if (here == of.size()) {
    whole = true;
    looks = looking;
    ids.resize(here);
    for (std::size_t v = 0; v < here; ++v) ids[v] = of.parcels.id(v);
    return;
  }
  // One more, for those gone at the end: whether a unit is gone is as good as random, so no branch tells.
  places.resize(3 * here + 3);
  ids.resize(here + 1);
  units.resize(here + 1);
  looks.resize(here + 1);
  // Pointers that a store of one byte cannot change.
  double* const place = places.data();
  std::int64_t* const id = ids.data();
  std::uint32_t* const unit = units.data();
  std::uint8_t* const look = looks.data();
  const std::uint8_t* const is_gone = of.gone.data();
  const std::uint8_t* const is_looking = looking.data();
  const Site* const site = of.parcels.sites();
  const double* const rows = of.parcels.rows();
  const std::size_t width = of.parcels.schema().width();
  const auto n = static_cast<std::uint32_t>(of.size());
  std::size_t at = 0;
  for (std::uint32_t v = 0; v < n; ++v) {
    const Site& s = site[v];
    place[3 * at] = s.x;
    place[3 * at + 1] = s.y;
    place[3 * at + 2] = s.z;
    id[at] = std::bit_cast<std::int64_t>(rows[v * width]);
    unit[at] = v;
    look[at] = is_looking[v];
    at += is_gone[v] == 0;
  }
  places.resize(3 * here);
  ids.resize(here);
  units.resize(here);
  looks.resize(here);
}

/// Stores the units that are not gone in the lists of their values. @return false if there are too many combinations of values
bool UnitCells::build_lists(const Units& units, const std::vector<std::uint8_t>& looks) {
  const std::size_t axes = filter_->packed.phase.size();
  std::vector<double> packed(filter_->width());
  for (std::uint32_t v = 0; v < units.size(); ++v) {
    if (units.gone[v] != 0) continue;
    filter_->pack(units.parcels.row(v), packed.data());
    List* const list = list_of(packed.data() + axes, true);
    if (list == nullptr) return false;
    const Site& s = units.parcels.site(v);
    list->places.insert(list->places.end(), {s.x, s.y, s.z});
    list->ids.push_back(units.parcels.id(v));
    list->units.push_back(v);
    list->looks.push_back(looks[v]);
  }
  return true;
}

/// Gives back the memory of a list that has far fewer units than it had.
void UnitCells::trim(List& list) const {
  constexpr std::size_t kFew = 1024;
  if (list.ids.capacity() <= 4 * list.ids.size() + kFew) return;
  list.places.shrink_to_fit();
  list.more = std::vector<double>();
  list.ids.shrink_to_fit();
  list.units.shrink_to_fit();
  list.looks.shrink_to_fit();
  list.targets = std::vector<std::uint32_t>();  // {} would keep the memory
  list.lookers = std::vector<std::uint32_t>();
  list.cells = empty_cells();
  list.sorted = RawBuffer();
  list.scratch = RawBuffer();
}

nearest::PointSet UnitCells::points(const List& list) const {
  static_assert(sizeof(Site) == 4 * sizeof(double));
  const Site* const sites = units_->parcels.sites();
  const PointView places = list.whole ? PointView{&sites->x, &sites->y, &sites->z, 4, list.ids.size()}
                                      : PointView::rows(list.places.data(), list.ids.size());
  return {places, list.looks.data(), list.ids.data(), 0, decomposition_.grid().box.lower[2]};
}

/// Sorts the points of a list into its cells, once.
void UnitCells::sort(List& list) {
  if (list.ready) return;
  const std::size_t n = list.ids.size();
  const nearest::PointSet set = points(list);
  // With more columns in the metric the positions of partners are farther than those of as many nearest.
  const std::size_t count = fan_ + (filter_->packed.phase.empty() ? 0 : 2);
  list.cells.bin(set, {.parcels_per_cell = nearest::SeveralNearest::parcels_per_cell(count)});
  const auto grow = [](RawBuffer& buffer, std::size_t bytes) {
    if (buffer.bytes() < bytes) buffer = RawBuffer(bytes);
  };
  grow(list.sorted, n * sizeof(Site));
  grow(list.scratch, nearest::CellList::scratch_bytes(n));
  list.cells.sort(set, reinterpret_cast<Site*>(list.sorted.data()), list.scratch.data());
  const std::size_t axes = filter_->packed.phase.size();
  const std::uint32_t* const order = list.cells.order();
  list.more.resize(axes * n);
  const double* const rows = units_->parcels.rows();
  const std::size_t width = units_->parcels.schema().width();
  constexpr std::size_t kAhead = 16;  // rows
  double* const to = list.more.data();
  for (std::size_t v = 0; v < n && axes > 0; ++v) {
    __builtin_prefetch(rows + list.unit(order[std::min(v + kAhead, n - 1)]) * width);
    filter_->place(rows + list.unit(order[v]) * width, to + v * axes);
  }
  list.ready = true;
}

bool UnitCells::is_crowded() {
  for (std::size_t i = 0; i < used_; ++i) {
    sort(*lists_[i]);
    if (lists_[i]->cells.is_crowded()) return true;
  }
  return false;
}

/// Finds the `fan` least partners of every looker: find_all() and find_first().
std::vector<std::uint32_t> UnitCells::find_partners(std::size_t fan, std::vector<std::uint32_t>& lookers,
                                                    std::vector<Partner>& found) {
  std::vector<std::uint32_t> given_up;
  lookers.clear();
  found.clear();
  for (std::size_t i = 0; i < used_; ++i) {
    List& list = *lists_[i];
    list.first = lookers.size();
    list.lookers.clear();
    if (std::find(list.looks.begin(), list.looks.end(), 1) == list.looks.end()) continue;
    sort(list);
    if (is_nearest(fan))
      find_nearest(list, lookers, found);
    else
      find_several(list, fan, lookers, found, given_up);
  }
  return given_up;
}

void UnitCells::find_targets(std::vector<std::uint32_t>& lookers, std::vector<std::uint32_t>& targets) {
  lookers.clear();
  for (std::size_t i = 0; i < used_; ++i) {
    List& list = *lists_[i];
    if (std::find(list.looks.begin(), list.looks.end(), 1) == list.looks.end()) continue;
    sort(list);
    search_nearest(list);
    const std::uint32_t* const order = list.cells.order();
    for_lookers(list, [&](std::uint32_t v) {
      const std::uint32_t t = list.targets[v];
      lookers.push_back(list.unit(order[v]));
      if (t != links::kNone) targets[lookers.back()] = list.unit(order[t]);
    });
  }
}

/// Finds the nearest of every looker of a list, by its vertex.
void UnitCells::search_nearest(List& list) {
  list.targets.resize(list.ids.size());
  (void)list.cells.search_exact(list.targets, points(list).ids(list.cells.order()));  // queries follow in PolicySearch
}

/// Calls a function for the vertices of the lookers of a list.
template <class Take>
void UnitCells::for_lookers(const List& list, const Take& take) {
  const auto half_cells = 2 * static_cast<std::size_t>(list.cells.cell_count());
  for (std::size_t c = 0; c < half_cells; c += 2)
    for (std::uint32_t v = list.cells.start(c); v < list.cells.start(c + 1); ++v) take(v);
}

/// Appends the lookers of a list and the partner of each.
void UnitCells::find_nearest(List& list, std::vector<std::uint32_t>& lookers, std::vector<Partner>& found) {
  const Box& box = decomposition_.grid().box;
  search_nearest(list);
  const std::uint32_t* const order = list.cells.order();
  const Site* const sites = list.cells.sites();
  std::size_t at = found.size();
  const auto more = static_cast<std::size_t>(std::count(list.looks.begin(), list.looks.end(), 1));
  lookers.resize(at + more);
  found.reserve(at + more);
  list.lookers.resize(more);
  for_lookers(list, [&](std::uint32_t v) {
    lookers[at] = list.unit(order[v]);
    list.lookers[at++ - list.first] = v;
    const std::uint32_t t = list.targets[v];
    Partner& nearest = found.emplace_back();
    if (t == links::kNone) return;
    const double d2 = box.distance2({sites[v].x, sites[v].y, sites[v].z}, {sites[t].x, sites[t].y, sites[t].z});
    if (d2 <= filter_->within2) nearest = {d2, list.ids[order[t]], list.unit(order[t])};
  });
}

/// Returns the columns of the metric beside the position for the search in a list.
nearest::MoreAxes UnitCells::more_axes(const List& list) const {
  return {list.more.data(), filter_->packed.phase.size()};
}

/// Appends the lookers of a list and the partners of each, and the places in `lookers` of those for which it gave up.
void UnitCells::find_several(List& list, std::size_t fan, std::vector<std::uint32_t>& lookers,
                             std::vector<Partner>& found, std::vector<std::uint32_t>& given_up) {
  const std::uint32_t* const order = list.cells.order();
  const auto more = static_cast<std::size_t>(std::count(list.looks.begin(), list.looks.end(), 1));
  lookers.reserve(lookers.size() + more);
  std::size_t at = found.size();
  found.reserve(at + more * fan);
  found.resize(at + more * fan);
  list.lookers.reserve(more);
  nearest::SeveralNearest search(list.cells, points(list).ids(order), fan, more_axes(list));
  const auto take = [&](std::uint32_t v, std::span<const nearest::Near> nearest) {
    lookers.push_back(list.unit(order[v]));
    list.lookers.push_back(v);
    list.store(nearest, &found[at]);
    at += fan;
  };
  for (const std::uint32_t v : search.find_all(filter_->within2, take)) {
    given_up.push_back(static_cast<std::uint32_t>(lookers.size()));
    lookers.push_back(list.unit(order[v]));
    list.lookers.push_back(v);
  }
}

/// Stores partners that were found in the list.
void UnitCells::List::store(std::span<const nearest::Near> nearest, Partner* to) const {
  for (const nearest::Near& near : nearest) {
    const std::uint32_t point = cells.order()[near.vertex];
    *to++ = {near.distance2, ids[point], unit(point)};
  }
}

std::vector<std::uint32_t> UnitCells::find_rest(std::span<const std::uint32_t> places, std::span<Partner> found) {
  std::vector<std::uint32_t> given_up;
  std::uint32_t at = 0;
  for (std::size_t i = 0; i < used_; ++i) {
    const List& list = *lists_[i];
    if (slot_of_.size() < list.ids.size()) slot_of_.resize(list.ids.size());
    some_.clear();
    for (; at < places.size() && places[at] < list.first + list.lookers.size(); ++at) {
      const std::uint32_t v = list.lookers[places[at] - list.first];
      slot_of_[v] = at;
      some_.push_back(v);
    }
    if (some_.empty()) continue;
    nearest::SeveralNearest search(list.cells, points(list).ids(list.cells.order()), fan_, more_axes(list));
    const auto take = [&](std::uint32_t v, std::span<const nearest::Near> nearest) {
      list.store(nearest, &found[slot_of_[v] * fan_]);
    };
    for (const std::uint32_t v : search.find_some(some_, filter_->within2, take)) given_up.push_back(slot_of_[v]);
  }
  return given_up;
}

/// Returns the bound of a search: the partner known, or all at the greatest distance.
nearest::Best UnitCells::bound_of(const Partner& known) const {
  if (!(filter_->within2 < known.distance2)) return {known.distance2, known.id};
  return {std::nextafter(filter_->within2, std::numeric_limits<double>::infinity()),
          std::numeric_limits<std::int64_t>::min()};
}

bool UnitCells::find(const LookingUnit& looking, std::span<Partner> best) {
  const std::size_t axes = filter_->packed.phase.size();
  List* const list = list_of(looking.packed + axes, false);
  if (list == nullptr) return true;
  sort(*list);
  const Partner known = best.back();
  best_.assign(best.size(), {});
  const links::Ids ids = points(*list).ids(list->cells.order());
  const Vec3 place{looking.site.x, looking.site.y, looking.site.z};
  if (is_nearest(best.size())) {
    best_.front() = bound_of(known);
    list->cells.nearest({place}, ids, best_.front());
  } else {
    std::array<double, MergePolicy::kMaxPhaseColumns> more;
    for (std::size_t i = 0; i < axes; ++i) more[i] = looking.packed[i] * filter_->packed.factors[i];
    nearest::SeveralNearest search(list->cells, ids, best.size(), more_axes(*list));
    if (!search.find({place}, {known.distance2, known.id}, best_, {filter_->within2, more.data()})) return false;
  }
  for (std::size_t i = 0; i < best.size(); ++i) {
    const nearest::Best& b = best_[i];
    if (b.vertex == links::kNone) {
      best[i] = known;
      continue;
    }
    const std::uint32_t point = list->cells.order()[b.vertex];
    best[i] = {b.distance2, list->ids[point], list->unit(point)};
  }
  return true;
}

}  // namespace merganser::cluster
