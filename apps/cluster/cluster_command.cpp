// The command cluster: reads a parcel file, merges small parcels in one or several steps, reports, and writes the result.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <optional>

#include "apps/cluster/difference.hpp"
#include "apps/cluster/file_rules.hpp"
#include "apps/cluster/labels.hpp"
#include "apps/cluster/links_json.hpp"
#include "apps/cluster/merge_options.hpp"
#include "apps/cluster/picture.hpp"
#include "apps/cluster/policy_file.hpp"
#include "apps/cluster/results.hpp"
#include "apps/cluster/running.hpp"
#include "apps/cluster/step_audit.hpp"
#include "apps/cluster/step_table.hpp"
#include "apps/frame/command.hpp"
#include "apps/frame/forecast.hpp"
#include "apps/frame/gather.hpp"
#include "apps/frame/picture.hpp"
#include "apps/frame/ranks.hpp"
#include "apps/frame/table.hpp"
#include "apps/frame/traffic_json.hpp"
#include "merganser/base/log.hpp"
#include "merganser/base/text.hpp"
#include "merganser/base/timer.hpp"
#include "merganser/cluster/redistribution.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/io/output_name.hpp"
#include "merganser/io/parcel_file.hpp"

namespace merganser::app {
namespace {

/// Options of the command cluster, filled by the option parser.
struct ClusterCommand {
  std::string input;                       ///< parcel file to read
  std::string output;                      ///< parcel file to write; empty: none
  std::string json, csv, picture, labels;  ///< paths of other files to write; empty: none
  std::vector<std::string> attributes;     ///< merge rules of variables, as --attribute gives them
  int steps = 1;                           ///< number of merge steps
  std::string policy;                      ///< merge policy, or @ and the path of a JSON or TOML file; empty: EPIC's
  InputOptions box;                        ///< species and box, where the input does not tell them
  FileOptions file;                        ///< volume ratio and periodic axes that replace those of the file
  MethodOptions method;                    ///< search for nearest parcels and pruning of links
  RankOptions ranks;                       ///< communication model and number of ranks
  BlockOptions blocks;                     ///< decomposition of the grid into blocks
  bool audit = false;                      ///< true: check conservation of every step
  bool reference = false;                  ///< true: compare with the serial reference
  ForceOption limits;                      ///< --force: run even if forecasts exceed the free memory
};

/// Lists the command-line options of cluster, with their help texts and checks, for the option parser.
template <class V>
void describe(ClusterCommand& o, V&& option) {
  option.positional("IN", o.input, "parcel file: EPIC's (NetCDF-4), openPMD particles, VTKHDF, VTU, NPZ, NPY, or .csv",
                    Required{}, Reads{});
  option.section("Output");
  option("output", o.output,
         "parcel file to write; its suffix (.nc .vtkhdf .vtu .npz .npy .csv), or :epic, :openpmd, :vtkhdf ... behind "
         "it, says "
         "the format",
         Letter{'o'}, Kind{"FILE"}, Writes{});
  option("json", o.json, "run record to write (- for standard output)", Kind{"FILE"}, Writes{});
  option("csv", o.csv, "table to write: one line per step and rank", Kind{"FILE"}, Writes{});
  option("picture", o.picture,
         "picture to write (.svg .png .pdf): where the last step merged most, before and after; --json has its links",
         Kind{"FILE"}, Writes{});
  option("labels", o.labels,
         "text to write: for each parcel of IN, in its order, its place there (from 0) and the id of the parcel of the "
         "output that holds it; of friends also their groups of 2 and more, and without --output nothing is merged",
         Kind{"FILE"}, Writes{});
  option.section("Merging");
  describe_ratio(o.file, option, "40");
  option("steps", o.steps, "merge steps, one after the other", at_least(1));
  describe_periodic(o.file, option);
  option("policy", o.policy,
         "who merges with whom, where to, what is conserved, what splits (docs/merge-policies.md), or @ and a JSON or "
         "TOML "
         "file; without: parcels below 1/R of a cell join their nearest. No part but friends, and within in spacings, "
         "calls "
         "a collective in a step",
         Kind{"PARTS"});
  describe_attributes(o.attributes, option);
  describe(o.box, option);
  option.restrict({"columns"}, UsedWith{"IN *.csv", "--output *.csv|*:csv"});
  describe(o.method, option);
  describe(o.ranks, option);
  describe(o.blocks, option);
  option.section("Checks");
  option("audit", o.audit, "check conservation of parcels and volume; tell how the weight on grid nodes changes");
  option("reference", o.reference, "also merge with the slow serial reference on rank 0 and compare every bit");
  describe(o.limits, option);
}

/// One rank's part of a run of cluster: reads parcels, merges, checks and writes. Its functions are collective unless they say
/// otherwise.
class Run {
 public:
  /// Refers to options and transport, which must outlive this. Reads nothing yet.
  Run(const ClusterCommand& o, const FileRules& rules, const MergePolicy& policy, const Invocation& in,
      comm::Transport& t)
      : o_(o), rules_(rules), policy_(policy), in_(in), t_(t), answers_(o.input) {}

