// Measurements of bench msf on the ranks of one launch: forests, collectives, exchanges along an arc, properties of graphs.
#include <algorithm>
#include <functional>
#include <map>

#include "apps/bench_msf/bench_msf.hpp"
#include "apps/frame/ranks.hpp"
#include "apps/graph/input.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/timing.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/kernels/exchange.hpp"
#include "merganser/mnd/mnd.hpp"
#include "merganser/msf/verify.hpp"
#include "merganser/topology/measure.hpp"

namespace merganser::app {
namespace {

/// Returns the element-wise maximum over ranks of times in seconds, so those of the slowest rank. Collective.
std::vector<double> slowest(comm::Transport& t, std::vector<double> mine) {
  t.all_reduce(std::span(mine), comm::Op::max);
  return mine;
}

/// Reads or generates a graph of bench msf. Collective. @return this rank's edges
graphs::EdgeList load(const BenchGraph& graph, comm::Transport& t) {
  GraphInput input;
  (graph.file ? input.file : input.gen) = graph.name;
  return collective_try([&] { return load_graph(input, t).graph; });
}

/// Returns the largest degree of a distributed graph, counted in edge ends: each rank counts ends by vertex, then the owner of a
/// vertex adds up the counts. Collective.
std::int64_t max_degree(const graphs::EdgeList& graph, comm::Transport& t) {
  struct Count {
    std::uint64_t vertex;
    std::int64_t ends;  // edge ends of this rank's edges at the vertex
  };
  const auto ranges = graphs::Ranges::even(graph.vertices, t.size());
  std::vector<std::uint64_t> ends;
  ends.reserve(2 * graph.size());
  graph.for_each([&](const auto& e) {
    ends.push_back(e.low);
    ends.push_back(e.high);
  });
  std::sort(ends.begin(), ends.end());
  std::vector<std::vector<Count>> out(static_cast<std::size_t>(t.size()));
  for (std::size_t i = 0; i < ends.size();) {
    std::size_t end = i;
    while (end < ends.size() && ends[end] == ends[i]) ++end;
    out[static_cast<std::size_t>(ranges.owner(ends[i]))].push_back({ends[i], static_cast<std::int64_t>(end - i)});
    i = end;
  }
  std::vector<std::int64_t> degree(ranges.size(t.rank()), 0);
  for (const auto counts : comm::all_to_all(t, std::move(out)))
    for (const Count& count : counts)
      degree[count.vertex - ranges.first[static_cast<std::size_t>(t.rank())]] += count.ends;
  const auto greatest = std::max_element(degree.begin(), degree.end());
  return t.all_reduce(greatest == degree.end() ? 0 : *greatest, comm::Op::max);
}

/// Computes the properties of a graph of bench msf: vertices, edges, largest degree, bytes. Collective.
GraphFacts compute_facts(const BenchGraph& name, const graphs::EdgeList& graph, comm::Transport& t) {
  const std::size_t edge_bytes = std::visit(
      [](const auto& list) { return sizeof(typename std::decay_t<decltype(list)>::value_type); }, graph.edges);
  GraphFacts facts;
  facts.graph = name.name;
  facts.vertices = static_cast<std::int64_t>(graph.vertices);
  facts.edges = t.all_reduce(static_cast<std::int64_t>(graph.size()), comm::Op::sum);
  facts.max_degree = max_degree(graph, t);
  facts.bytes = facts.edges * static_cast<std::int64_t>(edge_bytes);
  return facts;
}

/// Converts style and post-processing of a case of bench msf to options of the published spanning forest algorithm (mnd).
mnd::MndOptions to_mnd_options(const ForestCase& what) {
  mnd::MndOptions o;
  o.style = what.style == "baseline" ? mnd::MndStyle::baseline : mnd::MndStyle::tuned;
  o.post = what.post == "leader" ? mnd::MndPost::leader : mnd::MndPost::single;
  return o;
}

/// Repeated runs of one case of bench msf, a graph and a method of finding its forest. Every member is called by all ranks.
class ForestRun {
 public:
  /// Starts without a run. @param t  transport of the case's model
  ForestRun(ForestCase what, comm::Transport& t) : t_(t) {
    result_.what = std::move(what);
    result_.ranks = t.size();
  }

