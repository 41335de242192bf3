// Readers of traffic: run records, traces, files of Open MPI's monitoring.
// Files come from anywhere; sums of their counts are checked against 64 bits.
#include "apps/topo/extract_sources.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>

#include "apps/frame/table.hpp"
#include "apps/frame/traffic_json.hpp"
#include "merganser/base/error.hpp"
#include "merganser/graphs/process_graph_files.hpp"
#include "merganser/topology/monitoring.hpp"
#include "merganser/topology/traffic.hpp"

namespace merganser::app {
namespace {

namespace fs = std::filesystem;

/// Kind of a file that topo extract reads traffic from, by its content.
enum class FileContent : std::uint8_t { json, trace, monitoring, other };

/// One file that topo extract reads traffic from, read whole by read_all().
struct SourceFile {
  std::string path;
  std::string text;  ///< all bytes of the file
  FileContent content = FileContent::other;
};

/// Returns the kind of a traffic file by the first bytes of its text.
FileContent content_kind(const std::string& text) {
  if (topology::is_trace_part(text)) return FileContent::trace;
  if (topology::is_monitoring(text)) return FileContent::monitoring;
  const auto first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && text[first] == '{' ? FileContent::json : FileContent::other;
}

/// Lists the parts of a trace (rank-N.trace) in a folder, else its files of Open MPI's monitoring (.prof), sorted by name.
/// @throws InputError if it has neither
std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> traces;
  std::vector<std::string> monitored;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with("rank-") && name.ends_with(".trace")) traces.push_back(at->path().string());
    if (name.ends_with(".prof")) monitored.push_back(at->path().string());
  }
  if (error) throw InputError("cannot read " + folder + ": " + error.message());
  auto& found = traces.empty() ? monitored : traces;
  if (found.empty()) {
    throw InputError(folder + ": no part of a trace (rank-N.trace) and no file of Open MPI's monitoring (.prof) in it");
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// Reads the files of topo extract --from whole, and the trace or monitoring files in folders. @throws InputError
std::vector<SourceFile> read_all(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const auto& path : paths) {
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) {
      files.push_back(path);
      continue;
    }
    const auto inside = files_in(path);
    files.insert(files.end(), inside.begin(), inside.end());
  }
  std::vector<SourceFile> sources;
  for (const auto& file : files) {
    SourceFile source{file, read_text(file)};
    source.content = content_kind(source.text);
    sources.push_back(std::move(source));
  }
  return sources;
}

/// Adds a count of a trace or monitoring file to a total. @throws InputError if the sum needs more than 64 bits
void add(std::int64_t& total, std::int64_t more, const std::string& path, const std::string& what) {
  if (more > std::numeric_limits<std::int64_t>::max() - total)
    throw InputError(path + ": " + what + ", with those before, are more than 64 bits can count");
  total += more;
}

/// Returns a count in an object of a run record; 0 if it is missing. @throws InputError if it is no whole number from 0 on
std::int64_t read_count(const Json& object, const char* key, const std::string& path) {
  if (!object.contains(key)) return 0;
  const Json& n = object[key];
  if (!n.is_number_unsigned() || n.get<std::uint64_t>() > INT64_MAX)
    throw InputError(path + ": \"" + key + "\" is " + json_text(n) + "; allowed: whole numbers from 0 on");
  return n.get<std::int64_t>();
}

/// Throws InputError for a file that is none of the kinds which topo extract reads traffic from.
[[noreturn]] void refuse_other(const std::string& path) {
  throw InputError(path +
                   ": no traffic; known: run records (--json of cluster), files of topo extract (.json), parts of "
                   "a trace (rank-N.trace), files of Open MPI's monitoring (.prof)");
}

/// Returns the traffic matrix in a run record of merganser; without arcs for a record of one rank. @param notes  receives the
/// number of collective calls, which are in no arc @throws InputError if a record of several ranks has no traffic
comm::TrafficMatrix record_traffic(const Json& record, const std::string& path, std::vector<std::string>& notes) {
  if (record.contains("traffic")) {
    comm::TrafficMatrix traffic = parse_traffic(record["traffic"], path);
    if (const auto n = read_count(record.value("counters", Json::object()), "collectives", path); n > 0) {
      notes.push_back(count_text(n) + " collective calls are in no arc");
    }
    return traffic;
  }
  const std::string command = record.value("command", "?");
  const Json provenance = record.value("provenance", Json::object());
  const std::int64_t ranks = read_count(provenance, "ranks", path);
  if (ranks == 1) {
    notes.push_back("the record is of one rank, which sends nothing");
    return comm::TrafficMatrix(1, {});
  }
  throw InputError(
      fmt::format("{}: this record of \"merganser {}\" on {} ranks has no traffic; run \"merganser cluster\" under a "
                  "launcher with --json, or trace any program: merganser topo extract -n 4 -o app.bin -- PROGRAM",
                  path, command, ranks));
}

/// Reads the traffic of one JSON file: a run record, or a traffic file that topo extract wrote. @throws InputError for another
Extracted read_json_source(const SourceFile& source) {
  Extracted out;
  Json json;
  try {
    json = parse_json(source.text, source.path);
    const std::string schema = json.value("schema", "");
    if (schema == kTrafficSchema) {
      out.traffic = parse_traffic(json, source.path);
    } else if (schema == "merganser-run-record") {
      out.traffic = record_traffic(json, source.path, out.notes);
    } else {
      refuse_other(source.path);
    }
  } catch (const Json::exception& e) {
    throw InputError(source.path + ": " + e.what());
  }
  return out;
}

