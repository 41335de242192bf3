#pragma once
/// Progress of a run of several merge steps: totals over all ranks, some steps old, without a collective.
#include <cstdint>
#include <string>

#include "apps/frame/progress.hpp"
#include "merganser/announce/shared_numbers.hpp"
#include "merganser/base/options.hpp"
#include "merganser/base/pinned.hpp"
#include "merganser/cluster/cluster.hpp"

namespace merganser::app {

/// Returns true if the progress of cluster is shown as one line that is rewritten: not at log levels info and debug, which print
/// lines.
[[nodiscard]] bool shows_one_line(const OptionTable& table);

/// Running totals of parcels and merges of a run of several merge steps. Every rank announces its counts to every rank over an
/// announcement network, one hop per step; rank 0 shows the totals as log lines (level info), or on a terminal as one line that is
/// rewritten and erased at the end.
class RunningTotals : Pinned {
 public:
  /// Creates the announcement network. Collective.
  /// @param steps     number of steps that the run will make
  /// @param one_line  on rank 0 show the totals also as a line of the terminal that is rewritten
  RunningTotals(comm::Transport& transport, int steps, bool one_line);

  /// Announces this rank's report of the step just made, and shows the totals that have arrived. Called by every rank after each
  /// step; one message per arc, no collective.
  void add(const StepReport& mine);

  /// Returns the age of the totals in steps: after the i-th add() they are those after step i - age().
  [[nodiscard]] int age() const noexcept { return totals_.age() - 1; }
  /// Returns true once totals of all ranks have arrived: from step age() + 1 on.
  [[nodiscard]] bool is_complete() const noexcept { return totals_.complete(); }
  /// Returns the number of parcels of all ranks, age() steps ago.
  [[nodiscard]] std::int64_t parcels() const { return static_cast<std::int64_t>(totals_.sum(0)); }
  /// Returns the number of parcels of all ranks merged away until age() steps ago.
  [[nodiscard]] std::int64_t merged() const { return static_cast<std::int64_t>(totals_.sum(1)); }
  /// Returns the counts of this rank's messages in the announcement network.
  [[nodiscard]] const announce::AnnouncementStatistics& statistics() const noexcept { return network_.statistics(); }
  /// Returns the kind and extents of the announcement network.
  [[nodiscard]] const std::string& network_name() const noexcept { return name_; }

 private:
  void show();

  int steps_;
  std::int64_t merged_ = 0;  // merged away on this rank so far
  std::string name_;
  announce::AnnouncementNetwork network_;
  announce::SharedNumbers totals_;
  ProgressLine line_;
};

}  // namespace merganser::app
