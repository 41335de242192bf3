#pragma once
/// Ranks that share a host, and so its memory.
#include "merganser/comm/transport.hpp"

namespace merganser::comm {

/// Occupation of the host of this rank.
struct Host {
  int ranks = 1;      ///< number of ranks on it, at least 1
  bool first = true;  ///< true if rank 0 runs on it
};
/// Returns the host of this rank; hosts are told apart by their names. Collective; one gather of 256 bytes a rank.
[[nodiscard]] Host find_host(Transport& transport);

}  // namespace merganser::comm
