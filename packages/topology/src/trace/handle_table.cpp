#include <cstdlib>

#include "src/trace/record.hpp"

namespace merganser::trace {
namespace {
constexpr std::size_t kFirstSlots = 64;
}

HandleTable::Table* HandleTable::make(std::size_t slots) {
  auto* table = static_cast<Table*>(std::calloc(1, sizeof(Table) + (slots - 1) * sizeof(Slot)));
  if (table != nullptr) table->mask = slots - 1;
  return table;
}

void* HandleTable::find(std::uintptr_t handle) const {
  const Table* table = __atomic_load_n(&table_, __ATOMIC_ACQUIRE);
  if (table == nullptr) return nullptr;
  for (std::size_t at = hash(handle) & table->mask;; at = (at + 1) & table->mask) {
    const std::uintptr_t here = __atomic_load_n(&table->slots[at].handle, __ATOMIC_ACQUIRE);
    if (here == handle) return __atomic_load_n(&table->slots[at].value, __ATOMIC_RELAXED);
    if (here == 0) return nullptr;
  }
}

/// The handle's slot, else the first one that may take it.
HandleTable::Slot* HandleTable::slot_for(Table* table, std::uintptr_t handle, bool& fresh) {
  Slot* gone = nullptr;
  fresh = false;
  for (std::size_t at = hash(handle) & table->mask;; at = (at + 1) & table->mask) {
    Slot& slot = table->slots[at];
    if (slot.handle == handle) return &slot;
    if (slot.handle == kGone && gone == nullptr) gone = &slot;
    if (slot.handle != 0) continue;
    fresh = gone == nullptr;
    return gone != nullptr ? gone : &slot;
  }
}

/// Readers may still be in the old table, which is therefore kept: all old ones together are smaller than the new one.
void HandleTable::grow() {
  Table* bigger = make(table_ == nullptr ? kFirstSlots : 2 * (table_->mask + 1));
  if (bigger == nullptr) return;
  used_ = 0;
  for (std::size_t at = 0; table_ != nullptr && at <= table_->mask; ++at) {
    const Slot& slot = table_->slots[at];
    if (slot.handle == 0 || slot.handle == kGone) continue;
    bool fresh = false;
    *slot_for(bigger, slot.handle, fresh) = slot;
    ++used_;
  }
  __atomic_store_n(&table_, bigger, __ATOMIC_RELEASE);
}

void HandleTable::insert(std::uintptr_t handle, void* value) {
  const Lock lock(lock_);
  if (table_ == nullptr || 2 * used_ > table_->mask) grow();
  if (table_ == nullptr || used_ >= table_->mask) return std::free(value);
  bool fresh = false;
  Slot* slot = slot_for(table_, handle, fresh);
  if (fresh) ++used_;
  void* old = slot->handle == handle ? slot->value : nullptr;
  __atomic_store_n(&slot->value, value, __ATOMIC_RELAXED);
  __atomic_store_n(&slot->handle, handle, __ATOMIC_RELEASE);
  std::free(old);
}

void HandleTable::erase(std::uintptr_t handle) {
  const Lock lock(lock_);
  if (table_ == nullptr) return;
  bool fresh = false;
  Slot* slot = slot_for(table_, handle, fresh);
  if (slot->handle != handle) return;
  __atomic_store_n(&slot->handle, kGone, __ATOMIC_RELEASE);
  std::free(slot->value);
}

}  // namespace merganser::trace
