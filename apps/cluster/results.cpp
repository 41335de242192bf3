// Results of merge steps: exact sums over parcels, conserved quantities, tables of counts, clusters and times.
#include "apps/cluster/results.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "apps/frame/table.hpp"

namespace merganser::app {
namespace {

/// Formats a number of parcels or clusters as a share of a total in percent; "-" if the total is 0.
std::string format_share(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? percent_text(static_cast<double>(part) / static_cast<double>(whole)) : "-";
}

/// Returns the sum over all parcels of volume times a component of an attribute, where their moments hold it; else null. Local.
const ExactSum* find_weighted_sum(const Moments& all, const Schema& schema, std::string_view name, int component) {
  std::size_t at = 0;
  for (const Attribute& a : schema.attributes()) {
    if (!is_conserved(a.rule)) continue;
    if (a.name == name && a.rule == Rule::mean && component < a.components)
      return &all.volume_attribute.at(at + static_cast<std::size_t>(component));
    at += static_cast<std::size_t>(a.components);
  }
  return nullptr;
}

}  // namespace

// Sums over the parcels of all ranks for the run record of cluster, by exact summation, so that their bits do not depend on ranks.
Json sums_json(comm::Transport& transport, const Parcels& parcels, const Moments& all) {
  const Schema& schema = parcels.schema();
  const bool has_b = schema.has("buoyancy");
  const bool has_w = schema.has("vorticity");
  const bool has_shape = schema.has("B");
  const std::size_t b = has_b ? schema.offset("buoyancy") : 0;
  const std::size_t w = has_w ? schema.offset("vorticity") : 0;
  const std::size_t s = has_shape ? schema.offset("B") : 0;
  enum { kVb, kVw0, kVw1, kVw2, kB11, kB22, kB12, kBb, kWw, kCount };
  const std::array<const ExactSum*, 4> known{
      find_weighted_sum(all, schema, "buoyancy", 0), find_weighted_sum(all, schema, "vorticity", 0),
      find_weighted_sum(all, schema, "vorticity", 1), find_weighted_sum(all, schema, "vorticity", 2)};
  std::vector<ExactSum> sums(kCount);
  constexpr std::size_t kLot = 512;  // parcels that stay in the cache while each of their sums is made
  std::array<double, kLot> terms;
  for (std::size_t begin = 0; begin < parcels.size(); begin += kLot) {
    const std::size_t count = std::min(kLot, parcels.size() - begin);
    const auto sum = [&](std::size_t to, const auto& term) {
      for (std::size_t i = 0; i < count; ++i) terms[i] = term(parcels.site(begin + i).volume, parcels.row(begin + i));
      sums[to].add(std::span<const double>(terms.data(), count));
    };
    if (has_b) {
      if (known[kVb] == nullptr) sum(kVb, [&](double volume, const double* row) { return volume * row[b]; });
      sum(kBb, [&](double, const double* row) { return row[b] * row[b]; });
    }
    for (std::size_t c = w; has_w && c < w + 3; ++c) {
      if (known[kVw0 + c - w] == nullptr)
        sum(kVw0 + c - w, [&](double volume, const double* row) { return volume * row[c]; });
      sum(kWw, [&](double, const double* row) { return row[c] * row[c]; });
    }
    if (has_shape) {
      sum(kB11, [&](double, const double* row) { return row[s]; });
      sum(kB12, [&](double, const double* row) { return row[s + 1]; });
      sum(kB22, [&](double, const double* row) { return row[s + 3]; });
    }
  }
  sums = total_sums(transport, sums);
  const auto weighted = [&](std::size_t i) { return (known.at(i) != nullptr ? *known.at(i) : sums[i]).value(); };
  Json out = {{"sum_volume", all.volume.value()}};
  if (has_b) out["sum_volume_buoyancy"] = weighted(kVb);
  if (has_w) out["sum_volume_vorticity"] = {weighted(kVw0), weighted(kVw1), weighted(kVw2)};
  if (has_shape) {
    out["sum_B11"] = sums[kB11].value();
    out["sum_B22"] = sums[kB22].value();
    out["sum_B12"] = sums[kB12].value();
  }
  if (has_b) out["sum_b_squared"] = sums[kBb].value();
  if (has_w) out["sum_abs_w2"] = sums[kWw].value();
  return out;
}

Json result_json(const StepReport& first, const StepReport& last, const StepReport& all, const Json& sums,
                 const Digest& digest) {
  Json clusters = Json::object();
  for (const auto& [size, count] : all.clusters) clusters[std::to_string(size)] = count;
  Json out = {{"n_before", first.before},
              {"n_small", all.small},
              {"n_merged", all.merged},
              {"n_after", last.after},
              {"long_cycles", all.long_cycles},
              {"clusters", clusters},
              {"links_to_small", all.links_to_small}};
  out.update(sums);
  out["digest"] = digest.to_string();
  return out;
}

double Conserved::relative_difference() const {
  const double difference = std::fabs(after - before);
  if (difference == 0) return 0;
  return scale > 0 ? difference / scale : std::numeric_limits<double>::infinity();
}

// Quantities that merging conserves, from the moments of all parcels before and after. First moments change on periodic axes, where
// positions wrap.
std::vector<Conserved> conserved(const Moments& before, const Moments& after, const Schema& schema, const Box& box,
                                 bool centroids) {
  std::vector<Conserved> out;
  const double volume = before.volume.value();
  const auto add = [&](const std::string& name, const ExactSum& b, const ExactSum& a, double scale) {
    out.push_back({name, b.value(), a.value(), std::max({scale, std::fabs(b.value()), std::fabs(a.value())})});
  };
  add("volume", before.volume, after.volume, volume);
  for (int axis = 0; axis < 3; ++axis)
    if (centroids && !box.periodic[axis])
      add(std::string("volume ") + "xyz"[axis], before.volume_position[axis], after.volume_position[axis],
          volume * box.extent[axis]);
  std::size_t at = 0;
  for (const auto& attribute : schema.attributes()) {
    if (!is_conserved(attribute.rule)) continue;
    for (int c = 0; c < attribute.components && at < before.volume_attribute.size(); ++c, ++at) {
      std::string name = attribute.components == 1 ? attribute.name : fmt::format("{}[{}]", attribute.name, c);
      if (static_cast<std::size_t>(c) < attribute.component_names.size())
        name = attribute.component_names[static_cast<std::size_t>(c)];
      // A mean that cancels is measured against one unit of the attribute in the whole volume.
      add((attribute.rule == Rule::mean ? "volume " : "") + name, before.volume_attribute[at],
          after.volume_attribute[at], volume);
    }
  }
  return out;
}

Json conservation_json(const std::vector<Conserved>& quantities, const Moments& before, const Moments& after,
                       std::int64_t merged, std::int64_t split) {
  Json out = Json::array();
  out.push_back(
      {{"quantity", split == 0 ? "number, with those merged away" : "number, with those merged away, without new ones"},
       {"before", before.parcels},
       {"after", after.parcels + merged - split},
       {"relative_difference", before.parcels == after.parcels + merged - split ? 0 : 1}});
  for (const auto& q : quantities)
    out.push_back({{"quantity", q.name},
                   {"before", q.before},
                   {"after", q.after},
                   {"relative_difference", q.relative_difference()}});
  return out;
}

std::string counts_table(const StepReport& first, const StepReport& last, const StepReport& all,
                         const MergePolicy& policy) {
  const bool usual = policy.is_default();
  Table t({"parcels", "number", "share"});
  t.row({"before", count_text(first.before), ""});
  if (policy.level_ratio == 0)
    t.row({usual ? "small" : "looking, first round", count_text(all.small), format_share(all.small, first.before)});
  t.row({policy.level_ratio > 0 ? "removed" : "merged away", count_text(all.merged),
         format_share(all.merged, first.before)});
  if (policy.split_below > 0) t.row({"new by splitting", count_text(all.policy.split), ""});
  t.row({"after", count_text(last.after), format_share(last.after, first.before)});
  if (all.unmatched > 0) t.row({usual ? "small, unmatched" : "looking, unmatched", count_text(all.unmatched), ""});
  if (all.long_cycles > 0) t.row({"long cycles cut", count_text(all.long_cycles), ""});
  return t.text();
}

Json policy_json(const MergePolicy& policy, const StepReport& first, const StepReport& last, const StepReport& all) {
  const PolicyNumbers& n = all.policy;
  Json out = {{"text", policy_text(policy)},
              {"rounds", n.rounds},
              {"settled", n.unsettled == 0},
              {"answer_waves", n.answers},
              {"refused", n.refused},
              {"undone", n.undone},
              {"split", n.split},
              {"winding", n.winding},
              {"weight", {{"before", first.policy.weight_before}, {"after", last.policy.weight_after}}}};
  if (policy.conserve == Conserve::rules) return out;
  out["kinetic_energy"] = {{"before", first.policy.energy_before}, {"after", last.policy.energy_after}};
  out["momentum"] = {{"before", first.policy.momentum_before}, {"after", last.policy.momentum_after}};
  return out;
}

std::string policy_table(const MergePolicy& policy, const StepReport& first, const StepReport& last,
                         const StepReport& all) {
  const PolicyNumbers& n = all.policy;
  Table t({"policy", "before", "after", "change"});
  const auto row = [&](const std::string& name, double before, double after) {
    t.row({name, general_text(before, 9), general_text(after, 9), general_text(after - before, 3)});
  };
  row("weight", first.policy.weight_before, last.policy.weight_after);
  if (policy.conserve != Conserve::rules) {
    for (std::size_t a = 0; a < 3; ++a)
      row(std::string("momentum ") + "xyz"[a], first.policy.momentum_before[a], last.policy.momentum_after[a]);
    row("kinetic energy", first.policy.energy_before, last.policy.energy_after);
  }
  std::string text = t.text() + "  rounds " + count_text(n.rounds) +
                     (n.unsettled == 0 ? ", settled" : ", NOT SETTLED: part rounds allows more") +
                     ", waves of answers " + count_text(n.answers) + ", pairs refused " + count_text(n.refused);
  if (policy.conserve == Conserve::momentum_energy) text += ", pairs undone " + count_text(n.undone);
  if (policy.is_friends()) text += ", groups that wind round the box and stay as they are " + count_text(n.winding);
  return text + '\n';
}

std::string none_small_text(const std::string& input, const io::ParcelFileInfo& info, double smallest, double ratio,
                            const std::string& source) {
  if (info.parcels == 0) return input + " holds no parcel: nothing was merged";
  return fmt::format(
      "0 of {} parcels are small, nothing was merged: the smallest volume is {}, small is below {} "
      "(cell volume {} / {})",
      count_text(info.parcels), number_text(smallest), number_text(info.grid.cell_volume() / ratio),
      number_text(info.grid.cell_volume()), source);
}

std::string none_looks_text(const MergePolicy& policy, std::int64_t parcels) {
  return fmt::format("0 of {} parcels look for a partner, nothing was merged: policy {}", count_text(parcels),
                     policy_text(policy));
}

std::string audit_text(const MergePolicy& policy) {
  if (policy.split_below > 0)
    return "audit: every input parcel is in exactly one output parcel or pair, every other one is new by splitting, "
           "and all "
           "have the volume of the input\n";
  return policy.conserve == Conserve::momentum_energy
             ? "audit: every input parcel is in exactly one pair of output parcels, and all have its volume\n"
             : "audit: every input parcel is in exactly one output parcel, with its volume\n";
}

Json checks_json(bool audit, bool reference, const DepositionError& error) {
  Json out = {{"audit", audit}, {"reference", reference}};
  if (audit) out["deposition"] = {{"largest", error.largest}, {"rms", error.rms}};
  return out;
}

std::string deposition_text(const DepositionError& error) {
  return "weight on grid nodes, shape order 1, changes in a step by up to " + general_text(error.largest, 3) +
         " of the mean of a node, root mean square " + general_text(error.rms, 3) + "\n";
}

std::string clusters_table(const StepReport& all) {
  std::int64_t total = 0;
  for (const auto& [size, count] : all.clusters) total += count;
  if (total == 0) return "  no clusters\n";
  Table t({"cluster of", "number", "share", "cumulative"});
  std::int64_t sum = 0;
  for (const auto& [size, count] : all.clusters) {
    sum += count;
    t.row({std::to_string(size), count_text(count), format_share(count, total), format_share(sum, total)});
  }
  return t.text();
}

std::string stages_table(const std::vector<std::string>& names, const std::vector<Summary>& seconds,
                         const std::string& heading) {
  if (std::ranges::all_of(seconds, [](const Summary& s) { return s.count == 1; })) {
    Table t({"stage", "time"});
    for (std::size_t i = 0; i < names.size(); ++i) t.row({names[i], seconds_text(seconds[i].median)});
    return t.text();
  }
  Table t({heading, "min", "median", "mean", "max"});
  for (std::size_t i = 0; i < names.size(); ++i)
    t.row({names[i], seconds_text(seconds[i].min), seconds_text(seconds[i].median), seconds_text(seconds[i].mean),
           seconds_text(seconds[i].max)});
  return t.text();
}

std::string conservation_table(const std::vector<Conserved>& quantities, const Moments& before, const Moments& after,
                               std::int64_t merged, std::int64_t split) {
  Table t({"conserved", "before", "after", "difference / sum of magnitudes"});
  t.row({split == 0 ? "number (+ merged away)" : "number (+ merged away, - new)", count_text(before.parcels),
         count_text(after.parcels + merged - split),
         before.parcels == after.parcels + merged - split ? "0" : "NOT CONSERVED"});
  for (const auto& q : quantities)
    t.row({q.name, general_text(q.before, 12), general_text(q.after, 12),
           q.relative_difference() == 0 ? "0" : general_text(q.relative_difference(), 2)});
  return t.text();
}

std::string counters_text(const StepReport& all) {
  const comm::Counters& c = all.counters;
  const links::PruneStatistics& p = all.pruning;
  return "  communication, all ranks: " + count_text(c.messages) + " messages, " +
         bytes_text(static_cast<double>(c.bytes)) + ", " + count_text(c.waves) + " waves, " + count_text(c.puts) +
         " puts, " + count_text(c.gets) + " gets, " + count_text(c.syncs) + " syncs, " + count_text(c.collectives) +
         " collectives\n  pruning: " + count_text(all.cross_links) + " links across ranks, longest chain or rounds " +
         count_text(p.rounds) + ", " + count_text(p.words_written) + " words written, " + count_text(p.words_read) +
         " read, " + count_text(p.syncs) + " synchronisations, " + count_text(p.reductions) + " reductions\n";
}

Json pruning_json(const StepReport& all) {
  return {{"cross_links", all.cross_links},
          {"rounds", all.pruning.rounds},
          {"words_written", all.pruning.words_written},
          {"words_read", all.pruning.words_read},
          {"syncs", all.pruning.syncs},
          {"reductions", all.pruning.reductions},
          {"unmatched", all.unmatched},
          {"merged_into_big", all.merged_into_big}};
}

}  // namespace merganser::app
