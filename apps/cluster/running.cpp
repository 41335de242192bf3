// Progress of cluster --steps: counts of parcels and merges spread over an announcement network, one hop in each merge step.
#include "apps/cluster/running.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "apps/frame/table.hpp"
#include "merganser/base/log.hpp"

namespace merganser::app {

bool shows_one_line(const OptionTable& table) {
  const auto& all = table.options();
  const auto log = std::find_if(all.begin(), all.end(), [](const auto& o) { return o.name == "log"; });
  const OptionValue level = log == all.end() ? OptionValue() : log->value();
  const auto* word = std::get_if<std::string>(&level);
  const bool logged = word != nullptr && (*word == "info" || *word == "debug");
  return !logged;
}

namespace {

constexpr int kDimension = 3;  // of the Manhattan Street Network: out-arcs of a rank

/// Returns the announcement network over which the ranks of a transport spread their counts of parcels.
announce::ManhattanStreetNetwork progress_network(const comm::Transport& t) { return {t.size(), kDimension}; }

}  // namespace

RunningTotals::RunningTotals(comm::Transport& transport, int steps, bool one_line)
    : steps_(steps),
      name_(progress_network(transport).describe()),
      network_(transport, progress_network(transport)),
      totals_(network_, 2),
      line_(transport.rank() == 0 && one_line) {}

void RunningTotals::add(const StepReport& mine) {
  merged_ += mine.merged;
  const double numbers[] = {static_cast<double>(mine.after), static_cast<double>(merged_)};
  totals_.publish(numbers);
  network_.step();
  if (network_.rank() == 0) show();
}

/// Shows the totals of parcels and merges that have arrived, with the step that they are of. On rank 0.
void RunningTotals::show() {
  if (!is_complete()) return;
  const auto made = network_.now();
  std::string line = fmt::format("step {} of {}: ", made, steps_);
  line += count_text(parcels()) + " parcels, " + count_text(merged()) + " merged so far";
  if (age() > 0) line += fmt::format(", as of step {} ({} ago)", made - age(), age());
  log(Level::info, 0, line);
  line_.show(std::move(line));
}

}  // namespace merganser::app
