// Registry of communication models: the built-in ones, and those of one plug-in from its registration on.
#include "src/comm/detail/registry.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>

#include "src/comm/detail/plugin.hpp"

namespace merganser::comm::detail {
namespace {

std::atomic<const Plugin*> in_use{nullptr};  // the plug-in in use
void* in_use_handle = nullptr;               // set before in_use, whose release store publishes it

/// Returns true if this build or the plug-in in use has a communication model of this name.
bool is_there(std::string_view name) {
  const auto all = backend_entries();
  return std::any_of(all.begin(), all.end(), [&](const BackendEntry* entry) { return entry->info.name == name; });
}

}  // namespace

bool has_plugin() noexcept { return in_use.load(std::memory_order_acquire) != nullptr; }

// Registration of a plug-in; from then on the registry lists its models after those of this library.
void register_plugin(const Plugin& plugin, void* handle) {
  in_use_handle = handle;
  in_use.store(&plugin, std::memory_order_release);
}

const void* plugin_symbol(const char* name) { return has_plugin() ? ::dlsym(in_use_handle, name) : nullptr; }

const void* core_mark() { return &in_use; }  // a variable of this file: every copy of the library has its own

// Registry of communication models: those of this library, then those of the plug-in in use.
std::span<const BackendEntry* const> backend_entries() {
  static ListOfAll<const BackendEntry*> all;
  return all.get([] {
    const auto own = built_in_entries();
    std::vector<const BackendEntry*> entries(own.begin(), own.end());
    if (const Plugin* plugin = in_use.load(std::memory_order_acquire))
      entries.insert(entries.end(), plugin->backends, plugin->backends + plugin->backend_count);
    return entries;
  });
}

// Communication models that were not built, without those that the plug-in in use adds.
std::span<const std::string_view> missing_backend_names() {
  static ListOfAll<std::string_view> all;
  return all.get([] {
    const auto own = built_in_missing_names();
    std::vector<std::string_view> lacks(own.begin(), own.end());
    std::erase_if(lacks, [](std::string_view line) { return is_there(line.substr(0, line.find(':'))); });
    return lacks;
  });
}

const Library* mpi() {
  const Plugin* plugin = in_use.load(std::memory_order_acquire);
  return plugin != nullptr ? plugin->mpi : built_in_mpi();
}

}  // namespace merganser::comm::detail
