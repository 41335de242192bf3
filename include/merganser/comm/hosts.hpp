#pragma once
/// Search for the ranks of a transport that share a host, and so its memory.
#include "merganser/comm/transport.hpp"

namespace merganser::comm {

/// Host (machine) that this rank runs on, with the ranks of the transport that share it; filled by count_host_ranks().
struct HostRanks {
  int ranks = 1;      ///< number of the transport's ranks on this rank's host, at least 1
  bool first = true;  ///< true if rank 0 of the transport runs on this rank's host
};
/// Returns how many ranks of the transport run on this rank's host, and whether rank 0 is one of them. Hosts are distinguished by
/// their names (gethostname). Collective: one all-gather of 256 bytes per rank.
[[nodiscard]] HostRanks count_host_ranks(Transport& transport);

}  // namespace merganser::comm
