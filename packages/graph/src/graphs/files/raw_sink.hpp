#pragma once
/// What the parsers of text formats share: where the entries go that one rank reads, and how many vertices there may be.
#include <string>
#include <string_view>

#include "src/graphs/files/raw.hpp"
#include "src/graphs/files/text.hpp"

namespace merganser::graphs::detail {

struct RawSink {
  const Text& text;
  const Piece& piece;
  Raw& raw;

  void entry(std::uint64_t at, std::uint64_t from, std::uint64_t to, std::string_view weight) {
    if (weight.empty())
      raw.add(from, to);
    else if (!raw.add(from, to, weight))
      fail(at, "weight " + shown(weight) + "; allowed: an integer to 64 bit or a number");
  }
  [[noreturn]] void fail(std::uint64_t at, const std::string& what) const { text.fail(piece, at, what); }
};

/// Refuses what is more than a file of its length may speak of. @param what  as the format calls vertices
inline void check_vertices(const Text& text, std::uint64_t vertices, const char* what) {
  const std::uint64_t most = most_vertices(text.file_bytes(), text.compressed());
  if (vertices > most)
    throw InputError(text.path() + ": " + std::to_string(vertices) + ' ' + what + "; allowed for a file of " +
                     std::to_string(text.file_bytes()) + " bytes: at most " + std::to_string(most));
}

}  // namespace merganser::graphs::detail
