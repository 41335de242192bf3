// Measurement behind the communication model "auto": every model of processes is timed on a Mailbox wave and a Stream round, in
// turns over several passes, and a rule chooses by the times.
#include "src/comm/detail/auto_choice.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "merganser/base/error.hpp"
#include "merganser/base/timing.hpp"
#include "src/comm/detail/self_test.hpp"

namespace merganser::comm::detail {
namespace {

constexpr int kWarmUp = 2;              // rounds before the measured ones
constexpr int kRounds = 7;              // measured rounds per pass
constexpr int kPasses = 3;              // each measures every model, the odd ones backwards
constexpr double kTie = 0.05;           // relative differences of times up to this count as a tie
constexpr double kEnoughNs = 1e9;       // no further pass begins after this much measured time
constexpr std::size_t kRecords = 64;    // Stream records per arc, like the labels of a merge step
constexpr std::size_t kMessage = 4096;  // bytes of a Mailbox message, like the announcements of a merge step

/// Returns one rank's part of the default process graph on which "auto" measures communication models: the eight neighbours in a
/// near-square periodic grid of ranks, as most decompositions have.
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

/// Measures a communication model: returns the times in ns of a Mailbox wave with a Stream round, each the maximum over
/// ranks; the same on every rank. Collective.
std::vector<double> measure_ns(Transport& transport, const Graph& graph) {
  const auto mailbox = transport.mailbox(graph);
  const auto stream = transport.stream(graph, {.slots_per_arc = kRecords});
  const std::vector<std::size_t> counts_out(graph.out.size(), kRecords);
  const std::vector<std::size_t> counts_in(graph.in.size(), kRecords);
  const Bytes message(kMessage);
  std::vector<double> times = time_repeats(
      {kRounds, kWarmUp}, [](std::int64_t) {},
      [&](std::int64_t) {
        for (std::size_t arc = 0; arc < graph.out.size(); ++arc) mailbox->outbox(arc) = message;
        mailbox->step();
        stream->open(counts_out, counts_in);
        for (std::size_t arc = 0; arc < graph.out.size(); ++arc) {
          for (std::size_t slot = 0; slot < kRecords; ++slot) stream->send(arc, slot, 1);
        }
        while (stream->take([](std::size_t, std::size_t, std::uint32_t) {}) > 0) stream->wait();
        stream->finish();
      });
  for (double& time : times) time = std::max(1.0, 1e9 * time);
  transport.all_reduce(times, Op::max);
  return times;
}

/// Measurements of one communication model for the choice "auto", or the error that ended them; filled by measure().
struct ModelTrial {
  const BackendEntry* entry;  // the model
  MeasuredModel measured;     // times of its passes
  std::string failure;        // error that all ranks agreed on, by which the model is left out; empty if none
};

/// Returns the median of times of a communication model; of an even number of values the mean of the middle two, in a form that
/// does not overflow.
double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  const std::size_t upper = x.size() / 2;
  return x.size() % 2 == 1 ? x[upper] : x[upper - 1] + 0.5 * (x[upper] - x[upper - 1]);
}

/// Makes one pass of the measurement of a communication model for "auto" and appends its times to `trial`. Returns the time spent
/// in ns, the same on every rank, so that all ranks end the passes alike. Collective.
double measure(ModelTrial& trial, const Candidates& candidates) {
  try {
    std::vector<double> times;
    candidates.visit(*trial.entry, [&](TransportBase& transport) {
      run_self_test(transport);  // at the first pass; a model that delivers wrong bits is not measured
      const auto& pattern = candidates.pattern ? candidates.pattern : grid_graph;
      times = measure_ns(transport, pattern(transport.rank(), transport.size()));
    });
    double sum = 0;
    for (const double t : times) sum += t;
    trial.measured.passes_ns.push_back(std::move(times));
    return sum;
  } catch (const CommError& e) {
    // An error all ranks agree on leaves them together; any other must end the job.
    if (!was_agreed(e)) throw;
    trial.failure = e.what();
    return 0;
  }
}

/// Formats the times and errors of all communication models that "auto" measured on one line, for Transport::choice().
std::string describe(const std::vector<ModelTrial>& trials) {
  std::string line;
  for (const auto& t : trials) {
    line += line.empty() ? "auto measured a wave and a round of records in turns: " : ", ";
    line += t.measured.name;
    char text[32];
    std::snprintf(text, sizeof text, " %.1f us", t.measured.time_ns / 1000);
    line += t.failure.empty() ? text : " failed (" + t.failure + ")";
  }
  return line;
}

}  // namespace

// Candidates of the choice "auto" under a launcher: all models whose ranks are processes.
std::vector<const BackendEntry*> process_models() {
  std::vector<const BackendEntry*> models;
  for (const auto* entry : backend_entries())
    if (entry->info.processes) models.push_back(entry);
  return models;
}

// Rule of the communication model "auto": models are measured in turns over several passes, so that a slow phase of the
// machine hits all; a model that fails is left out.
Choice measure_and_choose(const Candidates& candidates) {
  std::vector<ModelTrial> trials;
  for (const auto* entry : candidates.models) trials.push_back({entry, {entry->info.name, {}, 0}, ""});
  double spent = 0;
  for (int pass = 0; pass < kPasses && spent < kEnoughNs; ++pass) {
    for (std::size_t i = 0; i < trials.size(); ++i) {
      ModelTrial& trial = trials[turn_index(pass, i, trials.size())];
      if (trial.failure.empty()) spent += measure(trial, candidates);
    }
  }
  std::vector<const BackendEntry*> entries;
  std::vector<MeasuredModel> models;
  for (auto& t : trials) {
    if (!t.failure.empty()) continue;
    std::vector<double> medians;
    for (const auto& pass : t.measured.passes_ns) medians.push_back(median(pass));
    t.measured.time_ns = median(std::move(medians));
    entries.push_back(t.entry);
    models.push_back(t.measured);
  }
  std::string line = describe(trials);
  if (models.empty()) {
    std::string text = "there are several ranks, but no model of processes works here";
    for (const auto missing : missing_backend_names()) text += "; " + std::string(missing);
    throw UsageError(line.empty() ? text : text + "; " + line);
  }
  // Every rank decides for itself on the same numbers, so all decide the same.
  const ModelChoice choice = candidates.choose ? candidates.choose(models) : first_of_the_fastest(models);
  const auto name = [&models](std::size_t i) {
    if (i < models.size()) return std::string(models[i].name);
    throw UsageError("the decision names model " + std::to_string(i) + "; allowed: 0 to " +
                     std::to_string(models.size() - 1));
  };
  const std::string picked = name(choice.chosen);
  std::string ties;
  for (const std::size_t i : choice.equals) ties += (ties.empty() ? "" : ", ") + name(i);
  if (!ties.empty()) line += "; also within 5 % of the fastest, or not told apart from it: " + ties;
  return {entries[choice.chosen], line + "; picked " + picked};
}

}  // namespace merganser::comm::detail

namespace merganser::comm {

// Default decision of "auto": among equally fast models the order of backends() decides, so that the choice does not
// change from run to run.
ModelChoice first_of_the_fastest(std::span<const MeasuredModel> models) {
  if (models.empty()) throw UsageError("a choice among no models; allowed: at least one");
  double least = models.front().time_ns;
  for (const auto& m : models) least = std::min(least, m.time_ns);
  std::vector<std::size_t> tied;
  for (std::size_t i = 0; i < models.size(); ++i)
    if (models[i].time_ns <= least * (1 + detail::kTie)) tied.push_back(i);
  return {tied.front(), {tied.begin() + 1, tied.end()}};
}

}  // namespace merganser::comm
