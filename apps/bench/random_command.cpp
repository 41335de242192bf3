// bench random: the published benchmark of artificial configurations, both orders in one run.
#include "apps/bench/bench.hpp"
#include "apps/frame/table.hpp"
#include "apps/gen/random_options.hpp"

namespace merganser::app {
namespace {

/// Options of bench random, filled by the option parser.
struct BenchRandom {
  GridOptions grid{.cells = {64, 64, 32}};
  RandomParcels parcels{.per_cell = 20, .min_volume_ratio = 20};
  std::vector<std::string> orders{"shuffled", "ordered"};  ///< orders of parcels, a series each
  BenchOptions bench;
};

/// Lists the command-line options of bench random, with their help texts and checks, for the option parser.
template <class V>
void describe(BenchRandom& o, V&& option) {
  describe(o.bench, option);
  option.section("Measurement");
  option("weak", o.bench.weak, "the grid is that of one rank, and grows with the ranks, along x and y in turn");
  describe(o.grid, option);
  describe_random(o.parcels, option);
  option("order", o.orders, "order of the parcels on each rank: shuffled, ordered (cell by cell), or both",
         Words{{"shuffled", "ordered"}}, Kind{"LIST"});
}

/// Resets the options of bench random to the defaults that --compare implies.
void apply_implied_defaults(BenchRandom& o) {
  preset_bench(o.bench);
  const BenchOptions kept = o.bench;
  o = BenchRandom();
  o.bench = kept;
}

/// Returns true if a series of merge steps has the configuration for which times of the published Fortran program are known.
bool is_published_configuration(const BenchRandom& o, const BenchSeries& s) {
  const Grid g = make_grid(o.grid);
  return g.cells == std::array<std::int64_t, 3>{64, 64, 32} && o.parcels.per_cell == 20 &&
         !o.parcels.variable_per_cell && o.parcels.min_volume_ratio == 20 && o.parcels.small_fraction == 0.5 &&
         s.ranks == 1 && !o.bench.weak;
}

/// Returns a sentence that compares the time per parcel of a series of merge steps with the times of the published Fortran program.
std::string compare_with_published(const BenchRandom& o, const std::string& series, const BenchSeries& s) {
  const bool shuffled = series == "shuffled";
  const std::string text = std::string("published Fortran program: ") + (shuffled ? "2.5 to 2.7 us" : "0.74 us") +
                           " per parcel for 64 x 64 x 32 cells of 20 parcels, " + series +
                           ", on one quiet core of another machine";
  if (!is_published_configuration(o, s)) return text + "; not comparable: other configuration or more ranks";
  const double ns = s.ns_per_parcel();
  return text + "; this is " +
         (shuffled ? fixed_text(2500 / ns, 1) + " to " + fixed_text(2700 / ns, 1) : fixed_text(740 / ns, 1)) +
         " times faster";
}

/// Estimates the memory of a rank in bench random; kContainers, the number of parcel containers that exist at a time, was measured
/// with 2.1 million parcels on one and two ranks.
Need estimate_need(const BenchRandom& o, const Grid& grid, int ranks) {
  constexpr double kContainers = 3.4;
  Need need;
  need.what = general_text(parcels_per_rank(o.parcels, grid, 1), 6) + " parcels in " + grid_text(grid);
  need.rank_bytes = parcels_per_rank(o.parcels, grid, ranks) * (kContainers * Parcels().parcel_bytes() + 8) +
                    balance_bytes(o.bench.blocks, grid, ranks);
  need.help = "fewer --cells or --per-cell, or more ranks on more machines";
  return need;
}

/// Body of the command bench random: measures merge steps of generated parcels.
int run(BenchRandom& o, const Invocation& in) {
  const Grid grid = make_grid(o.grid);
  BenchProgram program;
  program.series = o.orders;
  program.setup = [&](const std::string& series, int ranks) {
    BenchSetup setup;
    setup.grid = o.bench.weak ? weak_grid(grid, ranks) : grid;
    setup.min_volume_ratio = o.parcels.min_volume_ratio;
    setup.need = estimate_need(o, setup.grid, ranks);
    setup.make = [parcels = o.parcels, series](comm::Transport& t, const Decomposition& d, int cycle) {
      RandomParcels p = parcels;
      p.shuffle = series == "shuffled";
      p.seed += static_cast<std::uint64_t>(cycle);
      return generate_random(p, d, t.rank());
    };
    return setup;
  };
  program.published = [&](const std::string& series, const BenchSeries& s) {
    return compare_with_published(o, series, s);
  };
  if (program.series.empty()) throw UsageError("--order: \"\"; allowed: shuffled, ordered, or both");
  return run_bench(o.bench, in, program);
}

constexpr std::string_view kBenchRandomText =
    "Times merge steps of artificial configurations, 2.6 million parcels by default, half of them small. Each cycle\n"
    "makes its parcels anew (not timed), copies the container once (the yardstick), and merges. One more cycle "
    "measures\n"
    "memory. The options of the published program keep their names where they mean the same.\n\n"
    "  merganser bench random --steps 10 --json bench.json\n"
    "  merganser bench random --ranks 1,2 --order shuffled            # strong scaling; --weak for weak\n"
    "  merganser bench random --ranks 2 --comm rma --compare single-pass,iterative\n"
    "  merganser bench random --ranks 2 --compare p2p,shmem\n";

}  // namespace

extern const Command bench_random_command;
const Command bench_random_command =
    make_command<BenchRandom, run>("bench random", "time merge steps of artificial configurations", kBenchRandomText);

}  // namespace merganser::app
