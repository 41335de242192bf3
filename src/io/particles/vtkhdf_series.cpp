// Time steps of VTKHDF files of points: reading of the group Steps, and copies of earlier steps into a file that grows by one.
#include "src/io/particles/vtkhdf_series.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <set>
#include <string_view>
#include <utility>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "merganser/io/data_file.hpp"
#include "src/io/particles/vtkhdf_names.hpp"

namespace merganser::io {
namespace {

constexpr std::int64_t kMaxSteps = 1'000'000;
constexpr std::int64_t kTopologies = 4;  // of PolyData: vertices, lines, polygons, strips

/// Returns the path of an object of the group Steps.
std::string step_path(const std::string& name) { return std::string(kSteps) + "/" + name; }

/// Reads a list of numbers. @throws InputError for anything else
template <class T>
std::vector<T> read_list(const hdf5::File& file, const std::string& at, FileType type) {
  if (file.kind(at) != hdf5::ObjectKind::dataset) throw InputError(file.path() + ": " + at + " is missing");
  const hdf5::DatasetInfo about = file.dataset(at);
  if (!about.type || about.shape.size() != 1 || about.shape[0] > kMaxSteps)
    throw InputError(file.path() + ": " + at + " must be a list of at most " + std::to_string(kMaxSteps) + " numbers");
  std::vector<T> all(static_cast<std::size_t>(about.shape[0]));
  if (!all.empty()) file.read(at, type, {0, about.shape[0]}, all.data());
  return all;
}

/// Returns the list of times of a series. @throws InputError for one that is not finite
std::vector<double> read_times(const hdf5::File& file) {
  std::vector<double> times = read_list<double>(file, step_path("Values"), FileType::f64);
  for (const double time : times)
    if (!std::isfinite(time)) throw InputError(file.path() + ": a time of " + step_path("Values") + " is not finite");
  return times;
}

/// Returns number `i` of a list of offsets or counts of a series, at least 0. @throws InputError if there is none
std::int64_t read_count(const hdf5::File& file, const std::string& at, std::int64_t i) {
  const auto all = read_list<std::int64_t>(file, at, FileType::i64);
  if (i < 0 || i >= static_cast<std::int64_t>(all.size()) || all[static_cast<std::size_t>(i)] < 0)
    throw InputError(file.path() + ": " + at + " has no number of at least 0 for entry " + std::to_string(i) + " of " +
                     std::to_string(all.size()));
  return all[static_cast<std::size_t>(i)];
}

/// Writes a list of numbers, `width` in each row; width 0: one dimension.
void put_list(const hdf5::File& file, const std::string& at, const std::vector<std::int64_t>& values,
              std::int64_t width = 0) {
  const auto rows = static_cast<std::int64_t>(values.size()) / std::max<std::int64_t>(1, width);
  std::vector<std::int64_t> shape{rows};
  if (width > 0) shape.push_back(width);
  file.make_dataset(at, FileType::i64, shape, {});
  file.write(at, FileType::i64, {0, rows, width}, values.data());
}

/// Returns the names in a list that are not among those given, as "A, B"; empty if there are none.
std::string names_without(const std::vector<std::string>& list, std::initializer_list<std::string_view> known) {
  std::string out;
  for (const std::string& name : list)
    if (std::find(known.begin(), known.end(), name) == known.end()) out += (out.empty() ? "" : ", ") + name;
  return out;
}

/// Returns what a file holds that a new file of the series would lack; empty if there is nothing.
std::string foreign_members(const hdf5::File& file) {
  std::string found = names_without(file.members("/"), {"VTKHDF"});
  if (found.empty())
    found = names_without(file.members(kVtkhdf), {"NumberOfPoints", "Points", "Vertices", "Lines", "Polygons", "Strips",
                                                  "PointData", "Steps"});
  if (found.empty())
    found = names_without(file.attributes(kVtkhdf),
                          {"Version", "Type", kVersionAttribute, kTimeAttribute, kCellsAttribute, kExtentAttribute,
                           kOriginAttribute, kPeriodicAttribute, kRatioAttribute, kStepAttribute});
  if (!found.empty()) return found;
  for (const std::string& name : file.members(kPointData)) {
    const auto more =
        names_without(file.attributes(std::string(kPointData) + "/" + name), {kRuleAttribute, kPlaceAttribute});
    if (!more.empty()) return more + " of " + name;
  }
  return {};
}

/// Returns true if a list of offsets of the group Steps is as put_steps() writes it.
bool are_offsets(const hdf5::File& file, const std::string& name, const std::vector<std::int64_t>& expected) {
  return read_list<std::int64_t>(file, step_path(name), FileType::i64) == expected;
}

/// Returns the volume ratio that the parcels' file says, as a list of one number, or of none.
std::vector<double> volume_ratio(const FileMetadata& metadata) {
  const FileValues* const found = find_attribute(metadata.root, "min_vratio");
  return found == nullptr ? std::vector<double>() : to_doubles(*found);
}

}  // namespace

SeriesLock::SeriesLock(std::string path) : path_(std::move(path)) {
  std::string folder = std::filesystem::path(path_).parent_path().string();
  if (folder.empty()) folder = ".";
  folder_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  while (folder_ >= 0 && ::flock(folder_, LOCK_EX) != 0 && errno == EINTR) {
  }
  before_ = identity();
}

SeriesLock::~SeriesLock() {
  if (folder_ >= 0) ::close(folder_);
}

SeriesLock::Identity SeriesLock::identity() const {
  struct stat s {};
  if (::stat(path_.c_str(), &s) != 0) return {};
  return {static_cast<std::int64_t>(s.st_dev), static_cast<std::int64_t>(s.st_ino),
          static_cast<std::int64_t>(s.st_size), static_cast<std::int64_t>(s.st_mtim.tv_sec),
          static_cast<std::int64_t>(s.st_mtim.tv_nsec)};
}

void SeriesLock::check() const {
  if (identity() != before_)
    throw InputError("cannot add a step to " + path_ +
                     ": another process has written it meanwhile; allowed: one at a time");
}

EarlierSteps read_earlier_steps(const std::string& path, const ParticlesToWrite& in, double time) {
  EarlierSteps out;
  std::error_code none;
  if (!std::filesystem::exists(path, none)) return out;
  const auto refuse = [&](const std::string& why, const std::string& allowed) {
    throw InputError("cannot add a step to " + path + ": " + why + "; allowed: " + allowed);
  };
  check_self_contained(path);
  out.file.emplace(hdf5::File::open(path));
  const hdf5::File& file = *out.file;
  if (file.kind(kVtkhdf) != hdf5::ObjectKind::group || file.texts(kVtkhdf, kVersionAttribute).empty())
    refuse("it is no VTKHDF file that merganser wrote", "such a file, or a name that does not exist");
  ParcelFileInfo info;
  read_own_attributes(file, kVtkhdf, info);
  if (!(info.grid == in.grid)) refuse("it has another box, cells or periodic axes", "those of the parcels");
  if (file.kind(kSteps) == hdf5::ObjectKind::none) {
    out.times = file.numbers(kVtkhdf, kTimeAttribute);
  } else {
    out.times = read_times(file);
  }
  out.points = read_list<std::int64_t>(file, std::string(kVtkhdf) + "/NumberOfPoints", FileType::i64);
  if (out.times.empty() || out.points.size() != out.times.size())
    refuse("it has " + std::to_string(out.times.size()) + " times for " + std::to_string(out.points.size()) + " steps",
           "one for each");
  if (!(time > out.times.back()))
    refuse("its last step is of time " + number_text(out.times.back()) + ", the parcels are of " + number_text(time),
           "later ones");
  const std::int64_t rows = file.dataset(std::string(kVtkhdf) + "/Points").shape.at(0);
  for (const std::int64_t count : out.points) {
    if (count < 0 || count > rows - out.rows)
      refuse("its numbers of points do not fit its points", "an undamaged file");
    out.rows += count;
  }
  if (file.kind(kSteps) != hdf5::ObjectKind::none) {
    std::vector<std::int64_t> begins, parts;
    std::int64_t begin = 0;
    for (const std::int64_t count : out.points) {
      parts.push_back(static_cast<std::int64_t>(parts.size()));
      begins.push_back(begin);
      begin += count;
    }
    bool plain = are_offsets(file, "PointOffsets", begins) && are_offsets(file, "PartOffsets", parts);
    for (const std::string& name : file.members(kPointData))
      plain = plain && are_offsets(file, "PointDataOffsets/" + name, begins);
    if (!plain) refuse("its steps do not follow each other in its arrays", "a series as merganser writes it");
  }
  if (const std::string found = foreign_members(file); !found.empty())
    refuse("it also has " + found + ", which the new file would lack", "files with what merganser writes");
  if (file.numbers(kVtkhdf, kRatioAttribute) != volume_ratio(in.metadata))
    refuse("it has another volume ratio (min_vratio)", "that of the parcels");
  if (out.rows != rows) refuse("its numbers of points do not fit its points", "an undamaged file");
  return out;
}

void check_arrays(const EarlierSteps& earlier, const std::vector<PointArray>& arrays, FileType positions) {
  if (!earlier.file) return;
  const hdf5::File& file = *earlier.file;
  const auto refuse = [&](const std::string& name, const std::string& why) {
    throw InputError("cannot add a step to " + file.path() + ": the array " + name + " " + why +
                     "; allowed: the same arrays in every step");
  };
  if (file.dataset(std::string(kVtkhdf) + "/Points").type != positions) refuse("Points", "is of another type in it");
  std::set<std::string> there;
  for (const std::string& name : file.members(kPointData)) there.insert(name);
  for (const PointArray& array : arrays) {
    if (there.erase(array.name) == 0) refuse(array.name, "is in no step of it");
    const hdf5::DatasetInfo about = file.dataset(std::string(kPointData) + "/" + array.name);
    const std::int64_t width = about.shape.size() == 2 ? about.shape[1] : 1;
    if (about.shape.empty() || about.shape[0] != earlier.rows) refuse(array.name, "has another length than its points");
    if (about.type != array.columns[0].type || width != static_cast<std::int64_t>(array.columns.size()))
      refuse(array.name, "is of another type or width in it");
    const std::string at = std::string(kPointData) + "/" + array.name;
    const std::string rule = array.attribute == nullptr ? std::string() : rule_name(array.attribute->rule);
    const std::vector<std::string> told = file.texts(at, kRuleAttribute);
    const std::vector<double> place = file.numbers(at, kPlaceAttribute);
    if ((told.empty() ? std::string() : told.front()) != rule ||
        (!rule.empty() && place != std::vector<double>{static_cast<double>(array.place)}))
      refuse(array.name, "has another rule or place in it");
  }
  if (!there.empty()) refuse(*there.begin(), "is in its steps, and the parcels have none");
}

void put_steps(const hdf5::File& file, const EarlierSteps& earlier, const std::vector<PointArray>& arrays,
               double time) {
  std::vector<double> times = earlier.times;
  times.push_back(time);
  const auto steps = static_cast<std::int64_t>(times.size());
  std::vector<std::int64_t> parts, begins, cells;
  std::int64_t begin = 0;
  for (std::int64_t i = 0; i < steps; ++i) {
    parts.push_back(i);
    begins.push_back(begin);
    cells.push_back(begin);  // of the vertices; there are no others
    cells.resize(static_cast<std::size_t>((i + 1) * kTopologies), 0);
    if (i + 1 < steps) begin += earlier.points[static_cast<std::size_t>(i)];
  }
  file.make_group(kSteps);
  file.put(kSteps, "NSteps", FileType::i64, std::array<std::int64_t, 1>{steps}, false);
  file.make_dataset(step_path("Values"), FileType::f64, std::array<std::int64_t, 1>{steps}, {});
  file.write(step_path("Values"), FileType::f64, {0, steps}, times.data());
  put_list(file, step_path("PartOffsets"), parts);
  put_list(file, step_path("NumberOfParts"), std::vector<std::int64_t>(parts.size(), 1));
  put_list(file, step_path("PointOffsets"), begins);
  put_list(file, step_path("CellOffsets"), cells, kTopologies);
  put_list(file, step_path("ConnectivityIdOffsets"), cells, kTopologies);
  for (const PointArray& array : arrays) put_list(file, step_path("PointDataOffsets/" + array.name), begins);
}

void copy_rows(const hdf5::File& file, const EarlierSteps& earlier, const std::string& at, FileType type,
               std::int64_t width) {
  if (!earlier.file) return;
  constexpr std::int64_t kRowsAtOnce = std::int64_t{1} << 18;
  std::vector<std::uint64_t> rows;  // of up to 8 bytes a number
  for (std::int64_t done = 0; done < earlier.rows; done += kRowsAtOnce) {
    const std::int64_t count = std::min(kRowsAtOnce, earlier.rows - done);
    rows.resize(static_cast<std::size_t>(count * std::max<std::int64_t>(1, width)));
    earlier.file->read(at, type, {done, count, width, hdf5::File::kAllColumns}, rows.data());
    file.write(at, type, {done, count, width}, rows.data());
  }
}

std::optional<VtkhdfStep> last_step(const hdf5::File& file) {
  if (file.kind(kSteps) == hdf5::ObjectKind::none) return std::nullopt;
  const std::vector<double> times = read_times(file);
  if (times.empty()) throw InputError(file.path() + ": no step in " + step_path("Values") + "; allowed: at least one");
  const std::vector<double> told = file.numbers(kSteps, "NSteps");
  if (told.size() == 1 && told[0] != static_cast<double>(times.size()))
    throw InputError(file.path() + ": NSteps is " + number_text(told[0]) + ", " + step_path("Values") + " has " +
                     std::to_string(times.size()) + " times; allowed: as many");
  VtkhdfStep step;
  step.steps = static_cast<std::int64_t>(times.size());
  step.number = step.steps - 1;
  step.time = times.back();
  step.first_point = read_count(file, step_path("PointOffsets"), step.number);
  const std::int64_t first = read_count(file, step_path("PartOffsets"), step.number);
  const bool says_parts = file.kind(step_path("NumberOfParts")) != hdf5::ObjectKind::none;
  const std::int64_t parts = says_parts ? read_count(file, step_path("NumberOfParts"), step.number) : 1;
  const auto counts = read_list<std::int64_t>(file, std::string(kVtkhdf) + "/NumberOfPoints", FileType::i64);
  const auto known = static_cast<std::int64_t>(counts.size());
  if (first > known || parts > known - first)
    throw InputError(file.path() + ": the last step has parts " + std::to_string(first) + " to " +
                     std::to_string(first + parts - 1) + " of " + std::to_string(known));
  constexpr std::int64_t kMaxPoints = std::int64_t{1} << 48;
  for (std::int64_t i = first; i < first + parts; ++i) {
    const std::int64_t count = counts[static_cast<std::size_t>(i)];
    if (count < 0 || count > kMaxPoints - step.points)
      throw InputError(file.path() + ": part " + std::to_string(i) + " has " + std::to_string(count) + " points");
    step.points += count;
  }
  return step;
}

void check_point_count(const hdf5::File& file, std::int64_t rows) {
  const std::string at = std::string(kVtkhdf) + "/NumberOfPoints";
  if (file.kind(at) == hdf5::ObjectKind::none) return;
  std::int64_t left = rows;
  const auto counts = read_list<std::int64_t>(file, at, FileType::i64);
  const bool fits = std::ranges::all_of(counts, [&](std::int64_t count) {
    const bool within = count >= 0 && count <= left;
    left -= within ? count : 0;
    return within;
  });
  if (!fits || left != 0)
    throw InputError(file.path() + ": " + at + " and the " + std::to_string(rows) +
                     " points that are there differ; truncated or damaged");
}

std::int64_t first_row(const hdf5::File& file, const VtkhdfStep& step, const std::string& array) {
  return read_count(file, step_path("PointDataOffsets/" + array), step.number);
}

}  // namespace merganser::io
