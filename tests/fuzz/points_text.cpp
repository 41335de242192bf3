// requires: apps graph
/// Reads points from a text.
#include "tests/fuzz/support/files.hpp"
#include "tests/fuzz/support/points.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

bool feed_points_text(std::string_view input) { return feed_points(make_file("points.txt", input), input); }

}  // namespace

extern const Target points_text_target{"points_text", 4096, feed_points_text};

}  // namespace merganser::fuzz
