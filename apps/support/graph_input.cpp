#include "support/graph_input.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <fstream>
#include <span>
#include <string_view>

#include "merganser/base/error.hpp"
#include "merganser/base/log.hpp"
#include "support/table.hpp"

namespace merganser::app {
namespace {

using graphs::Forecast;

/// Memory that the system can still give, in bytes; 0 if it does not tell. A limit of a container counts too.
std::uint64_t memory_there() {
  std::uint64_t there = 0;
  std::ifstream in("/proc/meminfo");
  for (std::string word; in >> word;) {
    if (word != "MemAvailable:") continue;
    in >> there;
    there *= 1024;
    break;
  }
  std::ifstream most("/sys/fs/cgroup/memory.max"), now("/sys/fs/cgroup/memory.current");
  std::uint64_t limit = 0, used = 0;
  if (most >> limit && now >> used) there = std::min(there, limit - std::min(limit, used));
  return there;
}

/// Ranks that share the memory of this one. Collective.
std::uint64_t ranks_here(comm::Transport& transport) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const auto all = transport.all_gather(std::as_bytes(std::span(host)));
  return static_cast<std::uint64_t>(std::count_if(all.begin(), all.end(), [&](const std::vector<std::byte>& other) {
    return std::memcmp(other.data(), host.data(), host.size()) == 0;
  }));
}

std::string count_of(std::uint64_t n) { return count_text(static_cast<std::int64_t>(n)); }

void check_memory(const GraphInput& input, const Forecast& forecast, std::uint64_t need, comm::Transport& transport) {
  const std::uint64_t there = memory_there() / ranks_here(transport);
  comm::agree(transport, [&] {
    if (there == 0 || need <= there) return;
    const std::string what = (input.gen.empty() ? input.file : input.gen) + " needs about " +
                             bytes_text(static_cast<double>(need)) + " on each of " + std::to_string(transport.size()) +
                             " ranks (" + count_of(forecast.vertices) + " vertices, about " + count_of(forecast.edges) +
                             " edges); there is " + bytes_text(static_cast<double>(there)) + " for each";
    if (!input.force) throw InputError(what + "; use more ranks on more machines, or --force to go on anyway");
    if (transport.rank() == 0) log(Level::warning, 0, what + "; going on, as --force says");
  });
}

Json facts_of(const GraphInput& input, const LoadedGraph& loaded, std::int64_t edges) {
  Json facts;
  facts["source"] = input.gen.empty() ? input.file : input.gen;
  facts["generated"] = !input.gen.empty();
  facts["vertices"] = loaded.graph.vertices;
  facts["edges"] = edges;
  facts["weight_kind"] = graphs::name_of(loaded.graph.kind);
  facts["edge_bytes"] = std::visit([](const auto& list) { return sizeof(list[0]); }, loaded.graph.edges);
  return facts;
}

graphs::GenerateOptions generate_options(const GraphInput& input) {
  return {input.seed, input.weights.empty() ? "uniform" : input.weights};
}

void check_choice(const GraphInput& input) {
  if (input.file.empty() == input.gen.empty())
    throw UsageError(input.file.empty() ? "no graph; allowed: GRAPH or --gen NAME"
                                        : "GRAPH " + input.file + " and --gen " + input.gen + "; allowed: one of them");
  if (!input.gen.empty() && !input.format.empty()) throw UsageError("--format with --gen; allowed: with GRAPH");
}

}  // namespace

std::string graph_format_names() { return "NAME"; }

LoadedGraph load_graph(const GraphInput& input, comm::Transport& transport, double bytes_per_edge,
                       double bytes_per_vertex) {
  check_choice(input);
  LoadedGraph loaded;
  const auto start = std::chrono::steady_clock::now();
  loaded.forecast = graphs::forecast_generated(input.gen, generate_options(input), transport.size());
  const double share = 1.0 / transport.size();
  const double edges = static_cast<double>(loaded.forecast.edges) * share;
  const double vertices = static_cast<double>(loaded.forecast.vertices) * share;
  const double later =
      edges * (static_cast<double>(loaded.forecast.edge_bytes) + bytes_per_edge) + vertices * bytes_per_vertex;
  check_memory(input, loaded.forecast, std::max(loaded.forecast.bytes_per_rank, static_cast<std::uint64_t>(later)),
               transport);
  loaded.graph = graphs::generate(input.gen, generate_options(input), transport);
  const std::int64_t total = transport.all_reduce(static_cast<std::int64_t>(loaded.graph.size()), comm::Op::sum);
  loaded.facts = facts_of(input, loaded, total);
  loaded.facts["weights"] = generate_options(input).weights;
  loaded.facts["seed"] = input.seed;
  loaded.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return loaded;
}

std::string graph_input_text(const Json& facts) {
  return facts.at("source").get<std::string>() + ": " + count_of(facts.at("vertices").get<std::uint64_t>()) +
         " vertices, " + count_text(facts.at("edges").get<std::int64_t>()) + " edges, weights " +
         facts.at("weights").get<std::string>();
}

}  // namespace merganser::app
