// Search for the ranks of a transport on one host.
#include "merganser/comm/hosts.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "merganser/base/simulated.hpp"
#include "merganser/comm/collectives.hpp"

namespace merganser::comm {

// Counts the ranks on this rank's host; hosts are compared by name, which every rank gathers.
HostRanks count_host_ranks(Transport& transport) {
  if constexpr (kSimulated) return {transport.size(), transport.rank() == 0};  // all ranks are one process
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  const auto all = all_gather_value(transport, name);
  return {static_cast<int>(std::count(all.begin(), all.end(), name)), all[0] == name};
}

}  // namespace merganser::comm
