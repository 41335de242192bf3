// The command flow: runs the elliptical parcel model from an initial condition, or continues a run from a snapshot.
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/cluster/merge_options.hpp"
#include "apps/cluster/results.hpp"
#include "apps/flow/files.hpp"
#include "apps/flow/flow_pictures.hpp"
#include "apps/flow/flow_results.hpp"
#include "apps/flow/schedule.hpp"
#include "apps/flow/snapshot.hpp"
#include "apps/frame/command.hpp"
#include "apps/frame/forecast.hpp"
#include "apps/frame/gather.hpp"
#include "apps/frame/picture.hpp"
#include "apps/frame/progress.hpp"
#include "apps/frame/ranks.hpp"
#include "apps/frame/record.hpp"
#include "apps/frame/table.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/log.hpp"
#include "merganser/base/output_file.hpp"
#include "merganser/base/text.hpp"
#include "merganser/base/timer.hpp"
#include "merganser/cluster/cluster.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/flow/cases.hpp"
#include "merganser/flow/detail/describe_cases.hpp"
#include "merganser/flow/detail/describe_options.hpp"
#include "merganser/flow/model.hpp"

namespace merganser::app {
namespace {

/// Values of the command line of `merganser flow`.
struct FlowCommand {
  std::string which;    ///< name of the initial condition; empty with --restart
  std::string restart;  ///< parcel file to continue from
  std::string output;   ///< BASE of the files to write; empty: none
  std::string json;     ///< file of the run record
  std::string picture;  ///< file of the picture of the end; empty: none
  bool fields = true;
  bool pictures = false;
  ScheduleOptions schedule;
  flow::CaseOptions initial;
  flow::FlowOptions model;
  flow::StatisticsWay statistics = flow::StatisticsWay::network;
  std::string decomposition = "auto";
  RankOptions ranks;
  ForceOption limits;
};

/// Returns the initial condition of the flow that the argument CASE names. @throws UsageError, with the names that are allowed
flow::Case parse_case(const std::string& name) {
  const auto known = flow::cases();
  for (const auto& [word, which] : known.words)
    if (word == name) return which;
  throw UsageError("CASE: \"" + name +
                   "\"; allowed: " + joined(known.words, ", ", [](const auto& word) { return word.first; }));
}

/// Returns the names of the initial conditions, for completion in shells.
Proposes known_cases() {
  Proposes known;
  for (const auto& [word, which] : flow::cases().words) known.words.emplace_back(word);
  return known;
}

/// Passes name, value, meaning and range of every option of `merganser flow` to option(...).
void describe(FlowCommand& o, auto&& option) {
  option.positional("CASE", o.which, "rayleigh-taylor, taylor-green or thermal", NotWith{"--restart"}, known_cases());
  option("restart", o.restart, "parcel file to go on from: a snapshot, or a file of EPIC", Kind{"FILE"}, Reads{});
  describe(o.schedule, option);
  option.section("Output");
  option("output", o.output, "files are BASE_NNNNNNNNNN_parcels.nc, _fields.nc, and BASE_parcel_stats.nc", Letter{'o'},
         Kind{"BASE"});
  option("fields", o.fields, "write fields with every snapshot", UsedWith{"--output"});
  option("pictures", o.pictures,
         "draw (SVG) buoyancy with every snapshot, and at the end small parcels and clusters over time",
         UsedWith{"--output"});
  option("picture", o.picture, "picture of buoyancy at the end to write (.svg .png .pdf)", Kind{"FILE"}, Writes{});
  option("json", o.json, "run record to write (- for standard output)", Kind{"FILE"}, Writes{});
  option("statistics", o.statistics,
         "how statistics of ranks come together: announced from neighbour to neighbour, or by a collective call",
         flow::statistics_ways());
  option.section("Case");
  describe(o.initial, option);
  option.restrict({"cells", "perturbation", "amplitude", "thermal-buoyancy", "thermal-radius", "thermal-height"},
                  NotWith{"--restart"});
  option.restrict({"perturbation"}, UsedWith{"CASE rayleigh-taylor"});
  option.restrict({"amplitude"}, UsedWith{"CASE taylor-green"});
  option.restrict({"thermal-buoyancy", "thermal-radius", "thermal-height"}, UsedWith{"CASE thermal"});
  option.section("Model");
  describe(o.model, option);
  option.restrict({"gradient-factor", "max-compression"}, NotWith{"--corrections 0"});
  option.section("Blocks");
  option("decomposition", o.decomposition, "blocks of cells: auto (least surface) or AxBx1", Kind{"SHAPE"});
  describe(o.ranks, option);
  describe(o.limits, option);
}

/// Sets the flow options that the initial condition on the command line implies, before those that the user gives replace them.
void apply_implied_defaults(FlowCommand& o) {
  if (!o.which.empty() && o.restart.empty()) flow::apply_case(parse_case(o.which), o.model);
}

/// State that a flow run starts from, an initial condition or a parcel file; filled by prepare_start() on every rank.
struct FlowStart {
  std::optional<flow::Case> which;           ///< the initial condition, if there is no file
  std::optional<io::ParcelFileInfo> file;    ///< heading of the file, if the run continues from one
  std::optional<Answers> answers;            ///< options of the file and of the command line, with their origin
  Grid grid;                                 ///< box and cells of the run
  Progress progress;                         ///< state of the run between two steps
  std::vector<flow::Statistics> statistics;  ///< statistics of earlier states of the same run
};

/// Reads the flow statistics before a snapshot from the file beside it; empty if that is missing or ends at another step.
std::vector<flow::Statistics> rows_before(const std::string& snapshot, std::int64_t step) {
  const std::string base = snapshot_base(snapshot);
  struct stat there {};
  if (base.empty() || ::stat((base + "_parcel_stats.nc").c_str(), &there) != 0) return {};
  std::vector<flow::Statistics> rows = read_statistics(base + "_parcel_stats.nc");
  std::erase_if(rows, [&](const flow::Statistics& row) { return row.step >= step; });
  const bool lead =
      std::is_sorted(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.step < b.step; }) &&
      !rows.empty() && rows.back().step == step - 1;
  return lead ? rows : std::vector<flow::Statistics>();
}

/// Reads the heading of the parcel file to continue a flow run from, with its options, or prepares the initial condition. Local.
FlowStart prepare_start(FlowCommand& o, const OptionTable& table) {
  FlowStart start;
  if (o.restart.empty()) {
    start.which = parse_case(o.which);
    start.grid = flow::case_grid(*start.which, o.initial);
    start.progress.case_name = o.which;
    return start;
  }
  start.file = io::read_info(o.restart);
  read_options(o.restart, *start.file, table, o.model, start.answers.emplace(o.restart));
  const auto& flags = start.file->grid.box.periodic;
  const AxisFlags periodic{flags[0], flags[1], flags[2]};
  start.answers->note(
      "periodic", merganser::detail::to_option_value(periodic),
      start.file->says_periodic ? merganser::detail::to_option_value(periodic) : OptionValue(std::monostate()), false,
      "EPIC's files, without the attribute periodic, are periodic in x and y");
  if (comm::launcher_world().rank == 0)
    for (const auto& warning : start.answers->warnings()) log(Level::warning, 0, warning);
  start.progress = read_progress(o.restart, *start.file);
  start.grid = start.file->grid;
  if (start.progress.state.begun) start.statistics = rows_before(o.restart, start.progress.state.step);
  if (start.progress.state.time >= o.schedule.until)
    throw UsageError("--until " + number_text(o.schedule.until) + ": " + o.restart + " is of time " +
                     number_text(start.progress.state.time) + "; allowed: a later one");
  return start;
}

/// Run of the flow model on one rank with its files, progress line and run record. Every member function is called by every rank.
class FlowRun : Pinned {
 public:
  FlowRun(const FlowCommand& options, const FlowStart& start, const Invocation& in, comm::Transport& transport)
      : o_(options), start_(start), in_(in), t_(transport) {}
  void run() {
    check();
    begin();
    loop();
    report();
  }

