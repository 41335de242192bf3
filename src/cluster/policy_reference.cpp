// Serial oracle of the rounds of a step under a merge policy (policy_reference.hpp).
#include "merganser/cluster/policy_reference.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>

#include "merganser/cluster/reference.hpp"
#include "src/cluster/policy_arithmetic.hpp"
#include "src/cluster/policy_reference_groups.hpp"
#include "src/cluster/reference_stages.hpp"

namespace merganser {
namespace reference {
namespace {

/// Parcel of the serial oracle of a policy: what it holds of the parcels before the step.
struct Unit {
  Site site;                       ///< position and volume
  std::vector<double> row;         ///< payload row
  std::vector<std::size_t> parts;  ///< indices of the parcels before the step that it holds, ascending
  double energy = 0;               ///< mean kinetic energy per weight; momentum_energy only
  bool passed_over = false;        ///< has found no partner since it was last a centre
  /// Returns the id of the unit, that of its centre.
  [[nodiscard]] std::int64_t id() const { return std::bit_cast<std::int64_t>(row[0]); }
};

/// Link of a looker in one round of the oracle.
struct Link {
  std::size_t from;  ///< index of the looker
  std::size_t to;    ///< index of its partner
  links::Key key;    ///< by which links compare
};

/// Star of one round of the oracle: a centre and its leaves with the keys of their links.
struct RoundStar {
  std::vector<Link> leaves;  ///< leaf -> centre
};

/// Rounds of one step under a policy, on a list of units; run() makes the step.
class Rounds {
 public:
  Rounds(const Parcels& parcels, const Grid& grid, const ClusterOptions& options, const MergePolicy& policy)
      : before_(parcels),
        grid_(grid),
        policy_(policy),
        columns_(policy, parcels.schema()),
        cells_(cluster::crowd_grid(policy, grid)),
        rules_(parcels.schema(), grid.box),
        two_products_(policy.conserve == Conserve::momentum_energy) {
    rules_.callbacks = options.callbacks;
    const double within = policy.within.in_box_units(grid, static_cast<std::int64_t>(parcels.size()));
    within2_ = within * within;
    below_ = policy.small_below > 0 ? policy.small_below : grid.cell_volume() / options.min_volume_ratio;
    for (std::size_t i = 0; i < parcels.size(); ++i) {
      columns_.check_row(parcels.row(i));
      Unit u{parcels.site(i), {parcels.row(i), parcels.row(i) + parcels.schema().width()}, {i}};
      if (two_products_) u.energy = cluster::kinetic_energy(policy, columns_, u.row.data());
      units_.push_back(u);
    }
  }

  /// Makes all rounds and returns the parcels that remain.
  Parcels run(PolicyOutcome& out) {
    for (;;) {
      const std::vector<std::size_t> lookers = list_lookers(out.rounds);
      if (out.rounds == 0) out.report.small = static_cast<std::int64_t>(lookers.size());
      if (lookers.empty()) break;
      if (out.rounds == policy_.max_rounds) {
        out.settled = false;
        break;
      }
      if (!make_round(lookers, out)) break;
      ++out.rounds;
    }
    return finish(out);
  }

 private:
  /// Returns how many parcels a unit will leave in its cell.
  [[nodiscard]] std::int64_t count_of(const Unit& u) const { return two_products_ && u.parts.size() > 1 ? 2 : 1; }

  /// Returns the cell in which a place counts for Looker::crowded.
  [[nodiscard]] std::array<std::int64_t, 3> cell_of(const Site& s) const {
    return {cells_.cell(0, s.x), cells_.cell(1, s.y), cells_.cell(2, s.z)};
  }

  /// Lists the lookers of a round, ascending by index.
  [[nodiscard]] std::vector<std::size_t> list_lookers(int round) const {
    if (policy_.looker == Looker::crowded) return list_crowded();
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < units_.size(); ++i) {
      const bool qualifies = policy_.looker == Looker::none   ? false
                             : policy_.looker == Looker::mask ? columns_.value(units_[i].row.data(), columns_.mask) != 0
                                                              : units_[i].site.volume < below_;
      if (round == 0 ? qualifies : again_.count(units_[i].id()) > 0) out.push_back(i);
    }
    return out;
  }

