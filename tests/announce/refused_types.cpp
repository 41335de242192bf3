/// Calls of announce with types that must not compile (merganser_refused_test() in cmake/testing.cmake), and the same
/// ones with right types.
#include <string>
#include <vector>

#include "merganser/announce/announcement_network.hpp"

namespace {

using namespace merganser;
using announce::Announcement;
using announce::AnnouncementNetwork;

#ifdef MERGANSER_ACCEPTED
struct Posted {
  double x;
};
struct Read {
  double x;
};
using Bytes = std::vector<std::byte>;
using Options = announce::AnnouncementOptions;
using Delivered = const Announcement;
#else
struct Posted {
  std::string text;
};
struct Read {
  std::vector<int> list;
};
using Bytes = std::vector<char>;
using Options = announce::AnnouncementStatistics;
using Delivered = Announcement;
#endif

// refused: values are announced as bytes
[[maybe_unused]] void a(AnnouncementNetwork& net, const Posted& value) { net.announce_value(3, value); }
// refused: values are announced as bytes
[[maybe_unused]] void b(const Announcement& one) { (void)one.as<Read>(); }
// refused: convert
[[maybe_unused]] void c(AnnouncementNetwork& net, const Bytes& bytes) { net.announce(3, bytes); }
// refused: no matching
[[maybe_unused]] void d(comm::Transport& t, const announce::Network& n, const Options& options) {
  AnnouncementNetwork(t, n, options);
}
// refused: convers
[[maybe_unused]] void e(AnnouncementNetwork& net) {
  const std::span<Delivered> all = net.step();
  (void)all;
}

}  // namespace
