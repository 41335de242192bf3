// Merge step under a policy: what centres decide about their leaves, and the merge of a star.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <span>
#include <tuple>

#include "merganser/parcels/packed.hpp"
#include "src/cluster/policy_step.hpp"

namespace merganser::cluster {
namespace {

/// Sets the position of a merged parcel, which is the centroid, by the policy. @param members  the centre first
void set_place(const MergePolicy& policy, const DrawKey& key, std::span<const PlaceMember> members, Site& site) {
  if (policy.place == Placement::centroid) return;
  const auto rank = [&](const PlaceMember& m) {
    if (policy.place == Placement::centre) return 0.0;
    return policy.place == Placement::heaviest ? -m.site.volume : draw_place(key, m.id, m.site.volume);
  };
  const PlaceMember* best = members.data();
  double least = rank(*best);
  if (policy.place != Placement::centre)
    for (const PlaceMember& m : members.subspan(1)) {
      const double x = rank(m);
      if (x < least || (x == least && m.id < best->id)) best = &m, least = x;
    }
  site = {best->site.x, best->site.y, best->site.z, site.volume};
}

}  // namespace

/// Decides about the leaves of this rank's centres, which have not come yet from other ranks.
void PolicyStep::decide(int round, StepReport& report) {
  const links::Links& l = search_.links();
  list_stars();
  for (std::size_t k = 0; k < centres_.size(); ++k) {
    leaves_.clear();
    for (const std::uint32_t v : leaves_of(k)) {
      if (v < l.target.size()) {
        leaves_.push_back({v, 0, search_.distance2()[v], units_.parcels.id(v)});
      } else {
        const std::uint32_t in = arrivals_[v - l.target.size()];
        leaves_.push_back({links::kNone, in, l.in[in].distance2, l.in[in].remote_id});
      }
    }
    std::sort(leaves_.begin(), leaves_.end(),
              [](const Leaf& a, const Leaf& b) { return std::tie(a.distance2, a.id) < std::tie(b.distance2, b.id); });
    decide_star(centres_[k], round, report);
  }
}

/// Decides about the leaves of one centre, those in leaves_ in the order of (squared distance, id): one that would exceed the
/// greatest number of members or weight is refused with all after it; one that the predicate refuses, alone.
void PolicyStep::decide_star(std::uint32_t centre, int round, StepReport& report) {
  double weight = units_.parcels.site(centre).volume;
  std::int64_t count = units_.members[centre];
  bool closed = false;
  std::vector<Leaf> accepted;
  for (const Leaf& leaf : leaves_) {
    const bool local = leaf.vertex != links::kNone;
    const double volume = local ? units_.parcels.site(leaf.vertex).volume : search_.leaves()[leaf.in].site.volume;
    const std::int64_t more = count + (local ? units_.members[leaf.vertex] : search_.leaves()[leaf.in].members);
    closed = closed || more > filter_.max_count || weight + volume > filter_.max_weight;
    if (!closed && (!policy_.allowed || is_allowed(centre, accepted, leaf, round))) {
      accepted.push_back(leaf);
      weight = weight + volume;
      count = more;
      continue;
    }
    ++report.policy.refused;
    refuse(units_.parcels.id(centre), leaf.id);
    if (local) {
      refuse(leaf.id, units_.parcels.id(centre));
      units_.flags[leaf.vertex] |= Units::kAgain;
      search_.links().target[leaf.vertex] = links::kNone;
    } else {
      in_kept_[leaf.in] = 2;
    }
  }
  if (accepted.empty() && looks_[centre] != 0) units_.flags[centre] |= Units::kAgain;
}

/// Returns whether the policy's predicate admits the place of the parcel into which a centre, accepted leaves and one more would merge.
bool PolicyStep::is_allowed(std::uint32_t centre, const std::vector<Leaf>& accepted, const Leaf& next,
                            int round) const {
  const auto member = [&](const Leaf& leaf) {
    return PlaceMember{leaf.vertex != links::kNone ? units_.parcels.site(leaf.vertex) : search_.leaves()[leaf.in].site,
                       leaf.id};
  };
  std::vector<PlaceMember> members;
  for (const Leaf& leaf : accepted) members.push_back(member(leaf));
  members.push_back(member(next));
  std::sort(members.begin(), members.end(), [](const PlaceMember& a, const PlaceMember& b) { return a.id < b.id; });
  members.insert(members.begin(), {units_.parcels.site(centre), units_.parcels.id(centre)});
  std::vector<std::array<double, 2>> rows(members.size());
  std::vector<Member> star;
  for (std::size_t i = 0; i < members.size(); ++i) {
    rows[i] = {std::bit_cast<double>(members[i].id), 0};
    star.push_back({&members[i].site, rows[i].data()});
  }
  Site site = members[0].site;
  std::array<double, 2> row = rows[0];
  merganser::merge_star(place_rules_, star, site, row.data());
  set_place(policy_, {policy_.seed, policy_.step, static_cast<std::uint32_t>(round)}, members, site);
  return policy_.allowed({site.x, site.y, site.z});
}

/// Stores that one unit of this rank may not be a partner of another in this step.
void PolicyStep::refuse(std::int64_t one, std::int64_t other) { units_.extra[one].refused.push_back(other); }

/// Prefetches the parcel of a unit.
[[gnu::always_inline]] inline void PolicyStep::prefetch(std::uint32_t unit) const {
  __builtin_prefetch(&units_.parcels.site(unit));
  __builtin_prefetch(units_.parcels.row(unit));
  __builtin_prefetch(&units_.members[unit]);
}

/// Merges the stars of this rank, whose leaves are all here, and removes the leaves.
void PolicyStep::merge(int round, StepReport& report) {
  const links::Links& l = search_.links();
  for (std::size_t k = 0; k < l.out.size(); ++k)
    if (out_kept_[k] != 0) units_.set_gone(l.out[k].vertex);
  list_stars();
  units_.changed.reserve(units_.changed.size() + centres_.size() + star_leaves_.size());
  constexpr std::size_t kAhead = 8;         // stars
  std::vector<std::int64_t> of_size(3, 0);  // by number of members: stars
  for (std::size_t k = 0; k < centres_.size(); ++k) {
    const std::size_t ahead = std::min(k + kAhead, centres_.size() - 1);
    prefetch(centres_[ahead]);
    prefetch(leaves_of(ahead).front());
    const std::uint32_t centre = centres_[k];
    const std::span<std::uint32_t> leaves = leaves_of(k);
    if (leaves.size() > 1)
      std::sort(leaves.begin(), leaves.end(),
                [&](std::uint32_t a, std::uint32_t b) { return units_.parcels.id(a) < units_.parcels.id(b); });
    merge_star(centre, leaves, round);
    // A callback of a rule may throw at the next star: leaves of those that have merged must not stay beside them.
    for (const std::uint32_t v : leaves) units_.set_gone(v);
    const std::size_t size = leaves.size() + 1;
    const auto merged = static_cast<std::int64_t>(leaves.size());
    report.merged += merged;
    report.merged_into_big += looks_[centre] == 0 ? merged : 0;
    if (size >= of_size.size()) of_size.resize(size + 1, 0);
    ++of_size[size];
  }
  for (std::size_t size = 0; size < of_size.size(); ++size)
    if (of_size[size] > 0) report.clusters[static_cast<int>(size)] += of_size[size];
}

/// Lists the stars of this rank, those of one leaf first: whether a looker is a leaf, and of how many, is as good as random, so no branch
/// tells. Leaves of other ranks have the numbers that their units get when migrate() appends them, in the order of Links::in.
void PolicyStep::list_stars() {
  constexpr std::uint32_t kListed = links::kAway;  // more than any number of leaves
  const links::Links& l = search_.links();
  const std::vector<std::uint32_t>& lookers = search_.lookers();
  const std::size_t n = l.target.size();
  kept_.resize(lookers.size() + l.in.size() + 1);
  arrivals_.clear();
  std::size_t count = 0;
  for (const std::uint32_t v : lookers) {
    kept_[count] = {l.target[v], v};
    count += (l.target[v] & links::kAway) == 0;  // kNone has this bit too
  }
  for (std::uint32_t i = 0; i < l.in.size(); ++i) {
    if (in_kept_[i] != 1) continue;
    kept_[count++] = {l.in[i].vertex, static_cast<std::uint32_t>(n + arrivals_.size())};
    arrivals_.push_back(i);
  }
  place_.assign(n, 0);
  for (std::size_t i = 0; i < count; ++i) ++place_[kept_[i].centre];
  centres_.resize(count + 1);
  star_leaves_.resize(count + 1);
  std::size_t several = 0;  // links of stars of several leaves, at the front of kept_
  std::size_t pairs = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const KeptLink link = kept_[i];
    const bool single = place_[link.centre] == 1;
    centres_[pairs] = link.centre;
    star_leaves_[pairs] = link.leaf;
    kept_[several] = link;
    pairs += single;
    several += !single;
  }
  centres_.resize(pairs);
  star_leaves_.resize(count);
  first_leaf_.resize(pairs + 1);
  std::iota(first_leaf_.begin(), first_leaf_.end(), 0U);
  for (std::size_t i = 0; i < several; ++i) {
    std::uint32_t& place = place_[kept_[i].centre];  // number of leaves, then the place of the next one
    if ((place & kListed) == 0) {
      centres_.push_back(kept_[i].centre);
      first_leaf_.push_back(first_leaf_.back() + place);
      place = kListed | first_leaf_[first_leaf_.size() - 2];
    }
    star_leaves_[place++ & ~kListed] = kept_[i].leaf;
  }
}

