// Merge step under a policy: levelling thinning, the two parcels that remain of N, lineage, and sums for the report.
#include <algorithm>
#include <bit>
#include <span>
#include <unordered_map>
#include <vector>

#include "merganser/base/exact_sum.hpp"
#include "merganser/parcels/packed.hpp"
#include "src/cluster/policy_split.hpp"
#include "src/cluster/policy_step.hpp"
#include "src/cluster/remove_parcels.hpp"

namespace merganser::cluster {
/// Levelling thinning of this rank's parcels: those at most as large as the level of their cell stay with a probability.
void PolicyStep::level(Parcels& parcels, StepReport& report) {
  std::vector<double> levels;
  cells_.compute_levels(parcels, policy_.level_ratio, policy_.level_least, levels);
  const DrawKey key{policy_.seed, policy_.step, 0};
  std::vector<std::uint8_t> gone(parcels.size(), 0);
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    const double volume = parcels.site(i).volume;
    const double level = levels[i];
    if (!(volume <= level)) continue;
    if (!(draw_uniform(key, Draw::level, parcels.id(i)) < volume / level)) {
      gone[i] = 1;
      ++report.merged;
      continue;
    }
    parcels.site(i).volume = level;
    scale_sums(schema_, level / volume, parcels.row(i));
  }
  remove_parcels(parcels, gone);
}

/// Splits parcels of this rank in cells with too few.
void PolicyStep::split(Parcels& parcels, StepReport& report) {
  std::vector<SplitOrder> orders;
  split_cells_->plan_splits(parcels, policy_.split_below, first_new_id(policy_, split_cells_->grid()), orders);
  std::unordered_map<std::int64_t, std::size_t> added;  // index of new parcels
  for (const SplitOrder& order : orders) {
    std::size_t at = order.index;
    if (parcels.id(at) != order.parent) at = added.at(order.parent);
    added.emplace(order.child, parcels.size());
    split_parcel(policy_, columns_, split_cells_->grid(), parcels, at, order.child);
    if (lineage_) report.splits.push_back({order.child, order.parent});
  }
  report.policy.split = static_cast<std::int64_t>(orders.size());
}

/// Replaces every unit of more than one parcel by the two that remain of it, or a unit of two by its members, as they were.
void PolicyStep::expand(StepReport& report) {
  const std::size_t n = units_.size();
  Parcels& p = units_.parcels;
  for (std::size_t i = 0; i < n; ++i) {
    if (units_.members[i] == 1) continue;
    --report.merged;
    const Units::Extra* const extra = units_.find_extra(p.id(i));
    if (extra == nullptr || extra->originals.empty()) {
      expand_unit(i);
      continue;
    }
    ++report.policy.undone;
    append_parcels(extra->originals, p);
    // The first of the two takes the place of the unit, the second stays at the end.
    const std::size_t first = p.size() - 2;
    p.site(i) = p.site(first);
    std::copy_n(p.row(first), schema_.width(), p.row(i));
    p.site(first) = p.site(first + 1);
    std::copy_n(p.row(first + 1), schema_.width(), p.row(first));
    p.resize(first + 1);
  }
}

/// Replaces a unit by the two parcels that remain of it; the second one is appended.
void PolicyStep::expand_unit(std::size_t i) {
  Parcels& p = units_.parcels;
  const auto& m = columns_.momentum;
  std::vector<double> row(p.row(i), p.row(i) + schema_.width());
  const DrawKey key{policy_.seed, policy_.step, 0};  // round 0: a unit is expanded once in a step
  const double mass = columns_.mass == 0 ? 1 : columns_.value(row.data(), columns_.mass);
  const auto momenta =
      two_momenta(policy_, key, {row[m[0]], row[m[1]], row[m[2]]}, units_.energy[i], mass, units_.low[i][0]);
  Site site = p.site(i);
  site.volume = 0.5 * site.volume;
  scale_sums(schema_, 0.5, row.data());
  for (std::size_t k = 0; k < 2; ++k) {
    row[0] = std::bit_cast<double>(units_.low[i][k]);
    for (std::size_t a = 0; a < 3; ++a) row[m[a]] = momenta[k][a];
    if (k == 0) {
      p.site(i) = site;
      std::copy(row.begin(), row.end(), p.row(i));
    } else {
      p.append(site, row.data());
    }
  }
}

/// Adds to the report every parcel of the step that is gone, with the one that holds it.
void PolicyStep::add_lineage(StepReport& report) {
  for (std::size_t i = 0; i < units_.size(); ++i) {
    if (units_.gone[i] != 0 || units_.members[i] == 1) continue;
    const std::int64_t id = units_.parcels.id(i);
    const Units::Extra& e = units_.extra[id];
    if (two_products_ && !e.originals.empty()) continue;
    for (const std::int64_t part : e.parts)
      if (two_products_ ? part != units_.low[i][0] && part != units_.low[i][1] : part != id)
        report.lineage.push_back({part, two_products_ ? units_.low[i][0] : id});
  }
}

/// Sums weight and, where the policy conserves momentum, kinetic energy and momentum of parcels.
void PolicyStep::measure(const Parcels& parcels, double& weight, double& energy, Vec3& momentum) const {
  constexpr std::size_t kLot = 2048;  // parcels whose terms are added together
  const bool weights_only = policy_.conserve == Conserve::rules;
  ExactSum sums[5];
  double terms[5][kLot];
  for (std::size_t begin = 0; begin < parcels.size(); begin += kLot) {
    const std::size_t count = std::min(kLot, parcels.size() - begin);
    for (std::size_t i = 0; i < count; ++i) {
      const double volume = parcels.site(begin + i).volume;
      terms[0][i] = volume;
      if (weights_only) continue;
      const double* const row = parcels.row(begin + i);
      terms[1][i] = volume * kinetic_energy(policy_, columns_, row);
      for (std::size_t a = 0; a < 3; ++a) terms[2 + a][i] = volume * row[columns_.momentum[a]];
    }
    for (std::size_t s = 0; s < (weights_only ? 1 : 5); ++s) sums[s].add(std::span<const double>(terms[s], count));
  }
  weight = sums[0].value();
  energy = sums[1].value();
  for (std::size_t a = 0; a < 3; ++a) momentum[a] = sums[2 + a].value();
}

}  // namespace merganser::cluster
