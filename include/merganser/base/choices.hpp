#pragma once
/// Names of the values of enumerations, for messages, records and options of the command.
#include <string>
#include <utility>
#include <vector>

#include "merganser/base/language.hpp"

namespace merganser {

/// Words and the values of an enumeration that they stand for.
template <class E>
struct Choices {
  std::vector<std::pair<std::string, E>> words;
  /// The word of a value; empty if it has none.
  [[nodiscard]] std::string name(E value) const {
    for (const auto& [word, e] : words)
      if (e == value) return word;
    return {};
  }
};

}  // namespace merganser
