// Graph input of commands: check of memory and disk, loading from a file or a generator, facts for reports and run records.
#include "apps/graph/input.hpp"

#include <algorithm>

#include "apps/frame/forecast.hpp"
#include "apps/frame/standard_input.hpp"
#include "apps/frame/table.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/log.hpp"
#include "merganser/base/text.hpp"
#include "merganser/base/timer.hpp"
#include "merganser/comm/collectives.hpp"

namespace merganser::app {
namespace {

using graphs::Forecast;

/// Returns the number of vertices or edges of a graph with separators of thousands, "1,048,576".
std::string format_count(std::uint64_t n) { return count_text(static_cast<std::int64_t>(n)); }

/// Checks that memory and disk suffice for loading a graph and for the work after it, by the forecast of its size. Collective.
/// @throws UsageError for generated graphs, InputError for files, on every rank, unless --force is given
void check_memory(const GraphInput& input, const Forecast& forecast, const AfterLoading& after,
                  comm::Transport& transport) {
  const auto ranks = static_cast<double>(transport.size());
  const auto edges = static_cast<double>(forecast.edges);
  const auto vertices = static_cast<double>(forecast.vertices);
  // Loading and the work after it have different peaks; the greater one counts.
  const double later = edges / ranks * (static_cast<double>(forecast.edge_bytes) + after.bytes_per_edge) +
                       vertices / ranks * after.bytes_per_vertex;
  Need need;
  need.what = (input.gen.empty() ? input_name(input.file) : input.gen) + " (" + format_count(forecast.vertices) +
              " vertices, about " + format_count(forecast.edges) + " edges)";
  need.rank_bytes = std::max(static_cast<double>(forecast.bytes_per_rank), later);
  need.first_bytes = vertices * after.first_bytes_per_vertex;
  need.disk_bytes = edges * after.disk_bytes_per_edge + vertices * after.disk_bytes_per_vertex;
  need.file = after.file;
  need.of_file = input.gen.empty();
  need.help = "use more ranks on more machines";
  require(need, input.limits.force, transport);
}

/// Returns the options of the generator of synthetic graphs by the command's options --seed and --weights.
graphs::GenerateOptions generate_options(const GraphInput& input) {
  return {input.seed, input.weights.empty() ? "uniform" : input.weights};
}

/// Returns the options of the graph file reader by the command's options --format, --weights and --seed.
graphs::ReadOptions read_options(const GraphInput& input) {
  return {input.format, input.weights, input.seed, input.names};
}

/// Checks that a command has exactly one graph: a file, or the name of a generated graph. @throws UsageError if not
void check_choice(const GraphInput& input) {
  if (input.file.empty() == input.gen.empty()) {
    throw UsageError(input.file.empty() ? "no graph; allowed: GRAPH or --gen NAME"
                                        : "GRAPH " + input.file + " and --gen " + input.gen + "; allowed: one of them");
  }
}

/// Adds the facts of a generated graph (weights, seed) to the description of the input in the run record.
void add_facts(const GraphInput& input, Json& facts) {
  facts["generated"] = true;
  facts["weights"] = generate_options(input).weights;
  facts["seed"] = input.seed;
}

/// Adds the facts of a graph file (format, entries, loops dropped, ...) to the description of the input in the run record.
void add_facts(const GraphInput& input, const graphs::ReadLog& read, Json& facts) {
  facts["generated"] = false;
  facts["weights"] = read.weighted ? "file" : input.weights.empty() ? "uniform" : input.weights;
  if (!read.weighted) facts["seed"] = input.seed;
  facts["format"] = graphs::to_string(read.format);
  facts["compressed"] = read.compressed;
  facts["file_bytes"] = read.file_bytes;
  facts["arcs"] = read.arcs;
  facts["loops_dropped"] = read.loops;
  facts["repeated_dropped"] = read.repeated;
  facts["symmetrised"] = read.directed;
  facts["relabelled"] = read.relabelled;
  facts["named"] = read.named;
}

/// Returns the facts for the run record that generated graphs and graph files have in common: source, sizes, weights, forecast.
/// @param edges  number of edges of all ranks
Json make_facts(const GraphInput& input, const LoadedGraph& loaded, std::int64_t edges) {
  Json facts;
  facts["source"] = input.gen.empty() ? input_name(input.file) : input.gen;
  facts["vertices"] = loaded.graph.vertices;
  facts["edges"] = edges;
  facts["weight_kind"] = graphs::to_string(loaded.graph.kind);
  facts["edge_bytes"] = std::visit([](const auto& list) { return sizeof(list[0]); }, loaded.graph.edges);
  facts["forecast"] = {{"edges", loaded.forecast.edges},
                       {"exact", loaded.forecast.exact},
                       {"bytes_per_rank", loaded.forecast.bytes_per_rank}};
  return facts;
}

/// Predicts the size of a command's graph. Collective. @param file  its file, as readable_input() returns it @throws UsageError or
/// InputError on every rank
Forecast compute_forecast(const GraphInput& input, const std::string& file, comm::Transport& transport) {
  Forecast forecast;
  comm::agree(transport, [&] {
    forecast = input.gen.empty() ? graphs::forecast_file(file, read_options(input), transport.size())
                                 : graphs::forecast_generated(input.gen, generate_options(input), transport.size());
  });
  return forecast;
}

/// Returns the number of vertices of a graph that have an edge. Collective.
std::uint64_t count_with_edges(const graphs::EdgeList& graph, comm::Transport& transport) {
  const auto drop_repetitions = [](std::vector<std::uint64_t>& ids) {
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  };
  std::vector<std::uint64_t> ends;
  ends.reserve(2 * graph.size());
  graph.for_each([&](const auto& e) {
    ends.push_back(e.low);
    ends.push_back(e.high);
  });
  drop_repetitions(ends);
  const graphs::Ranges ranges = graphs::Ranges::even(graph.vertices, transport.size());
  ends = comm::send_to_owners_in_rounds(transport, std::move(ends), [&](std::uint64_t v) { return ranges.owner(v); });
  drop_repetitions(ends);
  return static_cast<std::uint64_t>(transport.all_reduce(static_cast<std::int64_t>(ends.size()), comm::Op::sum));
}

}  // namespace

std::string graph_format_names() {
  return joined(graphs::formats(), "|", [](graphs::Format f) { return graphs::to_string(f); });
}

// Loading of a command's graph: forecast, check of memory, reading or generation, facts for the record.
LoadedGraph load_graph(const GraphInput& input, comm::Transport& transport, const AfterLoading& after) {
  LoadedGraph loaded;
  const double start = now();
  comm::agree(transport, [&] { check_choice(input); });
  const std::string file = readable_input(input.file, transport);
  loaded.forecast = compute_forecast(input, file, transport);
  check_memory(input, loaded.forecast, after, transport);
  graphs::ReadLog read;
  loaded.graph = input.gen.empty() ? graphs::read_graph(file, read_options(input), transport, read)
                                   : graphs::generate(input.gen, generate_options(input), transport);
  if (read.weighted && input.seed_given)
    throw UsageError("--seed is not used: " + input_name(input.file) +
                     " has weights; allowed: without it, or with --weights");
  loaded.lines = read.lines;
  if (transport.rank() == 0)
    for (const std::string& line : read.lines) log(Level::info, 0, input_name(input.file) + ": " + line);
  const std::int64_t total = transport.all_reduce(static_cast<std::int64_t>(loaded.graph.size()), comm::Op::sum);
  loaded.facts = make_facts(input, loaded, total);
  if (input.gen.empty())
    add_facts(input, read, loaded.facts);
  else
    add_facts(input, loaded.facts);
  loaded.seconds = now() - start;
  return loaded;
}

std::vector<std::string> gather_names(const graphs::EdgeList& graph, comm::Transport& transport) {
  std::string letters;
  for (const std::string& name : graph.text_names) letters += name + '\n';  // names have no line breaks
  const auto all = comm::gather_to_first(transport, letters).flat();
  std::vector<std::string> names;
  if (all.empty()) return names;
  for (const auto name : split_at(std::string_view(all.data(), all.size() - 1), '\n')) names.emplace_back(name);
  return names;
}

void check_names_for_labels(const LoadedGraph& loaded, const std::string& path, comm::Transport& transport) {
  comm::agree(transport, [&] {
    for (const std::string& name : loaded.graph.text_names)
      if (name.find('\t') != std::string::npos)
        throw InputError("name \"" + one_line(name, 40) + "\" with a tab, which stands between names and labels in " +
                         path + "; allowed: names without tabs, or no --labels");
  });
}

void note_lost_names(LoadedGraph& loaded, const graphs::EdgeList& graph, const std::string& path, graphs::Format format,
                     comm::Transport& transport) {
  if (loaded.facts.at("generated").get<bool>() || !loaded.facts.at("named").get<bool>()) return;
  if (!graphs::holds_names(format)) {
    loaded.lines.push_back(path + ": " + std::string(graphs::to_string(format)) +
                           " files hold no names: vertices have their numbers there");
    return;
  }
  const std::uint64_t lost = graph.vertices - count_with_edges(graph, transport);
  if (lost > 0) loaded.lines.push_back(path + ": vertices without an edge, " + format_count(lost) + ", are not in it");
}

// Line of the report that describes a command's graph.
std::string graph_input_text(const Json& facts) {
  return facts.at("source").get<std::string>() + ": " + format_count(facts.at("vertices").get<std::uint64_t>()) +
         " vertices, " + count_text(facts.at("edges").get<std::int64_t>()) + " edges, weights " +
         facts.at("weight_kind").get<std::string>() + " (" + facts.at("weights").get<std::string>() + ")";
}

}  // namespace merganser::app
