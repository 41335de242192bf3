#pragma once
/// Table of functions of the HDF5 library that the NetCDF library of this process is linked with, found by name at run time;
/// nothing is linked or loaded for it. Call everything here under the lock of nc_file.hpp.
#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace merganser::io::hdf5 {

/// Identifier of HDF5 1.10 and later (hid_t): of a file, a dataset, a type or a dataspace.
using Id = std::int64_t;
inline constexpr Id kNoId = -1;
using Length = unsigned long long;  // hsize_t
inline constexpr Length kUnlimited = ~Length{0};

/// Classes of HDF5 types (H5T_class_t) of values that are read from NetCDF files directly through HDF5.
enum class TypeClass : int { integer = 0, floating = 1, text = 3 };

/// Table of pointers to functions of the HDF5 library, filled by calls(). Negative results are errors, as in HDF5.
struct Calls {
  int (*version)(unsigned*, unsigned*, unsigned*);
  ssize_t (*count_objects)(Id of, unsigned kinds);
  ssize_t (*list_objects)(Id of, unsigned kinds, std::size_t most, Id* to);
  int (*is_link)(Id at, const char* name, Id access);
  Id (*open_dataset)(Id at, const char* name, Id access);
  int (*close_dataset)(Id);
  Id (*dataset_type)(Id dataset);
  Id (*native_type)(Id type, int direction);
  int (*type_class)(Id type);
  std::size_t (*type_size)(Id type);
  int (*is_any_text)(Id type);
  int (*close_type)(Id);
  Id (*dataset_space)(Id dataset);
  Id (*make_space)(int rank, const Length* lengths, const Length* most);
  int (*rank)(Id space);
  int (*lengths)(Id space, Length* now, Length* most);
  int (*select)(Id space, int how, const Length* start, const Length* stride, const Length* count, const Length* block);
  int (*close_space)(Id);
  int (*read)(Id dataset, Id memory_type, Id memory_space, Id file_space, Id transfer, void* to);
};

/// Returns the table of HDF5 functions, looked up by name at the first call. Thread-safe.
/// @return null if NetCDF is linked with no HDF5 of version 1.10 or later, or it cannot be determined which
[[nodiscard]] const Calls* calls();
/// Returns the address of a function or variable of the HDF5 library that NetCDF is linked with, by its name; null if calls() is
/// null or the library has none of this name. Thread-safe.
[[nodiscard]] void* find_symbol(const char* name);
/// Lists the HDF5 identifiers of all files that this process has open in HDF5, ascending; none if calls() is null.
[[nodiscard]] std::vector<Id> open_files();

/// Owner of an HDF5 identifier (dataset, type or dataspace), which its destructor closes if it is valid.
class OwnedId {
 public:
  OwnedId(Id id, int (*close)(Id)) : id_(id), close_(close) {}
  OwnedId(const OwnedId&) = delete;
  OwnedId& operator=(const OwnedId&) = delete;
  ~OwnedId() {
    if (id_ >= 0) close_(id_);
  }
  [[nodiscard]] Id id() const noexcept { return id_; }
  explicit operator bool() const noexcept { return id_ >= 0; }

 private:
  Id id_;
  int (*close_)(Id);
};

}  // namespace merganser::io::hdf5
