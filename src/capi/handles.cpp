// Table of the objects behind the handles of the C interface, one per process, under a mutex.
#include "merganser/capi/detail/handles.hpp"

#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace merganser::capi {
namespace {

/// Table of the objects behind the handles of the C interface: each by its number, which is never used again.
struct ObjectTable {
  std::mutex mutex;
  std::unordered_map<std::uintptr_t, std::shared_ptr<Object>> objects;
  std::uintptr_t next = 0x4d470001;  // odd, so never the address of an object, and unlikely to be another pointer
};

/// Returns this process's table of handles. It is never destroyed, since programs free handles in destructors of their globals.
ObjectTable& table() {
  static ObjectTable* const the_table = new ObjectTable;
  return *the_table;
}

/// Throws the UsageError for a handle of the C interface that is not in the table.
[[noreturn]] void throw_unknown(const char* kind) {
  throw UsageError(std::string(kind) +
                   ": a handle that was freed or never given; allowed: one that was given and not freed");
}

}  // namespace

void* register_object(std::shared_ptr<Object> object) {
  ObjectTable& all = table();
  const std::lock_guard lock(all.mutex);
  const std::uintptr_t number = all.next;
  all.objects.emplace(number, std::move(object));
  all.next += 2;
  return reinterpret_cast<void*>(number);  // NOLINT(performance-no-int-to-ptr): never dereferenced
}

// Look-up of a C handle: the number is a key of the table and is never dereferenced, so that any pointer can be checked.
std::shared_ptr<Object> find_object(const void* handle, const char* kind) {
  if (handle == nullptr)
    throw UsageError(std::string(kind) + ": a null handle; allowed: one that was given and not freed");
  ObjectTable& all = table();
  const std::lock_guard lock(all.mutex);
  const auto found = all.objects.find(reinterpret_cast<std::uintptr_t>(handle));
  if (found == all.objects.end()) throw_unknown(kind);
  return found->second;
}

void unregister_handle(const void* handle, const char* kind) {
  ObjectTable& all = table();
  const std::lock_guard lock(all.mutex);
  if (all.objects.erase(reinterpret_cast<std::uintptr_t>(handle)) == 0) throw_unknown(kind);
}

std::size_t num_handles() {
  ObjectTable& all = table();
  const std::lock_guard lock(all.mutex);
  return all.objects.size();
}

}  // namespace merganser::capi
