#include "apps/flow/schedule.hpp"

namespace merganser::app {

Schedule::Schedule(const ScheduleOptions& options, bool begun, double time, std::int64_t written)
    : o_(options), written_(written), reached_(begun && time >= options.consecutive_from) {
  while (begun && next_ < o_.snapshots && time_of(next_) <= time) ++next_;
}

/// One alone is at the end.
double Schedule::time_of(std::int64_t snapshot) const {
  if (snapshot + 1 >= o_.snapshots) return o_.until;
  return o_.snapshots_from +
         static_cast<double>(snapshot) * (o_.until - o_.snapshots_from) / static_cast<double>(o_.snapshots - 1);
}

bool Schedule::due(double time) {
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

bool Schedule::last(double time) const { return time >= o_.until && written_ >= o_.consecutive; }

}  // namespace merganser::app
