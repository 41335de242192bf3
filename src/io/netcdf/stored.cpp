// Read of a hyperslab of a NetCDF variable over unlimited dimensions by HDF5's own functions; the caller falls back to NetCDF.
#include "src/io/netcdf/stored.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "src/io/columns.hpp"
#include "src/io/netcdf/hdf5_calls.hpp"

namespace merganser::io {
namespace {

using hdf5::Calls;
using hdf5::Id;
using hdf5::Length;
using hdf5::OwnedId;

/// Returns the absolute path of the HDF5 dataset that stores a NetCDF variable; empty if NetCDF does not give its name.
std::string dataset_path(const Calls& hdf5, Id file, int group, int variable) {
  std::array<char, NC_MAX_NAME + 1> name{};
  std::size_t length = 0;
  if (nc_inq_varname(group, variable, name.data()) != NC_NOERR) return {};
  if (nc_inq_grpname_full(group, &length, nullptr) != NC_NOERR) return {};
  std::string path(length + 1, '\0');
  if (nc_inq_grpname_full(group, &length, path.data()) != NC_NOERR) return {};
  path.resize(length);
  if (path.back() != '/') path += '/';
  // NetCDF stores a variable that has the name of a dimension, but is no coordinate variable of it, under a prefixed name.
  int dimension = 0;
  if (nc_inq_dimid(group, name.data(), &dimension) == NC_NOERR) {
    std::string apart = path + "_nc4_non_coord_" + name.data();
    if (hdf5.is_link(file, apart.c_str(), 0) > 0) return apart;
  }
  return path + name.data();
}

/// Returns true if HDF5's native type has the same representation in memory as NetCDF's type.
/// @param bytes  size of a value of NetCDF's type
bool has_same_representation(const Calls& hdf5, Id native, FileType type, std::size_t bytes) {
  const int holds = hdf5.type_class(native);
  if (hdf5.type_size(native) != bytes) return false;
  if (is_integer(type)) return holds == static_cast<int>(hdf5::TypeClass::integer);
  if (is_number(type)) return holds == static_cast<int>(hdf5::TypeClass::floating);
  return holds == static_cast<int>(hdf5::TypeClass::text) &&
         (hdf5.is_any_text(native) > 0) == (type == FileType::string) &&
         (type == FileType::text || type == FileType::string);
}

/// Fills the memory of a hyperslab with the NetCDF variable's fill value. @return false if NetCDF does not give one
bool fill_part(int group, int variable, const VariablePart& part, std::size_t value_bytes, void* to) {
  std::array<std::byte, 16> value{};
  int without = 0;
  if (value_bytes > value.size() || nc_inq_var_fill(group, variable, &without, value.data()) != NC_NOERR ||
      without != 0)
    return false;
  std::size_t count = 1;
  for (const std::size_t n : part.length) count *= n;
  auto* at = static_cast<std::byte*>(to);
  for (std::size_t i = 0; i < count; ++i, at += value_bytes) std::memcpy(at, value.data(), value_bytes);
  return true;
}

/// Frees the strings of a hyperslab of which HDF5 read some only, and sets their pointers to null: NetCDF reads all of them
/// again.
void free_strings(const VariablePart& part, char** texts) {
  std::size_t count = 1;
  for (const std::size_t n : part.length) count *= n;
  nc_free_string(count, texts);
  std::fill_n(texts, count, nullptr);
}

}  // namespace

// Hyperslab of a NetCDF variable read by H5Dread. Every doubt returns false, and NetCDF reads instead.
bool read_stored(const NcFile& file, int group, int variable, const VariablePart& part, std::size_t value_bytes,
                 void* to) {
  const Calls* const hdf5 = file.hdf5_id() == hdf5::kNoId ? nullptr : hdf5::calls();
  const std::size_t rank = part.length.size() - 1;  // there is one entry more
  int dimensions = 0;
  nc_type type = NC_NAT;
  if (hdf5 == nullptr || rank == 0 || nc_inq_vartype(group, variable, &type) != NC_NOERR ||
      nc_inq_varndims(group, variable, &dimensions) != NC_NOERR || static_cast<std::size_t>(dimensions) != rank)
    return false;
  const std::string name = dataset_path(*hdf5, file.hdf5_id(), group, variable);
  if (name.empty() || hdf5->is_link(file.hdf5_id(), name.c_str(), 0) <= 0) return false;
  const OwnedId dataset(hdf5->open_dataset(file.hdf5_id(), name.c_str(), 0), hdf5->close_dataset);
  if (!dataset) return false;

  const OwnedId space(hdf5->dataset_space(dataset.id()), hdf5->close_space);
  if (!space || hdf5->rank(space.id()) != dimensions) return false;
  std::vector<Length> length(rank);
  std::vector<Length> most(rank);
  if (hdf5->lengths(space.id(), length.data(), most.data()) < 0) return false;
  if (std::find(most.begin(), most.end(), hdf5::kUnlimited) == most.end())
    return false;  // NetCDF's own read is fast then
  const OwnedId own_type(hdf5->dataset_type(dataset.id()), hdf5->close_type);
  if (!own_type) return false;
  const OwnedId native(hdf5->native_type(own_type.id(), 0), hdf5->close_type);
  if (!native || !has_same_representation(*hdf5, native.id(), static_cast<FileType>(type), value_bytes)) return false;

  // The variable may be shorter than dimensions that have grown for others.
  const std::vector<Length> start(part.start.begin(), part.start.begin() + static_cast<std::ptrdiff_t>(rank));
  const std::vector<Length> asked(part.length.begin(), part.length.begin() + static_cast<std::ptrdiff_t>(rank));
  std::vector<Length> there(rank);
  for (std::size_t d = 0; d < rank; ++d) there[d] = length[d] > start[d] ? std::min(asked[d], length[d] - start[d]) : 0;
  // Entries that were never written get the fill value first. Strings would need one allocation each, so NetCDF reads those.
  const bool texts = static_cast<FileType>(type) == FileType::string;  // of any length, which HDF5 finds room for
  if (there != asked && (texts || !fill_part(group, variable, part, value_bytes, to))) return false;
  if (std::find(there.begin(), there.end(), Length{0}) != there.end()) return true;
  const std::vector<Length> origin(rank, 0);
  const OwnedId memory(hdf5->make_space(dimensions, asked.data(), nullptr), hdf5->close_space);
  if (memory && hdf5->select(memory.id(), 0, origin.data(), nullptr, there.data(), nullptr) >= 0 &&
      hdf5->select(space.id(), 0, start.data(), nullptr, there.data(), nullptr) >= 0 &&
      hdf5->read(dataset.id(), native.id(), memory.id(), space.id(), 0, to) >= 0)
    return true;
  if (texts) free_strings(part, static_cast<char**>(to));
  return false;
}

}  // namespace merganser::io
