// Look-up of HDF5's functions and types by name.
#include "src/io/particles/hdf5_library.hpp"

#include <algorithm>
#include <optional>

#include "src/io/columns.hpp"

namespace merganser::io::hdf5 {
namespace {

/// Sets a pointer to the function or variable of HDF5 of this name. @return false if the library has none
template <class T>
bool find(const char* name, T*& to) {
  to = reinterpret_cast<T*>(find_symbol(name));
  return to != nullptr;
}

/// Finds HDF5's types of numbers in memory and in files. @return false if one is missing
bool find_types(Library& l) {
  struct Names {
    FileType type;
    const char* memory;
    const char* file;
  };
  static constexpr std::array<Names, 10> kNames{{{FileType::i8, "H5T_NATIVE_INT8_g", "H5T_STD_I8LE_g"},
                                                 {FileType::u8, "H5T_NATIVE_UINT8_g", "H5T_STD_U8LE_g"},
                                                 {FileType::i16, "H5T_NATIVE_INT16_g", "H5T_STD_I16LE_g"},
                                                 {FileType::u16, "H5T_NATIVE_UINT16_g", "H5T_STD_U16LE_g"},
                                                 {FileType::i32, "H5T_NATIVE_INT32_g", "H5T_STD_I32LE_g"},
                                                 {FileType::u32, "H5T_NATIVE_UINT32_g", "H5T_STD_U32LE_g"},
                                                 {FileType::i64, "H5T_NATIVE_INT64_g", "H5T_STD_I64LE_g"},
                                                 {FileType::u64, "H5T_NATIVE_UINT64_g", "H5T_STD_U64LE_g"},
                                                 {FileType::f32, "H5T_NATIVE_FLOAT_g", "H5T_IEEE_F32LE_g"},
                                                 {FileType::f64, "H5T_NATIVE_DOUBLE_g", "H5T_IEEE_F64LE_g"}}};
  return std::all_of(kNames.begin(), kNames.end(), [&](const Names& n) {
    const auto at = static_cast<std::size_t>(n.type);
    return find(n.memory, l.types[at]) && find(n.file, l.file_types[at]);
  });
}

/// Finds the functions of HDF5 that read. @return false if one is missing
bool find_readers(Library& l) {
  return find("H5open", l.open_library) && find("H5Eset_auto2", l.set_error_printing) && find("H5Fopen", l.open_file) &&
         find("H5Fclose", l.close_file) && find("H5Oopen", l.open_object) && find("H5Oclose", l.close_object) &&
         find("H5Iget_type", l.object_type) && find("H5Lget_name_by_idx", l.link_name) &&
         find("H5Aget_name_by_idx", l.attribute_name) && find("H5Aexists", l.has_attribute) &&
         find("H5Aopen", l.open_attribute) && find("H5Aread", l.read_attribute) &&
         find("H5Aget_type", l.attribute_type) && find("H5Aget_space", l.attribute_space) &&
         find("H5Aclose", l.close_attribute) && find("H5Tcopy", l.copy_type) && find("H5Tset_size", l.set_type_size) &&
         find("H5Tset_strpad", l.set_padding) && find("H5Tget_sign", l.type_sign) &&
         find("H5Tget_super", l.parent_type) && find("H5Screate", l.create_space) &&
         find("H5Sget_simple_extent_npoints", l.points) && find("H5Dvlen_reclaim", l.reclaim) &&
         find("H5Dget_create_plist", l.dataset_list) && find("H5Pget_layout", l.layout) &&
         find("H5Pget_chunk", l.get_chunk) && find("H5Pget_nfilters", l.filters) &&
         find("H5Pget_filter2", l.get_filter) && find("H5Pclose", l.close_list) && find("H5T_C_S1_g", l.text_type);
}

/// Finds the functions of HDF5 that write. @return false if one is missing
bool find_writers(Library& l) {
  return find("H5Fcreate", l.create_file) && find("H5Fflush", l.flush) && find("H5Gcreate2", l.create_group) &&
         find("H5Ocopy", l.copy) && find("H5Acreate2", l.create_attribute) && find("H5Adelete", l.delete_attribute) &&
         find("H5Awrite", l.write_attribute) && find("H5Pcreate", l.create_list) &&
         find("H5Pset_create_intermediate_group", l.set_intermediate) && find("H5Pset_chunk", l.set_chunk) &&
         find("H5Pset_deflate", l.set_deflate) && find("H5Pset_shuffle", l.set_shuffle) &&
         find("H5Pset_fletcher32", l.set_checksum) && find("H5Pset_alloc_time", l.set_allocation_time) &&
         find("H5Pset_fill_time", l.set_fill_time) && find("H5Dget_offset", l.dataset_offset) &&
         find("H5Dcreate2", l.create_dataset) && find("H5Dwrite", l.write) &&
         find("H5P_CLS_DATASET_CREATE_ID_g", l.creation_list) && find("H5P_CLS_LINK_CREATE_ID_g", l.link_list);
}

}  // namespace

const Library* library() {
  static const std::optional<Library> found = []() -> std::optional<Library> {
    Library l{};
    if (!find_readers(l) || !find_writers(l) || !find_types(l) || l.open_library() < 0) return std::nullopt;
    l.set_error_printing(0, nullptr, nullptr);  // as NetCDF sets it: errors are told by results
    return l;
  }();
  return found ? &*found : nullptr;
}

}  // namespace merganser::io::hdf5
