#include "apps/bench_msf/bench_msf.hpp"

#include <algorithm>
#include <map>

#include "merganser/stats/order_statistics.hpp"

namespace merganser::app {
namespace {

template <class T>
void append(std::vector<T>& to, std::vector<T>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

template <class T, class F>
Json list_json(const std::vector<T>& list, const F& one) {
  Json out = Json::array();
  for (const auto& x : list) out.push_back(one(x));
  return out;
}

template <class T, class F>
std::vector<T> list_of(const Json& json, const F& one) {
  std::vector<T> out;
  for (const auto& x : json) out.push_back(one(x));
  return out;
}

Json graph_json(const BenchGraph& g) { return {{"name", bytes_to_utf8(g.name)}, {"file", g.file}}; }
BenchGraph graph_of(const Json& j) { return {utf8_to_bytes(j.at("name").get<std::string>()), j.at("file")}; }

Json case_json(const ForestCase& c) {
  return {{"graph", graph_json(c.graph)}, {"model", c.model}, {"style", c.style}, {"post", c.post}};
}
ForestCase case_of(const Json& j) { return {graph_of(j.at("graph")), j.at("model"), j.at("style"), j.at("post")}; }

Json spread_json(const Spread& s) {
  return {
      {"min", s.min}, {"low", s.median.low}, {"median", s.median.value}, {"high", s.median.high}, {"count", s.count}};
}
Spread spread_in(const Json& j) { return {j.at("min"), {j.at("low"), j.at("median"), j.at("high")}, j.at("count")}; }

Json facts_json(const GraphFacts& g) {
  return {{"graph", bytes_to_utf8(g.graph)}, {"vertices", g.vertices}, {"edges", g.edges},
          {"max_degree", g.max_degree},      {"bytes", g.bytes},       {"arcs_per_vertex", g.arcs_per_vertex()}};
}
GraphFacts facts_in(const Json& j) {
  return {utf8_to_bytes(j.at("graph").get<std::string>()), j.at("vertices"), j.at("edges"), j.at("max_degree"),
          j.at("bytes")};
}

Json forest_json(const ForestResult& r) {
  Json phases = Json::array();
  for (const auto& p : r.phases)
    phases.push_back({{"name", p.name}, {"seconds", p.seconds}, {"bytes", p.bytes}, {"messages", p.messages}});
  Json j = case_json(r.what);
  j["ranks"] = r.ranks;
  j["seconds"] = r.seconds;
  j["spread"] = spread_json(spread_of(r.seconds));
  j["phases"] = phases;
  j["bytes"] = r.bytes;
  j["messages"] = r.messages;
  j["digest"] = r.digest;
  j["failure"] = r.failure;
  j["heap_mib"] = r.heap_mib;
  return j;
}
ForestResult forest_in(const Json& j) {
  ForestResult r;
  r.what = case_of(j);
  r.ranks = j.at("ranks");
  r.seconds = j.at("seconds").get<std::vector<double>>();
  for (const auto& p : j.at("phases"))
    r.phases.push_back({p.at("name"), p.at("seconds"), p.at("bytes"), p.at("messages")});
  r.bytes = j.at("bytes");
  r.messages = j.at("messages");
  r.digest = j.at("digest");
  r.failure = j.at("failure");
  r.heap_mib = j.at("heap_mib");
  return r;
}

Json collective_json(const CollectiveResult& r) {
  return {{"call", r.call},
          {"model", r.model},
          {"ranks", r.ranks},
          {"bytes", r.bytes},
          {"seconds", spread_json(r.seconds)}};
}
CollectiveResult collective_in(const Json& j) {
  return {j.at("call"), j.at("model"), j.at("ranks"), j.at("bytes"), spread_in(j.at("seconds"))};
}

Json arc_json(const ArcResult& r) {
  return {{"kernel", r.kernel},
          {"completion", r.completion},
          {"pulls", r.pulls},
          {"bytes", r.bytes},
          {"seconds", spread_json(r.seconds)}};
}
ArcResult arc_in(const Json& j) {
  return {j.at("kernel"), j.at("completion"), j.at("pulls"), j.at("bytes"), spread_in(j.at("seconds"))};
}

}  // namespace

Spread spread_of(std::vector<double> samples) {
  if (samples.empty()) return {};
  const double least = *std::min_element(samples.begin(), samples.end());
  const auto count = static_cast<std::int64_t>(samples.size());
  return {least, sample_median_interval(std::move(samples)), count};
}

void MsfResults::add(MsfResults more) {
  append(graphs, more.graphs);
  append(forests, more.forests);
  append(heaps, more.heaps);
  append(collectives, more.collectives);
  append(arcs, more.arcs);
  append(notes, more.notes);
  if (!more.productivity.is_null()) productivity = std::move(more.productivity);
}

std::vector<std::string> MsfResults::complaints() const {
  std::map<std::string, const ForestResult*> first;
  std::vector<std::string> out;
  const auto text = [](const ForestResult& r) {
    return r.what.model + " " + r.what.style + " " + r.what.post + " on " + std::to_string(r.ranks);
  };
  for (const auto* list : {&forests, &heaps}) {
    for (const auto& r : *list) {
      if (r.digest.empty()) continue;
      const auto [at, is_new] = first.try_emplace(r.what.graph.name, &r);
      if (is_new || at->second->digest == r.digest) continue;
      out.push_back(r.what.graph.name + ": " + text(r) + " found the forest " + r.digest + ", " + text(*at->second) +
                    " found " + at->second->digest);
    }
  }
  return out;
}

Json to_json(const MsfWork& w) {
  Json j;
  j["ranks"] = w.ranks;
  j["repeats"] = w.repeats;
  j["facts"] = list_json(w.facts, graph_json);
  j["forests"] = list_json(w.forests, case_json);
  j["collectives"] = list_json(w.collectives, [](const CollectiveCase& c) {
    return Json{{"call", c.call}, {"model", c.model}, {"bytes", c.bytes}, {"iterations", c.iterations}};
  });
  j["arcs"] = {{"kernels", w.arcs.kernels}, {"bytes", w.arcs.bytes}, {"seconds", w.arcs.seconds}};
  return j;
}

MsfWork msf_work_of(const Json& j) {
  MsfWork w;
  w.ranks = j.at("ranks");
  w.repeats = j.at("repeats");
  w.facts = list_of<BenchGraph>(j.at("facts"), graph_of);
  w.forests = list_of<ForestCase>(j.at("forests"), case_of);
  w.collectives = list_of<CollectiveCase>(j.at("collectives"), [](const Json& c) {
    return CollectiveCase{c.at("call"), c.at("model"), c.at("bytes").get<std::vector<std::int64_t>>(),
                          c.at("iterations")};
  });
  const auto& arcs = j.at("arcs");
  w.arcs = {arcs.at("kernels").get<std::vector<std::string>>(), arcs.at("bytes").get<std::vector<std::int64_t>>(),
            arcs.at("seconds")};
  return w;
}

Json to_json(const MsfResults& r) {
  return {{"graphs", list_json(r.graphs, facts_json)},
          {"forests", list_json(r.forests, forest_json)},
          {"heaps", list_json(r.heaps, forest_json)},
          {"collectives", list_json(r.collectives, collective_json)},
          {"arcs", list_json(r.arcs, arc_json)},
          {"notes", r.notes},
          {"productivity", r.productivity}};
}

MsfResults msf_results_of(const Json& j) {
  MsfResults r;
  r.graphs = list_of<GraphFacts>(j.at("graphs"), facts_in);
  r.forests = list_of<ForestResult>(j.at("forests"), forest_in);
  r.heaps = list_of<ForestResult>(j.at("heaps"), forest_in);
  r.collectives = list_of<CollectiveResult>(j.at("collectives"), collective_in);
  r.arcs = list_of<ArcResult>(j.at("arcs"), arc_in);
  r.notes = j.at("notes").get<std::vector<std::string>>();
  r.productivity = j.at("productivity");
  return r;
}

}  // namespace merganser::app
