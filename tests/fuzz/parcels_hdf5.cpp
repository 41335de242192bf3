// requires: NetCDF
/// Reads parcels of openPMD and VTKHDF files; what was read is written in the same format and must be read as the same.
/// Input: changes to a file of either format, four bytes each: what is changed, where, and to what.
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "merganser/comm/runtime.hpp"
#include "merganser/io/output_name.hpp"
#include "merganser/io/parcel_file.hpp"
#include "merganser/parcels/statistics.hpp"
#include "src/io/netcdf/nc_file.hpp"
#include "src/io/particles/hdf5_file.hpp"
#include "tests/fuzz/support/files.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

using io::FileType;

/// Attribute of a group or dataset: texts if there are any, else numbers.
struct Attribute {
  std::vector<std::string> texts;
  std::vector<double> numbers;
  bool array = false;
};

/// Group or dataset of the file to be made.
struct Node {
  bool is_dataset = false;
  FileType type = FileType::f64;
  std::vector<std::int64_t> shape;
  std::vector<double> values;  ///< repeated or cut to the shape
  std::map<std::string, Attribute> attributes;
};

/// Objects of a file by their paths; an object stands behind the group that holds it.
using Nodes = std::map<std::string, Node>;

constexpr std::int64_t kParticles = 6;

Attribute text(std::string value) { return {{std::move(value)}, {}, false}; }
Attribute number(double value) { return {{}, {value}, false}; }

Node record(double first, double step) {
  Node node{true, FileType::f64, {kParticles}, {}, {}};
  for (std::int64_t i = 0; i < kParticles; ++i) node.values.push_back(first + step * static_cast<double>(i));
  node.attributes["unitSI"] = number(1);
  node.attributes["weightingPower"] = number(0);
  node.attributes["macroWeighted"] = number(0);
  return node;
}

/// Component of one value for all particles.
Node constant(double value) {
  Node node;
  node.attributes = {
      {"value", number(value)}, {"shape", {{}, {static_cast<double>(kParticles)}, true}}, {"unitSI", number(1)}};
  return node;
}

Nodes openpmd_file() {
  Nodes nodes;
  nodes["/"].attributes = {{"openPMD", text("1.1.0")},
                           {"openPMDextension", number(0)},
                           {"basePath", text("/data/%T/")},
                           {"particlesPath", text("particles/")},
                           {"meshesPath", text("meshes/")},
                           {"iterationEncoding", text("groupBased")},
                           {"iterationFormat", text("/data/%T/")}};
  nodes["/data/5"].attributes = {{"time", number(2)}, {"dt", number(0.5)}, {"timeUnitSI", number(1)}};
  Node& mesh = nodes["/data/5/meshes/E"];
  mesh = {true, FileType::f32, {4, 4, 8}, {0}, {}};
  mesh.attributes = {{"geometry", text("cartesian")},
                     {"dataOrder", text("C")},
                     {"axisLabels", {{"z", "y", "x"}, {}, true}},
                     {"gridSpacing", {{}, {1, 1, 1}, true}},
                     {"gridGlobalOffset", {{}, {0, 0, 0}, true}},
                     {"gridUnitSI", number(1)}};
  const std::string at = "/data/5/particles/electrons";
  nodes[at];
  for (const char* axis : {"x", "y", "z"}) {
    nodes[at + "/position/" + axis] = record(0.25, 0.5);
    nodes[at + "/positionOffset/" + axis] = constant(0);
    nodes[at + "/momentum/" + axis] = record(-1, 0.5);
  }
  nodes[at + "/weighting"] = record(1, 1);
  nodes[at + "/id"] = record(10, 3);
  nodes[at + "/id"].type = FileType::u64;
  nodes[at + "/charge"] = constant(-1.5);
  return nodes;
}

