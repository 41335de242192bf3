// Search for the MPI libraries that this process has loaded, for plugins.hpp.
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "merganser/comm/plugins.hpp"

namespace merganser::comm {
namespace {

constexpr const char* kVersionCall = "MPI_Get_library_version";
constexpr std::size_t kVersionRoom = 16384;  // more than any MPI_MAX_LIBRARY_VERSION_STRING

/// Program or shared library that the dynamic linker has loaded into this process, searched for an MPI library.
struct LoadedObject {
  std::string name;        // path of the file; empty: the program
  std::uintptr_t address;  // base address at which it is loaded
};

/// Copies the dynamic linker's list of objects in this process, since nothing may be opened while the linker walks it.
std::vector<LoadedObject> loaded_objects() {
  std::vector<LoadedObject> objects;
  const auto note = [](dl_phdr_info* info, std::size_t, void* to) {
    const char* name = info->dlpi_name != nullptr ? info->dlpi_name : "";
    static_cast<std::vector<LoadedObject>*>(to)->push_back({name, info->dlpi_addr});
    return 0;
  };
  ::dl_iterate_phdr(note, &objects);
  return objects;
}

/// Returns the first line of an MPI library's version text, up to a zero byte.
std::string first_line(std::string_view text) {
  return std::string(text.substr(0, std::min(text.find('\n'), text.find('\0'))));
}

/// Returns the file name of a loaded library: the part of its path behind the last slash.
std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Returns the binary interface (ABI) of an MPI library: "openmpi", "mpich", "mpi_abi", empty if unknown. It is taken from the
/// version text, since names of files tell little: libmpi.so.12, libmpich.so.12, libmpi.so, or libmpi-c0ffee.so.40.
std::string detect_abi(const std::string& path, std::string_view version) {
  const auto says = [&](std::string_view name) { return version.find(name) != std::string_view::npos; };
  if (base_name(path).starts_with("libmpi_abi")) return "mpi_abi";
  if (says("Open MPI")) return "openmpi";
  if (says("MPICH") || says("Intel(R) MPI") || says("MVAPICH")) return "mpich";
  return {};
}

/// Returns the version text of the MPI library that a loaded object itself defines, not one that it depends on; empty if it
/// defines none.
std::string read_version(const LoadedObject& object) {
  const char* name = object.name.empty() ? nullptr : object.name.c_str();
  // RTLD_NOLOAD only adds a reference, so that the object stays loaded meanwhile; no name means the program itself.
  const std::unique_ptr<void, int (*)(void*)> handle(::dlopen(name, RTLD_LAZY | RTLD_NOLOAD), ::dlclose);
  if (handle == nullptr) return {};
  void* call = ::dlsym(handle.get(), kVersionCall);  // in this object, or in one that it depends on: told apart below
  Dl_info where{};
  link_map* owner = nullptr;
  if (call == nullptr || ::dladdr1(call, &where, reinterpret_cast<void**>(&owner), RTLD_DL_LINKMAP) == 0) return {};
  if (owner == nullptr || owner->l_addr != object.address) return {};
  std::vector<char> text(kVersionRoom, '\0');
  int length = 0;
  reinterpret_cast<int (*)(char*, int*)>(call)(text.data(), &length);
  return first_line(text.data());
}

}  // namespace

// Finds the MPI libraries of this process for use_mpi(): a plug-in must call the very MPI that the program uses.
std::vector<LoadedMpi> loaded_mpi() {
  std::vector<LoadedMpi> found;
  for (const LoadedObject& object : loaded_objects()) {
    std::string version = read_version(object);
    if (version.empty()) continue;
    std::string abi = detect_abi(object.name, version);
    found.push_back({object.name.empty() ? "the program itself" : object.name, std::move(version), std::move(abi)});
  }
  return found;
}

}  // namespace merganser::comm
