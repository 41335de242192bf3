// Log of the library: the sink of the process, and the escaping of texts from outside in messages.
#include "merganser/base/log.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "merganser/base/utf8.hpp"

namespace merganser {
namespace {

constexpr std::array<std::string_view, 4> kNames{"error", "warning", "info", "debug"};

/// Sink of the library's log, with its lock.
struct LogState {
  std::mutex mutex;  // held while the sink is called or replaced
  LogSink sink;      // receives the messages; empty: they are dropped
};

/// Returns the sink of the log of this process and its lock.
LogState& log_state() {
  static LogState state;
  return state;
}

/// Returns true for characters that must be escaped in a log message: C0 and C1 control characters, line and paragraph separators,
/// and characters that reorder bidirectional text.
bool is_unsafe_to_print(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || (c >= 0x200e && c <= 0x200f) ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

/// Appends the escape of a character of a log message: `mark` ("\x" or "\u") and hexadecimal digits.
void append_hex(std::string& out, std::string_view mark, unsigned value, int digits) {
  out += mark;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) out += "0123456789abcdef"[value >> shift & 15U];
}

/// Appends a text to a log message, with control characters and invalid UTF-8 escaped.
void append_escaped(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const auto [code, bytes] = first_character(text);
    if (bytes == 0) {
      append_hex(out, "\\x", static_cast<unsigned char>(text[0]), 2);
    } else if (code == '\n' || code == '\t' || code == '\r') {
      out += code == '\n' ? "\\n" : code == '\t' ? "\\t" : "\\r";
    } else if (is_unsafe_to_print(code)) {
      append_hex(out, bytes == 1 ? "\\x" : "\\u", code, bytes == 1 ? 2 : 4);
    } else {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
}

/// Returns the last offset of a text at or before `at` at which a UTF-8 character begins; `at` itself if there is none within four
/// bytes.
std::size_t character_boundary(std::string_view text, std::size_t at) {
  for (std::size_t back = 0; back < 4 && back < at; ++back)
    if ((static_cast<unsigned char>(text[at - back]) & 0xc0) != 0x80) return at - back;
  return at;
}

}  // namespace

// Returns a text from outside as messages show it: one line, printable, of bounded length.
std::string one_line(std::string_view text, std::size_t most) {
  std::string out;
  if (text.size() <= most) {
    append_escaped(out, text);
    return out;
  }
  const std::size_t head = character_boundary(text, most / 2);
  const std::size_t tail = character_boundary(text, text.size() - most / 2);
  append_escaped(out, text.substr(0, head));
  out += " [... " + std::to_string(tail - head) + " of " + std::to_string(text.size()) + " bytes left out ...] ";
  append_escaped(out, text.substr(tail));
  return out;
}

void set_log_sink(LogSink sink) {
  const std::lock_guard lock(log_state().mutex);
  log_state().sink = std::move(sink);
}

void log(Level level, int rank, std::string_view text) {
  const std::lock_guard lock(log_state().mutex);
  if (log_state().sink) log_state().sink(level, rank, text);
}

std::string_view level_name(Level level) { return kNames[static_cast<std::size_t>(level)]; }

std::optional<Level> parse_level(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<Level>(i);
  return std::nullopt;
}

// Makes a log sink that writes each message as one line to standard error, those of other ranks on request.
LogSink stderr_sink(Level most, bool every_rank) {
  return [most, every_rank](Level level, int rank, std::string_view text) {
    if (level > most || (rank != 0 && !every_rank)) return;
    std::string line = "merganser: " + std::string(level_name(level)) + ": ";
    if (every_rank) line += "[rank " + std::to_string(rank) + "] ";
    line += one_line(text) + '\n';
    // One write, so that lines of several processes do not mix.
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
  };
}

}  // namespace merganser