Nodes vtkhdf_file() {
  Nodes nodes;
  nodes["/VTKHDF"].attributes = {{"Type", text("PolyData")}, {"Version", {{}, {2, 0}, true}}};
  nodes["/VTKHDF/Points"] = {true, FileType::f64, {kParticles, 3}, {0.25, 0.5, 0.75, 1, 1.5, 2, 3.5}, {}};
  nodes["/VTKHDF/NumberOfPoints"] = {true, FileType::i64, {1}, {kParticles}, {}};
  for (const char* part : {"Vertices", "Lines", "Polygons", "Strips"}) {
    const bool used = std::string_view(part) == "Vertices";
    const std::string cells = std::string("/VTKHDF/") + part;
    nodes[cells + "/Connectivity"] = {true, FileType::i64, {used ? kParticles : 0}, {0, 1, 2, 3, 4, 5}, {}};
    nodes[cells + "/Offsets"] = {true, FileType::i64, {used ? kParticles + 1 : 1}, {0, 1, 2, 3, 4, 5, 6}, {}};
    nodes[cells + "/NumberOfCells"] = {true, FileType::i64, {1}, {used ? static_cast<double>(kParticles) : 0}, {}};
    nodes[cells + "/NumberOfConnectivityIds"] = nodes[cells + "/NumberOfCells"];
  }
  const std::string data = "/VTKHDF/PointData/";
  nodes[data + "volume"] = {true, FileType::f64, {kParticles}, {1, 2, 3}, {}};
  nodes[data + "merganser_id"] = {true, FileType::u64, {kParticles}, {5, 6, 7, 8, 9, 10}, {}};
  nodes[data + "buoyancy"] = {true, FileType::f32, {kParticles}, {0.5, -0.5}, {}};
  nodes[data + "velocity"] = {true, FileType::f64, {kParticles, 3}, {1, 2, 3, 4}, {}};
  return nodes;
}

/// A VTKHDF series of two steps of three points each.
Nodes series_file() {
  Nodes nodes = vtkhdf_file();
  nodes["/VTKHDF/Steps"].attributes["NSteps"] = number(2);
  nodes["/VTKHDF/Steps/Values"] = {true, FileType::f64, {2}, {0, 0.5}, {}};
  nodes["/VTKHDF/Steps/PartOffsets"] = {true, FileType::i64, {2}, {0, 1}, {}};
  nodes["/VTKHDF/Steps/NumberOfParts"] = {true, FileType::i64, {2}, {1}, {}};
  nodes["/VTKHDF/Steps/PointOffsets"] = {true, FileType::i64, {2}, {0, 3}, {}};
  for (const char* name : {"CellOffsets", "ConnectivityIdOffsets"})
    nodes[std::string("/VTKHDF/Steps/") + name] = {true, FileType::i64, {2, 4}, {0}, {}};
  for (const char* name : {"volume", "merganser_id", "buoyancy", "velocity"})
    nodes[std::string("/VTKHDF/Steps/PointDataOffsets/") + name] = {true, FileType::i64, {2}, {0, 3}, {}};
  nodes["/VTKHDF/NumberOfPoints"] = {true, FileType::i64, {2}, {3, 3}, {}};
  return nodes;
}

constexpr std::array kNumbers{0.0,  1.0,   -1.0, 2.0,  0.5,  3.0,    6.0,   7.0,
                              1e-3, 1e300, 1e19, 5e-1, -0.0, 1e-310, 255.0, 2147483648.0};
constexpr std::array kTexts{"",           "1.1.0",      "2.0.0",       "%T",       "fileBased",
                            "groupBased", "particles/", "meshes",      "PolyData", "UnstructuredGrid",
                            "C",          "F",          "cylindrical", "x",        "z",
                            "periodic",   "\xff/%06T/"};
constexpr std::array kNames{"x",       "y",  "z",     "position",  "volume",   "merganser_id",
                            "species", "id", "value", "weighting", "momentum", "B11",
                            "ions",    "7",  "shape", "../y",      "unitSI"};
constexpr std::array kTypes{FileType::i8, FileType::i16, FileType::i32, FileType::f32, FileType::f64,
                            FileType::u8, FileType::u16, FileType::u32, FileType::i64, FileType::u64};

/// One change: what, where, and two bytes that say to what.
struct Change {
  unsigned what, where, how, much;
};

template <class Items>
auto pick(const Items& items, unsigned at) {
  return items[at % items.size()];
}

