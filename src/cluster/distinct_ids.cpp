// Checks that ids of parcels or points are distinct, on one rank in every search, between ranks where ids are received.
#include "src/cluster/distinct_ids.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "merganser/base/indexed_text.hpp"
#include "merganser/base/release_memory.hpp"
#include "merganser/base/simulated.hpp"
#include "merganser/cluster/cluster.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/comm/distinct_numbers.hpp"

namespace merganser::cluster {
namespace {

// Marks empty slots: an unlikely id, which has_empty_ represents if it does occur.
constexpr std::int64_t kEmpty = std::numeric_limits<std::int64_t>::min();
constexpr std::size_t kIdsAhead = 64;  // prefetch distance, in points
constexpr const char* kAllowed = "; allowed: ids distinct over all ranks";

/// Returns the first slot to probe for a point's id in a hash table of 2^(64 - shift) slots, by Fibonacci hashing.
std::size_t hash_slot(std::int64_t id, int shift) {
  return static_cast<std::size_t>((static_cast<std::uint64_t>(id) * 0x9e3779b97f4a7c15U) >> shift);
}
/// Returns the argument `shift` of hash_slot() for a hash table of `slots` slots, a power of two.
int hash_shift(std::size_t slots) { return 64 - std::countr_zero(slots); }

/// Throws the InputError of IdSet::assign() for point i of this rank, which has the id of an earlier point, found by a second pass.
[[noreturn]] void throw_duplicate(const nearest::PointSet& points, std::size_t i) {
  std::size_t first = 0;
  while (points.id(first) != points.id(i)) ++first;
  if (points.sites() != nullptr)
    throw InputError("parcel id " + std::to_string(points.id(i)) + " is there twice" + kAllowed);
  throw Indexed<InputError>(IndexedText("point ") + Index{i} + ": id " + std::to_string(points.id(i)) +
                            " is that of point " + Index{first} + kAllowed);
}

/// Returns the memory of a hash table that a simulated rank has released, for the next one of the process.
std::vector<std::int64_t>& spare_slots() {
  static std::vector<std::int64_t> slots;
  return slots;
}

/// Range of the ids of one rank's points, from which all ranks decide without a sort whether ids are distinct;
/// compute_range() fills it.
struct IdRange {
  std::int64_t ascending = 1;  ///< 1 if each id is above the one before, else 0
  std::int64_t count = 0;      ///< number of ids on the rank
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// Returns the range of the ids of this rank's points, and whether they ascend. Local.
IdRange compute_range(const links::Ids& ids, std::size_t count) {
  if (count == 0) return {};
  const auto id = [&](std::size_t i) { return ids[static_cast<std::uint32_t>(i)]; };
  IdRange range{1, static_cast<std::int64_t>(count), id(0), id(count - 1)};
  for (std::size_t i = 1; i < count; ++i)
    if (id(i - 1) >= id(i)) range.ascending = 0;
  return range;
}

/// Returns true if the ids of points ascend on every rank and the ranges of no two ranks overlap, so that all are distinct.
/// Collective: one gather of the ranges.
bool has_disjoint_ranges(const links::Ids& ids, std::size_t count, comm::Transport& transport) {
  std::vector<IdRange> all;
  for (const IdRange& range : comm::all_gather_value(transport, compute_range(ids, count))) {
    if (range.ascending == 0) return false;
    if (range.count > 0) all.push_back(range);
  }
  std::sort(all.begin(), all.end(), [](const IdRange& a, const IdRange& b) { return a.first < b.first; });
  return std::adjacent_find(all.begin(), all.end(),
                            [](const IdRange& a, const IdRange& b) { return b.first <= a.last; }) == all.end();
}

}  // namespace

// Test that the ids of one rank's points are distinct, made in every search: ids first, first + 1, ... need no work.
void IdSet::assign(const nearest::PointSet& points) {
  points_ = &points;
  ids_ = points.ids(nullptr);
  size_ = points.size();
  kind_ = Kind::ascending;
  if (size_ == 0) return;
  if (ids_.base == nullptr) return;  // first, first + 1, ...
  if (ids_.stride == sizeof(std::int64_t)) {
    const auto* const all = reinterpret_cast<const std::int64_t*>(ids_.base);
    assign_from(points, [all](std::size_t i) { return all[i]; });
  } else {
    assign_from(points, [base = ids_.base, stride = ids_.stride](std::size_t i) {
      __builtin_prefetch(base + (i + kIdsAhead) * stride);  // also beyond the last: harmless
      std::int64_t id;
      std::memcpy(&id, base + i * stride, sizeof id);
      return id;
    });
  }
}

/// Chooses the cheapest representation of the set of this rank's ids: none for ascending ids, bits for a short range, else a
/// hash table; `id` returns that of a point. @throws InputError for two points with one id
template <class Id>
void IdSet::assign_from(const nearest::PointSet& points, const Id& id) {
  std::size_t ascending = 1;
  while (ascending < size_ && id(ascending - 1) < id(ascending)) ++ascending;
  if (ascending == size_) return;
  if (!assign_bits(points, id)) assign_hashed(points, id);
}

/// Represents the ids of this rank's points by bits of a range, estimated from a sample of the ids with a margin of half its
/// length and more on both sides. Returns false if the range is long, or some ids lie outside. @throws InputError for two
/// points with one id
template <class Id>
bool IdSet::assign_bits(const nearest::PointSet& points, const Id& id) {
  std::int64_t least = id(0);
  std::int64_t most = least;
  for (std::size_t i = 0; i < size_; i += size_ / 64 + 1) {
    least = std::min(least, id(i));
    most = std::max(most, id(i));
  }
  const std::uint64_t range = static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least);
  if (range / 32 >= size_) return false;
  const std::uint64_t margin = range / 2 + size_;
  const std::uint64_t first = static_cast<std::uint64_t>(least) - margin;  // may wrap around, as differences to it do
  const std::uint64_t end = range + 2 * margin + 1;
  first_ = first;
  words_.assign(static_cast<std::size_t>(end / 64 + 1), 0);
  std::uint64_t* const words = words_.data();
  for (std::size_t i = 0; i < size_; ++i) {
    const std::uint64_t at = static_cast<std::uint64_t>(id(i)) - first;
    if (at >= end) [[unlikely]]
      return false;
    std::uint64_t& word = words[at / 64];
    const std::uint64_t bit = std::uint64_t{1} << (at % 64);
    if ((word & bit) != 0) [[unlikely]]
      throw_duplicate(points, i);
    word |= bit;
  }
  kind_ = Kind::bits;
  return true;
}

/// Represents the ids of this rank's points by a hash table with linear probing, at most half full. @throws InputError for two
/// points with one id
template <class Id>
void IdSet::assign_hashed(const nearest::PointSet& points, const Id& id) {
  kind_ = Kind::hashed;
  if constexpr (kSimulated)
    if (slots_.empty()) slots_.swap(spare_slots());
  slots_.assign(std::bit_ceil(2 * size_), kEmpty);
  has_empty_ = false;
  std::int64_t* const slots = slots_.data();
  const std::size_t mask = slots_.size() - 1;
  const int shift = hash_shift(slots_.size());
  for (std::size_t i = 0; i < size_; ++i) {
    const std::int64_t it = id(i);
    std::size_t at = hash_slot(it, shift);
    while (slots[at] != kEmpty) {
      if (slots[at] == it) [[unlikely]]
        throw_duplicate(points, i);
      at = (at + 1) & mask;
    }
    if (it != kEmpty) {
      slots[at] = it;
    } else if (std::exchange(has_empty_, true)) {
      throw_duplicate(points, i);
    }
  }
}

/// Returns the slot of an id in the hash table of this rank's ids, or the empty one where it would be inserted.
std::size_t IdSet::find_slot(std::int64_t id) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash_slot(id, hash_shift(slots_.size()));
  while (slots_[at] != id && slots_[at] != kEmpty) at = (at + 1) & mask;
  return at;
}

