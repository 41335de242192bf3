#include "apps/flow/flow_run.hpp"

#include <fmt/core.h>

#include <cmath>
#include <iostream>
#include <utility>

#include "apps/cluster/merge_options.hpp"
#include "apps/cluster/results.hpp"
#include "apps/flow/fields_file.hpp"
#include "apps/flow/flow_pictures.hpp"
#include "apps/flow/statistics_file.hpp"
#include "apps/frame/gather.hpp"
#include "apps/frame/record.hpp"
#include "apps/frame/table.hpp"
#include "merganser/base/log.hpp"
#include "merganser/base/output_file.hpp"
#include "merganser/cluster/cluster.hpp"
#include "merganser/comm/collectives.hpp"

namespace merganser::app {
namespace {

/// Counts of all ranks. Collective.
flow::StepCounts total_counts(const flow::StepCounts& mine, comm::Transport& transport) {
  std::vector<std::int64_t> all = counts_list(mine);
  transport.all_reduce(std::span<std::int64_t>(all), comm::Op::sum);
  return counts_of(all);
}

flow::StepCounts sum_counts(const std::vector<flow::Statistics>& rows) {
  flow::StepCounts sum;
  for (const flow::Statistics& row : rows) sum += row.counts;
  return sum;
}

Json statistics_json(const flow::Statistics& s, double box_volume) {
  return {{"step", s.step},
          {"time", s.time},
          {"parcels", s.parcels},
          {"small", s.small},
          {"kinetic_energy", s.kinetic_energy},
          {"enstrophy", s.enstrophy},
          {"volume", s.volume},
          {"volume_error", std::fabs(s.volume - box_volume) / box_volume},
          {"least_buoyancy", s.least_buoyancy},
          {"greatest_buoyancy", s.greatest_buoyancy}};
}

Json counts_json(const flow::StepCounts& c) {
  Json clusters = Json::object();
  for (std::size_t i = 0; i < c.clusters.size(); ++i)
    clusters[i + 1 == c.clusters.size() ? "8+" : std::to_string(i + 2)] = c.clusters[i];
  return {{"splits", c.splits}, {"merges", c.merges}, {"merged_into_big", c.merged_into_big}, {"clusters", clusters}};
}

double volume_of(const Grid& grid) { return grid.box.extent[0] * grid.box.extent[1] * grid.box.extent[2]; }

std::string flow_text(const flow::Statistics& s) {
  return fmt::format("step {}, t = {}: {} parcels, {} small", s.step, general_text(s.time, 5), count_text(s.parcels),
                     percent_text(s.small_share()));
}

}  // namespace

void FlowRun::all() {
  check();
  begin();
  loop();
  report();
}

/// Parcels are at most about 13 in a cell; containers and nodes at a time were measured on one rank.
void FlowRun::check() {
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
  together([&] { require(need, o_.room.force, t_); });
  together([&] {
    comm::agree(t_, [&] {
      if (t_.rank() == 0 && !o_.output.empty()) check_output(statistics_path());
    });
  });
}

void FlowRun::begin() {
  const Scope s(profile_, "begin");
  const Decomposition blocks = together([&] { return flow::decompose(start_.grid, t_.size(), o_.decomposition); });
  together([&] { model_.emplace(t_, blocks, o_.model, o_.statistics); });
  progress_ = start_.progress;
  rows_ = start_.statistics;
  Parcels parcels = together([&] {
    if (start_.file) return io::read_parcels(o_.restart, *start_.file, t_);
    return flow::fill(blocks, t_.rank(), flow::case_fields(*start_.which, o_.initial));
  });
  together([&] { model_->begin(std::move(parcels), progress_.state); });
  schedule_.emplace(o_.schedule, start_.progress.state.begun, model_->state().time, progress_.consecutive);
  line_.emplace(t_.rank() == 0);
}

void FlowRun::loop() {
  t_.barrier();
  began_ = now();
  while (true) {
    const double time = model_->state().time;
    const bool last = schedule_->last(time);
    // A run that goes on has its first state in a file already.
    const bool known = start_.file && start_.progress.state.begun && steps_ == 0;
    const bool due = !known && schedule_->due(time);
    if (due) snapshot();
    const double from = now();
    model_->observe();
    if (due && o_.fields && !o_.output.empty()) {
      const Scope s(profile_, "files");
      const std::string path = snapshot_name(o_.output, progress_.snapshot, "fields.nc");
      together([&] { write_fields(path, *model_, t_); });
    }
    if (due && o_.pictures) draw_section(*model_, snapshot_name(o_.output, progress_.snapshot, "buoyancy.svg"), t_);
    if (last) break;
    model_->advance();
    ++steps_;
    const double seconds = now() - from;
    recent_seconds_ = recent_seconds_ == 0 ? seconds : 0.9 * recent_seconds_ + 0.1 * seconds;
    take_rows();
    tell();
  }
  model_->conclude();
  loop_seconds_ = now() - began_;
  write_results();
}

/// The state between two steps, before anything of the next one is done with it.
void FlowRun::snapshot() {
  if (o_.output.empty()) return;
  const Scope s(profile_, "files");
  ++progress_.snapshot;
  progress_.consecutive = schedule_->consecutive();
  progress_.state = model_->state();
  progress_.state.counts = total_counts(progress_.state.counts, t_);
  model_->drain_statistics();
  take_rows();
  together([&] {
    write_statistics(statistics_path(), start_.grid, rows_, t_);
    const std::string path = snapshot_name(o_.output, progress_.snapshot, "parcels.nc");
    write_snapshot(path, model_->parcels(), model_->decomposition(), progress_, o_.model, t_);
    files_.push_back(path);
  });
}

void FlowRun::write_results() {
  model_->drain_statistics();
  take_rows();
  if (o_.output.empty()) return;
  const Scope s(profile_, "files");
  together([&] { write_statistics(statistics_path(), start_.grid, rows_, t_); });
  if (!o_.pictures || t_.rank() != 0) return;
  write_text_file(o_.output + "_small.svg", draw_small_share(rows_));
  write_text_file(o_.output + "_clusters.svg", draw_clusters(rows_));
}

void FlowRun::take_rows() {
  for (const flow::Statistics& row : model_->take_statistics()) {
    rows_.push_back(row);
    if (t_.rank() == 0) log(Level::info, 0, flow_text(row));
  }
}

void FlowRun::tell() {
  if (!line_->due()) return;
  const flow::RunState& state = model_->state();
  std::string text =
      fmt::format("step {}, t = {} of {}", state.step, general_text(state.time, 4), general_text(o_.schedule.until, 4));
  if (!rows_.empty()) text += ", " + count_text(rows_.back().parcels) + " parcels";
  if (state.time < o_.schedule.until && model_->dt() > 0)
    text += ", about " + seconds_text((o_.schedule.until - state.time) / model_->dt() * recent_seconds_) + " to go";
  line_->show(std::move(text));
}

void FlowRun::report() {
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
  record["result"] = statistics_json(rows_.back(), volume_of(start_.grid));
  record["result"]["steps_made"] = steps_;
  record["result"].update(counts_json(sum_counts(rows_)));
  record["result"]["snapshots"] = files_;
  record["result"]["digest"] = digest.text();
  if (may_report(in_.table)) {
    std::cout << stages_table(names, seconds, "time over ranks") << '\n';
    print(record, seconds);
  }
  if (!o_.json.empty()) write_record(o_.json, record);
}

void FlowRun::print(const Json& record, const std::vector<Summary>& seconds) {
  const flow::Statistics& s = rows_.back();
  const flow::StepCounts sum = sum_counts(rows_);
  auto& out = std::cout;
  out << (o_.which.empty() ? o_.restart : o_.which) << ": " << grid_text(start_.grid) << "; " << t_.size()
      << (t_.size() == 1 ? " rank, " : " ranks, ") << t_.name() << ", blocks " << model_->decomposition().describe()
      << '\n'
      << flow_text(s) << "; " << steps_ << " steps in " << seconds_text(seconds[0].max) << '\n'
      << "kinetic energy " << general_text(s.kinetic_energy, 6) << ", enstrophy " << general_text(s.enstrophy, 6)
      << ", volume off by " << general_text(record["result"]["volume_error"].get<double>(), 3) << '\n'
      << count_text(sum.splits) << " splits, " << count_text(sum.merges) << " merged away, clusters of 2, 3, ...:";
  for (const std::int64_t n : sum.clusters) out << ' ' << count_text(n);
  out << "\ndigest " << record["result"]["digest"].get<std::string>() << '\n';
  if (!o_.output.empty())
    out << "wrote " << files_.size() << " snapshots, " << statistics_path()
        << (o_.json.empty() || o_.json == "-" ? "" : ", " + o_.json) << '\n';
}

}  // namespace merganser::app
