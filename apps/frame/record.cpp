// Run records: the JSON of options, provenance, summaries and communication counters, and the writing of result files.
#include "apps/frame/record.hpp"

#include <iostream>

#include "apps/frame/environment.hpp"
#include "apps/frame/provenance.hpp"
#include "apps/frame/secrets.hpp"
#include "merganser/base/output_file.hpp"
#include "merganser/comm/runtime.hpp"

namespace merganser::app {
namespace {

/// Names of the communication counters in run records.
constexpr std::pair<const char*, std::int64_t comm::Counters::*> kCounters[] = {
    {"messages", &comm::Counters::messages}, {"bytes", &comm::Counters::bytes},
    {"waves", &comm::Counters::waves},       {"puts", &comm::Counters::puts},
    {"gets", &comm::Counters::gets},         {"bytes_got", &comm::Counters::bytes_got},
    {"records", &comm::Counters::records},   {"syncs", &comm::Counters::syncs},
    {"epochs", &comm::Counters::epochs},     {"collectives", &comm::Counters::collectives},
};
static_assert(sizeof(comm::Counters) == std::size(kCounters) * sizeof(std::int64_t),
              "a counter that records leave out");

/// Returns the object `provenance` of a run record: build, host, load, time, ranks and model.
Json provenance_json(const RunPlacement& p) {
  const BuildInfo b = build_info();
  const Machine m = machine();
  return {{"version", b.version},
          {"git", b.git},
          {"compiler", b.compiler},
          {"flags", b.flags},
          {"build_type", b.build_type},
          {"mpi", comm::mpi_library()},
          {"openshmem", comm::shmem_library()},
          {"cpu", m.cpu},
          {"cores", m.cores},
          {"all_cores", m.all_cores},
          {"vectors", m.vectors},
          {"memory_bytes", m.memory_bytes},
          {"kernel", m.kernel},
          {"load_average", m.load_before},
          {"time", utc_time()},
          {"host", bytes_to_utf8(host_name())},
          {"ranks", p.ranks},
          {"model", p.model},
          {"auto_choice", p.choice},
          {"decorators", p.decorators},
          {"decomposition", p.decomposition}};
}

}  // namespace

// Part of a run record that depends on the rank's process: its cores and the state of its communication libraries.
Json environment_json() {
  return {{"binding", core_list()}, {"variables", library_variables()}, {"components", loaded_components()}};
}

void set_environment(Json& record, const Json& of_ranks) {
  for (const char* key : {"binding", "variables", "components"})
    if (of_ranks.is_object() && of_ranks.contains(key)) record["provenance"][key] = of_ranks[key];
}

namespace {

// Value of an option in a run record, by its type; texts may hold secrets, which are masked.
Json plain_json(std::monostate) { return nullptr; }
Json plain_json(const std::string& value) { return without_secrets(value); }
Json plain_json(const std::vector<std::string>& value) { return words_without_secrets(value); }
Json plain_json(const auto& value) { return value; }

}  // namespace

Json value_json(const OptionValue& value) {
  return std::visit([](const auto& v) { return plain_json(v); }, value);
}

Json options_json(const OptionTable& table) {
  Json out = Json::object();
  for (const auto& o : table.options()) out[o.name] = value_json(o.value());
  return out;
}

// Head of a run record, the same for all commands: schema, command line, options and provenance.
Json make_record(const Invocation& in, const RunPlacement& placement) {
  Json r;
  r["schema"] = "merganser-run-record";
  r["schema_version"] = kRecordVersion;
  r["command"] = in.command;
  r["arguments"] = words_without_secrets({in.arguments.begin(), in.arguments.end()});
  r["options"] = options_json(in.table);
  r["provenance"] = provenance_json(placement);
  set_environment(r, environment_json());
  return r;
}

Json summary_json(const Summary& s) {
  return {{"min", s.min}, {"median", s.median}, {"mean", s.mean}, {"max", s.max}, {"count", s.count}};
}

Json counters_json(const comm::Counters& c) {
  Json out = Json::object();
  for (const auto& [name, member] : kCounters) out[name] = c.*member;
  return out;
}

comm::Counters parse_counters(const Json& json) {
  comm::Counters c;
  for (const auto& [name, member] : kCounters) json.at(name).get_to(c.*member);
  return c;
}

// Writes a text to a file, or to standard output for "-"; every report and picture of a command ends here.
void write_text_file(const std::string& path, const std::string& text) {
  if (path == "-") {
    write_result_text(text);
  } else {
    write_file(path, text);
  }
}

std::string written_line(const std::vector<std::string>& paths) {
  std::string files;
  for (const auto& path : paths)
    if (!path.empty() && path != "-") files += (files.empty() ? "wrote " : ", ") + path;
  return files.empty() ? files : files + '\n';
}

void write_record(const std::string& path, const Json& record) { write_text_file(path, json_text(record, 1) + '\n'); }

void write_result(const std::string& path, const Invocation& in, Json result, const RunPlacement& placement) {
  if (path.empty()) return;
  Json record = make_record(in, placement);
  record["result"] = std::move(result);
  write_record(path, record);
}

}  // namespace merganser::app
