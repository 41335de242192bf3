#include "merganser/capi/detail/handles.hpp"

#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace merganser::capi {
namespace {

struct Table {
  std::mutex mutex;
  std::unordered_map<std::uintptr_t, std::shared_ptr<Object>> objects;
  std::uintptr_t next = 0x4d470001;  // odd, and no address that a program is likely to hold
};

/// Lives as long as the process: programs free handles in destructors of their own globals.
Table& table() {
  static Table* const the_table = new Table;
  return *the_table;
}

[[noreturn]] void throw_unknown(const char* kind) {
  throw UsageError(std::string(kind) +
                   ": a handle that was freed or never given; allowed: one that was given and not freed");
}

}  // namespace

void* keep(std::shared_ptr<Object> object) {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  const std::uintptr_t number = all.next;
  all.objects.emplace(number, std::move(object));
  all.next += 2;
  return reinterpret_cast<void*>(number);  // NOLINT(performance-no-int-to-ptr): never looked behind
}

std::shared_ptr<Object> kept(const void* handle, const char* kind) {
  if (handle == nullptr)
    throw UsageError(std::string(kind) + ": a null handle; allowed: one that was given and not freed");
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  const auto found = all.objects.find(reinterpret_cast<std::uintptr_t>(handle));
  if (found == all.objects.end()) throw_unknown(kind);
  return found->second;
}

void let_go(const void* handle, const char* kind) {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  if (all.objects.erase(reinterpret_cast<std::uintptr_t>(handle)) == 0) throw_unknown(kind);
}

std::size_t handles() {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  return all.objects.size();
}

}  // namespace merganser::capi
