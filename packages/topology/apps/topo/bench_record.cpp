// The record of topo bench: written, read back, and joined over launches.
// Fields of results that a record holds as they are stand in one list, which writes and reads them; cell_json() adds what
// follows from them, and read_cell() reads back the part of that from which results are made again.
#include "apps/topo/bench_record.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "apps/compare/record.hpp"
#include "apps/frame/fields.hpp"
#include "apps/topo/bench.hpp"
#include "apps/topo/known_cells.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/options.hpp"
#include "merganser/stats/summary.hpp"

namespace merganser::app {

// Fields of the record that are written and read alike, in namespace app for fields.hpp.
/// Lists the fields of a timed round in the record of topo bench.
template <class V>
void fields(V&& v, topology::Round& r) {
  v("launch", r.launch, "iterations", r.iterations, "p50_ns", r.p50_ns, "mean_ns", r.mean_ns, "p99_ns", r.p99_ns);
}
/// Lists the fields of a measured cell (kernel, graph, size) in the record of topo bench that are stored as they are.
template <class V>
void fields(V&& v, topology::CellResult& c) {
  v("kernel", c.kernel, "bytes_total", c.bytes_total, "messages_total", c.messages_total, "rounds", c.rounds,
    "rank_p50_ns", c.rank_p50_ns, "rank_mean_ns", c.rank_mean_ns, "start_skew_ns", c.start_skew_ns, "late", c.late,
    "seconds", c.seconds);
}
/// Lists the fields of a measured process graph in the record of topo bench.
template <class V>
void fields(V&& v, GraphSummary& g) {
  v("name", g.name, "ranks", g.ranks, "arcs", g.arcs, "mean_degree", g.mean_degree, "max_degree", g.max_degree,
    "digest", g.digest, "bytes_per_arc_known", g.weighted);
}
/// Lists the fields of the part "topology" in the record of topo bench, its cells left out.
template <class V>
void fields(V&& v, BenchResults& r) {
  topology::Measurement& m = r.measured;
  v("sync", r.sync, "clock_error_ns", m.clock_error_ns, "timer_ns", m.timer_ns, "record_ns", m.record_ns,
    "timer_resolution_ns", m.resolution_ns, "timer", m.timer, "buffers", r.buffers, "oversubscribed", r.oversubscribed,
    "ranks", r.ranks, "cores", r.cores, "control", r.control, "seconds", m.seconds, "graphs", r.graphs);
}

namespace {

using topology::CellResult;

/// Returns the q-quantile of exchange times [ns] for a record, or null where the sample is too small for it.
Json quantile_json(const Histogram& h, double q) {
  return allows_quantile(h.count(), q) ? Json(h.quantile(q)) : Json();
}

/// Makes the object of a histogram of times in a record of topo bench: bits per bucket, first bucket, counts.
Json histogram_json(const Histogram& h) {
  return {{"bits", Histogram::kBits},
          {"first", h.first()},
          {"counts", std::vector<std::uint64_t>(h.counts().begin(), h.counts().end())}};
}

/// Makes the object of statistics of times in a record of topo bench: extremes, quantiles, mean, and the interval of the median.
Json statistics_json(const Histogram& h, const Interval& p50) {
  return {{"min_ns", h.min()},
          {"p50_ns", p50.value},
          {"p50_low_ns", p50.low},
          {"p50_high_ns", p50.high},
          {"p90_ns", quantile_json(h, 0.9)},
          {"p99_ns", quantile_json(h, 0.99)},
          {"p999_ns", quantile_json(h, 0.999)},
          {"max_ns", h.max()},
          {"mean_ns", h.mean()}};
}

/// Computes the interval of the median of all ranks' pooled times of a cell: that of the exchange time, scaled, since both have
/// rounds as their blocks.
Interval pooled_interval(const CellResult& c) {
  const auto exchange = c.p50();
  const double value = c.ranks.quantile(0.5);
  const double factor = exchange.value > 0 ? value / exchange.value : 1;
  return {exchange.low * factor, value, exchange.high * factor};
}

/// Returns, by rank, the share of a cell's iterations in which that rank was the slowest.
std::vector<double> slowest_share(const CellResult& c) {
  std::vector<double> out;
  const auto n = static_cast<double>(std::max<std::uint64_t>(1, c.exchange.count()));
  for (const auto s : c.slowest) out.push_back(static_cast<double>(s) / n);
  return out;
}

/// Returns the bytes of a message for a record; null for sizes in units of the arcs' weights.
Json size_json(topology::MessageSize s) {
  return s.weights ? Json() : Json(static_cast<std::int64_t>(std::llround(s.bytes)));
}

/// Makes the object of one measured cell in the record of topo bench: stored fields, and statistics computed from them.
/// @param joinable  true: with the field "joining", from which read_cell() restores the cell
Json cell_json(const BenchResults& results, const CellResult& c, bool joinable) {
  const auto& kernel = kernels::kernel(c.kernel);
  const auto published = topology::published_columns(c.rank_mean_ns, results.graphs[c.graph].arcs);
  Json j = {{"graph", results.graphs[c.graph].name}};
  j.update(serialize(c));
  j["model"] = kernel.model;
  j["completion"] = kernels::completion_name(kernel.completion);
  j["bytes"] = size_json(c.size);
  j["size"] = topology::size_text(c.size);
  j["iterations"] = c.exchange.count();
  j["exchange"] = statistics_json(c.exchange, c.p50());
  j["ranks"] = statistics_json(c.ranks, pooled_interval(c));
  j["slowest_share"] = slowest_share(c);
  const double outliers = c.exchange.sum_above(0.99);
  j["outliers"] = {{"count", c.exchange.count() / 100},
                   {"share_of_time", c.exchange.sum() > 0 ? outliers / c.exchange.sum() : 0.0}};
  j["published"] = {{"average_us", published.average_us},
                    {"p99_us", published.p99_us},
                    {"max_us", published.max_us},
                    {"stddev_us", published.stddev_us}};
  j["launch_p50_ns"] = json_list(c.launches, [](const Interval& l) { return l.value; });
  j["launch_p50_interval_ns"] = json_list(c.launches, [](const Interval& l) { return Json{l.low, l.high}; });
  j["histogram"] = histogram_json(c.exchange);
  // Two graphs may have one name, and pooled times of ranks of two launches have no quantiles without their histograms.
  if (joinable) j["joining"] = {{"graph", c.graph}, {"ranks", histogram_json(c.ranks)}};
  return j;
}

/// Restores a histogram of times from a record of topo bench: from its buckets and the statistics beside them.
Histogram read_histogram(const Json& buckets, const Json& statistics) {
  Histogram::Parts p;
  buckets.at("first").get_to(p.first);
  buckets.at("counts").get_to(p.counts);
  statistics.at("min_ns").get_to(p.min);
  statistics.at("max_ns").get_to(p.max);
  // Samples are whole nanoseconds, so the rounded product is their sum again.
  p.sum = std::round(statistics.at("mean_ns").get<double>() * std::accumulate(p.counts.begin(), p.counts.end(), 0.0));
  return Histogram::from_parts(p);
}

/// Restores one measured cell from a joinable record of topo bench. @param graphs  number of graphs in the record
/// @throws InputError for a cell of a graph that is not in the record
CellResult read_cell(const Json& j, std::size_t graphs) {
  auto c = deserialize<CellResult>(j);
  const Json& joining = j.at("joining");
  joining.at("graph").get_to(c.graph);
  if (c.graph >= graphs)
    throw InputError(fmt::format("record of topo bench: a cell of graph {}; allowed: below {}", c.graph, graphs));
  c.size = parse_message_size(j.at("size").get<std::string>());
  c.exchange = read_histogram(j.at("histogram"), j.at("exchange"));
  c.ranks = read_histogram(joining.at("ranks"), j.at("ranks"));
  for (const auto& share : j.at("slowest_share"))
    c.slowest.push_back(std::llround(share.get<double>() * static_cast<double>(c.exchange.count())));
  const Json& intervals = j.at("launch_p50_interval_ns");
  for (std::size_t i = 0; i < intervals.size(); ++i)
    c.launches.push_back({intervals[i].at(0), j.at("launch_p50_ns").at(i), intervals[i].at(1)});
  return c;
}

/// Averages mean times by rank of two launches in place: a becomes the mean of a and b with weight `weight_of_b` for b.
void mix(std::vector<double>& a, const std::vector<double>& b, double weight_of_b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) a[i] += weight_of_b * (b[i] - a[i]);
}

/// Joins the results of one cell from another launch of topo bench: histograms are added, means weighted by iterations.
void merge_cell(CellResult& into, const CellResult& other) {
  const double weight = static_cast<double>(other.exchange.count()) /
                        static_cast<double>(std::max<std::uint64_t>(1, into.exchange.count() + other.exchange.count()));
  mix(into.rank_mean_ns, other.rank_mean_ns, weight);
  mix(into.rank_p50_ns, other.rank_p50_ns, weight);
  into.start_skew_ns += weight * (other.start_skew_ns - into.start_skew_ns);
  into.exchange += other.exchange;
  into.ranks += other.ranks;
  into.rounds.insert(into.rounds.end(), other.rounds.begin(), other.rounds.end());
  into.launches.insert(into.launches.end(), other.launches.begin(), other.launches.end());
  for (std::size_t r = 0; r < std::min(into.slowest.size(), other.slowest.size()); ++r)
    into.slowest[r] += other.slowest[r];
  into.late += other.late;
  into.seconds += other.seconds;
}

/// Formats a number of a record for the table of comma-separated values; empty for null.
std::string csv_number(const Json& j) { return j.is_null() ? "" : number_text(j.get<double>()); }

}  // namespace

