#pragma once
/// Finds violations of the communication contract.
#include <memory>

#include "merganser/comm/transport.hpp"

namespace merganser::comm::detail {

std::unique_ptr<Transport> make_checked(Transport& inner, std::unique_ptr<Transport> owned, std::uint64_t);

}  // namespace merganser::comm::detail
