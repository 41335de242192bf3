/// Python bindings of process graphs, measurements of exchanges on them, and advice on kernels.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <thread>

#include "merganser/base/error.hpp"
#include "merganser/graphs/process_graph_files.hpp"
#include "merganser/graphs/process_graph_kinds.hpp"
#include "merganser/kernels/exchange.hpp"
#include "merganser/topology/advise.hpp"
#include "merganser/topology/measure.hpp"
#include "python/src/arrays.hpp"
#include "python/src/team.hpp"
#include "python/src/themes.hpp"

namespace merganser::python {
namespace {

using graphs::ProcessGraph;

/// Creates a process graph from compressed sparse rows that Python passes: offsets of ranks + 1 rows, target ranks of arcs, bytes
/// of arcs. @throws UsageError for arrays of wrong lengths, InputError for offsets that do not ascend from 0 to the number of heads,
/// and for arcs to no rank
ProcessGraph make_graph(const Line<std::int64_t>& offsets, const Line<std::int64_t>& heads, const Line<double>& bytes) {
  const auto all = static_cast<std::int64_t>(heads.size());
  if (offsets.size() == 0 || bytes.size() != heads.size())
    throw UsageError("graph: arrays of different lengths; allowed: ranks + 1 offsets, and bytes for each head");
  const std::int64_t first = offsets.data()[0], last = offsets.data()[offsets.size() - 1];
  if (first != 0 || last != all)
    throw InputError("graph: offsets from " + std::to_string(first) + " to " + std::to_string(last) +
                     "; allowed: from 0 to " + std::to_string(all) + ", the number of heads");
  std::vector<std::vector<ProcessGraph::Arc>> rows(offsets.size() - 1);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::int64_t begin = offsets.data()[r];
    const std::int64_t end = offsets.data()[r + 1];
    if (begin < 0 || end < begin || end > all)
      throw InputError("graph: offsets do not ascend up to the number of heads");
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t to = heads.data()[i];
      if (to < 0 || to >= static_cast<std::int64_t>(rows.size()))
        throw InputError("graph: an arc to " + std::to_string(to) + "; allowed: from 0 to below " +
                         std::to_string(rows.size()));
      rows[r].push_back({static_cast<int>(to), bytes.data()[i]});
    }
  }
  return ProcessGraph(std::move(rows));
}

/// Converts a process graph to NumPy arrays of compressed sparse rows: offsets, heads (target ranks) and bytes of arcs.
nb::tuple csr_arrays(const ProcessGraph& g) {
  std::vector<std::int64_t> heads;
  std::vector<double> bytes;
  for (int r = 0; r < g.ranks(); ++r)
    for (const auto& arc : g.row(r)) {
      heads.push_back(arc.to);
      bytes.push_back(arc.bytes);
    }
  return nb::make_tuple(move_to_numpy(std::vector<std::int64_t>(g.offsets().begin(), g.offsets().end())),
                        move_to_numpy(std::move(heads)), move_to_numpy(std::move(bytes)));
}

/// Returns the number of processors of this machine, at least 1.
int cores() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

/// Converts the measured latencies of one configuration (kernel, process graph, message size) to a record of plain values: times in
/// ns with quantiles, medians of rounds, and the load of the exchange.
nb::dict to_record(const topology::CellResult& cell, const ProcessGraph& graph) {
  const auto& kernel = kernels::kernel(cell.kernel);
  const Interval median = cell.p50();
  nb::dict out;
  out["kernel"] = cell.kernel;
  out["model"] = std::string(kernel.model);
  out["completion"] = std::string(kernels::completion_name(kernel.completion));
  out["size"] = topology::size_text(cell.size);
  out["ranks"] = graph.ranks();
  out["arcs"] = graph.arcs();
  out["degree"] = graph.max_degree();
  out["cores"] = cores();
  out["graph"] = graph.digest();
  out["bytes_total"] = cell.bytes_total;
  out["messages_total"] = cell.messages_total;
  out["samples"] = cell.exchange.count();
  out["p50_ns"] = median.value;
  out["p50_low_ns"] = median.low;
  out["p50_high_ns"] = median.high;
  out["mean_ns"] = cell.exchange.mean();
  out["p90_ns"] = cell.exchange.quantile(0.9);
  out["p99_ns"] = cell.exchange.quantile(0.99);
  out["min_ns"] = cell.exchange.min();
  out["max_ns"] = cell.exchange.max();
  std::vector<double> rounds;
  for (const auto& round : cell.rounds) rounds.push_back(round.p50_ns);
  out["rounds_p50_ns"] = rounds;
  return out;
}

