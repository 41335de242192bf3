#pragma once
/// Decorators: transports around other ones, for checks and disturbance, chosen by name.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "merganser/comm/transport.hpp"

namespace merganser::comm::detail {

/// Makes the decorator "checked", which detects violations of the communication contract. Local.
/// @param owned  the object of `inner` if the decorator is to own it, else null
/// @param seed   not used
[[nodiscard]] std::unique_ptr<Transport> make_checked(Transport& inner, std::unique_ptr<Transport> owned,
                                                      std::uint64_t seed);
/// Makes the decorator "chaos", which reorders, splits and delays operations as far as the contract allows. Local.
/// @param owned  the object of `inner` if the decorator is to own it, else null
/// @param seed   determines all choices, so that a failing run can be repeated; the same on every rank
[[nodiscard]] std::unique_ptr<Transport> make_chaos(Transport& inner, std::unique_ptr<Transport> owned,
                                                    std::uint64_t seed);

/// Parsed item of RunOptions::decorators: "name" or "name:seed".
struct DecoratorSpec {
  std::string name;
  std::uint64_t seed = 0;
};

/// Parses a comma list of decorators. Local. @throws UsageError for an unknown name or a bad seed, with the list of names
[[nodiscard]] std::vector<DecoratorSpec> parse_decorators(const std::string& list);

/// Wraps `inner` into the decorators, the first of the list outermost; returns null if the list is empty. `inner` must outlive
/// the result. Local.
[[nodiscard]] std::unique_ptr<Transport> decorate(Transport& inner, const std::vector<DecoratorSpec>& list);

}  // namespace merganser::comm::detail
