// Writing of pictures: SVG by the command itself, PNG and PDF, and charts of run records, by the Python program of reports.
#include "apps/frame/picture.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "apps/frame/python_report.hpp"
#include "apps/frame/ranks.hpp"
#include "apps/frame/record.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/private_folder.hpp"

namespace merganser::app {
namespace {

/// Returns the suffix of a path in lower case, as ".png".
std::string suffix_of(const std::string& path) {
  std::string suffix = std::filesystem::path(path).extension().string();
  std::ranges::transform(suffix, suffix.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return suffix;
}

/// Returns true if a path is standard output, a device or a pipe, which take a drawing as SVG.
bool is_stream(const std::string& path) {
  std::error_code unknown;
  return path == "-" || (std::filesystem::exists(path, unknown) && !std::filesystem::is_regular_file(path, unknown) &&
                         !std::filesystem::is_directory(path, unknown));
}

/// Returns the name of a picture without folder and suffix, by which the program of reports names the record.
std::string stem_of(const std::string& path) {
  std::string stem = std::filesystem::path(path).stem().string();
  std::ranges::replace_if(
      stem, [](unsigned char c) { return c < 0x20; }, '_');
  return stem;
}

/// Draws a text that is kept in a temporary file for the program of reports. @param suffix  kind of the text: ".svg" or ".json"
void draw_text(const std::string& path, const std::string& text, const std::string& suffix) {
  PrivateFolder folder;
  const std::string source = folder.file(stem_of(path) + suffix);
  write_text_file(source, text);
  draw_by_python(source, path);
}

}  // namespace

void check_picture(const std::string& path, PictureSource source) {
  if (path.empty() || (is_stream(path) && source == PictureSource::drawing)) return;
  const std::string suffix = suffix_of(path);
  if (suffix != ".svg" && suffix != ".png" && suffix != ".pdf")
    throw UsageError("--picture: \"" + path + "\"; allowed: a file that ends in .svg, .png or .pdf");
  if (source == PictureSource::record || suffix != ".svg") check_python_report("--picture " + path);
}

void check_picture(const std::string& path, PictureSource source, comm::Transport& transport) {
  if (path.empty()) return;
  collective_try([&] {
    comm::agree(transport, [&] {
      if (transport.rank() == 0) check_picture(path, source);
    });
  });
}

void write_picture(const std::string& path, const std::string& svg) {
  if (path.empty()) return;
  if (is_stream(path) || suffix_of(path) == ".svg")
    write_text_file(path, svg);
  else
    draw_text(path, svg, ".svg");
}

void write_record_picture(const std::string& path, const Json& record) {
  if (!path.empty()) draw_text(path, json_text(record) + '\n', ".json");
}

}  // namespace merganser::app
