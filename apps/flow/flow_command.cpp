// flow: runs the elliptical parcel model from an initial condition, or goes on from a snapshot.
#include <sys/stat.h>

#include <algorithm>

#include "apps/flow/flow_run.hpp"
#include "apps/flow/statistics_file.hpp"
#include "merganser/base/error.hpp"

namespace merganser::app {
namespace {

flow::Case case_of(const std::string& name) {
  const auto known = flow::cases();
  for (const auto& [word, which] : known.words)
    if (word == name) return which;
  throw UsageError("CASE: \"" + name +
                   "\"; allowed: " + joined(known.words, ", ", [](const auto& word) { return word.first; }));
}

}  // namespace

template <class V>
void describe(FlowCommand& o, V&& option) {
  option.positional("CASE", o.which, "rayleigh-taylor, taylor-green or thermal; none with --restart");
  option("restart", o.restart, "parcel file to go on from: a snapshot, or a file of EPIC", Kind{"FILE"}, Reads{});
  describe(o.schedule, option);
  option.section("Output");
  option("output", o.output, "files are BASE_NNNNNNNNNN_parcels.nc, _fields.nc, and BASE_parcel_stats.nc", Letter{'o'},
         Kind{"BASE"});
  option("fields", o.fields, "write fields with every snapshot");
  option("pictures", o.pictures,
         "draw (SVG) buoyancy with every snapshot, and at the end small parcels and clusters over time");
  option("json", o.json, "run record to write (- for standard output)", Kind{"FILE"}, Writes{});
  option("statistics", o.statistics,
         "how statistics of ranks come together: announced from neighbour to neighbour, or by a collective call",
         flow::statistics_ways());
  option.section("Case");
  describe(o.initial, option);
  option.section("Model");
  describe(o.model, option);
  option.section("Blocks");
  option("decomposition", o.decomposition, "blocks of cells: auto (least surface) or AxBx1", Kind{"SHAPE"});
  describe(o.ranks, option);
  describe(o.room, option);
}

/// What goes with a case stands before what the user says.
void preset(FlowCommand& o) {
  if (!o.which.empty() && o.restart.empty()) flow::apply_case(case_of(o.which), o.model);
}

namespace {

/// The states before a snapshot, from the statistics beside it; none if they are not there or do not lead to it.
std::vector<flow::Statistics> rows_before(const std::string& snapshot, std::int64_t step) {
  const std::string base = base_of_snapshot(snapshot);
  struct stat there {};
  if (base.empty() || ::stat((base + "_parcel_stats.nc").c_str(), &there) != 0) return {};
  std::vector<flow::Statistics> rows = read_statistics(base + "_parcel_stats.nc");
  std::erase_if(rows, [&](const flow::Statistics& row) { return row.step >= step; });
  const bool lead =
      std::is_sorted(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.step < b.step; }) &&
      !rows.empty() && rows.back().step == step - 1;
  return lead ? rows : std::vector<flow::Statistics>();
}

FlowStart start_of(FlowCommand& o, const OptionTable& table) {
  FlowStart start;
  if (o.restart.empty()) {
    start.which = case_of(o.which);
    start.grid = flow::case_grid(*start.which, o.initial);
    start.progress.case_name = o.which;
    return start;
  }
  start.file = io::read_info(o.restart);
  take_options(o.restart, *start.file, table, o.model);
  start.progress = read_progress(o.restart, *start.file);
  start.grid = start.file->grid;
  if (start.progress.state.begun) start.statistics = rows_before(o.restart, start.progress.state.step);
  if (start.progress.state.time >= o.schedule.until)
    throw UsageError("--until " + number_text(o.schedule.until) + ": " + o.restart + " is of time " +
                     number_text(start.progress.state.time) + "; allowed: a later one");
  return start;
}

int run(FlowCommand& o, const Invocation& in) {
  if (o.which.empty() == o.restart.empty())
    throw UsageError("either a CASE or --restart FILE; allowed cases: " +
                     joined(flow::cases().words, ", ", [](const auto& word) { return word.first; }));
  if (o.output.empty() && (o.schedule.snapshots > 0 || o.schedule.consecutive > 0 || o.pictures))
    throw UsageError("--snapshots, --consecutive and --pictures write files: say their name by -o BASE");
  if (o.schedule.snapshots_from > o.schedule.until)
    throw UsageError("--snapshots-from " + number_text(o.schedule.snapshots_from) + "; allowed: up to --until, " +
                     number_text(o.schedule.until));
  const FlowStart start = start_of(o, in.table);
  return on_ranks(o.ranks, [&](comm::Transport& t) { FlowRun(o, start, in, t).all(); });
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
