#pragma once
/// Interface between the library and a plug-in that it opens: a symbol merganser_plugin of type Plugin, which
/// cmake/plugin_table.cpp.in generates.
#include <string_view>

#include "src/comm/detail/registry.hpp"

namespace merganser::comm::detail {

/// Beginning of the label in the file of every plug-in, from which its ABI can be read without opening it:
/// "merganser plug-in: abi=openmpi; compiled=Open MPI 4.1.4; merganser=0.1.0;".
inline constexpr std::string_view kPluginMark = "merganser plug-in: abi=";

/// Table that a plug-in of comm::use_mpi() (communication models built against another MPI) exports to the library.
struct Plugin {
  const char* mark;       ///< label of the plug-in, which begins with kPluginMark
  const void* (*core)();  ///< core_mark() as linked into the plug-in; differs if there are two copies of the library
  const BackendEntry* const* backends;  ///< communication models of the plug-in
  std::size_t backend_count;            ///< number of communication models of the plug-in
  const Library* mpi;                   ///< entry points of the MPI that the plug-in is built against
};

/// Returns an address that is different in every copy of the merganser library in a process, by which two copies are detected.
[[nodiscard]] const void* core_mark();
/// Returns the version of merganser that this library was built as.
[[nodiscard]] std::string_view core_version();

/// Returns the address of a symbol of the plug-in in use; null without a plug-in, or without such a symbol.
[[nodiscard]] const void* plugin_symbol(const char* name);

/// Adds the communication models and the MPI of the plug-in that comm::use_mpi() has opened to this library, for the life of the
/// process. Called once, under a lock of the caller. @param handle  the plug-in's handle of the dynamic linker
void register_plugin(const Plugin& plugin, void* handle);

}  // namespace merganser::comm::detail
