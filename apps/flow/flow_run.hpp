#pragma once
/// One run of a flow on one rank: the loop of steps, with files, pictures and progress.
#include <optional>
#include <string>
#include <vector>

#include "apps/flow/schedule.hpp"
#include "apps/flow/snapshot.hpp"
#include "apps/frame/command.hpp"
#include "apps/frame/forecast.hpp"
#include "apps/frame/progress.hpp"
#include "apps/frame/ranks.hpp"
#include "apps/frame/record.hpp"
#include "merganser/base/timer.hpp"
#include "merganser/flow/cases.hpp"
#include "merganser/flow/model.hpp"

namespace merganser::app {

/// Options of the command.
struct FlowCommand {
  std::string which;
  std::string restart;
  std::string output;
  std::string json;
  bool fields = true;
  bool pictures = false;
  ScheduleOptions schedule;
  flow::CaseOptions initial;
  flow::FlowOptions model;
  flow::StatisticsWay statistics = flow::StatisticsWay::network;
  std::string decomposition = "auto";
  RankOptions ranks;
  ForceOption room;
};

/// What goes with a case stands before what the user says.
void preset(FlowCommand& o);

/// Where a run starts from.
struct FlowStart {
  std::optional<flow::Case> which;         ///< an initial condition ...
  std::optional<io::ParcelFileInfo> file;  ///< ... or a file
  Grid grid;
  Progress progress;
  std::vector<flow::Statistics> statistics;  ///< of the states before
};

/// A run. Every member function is called by every rank.
class FlowRun : Pinned {
 public:
  FlowRun(const FlowCommand& options, const FlowStart& start, const Invocation& in, comm::Transport& transport)
      : o_(options), start_(start), in_(in), t_(transport) {}
  void all();

 private:
  void check();
  void begin();
  void loop();
  void snapshot();
  void write_results();
  void take_rows();
  void tell();
  void report();
  void print(const Json& record, const std::vector<Summary>& seconds);
  [[nodiscard]] std::string statistics_path() const { return o_.output + "_parcel_stats.nc"; }

  const FlowCommand& o_;
  const FlowStart& start_;
  const Invocation& in_;
  comm::Transport& t_;
  Profile profile_;
  std::optional<flow::Model> model_;
  std::optional<Schedule> schedule_;
  std::optional<ProgressLine> line_;
  Progress progress_;
  std::vector<flow::Statistics> rows_;  // of the whole run, on every rank
  std::vector<std::string> files_;
  std::int64_t steps_ = 0;  // made here
  double began_ = 0;
  double loop_seconds_ = 0;
  double recent_seconds_ = 0;  // of a step, smoothed
};

}  // namespace merganser::app
