// Tables of topo bench. A quantile is shown only where the sample is large enough for it.
#include "apps/topo/bench_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "apps/frame/picture.hpp"
#include "apps/frame/table.hpp"
#include "apps/topo/bench.hpp"
#include "merganser/stats/summary.hpp"

namespace merganser::app {
namespace {

using topology::CellResult;

constexpr double kNear = 0.05;  // relative difference up to which medians count as equal

/// Formats an exchange time given in ns as microseconds, with three significant digits.
std::string us_text(double ns) {
  const double us = ns / 1000;
  const int digits = us >= 1000 ? 0 : us >= 100 ? 1 : us >= 10 ? 2 : 3;
  return fixed_text(us, digits);
}

/// Formats the q-quantile of exchange times in microseconds; "-" where the sample is too small for it.
std::string quantile_text(const Histogram& h, double q) {
  return allows_quantile(h.count(), q) ? us_text(h.quantile(q)) : "-";
}

/// Formats the rank that was slowest in most iterations of a cell, with their share: "3 (40 %)".
std::string slowest_text(const CellResult& c) {
  const auto most = std::max_element(c.slowest.begin(), c.slowest.end());
  const double share = static_cast<double>(*most) / static_cast<double>(std::max<std::uint64_t>(1, c.exchange.count()));
  return fmt::format("{} ({} %)", most - c.slowest.begin(), fixed_text(100 * share, 0));
}

/// Headings of the tables of topo bench, one for each completion class, in the order of kernels::Completion.
constexpr const char* kClasses[] = {"local: sources may be used again, nothing is known of the targets\n",
                                    "remote: what was sent (or asked for) has landed, the targets are not told\n",
                                    "notified: what in-neighbours sent has landed, and the rank knows it\n",
                                    "global: the exchange has ended on every rank\n"};

/// Measured cells of one process graph and completion class, which topo bench shows in one table.
struct ClassCells {
  std::vector<const CellResult*> cells;
};

/// Returns the key by which a table of topo bench is sorted: bytes of a message, multiples of weights after all of them.
double sort_key(topology::MessageSize s) { return s.weights ? 1e30 + s.bytes : s.bytes; }

/// Returns true if a measured cell has the 6 iterations that a 95 % interval of its median needs.
bool has_interval(const CellResult& c) { return c.exchange.count() >= 6; }

/// Returns the mark of a kernel in a table of topo bench: "*" for the fastest of its size, "=" for one whose median cannot be told
/// apart from it (intervals overlap, or within 5 %), else nothing.
std::string mark(const CellResult& cell, const CellResult& best) {
  if (&cell == &best) return "*";
  if (!has_interval(cell) || !has_interval(best)) return "=";
  const auto mine = cell.p50();
  const auto least = best.p50();
  return mine.low <= least.high || mine.value <= least.value * (1 + kNear) ? "=" : "";
}

/// Makes the table of one graph and completion class: kernels by size, then by median, with quantiles and published columns.
/// @param launches  true: with the deviation between launches
std::string block_text(const BenchResults& results, ClassCells block, bool launches) {
  std::stable_sort(block.cells.begin(), block.cells.end(), [](const CellResult* a, const CellResult* b) {
    const double x = sort_key(a->size), y = sort_key(b->size);
    return x != y ? x < y : a->p50().value < b->p50().value;
  });
  std::vector<std::string> headings{"kernel", "bytes", "",      "p50 us", "[95 %]",
                                    "p90",    "p99",   "p99.9", "max",    "slowest rank"};
  if (launches) headings.emplace_back("launches");
  headings.insert(headings.end(), {"| avg", "\"99 %\""});
  Table table(headings);
  const CellResult* best = nullptr;
  for (const CellResult* c : block.cells) {
    if (best == nullptr || !(best->size == c->size)) best = c;
    const auto p50 = c->p50();
    const auto published = topology::published_columns(c->rank_mean_ns, results.graphs[c->graph].arcs);
    std::vector<std::string> row{c->kernel,
                                 topology::size_text(c->size),
                                 mark(*c, *best),
                                 us_text(p50.value),
                                 has_interval(*c) ? '[' + us_text(p50.low) + ", " + us_text(p50.high) + ']' : "-",
                                 quantile_text(c->exchange, 0.9),
                                 quantile_text(c->exchange, 0.99),
                                 quantile_text(c->exchange, 0.999),
                                 us_text(static_cast<double>(c->exchange.max())),
                                 slowest_text(*c)};
    if (launches) row.push_back("+-" + fixed_text(100 * launch_variation(*c), 1) + " %");
    row.push_back("| " + us_text(1000 * published.average_us));
    row.push_back(us_text(1000 * published.p99_us));
    table.row(std::move(row));
  }
  return table.text();
}

/// Formats the cells that topo bench could not measure: a line for each reason, with up to three of its cells.
std::string unusable_text(const topology::Measurement& m) {
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const auto& u : m.unusable)
    by_reason[u.reason].push_back(u.kernel + (u.graph.empty() ? "" : " on " + u.graph) +
                                  (u.size.empty() ? "" : ", size " + u.size));
  std::string out;
  for (const auto& [reason, cells] : by_reason) {
    out += "not measured: ";
    for (std::size_t i = 0; i < std::min<std::size_t>(3, cells.size()); ++i) out += (i == 0 ? "" : "; ") + cells[i];
    if (cells.size() > 3) out += fmt::format("; and {} more", cells.size() - 3);
    out += ": " + reason + '\n';
  }
  return out;
}

/// Makes the legend below the tables of topo bench: marks, cost of the timer, published columns, clock error and late iterations.
std::string legend(const BenchResults& r, bool launches) {
  std::string text =
      "* fastest of its class and size; = cannot be told from it (intervals overlap, or within 5 %). Times: an\n"
      "iteration on its slowest rank, a time stamp of " +
      fixed_text(r.measured.timer_ns, 0) + " ns included (" + r.measured.timer + ", in steps of " +
      fixed_text(r.measured.resolution_ns, 0) + " ns; recording an\niteration costs " +
      fixed_text(r.measured.record_ns, 0) + " ns); - sample too small. ";
  text += launches
              ? "launches: standard deviation of their medians. "
              : "[95 %] is that of\nthis launch: another one may well lie outside it, --launches 5 or more tells. ";
  text +=
      "Published columns:\navg = sum of the ranks' mean times / arcs; \"99 %\" = mean time at place ceil(0.99 ranks) "
      "of "
      "the ranks, / 2: no tail.\n";
  if (r.sync == sync_choices().name(topology::Sync::roundtime)) {
    std::int64_t late = 0, all = 0;
    for (const auto& c : r.measured.cells) {
      late += c.late;
      all += c.late + static_cast<std::int64_t>(c.exchange.count());
    }
    text += "Clock error at most " + us_text(r.measured.clock_error_ns) + " us; " + count_text(late) + " of " +
            count_text(all) + " iterations began late and are not used.\n";
  } else {
    std::vector<double> skews;
    for (const auto& c : r.measured.cells) skews.push_back(c.start_skew_ns);
    if (!skews.empty())
      text += "Ranks begin an iteration within " + us_text(median(skews)) +
              " us of each other (median; clock error at most " + us_text(r.measured.clock_error_ns) + " us).\n";
  }
  return text;
}

}  // namespace

