#include "auto_choice.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace merganser::comm::detail {
namespace {

constexpr int kWarmUp = 3;
constexpr int kRounds = 15;
constexpr std::size_t kRecords = 64;    // per arc, like the labels of a merge step
constexpr std::size_t kMessage = 4096;  // bytes per arc, like its announcements

/// The eight neighbours in a near-square periodic grid of ranks: what most decompositions come to.
Graph grid_graph(int rank, int size) {
  int columns = static_cast<int>(std::sqrt(static_cast<double>(size)));
  while (size % columns != 0) --columns;
  const int rows = size / columns;
  std::vector<int> neighbours;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      const int x = (rank % columns + dx + columns) % columns;
      const int y = (rank / columns + dy + rows) % rows;
      const int other = y * columns + x;
      if (other != rank && std::find(neighbours.begin(), neighbours.end(), other) == neighbours.end()) {
        neighbours.push_back(other);
      }
    }
  }
  return Graph::symmetric(neighbours);
}

/// Time of one wave and one round of records: the median over rounds, the slowest rank's.
std::int64_t measure_ns(Transport& transport, const Graph& graph) {
  const auto mailbox = transport.mailbox(graph);
  const auto stream = transport.stream(graph, {.slots_per_arc = kRecords});
  const std::vector<std::size_t> counts_out(graph.out.size(), kRecords);
  const std::vector<std::size_t> counts_in(graph.in.size(), kRecords);
  const Bytes message(kMessage);
  std::vector<std::int64_t> times;
  for (int round = 0; round < kWarmUp + kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t arc = 0; arc < graph.out.size(); ++arc) mailbox->outbox(arc) = message;
    mailbox->step();
    stream->open(counts_out, counts_in);
    for (std::size_t arc = 0; arc < graph.out.size(); ++arc) {
      for (std::size_t slot = 0; slot < kRecords; ++slot) stream->send(arc, slot, 1);
    }
    while (stream->take([](std::size_t, std::size_t, std::uint32_t) {}) > 0) stream->wait();
    stream->finish();
    const std::chrono::nanoseconds time = std::chrono::steady_clock::now() - start;
    if (round >= kWarmUp) times.push_back(time.count());
  }
  std::nth_element(times.begin(), times.begin() + kRounds / 2, times.end());
  return transport.all_reduce(times[kRounds / 2], Op::max);
}

}  // namespace

Choice choose(const RunOptions& options) {
  Choice choice;
  std::int64_t best = 0;
  for (const auto* entry : backend_entries()) {
    if (!entry->info.processes) continue;
    choice.line += choice.line.empty() ? "auto measured a wave and a round of records: " : ", ";
    choice.line += std::string(entry->info.name);
    try {
      std::int64_t time = 0;
      entry->run(1, [&](TransportBase& transport) {
        const auto& pattern = options.pattern ? options.pattern : grid_graph;
        time = measure_ns(transport, pattern(transport.rank(), transport.size()));
      });
      char text[32];
      std::snprintf(text, sizeof text, " %.1f us", static_cast<double>(time) / 1000);
      choice.line += text;
      if (choice.entry == nullptr || time < best) {
        choice.entry = entry;
        best = time;
      }
    } catch (const CommError& e) {
      // An error all ranks agree on leaves them together; any other must end the job.
      if (!was_agreed(e)) throw;
      choice.line += " failed (" + std::string(e.what()) + ")";
    }
  }
  if (choice.entry == nullptr) {
    std::string text = "a launcher started several ranks, but no model for processes works here";
    for (const auto missing : missing_backend_names()) text += "; " + std::string(missing);
    throw UsageError(choice.line.empty() ? text : text + "; " + choice.line);
  }
  choice.line += "; picked " + std::string(choice.entry->info.name);
  return choice;
}

}  // namespace merganser::comm::detail
