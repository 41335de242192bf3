#pragma once
/// Small openPMD files as plasma codes write them, and with faults.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "src/io/netcdf/nc_file.hpp"
#include "src/io/particles/hdf5_file.hpp"

namespace merganser::test {

/// What a file of make_openpmd() holds beside 40 electrons and 20 ions of iteration 7.
struct OpenpmdCase {
  io::FileType type = io::FileType::f64;  ///< of position, momentum, weighting
  bool ids = true, mesh = true, weighting = true;
  bool unknown = false;          ///< a record "heat" that nobody knows
  bool wide_weighting = false;   ///< weighting of two numbers for each particle
  bool units = true;             ///< unitSI of id, and timeUnitSI
  bool short_record = false;     ///< momentum/z of one value less
  bool integer_offsets = false;  ///< positionOffset as an array of 32-bit integers, not of 64-bit ones
  double bad_position = 0;       ///< added to the position of electron 3
  std::int64_t wide_offset = 0;  ///< offset of electron 5, if it is not 0
  std::uint64_t first_id = 1000;
  std::vector<std::string> boundaries;  ///< particleBoundary of the meshes
  std::string unit_text;                ///< unitSI of positions as a text, if it is not empty
  double weighting_unit = 1;            ///< unitSI of weighting
  std::string iteration = "7";          ///< name of its group
};

/// Writer of one file of make_openpmd().
class OpenpmdMaker {
 public:
  OpenpmdMaker(const io::hdf5::File& file, const OpenpmdCase& c) : file_(file), c_(c) {}

  void put_root() {
    file_.put("/", "openPMD", std::string_view("1.1.0"));
    file_.put("/", "openPMDextension", io::FileType::u32, one(0), false);
    file_.put("/", "basePath", std::string_view("/data/%T/"));
    file_.put("/", "meshesPath", std::string_view("meshes/"));
    file_.put("/", "particlesPath", std::string_view("particles/"));
    file_.put("/", "iterationEncoding", std::string_view("fileBased"));
    file_.make_group("/data/" + c_.iteration + "/meshes");
    const std::string it = "/data/" + c_.iteration;
    file_.put(it, "time", std::array<double, 1>{2}, false);
    file_.put(it, "dt", std::array<double, 1>{0.5}, false);
    if (c_.units) file_.put(it, "timeUnitSI", std::array<double, 1>{0.25}, false);
    if (!c_.mesh) return;
    const std::string e = it + "/meshes/E";
    file_.make_dataset(e + "/x", io::FileType::f32, std::array<std::int64_t, 3>{4, 8, 16}, {});
    file_.put(e, "geometry", std::string_view("cartesian"));
    file_.put(e, "dataOrder", std::string_view("C"));
    file_.put(e, "axisLabels", std::vector<std::string>{"z", "y", "x"});
    file_.put(e, "gridSpacing", std::array<double, 3>{2, 1, 0.5}, true);
    file_.put(e, "gridGlobalOffset", std::array<double, 3>{0, 0, 0}, true);
    file_.put(e, "gridUnitSI", std::array<double, 1>{2}, false);
    // Words for z, y, x: those of the case are for x, y, z.
    if (c_.boundaries.size() == 6) {
      const auto& b = c_.boundaries;
      file_.put(it + "/meshes", "particleBoundary", std::vector<std::string>{b[4], b[5], b[2], b[3], b[0], b[1]});
    }
  }