// Look-up in the set of this rank's ids, by the representation that assign() chose: binary search, bit, or hash table.
bool IdSet::contains(std::int64_t id) {
  if (size_ == 0) return false;
  if (kind_ != Kind::ascending && words_.empty() && slots_.empty()) assign(*points_);
  switch (kind_) {
    case Kind::ascending: {
      if (ids_.base == nullptr) return id >= ids_.first && id - ids_.first < static_cast<std::int64_t>(size_);
      std::uint32_t low = 0;
      for (auto high = static_cast<std::uint32_t>(size_); low < high;) {
        const std::uint32_t middle = low + (high - low) / 2;
        if (ids_[middle] < id) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      return low < size_ && ids_[low] == id;
    }
    case Kind::bits: {
      const std::uint64_t at = static_cast<std::uint64_t>(id) - first_;
      return at / 64 < words_.size() && (words_[at / 64] >> (at % 64) & 1U) != 0;
    }
    case Kind::hashed:
      break;
  }
  return id == kEmpty ? has_empty_ : slots_[find_slot(id)] == id;
}

// Release of a set that is not looked into for a while; the ids are in the points.
void IdSet::release() noexcept {
  release_memory(words_);
  if constexpr (kSimulated) {
    if (slots_.empty()) return;  // released before
    slots_.swap(spare_slots());
  }
  release_memory(slots_);
}

// Start of a search: the set of other ranks' ids is emptied, its memory kept.
void ForeignIds::begin(IdSet& own, int rank) {
  own_ = &own;
  rank_ = rank;
  if (size_ > 0) std::fill(slots_.begin(), slots_.end(), ReceivedId{0, -1});
  size_ = 0;
}

/// Returns the slot of an id in the hash table of received ids, or the empty slot where it would be inserted.
ForeignIds::ReceivedId& ForeignIds::find_slot(std::int64_t id) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash_slot(id, hash_shift(slots_.size()));
  while (slots_[at].rank >= 0 && slots_[at].id != id) at = (at + 1) & mask;
  return slots_[at];
}

