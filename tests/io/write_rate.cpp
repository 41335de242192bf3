// Benchmark: rate at which parcel files of every format are written, beside MPI_File_write_all() of as many bytes on the same file
// system, both with what is written on the disk (fsync, MPI_File_sync).
//
//   mpirun -n 2 write_rate FOLDER [PARCELS [REPEATS [SUFFIX...]]]
//
// Formats and MPI take turns, so that a slow disk slows both. A line for each format: megabytes, the median of its rate and of that
// of MPI, the median of the ratios of neighbours (1: as fast), and the processor seconds of both. Exit code 1 if a write fails.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/comm/mpi.hpp"
#include "merganser/io/parcel_file.hpp"
#include "merganser/parcels/generate.hpp"

namespace {

using namespace merganser;

/// Returns the middle of some numbers.
double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Throws CommError unless a call of MPI was successful.
void check(int result, const char* what) {
  if (result != MPI_SUCCESS) throw CommError(std::string(what) + " failed");
}

/// Seconds of a collective action: by the clock, and of the processors of all ranks.
struct Took {
  double clock;
  double processors;
};

/// Runs a collective action on all ranks, and returns what it took: the same on every rank.
template <class F>
Took timed(F&& action) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  const std::clock_t before = std::clock();
  action();
  double used = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;  // without waiting for other ranks
  MPI_Barrier(MPI_COMM_WORLD);
  Took out{MPI_Wtime() - begin, 0};
  MPI_Bcast(&out.clock, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Allreduce(&used, &out.processors, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return out;
}

/// Writes `bytes` bytes with MPI_File_write_all(), a part of equal size from every rank. Collective.
void write_with_mpi(const std::string& path, std::int64_t bytes, int rank, int ranks) {
  const std::int64_t begin = bytes * rank / ranks;
  const std::int64_t count = bytes * (rank + 1) / ranks - begin;
  static std::vector<std::uint32_t> data;
  for (std::uint32_t x = 2463534242U; data.size() * sizeof(x) < static_cast<std::size_t>(count);) {
    x ^= x << 13U, x ^= x >> 17U, x ^= x << 5U;
    data.push_back(x);
  }
  MPI_File file = MPI_FILE_NULL;
  check(MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file),
        "MPI_File_open");
  check(MPI_File_write_at_all(file, begin, data.data(), static_cast<int>(count), MPI_BYTE, MPI_STATUS_IGNORE),
        "MPI_File_write_at_all");
  check(MPI_File_sync(file), "MPI_File_sync");
  check(MPI_File_close(&file), "MPI_File_close");
}

/// Arguments of the program.
struct Arguments {
  std::string folder;
  std::int64_t parcels = 2'700'000;  ///< about 300 MB of binary arrays
  int repeats = 5;
  std::vector<std::string> suffixes{"nc", "vtkhdf", "h5:openpmd", "vtu", "npz", "npy", "csv"};
};

/// Measures all formats in turns, and prints a line for each on rank 0. Collective.
void measure(const Arguments& in) {
  const auto transport = comm::open(MPI_COMM_WORLD);
  const int rank = transport->rank();
  const Grid grid{{{0, 0, 0}, {1, 1, 1}, {true, true, false}}, {16, 16, 16}};
  const Decomposition decomposition(grid, transport->size());
  RandomParcels random;
  random.per_cell = std::max<std::int64_t>(1, in.parcels / 4096);
  const Parcels parcels = generate_random(random, decomposition, rank);
  for (const std::string& suffix : in.suffixes) {
    const std::string name = in.folder + "/rate." + suffix;
    const std::string path = name.substr(0, name.find(':'));
    const std::string raw = in.folder + "/rate.bytes";
    std::vector<double> ours, theirs, ratio, used, theirs_used;
    std::int64_t bytes = 0;
    for (int i = 0; i <= in.repeats; ++i) {
      const Took a = timed([&] { io::write_parcels(name, parcels, decomposition, 0, *transport); });
      bytes = static_cast<std::int64_t>(std::filesystem::file_size(path));
      const Took b = timed([&] { write_with_mpi(raw, bytes, rank, transport->size()); });
      timed([&] {
        if (rank == 0) std::filesystem::remove(path), std::filesystem::remove(raw);
      });
      if (i == 0) continue;  // pages of the program and of its buffers are touched for the first time
      ours.push_back(static_cast<double>(bytes) / a.clock * 1e-6);
      theirs.push_back(static_cast<double>(bytes) / b.clock * 1e-6);
      ratio.push_back(b.clock / a.clock);
      used.push_back(a.processors);
      theirs_used.push_back(b.processors);
    }
    if (rank != 0) continue;
    std::printf(
        "%-12s %8.1f MB  %8.1f MB/s  MPI_File_write_all %8.1f MB/s  ratio %.2f (%.2f to %.2f)  processors %.2f s and "
        "%.2f s\n",
        suffix.c_str(), static_cast<double>(bytes) * 1e-6, median(ours), median(theirs), median(ratio),
        *std::min_element(ratio.begin(), ratio.end()), *std::max_element(ratio.begin(), ratio.end()), median(used),
        median(theirs_used));
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Arguments arguments;
  if (argc < 2) {
    std::fprintf(stderr, "usage: write_rate FOLDER [PARCELS [REPEATS [SUFFIX...]]]\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  arguments.folder = argv[1];
  if (argc > 2) arguments.parcels = std::max(1L, std::atol(argv[2]));
  if (argc > 3) arguments.repeats = std::max(1, std::atoi(argv[3]));
  if (argc > 4) arguments.suffixes.assign(argv + 4, argv + argc);
  try {
    measure(arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return MPI_Finalize();
}