// Report of topo bench: for each graph a table by completion class, the legend, cells not measured, variation between launches.
std::string report_text(const BenchResults& results) {
  const bool launches = std::any_of(results.measured.cells.begin(), results.measured.cells.end(),
                                    [](const CellResult& c) { return c.launches.size() > 1; });
  std::string out;
  for (std::size_t g = 0; g < results.graphs.size(); ++g) {
    std::map<kernels::Completion, ClassCells> blocks;
    for (const auto& c : results.measured.cells)
      if (c.graph == g && !c.exchange.empty()) blocks[kernels::kernel(c.kernel).completion].cells.push_back(&c);
    const auto& s = results.graphs[g];
    out += fmt::format("graph {}: {} ranks, {} arcs, mean degree {}, largest {}\n", s.name, count_text(s.ranks),
                       count_text(s.arcs), fixed_text(s.mean_degree, 2), s.max_degree);
    for (auto& [completion, block] : blocks)
      out += kClasses[static_cast<std::size_t>(completion)] + block_text(results, std::move(block), launches) + '\n';
  }
  out += legend(results, launches) + unusable_text(results.measured);
  if (launches) {
    std::vector<double> variation;
    for (const auto& c : results.measured.cells) variation.push_back(launch_variation(c));
    const auto share = [](std::int64_t part, std::int64_t whole) {
      return count_text(part) + " of " + count_text(whole) + " (" +
             fixed_text(100 * static_cast<double>(part) / static_cast<double>(std::max<std::int64_t>(1, whole)), 1) +
             " %)";
    };
    const Coverage c = coverage(results);
    out += "From launch to launch medians vary by " + fixed_text(100 * median(variation), 1) +
           " % (standard deviation, median over cells; largest " +
           fixed_text(100 * *std::max_element(variation.begin(), variation.end()), 1) +
           " %).\nThe median of all launches is in " + share(c.launches_covered, c.launches) +
           " of the intervals of one launch";
    if (c.groups > 0) out += ", in " + share(c.groups_covered, c.groups) + " of those of ten launches";
    out += ".\n";
  }
  return out;
}

std::string warnings_text(const BenchResults& results) {
  std::string out;
  if (results.oversubscribed)
    out += fmt::format(
        "merganser: warning: {} ranks share {}{}: ranks wait for their turn on a core, and times tell of the scheduler "
        "as much as of messages\n",
        results.ranks, results.cores, results.cores == 1 ? " core" : " cores");
  std::size_t wide = 0;
  for (const auto& c : results.measured.cells) wide += c.p50().relative_width() > 0.1 ? 1 : 0;
  if (wide > 0)
    out += fmt::format(
        "merganser: warning: {} of {} medians are known to no better than 10 %: give more --time, or a quieter "
        "machine\n",
        wide, results.measured.cells.size());
  return out;
}

void report(const TopoBenchOptions& o, const Invocation& in, const BenchResults& results) {
  if (!o.json.empty()) write_compact_record(o.json, bench_record(in, results, o.launch > 0));
  if (!o.csv.empty()) write_text_file(o.csv, csv_text(results));
  if (!o.picture.empty()) write_record_picture(o.picture, bench_record(in, results));
  if (o.quiet) return;
  std::cerr << warnings_text(results);
  if (o.json != "-" && o.csv != "-") std::cout << report_text(results);
}

}  // namespace merganser::app