double number_of(unsigned how) {
  if (how % 20 == 18) return std::numeric_limits<double>::quiet_NaN();
  if (how % 20 == 19) return std::numeric_limits<double>::infinity();
  return pick(kNumbers, how);
}

/// Removes an object and what it holds. @return what was removed
Nodes take_out(Nodes& nodes, const std::string& at) {
  Nodes taken;
  for (auto it = nodes.begin(); it != nodes.end();) {
    if (it->first == at || it->first.starts_with(at + "/")) {
      taken.insert(nodes.extract(it++));
    } else {
      ++it;
    }
  }
  return taken;
}

void change_attribute(Node& node, const Change& c) {
  if (c.what % 2 == 0) {  // a new one, or another in place of it
    node.attributes[pick(kNames, c.how)] =
        c.much % 2 == 0 ? number(number_of(c.much / 2)) : text(pick(kTexts, c.much / 2));
    return;
  }
  if (node.attributes.empty()) return;
  auto it = node.attributes.begin();
  std::advance(it, static_cast<long>(c.how % node.attributes.size()));
  Attribute& a = it->second;
  switch (c.much % 4) {
    case 0:
      node.attributes.erase(it);
      break;
    case 1:
      a = text(pick(kTexts, c.much / 4));
      break;
    case 2:
      a = {{}, std::vector<double>(1 + c.much / 64, number_of(c.much / 4)), c.much >= 64};
      break;
    default:
      if (!a.numbers.empty()) a.numbers[c.much / 4 % a.numbers.size()] = number_of(c.much / 8);
  }
}

void change_dataset(Node& node, const Change& c) {
  switch (c.how % 5) {
    case 0:
      node.type = pick(kTypes, c.much);
      break;
    case 1:
      node.shape = {static_cast<std::int64_t>(c.much % 12)};
      break;
    case 2:
      node.shape = {static_cast<std::int64_t>(c.much % 8), static_cast<std::int64_t>(c.much / 8 % 5)};
      break;
    case 3:
      node.is_dataset = false;
      break;
    default:
      if (!node.values.empty()) node.values[c.how / 5 % node.values.size()] = number_of(c.much);
  }
}

void apply(Nodes& nodes, const Change& c) {
  if (nodes.empty()) return;
  auto it = nodes.begin();
  std::advance(it, static_cast<long>(c.where % nodes.size()));
  const std::string at = it->first;
  switch (c.what % 8) {
    case 0:
      take_out(nodes, at);
      break;
    case 1:
    case 2:
    case 3:
      change_attribute(it->second, c);
      break;
    case 4: {  // renamed, or copied
      Nodes taken = c.much % 2 == 0 ? take_out(nodes, at) : Nodes(nodes);
      const std::string to = at.substr(0, at.rfind('/') + 1) + pick(kNames, c.how);
      for (const auto& [path, node] : taken)
        if (path == at || path.starts_with(at + "/")) nodes[to + path.substr(at.size())] = node;
      break;
    }
    case 5:
      it->second = constant(number_of(c.how));
      break;
    default:
      if (it->second.is_dataset) change_dataset(it->second, c);
  }
}

double fitting(FileType type, double value) {  // what HDF5 makes of numbers beyond a type is not asked here
  if (type == FileType::f64 || type == FileType::f32) return value;
  return std::isfinite(value) && std::abs(value) <= 100 ? std::trunc(std::abs(value)) : 100;
}

void put(const io::hdf5::File& file, const std::string& at, const Node& node) {
  if (node.is_dataset) {
    file.make_dataset(at, node.type, node.shape, {});
    std::int64_t size = 1;
    for (const std::int64_t length : node.shape) size *= length;
    std::vector<double> values;
    for (std::int64_t i = 0; i < size; ++i)
      values.push_back(
          node.values.empty() ? 0 : fitting(node.type, node.values[static_cast<std::size_t>(i) % node.values.size()]));
    const std::int64_t rows = node.shape.empty() ? 1 : node.shape[0];
    if (size > 0 && node.shape.size() <= 2)
      file.write(at, FileType::f64, {0, rows, node.shape.size() == 2 ? node.shape[1] : 0, io::hdf5::File::kAllColumns},
                 values.data());
  } else if (at != "/") {
    file.make_group(at);
  }
  for (const auto& [name, a] : node.attributes) {
    if (a.texts.size() > 1) {
      file.put(at, name, a.texts);
    } else if (!a.texts.empty()) {
      file.put(at, name, std::string_view(a.texts.front()));
    } else {
      file.put(at, name, a.numbers, a.array);
    }
  }
}

