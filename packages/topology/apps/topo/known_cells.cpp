// Records of topo bench read as measured cells, and advice as text and JSON.
// A record may come from anywhere: every field is checked, and errors name the file and the field.
#include "apps/topo/known_cells.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "apps/frame/environment.hpp"
#include "apps/frame/provenance.hpp"
#include "apps/frame/secrets.hpp"
#include "apps/frame/table.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/log.hpp"
#include "merganser/base/options.hpp"
#include "merganser/base/text.hpp"
#include "merganser/kernels/exchange.hpp"

namespace merganser::app {
namespace {

constexpr std::int64_t kMaxCount = std::numeric_limits<std::int32_t>::max();  // largest number of ranks, cores, arcs
constexpr double kMaxBytes = 1e18;                                            // largest number of bytes of an exchange

/// One process graph of a record of topo bench; filled by read_graphs().
struct KnownGraph {
  std::string digest;
  topology::Load load;  // ranks, cores, arcs and degree; bytes differ by cell
};

/// Reads the process graphs of a record of topo bench, by name. @param cores  cores of the host that the record is from
/// @throws InputError naming the file and the field
std::map<std::string, KnownGraph> read_graphs(const Field& topology, int cores) {
  std::map<std::string, KnownGraph> out;
  for (const Field& g : topology.at("graphs").list()) {
    KnownGraph known;
    known.digest = g.at("digest").text();
    known.load.ranks = static_cast<int>(g.at("ranks").whole(1, kMaxCount));
    known.load.cores = cores;
    known.load.arcs = static_cast<double>(g.at("arcs").whole(1, kMaxCount));
    known.load.degree = static_cast<double>(g.at("max_degree").whole(0, kMaxCount));
    if (g.has("max_in_degree"))
      known.load.degree = std::max(known.load.degree, static_cast<double>(g.at("max_in_degree").whole(0, kMaxCount)));
    if (known.load.degree < 1 || known.load.degree > known.load.arcs)
      g.at("max_degree").fail("is " + number_text(known.load.degree) + "; allowed: 1 to the number of arcs");
    out[g.at("name").text()] = known;
  }
  return out;
}

/// Formats the share of time that one kernel saves against another, with its interval: "20 % (15 .. 26)".
std::string saving_text(const Interval& s) {
  const auto percent = [](double x) { return fixed_text(100 * x, 0); };
  return percent(s.value) + " % (" + percent(s.low) + " .. " + percent(s.high) + ")";
}

/// Makes the object of a saved share of time, with its interval, in the record of topo advise.
Json saving_json(const Interval& s) { return {{"share", s.value}, {"low", s.low}, {"high", s.high}}; }

/// Returns the MPI or OpenSHMEM calls of one iteration of an exchange kernel; empty for a kernel that this build does not have.
std::string kernel_calls(const std::string& kernel) {
  for (const auto& known : kernels::kernels())
    if (known.name == kernel) return std::string(known.description);
  return "";
}

/// Returns the environment variables and library components in the provenance of a record, without secrets and without variables
/// that are no settings, which older records have.
Json recorded_settings(const Json& provenance) {
  Json out = {{"variables", Json::object()}, {"components", Json::object()}};
  for (const char* key : {"variables", "components"}) {
    if (!provenance.contains(key) || !provenance[key].is_object()) continue;
    for (const auto& [name, value] : provenance[key].items())
      if (std::string(key) == "components" || (is_setting(utf8_to_bytes(name)) && value.is_string()))
        out[key][name] = value.is_string() ? Json(without_secrets(value.get<std::string>())) : value;
  }
  return out;
}

/// Returns the confidence level of the intervals of times in the advice of one completion class.
double confidence(const topology::ClassAdvice& c) {
  return c.kernels.front().predicted ? topology::Prediction::kConfidence : 0.95;
}

/// Formats a confidence level as the heading of a column: "95 % interval".
std::string interval_text(double level) { return fixed_text(100 * level, 0) + " % interval"; }

/// Makes the table of topo advise for one completion class: kernels with time, interval, probability of being fastest, saving.
std::string class_text(const topology::ClassAdvice& c) {
  const std::string interval = interval_text(confidence(c));
  Table t({c.completion, "time", interval, "probability of being fastest", "fastest saves against it", ""});
  for (const auto& k : c.kernels) {
    const Standing& s = k.standing;
    t.row({k.kernel, seconds_text(s.time.value * 1e-9),
           seconds_text(s.time.low * 1e-9) + " .. " + seconds_text(s.time.high * 1e-9), percent_text(s.probability),
           s.saving.value == 0 ? "" : saving_text(s.saving),
           s.near_tie ? (s.told_apart ? "near tie" : "not told apart") : ""});
  }
  return t.text();
}

/// Formats the verdict of topo advise on one completion class: fastest kernel, its probability, saving against p2p, near ties.
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
  return out + (c.near_ties.empty() ? "" : "; near tie with " + joined(c.near_ties)) + '\n';
}

/// Makes the table of cross-validated predictions: share of launches in their predicted intervals, errors, launches not predicted.
std::string coverage_text(const topology::Evaluation& e) {
  Table t({"left out", "launches", "in the " + interval_text(topology::Prediction::kConfidence), "its ends, median",
           "error, median", "p90", "not predicted"});
  const auto row = [&t](const std::string& name, const topology::Evaluation::Coverage& c) {
    if (c.launches + c.refused == 0) return;
    if (c.launches == 0) return t.row({name, "0", "", "", "", "", std::to_string(c.refused)});
    t.row({name, std::to_string(c.launches), percent_text(static_cast<double>(c.inside) / c.launches),
           "x / " + fixed_text(c.median_factor, 2), percent_text(c.median_error), percent_text(c.p90_error),
           std::to_string(c.refused)});
  };
  row("graphs", e.graphs);
  row("sizes", e.sizes);
  return t.text();
}

}  // namespace

