// requires: NetCDF
/// Reads parcels of a table: VTU, NPZ or NPY by the first bytes, else CSV; shares of it must give the same as all of it.
/// Input: the file.
#include "merganser/comm/runtime.hpp"
#include "merganser/io/parcel_file.hpp"
#include "tests/fuzz/support/files.hpp"
#include "tests/fuzz/support/parcels.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

/// Ends the process unless three ranks, each with a share of a CSV file, describe it as one rank has.
void check_shares(const std::string& path, const io::CsvSource& all) {
  try {
    comm::run({"threads", 3, ""}, [&](comm::Transport& t) {
      const io::CsvSource shared = io::read_info(path, t).metadata.csv;
      require(shared.rows == all.rows && shared.names == all.names && shared.types == all.types &&
                  shared.texts == all.texts,
              "shares of a CSV file give another description than all of it");
    });
  } catch (const InputError& e) {
    finding(std::string("shares of a CSV file are refused, all of it is not: ") + e.what());
  }
}

bool feed_parcels_tables(std::string_view input) {
  const std::string path = make_file("parcels.csv", input);
  if (input.starts_with("PK") || input.find("<VTKFile") < 256) return feed_parcel_file(path, input, false);
  return read_or_refuse([&] {
    io::ParcelFileInfo info = io::read_info(path);
    if (info.metadata.format == io::FileFormat::csv) check_shares(path, info.metadata.csv);
    info.grid = Grid{{{0, 0, 0}, {1, 1, 1}, {true, true, false}}, {4, 4, 4}};
    info.says_grid = info.says_periodic = true;
    comm::run({"threads", 1, ""}, [&](comm::Transport& t) { static_cast<void>(io::read_parcels(path, info, t)); });
  });
}

}  // namespace

extern const Target parcels_tables_target{"parcels_tables", 4096, feed_parcels_tables};

}  // namespace merganser::fuzz
