#pragma once
/// The table of `cluster --csv`: a line for each step and rank, kept small until the run has ended.
#include <array>
#include <cstdint>
#include <deque>
#include <string>

#include "merganser/cluster/cluster.hpp"

namespace merganser::app {

class StepTable {
 public:
  /// Memory of a step on each rank, and of its line in the text on rank 0, for forecasts.
  static constexpr double kBytesPerStep = 42;
  static constexpr double kBytesPerLine = 128;

  /// This rank's report of the next step.
  void add(const StepReport& mine);
  /// The whole table on rank 0, empty on the others. Collective; ranks have added as many steps.
  [[nodiscard]] std::string text(comm::Transport& transport) const;

 private:
  /// A rank has less than 2^32 parcels; clocks are no better than seven digits.
  struct Line {
    std::array<std::uint32_t, 4> counts;  ///< before, small, merged, after
    std::array<float, 6> seconds;         ///< by stage
  };
  static void print(const Line& line, std::size_t step, std::size_t rank, std::string& out);

  std::deque<Line> lines_;
};

}  // namespace merganser::app
