#pragma once
/// Decorators of transports: transports around other ones, which check or disturb communication, chosen by name.
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
  std::string name;        ///< name of the decorator: "checked", "chaos"
  std::uint64_t seed = 0;  ///< seed of the decorator's random choices; 0 where it takes none
};

/// Parses a comma list of transport decorators, "checked,chaos:1". Local. @throws UsageError for an unknown name, with the list
/// of names, or a bad seed
[[nodiscard]] std::vector<DecoratorSpec> parse_decorators(const std::string& list);

/// Wraps the transport `inner` into the decorators of the list, the first one outermost; returns null if the list is empty.
/// `inner` must outlive the result. Local.
[[nodiscard]] std::unique_ptr<Transport> decorate(Transport& inner, const std::vector<DecoratorSpec>& list);

}  // namespace merganser::comm::detail
