// Length of UCX's shared-memory queues from its environment variables.
#include "src/comm/detail/queue_part.hpp"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace merganser::comm::detail {
namespace {

constexpr std::uint32_t kUsual = 64;  // length of a UCX queue in elements by default

/// Returns the length in elements of a UCX shared-memory queue by its environment variable; UCX's default of 64 if the variable is
/// not set or no number >= 2.
std::uint32_t elements_from(const char* variable) {
  const char* text = std::getenv(variable);
  const std::string_view value = text != nullptr ? text : "";
  std::uint32_t elements = 0;  // the type that UCX parses it into, so that the same texts are numbers
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), elements);
  return error == std::errc{} && end == value.data() + value.size() && elements >= 2 ? elements : kUsual;
}

}  // namespace

// Bound of the workaround for UCX 1.13: whichever of its two shared-memory transports is used, its queue has so many
// elements.
long queue_elements() {
  return std::min<long>(elements_from("UCX_POSIX_FIFO_SIZE"), elements_from("UCX_SYSV_FIFO_SIZE"));
}

}  // namespace merganser::comm::detail