// Measured cells from a record of topo bench, as input of advice and hints; every field is validated.
Known read_known(const Json& json, const std::string& path) {
  const Field record(json, path);
  check_schema(record);
  if (!record.has("topology")) throw InputError(path + " is no record of topo bench or topo replay");
  const Field topology = record.at("topology");
  const auto graphs = read_graphs(topology, static_cast<int>(record.at("provenance").at("cores").whole(1, kMaxCount)));
  Known out;
  for (const Field& c : topology.at("cells").list()) {
    const auto graph = graphs.find(c.at("graph").text());
    if (graph == graphs.end()) c.at("graph").fail("names a graph that is not in topology.graphs");
    topology::KnownCell known;
    known.graph = graph->second.digest;
    known.kernel = c.at("kernel").text();
    known.model = c.at("model").text();
    known.completion = c.at("completion").text();
    const auto& classes = kernels::kCompletionNames;
    if (std::find(classes.begin(), classes.end(), known.completion) == classes.end())
      c.at("completion").fail("is \"" + known.completion + "\"; allowed: local, remote, notified, global");
    known.load = graph->second.load;
    known.load.bytes = c.at("bytes_total").number();
    if (known.load.bytes < 0 || known.load.bytes > kMaxBytes)
      c.at("bytes_total").fail("is " + number_text(known.load.bytes) + "; allowed: 0 to " + number_text(kMaxBytes));
    known.load.rank_bytes = known.load.bytes / known.load.arcs * known.load.degree;
    known.launches = launches_ns(c);
    known.source = path;
    known.load_per_core = load_per_core(record.at("provenance").json());
    out.cells.push_back(std::move(known));
  }
  if (out.cells.empty()) throw InputError(path + ": nothing was measured (topology.cells is empty)");
  out.unusable = read_unusable(topology);
  out.oversubscribed = topology.has("oversubscribed") && topology.at("oversubscribed").json() == Json(true);
  out.surroundings = recorded_settings(record.at("provenance").json());
  return out;
}

std::vector<topology::UnusableCell> read_unusable(const Field& topology) {
  std::vector<topology::UnusableCell> out;
  if (!topology.has("unusable")) return out;
  const auto text = [](const Field& u, const char* key) { return u.has(key) ? u.at(key).text() : std::string(); };
  for (const Field& u : topology.at("unusable").list())
    out.push_back({u.at("kernel").text(), text(u, "graph"), text(u, "size"), u.at("reason").text()});
  return out;
}

std::string machine_text(std::int64_t cores, const std::string& cpu) { return cores_text(cores) + " of " + cpu; }

std::string machine_text(const Json& json, const std::string& path) {
  const Field provenance = Field(json, path).at("provenance");
  return machine_text(provenance.at("cores").whole(1, kMaxCount), provenance.at("cpu").text());
}

// Settings of the measurement in topo advise: a program with other settings may have another fastest kernel.
std::string settings_text(const Json& surroundings) {
  const Json known = recorded_settings(surroundings.is_object() ? surroundings : Json::object());
  if (known["variables"].empty() && known["components"].empty())
    return "settings: not known; a program with others may do worse, and another kernel may be best\n";
  std::string out = "settings of what was measured; a program needs them too, else another kernel may be best:\n";
  for (const auto& [name, value] : known["variables"].items())
    out += "  " + one_line(name + '=' + value.get<std::string>()) + '\n';
  for (const auto& [framework, names] : known["components"].items())
    out += "  " + one_line("component " + framework + ' ' + names.dump()) + '\n';
  return out;
}

