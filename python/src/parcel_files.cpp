/// Python bindings of the library's rules for parcel files: self-contained files, missing values, grids.
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "merganser/geometry/box.hpp"
#include "merganser/io/data_file.hpp"
#include "python/src/themes.hpp"

namespace nb = nanobind;

namespace merganser::python {
namespace {

/// Attribute of a variable of a NetCDF parcel file, as Python passes it: name, NetCDF's number of the type, number of values, and
/// the bytes of the values in memory.
using AttributeGiven = std::tuple<std::string, int, std::int64_t, nb::bytes>;

/// Copies values of a NetCDF variable or attribute from Python bytes. @param type  NetCDF's number of the type
io::FileValues to_file_values(int type, std::int64_t count, const nb::bytes& bytes) {
  io::FileValues out;
  out.type = type;
  out.count = count;
  out.bytes.resize(bytes.size());
  if (!out.bytes.empty()) std::memcpy(out.bytes.data(), bytes.c_str(), out.bytes.size());
  return out;
}

/// Finds the missing values (fill values, values out of the valid range) of a NetCDF variable of a parcel file, by the rules of the
/// library's readers. @return (bytes, one per value, 1 if missing; reason for the first missing value as text)
nb::tuple find_missing(const std::string& name, int type, std::int64_t count, const nb::bytes& values,
                       const std::vector<AttributeGiven>& attributes) {
  io::FileVariable variable;
  variable.name = name;
  variable.values = to_file_values(type, count, values);
  for (const auto& [key, kind, number, bytes] : attributes)
    variable.attributes.push_back({key, to_file_values(kind, number, bytes)});
  const io::MissingMask mask = io::find_missing(variable);
  return nb::make_tuple(nb::bytes(mask.missing.data(), mask.missing.size()), mask.why);
}

}  // namespace

// Registers the checks of parcel files that the NetCDF reader in Python (_parcel_files.py) shares with the library's readers.
void bind_parcel_files(nb::module_& m) {
  m.def(
      "check_self_contained", [](const std::string& path) { io::check_self_contained(path); }, nb::arg("path"),
      "Checks that a file is a regular one, has the signature of NetCDF and refers to no other file.");
  m.def("find_missing", &find_missing, nb::arg("name"), nb::arg("type"), nb::arg("count"), nb::arg("values"),
        nb::arg("attributes"),
        "Classifies values of a variable by the library's rule: (a byte for each, 1 if missing; reason of the first).");
  m.def(
      "check_grid",
      [](const std::string& name, const Vec3& lower, const Vec3& extent, const std::array<std::int64_t, 3>& cells) {
        check_grid(Grid{{lower, extent, {}}, cells}, name);
      },
      nb::arg("name"), nb::arg("lower"), nb::arg("extent"), nb::arg("cells"),
      "Checks that the number of cells of a grid fits its integers, and their coordinates are distinct as doubles.");
}

}  // namespace merganser::python
