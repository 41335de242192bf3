// Lock-free lookup of MPI handles (communicators, windows, requests) for the tracing library: open addressing with linear probing.
#include <cstdlib>

#include "src/trace/record.hpp"

namespace merganser::trace {
namespace {
constexpr std::size_t kFirstSlots = 64;
}

/// Allocates an empty hash table of MPI handles with a power of two of slots, by calloc; null without memory.
HandleTable::Table* HandleTable::make(std::size_t slots) {
  auto* table = static_cast<Table*>(std::calloc(1, sizeof(Table) + (slots - 1) * sizeof(Slot)));
  if (table != nullptr) table->mask = slots - 1;
  return table;
}

/// Lookup of an MPI handle in the tracing library's table, without a lock. A reader sees a slot's handle only after its value:
/// insert() stores the value first and releases with the handle.
void* HandleTable::find(std::uintptr_t handle) const {
  const Table* table = __atomic_load_n(&table_, __ATOMIC_ACQUIRE);
  if (table == nullptr) return nullptr;
  for (std::size_t at = hash(handle) & table->mask;; at = (at + 1) & table->mask) {
    const std::uintptr_t here = __atomic_load_n(&table->slots[at].handle, __ATOMIC_ACQUIRE);
    if (here == handle) return __atomic_load_n(&table->slots[at].value, __ATOMIC_RELAXED);
    if (here == 0) return nullptr;
  }
}

/// Returns the slot of an MPI handle in a table, else the first slot that may take it. For writers, which hold the lock.
/// @param fresh  set to true if that slot was never used
HandleTable::Slot* HandleTable::find_slot(Table* table, std::uintptr_t handle, bool& fresh) {
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

/// Doubles the hash table of MPI handles, under the lock of writers. Readers may still be in the old one, which is therefore never
/// freed: all old tables together are smaller than the new one.
void HandleTable::grow() {
  Table* bigger = make(table_ == nullptr ? kFirstSlots : 2 * (table_->mask + 1));
  if (bigger == nullptr) return;
  used_ = 0;
  for (std::size_t at = 0; table_ != nullptr && at <= table_->mask; ++at) {
    const Slot& slot = table_->slots[at];
    if (slot.handle == 0 || slot.handle == kGone) continue;
    bool fresh = false;
    *find_slot(bigger, slot.handle, fresh) = slot;
    ++used_;
  }
  __atomic_store_n(&table_, bigger, __ATOMIC_RELEASE);
}

/// Stores a value for an MPI handle, under a lock that only writers take. @param replaces  false: a value that is there stays, and
/// the given one is freed @return the value of the handle; null without memory, when the given one is freed
void* HandleTable::store(std::uintptr_t handle, void* value, bool replaces) {
  const Lock lock(lock_);
  // At most half full, so that a search always ends at an empty slot.
  if (table_ == nullptr || 2 * used_ > table_->mask) grow();
  if (table_ == nullptr || used_ >= table_->mask) {
    std::free(value);
    return nullptr;
  }
  bool fresh = false;
  Slot* slot = find_slot(table_, handle, fresh);
  void* old = slot->handle == handle ? slot->value : nullptr;
  if (old != nullptr && !replaces) {
    std::free(value);
    return old;
  }
  if (fresh) ++used_;
  // The release orders the value before the handle: a reader that finds the handle sees its value.
  __atomic_store_n(&slot->value, value, __ATOMIC_RELAXED);
  __atomic_store_n(&slot->handle, handle, __ATOMIC_RELEASE);
  std::free(old);
  return value;
}

bool HandleTable::replace(std::uintptr_t handle, void* value) { return store(handle, value, true) != nullptr; }
void* HandleTable::insert(std::uintptr_t handle, void* value) { return store(handle, value, false); }

// Removal of an MPI handle before MPI may reuse it: its slot stays in the probe sequence, marked as gone.
void HandleTable::erase(std::uintptr_t handle) {
  const Lock lock(lock_);
  if (table_ == nullptr) return;
  bool fresh = false;
  Slot* slot = find_slot(table_, handle, fresh);
  if (slot->handle != handle) return;
  __atomic_store_n(&slot->handle, kGone, __ATOMIC_RELEASE);
  std::free(slot->value);
}

}  // namespace merganser::trace
