#include "support/running.hpp"

#include <iostream>

#include "merganser/base/log.hpp"
#include "merganser/base/timer.hpp"
#include "support/table.hpp"

namespace merganser::app {
namespace {

constexpr int kDimension = 3;
constexpr double kSecondsBetweenLines = 0.2;
constexpr std::size_t kColumns = 78;

void erase_line() { std::cerr << '\r' << std::string(kColumns, ' ') << '\r' << std::flush; }

announce::ManhattanStreetNetwork network_for(const comm::Transport& t) { return {t.size(), kDimension}; }

}  // namespace

RunningTotals::RunningTotals(comm::Transport& transport, int steps, bool one_line)
    : steps_(steps),
      name_(network_for(transport).describe()),
      network_(transport, network_for(transport)),
      totals_(network_, 2),
      one_line_(transport.rank() == 0 && one_line) {}

RunningTotals::~RunningTotals() {
  if (shown_ >= 0) erase_line();
}

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
  std::string line = "step " + std::to_string(made) + " of " + std::to_string(steps_) + ": ";
  line += count_text(parcels()) + " parcels, " + count_text(merged()) + " merged so far";
  if (age() > 0) line += ", as of step " + std::to_string(made - age()) + " (" + std::to_string(age()) + " ago)";
  log(Level::info, 0, line);
  if (!one_line_ || (shown_ >= 0 && now() - shown_ < kSecondsBetweenLines)) return;
  shown_ = now();
  line.resize(kColumns, ' ');
  std::cerr << '\r' << line << std::flush;
}

}  // namespace merganser::app
