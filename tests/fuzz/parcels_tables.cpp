// requires: NetCDF
/// Reads parcels of a table: VTU or NPZ by the first bytes, else CSV.
/// Input: the file.
#include "merganser/comm/runtime.hpp"
#include "merganser/io/parcel_file.hpp"
#include "tests/fuzz/support/files.hpp"
#include "tests/fuzz/support/parcels.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

bool feed_parcels_tables(std::string_view input) {
  const std::string path = make_file("parcels.csv", input);
  if (input.starts_with("PK") || input.find("<VTKFile") < 256) return feed_parcel_file(path, input, false);
  return read_or_refuse([&] {
    io::ParcelFileInfo info = io::read_info(path);
    info.grid = Grid{{{0, 0, 0}, {1, 1, 1}, {true, true, false}}, {4, 4, 4}};
    info.says_grid = info.says_periodic = true;
    comm::run({"threads", 1, ""}, [&](comm::Transport& t) { static_cast<void>(io::read_parcels(path, info, t)); });
  });
}

}  // namespace

extern const Target parcels_tables_target{"parcels_tables", 4096, feed_parcels_tables};

}  // namespace merganser::fuzz
