#include "apps/msf/report.hpp"

#include "apps/frame/table.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/stats/summary.hpp"

namespace merganser::app {

namespace {

/// On rank 0, which tells the others: what all ranks say, on each, would take memory and time with the square of the ranks.
Json phases_of_all(const std::string& text, comm::Transport& transport) {
  struct Whole {
    std::vector<double> seconds;
    Json counts = Json::object();
    std::int64_t calls = 0;
  };
  std::vector<std::pair<std::string, Whole>> all;
  Json facts = Json::object();
  for (const auto said : comm::gather_to_first(transport, text)) {
    const Json theirs = Json::parse(said.begin(), said.end());
    for (const auto& p : theirs["phases"]) {
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
    whole.seconds.resize(static_cast<std::size_t>(transport.size()), 0.0);  // ranks that had no part in it
    out["phases"][name] = {
        {"seconds", summary_json(summarise(whole.seconds))}, {"calls", whole.calls}, {"counters", whole.counts}};
  }
  return out;
}

}  // namespace

Json phases_json(const msf::Report& report, comm::Transport& transport) {
  Json mine = {{"phases", Json::array()}, {"facts", Json::object()}};
  for (const auto& p : report.phases())
    mine["phases"].push_back(
        {{"name", p.name}, {"seconds", p.seconds}, {"calls", p.calls}, {"counts", counters_json(p.counts)}});
  for (const auto& [name, value] : report.facts()) mine["facts"][name] = value;
  const std::string whole = phases_of_all(mine.dump(), transport).dump();
  const auto told = comm::from_first(transport, whole);
  return Json::parse(told.begin(), told.end());
}

std::string phases_table(const Json& phases) {
  Table table({"phase", "time, most", "median", "least", "messages", "puts and gets", "bytes", "collectives"});
  for (const auto& [name, phase] : phases["phases"].items()) {
    const Json& s = phase["seconds"];
    const Json& c = phase["counters"];
    table.row({name, seconds_text(s["max"].get<double>()), seconds_text(s["median"].get<double>()),
               seconds_text(s["min"].get<double>()), count_text(c["messages"].get<std::int64_t>()),
               count_text(c["puts"].get<std::int64_t>() + c["gets"].get<std::int64_t>()),
               bytes_text(static_cast<double>(c["bytes"].get<std::int64_t>() + c["bytes_got"].get<std::int64_t>())),
               count_text(c["collectives"].get<std::int64_t>())});
  }
  return table.text();
}

Json forest_json(const msf::ForestTotals& totals, std::uint64_t vertices) {
  return {{"vertices", vertices},
          {"edges", totals.edges},
          {"trees", totals.components},
          {"weight", totals.weight},
          {"weight_value", totals.weight_value},
          {"digest", totals.digest}};
}

std::string forest_text(const msf::ForestTotals& totals) {
  return count_text(totals.edges) + " edges in " + count_text(totals.components) +
         (totals.components == 1 ? " tree" : " trees") + ", weight " + totals.weight + "\ndigest " + totals.digest +
         '\n';
}

}  // namespace merganser::app
