// Merge step under a policy: what centres decide about their leaves, and the merge of a star.
#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

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

/// Decides about the leaves of one centre, entries of leaves_ in the order of (squared distance, id): one that would exceed the
/// greatest number of members or weight is refused with all after it; one that the predicate refuses, alone.
void PolicyStep::decide(std::size_t begin, std::size_t end, int round, StepReport& report) {
  const std::uint32_t centre = leaves_[begin].centre;
  double weight = units_.parcels.site(centre).volume;
  std::int64_t count = units_.members[centre];
  bool closed = false;
  std::vector<std::size_t> accepted;
  for (std::size_t i = begin; i < end; ++i) {
    Leaf& leaf = leaves_[i];
    const bool local = leaf.vertex != links::kNone;
    const double volume = local ? units_.parcels.site(leaf.vertex).volume : search_.leaves()[leaf.in].site.volume;
    const std::int64_t more = count + (local ? units_.members[leaf.vertex] : search_.leaves()[leaf.in].members);
    closed = closed || more > filter_.max_count || weight + volume > filter_.max_weight;
    if (!closed && (!policy_.allowed || is_allowed(centre, accepted, leaf, round))) {
      accepted.push_back(i);
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
    leaf.centre = links::kNone;  // no leaf any more
  }
  if (accepted.empty() && looks_[centre] != 0) units_.flags[centre] |= Units::kAgain;
}

/// Returns whether the policy's predicate admits the place of the parcel into which a centre, accepted leaves (entries of leaves_)
/// and one more would merge.
bool PolicyStep::is_allowed(std::uint32_t centre, const std::vector<std::size_t>& accepted, const Leaf& next,
                            int round) const {
  const auto member = [&](const Leaf& leaf) {
    return PlaceMember{leaf.vertex != links::kNone ? units_.parcels.site(leaf.vertex) : search_.leaves()[leaf.in].site,
                       leaf.id};
  };
  std::vector<PlaceMember> members;
  for (const std::size_t i : accepted) members.push_back(member(leaves_[i]));
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

/// Merges the stars of this rank, whose leaves are all here, and removes the leaves.
void PolicyStep::merge(int round, StepReport& report) {
  const links::Links& l = search_.links();
  // Where leaves of other ranks have been appended to the units, by entry of Links::in.
  std::vector<std::uint32_t> arrived(l.in.size(), links::kNone);
  auto next = static_cast<std::uint32_t>(l.target.size());
  for (std::size_t i = 0; i < l.in.size(); ++i)
    if (in_kept_[i] == 1) arrived[i] = next++;
  for (std::size_t k = 0; k < l.out.size(); ++k)
    if (out_kept_[k] != 0) units_.set_gone(l.out[k].vertex);
  merge_stars(arrived, round, report);
}

/// Merges the stars of this rank. @param arrived  units of the leaves that have come, by entry of Links::in
void PolicyStep::merge_stars(const std::vector<std::uint32_t>& arrived, int round, StepReport& report) {
  constexpr std::size_t kAhead = 8;  // leaves
  std::vector<std::uint32_t> members;
  const std::size_t n = leaves_.size();
  for (std::size_t begin = 0; begin < n;) {
    const Leaf& ahead = leaves_[std::min(begin + kAhead, n - 1)];
    if (ahead.vertex != links::kNone) prefetch(ahead.vertex);
    if (ahead.centre != links::kNone) prefetch(ahead.centre);
    // Refused leaves have lost their centre, so the star ends where another centre begins.
    if (leaves_[begin].centre == links::kNone) {
      ++begin;
      continue;
    }
    const std::uint32_t centre = leaves_[begin].centre;
    members.clear();
    std::size_t end = begin;
    for (; end < n && (leaves_[end].centre == centre || leaves_[end].centre == links::kNone); ++end)
      if (leaves_[end].centre == centre)
        members.push_back(leaves_[end].vertex != links::kNone ? leaves_[end].vertex : arrived[leaves_[end].in]);
    begin = end;
    std::sort(members.begin(), members.end(),
              [&](std::uint32_t a, std::uint32_t b) { return units_.parcels.id(a) < units_.parcels.id(b); });
    merge_star(centre, members, round);
    // A callback of a rule may throw at the next star: leaves of those that have merged must not stay beside them.
    for (const std::uint32_t v : members) units_.set_gone(v);
    report.merged += static_cast<std::int64_t>(members.size());
    if (looks_[centre] == 0) report.merged_into_big += static_cast<std::int64_t>(members.size());
    ++report.clusters[static_cast<int>(members.size() + 1)];
  }
}

/// Prefetches the parcel of a unit.
void PolicyStep::prefetch(std::uint32_t unit) const {
  __builtin_prefetch(&units_.parcels.site(unit));
  __builtin_prefetch(units_.parcels.row(unit));
  __builtin_prefetch(&units_.members[unit]);
}

/// Merges one star into its centre. @param leaves  units, by ascending id
void PolicyStep::merge_star(std::uint32_t centre, std::span<const std::uint32_t> leaves, int round) {
  Parcels& p = units_.parcels;
  star_.assign(1, {&p.site(centre), p.row(centre)});
  for (const std::uint32_t v : leaves) star_.push_back({&p.site(v), p.row(v)});
  Site site = p.site(centre);
  row_.assign(p.row(centre), p.row(centre) + schema_.width());
  merganser::merge_star(rules_, star_, site, row_.data());
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