/// Writes the file that an input describes. @return its path; empty if HDF5 cannot hold it, as an object below a dataset
std::string make_particle_file(std::string_view input) {
  const unsigned kind = input.empty() ? 0 : static_cast<unsigned char>(input[0]) % 3;
  Nodes nodes = kind == 0 ? openpmd_file() : kind == 1 ? vtkhdf_file() : series_file();
  for (std::size_t i = 1; i + 4 <= input.size(); i += 4) {
    const auto byte = [&](std::size_t k) { return static_cast<unsigned>(static_cast<unsigned char>(input[i + k])); };
    apply(nodes, {byte(0), byte(1), byte(2), byte(3)});
  }
  const std::string path = make_path(kind == 0 ? "parcels.h5" : "parcels.vtkhdf");
  const io::NetcdfLock lock(path);
  io::hdf5::File file = io::hdf5::File::create(path, path);
  try {
    for (const auto& [at, node] : nodes)
      if (file.kind(at) == io::hdf5::ObjectKind::none || at == "/") put(file, at, node);
  } catch (const InputError&) {
    return {};
  }
  file.close();
  return path;
}

struct Read {
  Digest digest{};
  std::uint64_t parcels = 0;
  friend bool operator==(const Read&, const Read&) = default;
};

/// Reads a particle file on some ranks, and writes what was read to another path if that is given.
Read read_on(int ranks, const std::string& path, const std::string& to = {}) {
  std::vector<Read> parts(static_cast<std::size_t>(ranks));
  comm::run({"threads", ranks, ""}, [&](comm::Transport& t) {
    io::ParcelFileInfo info = io::read_info(path, t);
    if (!info.says_grid) info.grid = Grid{{{0, 0, 0}, {8, 4, 4}, {true, true, true}}, {8, 4, 4}};
    info.says_grid = info.says_periodic = true;
    Parcels parcels = io::read_parcels(path, info, t);
    for (std::size_t i = 0; i < parcels.size(); ++i)
      require(std::isfinite(parcels.site(i).x) && std::isfinite(parcels.site(i).z) && parcels.site(i).volume > 0,
              "a parcel that is none");
    if (!to.empty()) io::fit_to_file(to, parcels, info.grid.box, info.metadata, t);
    parts[static_cast<std::size_t>(t.rank())] = {digest(parcels), parcels.size()};
    if (!to.empty()) io::write_parcels(to, parcels, Decomposition(info.grid, t.size()), info.time, t, info.metadata);
  });
  Read all;
  for (const Read& part : parts) {
    all.digest += part.digest;
    all.parcels += part.parcels;
  }
  return all;
}

bool feed_parcels_hdf5(std::string_view input) {
  const std::string path = make_particle_file(input);
  if (path.empty()) return false;
  Read alone, other;
  const bool read = read_or_refuse([&] { alone = read_on(1, path); });
  if (is_selected(64, input)) {
    require(read_or_refuse([&] { other = read_on(3, path); }) == read,
            "one number of ranks reads the file, another does not");
    require(!read || other == alone, "three ranks read other parcels");
  }
  if (!read || !is_selected(8, input)) return read;
  const std::string again = make_path(path.ends_with(".h5") ? "again.h5" : "again.vtkhdf");
  bool written = false;
  try {
    alone = read_on(1, path, again);
    written = true;
  } catch (const InputError&) {  // values that the format cannot hold are refused with their names
  }
  if (!written) return true;
  require(read_or_refuse([&] { other = read_on(1, again); }), "what was written is refused");
  require(other == alone, "what was written are other parcels");
  return true;
}

}  // namespace

extern const Target parcels_hdf5_target{"parcels_hdf5", 256, feed_parcels_hdf5};

}  // namespace merganser::fuzz