  void put_species(const std::string& name, std::int64_t count) {
    const std::string at = "/data/" + c_.iteration + "/particles/" + name;
    std::vector<double> x, weight, momentum, heat;
    std::vector<std::int64_t> offset, ids;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto k = static_cast<double>(i);
      x.push_back(0.25 + (i == 3 ? c_.bad_position : 0));
      offset.push_back(i == 5 && c_.wide_offset != 0 ? c_.wide_offset : i % 8);
      weight.push_back(3 + k);
      momentum.push_back(10 * k);
      heat.push_back(k * k);
      ids.push_back(static_cast<std::int64_t>(c_.first_id + static_cast<std::uint64_t>(i)));
    }
    put(at, "position", "x", x, 2, 0, 0);
    constant(at, "position", "y", count, 0.5, 2);
    put(at, "position", "z", x, 2, 0, 0);
    const auto type = c_.integer_offsets ? io::FileType::i32 : io::FileType::i64;
    file_.make_dataset(at + "/positionOffset/x", type, one(count), {});
    file_.write(at + "/positionOffset/x", io::FileType::i64, {0, count}, offset.data());
    meaning(at + "/positionOffset", at + "/positionOffset/x", 2, 0, 0);
    constant(at, "positionOffset", "y", count, 0, 2);
    constant(at, "positionOffset", "z", count, 1, 2);
    if (c_.wide_weighting)
      file_.make_dataset(at + "/weighting", c_.type, std::array<std::int64_t, 2>{count, 2}, {});
    else if (c_.weighting)
      put(at, "weighting", "", weight, c_.weighting_unit, 1, 1);
    for (const char* axis : {"x", "y", "z"}) {
      if (c_.short_record && *axis == 'z') momentum.pop_back();
      put(at, "momentum", axis, momentum, 1e-20, 0, 1);
    }
    if (c_.unknown) put(at, "heat", "", heat, 1, 1, 1);
    constant(at, "charge", "", count, name == "ions" ? 1.5 : -1.5, 1);
    if (!c_.ids) return;
    file_.make_dataset(at + "/id", io::FileType::u64, one(count), {});
    file_.write(at + "/id", io::FileType::u64, {0, count}, ids.data());
    meaning(at + "/id", at + "/id", 1, 0, 0);
  }

 private:
  static std::array<std::int64_t, 1> one(std::int64_t value) { return {value}; }
  void meaning(const std::string& record, const std::string& component, double unit, int macro, double power) {
    file_.put(record, "unitDimension", std::array<double, 7>{}, true);
    file_.put(record, "timeOffset", std::array<double, 1>{0}, false);
    file_.put(record, "macroWeighted", io::FileType::u32, one(macro), false);
    file_.put(record, "weightingPower", std::array<double, 1>{power}, false);
    if (!c_.unit_text.empty() && record.ends_with("/position"))
      file_.put(component, "unitSI", std::string_view(c_.unit_text));
    else if (c_.units || !record.ends_with("/id"))
      file_.put(component, "unitSI", std::array<double, 1>{unit}, false);
  }
  void put(const std::string& at, const std::string& record, const std::string& component,
           const std::vector<double>& values, double unit, int macro, double power) {
    const std::string path = at + "/" + record + (component.empty() ? "" : "/" + component);
    const auto count = static_cast<std::int64_t>(values.size());
    file_.make_dataset(path, c_.type, one(count), {});
    file_.write(path, io::FileType::f64, {0, count}, values.data());
    meaning(at + "/" + record, path, unit, macro, power);
  }
  void constant(const std::string& at, const std::string& record, const std::string& component, std::int64_t count,
                double value, double unit) {
    const std::string path = at + "/" + record + (component.empty() ? "" : "/" + component);
    file_.make_group(path);
    file_.put(path, "value", std::array<double, 1>{value}, false);
    file_.put(path, "shape", io::FileType::u64, one(count), true);
    meaning(at + "/" + record, path, unit, 0, record == "charge" ? 1 : 0);
  }

  const io::hdf5::File& file_;
  const OpenpmdCase& c_;
};

/// Writes an openPMD file of 40 electrons and 20 ions in a box of 16 m, 16 x 8 x 4 cells: electron k at 2 (0.25 + k mod 8) m in x,
/// at constants in y, with weight 3 + k and momenta 10 k. Local.
inline void make_openpmd(const std::string& path, const OpenpmdCase& c) {
  const io::NetcdfLock lock(path);
  io::hdf5::File file = io::hdf5::File::create(path, path);
  OpenpmdMaker maker(file, c);
  maker.put_root();
  maker.put_species("electrons", 40);
  maker.put_species("ions", 20);
  file.close();
}

/// Opens a file to look at it. Not while other ranks of the process call HDF5.
inline io::hdf5::File open_openpmd(const std::string& path) { return io::hdf5::File::open(path); }

}  // namespace merganser::test
