#pragma once
/// Which states of a run become snapshots.
#include <cstdint>

#include "merganser/base/options.hpp"

namespace merganser::app {

/// Options that say which states are written.
struct ScheduleOptions {
  double until = 6;
  int snapshots = 0;
  double snapshots_from = 0;
  int consecutive = 0;
  double consecutive_from = 3;
};
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

/// Goes through the states of a run in their order.
class Schedule {
 public:
  /// @param begun   a run goes on: states up to `time`, the one at `time` too, have been looked at
  /// @param written of the successive states, those that have been written
  Schedule(const ScheduleOptions& options, bool begun, double time, std::int64_t written)
      : o_(options), written_(written), reached_(begun && time >= options.consecutive_from) {
    while (begun && next_ < o_.snapshots && time_of(next_) <= time) ++next_;
  }

  /// Whether the state at this time becomes a snapshot. Called once for each state, in order.
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
  /// Whether the state at this time is the last one.
  [[nodiscard]] bool last(double time) const { return time >= o_.until && written_ >= o_.consecutive; }
  /// Successive states written so far.
  [[nodiscard]] std::int64_t consecutive() const noexcept { return written_; }

 private:
  /// One alone is at the end.
  [[nodiscard]] double time_of(std::int64_t snapshot) const {
    if (snapshot + 1 >= o_.snapshots) return o_.until;
    return o_.snapshots_from +
           static_cast<double>(snapshot) * (o_.until - o_.snapshots_from) / static_cast<double>(o_.snapshots - 1);
  }

  ScheduleOptions o_;
  std::int64_t next_ = 0;  // of the snapshots evenly in time
  std::int64_t written_;
  bool reached_;  // the state from which the successive ones count is behind
};

}  // namespace merganser::app
