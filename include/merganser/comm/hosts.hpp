#pragma once
/// Which ranks share a machine, and so its memory.
#include "merganser/comm/transport.hpp"

namespace merganser::comm {

/// The machine of this rank.
struct Host {
  int ranks = 1;      ///< on it
  bool first = true;  ///< rank 0 is one of them
};
/// By the names of the machines. Collective (set-up); one gather of 256 bytes.
[[nodiscard]] Host host_of(Transport& transport);

}  // namespace merganser::comm
