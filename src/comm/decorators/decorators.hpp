#pragma once
/// Transports around transports.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "merganser/comm/transport.hpp"

namespace merganser::comm::detail {

/// One word of RunOptions::decorators: "name" or "name:number".
struct DecoratorSpec {
  std::string name;
  std::uint64_t seed = 0;
};

/// @throws UsageError for an unknown name or a bad number, with the list of names
[[nodiscard]] std::vector<DecoratorSpec> parse_decorators(const std::string& list);

/// `inner` inside the decorators, the first of the list outermost; null if the list is empty. `inner` must outlive it.
[[nodiscard]] std::unique_ptr<Transport> decorate(Transport& inner, const std::vector<DecoratorSpec>& list);

}  // namespace merganser::comm::detail