/// Doubles the hash table of the ids received from other ranks and inserts them again.
void ForeignIds::grow() {
  // At most half full, so that probing always ends at an empty slot.
  const std::vector<ReceivedId> old = std::move(slots_);
  slots_.assign(std::max<std::size_t>(64, 2 * old.size()), {0, -1});
  for (const ReceivedId& met : old)
    if (met.rank >= 0) find_slot(met.id) = met;
}

// Check of an id that a search received from another rank: ids are distinct over all ranks, or decisions by id would be
// undefined.
void ForeignIds::insert(std::int64_t id, int rank) {
  const auto refuse = [&](int other) {
    throw InputError("id " + std::to_string(id) + " is that of a point on rank " +
                     std::to_string(std::min(rank, other)) + " and of one on rank " +
                     std::to_string(std::max(rank, other)) + kAllowed);
  };
  if (own_->contains(id)) refuse(rank_);
  if (2 * size_ >= slots_.size()) grow();
  ReceivedId& met = find_slot(id);
  if (met.rank < 0) {
    met = {id, rank};
    ++size_;
  } else if (met.rank != rank) {
    refuse(met.rank);
  }
}

// Collective check of the decorator `checked` and of distribute(): equal ids meet on the rank given by their value.
void check_distinct_over_ranks(const std::string& name, const links::Ids& ids, std::size_t count,
                               comm::Transport& transport) {
  if (has_disjoint_ranges(ids, count, transport)) return;
  if (comm::are_surely_distinct(transport, count, [&](std::size_t i) { return ids[static_cast<std::uint32_t>(i)]; }))
    return;
  const auto ranks = static_cast<std::uint64_t>(transport.size());
  std::vector<std::vector<std::int64_t>> to(ranks);
  for (std::uint32_t i = 0; i < count; ++i) to[static_cast<std::uint64_t>(ids[i]) % ranks].push_back(ids[i]);
  std::vector<std::int64_t> met = comm::all_to_all(transport, std::move(to)).flat();
  std::sort(met.begin(), met.end());
  comm::agree(transport, [&] {
    const auto duplicate = std::adjacent_find(met.begin(), met.end());
    if (duplicate != met.end())
      throw InputError(name + " " + std::to_string(*duplicate) + " is there twice" + kAllowed);
  });
}

}  // namespace merganser::cluster

// Public form of the collective check that ids are distinct over all ranks, for a caller's array.
void merganser::check_distinct(std::span<const std::int64_t> ids, comm::Transport& transport) {
  static constexpr std::int64_t kNone = 0;
  const auto* const first = reinterpret_cast<const std::byte*>(ids.empty() ? &kNone : ids.data());
  cluster::check_distinct_over_ranks("id", {first, sizeof(std::int64_t), nullptr, 0}, ids.size(), transport);
}
