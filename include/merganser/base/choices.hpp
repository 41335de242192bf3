#pragma once
/// Names of the values of enumerations, for messages, records and options of the command.
#include <string>
#include <utility>
#include <vector>

#include "merganser/base/language.hpp"

namespace merganser {

/// Table that maps the values of an enumeration to their names and back.
template <class E>
struct Choices {
  std::vector<std::pair<std::string, E>> words;  ///< name and value, in the order in which help texts list them
  /// Returns the first name of a value of the enumeration; an empty string if the table does not have the value.
  [[nodiscard]] std::string name(E value) const {
    for (const auto& [word, e] : words)
      if (e == value) return word;
    return {};
  }
};

}  // namespace merganser
