#include "src/cluster/distinct_ids.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "merganser/base/indexed_text.hpp"
#include "merganser/cluster/cluster.hpp"
#include "merganser/comm/collectives.hpp"

namespace merganser::cluster {
namespace {

constexpr std::int64_t kEmpty = std::numeric_limits<std::int64_t>::min();  // an id that nobody is likely to give
constexpr const char* kAllowed = "; allowed: ids distinct over all ranks";

/// Where an id begins to look for its slot among 2^(64 - shift) of them: Fibonacci hashing.
std::size_t place(std::int64_t id, int shift) {
  return static_cast<std::size_t>((static_cast<std::uint64_t>(id) * 0x9e3779b97f4a7c15U) >> shift);
}
int shift_for(std::size_t slots) { return 64 - std::countr_zero(slots); }

/// Names point i, and the one before it that has its id.
[[noreturn]] void refuse_second(const nearest::PointSet& points, std::size_t i) {
  std::size_t first = 0;
  while (points.id(first) != points.id(i)) ++first;
  if (points.sites() != nullptr)
    throw InputError("parcel id " + std::to_string(points.id(i)) + " is there twice" + kAllowed);
  throw Indexed<InputError>(IndexedText("point ") + Index{i} + ": id " + std::to_string(points.id(i)) +
                            " is that of point " + Index{first} + kAllowed);
}

/// The ids of a rank in a line, where they are in order.
struct IdRange {
  std::int64_t ascending = 1;
  std::int64_t count = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
};

IdRange range_of(const links::Ids& ids, std::size_t count) {
  if (count == 0) return {};
  const auto id = [&](std::size_t i) { return ids[static_cast<std::uint32_t>(i)]; };
  IdRange range{1, static_cast<std::int64_t>(count), id(0), id(count - 1)};
  for (std::size_t i = 1; i < count; ++i)
    if (id(i - 1) >= id(i)) range.ascending = 0;
  return range;
}

/// Whether the ids of no two ranks can be the same, and those of no rank. Collective.
bool surely_distinct(const links::Ids& ids, std::size_t count, comm::Transport& transport) {
  std::vector<IdRange> all;
  for (const IdRange& range : comm::all_gather_value(transport, range_of(ids, count))) {
    if (range.ascending == 0) return false;
    if (range.count > 0) all.push_back(range);
  }
  std::sort(all.begin(), all.end(), [](const IdRange& a, const IdRange& b) { return a.first < b.first; });
  return std::adjacent_find(all.begin(), all.end(),
                            [](const IdRange& a, const IdRange& b) { return b.first <= a.last; }) == all.end();
}

}  // namespace

void IdSet::assign(const nearest::PointSet& points) {
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
      std::int64_t id;
      std::memcpy(&id, base + i * stride, sizeof id);
      return id;
    });
  }
}

/// The cheapest way that will do; `id` gives that of a point.
template <class Id>
void IdSet::assign_from(const nearest::PointSet& points, const Id& id) {
  std::size_t ascending = 1;
  while (ascending < size_ && id(ascending - 1) < id(ascending)) ++ascending;
  if (ascending == size_) return;
  if (!assign_bits(points, id)) assign_hashed(points, id);
}

/// With room for half of the range of a few ids on both sides of it. False if the range is long, or some lie outside.
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
      refuse_second(points, i);
    word |= bit;
  }
  kind_ = Kind::bits;
  return true;
}

template <class Id>
void IdSet::assign_hashed(const nearest::PointSet& points, const Id& id) {
  kind_ = Kind::hashed;
  slots_.assign(std::bit_ceil(2 * size_), kEmpty);
  has_empty_ = false;
  std::int64_t* const slots = slots_.data();
  const std::size_t mask = slots_.size() - 1;
  const int shift = shift_for(slots_.size());
  for (std::size_t i = 0; i < size_; ++i) {
    const std::int64_t it = id(i);
    std::size_t at = place(it, shift);
    while (slots[at] != kEmpty) {
      if (slots[at] == it) [[unlikely]]
        refuse_second(points, i);
      at = (at + 1) & mask;
    }
    if (it != kEmpty) {
      slots[at] = it;
    } else if (std::exchange(has_empty_, true)) {
      refuse_second(points, i);
    }
  }
}

/// Where the id is, or would be.
std::size_t IdSet::slot_of(std::int64_t id) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = place(id, shift_for(slots_.size()));
  while (slots_[at] != id && slots_[at] != kEmpty) at = (at + 1) & mask;
  return at;
}

bool IdSet::contains(std::int64_t id) const {
  if (size_ == 0) return false;
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
  return id == kEmpty ? has_empty_ : slots_[slot_of(id)] == id;
}

void ForeignIds::begin(const IdSet& own, int rank) {
  own_ = &own;
  rank_ = rank;
  if (size_ > 0) std::fill(slots_.begin(), slots_.end(), Met{0, -1});
  size_ = 0;
}

ForeignIds::Met& ForeignIds::slot_of(std::int64_t id) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = place(id, shift_for(slots_.size()));
  while (slots_[at].rank >= 0 && slots_[at].id != id) at = (at + 1) & mask;
  return slots_[at];
}

void ForeignIds::grow() {
  const std::vector<Met> old = std::move(slots_);
  slots_.assign(std::max<std::size_t>(64, 2 * old.size()), {0, -1});
  for (const Met& met : old)
    if (met.rank >= 0) slot_of(met.id) = met;
}

void ForeignIds::meet(std::int64_t id, int rank) {
  const auto refuse = [&](int other) {
    throw InputError("id " + std::to_string(id) + " is that of a point on rank " +
                     std::to_string(std::min(rank, other)) + " and of one on rank " +
                     std::to_string(std::max(rank, other)) + kAllowed);
  };
  if (own_->contains(id)) refuse(rank_);
  if (2 * size_ >= slots_.size()) grow();
  Met& met = slot_of(id);
  if (met.rank < 0) {
    met = {id, rank};
    ++size_;
  } else if (met.rank != rank) {
    refuse(met.rank);
  }
}

void check_distinct_over_ranks(const std::string& name, const links::Ids& ids, std::size_t count,
                               comm::Transport& transport) {
  if (surely_distinct(ids, count, transport)) return;
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

void merganser::check_distinct(std::span<const std::int64_t> ids, comm::Transport& transport) {
  static constexpr std::int64_t kNone = 0;
  const auto* const first = reinterpret_cast<const std::byte*>(ids.empty() ? &kNone : ids.data());
  cluster::check_distinct_over_ranks("id", {first, sizeof(std::int64_t), nullptr, 0}, ids.size(), transport);
}
