// requires: apps graph
/// Reads points as NumPy writes them.
#include "tests/fuzz/support/files.hpp"
#include "tests/fuzz/support/points.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

bool feed_points_npy(std::string_view input) { return feed_points(make_file("points.npy", input), input); }

}  // namespace

extern const Target points_npy_target{"points_npy", 1024, feed_points_npy};

}  // namespace merganser::fuzz