  /// Executes the whole command cluster on this rank: read, merge, check, write, report.
  void run() {
    check_picture(o_.picture, PictureSource::drawing, t_);
    read();
    merge();
    compare_with_reference();
    validate_output();
    if (!o_.output.empty()) {
      const Scope s(profile_, "write");
      collective_try(
          [&] { io::write_parcels(o_.output, parcels_, clusterer_->decomposition(), info_.time, t_, info_.metadata); });
    }
    write_report();
    if (labels_) write_labels(t_, o_.labels, *labels_, places_, friends_);
  }

 private:
  void read();
  void resolve_box_and_ratio();
  void warn_of_none_small();
  void check_memory();
  void merge();
  StepReport step(int number);
  /// Returns true if groups of friends are to be labelled and nothing is merged: --labels without --output.
  [[nodiscard]] bool labels_only() const { return policy_.is_friends() && !o_.labels.empty() && o_.output.empty(); }
  /// Returns true if --labels lists the groups of friends: those of one step, since a second one merges merged parcels.
  [[nodiscard]] bool lists_groups() const { return policy_.is_friends() && !o_.labels.empty() && o_.steps == 1; }
  void record_step(StepReport mine, bool first);
  void reduce_reports();
  void compare_with_reference();
  void validate_output();
  void write_report();
  void print(const Json& record, const std::vector<Summary>& stages, const std::vector<Summary>& others);

