// gen random: the artificial configurations of [frey2025, Table 5] as an EPIC parcel file.
#include <iostream>

#include "apps/cluster/merge_options.hpp"
#include "apps/frame/command.hpp"
#include "apps/frame/forecast.hpp"
#include "apps/frame/gather.hpp"
#include "apps/frame/ranks.hpp"
#include "apps/frame/record.hpp"
#include "apps/frame/table.hpp"
#include "apps/gen/random_options.hpp"
#include "merganser/io/parcel_file.hpp"

namespace merganser::app {
namespace {

/// Values of the command line of `gen random`.
struct GenRandomOptions {
  std::string output;      ///< EPIC parcel file to write
  std::string like_paper;  ///< "scaling" or "verification": configuration of [frey2025]; empty: neither
  GridOptions grid;
  RandomParcels parcels{.per_cell = 40, .min_volume_ratio = 40};
  RankOptions ranks;
  BlockOptions blocks;
  ForceOption limits;
  std::string json;
};

/// Passes name, value, meaning and range of every option of `gen random` to option(...).
void describe(GenRandomOptions& o, auto&& option) {
  option.section("Output");
  option("output", o.output, "EPIC parcel file to write (NetCDF-4)", Letter{'o'}, Kind{"FILE"}, Required{}, Writes{});
  option("json", o.json, "run record to write (- for standard output)", Kind{"FILE"}, Writes{});
  option.section("Configuration");
  option("like-paper", o.like_paper,
         "scaling: --per-cell 20 --min-volume-ratio 20 --small-fraction 0.5 --spacing 0.3125 --shuffle and, if not "
         "given, --cells 64,64,32. verification: --cells 32,32,32 --lx 1 --ly 1 --lz 1 --per-cell 40 "
         "--min-volume-ratio 40 --small-fraction 0.5. Options given beside it win.",
         Words{{"scaling", "verification"}}, Kind{"scaling|verification"});
  describe(o.grid, option);
  describe_random(o.parcels, option);
  option("shuffle", o.parcels.shuffle, "random order on each rank instead of cell by cell");
  describe(o.ranks, option);
  describe_decomposition(o.blocks, option);
  describe(o.limits, option);
}

/// Sets the defaults that --like-paper implies. Called with the options that were given; they are parsed again on top of the
/// result.
void apply_implied_defaults(GenRandomOptions& o) {
  if (o.like_paper.empty()) return;
  const bool scaling = o.like_paper == "scaling";
  GenRandomOptions p;
  p.grid.cells = scaling ? std::array<std::int64_t, 3>{64, 64, 32} : std::array<std::int64_t, 3>{32, 32, 32};
  if (!scaling) p.grid.lx = p.grid.ly = p.grid.lz = 1;
  p.parcels.per_cell = scaling ? 20 : 40;
  p.parcels.min_volume_ratio = scaling ? 20 : 40;
  p.parcels.small_fraction = 0.5;
  p.parcels.shuffle = scaling;
  o = p;
}

constexpr double kContainers = 2.1;  // containers of parcels that exist at a time: generated, and being written

/// Summary of the parcels of all ranks that `gen random` writes; filled by describe_parcels().
struct WrittenParcels {
  std::int64_t parcels;  ///< number of parcels written
  std::int64_t small;    ///< number of parcels below the smallest volume that is not small
  Digest digest;         ///< digest of all parcels written
};

/// Counts the generated parcels, and those below `small_volume` m^3, over all ranks, with their digest. Collective.
WrittenParcels describe_parcels(comm::Transport& t, const Parcels& p, double small_volume) {
  std::int64_t small = 0;
  for (std::size_t i = 0; i < p.size(); ++i) small += p.site(i).volume < small_volume ? 1 : 0;
  return {t.all_reduce(static_cast<std::int64_t>(p.size()), comm::Op::sum), t.all_reduce(small, comm::Op::sum),
          total_digest(t, digest(p))};
}

/// Estimates the memory per rank and the disk that `gen random` needs.
Need estimate_need(const GenRandomOptions& o, const Grid& grid, int ranks) {
  const double parcels = parcels_per_rank(o.parcels, grid, 1);
  Need need;
  need.what = general_text(parcels, 6) + " parcels in " + grid_text(grid);
  need.rank_bytes = parcels_per_rank(o.parcels, grid, ranks) * (kContainers * Parcels().parcel_bytes() + 8) +
                    balance_bytes(o.blocks, grid, ranks);
  need.disk_bytes = parcels * parcel_file_bytes(Schema::epic());
  need.file = o.output;
  need.help = "fewer --cells or --per-cell, or more ranks on more machines";
  return need;
}

/// Runs the command `gen random` on all ranks: generates parcels, writes the file and, on rank 0, the run record. @return exit code
int run(GenRandomOptions& o, const Invocation& in) {
  const Grid grid = make_grid(o.grid);
  return run_on_ranks(o.ranks, [&](comm::Transport& t) {
    collective_try([&] { require(estimate_need(o, grid, t.size()), o.limits.force, t); });
    const Decomposition blocks = collective_try([&] { return decompose(grid, o.blocks, Parcels(), t); });
    const Parcels parcels = generate_random(o.parcels, blocks, t.rank());
    const WrittenParcels w = describe_parcels(t, parcels, grid.cell_volume() / o.parcels.min_volume_ratio);
    io::FileMetadata metadata;
    io::set_min_volume_ratio(metadata, o.parcels.min_volume_ratio);
    collective_try([&] { io::write_parcels(o.output, parcels, blocks, 0.0, t, metadata); });
    if (t.rank() != 0) return;
    const double share = w.parcels > 0 ? static_cast<double>(w.small) / static_cast<double>(w.parcels) : 0;
    std::cout << o.output << ": " << count_text(w.parcels) << " parcels, " << percent_text(share)
              << " of them small (below 1/" << general_text(o.parcels.min_volume_ratio, 6) << " of a cell), on "
              << grid_text(grid) << "\ndigest " << w.digest.to_string() << '\n';
    if (o.json.empty()) return;
    Json record = make_record(
        in, {t.size(), std::string(t.name()), std::string(t.choice()), o.ranks.decorators, blocks.describe()});
    record["result"] = {{"parcels", w.parcels}, {"small", w.small}, {"digest", w.digest.to_string()}};
    write_record(o.json, record);
  });
}

constexpr std::string_view kGenRandomText =
    "Writes parcels with random positions, volumes, vorticity, buoyancy and shapes, the same for any number of ranks:\n"
    "every cell has random numbers of its own.\n\n"
    "  merganser gen random --like-paper scaling -o in.nc\n"
    "  merganser gen random --cells 16,16,16 --per-cell 8 --min-volume-ratio 8 --seed 7 -o small.nc\n";

}  // namespace

extern const Command gen_random_command;
const Command gen_random_command =
    make_command<GenRandomOptions, run>("gen random", "write an artificial configuration of parcels", kGenRandomText);

}  // namespace merganser::app
