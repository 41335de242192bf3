// Box, cells and periodic axes from the mesh records of an openPMD file.
#include "src/io/particles/openpmd_meshes.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace merganser::io {
namespace {

constexpr std::array<const char*, 3> kMeshAxes{"x", "y", "z"};

/// Grid of one mesh record, with the names of its axes in the order of the box.
struct MeshGrid {
  Grid grid;
  std::array<std::size_t, 3> axis{};  ///< by axis of the box: place in axisLabels
};

/// Reads the box of one mesh record: cartesian, in three dimensions x, y and z. Empty: it is none of this kind.
std::optional<MeshGrid> read_mesh(const hdf5::File& file, const std::string& at) {
  const std::vector<std::string> geometry = file.texts(at, "geometry");
  std::vector<std::string> labels = file.texts(at, "axisLabels");
  const std::vector<std::string> order = file.texts(at, "dataOrder");
  const std::vector<double> spacing = file.numbers(at, "gridSpacing");
  const std::vector<double> offset = file.numbers(at, "gridGlobalOffset");
  const std::vector<double> unit = file.numbers(at, "gridUnitSI");
  if (geometry.empty() || geometry.front() != "cartesian" || labels.size() != 3 || spacing.size() != 3 ||
      offset.size() != 3 || unit.size() != 1)
    return std::nullopt;
  std::string component = at;  // of a vector its first component tells the shape
  if (file.kind(at) == hdf5::ObjectKind::group && file.numbers(at, "shape").empty()) {
    const std::vector<std::string> parts = file.members(at);
    if (parts.empty()) return std::nullopt;
    component = at + '/' + parts.front();
  }
  std::vector<double> shape = file.numbers(component, "shape");
  if (file.kind(component) == hdf5::ObjectKind::dataset) {
    const std::vector<std::int64_t> lengths = file.dataset(component).shape;
    shape.assign(lengths.begin(), lengths.end());
    if (!order.empty() && order.front() == "F") std::reverse(shape.begin(), shape.end());
  }
  if (shape.size() != 3) return std::nullopt;
  MeshGrid out;
  for (std::size_t a = 0; a < 3; ++a) {
    const auto label = std::find(labels.begin(), labels.end(), kMeshAxes[a]);
    if (label == labels.end()) return std::nullopt;
    const auto i = static_cast<std::size_t>(label - labels.begin());
    out.axis[a] = i;
    if (!(shape[i] >= 1) || shape[i] > 0x1p53) return std::nullopt;
    out.grid.cells[a] = static_cast<std::int64_t>(shape[i]);
    out.grid.box.lower[a] = offset[i] * unit[0];
    out.grid.box.extent[a] = spacing[i] * shape[i] * unit[0];
  }
  out.grid.box.periodic = {false, false, false};
  return out;
}

/// Returns true for the word of a periodic boundary, in capital letters too.
bool is_periodic(std::string_view word) {
  return std::ranges::equal(word, std::string_view("periodic"),
                            [](unsigned char a, char b) { return std::tolower(a) == b; });
}

/// Reads which axes are periodic from the boundaries of a list of the extension ED-PIC: two words for each axis in the order of
/// axisLabels. Empty: it does not say.
std::optional<std::array<bool, 3>> read_boundaries(const std::vector<std::string>& words, const MeshGrid& mesh) {
  if (words.size() != 6) return std::nullopt;
  std::array<bool, 3> periodic{};
  for (std::size_t a = 0; a < 3; ++a) {
    const bool low = is_periodic(words[2 * mesh.axis[a]]);
    const bool high = is_periodic(words[2 * mesh.axis[a] + 1]);
    if (low != high) return std::nullopt;
    periodic[a] = low;
  }
  return periodic;
}

}  // namespace

void read_meshes(const hdf5::File& file, ParcelFileInfo& info) {
  const std::string& meshes = info.metadata.openpmd.meshes;
  if (meshes.empty()) return;
  std::optional<MeshGrid> found;
  std::string from;
  for (const std::string& name : file.members(meshes)) {
    const std::optional<MeshGrid> mesh = read_mesh(file, meshes + '/' + name);
    if (!mesh) continue;
    if (found && !(found->grid == mesh->grid)) {
      info.notes.push_back("the mesh records " + from + " and " + name +
                           " differ in box or cells, so that neither counts");
      return;
    }
    found = mesh;
    from = name;
  }
  if (!found) return;
  info.grid = found->grid;
  info.says_grid = true;
  info.notes.push_back("box and cells from the mesh record " + from);
  for (const char* name : {"particleBoundary", "fieldBoundary"}) {
    const auto periodic = read_boundaries(file.texts(meshes, name), *found);
    if (!periodic) continue;
    info.grid.box.periodic = {(*periodic)[0], (*periodic)[1], (*periodic)[2]};
    info.says_periodic = true;
    info.notes.push_back(std::string("periodic axes from ") + name + " of the meshes");
    return;
  }
}

}  // namespace merganser::io
