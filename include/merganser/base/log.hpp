#pragma once
/// Where lines of log go. The library never prints: what it has to say goes to a sink that the program sets.
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "merganser/base/language.hpp"

namespace merganser {

/// How much a line of log matters, the most first.
enum class Level { error, warning, info, debug };

/// Takes a line of log; called from any thread, one call at a time.
using LogSink = std::function<void(Level level, int rank, std::string_view text)>;

/// Replaces the sink; an empty one (the initial state) drops every line.
void set_log_sink(LogSink sink);

/// Hands a line to the sink. @param rank  who says it; 0 where there is one rank only
void log(Level level, int rank, std::string_view text);

/// The text as one line that is safe to print: control characters, what is no UTF-8 and what turns the direction of
/// text around are escaped (`\n`, `\x1b`, `\u202e`), and of a text of more than `most` bytes the middle is left out,
/// with a note of its length. For everything that may repeat what a user, a file or another program has said.
[[nodiscard]] std::string one_line(std::string_view text, std::size_t most = 2000);

/// The name of a level: "error", "warning", "info", "debug".
[[nodiscard]] std::string_view level_name(Level level);
/// The level of such a name; nothing for other texts.
[[nodiscard]] std::optional<Level> level_of(std::string_view name);

/// A sink that writes "merganser: warning: text" (with "[rank 3]" where `every_rank`) to standard error, for programs.
/// Lines above `most` are dropped, and lines of ranks other than 0 too unless `every_rank`.
[[nodiscard]] LogSink stderr_sink(Level most, bool every_rank);

}  // namespace merganser
