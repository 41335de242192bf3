// Checks of the files that a command line names: no result overwrites an input or another result.
#include "apps/frame/paths.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/base/file_identity.hpp"
#include "merganser/base/output_file.hpp"
#include "merganser/comm/runtime.hpp"
#include "merganser/io/output_name.hpp"

namespace merganser::app {
namespace {

/// File that one option of the command line names, with its role and, if it can be determined, its identity on the file system.
struct NamedFile {
  std::string option;                    ///< option or argument that names the file
  std::string path;                      ///< path of the file as given
  FileRole role;                         ///< role of the file: read or written
  std::optional<FileIdentity> identity;  ///< file that the path leads to
  bool whole = false;                    ///< path with the format behind it, of an option that is listed without it too
};

/// Returns the paths in the value of an option: its texts; none for a value of another type.
std::vector<std::string> option_strings(const OptionValue& value) {
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) return *list;
  if (const auto* one = std::get_if<std::string>(&value)) return {*one};
  return {};
}

/// Returns the files that reading the graph file `path` may open besides: the parts of a BVGraph, and the graph of "GRAPH:BYTES".
std::vector<std::string> companion_files(const std::string& path) {
  std::vector<std::string> out;
  for (const char* extension : {".graph", ".properties", ".offsets"}) out.push_back(path + extension);
  if (const auto dot = path.rfind('.'); dot != std::string::npos && path.substr(dot) == ".graph")
    for (const char* extension : {".properties", ".offsets"}) out.push_back(path.substr(0, dot) + extension);
  if (const auto colon = path.rfind(':'); colon != std::string::npos) out.push_back(path.substr(0, colon));
  return out;
}

/// Returns all files that the given options name, and existing companions of those that are read. @throws UsageError for an empty
/// name
std::vector<NamedFile> named_files(const OptionTable& table) {
  std::vector<NamedFile> out;
  for (const auto& o : table.options()) {
    if (o.role == FileRole::none || !o.given) continue;
    const std::string name = o.positional ? o.name : "--" + o.name;
    for (const auto& given : option_strings(o.value())) {
      // "a.h5:openpmd" is a.h5, unless it is read and a file has this very name.
      const std::string path = o.role == FileRole::writes ? io::strip_format(given) : given;
      if (path.empty()) throw UsageError(name + ": \"\"; allowed: the name of a file");
      out.push_back({name, path, o.role, path == "-" ? std::nullopt : file_identity(path), false});
      // Only some results name a format in this way: the others are files of the very name that was given.
      if (path != given) out.push_back({name, given, o.role, file_identity(given), true});
      if (o.role != FileRole::reads) continue;
      for (const auto& more : companion_files(path))
        if (auto id = file_identity(more); id && id->name.empty())
          out.push_back({name, more, o.role, std::move(id), false});
    }
  }
  return out;
}

/// Returns true if two options name one regular file, or both standard output for the same purpose.
bool is_same_file(const NamedFile& a, const NamedFile& b) {
  if (a.path == "-" || b.path == "-") return a.path == b.path && a.role == b.role;
  return a.identity && b.identity && a.identity->plain && *a.identity == *b.identity;
}

/// Returns true if a file is called as one of the steps of a series in the same folder: rt_0001.vtu of rt.pvd.
bool is_step_of(const NamedFile& series, const NamedFile& file) {
  const std::filesystem::path list(series.path), step(file.path);
  if (!io::has_suffix(series.path, ".pvd") || !io::has_suffix(file.path, ".vtu")) return false;
  const std::string begin = list.stem().string() + "_", name = step.stem().string();
  if (!name.starts_with(begin) || name.find_first_not_of("0123456789", begin.size()) != std::string::npos) return false;
  const auto folder = [](const std::filesystem::path& p) { return file_identity((p.parent_path() / ".").string()); };
  return folder(list) == folder(step);
}

/// Refuses a result that is the same file as another result or as an input. @throws UsageError
void check_distinct_files(const NamedFile& result, const NamedFile& other) {
  if (other.role == FileRole::writes && (is_step_of(result, other) || is_step_of(other, result)))
    throw UsageError(result.option + ": \"" + result.path + "\" and " + other.option + ": \"" + other.path +
                     "\" are a series and a file that is called as its steps; allowed: another name");
  if (!is_same_file(result, other)) return;
  if (result.path == "-")
    throw UsageError(other.option + " and " + result.option + " both to standard output; allowed: one");
  const bool read = other.role == FileRole::reads;
  throw UsageError(result.option + ": \"" + result.path + "\" is " + (read ? "read as " : "also written as ") +
                   other.option + (other.path == result.path ? "" : " (\"" + other.path + "\")") +
                   "; allowed: a file of its own");
}

}  // namespace

// Check of every verb before its work: no result overwrites an input or another result.
void check_paths(const OptionTable& table) {
  const std::vector<NamedFile> files = named_files(table);
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].role != FileRole::writes) continue;
    for (std::size_t k = 0; k < files.size(); ++k)
      if ((k < i && !(files[i].whole && k + 1 == i)) || files[k].role == FileRole::reads)
        check_distinct_files(files[i], files[k]);
    if (!comm::launched() && !files[i].whole) check_output(files[i].path);
  }
}

namespace {
std::streambuf* results = nullptr;  // buffer of standard output while it is reserved
int holders = 0;                    // objects that reserve it: several where simulated ranks share a process
bool failed = false;                // a result could not be written there
}  // namespace

ReservedOutput::ReservedOutput(const OptionTable& table) {
  if (can_print_report(table)) return;
  holds_ = true;
  if (holders++ > 0) return;
  std::cout.flush();
  results = std::cout.rdbuf(std::cerr.rdbuf());
}

ReservedOutput::~ReservedOutput() {
  if (!holds_ || --holders > 0) return;
  std::cout.flush();
  std::cout.rdbuf(results);  // clears the state of std::cout
  if (failed) std::cout.setstate(std::ios::badbit);
  results = nullptr;
}

void write_result_text(const std::string& text) {
  if (results == nullptr) {
    std::cout << text;
    return;
  }
  std::ostream out(results);
  out << text << std::flush;
  if (!out) failed = true;
}

bool can_print_report(const OptionTable& table) {
  return std::none_of(table.options().begin(), table.options().end(),
                      [](const Option& o) { return o.role == FileRole::writes && value_text(o.value()) == "-"; });
}

}  // namespace merganser::app