  /// Finds the spanning forest once and records times and traffic; nothing after a failure. Collective.
  /// @param check  true: verify the forest, outside the clock @throws CollectiveError if two runs found different forests
  void run_once(const graphs::EdgeList& graph, bool check) {
    if (!result_.failure.empty()) return;
    try {
      msf::Report report;
      msf::Forest forest;
      comm::Counters before;
      const auto ready = [&](std::int64_t) {
        t_.barrier();
        before = t_.counters();
      };
      const auto find = [&](std::int64_t) { forest = mnd::mnd(graph, t_, to_mnd_options(result_.what), report); };
      const double seconds = time_repeats({}, ready, find).front();
      add_run(seconds, t_.counters() - before, report);
      const std::string digest = msf::totals(forest, t_).digest;
      if (!result_.digest.empty() && result_.digest != digest)
        throw CollectiveError(VerificationError(result_.what.graph.name + ": two runs of " + result_.what.model + " " +
                                                result_.what.style + " found different forests"));
      result_.digest = digest;
      if (check) verify(graph, forest);
    } catch (const CommError& e) {  // on all ranks alike, as when the symmetric heap is too small
      result_.failure = e.what();
    }
  }

  /// Returns the times and traffic of all runs of the case, with the median time of each phase.
  [[nodiscard]] ForestResult finish() {
    for (auto& phase : result_.phases) phase.seconds = median(phase_seconds_[phase.name]);
    return std::move(result_);
  }

 private:
  /// Adds times and traffic of one run: the largest time over ranks, and the sums of bytes and messages. Collective.
  void add_run(double seconds, const comm::Counters& moved, const msf::Report& report) {
    std::vector<double> times{seconds};
    std::vector<std::int64_t> counts{moved.bytes + moved.bytes_got, moved.messages + moved.puts + moved.gets};
    for (const auto& p : report.phases()) {
      times.push_back(p.seconds);
      counts.push_back(p.counts.bytes + p.counts.bytes_got);
      counts.push_back(p.counts.messages + p.counts.puts + p.counts.gets);
    }
    times = slowest(t_, std::move(times));
    t_.all_reduce(std::span(counts), comm::Op::sum);
    result_.seconds.push_back(times[0]);
    result_.bytes = counts[0];
    result_.messages = counts[1];
    result_.phases.clear();
    for (std::size_t i = 0; i < report.phases().size(); ++i) {
      const auto& name = report.phases()[i].name;
      result_.phases.push_back({name, 0, counts[2 + 2 * i], counts[3 + 2 * i]});
      phase_seconds_[name].push_back(times[1 + i]);
    }
  }

  /// Verifies that a forest is a minimum spanning forest of the graph. Collective. @throws VerificationError on every rank if not
  void verify(const graphs::EdgeList& graph, const msf::Forest& forest) {
    msf::Report report;
    const auto found = msf::verify_forest(graph, forest, msf::Sense::minimum, t_, report);
    if (!found.is_correct()) throw CollectiveError(VerificationError(result_.what.graph.name + ": " + found.witness));
  }

