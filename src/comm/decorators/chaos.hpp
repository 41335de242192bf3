#pragma once
/// Seeded legal reordering, splitting and delay of everything; a failing seed can be replayed.
#include <cstdint>
#include <memory>

#include "merganser/comm/transport.hpp"

namespace merganser::comm::detail {

std::unique_ptr<Transport> make_chaos(Transport& inner, std::unique_ptr<Transport> owned, std::uint64_t seed);

}  // namespace merganser::comm::detail
