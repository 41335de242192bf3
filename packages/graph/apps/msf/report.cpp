// Reports on spanning forests: phases measured on all ranks, vertices without an edge, totals of the forest as JSON and text.
#include "apps/msf/report.hpp"

#include <algorithm>
#include <span>

#include "apps/frame/table.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/graphs/edges.hpp"
#include "merganser/stats/summary.hpp"

namespace merganser::app {

namespace {

/// Combines the measurements of all ranks in the search for a spanning forest on rank 0, whose result the caller broadcasts:
/// gathering them on every rank would take memory and time quadratic in the number of ranks. Collective.
/// @param text  this rank's phases and facts as JSON @return the statistics by phase and fact; without content on other ranks
Json combine_phases(const std::string& text, comm::Transport& transport) {
  struct Whole {                   // measurements of one phase
    std::vector<double> seconds;   // of each rank that entered the phase
    Json counts = Json::object();  // sums over ranks by counter
    std::int64_t calls = 0;        // greatest number on a rank
  };
  std::vector<std::pair<std::string, Whole>> all;
  Json facts = Json::object();
  for (const auto said : comm::gather_to_first(transport, text)) {
    const Json theirs = Json::parse(said.begin(), said.end());
    for (const auto& p : theirs["phases"]) {
      // Phases are few, and keep the order in which ranks entered them first.
      auto at = std::find_if(all.begin(), all.end(), [&](const auto& known) { return known.first == p["name"]; });
      if (at == all.end()) at = all.insert(all.end(), {p["name"].get<std::string>(), {}});
      at->second.seconds.push_back(p["seconds"].get<double>());
      at->second.calls = std::max(at->second.calls, p["calls"].get<std::int64_t>());
      for (const auto& [name, count] : p["counts"].items())
        at->second.counts[name] = at->second.counts.value(name, std::int64_t{0}) + count.get<std::int64_t>();
    }
    for (const auto& [name, value] : theirs["facts"].items()) {
      auto& fact = facts[name];
      if (fact.is_null()) fact = {{"least", value}, {"most", value}, {"sum", 0}};
      fact["least"] = std::min(fact["least"].get<std::int64_t>(), value.get<std::int64_t>());
      fact["most"] = std::max(fact["most"].get<std::int64_t>(), value.get<std::int64_t>());
      fact["sum"] = fact["sum"].get<std::int64_t>() + value.get<std::int64_t>();
    }
  }
  Json out = {{"phases", Json::object()}, {"facts", facts}};
  for (auto& [name, whole] : all) {
    whole.seconds.resize(static_cast<std::size_t>(transport.size()), 0.0);  // 0 for ranks that did not enter the phase
    out["phases"][name] = {
        {"seconds", summary_json(summarise(whole.seconds))}, {"calls", whole.calls}, {"counters", whole.counts}};
  }
  return out;
}

}  // namespace

// Phases of a spanning forest search over all ranks: gathered and combined on rank 0, then broadcast as text.
Json phases_json(const msf::Report& report, comm::Transport& transport) {
  Json mine = {{"phases", Json::array()}, {"facts", Json::object()}};
  for (const auto& p : report.phases())
    mine["phases"].push_back(
        {{"name", p.name}, {"seconds", p.seconds}, {"calls", p.calls}, {"counts", counters_json(p.counts)}});
  for (const auto& [name, value] : report.facts()) mine["facts"][name] = value;
  const std::string whole = combine_phases(mine.dump(), transport).dump();
  const auto told = comm::broadcast_from_first(transport, whole);
  return Json::parse(told.begin(), told.end());
}

// Table of the phases of a spanning forest search for the report.
std::string phases_table(const Json& phases, int ranks) {
  const auto columns = [&](std::vector<std::string> all) {  // one rank has one time, not three equal ones
    if (ranks == 1) all.erase(all.begin() + 2, all.begin() + 4);
    return all;
  };
  Table table(columns({"phase", ranks == 1 ? "time" : "time, most", "median", "least", "messages", "puts and gets",
                       "bytes", "collectives"}));
  for (const auto& [name, phase] : phases["phases"].items()) {
    const Json& s = phase["seconds"];
    const Json& c = phase["counters"];
    table.row(
        columns({name, seconds_text(s["max"].get<double>()), seconds_text(s["median"].get<double>()),
                 seconds_text(s["min"].get<double>()), count_text(c["messages"].get<std::int64_t>()),
                 count_text(c["puts"].get<std::int64_t>() + c["gets"].get<std::int64_t>()),
                 bytes_text(static_cast<double>(c["bytes"].get<std::int64_t>() + c["bytes_got"].get<std::int64_t>())),
                 count_text(c["collectives"].get<std::int64_t>())}));
  }
  return table.text();
}

// Count of isolated vertices of a forest: the ranks that own the vertices mark those that are ends of edges.
std::int64_t vertices_without_edge(const msf::Forest& forest, const msf::ForestTotals& totals,
                                   comm::Transport& transport) {
  if (totals.components <= 1) return 0;
  std::vector<std::uint64_t> ends;
  ends.reserve(2 * forest.edges.size());
  for (const auto& e : forest.edges) ends.insert(ends.end(), {e.low, e.high});
  const auto ranges = graphs::Ranges::even(forest.vertices, transport.size());
  const auto rank = static_cast<std::size_t>(transport.rank());
  // Each end is sent to the owner of the vertex, which marks it.
  std::vector<bool> has_edge(ranges.first[rank + 1] - ranges.first[rank]);
  comm::send_to_owners_in_rounds(
      transport, std::span<const std::uint64_t>(ends), [&](std::uint64_t v) { return ranges.owner(v); },
      [&](std::span<const std::uint64_t> came) {
        for (const std::uint64_t v : came) has_edge[v - ranges.first[rank]] = true;
      });
  const auto alone = std::count(has_edge.begin(), has_edge.end(), false);
  return transport.all_reduce(static_cast<std::int64_t>(alone), comm::Op::sum);
}

Json forest_json(const msf::ForestTotals& totals, std::uint64_t vertices, std::int64_t alone) {
  return {{"vertices", vertices},           {"edges", totals.edges},   {"trees", totals.components - alone},
          {"vertices_without_edge", alone}, {"weight", totals.weight}, {"weight_value", totals.weight_value},
          {"digest", totals.digest}};
}

// Lines of the report that describe a spanning forest.
std::string forest_text(const msf::ForestTotals& totals, std::int64_t alone) {
  const std::int64_t trees = totals.components - alone;
  std::string text = count_text(totals.edges) + " edges in " + count_text(trees) + (trees == 1 ? " tree" : " trees");
  if (alone > 0) text += ", and " + count_text(alone) + (alone == 1 ? " vertex" : " vertices") + " without an edge";
  return text + ", weight " + totals.weight + "\ndigest " + totals.digest + '\n';
}

}  // namespace merganser::app
