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

/// Sets a pointer to a function by name. @return false if it is not there
template <class Function>
bool take(void* library, const char* name, Function*& to) {
  to = reinterpret_cast<Function*>(::dlsym(library, name));
  return to != nullptr;
}

std::optional<Calls> find_calls() {
  Dl_info about{};
  if (::dladdr(reinterpret_cast<void*>(&nc_get_vara), &about) == 0 || about.dli_fname == nullptr) return std::nullopt;
  // What the object of NetCDF sees: itself and the libraries that it was linked with, before any other HDF5 of the process.
  // It stays: it is linked with this one.
  const std::unique_ptr<void, int (*)(void*)> library(::dlopen(about.dli_fname, RTLD_LAZY | RTLD_NOLOAD), ::dlclose);
  if (library == nullptr) return std::nullopt;
  void* const in = library.get();
  Calls c{};
  const bool all = take(in, "H5get_libversion", c.version) && take(in, "H5Fget_obj_count", c.count_objects) &&
                   take(in, "H5Fget_obj_ids", c.list_objects) && take(in, "H5Lexists", c.is_link) &&
                   take(in, "H5Dopen2", c.open_dataset) && take(in, "H5Dclose", c.close_dataset) &&
                   take(in, "H5Dget_type", c.type_of) && take(in, "H5Tget_native_type", c.native_type) &&
                   take(in, "H5Tget_class", c.type_class) && take(in, "H5Tget_size", c.type_size) &&
                   take(in, "H5Tis_variable_str", c.is_any_text) && take(in, "H5Tclose", c.close_type) &&
                   take(in, "H5Dget_space", c.space_of) && take(in, "H5Screate_simple", c.make_space) &&
                   take(in, "H5Sget_simple_extent_ndims", c.rank) && take(in, "H5Sget_simple_extent_dims", c.lengths) &&
                   take(in, "H5Sselect_hyperslab", c.select) && take(in, "H5Sclose", c.close_space) &&
                   take(in, "H5Dread", c.read);
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
