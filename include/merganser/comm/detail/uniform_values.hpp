#pragma once
/// Conversion of an options structure to names and values in text, by which check_uniform_across_ranks() compares it over ranks.
#include <vector>

#include "merganser/base/options.hpp"
#include "merganser/comm/transport.hpp"

namespace merganser::comm {

/// Returns the name and value, as text, of each option of an options structure that has describe(), for the comparison over
/// ranks by check_uniform_across_ranks(). Local.
template <class T>
[[nodiscard]] std::vector<UniformValue> uniform_values(const T& options) {
  T copy = options;  // a table binds to what it may change
  const OptionTable table(copy);
  std::vector<UniformValue> values;
  for (const auto& option : table.options()) values.push_back({option.name, value_text(option.value())});
  return values;
}

}  // namespace merganser::comm