// Conclusion of topo advise for a completion class: calls of the fastest kernel and of near ties, then the advised models.
std::string conclusion_text(const topology::ClassAdvice& advice) {
  std::string calls, ties;
  for (const auto& k : advice.kernels) {
    const bool best = &k == &advice.kernels.front();
    if (!best && std::find(advice.near_ties.begin(), advice.near_ties.end(), k.kernel) == advice.near_ties.end())
      continue;
    if (const std::string its = kernel_calls(k.kernel); !its.empty())
      calls += "calls of " + k.kernel + ": " + its + '\n';
    if (!best) ties += (ties.empty() ? "; a tie with " : ", ") + k.model + " (" + k.kernel + ')';
  }
  const auto& best = advice.kernels.front();
  return calls + "advice: " + best.model + " (" + best.kernel + ')' + ties + "\n\n";
}

std::string advice_text(const std::vector<topology::ClassAdvice>& classes, const std::string& first) {
  std::string out;
  for (const bool chosen : {true, false})
    for (const auto& c : classes)
      if ((c.completion == first) == chosen) out += class_text(c) + "  " + c.completion + ": " + verdict_text(c) + '\n';
  return out;
}

// Advice by completion class in the record of topo advise.
Json advice_json(const std::vector<topology::ClassAdvice>& classes) {
  const auto kernel = [](const auto& k) {
    return Json{{"kernel", k.kernel},
                {"model", k.model},
                {"calls", kernel_calls(k.kernel)},
                {"time_ns", k.standing.time.value},
                {"low_ns", k.standing.time.low},
                {"high_ns", k.standing.time.high},
                {"probability", k.standing.probability},
                {"near_tie", k.standing.near_tie},
                {"told_apart", k.standing.told_apart},
                {"fastest_saves", saving_json(k.standing.saving)},
                {"predicted", k.predicted}};
  };
  return json_list(classes, [&](const topology::ClassAdvice& c) {
    return Json{{"completion", c.completion},
                {"advice", c.kernels.front().kernel},
                {"probability", c.kernels.front().standing.probability},
                {"saves_against_baseline", c.against_baseline ? saving_json(*c.against_baseline) : Json()},
                {"near_ties", c.near_ties},
                {"confidence", confidence(c)},
                {"kernels", json_list(c.kernels, kernel)}};
  });
}

std::string unknown_text(const std::vector<topology::Unknown>& unknown) {
  std::string out;
  for (const auto& u : unknown) {
    std::string kernels;
    for (const auto& k : u.kernels) kernels += (kernels.empty() ? " (" : ", ") + k;
    out += "cannot be predicted" + (u.all ? "" : kernels + ")") + ": " + u.reason + '\n';
  }
  return out;
}

Json unknown_json(const std::vector<topology::Unknown>& unknown) {
  return json_list(unknown, [](const topology::Unknown& u) {
    return Json{{"reason", u.reason}, {"kernels", u.kernels}, {"all", u.all}};
  });
}

// Tables of topo advise --evaluate: scores by completion class, then coverage of predicted intervals.
std::string evaluation_text(const topology::Evaluation& e) {
  Table t({"class", "held-out cells", "advice right", "always p2p", "always rma", "mean loss of advice"});
  const auto row = [&t](const topology::Evaluation::Score& s) {
    const auto share = [&s](int n) { return percent_text(s.cells > 0 ? static_cast<double>(n) / s.cells : 0); };
    t.row({s.completion, std::to_string(s.cells), share(s.right), share(s.p2p_right), share(s.rma_right),
           percent_text(s.mean_loss)});
  };
  for (const auto& s : e.classes) row(s);
  row(e.all);
  return t.text() + "  right: the winner, or within 5 % of it; each " + (e.sizes_left_out ? "size" : "graph") +
         " was left out in turn\n\n" + coverage_text(e);
}

Json evaluation_json(const topology::Evaluation& e) {
  const auto score = [](const topology::Evaluation::Score& s) {
    return Json{{"completion", s.completion}, {"cells", s.cells},         {"right", s.right},
                {"p2p_right", s.p2p_right},   {"rma_right", s.rma_right}, {"mean_loss", s.mean_loss}};
  };
  const auto coverage = [](const topology::Evaluation::Coverage& c) {
    return Json{{"launches", c.launches},         {"inside", c.inside},       {"refused", c.refused},
                {"median_error", c.median_error}, {"p90_error", c.p90_error}, {"median_factor", c.median_factor}};
  };
  return {{"left_out", e.sizes_left_out ? "sizes" : "graphs"},
          {"all", score(e.all)},
          {"confidence", topology::Prediction::kConfidence},
          {"graphs", coverage(e.graphs)},
          {"sizes", coverage(e.sizes)},
          {"classes", json_list(e.classes, score)}};
}

}  // namespace merganser::app
