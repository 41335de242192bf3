// Merge step under a policy that is not the default: the order of its rounds.
#include "src/cluster/policy_step.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <exception>
#include <limits>
#include <span>
#include <string>

#include "merganser/announce/network.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "merganser/comm/collectives.hpp"
#include "src/cluster/owner_checks.hpp"
#include "src/cluster/policy_split.hpp"
#include "src/cluster/remove_parcels.hpp"

namespace merganser::cluster {
namespace {

constexpr int kDegree = 4;                 ///< arcs of each rank in the announcement network
constexpr announce::Topic kLooked = 1;     ///< topic: a unit looked in this round
constexpr announce::Topic kLinked = 2;     ///< topic: a looker had a partner in this round
constexpr announce::Topic kLooksNext = 3;  ///< topic: a unit looks in the next round

/// Schema of parcels without attributes, for places of merged parcels that are not merged yet.
const Schema& bare_schema() {
  static const Schema schema;
  return schema;
}

}  // namespace

// Refuses every policy and option that a merge step does not support, so that no part of a policy is left out silently.
void check_policy(const ClusterOptions& options, const Schema& schema) {
  const MergePolicy& p = options.policy;
  check(p);
  if (options.search == Search::cells8)
    throw UsageError("search cells8 with a policy; allowed: search exact, or the default policy");
  if (options.prune == Prune::iterative)
    throw UsageError("prune iterative with a policy; allowed: prune single_pass, or the default policy");
  if (p.is_friends()) {
    if (p.conserve != Conserve::rules)
      throw UsageError("policy: conserve with friends is not supported; allowed: the rules of the attributes alone");
    return check(p, schema);
  }
  check(p, schema);
}

PolicyStep::PolicyStep(comm::Transport& transport, const Decomposition& decomposition, const Schema& schema,
                       const ClusterOptions& options, StarCore& core)
    : transport_(transport),
      decomposition_(decomposition),
      schema_(schema),
      core_(core),
      policy_(options.policy),
      columns_(policy_, schema),
      filter_(policy_, columns_, decomposition.grid()),
      rules_(schema, decomposition.grid().box),
      place_rules_(bare_schema(), decomposition.grid().box),
      two_products_(policy_.conserve == Conserve::momentum_energy),
      lineage_(options.lineage),
      small_below_(policy_.small_below > 0 ? policy_.small_below
                                           : decomposition.grid().cell_volume() / options.min_volume_ratio),
      search_(core.mailbox(), decomposition, transport.rank(), filter_,
              std::size_t{1} + static_cast<std::size_t>(policy_.fall_backs), policy_.form == MergeForm::greedy_pairs,
              policy_.form == MergeForm::mutual_pairs || (policy_.has_rounds() && policy_.has_answers())),
      cells_(core.mailbox(), decomposition, transport.rank(),
             policy_.looker == Looker::crowded ? crowd_grid(policy_, decomposition.grid()) : decomposition.grid()),
      units_(schema, two_products_) {
  rules_.callbacks = options.callbacks;
  if (!policy_.has_collectives()) check_within(policy_.within.in_box_units(decomposition.grid(), 1));
  check_cells();
  // Units of two that are restored may be on another rank than that of their place.
  if (policy_.split_below > 0)
    split_cells_.emplace(core.mailbox(), decomposition, transport.rank(), crowd_grid(policy_, decomposition.grid()),
                         two_products_);
  if (policy_.has_rounds() && transport.size() > 1)
    network_.emplace(transport, announce::DeBruijnNetwork(transport.size(), kDegree));
}

/// Validates that partners are on candidate ranks: with many ranks these are the near ones only. The same on every rank.
/// @param within  greatest distance of partners in units of the box; 0: any @throws UsageError
void PolicyStep::check_within(double within) const {
  const double cutoff = core_.candidates().min_cutoff() * (1 - 1e-9);
  if (std::isinf(cutoff) || policy_.level_ratio > 0 || (within > 0 && within <= cutoff)) return;
  throw UsageError(
      "policy: " + (within == 0 ? std::string("no greatest distance of partners") : "within " + number_text(within)) +
      " on " + std::to_string(transport_.size()) + " ranks; allowed: within up to " + number_text(cutoff) +
      ", the least distance to ranks that get no queries, or fewer ranks");
}

/// Validates that the ranks that count a cell are candidate ranks. The same on every rank. @throws UsageError
void PolicyStep::check_cells() const {
  const double cutoff = core_.candidates().min_cutoff() * (1 - 1e-9);
  if (std::isinf(cutoff)) return;
  const Grid& grid = decomposition_.grid();
  const bool counts = policy_.looker == Looker::crowded || policy_.level_ratio > 0 || policy_.split_below > 0;
  const Grid cells = crowd_grid(policy_, grid);
  const double diagonal = std::hypot(cells.spacing(0), cells.spacing(1), cells.spacing(2));
  const bool shared = !(decomposition_.is_by_cells() && cells == grid) || (policy_.split_below > 0 && two_products_);
  if (counts && shared && diagonal > cutoff)
    throw UsageError("policy: cells with a diagonal of " + number_text(diagonal) + " on " +
                     std::to_string(transport_.size()) + " ranks; allowed: up to " + number_text(cutoff) +
                     ", the least distance to ranks that get no queries, or fewer ranks");
}

/// Sets the greatest distance of partners that the policy gives in spacings, by the number of parcels of all ranks before the step.
/// Collective: an error of this rank's parcels is thrown on every rank, since the others would wait for their number.
void PolicyStep::count_spacing(const Parcels& parcels) {
  comm::agree(transport_, [&] { check_parcels_of_rank(parcels); });
  const auto all = transport_.all_reduce(static_cast<std::int64_t>(parcels.size()), comm::Op::sum);
  const double within = policy_.within.in_box_units(decomposition_.grid(), all);
  check_within(within);
  filter_.within2 = within * within;
}

StepReport PolicyStep::step(Parcels& parcels) {
  StepReport report;
  const comm::Counters counted = transport_.counters();
  if (policy_.has_collectives())
    count_spacing(parcels);
  else
    check_parcels_of_rank(parcels);
  report.before = static_cast<std::int64_t>(parcels.size());
  PolicyNumbers& n = report.policy;
  measure(parcels, n.weight_before, n.energy_before, n.momentum_before);
  if (policy_.level_ratio > 0) {
    level(parcels, report);
  } else {
    merge_in_rounds(parcels, report);
    if (policy_.split_below > 0) split(parcels, report);
  }
  report.after = static_cast<std::int64_t>(parcels.size());
  measure(parcels, n.weight_after, n.energy_after, n.momentum_after);
  ++policy_.step;
  report.counters = transport_.counters() - counted;
  return report;
}

/// Merges the parcels of this rank in the rounds of a step. After an error they are back in the container, merged as far as the rounds
/// came: those that have not merged are as they were.
void PolicyStep::merge_in_rounds(Parcels& parcels, StepReport& report) {
  std::exception_ptr error;
  units_.assign(parcels, policy_, columns_);
  search_.begin();
  cells_.begin();
  try {
    run_rounds(report);
    if (lineage_) add_lineage(report);
  } catch (...) {
    error = std::current_exception();
  }
  if (two_products_) {
    units_.compact();
    expand(report);
  } else {
    remove_parcels(units_.parcels, units_.gone);  // what else the units hold is not needed any more
  }
  parcels = std::move(units_.parcels);
  units_.parcels = Parcels(schema_);
  if (error) std::rethrow_exception(error);
}

/// Checks before anything is sent that this rank owns its parcels, that volumes are valid and ids distinct on this rank, and that the
/// columns of the policy hold what it allows, so that these errors leave the parcels as they are. @throws InputError
void PolicyStep::check_parcels_of_rank(const Parcels& parcels) {
  check_parcels(parcels, decomposition_, transport_.rank());
  ids_.assign(nearest::PointSet(parcels, 0));
  if (policy_.split_below > 0) check_new_ids(parcels);
  if ((filter_.width() == 0 && columns_.integers.empty()) || policy_.level_ratio > 0) return;  // levels read no column
  columns_.check_rows(parcels.rows(), schema_.width(), parcels.size());
}

/// Checks that the ids of this rank's parcels are below those of the new parcels of the step. @throws InputError on this rank alone;
/// UsageError on every rank if the new ids have no room
void PolicyStep::check_new_ids(const Parcels& parcels) const {
  const std::int64_t first = first_new_id(policy_, split_cells_->grid());
  for (std::size_t i = 0; i < parcels.size(); ++i)
    if (parcels.id(i) >= first)
      throw InputError("policy: split: parcel id " + std::to_string(parcels.id(i)) + " in step " +
                       std::to_string(policy_.step) + "; allowed: ids below " + std::to_string(first) +
                       ", the first id of parcels that this step adds; see ids:N, and the number of the step");
}

/// Makes the rounds of a step. Every rank makes the same number where ranks agree on it, else one.
void PolicyStep::run_rounds(StepReport& report) {
  if (policy_.looker == Looker::none) return;
  const bool crowded = policy_.looker == Looker::crowded;
  const auto any = [&] { return std::find(looks_.begin(), looks_.end(), 1) != looks_.end(); };
  choose_lookers(0);
  report.small = std::count(looks_.begin(), looks_.end(), 1);
  int round = 0;
  for (;;) {
    const bool looked = any();
    const bool linked = make_round(round, report);
    if (!policy_.has_rounds()) {
      round = linked ? 1 : 0;
      if (policy_.split_below > 0) send_to_owners();  // by whom cells are counted
      break;
    }
    send_to_owners();
    if (search_.compact(units_)) cells_.begin();
    choose_lookers(round + 1);
    const Agreed all = agree(looked, linked, any());
    // Lookers without a partner are passed over: with crowded others of their cells may look next.
    if (crowded ? all.looked : all.linked) ++round;
    if (!all.more || !(crowded || all.linked)) break;
    if (round == policy_.max_rounds) {
      report.policy.unsettled = 1;
      break;
    }
  }
  report.policy.rounds = round;
}

/// Chooses the lookers of a round among the units of this rank.
void PolicyStep::choose_lookers(int round) {
  const std::size_t n = units_.size();
  looks_.assign(n, 0);
  std::uint8_t* const looks = looks_.data();
  const Site* const sites = units_.parcels.sites();
  const double* const rows = units_.parcels.rows();
  const std::size_t width = schema_.width();
  if (policy_.looker == Looker::crowded) {
    cells_.choose(units_, policy_.crowded_above, policy_.crowded_target, looks_);
  } else if (round > 0) {
    for (std::size_t i = 0; i < n; ++i) {
      looks[i] = units_.gone[i] == 0 && (units_.flags[i] & Units::kAgain) != 0;
      units_.flags[i] &= static_cast<std::uint8_t>(~Units::kAgain);
    }
  } else if (policy_.looker == Looker::mask) {
    const std::size_t mask = columns_.mask;
    for (std::size_t i = 0; i < n; ++i) looks[i] = columns_.value(rows + i * width, mask) != 0;
  } else {
    const double below = small_below_;
    for (std::size_t i = 0; i < n; ++i) looks[i] = sites[i].volume < below;
  }
}

/// Tells all ranks what has happened on this one, and returns what has happened on any: time_to_live() steps of the announcement
/// network.
PolicyStep::Agreed PolicyStep::agree(bool looked, bool linked, bool more) {
  if (!network_) return {looked, linked, more};
  if (looked) network_->announce(kLooked, {});
  if (linked) network_->announce(kLinked, {});
  if (more) network_->announce(kLooksNext, {});
  Agreed all;
  network_->drain([&](const announce::Announcement& a) {
    all.looked = all.looked || a.topic == kLooked;
    all.linked = all.linked || a.topic == kLinked;
    all.more = all.more || a.topic == kLooksNext;
  });
  return all;
}

/// Makes one round on this rank. @return true if a looker of this rank has a partner
bool PolicyStep::make_round(int round, StepReport& report) {
  search_.find(units_, looks_, report.seconds);
  report.cross_links += static_cast<std::int64_t>(search_.links().out.size());
  mark_lookers(report);
  const auto& target = search_.links().target;
  const bool linked = std::any_of(target.begin(), target.end(), [](std::uint32_t t) { return t != links::kNone; });
  Laps laps;
  form(report);
  if (policy_.has_rounds() && policy_.has_answers()) decide(round, report);
  if (policy_.has_answers()) {
    answer();
    ++report.policy.answers;
  }
  laps.add_to(report.seconds.prune);
  migrate();
  laps.add_to(report.seconds.migrate);
  merge(round, report);
  laps.add_to(report.seconds.merge);
  return linked;
}

/// Marks lookers that found no partner as passed over.
void PolicyStep::mark_lookers(StepReport& report) {
  for (const std::uint32_t i : search_.lookers()) {
    if (search_.links().target[i] != links::kNone) continue;
    if ((units_.flags[i] & Units::kPassedOver) != 0) continue;
    units_.flags[i] |= Units::kPassedOver;
    ++report.unmatched;
  }
}

/// Cuts the links of a round to stars or pairs.
void PolicyStep::form(StepReport& report) {
  links::Links& l = search_.links();
  if (policy_.form == MergeForm::mutual_pairs) {
    keep_mutual_pairs();
    return;
  }
  if (policy_.form == MergeForm::greedy_pairs) {
    report.pruning.words_written += greedy_pairs_.match(search_, units_, looks_, core_.channels());
    in_kept_.assign(search_.links().in.size(), 1);
    out_kept_.assign(search_.links().out.size(), 1);
    return;
  }
  const Parcels& p = units_.parcels;
  const links::Ids ids{reinterpret_cast<const std::byte*>(p.rows()), p.schema().width() * sizeof(double), nullptr, 0};
  links::PruneStatistics statistics;
  const links::Stars& stars = single_pass_.prune(l, ids, core_.channels(), &statistics);
  in_kept_ = stars.in_kept;
  out_kept_ = stars.out_kept;
  report.links_to_small += stars.linked_targets;
  report.pruning.rounds = std::max(report.pruning.rounds, statistics.rounds);
  report.pruning.words_written += statistics.words_written;
}

/// Keeps the links that are the least, by links::Key, of all that touch their ends. The rank of a target decides: the own link of a
/// looker is less than all that arrive at it, but for the other link of a pair of two lookers, whose lower id is the centre. Of the links
/// that arrive at another target, that of least (distance, id of the source) has the least key. Which that is is as good as random, so no
/// branch tells.
void PolicyStep::keep_mutual_pairs() {
  links::Links& l = search_.links();
  const Parcels& p = units_.parcels;
  struct Arrival {
    std::int64_t distance2 = std::numeric_limits<std::int64_t>::max();  // its bits, which ascend with it
    std::int64_t source = std::numeric_limits<std::int64_t>::max();
  };
  std::vector<Arrival> least(units_.size());
  const auto arrival = [](double distance2, std::int64_t source) {
    return Arrival{std::bit_cast<std::int64_t>(distance2), source};
  };
  const auto lower = [&](std::uint32_t at, const Arrival& a) {
    Arrival& to = least[at];
    const bool less = (a.distance2 < to.distance2) | ((a.distance2 == to.distance2) & (a.source < to.source));
    to = {less ? a.distance2 : to.distance2, less ? a.source : to.source};
  };
  const auto is_least = [&](std::uint32_t at, const Arrival& a) {
    return (least[at].distance2 == a.distance2) & (least[at].source == a.source);
  };
  const std::vector<std::uint32_t>& lookers = search_.lookers();
  const std::vector<double>& distance2 = search_.distance2();
  for (const std::uint32_t v : lookers)
    if ((l.target[v] & links::kAway) == 0)  // kNone has this bit too
      lower(l.target[v], arrival(distance2[v], p.id(v)));
  for (const links::CrossLink& in : l.in) lower(in.vertex, arrival(in.distance2, in.remote_id));
  std::vector<std::uint32_t> kept(units_.size(), links::kNone);
  for (const std::uint32_t v : lookers) {
    const std::uint32_t t = kept[v] = l.target[v];
    if ((t & links::kAway) != 0) continue;
    const bool mutual = (l.target[t] == v) & (p.id(t) < p.id(v));
    const bool is_idle = l.target[t] == links::kNone;
    kept[v] = mutual | (is_idle & is_least(t, arrival(distance2[v], p.id(v)))) ? t : links::kNone;
  }
  in_kept_.assign(l.in.size(), 0);
  for (std::size_t i = 0; i < l.in.size(); ++i) {
    const links::CrossLink& in = l.in[i];
    const std::uint32_t own = l.target[in.vertex];
    if (own == links::kNone)
      in_kept_[i] = is_least(in.vertex, arrival(in.distance2, in.remote_id));
    else if ((own & links::kAway) != 0)
      in_kept_[i] = l.out[own & ~links::kAway].remote_id == in.remote_id && p.id(in.vertex) < in.remote_id;
  }
  l.target = std::move(kept);
  out_kept_.assign(l.out.size(), 1);  // until the ranks of the targets answer
}

/// Sends to the source of every link from another rank whether it merges (1), does not (0), or is refused (2). One wave.
void PolicyStep::answer() {
  comm::Mailbox& mailbox = core_.mailbox();
  links::Links& l = search_.links();
  if (mailbox.graph().out.empty()) return;
  for (std::size_t i = 0; i < l.in.size(); ++i) mailbox.post(l.in[i].arc, in_kept_[i]);
  mailbox.step();
  for (std::size_t k = 0; k < l.out.size(); ++k) {
    const links::CrossLink& out = l.out[k];
    const auto answers = mailbox.records<std::uint8_t>(out.arc);
    if (out.slot >= answers.size())
      throw CommError("rank " + std::to_string(out.remote_rank) + " answered " + std::to_string(answers.size()) +
                      " links; there are more");
    if (answers[out.slot] == 1) continue;
    if (answers[out.slot] == 2) {
      refuse(units_.parcels.id(out.vertex), out.remote_id);
      units_.flags[out.vertex] |= Units::kAgain;
    }
    out_kept_[k] = 0;
  }
}

/// Sends the leaves of other ranks' centres there, and appends those that arrive to the units, in the order of Links::in. One wave.
void PolicyStep::migrate() {
  comm::Mailbox& mailbox = core_.mailbox();
  const links::Links& l = search_.links();
  if (mailbox.graph().out.empty()) return;
  for (std::size_t k = 0; k < l.out.size(); ++k)
    if (out_kept_[k] != 0) units_.append_to(mailbox.outbox(l.out[k].arc), l.out[k].vertex);
  mailbox.step();
  const std::size_t before = units_.size();
  for (std::size_t arc = 0; arc < mailbox.graph().in.size(); ++arc) units_.append_from(mailbox.inbox(arc));
  const auto expected = static_cast<std::size_t>(std::count(in_kept_.begin(), in_kept_.end(), 1));
  if (units_.size() - before != expected)
    throw CommError(std::to_string(units_.size() - before) + " leaves arrived; announced: " + std::to_string(expected));
}

/// Sends units whose merged place is in another block to its owner. One wave. Partners are candidates within a distance that only
/// candidates cover, so the owner is one.
void PolicyStep::send_to_owners() {
  comm::Mailbox& mailbox = core_.mailbox();
  const auto& out = mailbox.graph().out;
  if (transport_.size() == 1) {
    for (std::uint8_t& flags : units_.flags) flags &= static_cast<std::uint8_t>(~Units::kMoved);
    return;
  }
  std::vector<std::size_t> sent;  // they stay until they are on their way, so that an error loses none
  for (std::size_t i = 0; i < units_.size(); ++i) {
    if (units_.gone[i] != 0 || (units_.flags[i] & Units::kMoved) == 0) continue;
    units_.flags[i] &= static_cast<std::uint8_t>(~Units::kMoved);
    const Site& s = units_.parcels.site(i);
    const int owner = decomposition_.owner({s.x, s.y, s.z});
    if (owner == transport_.rank()) continue;
    const auto at = std::lower_bound(out.begin(), out.end(), owner);
    if (at == out.end() || *at != owner)
      throw InputError("merged parcel id " + std::to_string(units_.parcels.id(i)) + " belongs to rank " +
                       std::to_string(owner) + ", which is no candidate of rank " + std::to_string(transport_.rank()) +
                       "; allowed: a greatest distance that candidates cover");
    units_.append_to(mailbox.outbox(static_cast<std::size_t>(at - out.begin())), i);
    sent.push_back(i);
  }
  if (out.empty()) return;
  units_.changed.reserve(units_.changed.size() + sent.size());  // set_gone() then cannot fail
  mailbox.step();
  for (const std::size_t i : sent) units_.set_gone(i);
  for (std::size_t arc = 0; arc < out.size(); ++arc) units_.append_from(mailbox.inbox(arc));
}

}  // namespace merganser::cluster
