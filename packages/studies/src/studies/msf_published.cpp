// Numbers that [ing2021], a study of spanning forests in MPI and OpenSHMEM, derives from its tables, computed again from these.
#include "merganser/studies/msf_published.hpp"

#include <cstddef>
#include <vector>

#include "merganser/stats/correlation.hpp"

namespace merganser::studies {
namespace {

constexpr std::string_view kNotAll = "what the rest is for is not told";

/// Returns the Pearson correlation of the published improvements (Table 8) with a property of the six web graphs (Table 1).
double correlation(double Webgraph::*with) {
  std::vector<double> x;
  std::vector<double> y;
  for (const auto& g : kWebgraphs) {
    x.push_back(g.*with);
    y.push_back(g.improvement);
  }
  return pearson(x, y);
}

/// Returns the increase from one count of calls or lines to another, in percent of the first.
constexpr double increase(int from, int to) { return 100.0 * (to - from) / from; }

}  // namespace

// Numbers of [ing2021] as printed, beside those that its own tables give.
std::array<DerivedNumber, 14> derived_numbers() {
  double mean = 0;
  for (const auto& g : kWebgraphs) mean += g.improvement / static_cast<double>(kWebgraphs.size());
  const auto& total = kProductivity.back();
  ProductivityRow sum{};
  for (std::size_t i = 0; i + 1 < kProductivity.size(); ++i) {
    sum.calls_mpi += kProductivity[i].calls_mpi;
    sum.calls_shmem += kProductivity[i].calls_shmem;
    sum.lines_mpi += kProductivity[i].lines_mpi;
    sum.lines_shmem += kProductivity[i].lines_shmem;
  }
  const double calls = increase(total.calls_mpi, total.calls_shmem);
  const double lines = increase(total.lines_mpi, total.lines_shmem);
  const auto& first = kBarrierMicroseconds.front();
  const auto& last = kBarrierMicroseconds.back();
  return {{
      {"mean improvement, percent (abstract)", "33.9", mean, 3, "the abstract's number follows from no table"},
      {"mean improvement, percent (Table 8)", "30.86", mean, 3, ""},
      {"Pearson with edges", "0.71", correlation(&Webgraph::arcs), 3, ""},
      {"Pearson with size", "0.71", correlation(&Webgraph::gigabytes), 3, ""},
      {"Pearson with E/V", "0.86", correlation(&Webgraph::arcs_per_vertex), 3, ""},
      {"more API calls, percent", "34.15", calls, 2, ""},
      {"more lines, percent", "18.01", lines, 2, ""},
      {"mean of the two, percent", "~25", (calls + lines) / 2, 1, ""},
      {"API calls of the four functions, MPI", "82 in total", static_cast<double>(sum.calls_mpi), 0, kNotAll},
      {"API calls of the four functions, SHMEM", "110 in total", static_cast<double>(sum.calls_shmem), 0, kNotAll},
      {"lines of the four functions, MPI", "1188 in total", static_cast<double>(sum.lines_mpi), 0, kNotAll},
      {"lines of the four functions, SHMEM", "1402 in total", static_cast<double>(sum.lines_shmem), 0, kNotAll},
      {"barrier, 64 nodes over 2, MPI", "11.66", last.mpi / first.mpi, 2, "from the entries as printed"},
      {"barrier, 64 nodes over 2, OpenSHMEM", "4.47", last.shmem / first.shmem, 2, "from the entries as printed"},
  }};
}

}  // namespace merganser::studies