/// Merges one star into its centre. @param leaves  units, by ascending id
void PolicyStep::merge_star(std::uint32_t centre, std::span<const std::uint32_t> leaves, int round) {
  Parcels& p = units_.parcels;
  star_.clear();
  star_.push_back({&p.site(centre), p.row(centre)});
  for (const std::uint32_t v : leaves) star_.push_back({&p.site(v), p.row(v)});
  Site site = p.site(centre);
  // What follows may run out of memory, or read the row as it was; then the row is written last.
  const bool row_last = two_products_ || lineage_ || policy_.place != Placement::centroid;
  row_.resize(row_last ? schema_.width() : 0);
  merganser::merge_star(rules_, star_, site, row_last ? row_.data() : p.row(centre));
  if (policy_.place != Placement::centroid) {
    places_.assign(1, {p.site(centre), p.id(centre)});
    for (const std::uint32_t v : leaves) places_.push_back({p.site(v), p.id(v)});
    set_place(policy_, {policy_.seed, policy_.step, static_cast<std::uint32_t>(round)}, places_, site);
  }
  join_state(centre, leaves, site);
  p.site(centre) = site;
  std::copy(row_.begin(), row_.end(), p.row(centre));
}

/// Joins what the members of a star hold of the parcels before the step. @param site  of the merged parcel
void PolicyStep::join_state(std::uint32_t centre, std::span<const std::uint32_t> leaves, const Site& site) {
  const Parcels& p = units_.parcels;
  const std::int64_t id = p.id(centre);
  std::int64_t count = units_.members[centre];
  for (const std::uint32_t v : leaves) count += units_.members[v];
  if (lineage_) {
    std::vector<std::int64_t> parts = units_.extra[id].parts;
    if (parts.empty()) parts.push_back(id);
    for (const std::uint32_t v : leaves) {
      const Units::Extra* const e = units_.find_extra(p.id(v));
      if (e == nullptr || e->parts.empty()) {
        parts.push_back(p.id(v));
      } else {
        parts.insert(parts.end(), e->parts.begin(), e->parts.end());
      }
    }
    units_.extra[id].parts = std::move(parts);
  }
  if (two_products_) {
    double energy = p.site(centre).volume * units_.energy[centre];
    std::array<std::int64_t, 2> low = units_.low[centre];
    for (const std::uint32_t v : leaves) {
      energy += p.site(v).volume * units_.energy[v];
      std::array<std::int64_t, 4> all{low[0], low[1], units_.low[v][0], units_.low[v][1]};
      std::sort(all.begin(), all.end());
      low = {all[0], all[1]};
    }
    units_.energy[centre] = energy * (1 / site.volume);
    units_.low[centre] = low;
    // A unit of two is undone in the end, with crowded only if that puts no parcel into another cell.
    const bool undone = count == 2 && (policy_.looker != Looker::crowded ||
                                       (cells_.cell_of(p.site(centre)) == cells_.cell_of(site) &&
                                        cells_.cell_of(p.site(leaves[0])) == cells_.cell_of(site)));
    if (undone) {
      Units::Extra& e = units_.extra[id];
      append_parcel(e.originals, p, centre);
      append_parcel(e.originals, p, leaves[0]);
    } else if (const auto at = units_.extra.find(id); at != units_.extra.end()) {
      at->second.originals.clear();
    }
  }
  units_.members[centre] = count;
  units_.changed.push_back(centre);
  units_.flags[centre] |= Units::kMoved;
  units_.flags[centre] &= static_cast<std::uint8_t>(~Units::kPassedOver);
}

}  // namespace merganser::cluster