  const ClusterCommand& o_;
  const FileRules& rules_;
  MergePolicy policy_;  // with the number of the next step, as the input says
  const Invocation& in_;
  comm::Transport& t_;
  Answers answers_;
  double ratio_ = 0;                       // volume of a cell over that below which a parcel is small
  double smallest_ = 0;                    // least parcel volume before the first step, of all ranks
  Profile profile_;                        // times of reading, distributing, redistributing, writing
  io::ParcelFileInfo info_;                // of the input
  Parcels parcels_;                        // of this rank
  Parcels original_;                       // input of all ranks on rank 0, for the reference
  std::vector<io::FilePlace> places_;      // places of this rank's parcels in the input, for the labels
  std::vector<io::MissingFound> missing_;  // missing values that a rule lets pass
  std::optional<Labels> labels_;
  Moments before_, after_;  // of all ranks, before the first and after the last step
  std::vector<Conserved> quantities_;
  Json sums_;
  Digest digest_;                           // of the output parcels of all ranks
  DepositionError deposition_;              // of --audit: the greatest of all steps
  std::optional<LabelledFriends> friends_;  // groups that --labels lists, of this rank
  std::optional<Clusterer> clusterer_;
  std::optional<Scene> scene_;
  StepReport first_, last_, all_;  // of the first, the last and all steps: of this rank, after reduce_reports() of all
  StepReport mine_;                // sum over all steps of this rank
  comm::TrafficCount traffic_;     // messages of all merge steps, by receiver
  StepTable table_;                // filled with --csv
  Json loop_;                      // collectives and messages of the loop of steps besides merging
  std::string verdict_;            // of the comparison with the serial reference
};

/// Reads the input file, resolves options that the file gives too, and distributes the parcels to the owners of their positions.
/// Collective.
void Run::read() {
  {
    const Scope s(profile_, "read");
    collective_try([&] {
      info_ = read_input_info(o_.input, o_.box, o_.file.periodic, &policy_, t_);
      apply_file_rules(rules_, o_.input, o_.output, info_, t_.rank());
    });
    resolve_box_and_ratio();
    if (!o_.labels.empty()) labels_.emplace(t_);
    check_memory();
    parcels_ =
        collective_try([&] { return io::read_parcels(o_.input, info_, t_, labels_ ? &places_ : nullptr, &missing_); });
  }
  const Scope s(profile_, "distribute");
  const Decomposition blocks = collective_try([&] { return decompose(info_.grid, o_.blocks, parcels_, t_); });
  collective_try([&] { distribute(parcels_, blocks, t_); });
  if (!policy_.is_default()) collective_try([&] { set_from_file(policy_, parcels_.schema(), info_.metadata); });
  ClusterOptions options = cluster_options(o_.method, ratio_);
  if (!labels_only()) options.policy = policy_;
  options.lineage = o_.audit || labels_ || !o_.picture.empty();
  clusterer_.emplace(t_, blocks, parcels_.schema(), options, &parcels_);
}

/// Resolves the periodic axes and the volume ratio that defines small parcels from options and parcel file, and warns where both
/// differ. Local.
void Run::resolve_box_and_ratio() {
  const AxisFlags periodic = resolve_periodic(o_.file, info_, answers_);
  info_.grid.box.periodic = {periodic[0], periodic[1], periodic[2]};
  ratio_ = resolve_ratio(o_.file, info_, 40, answers_);
  io::set_min_volume_ratio(info_.metadata, ratio_);
  for (const auto& warning : answers_.warnings()) log(Level::warning, t_.rank(), warning);
}

/// Logs a warning if no parcel was small in any step, since the volume ratio may then not suit the file. Local.
void Run::warn_of_none_small() {
  if (all_.small > 0 || policy_.level_ratio > 0 || policy_.is_friends() || policy_.split_below > 0) return;
  log(Level::warning, t_.rank(),
      policy_.is_default() ? none_small_text(o_.input, info_, smallest_, ratio_, answers_.to_string("min-volume-ratio"))
                           : none_looks_text(policy_, info_.parcels));
}

/// Throws an error for a parcel file that needs more memory or disk than is free. The number of parcel containers that exist at a
/// time was measured with 2.1 million parcels on one and two ranks. Collective.
void Run::check_memory() {
  const double ranks = t_.size(), parcels = static_cast<double>(info_.parcels);
  const double container = static_cast<double>(Parcels(info_.schema).parcel_bytes());
  const double containers = 2.2 + (o_.output.empty() ? 0 : 0.7) + (o_.picture.empty() ? 0 : 1.1) + (o_.audit ? 2.4 : 0);
  Need need;
  need.what = o_.input + " (" + count_text(info_.parcels) + " parcels, " + grid_text(info_.grid) + ")";
  need.rank_bytes =
      std::ceil(parcels / ranks) * container * containers + balance_bytes(o_.blocks, info_.grid, t_.size());
  // Places and lines of text, and of friends the groups, of which most have two parcels and more.
  if (labels_) need.rank_bytes += std::ceil(parcels / ranks) * (112 + (lists_groups() ? 180 : 0));
  need.rank_bytes += search_bytes(o_.method.search, info_.grid, t_.size());
  if (o_.reference) need.first_bytes += 4 * parcels * container;
  need.disk_bytes = o_.output.empty() ? 0 : parcels * parcel_file_bytes(info_.schema);
  need.file = o_.output;
  need.of_file = true;
  need.help = "more ranks on more machines";
  collective_try([&] { require(need, o_.limits.force, t_); });
  if (o_.csv.empty()) return;
  Need table;
  table.what = "--csv of " + count_text(o_.steps) + " steps";
  table.rank_bytes = o_.steps * StepTable::kBytesPerStep;
  table.first_bytes = o_.steps * StepTable::kBytesPerLine * ranks;
  table.disk_bytes = table.first_bytes;
  table.file = o_.csv;
  table.help = "fewer --steps";
  collective_try([&] { require(table, o_.limits.force, t_); });
}

/// Executes all merge steps of cluster, each followed by the redistribution of merged parcels to their owners. Collective.
void Run::merge() {
  before_ = total_moments(t_, moments(parcels_, info_.grid.box));
  if (o_.reference) original_ = collect(t_, parcels_);
  smallest_ = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < parcels_.size(); ++i) smallest_ = std::min(smallest_, parcels_.site(i).volume);
  t_.all_reduce(std::span(&smallest_, 1), comm::Op::min);
  Redistribution redistribute(t_, *clusterer_);
  std::optional<RunningTotals> running;
  if (o_.steps > 1) running.emplace(t_, o_.steps, shows_one_line(in_.table));
  t_.barrier();
  const comm::Counters before = t_.counters();
  for (int i = 0; i < o_.steps; ++i) {
    record_step(step(i), i == 0);
    if (running) running->add(last_);
    const Scope s(profile_, "redistribute");
    redistribute(parcels_);
  }
  const comm::Counters loop = t_.counters() - before;
  loop_ = {{"collectives", t_.all_reduce(loop.collectives, comm::Op::sum)},
           {"redistribution_waves", redistribute.waves()}};
  if (running) {
    loop_["network"] = running->network_name();
    loop_["totals_age_steps"] = running->age();
  }
  reduce_reports();
}

/// Executes merge step `number`, from 0. Called by every rank; calls no collective, except with --audit, --picture, --prune
/// iterative and --search cells8.
StepReport Run::step(int number) {
  std::optional<StepAudit> audit;
  std::optional<SceneRecorder> recorder;
  if (o_.audit) audit.emplace(t_, info_.grid, policy_, parcels_);
  if (!o_.picture.empty() && number + 1 == o_.steps) {
    recorder.emplace(t_, info_.grid, info_.grid.cell_volume() / ratio_);
    recorder->before(parcels_);
  }
  const comm::TrafficCount before = t_.traffic();
  if (lists_groups()) friends_ = label_friends(t_, clusterer_->decomposition(), policy_, parcels_);
  if (labels_only()) warn_of_winding(friends_->groups, t_.rank());
  StepReport mine = labels_only() ? std::move(friends_->report) : clusterer_->step(parcels_);
  traffic_ += t_.traffic().since(before);
  if (audit) collective_try([&] { audit->verify(parcels_, mine, deposition_); });
  if (recorder) scene_ = recorder->after(parcels_, mine.lineage);
  if (labels_) labels_->add(mine.lineage);
  mine.lineage.clear(), mine.splits.clear();
  return mine;
}

/// Adds this rank's report of a merge step to those of the run. Local. Memory grows with the number of steps only with --csv.
void Run::record_step(StepReport mine, bool first) {
  if (!o_.csv.empty()) table_.add(mine);
  mine_ += mine;
  if (first) first_ = mine;
  last_ = std::move(mine);
}

/// Reduces the step reports of this rank to those of all ranks. Collective.
void Run::reduce_reports() {
  all_ = total_report(t_, mine_);
  first_ = total_report(t_, first_);
  last_ = total_report(t_, last_);
  warn_of_none_small();
}

/// With --reference merges the input again by the serial reference on rank 0, and compares the parcels bit for bit. Collective.
/// @throws VerificationError on every rank if they differ
void Run::compare_with_reference() {
  if (!o_.reference) return;
  const Parcels got = collect(t_, parcels_);
  collective_try([&] {
    comm::agree(t_, [&] {
      if (t_.rank() != 0) return;
      ClusterOptions options = cluster_options(o_.method, ratio_);
      options.policy = policy_;
      const std::string difference = difference_from_reference(original_, got, info_.grid, options, o_.steps);
      if (!difference.empty()) throw VerificationError("not as the serial reference: " + difference);
    });
  });
  verdict_ = "equal to the serial reference, every bit";
}

/// Checks that the merged parcels fit into the output file, and computes their totals, before a file is written. Collective.
void Run::validate_output() {
  const std::string name = o_.output.empty() ? "the result of " + o_.input : "cannot write " + o_.output;
  collective_try([&] { io::fit_to_file(name, parcels_, info_.grid.box, info_.metadata, t_); });
  if (!policy_.is_default()) io::set_merge_step(info_.metadata, clusterer_->policy_step());
  after_ = total_moments(t_, moments(parcels_, info_.grid.box));
  digest_ = total_digest(t_, merganser::digest(parcels_));
  sums_ = sums_json(t_, parcels_, after_);
  quantities_ = conserved(before_, after_, parcels_.schema(), info_.grid.box,
                          policy_.place == merganser::Placement::centroid && policy_.split_along != SplitAlong::axis);
}

/// Makes the run record of cluster, prints the report and writes --json, --csv and --picture on rank 0. Collective.
void Run::write_report() {
  const auto stages = summarise_stages(comm::all_gather_value(t_, stage_seconds(mine_.seconds)));
  comm::TrafficMatrix traffic;
  if (!o_.json.empty()) traffic = comm::gather_traffic(t_, traffic_);
  std::vector<Summary> others;
  for (const auto& stage : profile_.stages()) others.push_back(summarise(comm::all_gather_value(t_, stage.seconds)));
  const std::string table = o_.csv.empty() ? std::string() : table_.to_csv(t_);
  if (t_.rank() != 0) return;
  Json record = make_record(in_, {t_.size(), std::string(t_.name()), std::string(t_.choice()), o_.ranks.decorators,
                                  clusterer_->decomposition().describe()});
  for (std::size_t i = 0; i < kStages.size(); ++i) record["timings"][kStages[i]] = summary_json(stages[i]);
  for (std::size_t i = 0; i < others.size(); ++i)
    record["timings"][profile_.stages()[i].name] = summary_json(others[i]);
  record["counters"] = counters_json(all_.counters);
  record["pruning"] = pruning_json(all_);
  if (!policy_.is_default()) record["policy"] = policy_json(policy_, first_, last_, all_);
  record["loop"] = loop_;
  if (!o_.json.empty()) {
    traffic.exchanges = o_.steps;
    traffic.source =
        fmt::format("merganser cluster, {}{} over {}", o_.steps, o_.steps == 1 ? " step" : " steps", t_.name());
    record["traffic"] = traffic_json(traffic);
  }
  record["conservation"] = conservation_json(quantities_, before_, after_, all_.merged, all_.policy.split);
  for (const io::MissingFound& m : missing_) record["missing"][bytes_to_utf8(m.name)] = m.count;
  record["checks"] = checks_json(o_.audit, o_.reference, deposition_);
  answers_.add_to(record);
  record["result"] = result_json(first_, last_, all_, sums_, digest_);
  if (scene_ && policy_.is_default() && o_.method.search == Search::exact) record["links"] = links_json(*scene_);
  if (can_print_report(in_.table)) print(record, stages, others);
  if (!o_.json.empty()) write_record(o_.json, record);
  if (!o_.csv.empty()) write_text_file(o_.csv, table);
  if (scene_)
    write_picture(o_.picture, draw(*scene_, count_text(first_.before) + " parcels, " + count_text(all_.small) +
                                                " of them small, become " + count_text(last_.after)));
}

/// Prints the report of cluster on rank 0: input, counts, clusters, times by stage, conservation, digest. Local.
/// @param stages  times of the stages of merge steps over ranks @param others  times of reading, distributing and so on
void Run::print(const Json& record, const std::vector<Summary>& stages, const std::vector<Summary>& others) {
  auto& out = std::cout;
  out << o_.input << ": " << grid_text(info_.grid) << ", time " << general_text(info_.time, 6)
      << (policy_.is_default() ? "; small below 1/" + general_text(ratio_, 6) + " of a cell"
                               : "; policy " + policy_text(policy_))
      << (labels_only() ? ": groups are labelled, nothing is merged (no --output)" : "") << '\n'
      << answers_.to_string() << '\n';
  for (const std::string& note : info_.notes) out << note << '\n';
  out << t_.size() << (t_.size() == 1 ? " rank, " : " ranks, ") << t_.name() << ", blocks "
      << clusterer_->decomposition().describe() << ", search " << search_name(o_.method.search) << ", prune "
      << prune_name(o_.method.prune) << (o_.steps > 1 ? fmt::format(", {} steps", o_.steps) : "") << '\n';
  if (!t_.choice().empty()) out << t_.choice() << '\n';
  for (const io::MissingFound& m : missing_)
    out << m.name << ": " << count_text(m.count) << " of " << count_text(info_.parcels)
        << " parcels without a value, skipped (missing=skip)\n";
  out << '\n' << counts_table(first_, last_, all_, policy_) << '\n' << clusters_table(all_) << '\n';
  if (!policy_.is_default()) out << policy_table(policy_, first_, last_, all_) << '\n';
  std::vector<std::string> names(kStages.begin(), kStages.end());
  names.back() = o_.steps > 1 ? "all steps" : "whole step";
  auto rows = stages;
  for (std::size_t i = 0; i < others.size(); ++i) {
    names.push_back("(" + profile_.stages()[i].name + ")");
    rows.push_back(others[i]);
  }
  out << stages_table(names, rows, "time over ranks") << '\n'
      << conservation_table(quantities_, before_, after_, all_.merged, all_.policy.split) << '\n'
      << counters_text(all_) << '\n';
  if (o_.audit) out << audit_text(policy_) << deposition_text(deposition_);
  if (!verdict_.empty()) out << verdict_ << '\n';
  out << "digest " << record["result"]["digest"].get<std::string>() << '\n';
  out << written_line({io::strip_format(o_.output), o_.json, o_.csv, o_.picture, o_.labels});
}

/// Runs the command cluster on all ranks. @return exit code @throws UsageError for rules in --attribute or a policy that are none
int run(ClusterCommand& o, const Invocation& in) {
  const FileRules rules = parse_file_rules(o.attributes);
  const MergePolicy policy = read_policy(o.policy);
  check_policy_outputs(policy, {o.output, o.picture, o.labels, o.audit, o.reference, o.steps});
  return run_on_ranks(o.ranks, [&](comm::Transport& t) { Run(o, rules, policy, in, t).run(); });
}

constexpr std::string_view kClusterText =
    "Merges every small parcel with its nearest neighbour, cluster by cluster. The result is the same, bit for bit,\n"
    "for any number of ranks, model, decomposition and pruning: the digest tells.\n\n"
    "No step calls a collective, but with --audit, --picture, --prune iterative, --search cells8, and policies with\n"
    "friends or with lengths in spacings.\n"
    "What the input holds goes into the output: global attributes, groups, units, compression. Variables of the "
    "parcels\n"
    "that EPIC does not know need a rule, --attribute humidity:mean,age:largest. Ids are written too, so that the "
    "next\n"
    "command goes on with the same parcels.\n\n"
    "Totals of a run of several steps are announced from neighbour to neighbour: on a terminal, and with --log info, "
    "a\n"
    "line tells how far the run is, with totals that are some steps old.\n\n"
    "The box and what is small are what the file says (attributes periodic and min_vratio); options override it, with "
    "a\n"
    "warning. Both are written into the output.\n\n"
    "  merganser cluster in.nc -o out.nc --min-volume-ratio 20\n"
    "  merganser cluster in.nc -o out.nc --policy 'crowded:32->16, within:1cell, place:member'\n"
    "  merganser cluster in.nc -o out.nc --ranks 2 --json run.json --picture slab.svg\n"
    "  merganser run -n 4 -- cluster in.nc -o out.nc --comm rma --audit\n";

}  // namespace

extern const Command cluster_command;
const Command cluster_command =
    make_command<ClusterCommand, run>("cluster", "merge the parcels of a file", kClusterText);

}  // namespace merganser::app
