#include "support/topo_advise_run.hpp"

#include <algorithm>
#include <map>

#include "merganser/base/error.hpp"
#include "merganser/base/private_folder.hpp"
#include "support/compare_record.hpp"
#include "support/launcher.hpp"
#include "support/provenance.hpp"
#include "support/table.hpp"

namespace merganser::app {
namespace {

struct KnownGraph {
  std::string digest;
  topology::Load load;  // without bytes
};

std::map<std::string, KnownGraph> graphs_of(const Field& topology, int cores) {
  std::map<std::string, KnownGraph> out;
  const Field list = topology.at("graphs");
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Field g = list.at(i);
    KnownGraph known;
    known.digest = g.at("digest").text();
    known.load.ranks = static_cast<int>(g.at("ranks").number());
    known.load.cores = cores;
    known.load.arcs = g.at("arcs").number();
    known.load.degree = g.at("max_degree").number();
    if (g.has("max_in_degree")) known.load.degree = std::max(known.load.degree, g.at("max_in_degree").number());
    if (known.load.ranks < 1 || !(known.load.arcs > 0)) g.fail("has no ranks or no arcs");
    out[g.at("name").text()] = known;
  }
  return out;
}

std::vector<std::vector<double>> launches_of(const Field& cell) {
  std::map<std::int64_t, std::vector<double>> by_launch;
  if (cell.has("rounds")) {
    const Field rounds = cell.at("rounds");
    for (std::size_t i = 0; i < rounds.size(); ++i)
      by_launch[static_cast<std::int64_t>(rounds.at(i).at("launch").number())].push_back(
          rounds.at(i).at("p50_ns").time());
  }
  if (by_launch.empty()) return {{cell.at("exchange").at("p50_ns").time()}};
  std::vector<std::vector<double>> out;
  for (auto& [launch, times] : by_launch) out.push_back(std::move(times));
  return out;
}

std::string saving_text(const Saving& s) {
  const auto percent = [](double x) { return fixed_text(100 * x, 0); };
  return percent(s.share) + " % (" + percent(s.low) + " .. " + percent(s.high) + ")";
}

Json saving_json(const Saving& s) { return {{"share", s.share}, {"low", s.low}, {"high", s.high}}; }

std::string class_text(const topology::ClassAdvice& c) {
  Table t({c.completion, "time", "95 % interval", "is fastest with", "fastest saves against it", ""});
  for (const auto& k : c.kernels) {
    const Standing& s = k.standing;
    t.row({k.kernel, seconds_text(s.time * 1e-9), seconds_text(s.low * 1e-9) + " .. " + seconds_text(s.high * 1e-9),
           percent_text(s.probability), s.saving.share == 0 ? "" : saving_text(s.saving),
           s.near_tie ? (s.told_apart ? "near tie" : "not told apart") : ""});
  }
  return t.text();
}

std::string verdict_text(const topology::ClassAdvice& c) {
  const auto& best = c.kernels.front();
  std::string out = best.kernel;
  if (c.kernels.size() == 1) return out + ", the only one here\n";
  out += ", with probability " + percent_text(best.standing.probability);
  if (c.against_baseline && best.kernel != topology::kBaseline) {
    out += "; saves " + saving_text(*c.against_baseline) + " of the time of " + topology::kBaseline;
  } else if (best.kernel == topology::kBaseline) {
    out += "; it saves " + saving_text(c.kernels[1].standing.saving) + " of the time of " + c.kernels[1].kernel;
  }
  std::string ties;
  for (const auto& n : c.near_ties) ties += (ties.empty() ? "" : ", ") + n;
  return out + (ties.empty() ? "" : "; near tie with " + ties) + '\n';
}

/// The plan's job, and the file it writes.
class Job {
 public:
  explicit Job(const MeasurePlan& p) : path_(folder_.file("record.json")) {
    plan_.command = {self_path(),
                     "topo",
                     "bench",
                     "--graph=" + p.graph,
                     "--models=" + p.models,
                     "--kernels=all",
                     "--sizes=" + p.sizes,
                     "--ranks=" + std::to_string(p.ranks),
                     "--launches=" + std::to_string(p.launches),
                     "--time=" + number_text(p.seconds),
                     "--json=" + path_,
                     "--quiet"};
  }

  [[nodiscard]] Json run(double limit_s) const {
    const int code = launch(plan_, limit_s);
    if (code == kTimedOut) throw CommError("the measurement did not end within " + fixed_text(limit_s, 0) + " s");
    if (code != 0) throw CommError("the measurement failed with exit code " + std::to_string(code));
    return read_json(path_);
  }

