#pragma once
/// Where the parsers of text formats put the entries that one rank reads.
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

}  // namespace merganser::graphs::detail
