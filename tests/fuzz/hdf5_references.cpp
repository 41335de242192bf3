// requires: nothing
/// Reads descriptions in an HDF5 file: looks for what leads to other files.
#include "merganser/io/data_file.hpp"
#include "tests/fuzz/support/files.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

bool feed_hdf5_references(std::string_view input) {
  const std::string path = make_file("references.nc", input);
  return read_or_refuse([&] { io::check_self_contained(path); });
}

}  // namespace

extern const Target hdf5_references_target{"hdf5_references", 4096, feed_hdf5_references};

}  // namespace merganser::fuzz
