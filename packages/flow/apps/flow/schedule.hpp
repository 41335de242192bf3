#pragma once
/// Schedule of the flow command: which states of a run are written as snapshots.
#include <cstdint>

#include "merganser/base/options.hpp"

namespace merganser::app {

/// Options of the flow command that select the states written as snapshots; describe() gives their ranges.
struct ScheduleOptions {
  double until = 6;             ///< simulated time at which the run ends, s
  int snapshots = 0;            ///< number of snapshots spaced evenly in time
  double snapshots_from = 0;    ///< time of the first of the evenly spaced snapshots, s
  int consecutive = 0;          ///< number of successive states written besides the evenly spaced ones
  double consecutive_from = 3;  ///< time from which on the successive states follow, s
};
/// Passes name, value, meaning and range of every option of the snapshot schedule to option(...).
void describe(ScheduleOptions& o, auto&& option) {
  option("until", o.until, "time at which the run ends: at the first state from there on", positive(), Kind{"T"});
  option("snapshots", o.snapshots, "snapshots, evenly in time from --snapshots-from to --until", between(0, 1000000),
         UsedWith{"--output"});
  option("snapshots-from", o.snapshots_from, "time of the first of them", at_least(0), Kind{"T"},
         UsedWith{"--snapshots"}, NotWith{"--snapshots 0|1"});
  option("consecutive", o.consecutive, "snapshots of so many successive states beside these", between(0, 1000000),
         UsedWith{"--output"});
  option("consecutive-from", o.consecutive_from, "they follow the first state from this time on", at_least(0),
         Kind{"T"}, UsedWith{"--consecutive"});
}

/// Schedule of snapshots of a flow run: decides for each state, in the order of time, whether it is written.
class Schedule {
 public:
  /// Creates the snapshot schedule of a flow run.
  /// @param begun    a run continues: states up to and including the one at `time` have been passed to due()
  /// @param written  consecutive states that have been written so far
  Schedule(const ScheduleOptions& options, bool begun, double time, std::int64_t written)
      : o_(options), written_(written), reached_(begun && time >= options.consecutive_from) {
    while (begun && next_ < o_.snapshots && time_of(next_) <= time) ++next_;
  }

  /// Returns true if the flow state at this time is to be written as a snapshot. To be called once for each state of the
  /// run, in the order of time.
  [[nodiscard]] bool due(double time) {
    bool out = false;
    while (next_ < o_.snapshots && time_of(next_) <= time) {
      ++next_;
      out = true;
    }
    if (reached_ && written_ < o_.consecutive) {
      ++written_;
      out = true;
    }
    reached_ = reached_ || time >= o_.consecutive_from;
    return out;
  }
  /// Returns true if the flow state at this time is the last one of the run.
  [[nodiscard]] bool last(double time) const { return time >= o_.until && written_ >= o_.consecutive; }
  /// Returns the number of consecutive flow states written as snapshots so far.
  [[nodiscard]] std::int64_t consecutive() const noexcept { return written_; }

 private:
  /// Returns the time of snapshot number `snapshot` of the options.snapshots that are spaced evenly in time. A single
  /// snapshot is taken at the end of the run.
  [[nodiscard]] double time_of(std::int64_t snapshot) const {
    if (snapshot + 1 >= o_.snapshots) return o_.until;
    return o_.snapshots_from +
           static_cast<double>(snapshot) * (o_.until - o_.snapshots_from) / static_cast<double>(o_.snapshots - 1);
  }

  ScheduleOptions o_;
  std::int64_t next_ = 0;  // index of the next snapshot of those evenly in time
  std::int64_t written_;
  bool reached_;  // the time from which consecutive states are written has passed
};

}  // namespace merganser::app