// Joining of two launches of topo bench: cells of equal graph, kernel and size are merged, costs of the clock are the larger ones.
void BenchResults::merge(const BenchResults& other) {
  if (graphs.empty() && measured.cells.empty()) {
    *this = other;
    return;
  }
  for (const auto& theirs : other.measured.cells) {
    // A cell is identified by graph, kernel and size; a cell that only the other launch measured is taken over.
    const auto same = [&](const CellResult& c) {
      return c.graph == theirs.graph && c.kernel == theirs.kernel && c.size == theirs.size;
    };
    const auto at = std::find_if(measured.cells.begin(), measured.cells.end(), same);
    if (at == measured.cells.end()) {
      measured.cells.push_back(theirs);
    } else {
      merge_cell(*at, theirs);
    }
  }
  for (const auto& u : other.measured.unusable) {
    const auto same = [&](const topology::UnusableCell& mine) {
      return mine.kernel == u.kernel && mine.graph == u.graph && mine.size == u.size;
    };
    if (std::none_of(measured.unusable.begin(), measured.unusable.end(), same)) measured.unusable.push_back(u);
  }
  measured.seconds += other.measured.seconds;
  measured.clock_error_ns = std::max(measured.clock_error_ns, other.measured.clock_error_ns);
  measured.timer_ns = std::max(measured.timer_ns, other.measured.timer_ns);
  measured.record_ns = std::max(measured.record_ns, other.measured.record_ns);
  measured.resolution_ns = std::max(measured.resolution_ns, other.measured.resolution_ns);
  oversubscribed = oversubscribed || other.oversubscribed;
}

