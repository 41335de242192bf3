// Series of VTU files: a PVD file lists them with their times, and grows by one with each call.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <limits>

#include "merganser/base/error.hpp"
#include "merganser/base/output_file.hpp"
#include "merganser/base/text.hpp"
#include "merganser/comm/collectives.hpp"
#include "src/io/tables/tables.hpp"

namespace merganser::io {
namespace {

constexpr std::string_view kBegin = "<DataSet timestep=\"";

/// Steps that a series has: its lines, and the last time.
struct Series {
  std::vector<std::string> lines;
  double last = -std::numeric_limits<double>::infinity();
};

/// Reads the steps of a PVD file; none if it does not exist. @throws InputError for a file that is no such series
Series read_series(const std::string& path) {
  Series series;
  std::error_code none;
  if (!std::filesystem::exists(path, none)) return series;
  const auto wrong = [&](const std::string& line) {
    throw InputError(path + ": \"" + line.substr(0, 80) +
                     "\" is no line of a series (PVD) as merganser writes them; allowed: such a file, or none");
  };
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with(kBegin)) {
      // A line may hold several elements, of which none may be a step.
      if (line.find("<DataSet") != std::string::npos ||
          (!line.starts_with("<?xml") && line.find("Collection") == std::string::npos && line != "</VTKFile>"))
        wrong(line);
      continue;
    }
    const char* const end = line.data() + line.size();
    const auto [rest, error] = std::from_chars(line.data() + kBegin.size(), end, series.last);
    if (error != std::errc() || rest == end || *rest != '"' || !line.ends_with("/>") ||
        line.find('<', 1) != std::string::npos)
      wrong(line);
    series.lines.push_back(line);
  }
  return series;
}

/// Returns the text of a PVD file.
std::string series_text(const Series& series) {
  std::string out =
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" "
      "byte_order=\"LittleEndian\">\n<Collection>\n";
  for (const std::string& line : series.lines) out += line + "\n";
  return out + "</Collection>\n</VTKFile>\n";
}

/// Returns the path of the next step's file, beside that of the series, which does not exist yet.
std::string next_file(const std::string& path, std::size_t steps) {
  const std::string stem = path.substr(0, path.size() - std::string(".pvd").size());
  for (std::size_t number = steps + 1;; ++number) {
    std::string digits = std::to_string(number);
    digits.insert(0, digits.size() < 4 ? 4 - digits.size() : 0, '0');
    const std::string file = stem + "_" + digits + ".vtu";
    std::error_code none;
    if (!std::filesystem::exists(std::filesystem::symlink_status(file, none))) return file;
  }
}

}  // namespace

void write_pvd(const std::string& path, const Parcels& parcels, const Grid& grid, double time,
               comm::Transport& transport, const FileMetadata& metadata) {
  Series series;
  std::string file, name;  // of the step: path, and name beside the series
  comm::agree(transport, [&] {
    if (transport.rank() != 0) return;
    check_output(path);
    series = read_series(path);
    if (!(time > series.last))
      throw InputError("cannot write " + path + ": its last step is of time " + number_text(series.last) +
                       ", the parcels are of " + number_text(time) + "; allowed: later ones, or a new file");
    file = next_file(path, series.lines.size());
    name = std::filesystem::path(file).filename().string();
    if (name.find_first_of("\"<>&\n") != std::string::npos)
      throw InputError("cannot write " + path + ": a name with \", <, > or &; allowed: without");
  });
  write_table({file, FileFormat::vtu}, parcels, grid, time, transport, metadata);
  comm::agree(transport, [&] {
    if (transport.rank() != 0) return;
    series.lines.push_back(std::string(kBegin) + number_text(time) + "\" part=\"0\" file=\"" + name + "\"/>");
    write_file(path, series_text(series));
  });
}

}  // namespace merganser::io
