// Look-up, by dlsym(), of the functions of the HDF5 library that the NetCDF library of this process is linked with.
#include "src/io/netcdf/hdf5_calls.hpp"

#include <dlfcn.h>
#include <netcdf.h>

#include <algorithm>
#include <memory>
#include <optional>

namespace merganser::io::hdf5 {
namespace {

constexpr unsigned kMinMajor = 1;
constexpr unsigned kMinMinor = 10;    // identifiers have 64 bits since then
constexpr Id kEverywhere = 0x1f;      // H5F_OBJ_ALL
constexpr unsigned kFilesOnly = 0x1;  // H5F_OBJ_FILE

/// Sets a pointer to the HDF5 function of this name, looked up in a library by dlsym(). @return false if the library has none
template <class Function>
bool load_function(void* library, const char* name, Function*& to) {
  to = reinterpret_cast<Function*>(::dlsym(library, name));
  return to != nullptr;
}

/// Handle of a shared library, closed by its destructor.
using LibraryHandle = std::unique_ptr<void, int (*)(void*)>;

/// Returns a handle of the NetCDF library: dlsym() then searches it and the libraries that it was linked with, not another HDF5
/// of the process. Closing the handle does not unload it, since this library is linked with it. Null if it cannot be found.
LibraryHandle open_netcdf_library() {
  Dl_info about{};
  if (::dladdr(reinterpret_cast<void*>(&nc_strerror), &about) == 0 || about.dli_fname == nullptr)
    return {nullptr, ::dlclose};
  return {::dlopen(about.dli_fname, RTLD_LAZY | RTLD_NOLOAD), ::dlclose};
}

/// Looks up all functions of the HDF5 library that NetCDF is linked with; nothing if one is missing or HDF5 is older than
/// 1.10.
std::optional<Calls> find_calls() {
  const LibraryHandle library = open_netcdf_library();
  if (library == nullptr) return std::nullopt;
  void* const in = library.get();
  Calls c{};
  const bool all =
      load_function(in, "H5get_libversion", c.version) && load_function(in, "H5Fget_obj_count", c.count_objects) &&
      load_function(in, "H5Fget_obj_ids", c.list_objects) && load_function(in, "H5Lexists", c.is_link) &&
      load_function(in, "H5Dopen2", c.open_dataset) && load_function(in, "H5Dclose", c.close_dataset) &&
      load_function(in, "H5Dget_type", c.dataset_type) && load_function(in, "H5Tget_native_type", c.native_type) &&
      load_function(in, "H5Tget_class", c.type_class) && load_function(in, "H5Tget_size", c.type_size) &&
      load_function(in, "H5Tis_variable_str", c.is_any_text) && load_function(in, "H5Tclose", c.close_type) &&
      load_function(in, "H5Dget_space", c.dataset_space) && load_function(in, "H5Screate_simple", c.make_space) &&
      load_function(in, "H5Sget_simple_extent_ndims", c.rank) &&
      load_function(in, "H5Sget_simple_extent_dims", c.lengths) && load_function(in, "H5Sselect_hyperslab", c.select) &&
      load_function(in, "H5Sclose", c.close_space) && load_function(in, "H5Dread", c.read);
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  if (!all || c.version(&major, &minor, &release) < 0) return std::nullopt;
  if (major < kMinMajor || (major == kMinMajor && minor < kMinMinor)) return std::nullopt;
  return c;
}

}  // namespace

const Calls* calls() {
  static const std::optional<Calls> found = find_calls();
  return found ? &*found : nullptr;
}

void* find_symbol(const char* name) {
  if (calls() == nullptr) return nullptr;
  const LibraryHandle library = open_netcdf_library();
  return library == nullptr ? nullptr : ::dlsym(library.get(), name);
}

// All files that HDF5 has open in this process: compared before and after nc_open(), they give HDF5's identifier of a file.
std::vector<Id> open_files() {
  const Calls* const c = calls();
  if (c == nullptr) return {};
  const ssize_t count = c->count_objects(kEverywhere, kFilesOnly);
  if (count <= 0) return {};
  std::vector<Id> files(static_cast<std::size_t>(count));
  const ssize_t listed = c->list_objects(kEverywhere, kFilesOnly, files.size(), files.data());
  files.resize(static_cast<std::size_t>(std::clamp<ssize_t>(listed, 0, count)));
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace merganser::io::hdf5