 private:
  /// Validates that memory and disk space suffice for the flow run by an estimate: at most about 13 parcels in a cell; the bytes
  /// per parcel and per cell were measured on one rank. Collective.
  void check() {
    check_picture(o_.picture, PictureSource::drawing, t_);
    const double cells = static_cast<double>(start_.grid.cells[0]) * static_cast<double>(start_.grid.cells[1]) *
                         static_cast<double>(start_.grid.cells[2]);
    const double parcels = 13 * cells;
    const double row = static_cast<double>(Parcels(flow::schema()).parcel_bytes());
    Need need;
    need.what = "a flow on " + grid_text(start_.grid) + ", up to 13 parcels in a cell";
    need.rank_bytes = std::ceil(parcels / t_.size()) * row * 4.5 + std::ceil(cells / t_.size()) * 1024;
    if (!o_.output.empty()) {
      const int snapshots = o_.schedule.snapshots + o_.schedule.consecutive;
      need.disk_bytes = snapshots * (parcels * parcel_file_bytes(Schema::epic()) + (o_.fields ? cells * 104 : 0));
      need.first_bytes = o_.fields ? cells * 160 : 0;
      need.file = statistics_path();
    }
    need.help = "fewer --cells, fewer --snapshots";
    collective_try([&] { require(need, o_.limits.force, t_); });
    collective_try([&] {
      comm::agree(t_, [&] {
        if (t_.rank() == 0 && !o_.output.empty()) check_output(statistics_path());
      });
    });
  }

