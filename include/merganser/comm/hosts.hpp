#pragma once
/// Search for the ranks of a transport that share a host, and so its memory.
#include "merganser/comm/transport.hpp"

namespace merganser::comm {

/// Host (machine) that this rank runs on, with the ranks of the transport that share it; filled by find_host().
struct Host {
  int ranks = 1;      ///< number of the transport's ranks on this rank's host, at least 1
  bool first = true;  ///< true if rank 0 of the transport runs on this rank's host
};
/// Returns the host that this rank runs on; hosts are distinguished by their names (gethostname). Collective; one gather of 256
/// bytes a rank.
[[nodiscard]] Host find_host(Transport& transport);

}  // namespace merganser::comm
