#pragma once
/// Text written by rank 0 for all ranks.
#include <array>
#include <charconv>
#include <functional>
#include <string>

#include "merganser/comm/transport.hpp"
#include "merganser/graphs/edges.hpp"

namespace merganser::graphs::detail {

inline constexpr std::size_t kBlockBytes = std::size_t{1} << 22;  ///< about what one block of text should have

/// Writes `head` and behind it what the ranks have, rank by rank and block by block. Collective.
/// @param next  appends this rank's next block to an empty text; @return false if that was the last
void write_blocks(const std::string& path, const std::string& head, comm::Transport& transport,
                  const std::function<bool(std::string&)>& next);

/// The shortest text that reads back as the same number.
template <class T>
void append_number(std::string& out, T value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

/// Formats in which every edge stands in the list of each of its ends. Weights must be integers that 63 bits and a sign
/// hold; loops are left out. Collective. @throws InputError on every rank
void write_metis(const std::string& path, const EdgeList& graph, comm::Transport& transport);
void write_parhip(const std::string& path, const EdgeList& graph, comm::Transport& transport);

}  // namespace merganser::graphs::detail
