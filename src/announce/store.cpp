#include "src/announce/store.hpp"

#include <algorithm>

namespace merganser::announce {
namespace {

constexpr std::size_t kLeastSlots = 16;
constexpr std::size_t kKeep = 4096;  // entries or bytes of room that are always kept
constexpr std::size_t kSpare = 8;    // room is given back if it is this many times what was used

std::size_t hash(const AnnouncementId& id) {
  std::uint64_t x = id.counter * 0x9E3779B97F4A7C15U + static_cast<std::uint64_t>(id.origin);
  x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93U;
  return static_cast<std::size_t>(x ^ (x >> 32));
}

template <class T>
void empty(std::vector<T>& items) {
  const std::size_t used = items.size();
  items.clear();
  if (items.capacity() > kKeep && items.capacity() / kSpare > used) {
    items.shrink_to_fit();
    items.reserve(used);
  }
}

}  // namespace

std::size_t Shelf::slot_of(const AnnouncementId& id) const {
  std::size_t slot = hash(id) & (table_.size() - 1);
  while (table_[slot] != 0 && stored_[table_[slot] - 1].id != id) slot = (slot + 1) & (table_.size() - 1);
  return slot;
}

void Shelf::grow() {
  table_.assign(std::max(kLeastSlots, 2 * table_.size()), 0);
  for (std::size_t place = 0; place < stored_.size(); ++place) table_[slot_of(stored_[place].id)] = place + 1;
}

std::optional<std::size_t> Shelf::add(AnnouncementId id, Topic topic, Delivery delivery,
                                      std::span<const std::byte> bytes) {
  if (2 * (stored_.size() + 1) > table_.size()) grow();
  const std::size_t slot = slot_of(id);
  if (table_[slot] != 0) return std::nullopt;
  stored_.push_back({id, bytes_.size(), bytes.size(), topic, delivery});
  table_[slot] = stored_.size();
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return stored_.size() - 1;
}

void Shelf::clear() {
  if (table_.size() > kKeep && table_.size() / kSpare > 2 * stored_.size()) {
    table_ = std::vector<std::size_t>();
  } else if (!stored_.empty()) {
    std::fill(table_.begin(), table_.end(), 0);
  }
  empty(stored_);
  empty(bytes_);
}

}  // namespace merganser::announce
