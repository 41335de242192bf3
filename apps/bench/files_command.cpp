// bench files: the published benchmark that reads parcel files and merges them.
#include <algorithm>
#include <cmath>

#include "apps/bench/bench.hpp"
#include "apps/frame/table.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/log.hpp"
#include "merganser/base/text.hpp"
#include "merganser/io/parcel_file.hpp"

namespace merganser::app {
namespace {

/// Options of bench files, filled by the option parser.
struct BenchFiles {
  std::vector<std::string> files;  ///< parcel files of one grid, one for each cycle in turn
  FileOptions file;                ///< volume ratio that replaces that of the files
  BenchOptions bench;
};

/// Lists the command-line options of bench files, with their help texts and checks, for the option parser.
template <class V>
void describe(BenchFiles& o, V&& option) {
  option.positional("FILE", o.files, "EPIC parcel files of one grid, taken in turn", Required{}, Reads{});
  describe(o.bench, option);
  option.section("Parcels");
  describe_ratio(o.file, option, "20, which the published program has built in");
}

/// Resets the options of bench files to the defaults that --compare implies.
void apply_implied_defaults(BenchFiles& o) {
  preset_bench(o.bench);
  o.file = {};
}

/// Estimates the memory of a rank in bench files for so many parcels; kContainers, the number of parcel containers that exist at a
/// time, was measured with 2.1 million parcels.
Need estimate_need(const BenchFiles& o, const Grid& grid, std::int64_t parcels, int ranks) {
  constexpr double kContainers = 4.5;
  Need need;
  need.what = count_text(parcels) + " parcels of a file on " + grid_text(grid);
  need.rank_bytes = std::ceil(static_cast<double>(parcels) / ranks) * kContainers * Parcels().parcel_bytes() +
                    balance_bytes(o.bench.blocks, grid, ranks);
  need.of_file = true;
  need.help = "more ranks on more machines";
  return need;
}

/// Formats the attribute min_vratio of a parcel file, its volume ratio; "none" if the file has none.
std::string ratio_text(const io::ParcelFileInfo& info) {
  return info.min_volume_ratio ? number_text(*info.min_volume_ratio) : "none";
}

/// Body of the command bench files: checks that the files share a grid, and measures merge steps of their parcels.
int run(BenchFiles& o, const Invocation& in) {
  const io::ParcelFileInfo first = io::read_info(o.files[0]);
  std::int64_t most = 0;
  for (const auto& f : o.files) {
    const io::ParcelFileInfo info = io::read_info(f);
    most = std::max(most, info.parcels);
    if (!(info.grid == first.grid))
      throw InputError(f + " has another grid than " + o.files[0] + "; allowed: files of one grid in a benchmark");
    if (!o.file.min_volume_ratio && info.min_volume_ratio != first.min_volume_ratio)
      throw InputError(f + " and " + o.files[0] + " have different attributes min_vratio, " + ratio_text(info) +
                       " and " + ratio_text(first) + "; allowed: files of one ratio, or --min-volume-ratio for all");
    if (!(info.schema == first.schema))
      throw InputError("vorticity or buoyancy is in one of " + o.files[0] + " and " + f +
                       " only; allowed: files of the same variables in a benchmark");
  }
  Answers answers(o.files[0]);
  const double ratio = resolve_ratio(o.file, first, 20, answers);
  if (comm::launcher_world().rank == 0 && !o.bench.here)
    for (const auto& warning : answers.warnings()) log(Level::warning, 0, warning);
  BenchProgram program;
  program.answers = &answers;
  program.series = {"files"};
  program.setup = [&](const std::string&, int ranks) {
    BenchSetup setup;
    setup.grid = first.grid;
    setup.min_volume_ratio = ratio;
    setup.need = estimate_need(o, first.grid, most, ranks);
    setup.make = [&o](comm::Transport& t, const Decomposition& d, int cycle) {
      const std::string& path = o.files[static_cast<std::size_t>(cycle) % o.files.size()];
      return collective_try([&] {
        Parcels p = io::read_parcels(path, io::read_info(path, t), t);
        distribute(p, d, t);
        return p;
      });
    };
    return setup;
  };
  program.published = [](const std::string&, const BenchSeries&) { return std::string(); };
  return run_bench(o.bench, in, program);
}

constexpr std::string_view kBenchFilesText =
    "Times merge steps of parcels read from files, one file per cycle; reading is not timed. The volume ratio is\n"
    "what the files say, or that which the published program has built in.\n\n"
    "  merganser bench files run_*_parcels.nc --steps 20\n"
    "  merganser bench files in.nc --ranks 1,2,4 --comm p2p --csv times.csv\n";

}  // namespace

extern const Command bench_files_command;
const Command bench_files_command =
    make_command<BenchFiles, run>("bench files", "time merge steps of parcels from files", kBenchFilesText);

}  // namespace merganser::app