  /// Creates the flow model and the parcels that the run begins with, from the initial condition or a snapshot. Collective.
  void begin() {
    const Scope s(profile_, "begin");
    const Decomposition blocks =
        collective_try([&] { return flow::decompose(start_.grid, t_.size(), o_.decomposition); });
    collective_try([&] { model_.emplace(t_, blocks, o_.model, o_.statistics); });
    progress_ = start_.progress;
    rows_ = start_.statistics;
    Parcels parcels = collective_try([&] {
      if (start_.file) return io::read_parcels(o_.restart, *start_.file, t_);
      return flow::fill(blocks, t_.rank(), flow::case_fields(*start_.which, o_.initial));
    });
    collective_try([&] { model_->begin(std::move(parcels), progress_.state); });
    schedule_.emplace(o_.schedule, start_.progress.state.begun, model_->state().time, progress_.consecutive);
    line_.emplace(t_.rank() == 0);
  }

  /// Runs the time loop of the flow until the schedule ends; snapshot, fields and pictures belong to the state before a step.
  /// Called by every rank; no collective call but those of files, observe() and the statistics.
  void loop() {
    t_.barrier();
    began_ = now();
    while (true) {
      const double time = model_->state().time;
      const bool last = schedule_->last(time);
      // The state that a run continues from is in a file already.
      const bool known = start_.file && start_.progress.state.begun && steps_ == 0;
      const bool due = !known && schedule_->due(time);
      if (due) snapshot();
      const double from = now();
      model_->observe();
      if (due && o_.fields && !o_.output.empty()) {
        const Scope s(profile_, "files");
        const std::string path = snapshot_name(o_.output, progress_.snapshot, "fields.nc");
        collective_try([&] { write_fields(path, *model_, t_); });
      }
      if (due && o_.pictures)
        draw_section(*model_, snapshot_name(o_.output, progress_.snapshot, "buoyancy.svg"), range_, t_);
      if (last) {
        if (!o_.picture.empty()) draw_section(*model_, o_.picture, range_, t_);
        break;
      }
      check_end();
      model_->advance();
      ++steps_;
      const double seconds = now() - from;
      recent_seconds_ = recent_seconds_ == 0 ? seconds : 0.9 * recent_seconds_ + 0.1 * seconds;
      collect_statistics();
      show_progress();
    }
    model_->conclude();
    loop_seconds_ = now() - began_;
    write_results();
  }

  /// Throws InputError on every rank alike if the flow run would take more than 1e9 further time steps. After observe().
  void check_end() const {
    constexpr double kMaxSteps = 1e9;  // more than ten days at a millisecond each
    const double steps = (o_.schedule.until - model_->state().time) / model_->dt();
    if (steps > kMaxSteps)
      throw InputError(
          fmt::format("--until {}: at t = {} the time step is {}, so that {} steps are to go; allowed: up to {}",
                      number_text(o_.schedule.until), number_text(model_->state().time), number_text(model_->dt()),
                      general_text(steps, 3), number_text(kMaxSteps)));
  }