bool BenchResults::has_measurement() const {
  return std::any_of(measured.cells.begin(), measured.cells.end(), [](const auto& c) { return !c.exchange.empty(); });
}

std::string BenchResults::why_nothing() const {
  return "nothing could be measured" + (measured.unusable.empty() ? "" : ": " + measured.unusable.front().reason);
}

Json bench_record(const Invocation& in, const BenchResults& results, bool joinable) {
  RunPlacement placement;
  placement.ranks = results.ranks;
  placement.model = results.control;
  Json record = make_record(in, placement);
  set_environment(record, results.surroundings);
  Json& j = record["topology"] = serialize(results);
  j["cells"] = Json::array();
  for (const auto& c : results.measured.cells)
    if (!c.exchange.empty()) j["cells"].push_back(cell_json(results, c, joinable));
  j["unusable"] = unusable_json(results.measured.unusable);
  return record;
}

Json unusable_json(const std::vector<topology::UnusableCell>& unusable) {
  Json out = Json::array();
  for (const auto& u : unusable) {
    Json entry = {{"kernel", u.kernel}, {"reason", u.reason}};
    if (!u.graph.empty()) entry["graph"] = u.graph;
    if (!u.size.empty()) entry["size"] = u.size;
    out.push_back(entry);
  }
  return out;
}

// Results of one launch of topo bench, restored from the joinable record that the job has written.
BenchResults read_results(const Json& record) {
  const Json& topology = record.at("topology");
  auto results = deserialize<BenchResults>(topology);
  for (const Json& cell : topology.at("cells"))
    results.measured.cells.push_back(read_cell(cell, results.graphs.size()));
  results.measured.unusable = read_unusable(Field(topology, "record of topo bench"));
  for (const char* key : {"binding", "variables", "components"})
    results.surroundings[key] = record.at("provenance").at(key);
  return results;
}

