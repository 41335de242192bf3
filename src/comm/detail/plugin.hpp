#pragma once
/// What a plug-in shows to the library that opens it: a Plugin named merganser_plugin. Made by cmake/plugin_table.cpp.in.
#include <string_view>

#include "src/comm/detail/registry.hpp"

namespace merganser::comm::detail {

/// In the file of every plug-in, so that what it is for can be read before it is opened:
/// "merganser plug-in: abi=openmpi; compiled=Open MPI 4.1.4; merganser=0.1.0;".
inline constexpr std::string_view kPluginMark = "merganser plug-in: abi=";

struct Plugin {
  const char* mark;
  /// core_mark() as the plug-in sees it: whether the two share one library.
  const void* (*core)();
  const BackendEntry* const* backends;
  std::size_t backend_count;
  const Library* mpi;
};

/// An address that is another in every copy of this library in a process.
[[nodiscard]] const void* core_mark();
/// Version of merganser that this was built as.
[[nodiscard]] std::string_view core_version();

/// A datum that the plug-in in use shows by this name; null without a plug-in, or without such a datum.
[[nodiscard]] const void* plugin_symbol(const char* name);

/// From now on its models and its MPI are this library's. Once; it stays for ever. `handle` is the dynamic linker's.
void plug_in(const Plugin& plugin, void* handle);

}  // namespace merganser::comm::detail
