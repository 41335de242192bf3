#pragma once
/// Words of commands as a user types them.
#include <string>

namespace merganser::app {

/// Quotes a word of a command for a shell, in one line: as it is, in '...', or in $'...' if it has characters that cannot be printed.
[[nodiscard]] std::string quote_for_shell(const std::string& word);

}  // namespace merganser::app
