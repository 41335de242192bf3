#pragma once
/// Options of a struct as names and values in text, for check_uniform_across_ranks().
#include <vector>

#include "merganser/base/options.hpp"
#include "merganser/comm/transport.hpp"

namespace merganser::comm {

/// Returns the name and value of each option of a struct that has describe(). Local.
template <class T>
[[nodiscard]] std::vector<UniformValue> uniform_values(const T& options) {
  T copy = options;  // a table binds to what it may change
  const OptionTable table(copy);
  std::vector<UniformValue> values;
  for (const auto& option : table.options()) values.push_back({option.name, value_text(option.value())});
  return values;
}

}  // namespace merganser::comm
