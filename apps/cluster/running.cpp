#include "apps/cluster/running.hpp"

#include <fmt/core.h>

#include "apps/frame/table.hpp"
#include "merganser/base/log.hpp"

namespace merganser::app {
namespace {

constexpr int kDimension = 3;

announce::ManhattanStreetNetwork network_for(const comm::Transport& t) { return {t.size(), kDimension}; }

}  // namespace

RunningTotals::RunningTotals(comm::Transport& transport, int steps, bool one_line)
    : steps_(steps),
      name_(network_for(transport).describe()),
      network_(transport, network_for(transport)),
      totals_(network_, 2),
      line_(transport.rank() == 0 && one_line) {}

void RunningTotals::add(const StepReport& mine) {
  merged_ += mine.merged;
  const double numbers[] = {static_cast<double>(mine.after), static_cast<double>(merged_)};
  totals_.publish(numbers);
  network_.step();
  if (network_.rank() == 0) show();
}

void RunningTotals::show() {
  if (!known()) return;
  const auto made = network_.now();
  std::string line = fmt::format("step {} of {}: ", made, steps_);
  line += count_text(parcels()) + " parcels, " + count_text(merged()) + " merged so far";
  if (age() > 0) line += fmt::format(", as of step {} ({} ago)", made - age(), age());
  log(Level::info, 0, line);
  line_.show(std::move(line));
}

}  // namespace merganser::app