// Table of topo bench --csv: a line for each measured cell; quantiles of small samples are empty.
std::string csv_text(const BenchResults& results) {
  std::string out =
      "graph,ranks,arcs,kernel,model,completion,size,bytes_total,iterations,rounds,launches,min_ns,p50_ns,p50_low_ns,"
      "p50_high_ns,p90_ns,p99_ns,p999_ns,max_ns,mean_ns,rank_p50_min_ns,rank_p50_max_ns,slowest_rank,slowest_share,"
      "start_skew_ns,late,published_average_us,published_p99_us,published_max_us,published_stddev_us\n";
  for (const auto& c : results.measured.cells) {
    if (c.exchange.empty()) continue;
    const Json j = cell_json(results, c, false);
    const auto& g = results.graphs[c.graph];
    const auto text = [&j](const char* key) { return j.at(key).get<std::string>(); };
    out += fmt::format("\"{}\",{},{},{},{},{},{},{},{},{},{}", g.name, g.ranks, g.arcs, text("kernel"), text("model"),
                       text("completion"), text("size"), c.bytes_total, c.exchange.count(), c.rounds.size(),
                       c.launches.size());
    for (const char* key :
         {"min_ns", "p50_ns", "p50_low_ns", "p50_high_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns", "mean_ns"})
      out += ',' + csv_number(j["exchange"][key]);
    const auto [low, high] = std::minmax_element(c.rank_p50_ns.begin(), c.rank_p50_ns.end());
    const auto slowest = std::max_element(c.slowest.begin(), c.slowest.end()) - c.slowest.begin();
    out += fmt::format(",{},{},{},{},{},{}", number_text(*low), number_text(*high), slowest,
                       csv_number(j["slowest_share"][static_cast<std::size_t>(slowest)]), number_text(c.start_skew_ns),
                       c.late);
    for (const char* key : {"average_us", "p99_us", "max_us", "stddev_us"})
      out += ',' + csv_number(j["published"][key]);
    out += '\n';
  }
  return out;
}

// Scans the indented JSON text once: an innermost list, one without lists, objects or strings in it, loses its white space.
std::string compact_text(const Json& record) {
  const std::string text = json_text(record, 1);
  std::string out;
  out.reserve(text.size());
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') in_string = !in_string;
    if (in_string && c == '\\') out += text[i++];
    if (in_string || c != '[') {
      out += text[i];
      continue;
    }
    const std::size_t end = text.find_first_of("[]{}\"", i + 1);
    if (end == std::string::npos || text[end] != ']') {
      out += c;
      continue;
    }
    for (; i < end; ++i)
      if (text[i] != '\n' && text[i] != ' ') out += text[i];
    out += ']';
  }
  return out + '\n';
}

void write_compact_record(const std::string& path, const Json& record) { write_text_file(path, compact_text(record)); }

// The median of all launches of a cell stands for the truth; groups take every `groups`-th launch, so that each is spread over
// the whole time of measuring.
Coverage coverage(const BenchResults& results) {
  constexpr std::size_t kGroup = 10;
  Coverage out;
  for (const auto& c : results.measured.cells) {
    if (c.launches.size() < 2) continue;
    std::vector<double> values;
    for (const auto& l : c.launches) values.push_back(l.value);
    const double truth = median(values);
    for (const auto& l : c.launches) {
      ++out.launches;
      out.launches_covered += l.low <= truth && truth <= l.high ? 1 : 0;
    }
    const std::size_t groups = values.size() < 2 * kGroup ? 0 : values.size() / kGroup;
    for (std::size_t g = 0; g < groups; ++g) {
      std::vector<double> group;
      for (std::size_t l = g; l < values.size(); l += groups) group.push_back(values[l]);
      const Interval interval = block_median_interval(group);
      ++out.groups;
      out.groups_covered += interval.low <= truth && truth <= interval.high ? 1 : 0;
    }
  }
  return out;
}

double launch_variation(const CellResult& cell) {
  if (cell.launches.size() < 2) return 0;
  double sum = 0;
  double square = 0;
  for (const auto& l : cell.launches) sum += l.value;
  const auto n = static_cast<double>(cell.launches.size());
  for (const auto& l : cell.launches) square += (l.value - sum / n) * (l.value - sum / n);
  return sum > 0 ? std::sqrt(square / (n - 1)) / (sum / n) : 0;
}

}  // namespace merganser::app