/// Arguments and, on rank 0, result of merganser.topology.measure(), a measurement of kernels on a process graph.
struct MeasurementTask {
  topology::MeasureOptions options;
  topology::Measurement found;
};

/// Returns the names of the benchmark kernels to be measured: those that the caller named, else all that can run on the team's kind
/// of ranks (threads of this process, or processes).
std::vector<std::string> select_kernels(const std::vector<std::string>& wanted, const Team& team) {
  if (!wanted.empty()) return wanted;
  std::vector<std::string> all;
  for (const auto& info : kernels::kernels())
    if ((info.model == "threads") == team.is_local()) all.emplace_back(info.name);
  return all;
}

/// Measures the latency of kernels on a process graph for merganser.topology.measure(). Collective over the team. @return on rank 0
/// (records of the configurations, unusable (kernel, size, reason)); empty lists on other ranks
/// @param sizes  pairs (bytes per arc, true to use the arcs' own bytes) @param seconds  time of the whole measurement
nb::tuple measure(const std::shared_ptr<Team>& team, const ProcessGraph& graph,
                  const std::vector<std::pair<double, bool>>& sizes, const std::vector<std::string>& kernels,
                  double seconds, std::uint64_t seed) {
  if (graph.ranks() != team->ranks())
    throw UsageError("graph: of " + std::to_string(graph.ranks()) + " ranks; allowed: of the " +
                     std::to_string(team->ranks()) + " that measure");
  const auto task = std::make_shared<MeasurementTask>();
  task->options.graphs = {{"graph", graph}};
  task->options.kernels = select_kernels(kernels, *team);
  for (const auto& [bytes, weights] : sizes) task->options.sizes.push_back({bytes, weights});
  task->options.seconds = seconds;
  task->options.seed = seed;
  team->run([task](comm::Transport& transport, const Interrupt& interrupt) {
    topology::MeasureOptions options = task->options;
    options.on_progress = [&interrupt](const topology::Progress&) { interrupt.check(); };
    auto found = topology::measure(transport, options);
    if (transport.rank() == 0) task->found = std::move(found);
  });
  nb::list cells;
  for (const auto& cell : task->found.cells)
    if (!cell.exchange.empty()) cells.append(to_record(cell, graph));
  nb::list unusable;
  for (const auto& u : task->found.unusable) unusable.append(nb::make_tuple(u.kernel, u.size, u.reason));
  return nb::make_tuple(cells, unusable);
}

/// Converts a record of merganser.topology.measure() to a measured configuration that the model of the advice is fitted to.
/// @throws InputError for a record of a process graph without arcs
topology::KnownCell parse_record(const nb::dict& record) {
  topology::KnownCell cell;
  cell.graph = nb::cast<std::string>(record["graph"]);
  cell.kernel = nb::cast<std::string>(record["kernel"]);
  cell.model = nb::cast<std::string>(record["model"]);
  cell.completion = nb::cast<std::string>(record["completion"]);
  cell.load.ranks = nb::cast<int>(record["ranks"]);
  cell.load.cores = nb::cast<int>(record["cores"]);
  cell.load.arcs = nb::cast<double>(record["arcs"]);
  cell.load.degree = nb::cast<double>(record["degree"]);
  cell.load.bytes = nb::cast<double>(record["bytes_total"]);
  if (!(cell.load.arcs > 0)) throw InputError("advise: a record of a graph without arcs; allowed: with");
  cell.load.rank_bytes = cell.load.bytes / cell.load.arcs * cell.load.degree;
  cell.launches = {nb::cast<std::vector<double>>(record["rounds_p50_ns"])};
  cell.source = "the measurement";
  return cell;
}

/// Converts advice on kernels to a list of dicts, one per completion class and kernel: times in ns with intervals, and the
/// probability that the kernel is the fastest of its class.
nb::list to_records(const std::vector<topology::ClassAdvice>& classes) {
  nb::list out;
  for (const auto& c : classes)
    for (const auto& k : c.kernels) {
      nb::dict row;
      row["completion"] = c.completion;
      row["kernel"] = k.kernel;
      row["model"] = k.model;
      row["time_ns"] = k.standing.time.value;
      row["time_low_ns"] = k.standing.time.low;
      row["time_high_ns"] = k.standing.time.high;
      row["probability"] = k.standing.probability;
      row["near_tie"] = k.standing.near_tie;
      row["predicted"] = k.predicted;
      out.append(row);
    }
  return out;
}

