// Digest of cells for the simulations on blocks.
#include "halo.hpp"

#include <merganser/base/random.hpp>
#include <merganser/base/text.hpp>

namespace merganser::simulations {

std::uint64_t cell_hash(std::int64_t cell, std::uint64_t bits) {
  const auto at = static_cast<std::uint64_t>(cell);
  const auto out = philox({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at >> 32),
                           static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)},
                          {0x6d657267U, 0x616e7372U});
  return out[0] | static_cast<std::uint64_t>(out[1]) << 32;
}

std::string format_digest(comm::Transport& transport, std::uint64_t mine) {
  const auto sum = transport.all_reduce(static_cast<std::int64_t>(mine), comm::Op::sum);
  return hex16_text(static_cast<std::uint64_t>(sum));
}

}  // namespace merganser::simulations
