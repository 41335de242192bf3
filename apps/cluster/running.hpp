#pragma once
/// How a run of several steps goes on: totals over all ranks, some steps old, without a collective.
#include <cstdint>
#include <string>

#include "apps/frame/progress.hpp"
#include "merganser/announce/shared_numbers.hpp"
#include "merganser/base/pinned.hpp"
#include "merganser/cluster/cluster.hpp"

namespace merganser::app {

/// Tells every rank's counts to every rank over an announcement network, one hop per step, and shows the totals on rank 0:
/// as a line of log (info), or on a terminal as one line that changes and goes away in the end.
class RunningTotals : Pinned {
 public:
  /// Collective.
  /// @param steps     that the run will make
  /// @param one_line  on rank 0 also show them as a line of a terminal that changes
  RunningTotals(comm::Transport& transport, int steps, bool one_line);

  /// This rank's report of the step just made. Called by every rank after each step; one message per arc, no collective.
  void add(const StepReport& mine);

  /// Steps of the run that the totals are old: those of add() number i are what ranks had after step i - age().
  [[nodiscard]] int age() const noexcept { return totals_.age() - 1; }
  /// Whether there are totals yet: from the step age() + 1 on.
  [[nodiscard]] bool known() const noexcept { return totals_.complete(); }
  [[nodiscard]] std::int64_t parcels() const { return static_cast<std::int64_t>(totals_.sum(0)); }  ///< now
  [[nodiscard]] std::int64_t merged() const { return static_cast<std::int64_t>(totals_.sum(1)); }   ///< so far
  [[nodiscard]] const announce::AnnouncementStatistics& statistics() const noexcept { return network_.statistics(); }
  [[nodiscard]] const std::string& network_name() const noexcept { return name_; }

 private:
  void show();

  int steps_;
  std::int64_t merged_ = 0;  // here
  std::string name_;
  announce::AnnouncementNetwork network_;
  announce::SharedNumbers totals_;
  ProgressLine line_;
};

}  // namespace merganser::app
