/// Soak test: a tiny merge loop, repeated, whose memory must not grow: soak STEPS [MODEL] [RANKS]. Prints the resident
/// memory and the open files of a rank at intervals; fails if either is larger at the end than after a quarter of the
/// steps.
#include <unistd.h>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/cluster/cluster.hpp"
#include "merganser/comm/runtime.hpp"

namespace {

using namespace merganser;

constexpr std::int64_t kStepsPerClusterer = 5000;  // making one again and again must not leave anything either
constexpr std::int64_t kLooks = 20;
constexpr std::int64_t kTolerance = 1 << 20;  // bytes: what an allocator may do

struct Use {
  std::int64_t bytes = 0;
  std::int64_t files = 0;
};

/// Measures resident memory and open files of this process. One rank at a time, since the others of a process would
/// count the folder that each has open.
Use measure_use() {
  static std::mutex one;
  const std::lock_guard<std::mutex> lock(one);
  std::ifstream statm("/proc/self/statm");
  std::int64_t all = 0;
  Use u;
  statm >> all >> u.bytes;
  u.bytes *= ::sysconf(_SC_PAGESIZE);
  u.files = std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  return u;
}

/// Returns two small parcels in every cell of a plane; half of the links cross the border between blocks.
Parcels make_parcels(const Grid& grid, const Decomposition& d, int rank) {
  Parcels p;
  std::int64_t id = 0;
  for (int x = 0; x < grid.cells[0]; ++x) {
    for (int y = 0; y < grid.cells[1]; ++y) {
      for (const double shift : {0.01, 0.98}) {
        const Site site{x + shift, y + 0.5, 0.5, id % 3 == 0 ? 1.0 : 0.001};
        std::vector<double> row(p.schema().width(), 0.5);
        row[0] = std::bit_cast<double>(id++);
        if (d.owner({site.x, site.y, site.z}) == rank) p.append(site, row.data());
      }
    }
  }
  return p;
}

/// Runs the steps and measures. @return whether nothing has grown
bool run_loop(comm::Transport& t, std::int64_t steps) {
  const Grid grid{{{0, 0, 0}, {4, 4, 1}, {true, true, false}}, {4, 4, 1}};
  const Decomposition d(grid, t.size());
  const Parcels start = make_parcels(grid, d, t.rank());
  ClusterOptions options;
  options.min_volume_ratio = 20;
  std::unique_ptr<Clusterer> clusterer;
  Parcels p = start;
  Use early;
  Use last;
  std::int64_t merged = 0;
  for (std::int64_t step = 0; step < steps; ++step) {
    if (step % kStepsPerClusterer == 0) {
      clusterer.reset();
      clusterer = std::make_unique<Clusterer>(t, d, start.schema(), options);
    }
    p = start;
    merged += clusterer->step(p).merged;
    clusterer->redistribute(p);
    if ((step + 1) % (steps / kLooks) != 0) continue;
    last = measure_use();
    if (step < steps / 4) early = last;
    if (t.rank() == 0) {
      std::printf("%9ld steps  %9ld bytes resident  %3ld files\n", static_cast<long>(step + 1),
                  static_cast<long>(last.bytes), static_cast<long>(last.files));
      std::fflush(stdout);
    }
  }
  const bool all_merged = t.all_reduce(merged, comm::Op::sum) > steps;
  const bool still = last.bytes <= early.bytes + kTolerance && last.files <= early.files;
  if (t.rank() == 0) std::printf("%s: %s\n", std::string(t.name()).c_str(), still ? "nothing has grown" : "GROWN");
  if (!all_merged && t.rank() == 0) std::printf("but nothing was merged\n");
  return t.all_reduce(still && all_merged ? 1 : 0, comm::Op::min) == 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t steps = argc > 1 ? std::atoll(argv[1]) : 0;
  if (steps < kLooks) {
    std::fprintf(stderr, "usage: soak STEPS [MODEL] [RANKS]; STEPS: %ld and more\n", static_cast<long>(kLooks));
    return 2;
  }
  comm::RunOptions options;
  if (argc > 2) options.backend = argv[2];
  if (argc > 3) options.ranks = std::atoi(argv[3]);
  int code = 0;
  try {
    comm::run(options, [&](comm::Transport& t) {
      if (!run_loop(t, steps) && t.rank() == 0) code = 1;
    });
  } catch (const Error& e) {
    comm::end_job(e.exit_code(), [&] { std::fprintf(stderr, "soak: %s\n", e.what()); });
  }
  return code;
}