  /// Writes the statistics file and a snapshot of the state before a time step, before observe() changes it. Collective.
  void snapshot() {
    if (o_.output.empty()) return;
    const Scope s(profile_, "files");
    ++progress_.snapshot;
    progress_.consecutive = schedule_->consecutive();
    progress_.state = model_->state();
    progress_.state.counts = total_counts(progress_.state.counts, t_);
    model_->drain_statistics();
    collect_statistics();
    collective_try([&] {
      write_statistics(statistics_path(), start_.grid, rows_, t_);
      const std::string path = snapshot_name(o_.output, progress_.snapshot, "parcels.nc");
      write_snapshot(path, model_->parcels(), model_->decomposition(), progress_, o_.model, t_);
      files_.push_back(path);
    });
  }

  /// Writes, at the end of a run, the completed statistics file and, on rank 0, the charts over time. Collective.
  void write_results() {
    model_->drain_statistics();
    collect_statistics();
    if (o_.output.empty()) return;
    const Scope s(profile_, "files");
    collective_try([&] { write_statistics(statistics_path(), start_.grid, rows_, t_); });
    if (!o_.pictures || t_.rank() != 0) return;
    write_text_file(o_.output + "_small.svg", draw_small_share(rows_));
    write_text_file(o_.output + "_clusters.svg", draw_clusters(rows_));
  }

  /// Appends the flow statistics of states that have become complete to the rows of the run, and logs them on rank 0. Local.
  void collect_statistics() {
    for (const flow::Statistics& row : model_->pop_statistics()) {
      rows_.push_back(row);
      if (t_.rank() == 0) log(Level::info, 0, describe_state(row));
    }
  }

  /// Shows time step, simulated time, parcels and the estimated remaining seconds of the flow run on the progress line.
  void show_progress() {
    if (!line_->is_due()) return;
    const flow::RunState& state = model_->state();
    std::string text = fmt::format("step {}, t = {} of {}", state.step, general_text(state.time, 4),
                                   general_text(o_.schedule.until, 4));
    if (!rows_.empty()) text += ", " + count_text(rows_.back().parcels) + " parcels";
    if (state.time < o_.schedule.until && model_->dt() > 0)
      text += ", about " + seconds_text((o_.schedule.until - state.time) / model_->dt() * recent_seconds_) + " to go";
    line_->show(std::move(text));
  }

  /// Gathers the digest of the parcels and the times of stages, and prints and writes the flow's run record on rank 0. Collective.
  void report() {
    const Digest digest = total_digest(t_, merganser::digest(flow::without_registers(model_->parcels())));
    const comm::Counters counters = t_.counters();
    std::vector<std::string> names{"steps"};
    std::vector<Summary> seconds{summarise(comm::all_gather_value(t_, loop_seconds_))};
    for (const Profile* p : {&model_->profile(), static_cast<const Profile*>(&profile_)})
      for (const auto& stage : p->stages()) {
        names.push_back(stage.name);
        seconds.push_back(summarise(comm::all_gather_value(t_, stage.seconds)));
      }
    line_->erase();
    if (t_.rank() != 0) return;
    Json record = make_record(in_, {t_.size(), std::string(t_.name()), std::string(t_.choice()), o_.ranks.decorators,
                                    model_->decomposition().describe()});
    for (std::size_t i = 0; i < names.size(); ++i) record["timings"][names[i]] = summary_json(seconds[i]);
    record["counters_of_rank_0"] = counters_json(counters);
    if (start_.answers) start_.answers->add_to(record);
    record["result"] = statistics_json(rows_.back(), compute_box_volume(start_.grid));
    record["result"]["steps_made"] = steps_;
    record["result"].update(counts_json(sum_counts(rows_)));
    record["result"]["snapshots"] = files_;
    record["result"]["digest"] = digest.to_string();
    record["series"] = series_json(rows_);
    if (can_print_report(in_.table)) {
      std::cout << stages_table(names, seconds, "time over ranks") << '\n';
      print(record, seconds);
    }
    if (!o_.json.empty()) write_record(o_.json, record);
  }

