// Tables of bench msf: published numbers beside measured ones.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "apps/bench_msf/analysis.hpp"
#include "apps/frame/table.hpp"
#include "merganser/stats/summary.hpp"
#include "merganser/studies/msf_published.hpp"

namespace merganser::app {
namespace {

namespace pub = studies;

/// Formats a share in percent with two digits: "12.34 %".
std::string percent(double x) { return fixed_text(x, 2) + " %"; }
/// Formats a time in seconds as microseconds with two digits.
std::string microseconds(double s) { return fixed_text(s * 1e6, 2); }
/// Formats the ends of the interval of a median time: "1.2 ms to 1.4 ms".
std::string interval(const Interval& i) { return seconds_text(i.low) + " to " + seconds_text(i.high); }

/// Makes table T1 of bench msf: properties of the published web graphs, and of the graphs here.
std::string facts_table(const MsfResults& r, const std::string& not_comparable) {
  Table published({"published (T1)", "size", "vertices", "edges (arcs)", "max degree", "E/V"});
  for (const auto& g : pub::kWebgraphs) {
    published.row({std::string(g.name), fixed_text(g.gigabytes, 2) + " GB", general_text(g.vertices, 3),
                   general_text(g.arcs, 3), general_text(g.max_degree, 3), fixed_text(g.arcs_per_vertex, 2)});
  }
  Table here({"here", "size", "vertices", "arcs", "max degree", "E/V"});
  for (const auto& g : r.graphs) {
    here.row({g.graph, bytes_text(static_cast<double>(g.bytes)), count_text(g.vertices), count_text(2 * g.edges),
              count_text(g.max_degree), fixed_text(g.arcs_per_vertex(), 2)});
  }
  return "T1  graphs. Published edges are arcs, two for each edge; sizes are those of files, here of the edges in\n"
         "memory. The graphs are others. " +
         not_comparable + "\n\n" + published.text() + '\n' + here.text();
}

/// Makes tables T2 and T3 of bench msf: sizes of the symmetric heap with which forests were found, published and tried here.
std::string memory_table(const MsfResults& r, const std::string& not_comparable) {
  Table published({"published (T2, T3): heap", "buffer", "ara-2005", "uk-2005"});
  for (const auto& row : pub::kMemoryRows)
    published.row(
        {std::string(row.heap), std::string(row.buffer), std::string(row.ara_2005), std::string(row.uk_2005)});
  Table here({"here: heap", "ranks", "graph", "", "time"});
  std::set<std::string> reasons;
  for (const auto& h : r.heaps) {
    const bool worked = h.failure.empty();
    here.row({fmt::format("{} MiB", h.heap_mib), std::to_string(h.ranks), h.what.graph.name, worked ? "S" : "-",
              worked ? seconds_text(median(h.seconds)) : ""});
    if (!worked) reasons.insert("  -: " + h.failure + '\n');
  }
  std::string text =
      "T2, T3  symmetric memory, S: success, -: failure. Published columns: 1, 2, 4 nodes with 4, 8, 16, 32\n"
      "processes. Open MPI's OpenSHMEM has no buffer for collectives of its own and gives 2 MiB at least; what the\n"
      "tuned style needs grows with the ranks (to 16 MiB), not with the graph. " +
      not_comparable + "\n\n" + published.text() + '\n' + (r.heaps.empty() ? "none tried here\n" : here.text());
  for (const auto& reason : reasons) text += reason;
  return text;
}

/// Returns the times of one collective operation by model, ranks and message size; null if it was not measured.
const CollectiveResult* find_collective(const MsfResults& r, const std::string& call, const std::string& model,
                                        int ranks, std::int64_t bytes) {
  for (const auto& c : r.collectives)
    if (c.call == call && c.model == model && c.ranks == ranks && c.bytes == bytes) return &c;
  return nullptr;
}

/// Formats the time of a collective operation, "median [low, high]" in microseconds; empty if it was not measured.
std::string median_text(const CollectiveResult* c) {
  if (c == nullptr) return "";
  const Interval& m = c->seconds.median;
  return microseconds(m.value) + " [" + microseconds(m.low) + ", " + microseconds(m.high) + "]";
}

/// Returns the row of a published table of [ing2021] whose member `key`, ranks or nodes, has this value; null if there is none.
template <class Row, std::size_t kRows>
const Row* find_row(const std::array<Row, kRows>& published, int Row::*key, int value) {
  const auto at = std::find_if(published.begin(), published.end(), [&](const Row& p) { return p.*key == value; });
  return at == published.end() ? nullptr : &*at;
}

/// Returns the numbers of ranks on which a collective operation was measured, ascending.
std::set<int> measured_ranks(const MsfResults& r, const std::string& call) {
  std::set<int> ranks;
  for (const auto& c : r.collectives)
    if (c.call == call) ranks.insert(c.ranks);
  return ranks;
}

/// Makes tables T4 and F15 of bench msf: times of barriers by ranks, published and measured in each model.
std::string barrier_table(const MsfPlan& plan, const MsfResults& r, const std::string& not_comparable) {
  std::vector<std::string> heading{"ranks (published: nodes)", "published MPI", "SHMEM"};
  for (const auto& m : plan.models) heading.push_back(m + " [95 %]");
  Table table(heading);
  auto rows = measured_ranks(r, "barrier");
  for (const auto& p : pub::kBarrierMicroseconds) rows.insert(p.at);
  for (const int ranks : rows) {
    const auto* known = find_row(pub::kBarrierMicroseconds, &pub::MpiAndShmem::at, ranks);
    std::vector<std::string> row{std::to_string(ranks), known ? fixed_text(known->mpi, 2) : "",
                                 known ? fixed_text(known->shmem, 2) : ""};
    for (const auto& m : plan.models) row.push_back(median_text(find_collective(r, "barrier", m, ranks, 0)));
    table.row(row);
  }
  return "T4, F15  barriers, microseconds: median over iterations of the slowest rank, each begun after a "
         "dissemination\n"
         "barrier outside the clock. They are the library's: MPI_Ibarrier and its completion (p2p, neighborhood, "
         "rma),\n"
         "shmem_barrier_all (shmem). Published: means of OSU microbenchmarks, one process a node. " +
         not_comparable + "\n\n" + table.text();
}

/// Makes figures F3, F12 and F13 of bench msf as a table: times of exchanges along one arc by message size and kernel.
std::string arcs_table(const MsfResults& r, const std::string& not_comparable) {
  Table table({"bytes", "kernel", "when it returns", "microseconds", "95 %", "min", "less than p2p"});
  const auto base = [&](std::int64_t bytes) {
    for (const auto& a : r.arcs)
      if (a.kernel == "p2p.isend-irecv" && a.bytes == bytes) return a.seconds.median.value;
    return 0.0;
  };
  std::set<std::int64_t> sizes;
  for (const auto& a : r.arcs) sizes.insert(a.bytes);
  for (const auto bytes : sizes) {
    for (const auto& a : r.arcs) {
      if (a.bytes != bytes) continue;
      const double p2p = base(bytes);
      table.row({count_text(bytes), a.kernel, a.completion, microseconds(a.seconds.median.value),
                 microseconds(a.seconds.median.low) + " to " + microseconds(a.seconds.median.high),
                 microseconds(a.seconds.min), p2p > 0 ? microseconds(p2p - a.seconds.median.value) : ""});
    }
  }
  return "F3, F12, F13  put, get and messages from one rank to another: one exchange on its slowest rank, kernels of\n"
         "topo bench. Published up to 4 KB: put 0.091 us faster than MPI, get 0.531 us slower; above: put 3.56 us\n"
         "slower, get 3.75 us faster. Published times of messages are half round trips. " +
         not_comparable + "\n\n" + (r.arcs.empty() ? "not measured: needs a launch of 2 ranks\n" : table.text());
}

/// Makes figures F4, F14 and F16 of bench msf as a table: times of all-reduces by ranks and message size, shmem against p2p.
std::string reductions_table(const MsfPlan& plan, const MsfResults& r, const std::string& not_comparable) {
  std::vector<std::string> heading{"ranks", "bytes"};
  for (const auto& m : plan.models) heading.push_back(m + " us [95 %]");
  heading.emplace_back("shmem against p2p");
  Table table(heading);
  std::set<std::int64_t> sizes;
  for (const auto& c : r.collectives)
    if (c.call == "all-reduce") sizes.insert(c.bytes);
  std::vector<double> small;
  std::vector<double> large;
  for (const int ranks : measured_ranks(r, "all-reduce")) {
    for (const auto bytes : sizes) {
      std::vector<std::string> row{std::to_string(ranks), count_text(bytes)};
      for (const auto& m : plan.models) row.push_back(median_text(find_collective(r, "all-reduce", m, ranks, bytes)));
      const auto* p2p = find_collective(r, "all-reduce", "p2p", ranks, bytes);
      const auto* shmem = find_collective(r, "all-reduce", "shmem", ranks, bytes);
      const bool both = p2p != nullptr && shmem != nullptr && p2p->seconds.median.value > 0;
      const double more = both ? 100 * (shmem->seconds.median.value / p2p->seconds.median.value - 1) : 0;
      if (both) (bytes <= 4096 ? small : large).push_back(more);
      row.push_back(both ? (more >= 0 ? "+" : "") + percent(more) : "");
      table.row(row);
    }
  }
  std::string means;
  if (!small.empty()) means += "mean up to 4 KB: " + percent(summarise(small).mean) + " (published +74.18 %)\n";
  if (!large.empty()) means += "mean above: " + percent(summarise(large).mean) + " (published -28.7 %)\n";
  return "F4, F14, F16  all-reduce. Here it is an all-gather and a sum in rank order, so that every model gives the "
         "same\n"
         "bits. F16, a reduction to one rank, is not measured: neither OpenSHMEM 1.4 nor this library has one, and "
         "the\n"
         "published programs used the all-reduce for it. " +
         not_comparable + "\n\n" + table.text() + means;
}

/// Makes figure F5 of bench msf as a table: time that post-processing by leaders takes beyond that by a single rank, in percent.
std::string posts_table(const MsfPlan& plan, const MsfResults& r, const std::string& not_comparable) {
  const MsfTimes times(r);
  const std::string& model = plan.posts_model();
  Table table({"processes", "published", "here: leader against single, " + model + " baseline", "graphs"});
  std::set<int> rows;
  for (const auto& p : pub::kPostProcessing) rows.insert(p.processes);
  for (const int n : times.ranks())
    if (n >= 4) rows.insert(n);
  for (const int n : rows) {
    std::vector<double> more;
    for (const auto& g : times.graphs()) {
      const double single = times.seconds(g, {model, "baseline", "single"}, n);
      const double leader = times.seconds(g, {model, "baseline", "leader"}, n);
      if (single > 0 && leader > 0) more.push_back(100 * (leader / single - 1));
    }
    const auto* known = find_row(pub::kPostProcessing, &pub::PostRow::processes, n);
    table.row({std::to_string(n), known ? "+" + fixed_text(known->percent, 1) + " %" : "",
               more.empty() ? "" : (summarise(more).mean >= 0 ? "+" : "") + percent(summarise(more).mean),
               more.empty() ? "" : std::to_string(more.size())});
  }
  return "F5  how much longer post-processing by leaders of groups of four takes than by one rank, mean over graphs. "
         "With\n"
         "four ranks there is one group, so both do the same. " +
         not_comparable + "\n\n" + table.text();
}

/// Makes figures F6 to F11 of bench msf as a table: time and traffic of every forest by graph, ranks and method.
std::string times_table(const MsfPlan& plan, const MsfResults& r, const std::string& not_comparable) {
  Table table({"graph", "ranks", "way", "median", "95 %", "min", "bytes", "messages", "most of it in"});
  auto sorted = r.forests;
  std::stable_sort(sorted.begin(), sorted.end(), [](const ForestResult& a, const ForestResult& b) {
    return std::pair(a.what.graph.name, a.ranks) < std::pair(b.what.graph.name, b.ranks);
  });
  for (const auto& f : sorted) {
    if (!f.failure.empty()) {
      table.row({f.what.graph.name, std::to_string(f.ranks), format_method({f.what.model, f.what.style, f.what.post}),
                 "-", f.failure, "", "", "", ""});
      continue;
    }
    const Spread s = sample_spread(f.seconds);
    const auto most = std::max_element(f.phases.begin(), f.phases.end(),
                                       [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
    table.row({f.what.graph.name, std::to_string(f.ranks), format_method({f.what.model, f.what.style, f.what.post}),
               seconds_text(s.median.value), interval(s.median), seconds_text(s.min),
               bytes_text(static_cast<double>(f.bytes)), count_text(f.messages),
               most == f.phases.end() ? "" : most->name});
  }
  const auto& first = plan.launches;
  const std::string repeats = first.empty() ? "0" : std::to_string(first.front().repeats);
  return "F6 to F11  time of a forest by graph, ranks and way, " + repeats +
         " repeats; published as bars without numbers, means of\n15 runs of other graphs. " + not_comparable +
         " The 95 % interval of the median is all of\nthe sample below 6 repeats. All phases are in the record.\n\n" +
         table.text();
}

/// Makes tables T5 and T6 of bench msf: time saved with more ranks than the fewest, mean over graphs, by method.
std::string scaling_table(const MsfResults& r, const std::string& not_comparable) {
  const MsfTimes times(r);
  const auto ranks = times.ranks();
  if (ranks.empty()) return {};
  const int base = ranks.front();
  Table table({"ranks (published: processes)", "published MPI", "SHMEM", format_method(kMpi), format_method(kMpiTuned),
               format_method(kRma), format_method(kShmem)});
  std::set<int> rows(ranks.begin(), ranks.end());
  for (const auto& p : pub::kProcessScaling) rows.insert(p.at);
  for (const int n : rows) {
    const auto* known = find_row(pub::kProcessScaling, &pub::MpiAndShmem::at, n);
    std::vector<std::string> row{std::to_string(n), known ? percent(known->mpi) : "",
                                 known ? percent(known->shmem) : ""};
    for (const auto& way : {kMpi, kMpiTuned, kRma, kShmem}) {
      std::vector<double> saved;
      for (const auto& g : times.graphs())
        if (times.seconds(g, way, base) > 0 && times.seconds(g, way, n) > 0)
          saved.push_back(improvement(times.seconds(g, way, base), times.seconds(g, way, n)));
      row.push_back(saved.empty() ? "" : percent(summarise(saved).mean));
    }
    table.row(row);
  }
  Table nodes({"nodes", "published MPI", "SHMEM", "here"});
  for (const auto& p : pub::kNodeScaling)
    nodes.row({std::to_string(p.at), percent(p.mpi), percent(p.shmem),
               p.at == 1 ? "the table above" : "not comparable: 1 node"});
  return fmt::format(
      "T5  time saved against {}{} (published: against 4 processes of 1 node), mean over graphs. {}\n\n{}\nT6  the "
      "same by nodes\n\n{}",
      base, base == 1 ? " rank" : " ranks", not_comparable, table.text(), nodes.text());
}

/// Makes table T7 of bench msf: the number of ranks on which each method was fastest, by graph.
std::string best_table(const MsfResults& r, const std::string& not_comparable) {
  Table published({"published (T7)", "MPI: nodes, processes", "SHMEM"});
  for (const auto& g : pub::kWebgraphs)
    published.row({std::string(g.name), std::string(g.best_mpi), std::string(g.best_shmem)});
  const MsfTimes times(r);
  Table here(
      {"here: ranks", format_method(kMpi), format_method(kMpiTuned), format_method(kRma), format_method(kShmem)});
  for (const auto& g : times.graphs()) {
    std::vector<std::string> row{g};
    for (const auto& way : {kMpi, kMpiTuned, kRma, kShmem}) {
      int best = 0;
      for (const int n : times.ranks()) {
        const double s = times.seconds(g, way, n);
        if (s > 0 && (best == 0 || s < times.seconds(g, way, best))) best = n;
      }
      row.push_back(best == 0 ? "" : std::to_string(best));
    }
    here.row(row);
  }
  return "T7  numbers of processes that were fastest. " + not_comparable + "\n\n" + published.text() + '\n' +
         here.text();
}

/// Makes table T8 of bench msf: time that one method saves against another by graph, with correlations, and derived numbers of
/// the publication as printed and recomputed.
std::string improvements_table(const MsfResults& r, const std::string& not_comparable) {
  Table published({"published (T8)", "improvement"});
  for (const auto& g : pub::kWebgraphs) published.row({std::string(g.name), percent(g.improvement)});
  Table derived({"published numbers derived", "printed", "recomputed", ""});
  for (const auto& d : pub::derived_numbers())
    derived.row(
        {std::string(d.what), std::string(d.printed), fixed_text(d.recomputed, d.digits), std::string(d.remark)});
  const std::vector<std::pair<MsfWay, MsfWay>> pairs{
      {kMpi, kShmem}, {kMpiTuned, kShmem}, {kMpiTuned, kRma}, {kMpi, kMpiTuned}};
  std::vector<std::string> heading{"here"};
  for (const auto& [before, after] : pairs) heading.push_back(format_method(after) + " over " + format_method(before));
  Table here(heading);
  std::vector<std::vector<MsfImprovement>> columns;
  for (const auto& [before, after] : pairs) columns.push_back(improvements(r, before, after));
  for (std::size_t g = 0; g < columns.front().size(); ++g) {
    std::vector<std::string> row{columns.front()[g].graph};
    for (const auto& c : columns) row.push_back(c[g].cases == 0 ? "" : percent(c[g].percent));
    here.row(row);
  }
  const auto line = [&](const char* name, const auto& value) {
    std::vector<std::string> row{name};
    for (const auto& c : columns) row.push_back(value(c));
    here.row(row);
  };
  line("mean", [](const std::vector<MsfImprovement>& c) {
    std::vector<double> all;
    for (const auto& i : c)
      if (i.cases > 0) all.push_back(i.percent);
    return all.empty() ? std::string() : percent(summarise(all).mean);
  });
  const auto with = [&](double MsfCorrelations::*what) {
    return [&r, what](const std::vector<MsfImprovement>& c) {
      const auto found = correlations(r, c);
      return found.empty() ? std::string() : fixed_text(found.front().*what, 3);
    };
  };
  line("Pearson with edges (published 0.71)", with(&MsfCorrelations::edges));
  line("Pearson with size (published 0.71)", with(&MsfCorrelations::bytes));
  line("Pearson with E/V (published 0.86)", with(&MsfCorrelations::arcs_per_vertex));
  return "T8  time saved, mean over numbers of ranks above one. Published: a blocking MPI program against a tuned "
         "SHMEM\n"
         "one, the first column here; the second and third compare models that are tuned alike. " +
         not_comparable + "\n\n" + published.text() + '\n' + here.text() + '\n' + derived.text();
}

/// Makes table T9 of bench msf: published calls and lines of code by function.
std::string productivity_table() {
  Table published({"published (T9)", "calls: MPI", "SHMEM", "lines: MPI", "SHMEM"});
  for (const auto& p : pub::kProductivity)
    published.row({std::string(p.function), std::to_string(p.calls_mpi), std::to_string(p.calls_shmem),
                   std::to_string(p.lines_mpi), std::to_string(p.lines_shmem)});
  return "T9  productivity. Published: one program per model. Here the algorithm is written once; what is written per "
         "model\n"
         "are the backends. Not comparable: another division of labour. packages/studies/productivity.py counts the "
         "calls\n"
         "and lines of a source tree.\n\n" +
         published.text() + '\n';
}

}  // namespace

std::string msf_bench_text(const MsfPlan& plan, const MsfResults& r, const std::string& here) {
  const std::string not_comparable = "Not comparable: " + here + ".";
  std::string text;
  const auto add = [&](const std::vector<std::string>& names, const std::string& part) {
    if (plan.wants_one_of(names)) text += part + "\n";
  };
  add({"T1"}, facts_table(r, not_comparable));
  add({"T2", "T3"}, memory_table(r, not_comparable));
  add({"F3", "F12", "F13"}, arcs_table(r, not_comparable));
  add({"T4", "F15"}, barrier_table(plan, r, not_comparable));
  add({"F4", "F14", "F16"}, reductions_table(plan, r, not_comparable));
  add({"F5"}, posts_table(plan, r, not_comparable));
  add({"F6", "F7", "F8", "F9", "F10", "F11"}, times_table(plan, r, not_comparable));
  add({"T5", "T6"}, scaling_table(r, not_comparable));
  add({"T7"}, best_table(r, not_comparable));
  add({"T8"}, improvements_table(r, not_comparable));
  add({"T9"}, productivity_table());
  for (const auto& note : r.notes) text += "note: " + note + '\n';
  return text;
}

}  // namespace merganser::app
