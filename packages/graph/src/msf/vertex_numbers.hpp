#pragma once
/// Numbering of the distinct vertices at the ends of one rank's edges, in the order of the ranks that own them, for Boruvka's algorithm
/// over ranks.
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/base/id_table.hpp"
#include "src/msf/components.hpp"

namespace merganser::msf {

/// Numbers the distinct vertices of a collection 0, 1, 2, ... such that vertices of one owner have consecutive numbers and owners
/// ascend: add() each vertex, as often as it occurs, then call finish() once, then number().
///
/// Where at least one vertex of 64 is expected, it is implemented by one bit for each vertex of the graph and a count for each 64, and
/// numbers ascend with the ids; else by a hash table.
class VertexNumbers {
 public:
  /// Makes an empty collection. @param vertices  of the graph; ids are below it @param expected  number of calls of add(), about
  VertexNumbers(std::uint64_t vertices, std::size_t expected)
      : table_(vertices / kWord > expected ? expected : 0), is_dense_(vertices / kWord <= expected) {
    if (is_dense_) bits_.resize(static_cast<std::size_t>(vertices / kWord) + 1);
  }

  /// Adds a vertex to the collection, by its id. Amortised O(1).
  void add(std::uint64_t id) {
    if (is_dense_)
      bits_[static_cast<std::size_t>(id / kWord)] |= std::uint64_t{1} << (id % kWord);
    else
      table_.insert(id);
  }

  /// Numbers the vertices that were added. @return their ids by number, each once: grouped by ascending owner
  /// @throws InputError for 2^32 vertices and more
  std::vector<std::uint64_t> finish(const graphs::Ranges& ranges) {
    std::vector<std::uint64_t> ids;
    if (is_dense_) {
      before_.reserve(bits_.size());
      std::uint64_t count = 0;
      for (const std::uint64_t word : bits_) {
        before_.push_back(static_cast<std::uint32_t>(count));
        count += ones(word);
      }
      if (count > 0xffffffffU)
        throw InputError(std::to_string(count) + " vertices at the edges of one rank; allowed: below 4294967296");
      ids.reserve(count);
      for (std::size_t w = 0; w < bits_.size(); ++w)
        for (std::uint64_t left = bits_[w]; left != 0; left &= left - 1)
          ids.push_back(kWord * w + static_cast<std::uint64_t>(std::countr_zero(left)));
    } else {
      const auto order = order_by_owner(table_.keys(), ranges);
      ids.resize(order.size());
      place_.resize(order.size());
      for (std::uint32_t i = 0; i < order.size(); ++i) {
        place_[order[i]] = i;
        ids[i] = table_.keys()[order[i]];
      }
    }
    return ids;
  }

  /// Returns the number of a vertex that was added, after finish(). O(1), on average for a hash table.
  [[nodiscard]] std::uint32_t number(std::uint64_t id) const {
    if (!is_dense_) return place_[table_.find(id)];
    const auto w = static_cast<std::size_t>(id / kWord);
    return before_[w] + ones(bits_[w] & ((std::uint64_t{1} << (id % kWord)) - 1));
  }

 private:
  static constexpr std::uint64_t kWord = 64;  // vertices for which one word has bits

  /// Returns the number of bits of a word that are set. By sums of fields: std::popcount calls a function where the instruction is not
  /// part of the processors that a build is for.
  static std::uint32_t ones(std::uint64_t word) {
    word -= (word >> 1) & 0x5555555555555555ULL;
    word = (word & 0x3333333333333333ULL) + ((word >> 2) & 0x3333333333333333ULL);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
    return static_cast<std::uint32_t>(word * 0x0101010101010101ULL >> 56);
  }

  IdTable table_;                      // sparse: vertices in the order of first occurrence
  bool is_dense_;                      // bits are used, not the table
  std::vector<std::uint64_t> bits_;    // dense: one bit per vertex of the graph
  std::vector<std::uint32_t> before_;  // dense, per word of bits_: vertices that were added below its first
  std::vector<std::uint32_t> place_;   // sparse: number of a vertex by that in table_
};

}  // namespace merganser::msf