  /// Prints the summary of the flow run on standard output: grid, ranks, last statistics, splits and merges, digest, files.
  void print(const Json& record, const std::vector<Summary>& seconds) {
    const flow::Statistics& s = rows_.back();
    const flow::StepCounts sum = sum_counts(rows_);
    auto& out = std::cout;
    out << (o_.which.empty() ? o_.restart : o_.which) << ": " << grid_text(start_.grid) << "; " << t_.size()
        << (t_.size() == 1 ? " rank, " : " ranks, ") << t_.name() << ", blocks " << model_->decomposition().describe()
        << '\n'
        << (start_.answers ? start_.answers->to_grouped_string() + '\n' : std::string()) << describe_state(s) << "; "
        << steps_ << " steps in " << seconds_text(seconds[0].max) << '\n'
        << "kinetic energy " << general_text(s.kinetic_energy, 6) << ", enstrophy " << general_text(s.enstrophy, 6)
        << ", volume off by " << general_text(record["result"]["volume_error"].get<double>(), 3) << '\n'
        << count_text(sum.splits) << " splits, " << count_text(sum.merges) << " merged away, clusters of 2, 3, ...:";
    for (const std::int64_t n : sum.clusters) out << ' ' << count_text(n);
    out << "\ndigest " << record["result"]["digest"].get<std::string>() << '\n';
    if (!o_.output.empty())
      out << "wrote " << files_.size() << " snapshots, " << statistics_path()
          << (o_.json.empty() || o_.json == "-" ? "" : ", " + o_.json) << '\n';
  }

  [[nodiscard]] std::string statistics_path() const { return o_.output + "_parcel_stats.nc"; }

  const FlowCommand& o_;
  const FlowStart& start_;
  const Invocation& in_;
  comm::Transport& t_;
  Profile profile_;
  std::optional<flow::Model> model_;
  std::optional<Schedule> schedule_;
  std::optional<ProgressLine> line_;
  std::optional<BuoyancyRange> range_;  // of the colours of all cross-sections; on rank 0, after the first
  Progress progress_;
  std::vector<flow::Statistics> rows_;  // of the whole run, on every rank
  std::vector<std::string> files_;
  std::int64_t steps_ = 0;  // steps made by this process, those before a snapshot excluded
  double began_ = 0;
  double loop_seconds_ = 0;
  double recent_seconds_ = 0;  // time of a step, exponentially smoothed
};

/// Runs the command `merganser flow` on all ranks. @return exit status @throws UsageError for options that contradict each other
int run(FlowCommand& o, const Invocation& in) {
  if (o.which.empty() == o.restart.empty())
    throw UsageError("either a CASE or --restart FILE; allowed cases: " +
                     joined(flow::cases().words, ", ", [](const auto& word) { return word.first; }));
  if (o.schedule.snapshots_from > o.schedule.until)
    throw UsageError("--snapshots-from " + number_text(o.schedule.snapshots_from) + "; allowed: up to --until, " +
                     number_text(o.schedule.until));
  const FlowStart start = prepare_start(o, in.table);
  return run_on_ranks(o.ranks, [&](comm::Transport& t) { FlowRun(o, start, in, t).run(); });
}

constexpr std::string_view kFlowText =
    "Runs the 3D elliptical parcel-in-cell model: parcels carry vorticity and buoyancy through the flow that they "
    "make,\n"
    "are stretched, split and merged. The result is the same, bit for bit, for any number of ranks, model and\n"
    "decomposition: the digest tells. Defaults are those of the published Rayleigh-Taylor runs.\n\n"
    "A snapshot is a parcel file as EPIC writes it, with what a run needs to go on with the same bits on any number "
    "of\n"
    "ranks. Files appear whole or not at all: a run that is stopped goes on from its last snapshot. Options of the "
    "model\n"
    "come with the snapshot; those that are given go before.\n\n"
    "  merganser flow rayleigh-taylor --cells 32 --until 4 -o rt32 --snapshots 10\n"
    "  merganser flow rayleigh-taylor --cells 64 --until 3 -o early --consecutive 10 --consecutive-from 3\n"
    "  merganser run -n 2 -- flow --restart rt32_0000000004_parcels.nc --until 6 -o rt32 --snapshots 15\n"
    "  merganser bench files early_*_parcels.nc --prune all\n";

}  // namespace

extern const Command flow_command;
const Command flow_command = make_command<FlowCommand, run>("flow", "run the elliptical parcel model", kFlowText);

}  // namespace merganser::app
