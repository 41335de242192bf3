// Format of a parcel file that is to be written, by its name, and what a change of format loses.
#include "merganser/io/output_name.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"

namespace merganser::io {
namespace {

constexpr std::array<std::pair<const char*, FileFormat>, 7> kFormats{{{":epic", FileFormat::epic},
                                                                      {":openpmd", FileFormat::openpmd},
                                                                      {":vtkhdf", FileFormat::vtkhdf},
                                                                      {":vtu", FileFormat::vtu},
                                                                      {":npz", FileFormat::npz},
                                                                      {":npy", FileFormat::npy},
                                                                      {":csv", FileFormat::csv}}};
/// Suffix of the name of a VTKHDF file that grows by a step.
constexpr std::string_view kSeries = ":series";
/// Formats by the suffix of a name, where it leaves no doubt.
constexpr std::array<std::pair<const char*, FileFormat>, 6> kSuffixes{{{".vtkhdf", FileFormat::vtkhdf},
                                                                       {".pvd", FileFormat::vtu},
                                                                       {".vtu", FileFormat::vtu},
                                                                       {".npz", FileFormat::npz},
                                                                       {".npy", FileFormat::npy},
                                                                       {".csv", FileFormat::csv}}};

/// Suffixes of formats that other programs may write, and merganser does not.
constexpr const char* kForeign[] = {".vtk",     ".vtp",     ".pvtu",  ".bp",   ".bp4",  ".bp5",
                                    ".parquet", ".feather", ".arrow", ".zarr", ".xdmf", ".xmf",
                                    ".json",    ".tsv",     ".txt",   ".dat",  ".zip"};

/// Returns true if a word stands behind a colon and the suffix of a parcel file, as ":netcdf" in "a.nc:netcdf": a colon may stand in
/// other names.
bool has_word_behind(std::string_view name) {
  const std::size_t colon = std::min(name.rfind(':'), name.size());
  const std::string_view path = name.substr(0, colon), word = name.substr(colon);
  const bool parcels = has_suffix(path, ".nc") || has_suffix(path, ".h5") || has_suffix(path, ".hdf5") ||
                       std::ranges::any_of(kSuffixes, [&](const auto& pair) { return has_suffix(path, pair.first); });
  return !word.empty() && parcels &&
         std::all_of(word.begin() + 1, word.end(), [](unsigned char c) { return std::isalnum(c) != 0; });
}

/// Throws UsageError for the name of an output in EPIC's format that tells another format.
void refuse_foreign(const std::string& name) {
  if (has_word_behind(name))
    throw UsageError("cannot write " + name + ": no format is called " + name.substr(name.rfind(':')) +
                     "; allowed: :epic, :openpmd, :vtkhdf, :vtu, :npz, :npy, :csv, :series, or " + name +
                     ":epic for a file of that name");
  for (const char* suffix : kForeign)
    if (has_suffix(name, suffix))
      throw UsageError(
          "cannot write " + name + ": " + suffix +
          " is none of the formats; allowed: .nc, .vtkhdf, .vtu, .pvd, .npz, .npy, .csv, or a format behind "
          "the name (" +
          name + ":epic)");
}

/// Returns true for a global attribute that every file of ours says in its own way, so that no file lacks it.
bool is_said_by_all(const std::string& attribute) {
  static constexpr std::array<const char*, 4> kNames{"min_vratio", "merge_step", "file_type", "Conventions"};
  return std::any_of(kNames.begin(), kNames.end(), [&](const char* name) { return attribute == name; });
}

/// Adds what files of another format have no place for: of EPIC's global attributes, groups and other variables.
void add_epic_losses(const FileGroup& root, std::vector<FileLoss>& to) {
  std::vector<std::string> names;
  for (const FileAttribute& a : root.attributes)
    if (!is_said_by_all(a.name)) names.push_back(a.name);
  for (const FileVariable& v : root.variables) names.push_back(v.name);
  for (const FileGroup& g : root.groups) names.push_back(g.name);
  for (const std::string& name : names) to.push_back({name, name + ", of an EPIC file"});
}

}  // namespace

bool has_suffix(std::string_view name, std::string_view suffix) {
  return name.size() >= suffix.size() &&
         std::ranges::equal(name.substr(name.size() - suffix.size()), suffix,
                            [](unsigned char a, char b) { return std::tolower(a) == b; });
}

OutputName parse_output_name(const std::string& name, const FileMetadata& metadata) {
  if (has_suffix(name, kSeries)) {
    const std::string path = name.substr(0, name.size() - kSeries.size());
    for (const auto& [suffix, format] : kSuffixes)
      if (has_suffix(path, suffix) && format != FileFormat::vtkhdf)
        throw UsageError("cannot write " + name + ": a series is a VTKHDF file; allowed: a name in .vtkhdf" +
                         std::string(kSeries) + ", or " + path + " without it");
    return {.path = path, .format = FileFormat::vtkhdf, .appends = true};
  }
  for (const auto& [suffix, format] : kFormats)
    if (has_suffix(name, suffix)) return {name.substr(0, name.size() - std::string(suffix).size()), format};
  for (const auto& [suffix, format] : kSuffixes)
    if (has_suffix(name, suffix)) return {name, format};
  refuse_foreign(name);
  if (!has_suffix(name, ".h5") && !has_suffix(name, ".hdf5")) return {name, FileFormat::epic};
  if (metadata.format != FileFormat::epic && metadata.format != FileFormat::openpmd)
    throw UsageError("cannot write " + name + ": its suffix may mean openPMD, VTKHDF or EPIC's format; allowed: " +
                     name + ":openpmd, " + name + ":vtkhdf or " + name + ":epic");
  return {name, metadata.format};
}

std::string strip_format(const std::string& name) {
  if (has_suffix(name, kSeries)) return name.substr(0, name.size() - kSeries.size());
  for (const auto& [suffix, format] : kFormats)
    if (has_suffix(name, suffix)) return name.substr(0, name.size() - std::string(suffix).size());
  return name;
}

std::vector<FileLoss> list_losses(const FileMetadata& metadata, const std::string& output) {
  std::vector<FileLoss> lost = metadata.lost;
  if (output.empty() || parse_output_name(output, metadata).format == metadata.format) return lost;
  if (metadata.format == FileFormat::epic) add_epic_losses(metadata.root, lost);
  if (metadata.format == FileFormat::openpmd) {
    const OpenpmdSource& from = metadata.openpmd;
    std::string what = "openPMD's attributes and units";
    if (!from.meshes.empty()) what += ", mesh records";
    if (!from.constants.empty()) what += ", constant records (" + joined(from.constants) + ")";
    lost.push_back({"openPMD", what});
  }
  return lost;
}

}  // namespace merganser::io