/// Ranks kernels by their expected time on a process graph for merganser.topology.advise(), from measured records; without a graph
/// those of the measured one. Local. @return (records of the advice, reasons why kernels cannot be judged)
nb::tuple advise(const std::vector<nb::dict>& records, const ProcessGraph* graph, double bytes, bool weights) {
  std::vector<topology::KnownCell> cells;
  for (const auto& record : records) cells.push_back(parse_record(record));
  nb::list unknown;
  if (graph == nullptr) {
    const auto joined = topology::joined(cells);
    return nb::make_tuple(to_records(topology::advise_measured(joined)), unknown);
  }
  const auto load =
      weights ? topology::exchange_load(*graph, cores()) : topology::exchange_load(*graph, cores(), bytes);
  const topology::Advisor advisor(cells);
  for (const auto& u : advisor.unknown(load)) unknown.append(u.reason);
  return nb::make_tuple(to_records(advisor.advise(load)), unknown);
}

}  // namespace

// Registers process graphs, their files, and the functions behind merganser.topology.
void bind_topology(nb::module_& m) {
  nb::class_<ProcessGraph>(m, "ProcessGraph", "Process graph: the arcs between ranks, each with its number of bytes.")
      .def(
          "__init__",
          [](ProcessGraph* self, const Line<std::int64_t>& offsets, const Line<std::int64_t>& heads,
             const Line<double>& bytes) { new (self) ProcessGraph(make_graph(offsets, heads, bytes)); },
          nb::arg("offsets").noconvert(), nb::arg("heads").noconvert(), nb::arg("bytes").noconvert())
      .def_prop_ro("ranks", &ProcessGraph::ranks, "Number of ranks of the process graph.")
      .def_prop_ro("arcs", &ProcessGraph::arcs, "Number of arcs of the process graph.")
      .def_prop_ro("symmetric", &ProcessGraph::is_symmetric, "True if every arc has its reverse.")
      .def_prop_ro("max_degree", &ProcessGraph::max_degree, "Greatest number of arcs that leave a rank.")
      .def_prop_ro("digest", &ProcessGraph::digest, "Hash of the graph, 32 hexadecimal digits; equal for equal graphs.")
      .def("arrays", &csr_arrays, "Returns the graph as compressed sparse rows: offsets, heads and bytes of arcs.")
      .def("__eq__", [](const ProcessGraph& a, const ProcessGraph& b) { return a == b; });
  m.def("make_process_graph", &graphs::make_process_graph, nb::arg("text"), nb::arg("ranks"), nb::arg("seed"),
        "Generates a process graph: see merganser.topology.generate().");
  m.def(
      "read_process_graph", [](const std::string& path) { return graphs::read_process_graph(path); }, nb::arg("path"),
      "Reads a process graph from a file: see merganser.topology.read().");
  m.def(
      "write_process_graph",
      [](const std::string& path, const ProcessGraph& graph, const std::string& format) {
        const auto how = format.empty() ? graphs::process_format_from_path(path) : graphs::parse_process_format(format);
        graphs::write_process_graph(path, graph, how);
      },
      nb::arg("path"), nb::arg("graph"), nb::arg("format"),
      "Writes a process graph to a file: see merganser.topology.write().");
  m.def(
      "kernels",
      [] {
        nb::list out;
        for (const auto& k : kernels::kernels()) {
          nb::dict row;
          row["kernel"] = std::string(k.name);
          row["model"] = std::string(k.model);
          row["completion"] = std::string(kernels::completion_name(k.completion));
          row["description"] = std::string(k.description);
          out.append(row);
        }
        return out;
      },
      "Lists the benchmark kernels of this build: see merganser.topology.kernels().");
  m.def("measure", &measure, nb::arg("team"), nb::arg("graph"), nb::arg("sizes"), nb::arg("kernels"),
        nb::arg("seconds"), nb::arg("seed"),
        "Measures kernels on a process graph: see merganser.topology.measure(). Collective.");
  m.def("advise", &advise, nb::arg("records"), nb::arg("graph").none(), nb::arg("bytes"), nb::arg("weights"),
        "Ranks kernels by their expected time: see merganser.topology.advise().");
}

}  // namespace merganser::python
