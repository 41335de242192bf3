#pragma once
/// Log messages and the sink that a program installs for them. The library itself never prints.
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "merganser/base/language.hpp"

namespace merganser {

/// Severity of a log message, the most severe first.
enum class Level { error, warning, info, debug };

/// Function that receives log messages. It may be called from any thread, and is never called by two at a time.
using LogSink = std::function<void(Level level, int rank, std::string_view text)>;

/// Replaces the log sink of this process; an empty sink, the initial state, drops every message. Any thread may call it. Local.
void set_log_sink(LogSink sink);

/// Passes a log message to the sink of this process. Any thread may call it. Local.
/// @param rank  rank that the message is from; 0 where there is one rank only
void log(Level level, int rank, std::string_view text);

/// Returns the text as one line that is safe to print. Control characters, bytes that are not UTF-8 and characters that change the
/// direction of text are escaped (`\n`, `\x1b`, `\u202e`); of a text of more than `most` bytes the middle is replaced by a note of
/// how many bytes are left out. For every text that may repeat what a user, a file or another program provided.
[[nodiscard]] std::string one_line(std::string_view text, std::size_t most = 2000);

/// Returns the name of a severity of log messages: "error", "warning", "info" or "debug".
[[nodiscard]] std::string_view level_name(Level level);
/// Parses the name of a severity of log messages, the inverse of level_name(). @return nothing for other texts
[[nodiscard]] std::optional<Level> parse_level(std::string_view name);

/// Makes a log sink that writes lines "merganser: warning: text" to standard error, for programs.
/// @param most        least severe level that is written; less severe messages are dropped
/// @param every_rank  false: messages of ranks other than 0 are dropped; true: all are written, with "[rank 3]" in front
[[nodiscard]] LogSink stderr_sink(Level most, bool every_rank);

}  // namespace merganser
