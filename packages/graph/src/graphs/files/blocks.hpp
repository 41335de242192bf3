#pragma once
/// Writers of graph files that go block by block: text of all ranks through rank 0, and formats of adjacency lists.
#include <array>
#include <charconv>
#include <functional>
#include <span>
#include <string>

#include "merganser/comm/transport.hpp"
#include "merganser/graphs/edges.hpp"

namespace merganser::graphs::detail {

inline constexpr std::size_t kBlockBytes = std::size_t{1} << 22;  ///< size at which a block of text is complete

/// Writes a graph file in a text format: `head`, then the text of all ranks in the order of ranks. Rank 0 writes, and receives one
/// block of text at a time. Collective.
/// @param next  called on each rank until it returns false: appends this rank's next block to an empty text; false: it was
///              the last
/// @param format  makes the text of the file of a block, on rank 0; empty: blocks are that text
/// @throws InputError on every rank if the file cannot be written; it appears whole or not at all
void write_blocks(const std::string& path, const std::string& head, comm::Transport& transport,
                  const std::function<bool(std::string&)>& next,
                  const std::function<std::string(std::span<const char>)>& format = {});

/// Appends a number to a text of a graph file: the shortest text that reads back as the same number.
template <class T>
void append_number(std::string& out, T value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

/// Writes the graph of all ranks as a METIS file: adjacency lists as text, every edge in the list of each of its ends. Loops are
/// left out. Collective.
/// @throws InputError on every rank if it cannot be written, or weights are no integers or do not fit 64 bits with sign
void write_metis(const std::string& path, const EdgeList& graph, comm::Transport& transport);
/// Writes the graph of all ranks as a ParHIP file: adjacency lists as 64-bit numbers, every edge in the list of each of its ends.
/// Loops are left out. All ranks write. Collective.
/// @throws InputError on every rank if it cannot be written, or weights are no integers or do not fit 64 bits with sign
void write_parhip(const std::string& path, const EdgeList& graph, comm::Transport& transport);

}  // namespace merganser::graphs::detail
