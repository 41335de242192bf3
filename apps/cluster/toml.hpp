#pragma once
/// TOML files of the command, read by toml++ where the program was built with it.
#include <string>

#include "apps/frame/json.hpp"

namespace merganser::app {

/// Returns whether the program reads TOML. Local.
[[nodiscard]] bool reads_toml();

/// Parses TOML into the JSON of the same tables, arrays, texts, numbers and truth values. Local.
/// @param name  name of the file, for messages
/// @throws InputError for a text that is no TOML, dates and times, and where the program was built without toml++
[[nodiscard]] Json parse_toml(const std::string& text, const std::string& name);

}  // namespace merganser::app
