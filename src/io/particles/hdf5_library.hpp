#pragma once
/// Table of the functions and types of HDF5 that particle files need, found by name in the library that NetCDF is linked with.
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "src/io/netcdf/hdf5_calls.hpp"

namespace merganser::io::hdf5 {

/// Table of pointers to functions of HDF5, beside those of Calls. Negative results are errors, as in HDF5.
struct Library {
  int (*open_library)();
  int (*set_error_printing)(Id, void*, void*);
  Id (*open_file)(const char*, unsigned, Id);
  Id (*create_file)(const char*, unsigned, Id, Id);
  int (*close_file)(Id);
  int (*flush)(Id, int);
  Id (*open_object)(Id, const char*, Id);
  int (*close_object)(Id);
  int (*object_type)(Id);
  ssize_t (*link_name)(Id, const char*, int, int, Length, char*, std::size_t, Id);
  Id (*create_group)(Id, const char*, Id, Id, Id);
  int (*copy)(Id, const char*, Id, const char*, Id, Id);
  ssize_t (*attribute_name)(Id, const char*, int, int, Length, char*, std::size_t, Id);
  int (*has_attribute)(Id, const char*);
  Id (*open_attribute)(Id, const char*, Id);
  Id (*create_attribute)(Id, const char*, Id, Id, Id, Id);
  int (*delete_attribute)(Id, const char*);
  int (*read_attribute)(Id, Id, void*);
  int (*write_attribute)(Id, Id, const void*);
  Id (*attribute_type)(Id);
  Id (*attribute_space)(Id);
  int (*close_attribute)(Id);
  Id (*copy_type)(Id);
  int (*set_type_size)(Id, std::size_t);
  int (*set_padding)(Id, int);
  int (*type_sign)(Id);
  Id (*parent_type)(Id);
  Id (*create_space)(int);
  std::int64_t (*points)(Id);
  int (*reclaim)(Id, Id, Id, void*);
  Id (*create_list)(Id);
  int (*close_list)(Id);
  int (*set_intermediate)(Id, unsigned);
  Id (*dataset_list)(Id);
  int (*layout)(Id);
  int (*get_chunk)(Id, int, Length*);
  int (*set_chunk)(Id, int, const Length*);
  int (*filters)(Id);
  int (*get_filter)(Id, unsigned, unsigned*, std::size_t*, unsigned*, std::size_t, char*, unsigned*);
  int (*set_deflate)(Id, unsigned);
  int (*set_shuffle)(Id);
  int (*set_checksum)(Id);
  int (*set_allocation_time)(Id, int);
  int (*set_fill_time)(Id, int);
  std::uint64_t (*dataset_offset)(Id);
  Id (*create_dataset)(Id, const char*, Id, Id, Id, Id, Id);
  int (*write)(Id, Id, Id, Id, Id, const void*);
  std::array<const Id*, 13> types;       // of memory, by FileType
  std::array<const Id*, 13> file_types;  // little-endian, by FileType
  const Id* text_type;
  const Id* creation_list;
  const Id* link_list;
};

/// Returns the table of HDF5's functions, or null if one is missing. Initialises HDF5, since its types are set then. Call under the
/// lock of NetCDF.
[[nodiscard]] const Library* library();

}  // namespace merganser::io::hdf5
