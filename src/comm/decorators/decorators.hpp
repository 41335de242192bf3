#pragma once
/// Transports around transports.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "merganser/comm/transport.hpp"

namespace merganser::comm::detail {

/// Around `inner`, which it owns if that is a decorator too: finds violations of the communication contract.
[[nodiscard]] std::unique_ptr<Transport> make_checked(Transport& inner, std::unique_ptr<Transport> owned,
                                                      std::uint64_t seed);
/// The same: seeded legal reordering, splitting and delay of everything; a failing seed can be replayed.
[[nodiscard]] std::unique_ptr<Transport> make_chaos(Transport& inner, std::unique_ptr<Transport> owned,
                                                    std::uint64_t seed);

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