 private:
  PrivateFolder folder_;
  std::string path_;
  LaunchPlan plan_;
};

}  // namespace

std::vector<topology::KnownCell> known_cells(const Json& json, const std::string& path) {
  const Field record(json, path);
  if (!record.has("topology")) throw InputError(path + " is no record of topo bench or topo replay");
  const Field topology = record.at("topology");
  const Field provenance = record.at("provenance");
  const int cores = provenance.has("cores") ? static_cast<int>(provenance.at("cores").number()) : 1;
  const auto graphs = graphs_of(topology, std::max(1, cores));
  const Field cells = topology.at("cells");
  std::vector<topology::KnownCell> out;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Field c = cells.at(i);
    const auto graph = graphs.find(c.at("graph").text());
    if (graph == graphs.end()) c.at("graph").fail("names a graph that is not in topology.graphs");
    topology::KnownCell known;
    known.graph = graph->second.digest;
    known.kernel = c.at("kernel").text();
    known.model = c.at("model").text();
    known.completion = c.at("completion").text();
    known.load = graph->second.load;
    known.load.bytes = c.at("bytes_total").number();
    if (known.load.bytes < 0) c.at("bytes_total").fail("is negative");
    known.load.rank_bytes = known.load.bytes / known.load.arcs * known.load.degree;
    known.launches = launches_of(c);
    out.push_back(std::move(known));
  }
  if (out.empty()) throw InputError(path + ": nothing was measured (topology.cells is empty)");
  return out;
}

Json measure_job(const MeasurePlan& plan) {
  const Job job(plan);
  return job.run(30 + plan.launches * (4 * plan.seconds + 20));
}

std::string advice_text(const std::vector<topology::ClassAdvice>& classes, const std::string& first) {
  std::string out;
  for (const bool chosen : {true, false})
    for (const auto& c : classes)
      if ((c.completion == first) == chosen) out += class_text(c) + "  " + c.completion + ": " + verdict_text(c) + '\n';
  return out;
}

Json advice_json(const std::vector<topology::ClassAdvice>& classes) {
  Json out = Json::array();
  for (const auto& c : classes) {
    Json kernels = Json::array();
    for (const auto& k : c.kernels)
      kernels.push_back({{"kernel", k.kernel},
                         {"model", k.model},
                         {"time_ns", k.standing.time},
                         {"low_ns", k.standing.low},
                         {"high_ns", k.standing.high},
                         {"probability", k.standing.probability},
                         {"near_tie", k.standing.near_tie},
                         {"told_apart", k.standing.told_apart},
                         {"fastest_saves", saving_json(k.standing.saving)},
                         {"predicted", k.predicted},
                         {"prediction_error", k.predicted ? Json(k.error) : Json()}});
    out.push_back({{"completion", c.completion},
                   {"advice", c.kernels.front().kernel},
                   {"probability", c.kernels.front().standing.probability},
                   {"saves_against_baseline", c.against_baseline ? saving_json(*c.against_baseline) : Json()},
                   {"near_ties", c.near_ties},
                   {"kernels", kernels}});
  }
  return out;
}

std::string evaluation_text(const topology::Evaluation& e) {
  Table t({"class", "held-out cells", "advice right", "always p2p", "always rma", "mean loss of advice"});
  const auto row = [&t](const topology::Evaluation::Score& s) {
    const auto share = [&s](int n) { return percent_text(s.cells > 0 ? static_cast<double>(n) / s.cells : 0); };
    t.row({s.completion, std::to_string(s.cells), share(s.right), share(s.p2p_right), share(s.rma_right),
           percent_text(s.mean_loss)});
  };
  for (const auto& s : e.classes) row(s);
  row(e.all);
  return t.text() + "  right: the winner, or within 5 % of it; " +
         (e.sizes_left_out ? "one graph only, so each size was left out in turn" : "each graph was left out in turn") +
         "\n  error of predicted times: median " + percent_text(e.median_error) + ", p90 " + percent_text(e.p90_error) +
         '\n';
}

Json evaluation_json(const topology::Evaluation& e) {
  const auto score = [](const topology::Evaluation::Score& s) {
    return Json{{"completion", s.completion}, {"cells", s.cells},         {"right", s.right},
                {"p2p_right", s.p2p_right},   {"rma_right", s.rma_right}, {"mean_loss", s.mean_loss}};
  };
  Json out = {{"left_out", e.sizes_left_out ? "sizes" : "graphs"},
              {"all", score(e.all)},
              {"median_error", e.median_error},
              {"p90_error", e.p90_error}};
  out["classes"] = Json::array();
  for (const auto& s : e.classes) out["classes"].push_back(score(s));
  return out;
}

}  // namespace merganser::app
