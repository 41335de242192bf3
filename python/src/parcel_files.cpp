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

/// Name, NetCDF's number of the type, how many values, and these as they lie in memory.
using AttributeGiven = std::tuple<std::string, int, std::int64_t, nb::bytes>;

io::FileValues values_of(int type, std::int64_t count, const nb::bytes& bytes) {
  io::FileValues out;
  out.type = type;
  out.count = count;
  out.bytes.resize(bytes.size());
  if (!out.bytes.empty()) std::memcpy(out.bytes.data(), bytes.c_str(), out.bytes.size());
  return out;
}

nb::tuple find_missing(const std::string& name, int type, std::int64_t count, const nb::bytes& values,
                       const std::vector<AttributeGiven>& attributes) {
  io::FileVariable variable;
  variable.name = name;
  variable.values = values_of(type, count, values);
  for (const auto& [key, kind, number, bytes] : attributes)
    variable.attributes.push_back({key, values_of(kind, number, bytes)});
  const io::MissingMask mask = io::find_missing(variable);
  return nb::make_tuple(nb::bytes(mask.missing.data(), mask.missing.size()), mask.why);
}

}  // namespace

void bind_parcel_files(nb::module_& m) {
  m.def(
      "check_self_contained", [](const std::string& path) { io::check_self_contained(path); }, nb::arg("path"),
      "Checks that a file is a plain one, begins as NetCDF does and leads to no other file.");
  m.def("find_missing", &find_missing, nb::arg("name"), nb::arg("type"), nb::arg("count"), nb::arg("values"),
        nb::arg("attributes"),
        "(1 or 0 for each value of a variable of this NetCDF type, why the first is missing), by the library's rule.");
  m.def(
      "check_grid",
      [](const std::string& name, const Vec3& lower, const Vec3& extent, const std::array<std::int64_t, 3>& cells) {
        check_grid(Grid{{lower, extent, {}}, cells}, name);
      },
      nb::arg("name"), nb::arg("lower"), nb::arg("extent"), nb::arg("cells"),
      "Checks that the cells of a grid can be counted and told apart.");
}

}  // namespace merganser::python