/// Reads the traffic of a traced program from the files rank-N.trace of all its ranks, with notes on what is in no arc: operations
/// of ranks with themselves and with other worlds, collectives, aborted ranks. @param phase  level of MPI_Pcontrol; none: all
Extracted read_trace(const std::vector<SourceFile>& sources, std::optional<int> phase) {
  std::vector<topology::TracePart> parts;
  for (const auto& source : sources) parts.push_back(topology::parse_trace_part(source.text, source.path));
  Extracted out;
  out.traffic = topology::join_trace_parts(parts, phase);
  std::int64_t self = 0;
  std::int64_t self_bytes = 0;
  std::int64_t outside = 0;
  std::int64_t outside_bytes = 0;
  int aborted = 0;
  std::map<std::string, std::int64_t> calls;
  std::map<int, std::int64_t> phases;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& part = parts[i];
    const std::string& path = sources[i].path;
    add(self, part.self_operations, path, "operations of ranks with themselves");
    add(self_bytes, part.self_bytes, path, "bytes of ranks for themselves");
    add(outside, part.outside_operations, path, "operations with ranks of other worlds");
    add(outside_bytes, part.outside_bytes, path, "bytes of ranks of other worlds");
    aborted += part.ended == "abort" ? 1 : 0;
    for (const auto& one : part.collectives) add(calls[one.name], one.calls, path, "calls of " + one.name);
    for (const auto& [level, content] : part.phases) {
      auto& entered = phases[level];
      entered = std::max(entered, content.entered);
    }
  }
  if (self > 0) {
    out.notes.push_back(count_text(self) + " operations of ranks with themselves (" +
                        bytes_text(static_cast<double>(self_bytes)) + ") are in no arc");
  }
  if (outside > 0) {
    out.notes.push_back(count_text(outside) + " operations with ranks of other worlds (" +
                        bytes_text(static_cast<double>(outside_bytes)) + ") are in no arc");
  }
  if (aborted > 0) out.notes.push_back(fmt::format("{} ranks ended by an abort: what came later is missing", aborted));
  std::string list;
  for (const auto& [name, n] : calls) list += (list.empty() ? "" : ", ") + name + " " + count_text(n);
  if (!list.empty()) out.notes.push_back("collective calls, which are in no arc: " + list);
  list.clear();
  for (const auto& [level, entered] : phases) {
    list += fmt::format("{}{} (begun {} times)", list.empty() ? "" : ", ", level, count_text(entered));
  }
  if (phases.size() > 1) out.notes.push_back("phases: " + list + "; --phase N takes one");
  return out;
}

/// Reads the traffic of a program from the files of Open MPI's monitoring, one of every rank, with notes on the messages of the
/// library itself.
Extracted read_monitoring(const std::vector<SourceFile>& sources) {
  std::vector<topology::MonitoringPart> parts;
  std::int64_t internal = 0;
  std::int64_t internal_bytes = 0;
  bool filtered = false;
  for (const auto& source : sources) {
    const auto& part = parts.emplace_back(topology::parse_monitoring(source.text, source.path));
    add(internal, part.internal_operations, source.path, "messages of the library");
    add(internal_bytes, part.internal_bytes, source.path, "bytes of the library");
    filtered = filtered || part.filtered;
  }
  Extracted out;
  out.traffic = topology::join_monitoring(parts);
  if (internal > 0) {
    out.notes.push_back(count_text(internal) + " messages of the library itself (" +
                        bytes_text(static_cast<double>(internal_bytes)) +
                        "), for collectives and windows, are in no arc");
  }
  if (!filtered) {
    out.notes.push_back(
        "the library's own messages are not told apart: if monitoring was enabled with 1, they are in "
        "the arcs; enable it with 2");
  }
  return out;
}

}  // namespace

// Traffic for topo extract: all files must be of one kind, and only trace files and monitoring files come one from every rank.
Extracted extract_traffic(const std::vector<std::string>& paths, std::optional<int> phase) {
  const auto sources = read_all(paths);
  if (sources.empty()) throw InputError("no file to take traffic from");
  for (const auto& source : sources) {
    if (source.content == FileContent::other) refuse_other(source.path);
    if (source.content != sources[0].content) {
      throw InputError(source.path + " and " + sources[0].path + " are files of different kinds");
    }
  }
  if (phase && sources[0].content != FileContent::trace) {
    throw UsageError(
        fmt::format("--phase {} with {}; allowed with parts of a trace, which know phases", *phase, sources[0].path));
  }
  if (sources[0].content == FileContent::trace) return read_trace(sources, phase);
  if (sources[0].content == FileContent::monitoring) return read_monitoring(sources);
  if (sources.size() > 1) {
    throw InputError(sources[1].path + ": a second record; traffic is taken from one record at a time");
  }
  return read_json_source(sources[0]);
}

// Process graph of topo replay and topo advise, from a graph file or from traffic. The first 64 bytes of a file decide.
graphs::ProcessGraph read_pattern(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return topology::process_graph_of(extract_traffic({path}, {}).traffic);
  std::ifstream in(path, std::ios::binary);
  if (!in) throw InputError("cannot read " + path + ": " + std::strerror(errno));
  std::string head(64, '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  // A binary graph may begin with any byte, its second is 0 below 256 ranks; a text has none.
  const bool text = head.find('\0') == std::string::npos;
  if (text && content_kind(head) != FileContent::other)
    return topology::process_graph_of(extract_traffic({path}, {}).traffic);
  return graphs::read_process_graph(path);
}

}  // namespace merganser::app
