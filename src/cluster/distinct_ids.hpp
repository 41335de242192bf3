#pragma once
/// Whether ids are distinct: among the points of a rank in every search, and against those of other ranks that a search meets.
#include <cstdint>
#include <string>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/nearest/point_set.hpp"

namespace merganser::cluster {

/// A set of ids that takes each once. Ids that ascend need no memory, those from a range of up to 32 times their number up to
/// 9 bytes each, others 16 to 32.
class IdSet {
 public:
  /// Takes the ids of these points, in place of what was there; `points` is read until the next call.
  /// @throws InputError naming two points with one id
  /// Cost: O(n), expected; memory is kept for the next call.
  void assign(const nearest::PointSet& points);
  /// Whether one of the points has this id. Cost: O(1) expected; O(log n) where ids ascend.
  [[nodiscard]] bool contains(std::int64_t id) const;

 private:
  enum class Kind : std::uint8_t { ascending, bits, hashed };
  template <class Id>
  void assign_from(const nearest::PointSet& points, const Id& id);
  template <class Id>
  [[nodiscard]] bool assign_bits(const nearest::PointSet& points, const Id& id);
  template <class Id>
  void assign_hashed(const nearest::PointSet& points, const Id& id);
  [[nodiscard]] std::size_t slot_of(std::int64_t id) const;

  Kind kind_ = Kind::ascending;
  links::Ids ids_;
  std::size_t size_ = 0;
  std::uint64_t first_ = 0;           // id of the first bit
  std::vector<std::uint64_t> words_;  // bits
  std::vector<std::int64_t> slots_;   // a power of two of them; empty: kEmpty
  bool has_empty_ = false;            // the id that marks empty slots is one of them
};

/// Ids of points of other ranks as they come in one search: none may be an id of this rank's, or come from two ranks. That is
/// enough for all that ids decide: two points are compared by them on a rank that has one of them and was told of the
/// other, or was told of both.
class ForeignIds {
 public:
  /// Begins a search among points whose ids are `own`.
  void begin(const IdSet& own, int rank);
  /// @throws InputError naming the id and both ranks; on this rank alone
  void meet(std::int64_t id, int rank);

 private:
  struct Met {
    std::int64_t id;
    std::int32_t rank;  // -1: an empty slot
  };
  void grow();
  [[nodiscard]] Met& slot_of(std::int64_t id);

  const IdSet* own_ = nullptr;
  int rank_ = 0;
  std::size_t size_ = 0;
  std::vector<Met> slots_;
};

/// Refuses ids that two points have, on one rank or two: each goes to a rank that it says itself, where equal ones meet,
/// unless they ascend on every rank and the ranges of ranks are apart. Collective.
/// @param name  of such an id in an error
/// @throws InputError on every rank alike
void check_distinct_over_ranks(const std::string& name, const links::Ids& ids, std::size_t count,
                               comm::Transport& transport);

}  // namespace merganser::cluster
