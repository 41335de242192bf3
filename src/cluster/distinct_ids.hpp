#pragma once
/// Checks that ids are distinct: among the points of a rank in every search, and against those of other ranks that a
/// search receives.
#include <cstdint>
#include <string>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/nearest/point_set.hpp"

namespace merganser::cluster {

/// Set of the ids of one rank's points, which detects duplicates. Ids that ascend need no memory, those from a range of up to
/// 32 times their number up to 9 bytes each, others 16 to 32.
class IdSet {
 public:
  /// Replaces the set by the ids of this rank's points, checking that they are distinct; `points` is read until the next call.
  /// @throws InputError naming two points with one id
  /// Cost: O(n), expected; memory is kept for the next call.
  void assign(const nearest::PointSet& points);
  /// Returns true if one of this rank's points has this id. Cost: O(1) expected; O(log n) where ids ascend; O(n) after release().
  [[nodiscard]] bool contains(std::int64_t id);
  /// Frees the memory of the set, whose ids stay: the next contains() reads the points given to assign() again.
  void release() noexcept;

 private:
  /// Representation of the set of this rank's ids: the ascending array itself, a bit for each id of a range, or a hash table.
  enum class Kind : std::uint8_t { ascending, bits, hashed };
  template <class Id>
  void assign_from(const nearest::PointSet& points, const Id& id);
  template <class Id>
  [[nodiscard]] bool assign_bits(const nearest::PointSet& points, const Id& id);
  template <class Id>
  void assign_hashed(const nearest::PointSet& points, const Id& id);
  [[nodiscard]] std::size_t find_slot(std::int64_t id) const;

  Kind kind_ = Kind::ascending;
  const nearest::PointSet* points_ = nullptr;
  links::Ids ids_;
  std::size_t size_ = 0;
  std::uint64_t first_ = 0;           // Kind::bits: id of the first bit
  std::vector<std::uint64_t> words_;  // Kind::bits: one bit for each id of the range
  std::vector<std::int64_t> slots_;   // Kind::hashed: open-addressing table, a power of two of them; empty: kEmpty
  bool has_empty_ = false;            // whether kEmpty, which marks empty slots, is one of the ids
};

/// Set of the ids of points of other ranks that one search receives: none may be an id of this rank, or come from two
/// ranks. That is enough for all decisions by ids: two points are compared by them on a rank that has one of them and
/// has received the other, or has received both.
class ForeignIds {
 public:
  /// Empties the set of received ids for a search among points of rank `rank`, this one, whose ids are `own`.
  void begin(IdSet& own, int rank);
  /// Inserts the id of a point that the search received from rank `rank`. @throws InputError naming the id and both ranks, on
  /// this rank alone, if a point of this rank or of a third one has it
  void insert(std::int64_t id, int rank);

 private:
  /// Slot of the hash table of received ids: an id and the rank that it came from.
  struct ReceivedId {
    std::int64_t id;
    std::int32_t rank;  // -1: an empty slot
  };
  void grow();
  [[nodiscard]] ReceivedId& find_slot(std::int64_t id);

  IdSet* own_ = nullptr;
  int rank_ = 0;
  std::size_t size_ = 0;
  std::vector<ReceivedId> slots_;
};

/// Checks that the ids of all ranks' parcels or points are distinct: each is sent to the rank given by its value, where equal
/// ones are found, unless ids ascend on every rank and the ranges of ranks are disjoint, or comm::are_surely_distinct() tells that they
/// are, which sends the ids too where their range is short. Collective.
/// @param name  kind of id, for the error, as "parcel id"
/// @throws InputError on every rank alike
void check_distinct_over_ranks(const std::string& name, const links::Ids& ids, std::size_t count,
                               comm::Transport& transport);

}  // namespace merganser::cluster