  comm::Transport& t_;
  ForestResult result_;
  std::map<std::string, std::vector<double>> phase_seconds_;
};

/// Open transports over the same ranks, one of each model that a launch of bench msf measures.
using Transports = std::vector<comm::Transport*>;

/// Returns the open transport of a model. @throws UsageError if it is not open
comm::Transport& find_transport(const std::string& model, const Transports& transports) {
  const auto at = std::find_if(transports.begin(), transports.end(), [&](auto* t) { return t->name() == model; });
  if (at == transports.end())
    throw UsageError("model " + model + " is not open on these ranks; allowed: models of the plan");
  return **at;
}

/// Measures the spanning forests of a launch of bench msf. Collective. Cases of one graph, of all models, are run in turns, so that
/// a drift of the machine affects all of them.
void measure_forests(const MsfWork& work, const Transports& transports, MsfResults& results) {
  std::vector<BenchGraph> names;
  for (const auto& c : work.forests)
    if (std::find(names.begin(), names.end(), c.graph) == names.end()) names.push_back(c.graph);
  comm::Transport& first = *transports.front();
  for (const auto& name : names) {
    const graphs::EdgeList graph = load(name, first);
    std::vector<ForestRun> runs;
    for (const auto& c : work.forests)
      if (c.graph == name) runs.emplace_back(c, find_transport(c.model, transports));
    for (int repeat = 0; repeat < work.repeats; ++repeat)
      for (auto& run : runs) run.run_once(graph, repeat == 0);
    for (auto& run : runs) {
      auto result = run.finish();
      if (first.rank() == 0) results.forests.push_back(std::move(result));
    }
  }
}

/// Measures a barrier or an all-reduce in one model by message size: times of the slowest rank over iterations. Collective.
void measure_collective(const CollectiveCase& what, comm::Transport& t, MsfResults& results) {
  constexpr int kWarmUp = 10;
  const auto start = kernels::make_start(t);
  for (const std::int64_t bytes : what.bytes) {
    std::vector<double> values(static_cast<std::size_t>(bytes) / sizeof(double), 1);
    const auto call = [&](std::int64_t) {
      if (what.call == "barrier") {
        t.barrier();
      } else {
        t.all_reduce(std::span(values), comm::Op::max);
      }
    };
    auto all = slowest(t, time_repeats(
                              {what.iterations, kWarmUp}, [&](std::int64_t) { start->wait(); }, call));
    if (t.rank() == 0) {
      results.collectives.push_back({what.call, what.model, t.size(), bytes, sample_spread(std::move(all))});
    }
  }
}

/// Measures exchanges along one arc, from rank 0 to rank 1, with all kernels in interleaved rounds. Collective.
void measure_arcs(const ArcCase& what, comm::Transport& t, MsfResults& results) {
  std::vector<std::vector<graphs::ProcessGraph::Arc>> rows(static_cast<std::size_t>(t.size()));
  rows.at(0).push_back({1, 1});
  topology::MeasureOptions options;
  options.graphs.push_back({"one arc", graphs::ProcessGraph(std::move(rows))});
  options.kernels = what.kernels;
  for (const auto bytes : what.bytes) options.sizes.push_back({static_cast<double>(bytes), false});
  options.seconds = what.seconds;
  const auto measured = collective_try([&] { return topology::measure(t, options); });
  if (t.rank() != 0) return;
  constexpr double kNs = 1e-9;
  for (const auto& cell : measured.cells) {
    const auto& kernel = kernels::kernel(cell.kernel);
    const auto p50 = cell.p50();
    results.arcs.push_back({cell.kernel,
                            std::string(kernels::completion_name(kernel.completion)),
                            kernel.pulls,
                            static_cast<std::int64_t>(cell.size.bytes),
                            {static_cast<double>(cell.exchange.min()) * kNs,
                             {p50.low * kNs, p50.value * kNs, p50.high * kNs},
                             static_cast<std::int64_t>(cell.exchange.count())}});
  }
  for (const auto& cell : measured.unusable) results.notes.push_back(cell.kernel + ": " + cell.reason);
}

/// Returns the communication models that the work of a launch needs; one that is available here if it names none.
std::vector<std::string> required_models(const MsfWork& work) {
  std::vector<std::string> models;
  const auto add = [&](const std::string& model) {
    if (std::find(models.begin(), models.end(), model) == models.end()) models.push_back(model);
  };
  for (const auto& c : work.forests) add(c.model);
  for (const auto& c : work.collectives) add(c.model);
  for (const auto& b : comm::backends())
    if (models.empty() && b.processes == comm::launched()) models.emplace_back(b.name);
  if (models.empty()) models.emplace_back("threads");
  return models;
}

/// Opens communication models nested in each other and runs `body` with the transports of all of them. Models of processes nest;
/// threads are one alone. @param open  transports that are open already @return exit code
int with_models(const std::vector<std::string>& models, int ranks, const Transports& open,
                const std::function<void(const Transports&)>& body) {
  const auto& model = models[open.size()];
  int inner = 0;
  const int code = run_on_ranks({model, ranks, ""}, [&](comm::Transport& t) {
    Transports more(open);
    more.push_back(&t);
    if (more.size() == models.size())
      body(more);
    else
      inner = with_models(models, ranks, more, body);
  });
  return code != 0 ? code : inner;
}

}  // namespace

// Work of one launch of bench msf: properties of graphs, exchanges along an arc, collectives, spanning forests, in this order.
int measure_msf(const MsfWork& work, MsfResults& results) {
  return with_models(required_models(work), work.ranks, {}, [&](const Transports& transports) {
    comm::Transport& first = *transports.front();
    MsfResults mine;
    for (const auto& name : work.facts) {
      const auto facts = compute_facts(name, load(name, first), first);
      if (first.rank() == 0) mine.graphs.push_back(facts);
    }
    if (!work.arcs.kernels.empty()) measure_arcs(work.arcs, first, mine);
    for (const auto& c : work.collectives) measure_collective(c, find_transport(c.model, transports), mine);
    measure_forests(work, transports, mine);
    if (first.rank() == 0) results.add(std::move(mine));
  });
}

}  // namespace merganser::app
