#pragma once
/// Table of `cluster --csv`: one line for each step and rank, stored compactly on its rank until the run has ended.
#include <array>
#include <cstdint>
#include <deque>
#include <string>

#include "merganser/cluster/cluster.hpp"

namespace merganser::app {

/// Store of one rank's reports of merge steps for cluster --csv.
class StepTable {
 public:
  /// Bytes of a merge step on each rank, and of its line in the text on rank 0, for forecasts of memory.
  static constexpr double kBytesPerStep = 42;
  static constexpr double kBytesPerLine = 128;

  /// Appends this rank's report of the next merge step. Local.
  void add(const StepReport& mine);
  /// Formats the whole table of --csv on rank 0; returns an empty text on the others. Collective; all ranks have added the same
  /// number of steps.
  [[nodiscard]] std::string to_csv(comm::Transport& transport) const;

 private:
  /// Counts of parcels and times by stage of one merge step on one rank. 32 bits suffice: a rank has fewer than 2^32 parcels, and
  /// clocks are no better than seven digits.
  struct Line {
    std::array<std::uint32_t, 4> counts;  ///< parcels before, small, merged away, after
    std::array<float, 6> seconds;         ///< times by stage
  };
  static void append_line(const Line& line, std::size_t step, std::size_t rank, std::string& out);

  std::deque<Line> lines_;
};

}  // namespace merganser::app