  /// Lists the lookers of a round in crowded cells.
  [[nodiscard]] std::vector<std::size_t> list_crowded() const {
    std::map<std::array<std::int64_t, 3>, std::vector<std::size_t>> members;
    for (std::size_t i = 0; i < units_.size(); ++i) members[cell_of(units_[i].site)].push_back(i);
    std::vector<std::size_t> out;
    for (auto& [cell, list] : members) {
      std::int64_t count = 0;
      for (const std::size_t i : list) count += count_of(units_[i]);
      if (count <= policy_.crowded_above) continue;
      std::sort(list.begin(), list.end(), [&](std::size_t a, std::size_t b) {
        return std::pair(units_[a].site.volume, units_[a].id()) < std::pair(units_[b].site.volume, units_[b].id());
      });
      std::int64_t left = count - policy_.crowded_target;
      for (const std::size_t i : list) {
        if (units_[i].passed_over || count_of(units_[i]) > left) continue;
        left -= count_of(units_[i]);
        out.push_back(i);
      }
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  /// Returns whether two units may be partners.
  [[nodiscard]] bool is_admissible(const Unit& a, const Unit& b) const {
    for (const std::size_t column : columns_.same)
      if (columns_.value(a.row.data(), column) != columns_.value(b.row.data(), column)) return false;
    if (policy_.within.value > 0 &&
        grid_.box.distance2({a.site.x, a.site.y, a.site.z}, {b.site.x, b.site.y, b.site.z}) > within2_)
      return false;
    if (policy_.max_weight > 0 && a.site.volume + b.site.volume > policy_.max_weight) return false;
    if (policy_.max_members > 0 && static_cast<std::int64_t>(a.parts.size() + b.parts.size()) > policy_.max_members)
      return false;
    return refused_.count(std::minmax(a.id(), b.id())) == 0;
  }

  /// Returns the links of a looker: the least 1 + fall_backs to admissible units.
  [[nodiscard]] std::vector<Link> find_links(std::size_t i) const {
    std::vector<Link> all;
    const Unit& a = units_[i];
    for (std::size_t j = 0; j < units_.size(); ++j) {
      const Unit& b = units_[j];
      if (j == i || !is_admissible(a, b)) continue;
      const double d2 = cluster::metric2(grid_.box, columns_, a.site, a.row.data(), b.site, b.row.data());
      all.push_back({i, j, {d2, std::min(a.id(), b.id()), std::max(a.id(), b.id())}});
    }
    std::sort(all.begin(), all.end(), [](const Link& x, const Link& y) { return x.key < y.key; });
    all.resize(std::min(all.size(), std::size_t{1} + static_cast<std::size_t>(policy_.fall_backs)));
    return all;
  }

  /// Makes one round. @return false if no looker has a partner: nothing can merge
  bool make_round(const std::vector<std::size_t>& lookers, PolicyOutcome& out) {
    std::vector<Link> links;
    for (const std::size_t i : lookers) {
      const std::vector<Link> mine = find_links(i);
      if (mine.empty() && !units_[i].passed_over) {
        units_[i].passed_over = true;
        ++out.report.unmatched;
      }
      links.insert(links.end(), mine.begin(), mine.end());
    }
    again_.clear();
    // Lookers without a partner are passed over: with crowded others of their cells may look next.
    if (links.empty()) return policy_.looker == Looker::crowded;
    const std::set<std::size_t> looks(lookers.begin(), lookers.end());
    std::map<std::size_t, RoundStar> stars;
    for (const Link& link : keep_links(links, looks)) stars[link.to].leaves.push_back(link);
    std::set<std::size_t> gone;
    for (auto& [centre, star] : stars) merge(centre, star, looks, gone, out);
    std::vector<Unit> rest;
    for (std::size_t i = 0; i < units_.size(); ++i)
      if (gone.count(i) == 0) rest.push_back(units_[i]);
    units_ = rest;
    return true;
  }

  /// Cuts the links of a round to stars or pairs; a link that is kept leads to the centre.
  [[nodiscard]] std::vector<Link> keep_links(std::vector<Link> links, const std::set<std::size_t>& looks) const {
    std::sort(links.begin(), links.end(), [](const Link& x, const Link& y) { return x.key < y.key; });
    if (policy_.form == MergeForm::stars) return keep_stars(links);
    std::vector<Link> kept;
    std::set<std::size_t> taken;
    for (const Link& link : links) {
      const bool free = taken.count(link.from) == 0 && taken.count(link.to) == 0;
      // A link that is not taken ends other pairs of its ends only if it is the least that touches them.
      if (free) {
        const bool swap = looks.count(link.to) > 0 && units_[link.from].id() < units_[link.to].id();
        kept.push_back(swap ? Link{link.to, link.from, link.key} : link);
      }
      if (free || policy_.form == MergeForm::mutual_pairs) taken.insert({link.from, link.to});
    }
    return kept;
  }

  /// Cuts the links of a round to stars by the published sweeps.
  [[nodiscard]] std::vector<Link> keep_stars(const std::vector<Link>& links) const {
    Parcels ids(before_.schema());
    for (const Unit& u : units_) ids.append(u.site, u.row.data());
    LinkGraph graph{std::vector<std::int64_t>(units_.size(), -1), std::vector<links::Key>(units_.size())};
    for (const Link& link : links) {
      graph.target[link.from] = static_cast<std::int64_t>(link.to);
      graph.key[link.from] = link.key;
    }
    prune(graph, ids);
    std::vector<Link> kept;
    for (const Link& link : links)
      if (graph.target[link.from] >= 0) kept.push_back(link);
    return kept;
  }

  /// Returns the unit into which a centre and some leaves merge. @param leaves  indices, in any order
  [[nodiscard]] Unit merged(std::size_t centre, std::vector<std::size_t> leaves, int round) const {
    std::sort(leaves.begin(), leaves.end(),
              [&](std::size_t a, std::size_t b) { return units_[a].id() < units_[b].id(); });
    leaves.insert(leaves.begin(), centre);
    std::vector<Member> members;
    for (const std::size_t i : leaves) members.push_back({&units_[i].site, units_[i].row.data()});
    Unit u = units_[centre];
    merge_reference(rules_, members, u.site, u.row.data());
    u.passed_over = false;
    u.parts.clear();
    double energy = 0;
    for (const std::size_t i : leaves) {
      u.parts.insert(u.parts.end(), units_[i].parts.begin(), units_[i].parts.end());
      const double term = units_[i].site.volume * units_[i].energy;
      energy = i == centre ? term : energy + term;
    }
    u.energy = energy * (1 / u.site.volume);
    std::sort(u.parts.begin(), u.parts.end());
    std::vector<PlaceMember> places;
    for (const std::size_t i : leaves) places.push_back({units_[i].site, units_[i].id()});
    const cluster::DrawKey key{policy_.seed, policy_.step, static_cast<std::uint32_t>(round)};
    set_place(policy_, key, places, u.site);
    return u;
  }

  /// Decides which leaves of a centre are accepted, and merges these.
  void merge(std::size_t centre, RoundStar& star, const std::set<std::size_t>& looks, std::set<std::size_t>& gone,
             PolicyOutcome& out) {
    std::sort(star.leaves.begin(), star.leaves.end(), [&](const Link& a, const Link& b) {
      return std::pair(a.key.distance2, units_[a.from].id()) < std::pair(b.key.distance2, units_[b.from].id());
    });
    std::vector<std::size_t> accepted;
    double weight = units_[centre].site.volume;
    auto count = static_cast<std::int64_t>(units_[centre].parts.size());
    bool closed = false;
    for (const Link& link : star.leaves) {
      const Unit& leaf = units_[link.from];
      const auto more = count + static_cast<std::int64_t>(leaf.parts.size());
      closed = closed || (policy_.max_members > 0 && more > policy_.max_members) ||
               (policy_.max_weight > 0 && weight + leaf.site.volume > policy_.max_weight);
      bool refused = closed;
      if (!refused && policy_.allowed) {
        std::vector<std::size_t> with = accepted;
        with.push_back(link.from);
        const Site s = merged(centre, with, out.rounds).site;
        refused = !policy_.allowed({s.x, s.y, s.z});
      }
      if (refused) {
        ++out.refused;
        refused_.insert(std::minmax(leaf.id(), units_[centre].id()));
        again_.insert(leaf.id());
        continue;
      }
      accepted.push_back(link.from);
      weight = weight + leaf.site.volume;
      count = more;
    }
    if (accepted.empty()) {
      if (looks.count(centre) > 0) again_.insert(units_[centre].id());
      return;
    }
    // Members of one star are in no other, so the list may change at once.
    units_[centre] = merged(centre, accepted, out.rounds);
    gone.insert(accepted.begin(), accepted.end());
    ++out.report.clusters[static_cast<int>(accepted.size() + 1)];
  }

  /// Returns the parcels that remain after the rounds, by ascending id: where the policy conserves energy, two of each
  /// unit.
  Parcels finish(PolicyOutcome& out) const {
    std::vector<Remaining> remaining;
    for (const Unit& u : units_) {
      std::vector<std::int64_t> ids;
      for (const std::size_t part : u.parts) ids.push_back(before_.id(part));
      std::sort(ids.begin(), ids.end());
      if (!two_products_ || ids.size() == 1) {
        remaining.push_back({u.site, u.row});
        for (const std::int64_t id : ids)
          if (id != u.id()) out.report.lineage.push_back({id, u.id()});
      } else if (ids.size() == 2 && is_undone(u)) {
        ++out.undone;
        for (const std::size_t part : u.parts)
          remaining.push_back({before_.site(part), {before_.row(part), before_.row(part) + u.row.size()}});
      } else {
        for (Remaining& r : two_parcels(u, ids)) remaining.push_back(std::move(r));
        for (std::size_t i = 2; i < ids.size(); ++i) out.report.lineage.push_back({ids[i], ids[0]});
      }
    }
    return to_parcels(before_.schema(), std::move(remaining));
  }

  /// Returns whether a unit of two is undone in the end: unless that could put a parcel into another crowded cell.
  [[nodiscard]] bool is_undone(const Unit& u) const {
    if (policy_.looker != Looker::crowded) return true;
    const auto cell = cell_of(u.site);
    return cell_of(before_.site(u.parts[0])) == cell && cell_of(before_.site(u.parts[1])) == cell;
  }

  /// Returns the two parcels that remain of a unit. @param ids  of its members, ascending
  [[nodiscard]] std::vector<Remaining> two_parcels(const Unit& u, const std::vector<std::int64_t>& ids) const {
    const auto& m = columns_.momentum;
    // Round 0 of the key: a unit is expanded once in a step.
    const cluster::DrawKey key{policy_.seed, policy_.step, 0};
    const double mass = columns_.mass == 0 ? 1 : columns_.value(u.row.data(), columns_.mass);
    const auto momenta =
        cluster::two_momenta(policy_, key, {u.row[m[0]], u.row[m[1]], u.row[m[2]]}, u.energy, mass, ids[0]);
    std::vector<Remaining> out;
    for (std::size_t k = 0; k < 2; ++k) {
      Remaining r{u.site, u.row};
      r.site.volume = 0.5 * u.site.volume;
      r.row[0] = std::bit_cast<double>(ids[k]);
      scale_sums(before_.schema(), 0.5, r.row.data());
      for (std::size_t a = 0; a < 3; ++a) r.row[m[a]] = momenta[k][a];
      out.push_back(std::move(r));
    }
    return out;
  }

  const Parcels& before_;
  const Grid& grid_;
  const MergePolicy& policy_;
  cluster::PolicyColumns columns_;
  Grid cells_;  // of Looker::crowded
  MergeRules rules_;
  bool two_products_;
  double within2_ = 0;
  double below_ = 0;
  std::vector<Unit> units_;
  std::set<std::pair<std::int64_t, std::int64_t>> refused_;  // pairs of ids, the lower one first
  std::set<std::int64_t> again_;                             // ids of the lookers of the next round
};

}  // namespace
}  // namespace reference

// Oracle of a step under a policy: friends of friends, levelling thinning, or rounds.
PolicyOutcome policy_reference(Parcels& parcels, const Grid& grid, const ClusterOptions& options,
                               const MergePolicy& policy) {
  PolicyOutcome out;
  check(policy, parcels.schema());
  out.report.before = static_cast<std::int64_t>(parcels.size());
  const Parcels before = parcels;
  if (policy.is_friends()) {
    parcels = reference::merge_friends(before, grid, policy, out);
  } else if (policy.level_ratio > 0) {
    parcels = reference::level(before, grid, policy);
  } else {
    parcels = reference::Rounds(before, grid, options, policy).run(out);
    if (policy.split_below > 0) reference::split(parcels, grid, policy, out);
  }
  out.report.after = static_cast<std::int64_t>(parcels.size());
  out.report.merged = out.report.before + out.report.policy.split - out.report.after;
  return out;
}

}  // namespace merganser
