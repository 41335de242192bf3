// bench files: the published benchmark that reads parcel files and merges them.
#include "merganser/base/error.hpp"
#include "merganser/io/parcel_file.hpp"
#include "support/bench.hpp"

namespace merganser::app {
namespace {

struct BenchFiles {
  std::vector<std::string> files;
  double min_volume_ratio = 20;
  BenchOptions bench;
};

template <class V>
void describe(BenchFiles& o, V&& option) {
  option.positional("FILE", o.files, "EPIC parcel files of one grid, taken in turn", Required{});
  describe(o.bench, option);
  option.section("Parcels");
  option("min-volume-ratio", o.min_volume_ratio, "cell volume / smallest volume that is not small", positive());
}

void preset(BenchFiles& o) {
  preset_bench(o.bench);
  o.min_volume_ratio = BenchFiles().min_volume_ratio;
}

int run(BenchFiles& o, const Invocation& in) {
  if (o.bench.weak) throw UsageError("--weak: a file has the grid it has; allowed with bench random only");
  const io::ParcelFileInfo first = io::read_info(o.files[0]);
  for (const auto& f : o.files) {
    const io::ParcelFileInfo info = io::read_info(f);
    if (!(info.grid == first.grid))
      throw InputError(f + " has another grid than " + o.files[0] + "; the files of one benchmark share theirs");
    if (!(info.schema == first.schema))
      throw InputError("vorticity or buoyancy is in one of " + o.files[0] + " and " + f +
                       " only; the files of one benchmark have the same variables");
  }
  BenchProgram program;
  program.series = {"files"};
  program.setup = [&](const std::string&, int) {
    BenchSetup setup;
    setup.grid = first.grid;
    setup.min_volume_ratio = o.min_volume_ratio;
    setup.make = [&o](comm::Transport& t, const Decomposition& d, int cycle) {
      const std::string& path = o.files[static_cast<std::size_t>(cycle) % o.files.size()];
      return together([&] {
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

constexpr std::string_view kText =
    "Times merge steps of parcels read from files, one file per cycle; reading is not timed. The default volume ratio\n"
    "is the one the published program has built in.\n\n"
    "  merganser bench files run_*_parcels.nc --steps 20\n"
    "  merganser bench files in.nc --ranks 1,2,4 --comm p2p --csv times.csv\n";

}  // namespace

extern const Command bench_files_command;
const Command bench_files_command =
    make_command<BenchFiles, run>("bench files", "time merge steps of parcels from files", kText);

}  // namespace merganser::app
