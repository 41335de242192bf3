// requires: apps graph
#include "tests/fuzz/support/points.hpp"

#include <bit>
#include <vector>

#include "apps/msf/points_file.hpp"
#include "merganser/comm/runtime.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

/// Points of all ranks, in their order.
struct WholeCloud {
  int dimension = 0;
  std::vector<std::uint64_t> coordinates;  ///< bits of all coordinates, so that NaNs and signed zeros compare
  friend bool operator==(const WholeCloud&, const WholeCloud&) = default;
};

WholeCloud points_on(int ranks, const std::string& path) {
  std::vector<msf::Points> parts(static_cast<std::size_t>(ranks));
  comm::run({"threads", ranks, "", {}},
            [&](comm::Transport& t) { parts[static_cast<std::size_t>(t.rank())] = app::read_points(path, t).points; });
  WholeCloud whole;
  for (const auto& part : parts) {
    require(part.coordinates.size() == part.size() * static_cast<std::size_t>(part.dimension),
            "numbers that are of no point");
    require(whole.dimension == 0 || whole.dimension == part.dimension, "ranks read points of different dimensions");
    whole.dimension = part.dimension;
    for (const double x : part.coordinates) whole.coordinates.push_back(std::bit_cast<std::uint64_t>(x));
  }
  return whole;
}

}  // namespace

bool feed_points(const std::string& path, std::string_view input) {
  static_cast<void>(read_or_refuse([&] { static_cast<void>(app::estimate_points_size(path)); }));
  WholeCloud alone, dealt;
  const bool read = read_or_refuse([&] { alone = points_on(1, path); });
  if (is_selected(64, input)) {
    require(read_or_refuse([&] { dealt = points_on(3, path); }) == read,
            "one number of ranks reads the file, another does not");
    require(dealt == alone, "three ranks read other points");
  }
  return read;
}

}  // namespace merganser::fuzz
