// Table of cluster --csv: compact lines of each merge step, gathered on rank 0 in blocks of steps to bound its memory.
#include "apps/cluster/step_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "apps/frame/gather.hpp"
#include "merganser/comm/collectives.hpp"

namespace merganser::app {
namespace {

constexpr std::size_t kBlock = 4096;  // steps that are sent to rank 0 at a time

/// Appends a time of a merge step to the CSV text, in the shortest form that reads back to the same float.
void append(std::string& out, float x) {
  std::array<char, 32> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), x);
  out.append(text.data(), end);
}

}  // namespace

void StepTable::add(const StepReport& mine) {
  const auto count = [](std::int64_t n) { return static_cast<std::uint32_t>(n); };
  const auto time = [](double s) { return static_cast<float>(s); };
  const StageTimes& s = mine.seconds;
  lines_.push_back({{count(mine.before), count(mine.small), count(mine.merged), count(mine.after)},
                    {time(s.search), time(s.exchange), time(s.graph), time(s.prune), time(s.migrate), time(s.merge)}});
}

/// Appends the CSV line of one merge step on one rank: counts, times by stage, their sum.
void StepTable::append_line(const Line& line, std::size_t step, std::size_t rank, std::string& out) {
  out += fmt::format("{},{}", step, rank);
  for (const auto n : line.counts) out += fmt::format(",{}", n);
  float total = 0;
  for (const float s : line.seconds) {
    out += ',';
    append(out, s);
    total += s;
  }
  out += ',';
  append(out, total);
  out += '\n';
}

// CSV of cluster --csv on rank 0: reports of all ranks are gathered in blocks of kBlock merge steps.
std::string StepTable::to_csv(comm::Transport& transport) const {
  std::string out;
  if (transport.rank() == 0) {
    out = "step,rank,before,small,merged,after";
    for (const char* stage : kStages) out += std::string(",") + stage + "_s";
    out += '\n';
  }
  for (std::size_t first = 0; first < lines_.size(); first += kBlock) {
    const std::size_t count = std::min(kBlock, lines_.size() - first);
    const std::vector<Line> mine(lines_.begin() + static_cast<std::ptrdiff_t>(first),
                                 lines_.begin() + static_cast<std::ptrdiff_t>(first + count));
    const auto from = comm::gather_to_first(transport, mine);
    if (transport.rank() != 0) continue;
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t rank = 0; rank < from.size(); ++rank) append_line(from[rank][i], first + i + 1, rank, out);
  }
  return out;
}

}  // namespace merganser::app
