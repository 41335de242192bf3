/// Calls of StarFinder with types that must not compile (merganser_refused_test() in cmake/testing.cmake), and the same
/// ones with right types.
#include <cstdint>
#include <string>
#include <vector>

#include "merganser/cluster/star_finder.hpp"

namespace {

using namespace merganser;

#ifdef MERGANSER_ACCEPTED
struct Row {
  double mass;
  std::int32_t kind;
};
using Rows = std::vector<Row>;
using Bytes = std::vector<std::byte>;
using Packed = std::byte;
using Flags = std::vector<std::uint8_t>;
using Ids = std::vector<std::int64_t>;
using Link = const StarLink;
using Receive = const StarReceive;
using Options = FinderOptions;
#else
struct Row {
  std::string name;  // its bytes are no string elsewhere
};
using Rows = std::vector<float>;  // received are rows of another type
using Bytes = std::vector<double>;
using Packed = double;
using Flags = std::vector<bool>;        // is no array
using Ids = std::vector<std::int32_t>;  // ids have 64 bits
using Link = StarLink;                  // links are the finder's
using Receive = const StarLink;         // links and receives have other fields
using Options = StarFinder;
#endif

// refused: rows are sent as bytes
[[maybe_unused]] void a(StarFinder& f, const std::vector<Row>& rows, std::vector<Row>& received) {
  f.migrate(rows, received);
}
// refused: convert
[[maybe_unused]] void b(StarFinder& f, const Rows& rows, std::vector<Row>& received) { f.migrate<Row>(rows, received); }
// refused: convert
[[maybe_unused]] void k(StarFinder& f, std::span<const std::byte> rows, Bytes& received) {
  f.migrate_bytes(rows, 8, received);
}
// refused: convert
[[maybe_unused]] void c(StarFinder& f, std::vector<std::byte>& received) {
  f.migrate_packed(
      8, [](std::uint32_t, Packed*) {}, received);
}
// refused: convert
[[maybe_unused]] void d(StarFinder& f, const PointView& points, const Flags& small) { f.find(points, small); }
// refused: convert
[[maybe_unused]] void e(StarFinder& f, const PointView& points, std::span<const std::uint8_t> s, const Ids& ids) {
  f.find(points, s, ids);
}
// refused: convert
[[maybe_unused]] void g(StarFinder& f, const PointView& points, std::span<const std::uint8_t> s, const Ids& ids) {
  f.check(points, s, ids);
}
// refused: convers
[[maybe_unused]] void h(const StarFinder& f) {
  const std::span<Link> all = f.links();
  (void)all;
}
// refused: convers
[[maybe_unused]] void i(const StarFinder& f) {
  const std::span<Receive> all = f.receives();
  (void)all;
}
// refused: no matching
[[maybe_unused]] void j(comm::Transport& t, const Decomposition& d, const Options& options) {
  StarFinder(t, d, options);
}

}  // namespace
