#include "src/comm/detail/auto_choice.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "merganser/stats/decision.hpp"

namespace merganser::comm::detail {
namespace {

constexpr int kWarmUp = 2;
constexpr int kRounds = 7;
constexpr int kPasses = 3;              // each measures every model, the odd ones backwards
constexpr double kEnoughNs = 1e9;       // of measured time; no further pass after it
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

/// Times of a wave and a round of records, each that of the slowest rank; the same on every rank.
std::vector<double> measure_ns(Transport& transport, const Graph& graph) {
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
    if (round >= kWarmUp) times.push_back(std::max<std::int64_t>(1, time.count()));
  }
  transport.all_reduce(times, Op::max);
  return {times.begin(), times.end()};
}

/// What is known of one model.
struct Trial {
  const BackendEntry* entry;
  Candidate candidate;
  std::string failure;
};

/// Measures a model once more. @return nanoseconds spent, the same on every rank
double measure(Trial& trial, const RunOptions& options) {
  try {
    std::vector<double> times;
    trial.entry->run(1, [&](TransportBase& transport) {
      const auto& pattern = options.pattern ? options.pattern : grid_graph;
      times = measure_ns(transport, pattern(transport.rank(), transport.size()));
    });
    double sum = 0;
    for (const double t : times) sum += t;
    trial.candidate.launches.push_back(std::move(times));
    return sum;
  } catch (const CommError& e) {
    // An error all ranks agree on leaves them together; any other must end the job.
    if (!was_agreed(e)) throw;
    trial.failure = e.what();
    return 0;
  }
}

/// One line about what was measured. `order` holds the models of the decision.
std::string describe(const std::vector<Trial>& trials, const std::vector<const Trial*>& order,
                     const Decision& decision) {
  std::string line;
  for (const auto& t : trials) {
    line += line.empty() ? "auto measured a wave and a round of records in turns: " : ", ";
    line += t.candidate.name;
    if (!t.failure.empty()) {
      line += " failed (" + t.failure + ")";
      continue;
    }
    const auto at = static_cast<std::size_t>(std::find(order.begin(), order.end(), &t) - order.begin());
    char text[32];
    std::snprintf(text, sizeof text, " %.1f us", decision.of(at).time / 1000);
    line += text;
  }
  if (order.empty()) return line;
  std::string ties;
  for (const auto& s : decision.order) {
    const bool equal = s.near_tie || s.candidate == decision.order.front().candidate;
    if (s.candidate != decision.chosen && equal)
      ties += (ties.empty() ? "" : ", ") + order[s.candidate]->candidate.name;
  }
  const std::string& picked = order[decision.chosen]->candidate.name;
  if (!ties.empty()) line += "; near tie of " + picked + " with " + ties;
  return line + "; picked " + picked;
}

}  // namespace

Choice choose(const RunOptions& options) {
  std::vector<Trial> trials;
  for (const auto* entry : backend_entries()) {
    if (entry->info.processes) trials.push_back({entry, {std::string(entry->info.name), {}, 0}, ""});
  }
  double spent = 0;
  for (int pass = 0; pass < kPasses && spent < kEnoughNs; ++pass) {
    for (std::size_t i = 0; i < trials.size(); ++i) {
      Trial& trial = trials[pass % 2 == 0 ? i : trials.size() - 1 - i];
      if (trial.failure.empty()) spent += measure(trial, options);
    }
  }
  std::vector<const Trial*> order;
  std::vector<Candidate> candidates;
  for (const auto& t : trials) {
    if (!t.failure.empty()) continue;
    order.push_back(&t);
    candidates.push_back(t.candidate);
  }
  if (candidates.empty()) {
    std::string text = "a launcher started several ranks, but no model for processes works here";
    for (const auto missing : missing_backend_names()) text += "; " + std::string(missing);
    const std::string line = describe(trials, order, {});
    throw UsageError(line.empty() ? text : text + "; " + line);
  }
  // Every rank decides for itself on the same numbers, so all decide the same.
  const Decision decision = decide(candidates, {.resamples = 200});
  return {order[decision.chosen]->entry, describe(trials, order, decision)};
}

}  // namespace merganser::comm::detail
