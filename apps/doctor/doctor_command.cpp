// doctor: report on communication models, launcher, settings and machine, with warnings. Starts neither MPI nor OpenSHMEM in this
// process.
#include <fmt/core.h>

#include <cstdlib>
#include <iostream>

#include "apps/doctor/hints.hpp"
#include "apps/doctor/settings_comparison.hpp"
#include "apps/frame/command.hpp"
#include "apps/frame/launcher.hpp"
#include "apps/frame/provenance.hpp"
#include "apps/frame/record.hpp"
#include "apps/frame/secrets.hpp"
#include "apps/frame/table.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/vectors.hpp"
#include "merganser/nearest/cell_list.hpp"

namespace merganser::app {
namespace {

/// Options of the command doctor, filled by the option parser.
struct DoctorCommand {
  std::string json;      ///< path of the report as JSON; empty: none
  std::string record;    ///< record of topo bench to derive hints from; empty: none
  bool measure = false;  ///< true: measure exchanges between two ranks
  int rounds = 3;        ///< launches with each candidate of MPI settings
};
/// Lists the command-line options of doctor, with their help texts and checks, for the option parser.
template <class V>
void describe(DoctorCommand& o, V&& option) {
  option("measure", o.measure,
         "measure between two ranks, with and without the settings of merganser run; about half a minute");
  option("rounds", o.rounds, "launches with each of the settings that --measure compares", at_least(1),
         UsedWith{"--measure"});
  option("record", o.record, "look at this record of topo bench", Kind{"FILE"}, Reads{});
  option("json", o.json, "the same as JSON (- for standard output)", Kind{"FILE"}, Writes{});
}

/// Returns the value of an environment variable; null if it is not set or empty.
const char* variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value != nullptr && *value != 0 ? value : nullptr;
}

/// Returns the warnings of doctor about environment variables, launcher and load that are known to cause failures or distorted
/// times.
std::vector<std::string> find_warnings() {
  std::vector<std::string> out;
  const bool open_mpi = comm::shmem_library().find("open-mpi") != std::string::npos;
  if (open_mpi && variable("SHMEM_SYMMETRIC_SIZE") != nullptr && variable("SHMEM_SYMMETRIC_HEAP_SIZE") == nullptr)
    out.emplace_back(
        "SHMEM_SYMMETRIC_SIZE is set, but Open MPI's OpenSHMEM ignores it; it reads "
        "SHMEM_SYMMETRIC_HEAP_SIZE");
  if (variable("SHMEM_SYMMETRIC_HEAP_SIZE") != nullptr && variable("SMA_SYMMETRIC_SIZE") != nullptr)
    out.emplace_back("SHMEM_SYMMETRIC_HEAP_SIZE and SMA_SYMMETRIC_SIZE are both set; different values stop OpenSHMEM");
  for (const auto& s : launch_settings(find_launcher()))
    if (const char* value = variable(s.name); value != nullptr && s.value != value && s.name.starts_with("OMPI_"))
      out.push_back(s.name + " is " + without_secrets(value) + ", " + s.value + " is advised: " + s.why);
  if (const Launcher l = find_launcher(); !l.problem.empty())
    out.push_back(l.problem + "; ranks as threads work without (--ranks N)");
  const Machine m = machine();
  if (m.load[0] > 0.5 * m.all_cores)
    out.push_back(
        fmt::format("the load is {} on {}: timings will suffer", fixed_text(m.load[0], 1), cores_text(m.all_cores)));
  return out;
}

/// Prints the part of doctor's report on this host: processor, vector instructions, memory, load, kernel.
void print_machine() {
  const Machine m = machine();
  std::cout << "\nmachine\n  cpu        " << m.cpu << ", " << cores_text(m.cores) << " for this process\n  vectors    "
            << m.vectors << "; kernels run on " << nearest::CellList::vector_target() << " of "
            << joined(vector_targets(), ", ");
  if (const char* forced = variable("MERGANSER_SIMD")) std::cout << " (MERGANSER_SIMD=" << forced << ')';
  std::cout << "\n  memory     " << bytes_text(static_cast<double>(m.available_bytes)) << " free of "
            << bytes_text(static_cast<double>(m.memory_bytes)) << "\n  load       " << fixed_text(m.load[0], 2) << ' '
            << fixed_text(m.load[1], 2) << ' ' << fixed_text(m.load[2], 2) << "\n  system     " << m.kernel << '\n';
}

/// Prints the part of doctor's report on communication models: those built, those missing, faults of libraries that are avoided.
void print_models() {
  std::cout << "\ncommunication models\n";
  for (const auto& b : comm::backends()) {
    std::string name(b.name);
    name.resize(14, ' ');
    std::cout << "  " << name << b.description << (b.processes ? " (needs a launcher for several ranks)" : "") << '\n';
  }
  for (const auto& m : comm::missing_backends()) std::cout << "  missing: " << m << '\n';
  for (const auto& fault : comm::library_faults()) std::cout << "  fault of the library, avoided: " << fault << '\n';
  if (const char* pin = variable("MERGANSER_COMM")) std::cout << "  MERGANSER_COMM=" << pin << " replaces auto\n";
}

/// Prints the part of doctor's report on the launcher, if it fits the MPI library, and on the settings that merganser run exports.
void print_launcher() {
  const Launcher l = find_launcher();
  std::cout << "\nlauncher\n";
  if (l.path.empty()) {
    std::cout << "  " << l.problem << '\n';
  } else {
    std::cout << "  " << l.path << ", " << (l.version.empty() ? l.family : l.version)
              << (l.problem.empty() ? "; fits the library" : "; DOES NOT FIT: " + l.problem) << '\n';
    if (!l.options.empty()) std::cout << "  is called with " << joined(l.options, " ") << '\n';
  }
  if (comm::launched())
    std::cout << "  this is rank " << comm::launcher_world().rank << " of " << comm::launcher_world().size << '\n';
  const auto settings = launch_settings(l);
  if (settings.empty()) return;
  std::cout << "\nsettings that merganser run exports\n";
  for (const auto& s : settings) {
    const char* value = variable(s.name);
    std::cout << "  " << s.name << '=' << s.value;
    if (value != nullptr) std::cout << "   (set already, to " << without_secrets(value) << "; kept)";
    std::cout << "\n      " << s.why << '\n';
  }
}

/// Returns the hints of doctor from settings and, if the options ask for them, from a record and from a measurement.
std::vector<Hint> collect_hints(const DoctorCommand& o) {
  std::vector<Hint> out = setting_hints(read_surroundings());
  const auto add = [&out](const std::vector<Hint>& more) { out.insert(out.end(), more.begin(), more.end()); };
  const auto packages = measured_hints_of_packages();
  if (!o.record.empty() && packages.empty())
    throw UsageError(
        "--record: this program was built without the package topology, which reads records of topo bench");
  if (!o.record.empty())
    for (const MeasuredHints* p : packages) add(p->of_record(o.record));
  if (!o.measure) return out;
  if (const Launcher l = find_launcher(); !l.problem.empty())
    throw CommError("--measure starts two ranks, but " + l.problem);
  if (comm::launched()) throw UsageError("--measure starts ranks itself; call doctor without a launcher");
  for (const MeasuredHints* p : packages) add(p->of_measurement());
  return out;
}

/// Makes the report of doctor as JSON. @param measured  compared settings; empty: nothing was measured
Json doctor_json(const std::vector<Hint>& hints, const std::vector<MeasuredSettings>& measured, int rounds) {
  Json out;
  const BuildInfo b = build_info();
  const Machine m = machine();
  const Launcher l = find_launcher();
  out["schema"] = "merganser-doctor";
  out["schema_version"] = kRecordVersion;
  out["version"] = b.version;
  out["git"] = b.git;
  out["compiler"] = b.compiler;
  out["flags"] = b.flags;
  out["mpi"] = comm::mpi_library();
  out["openshmem"] = comm::shmem_library();
  out["cpu"] = m.cpu;
  out["cores"] = m.cores;
  out["vectors"] = m.vectors;
  out["vector_target"] = nearest::CellList::vector_target();
  out["vector_targets"] = vector_targets();
  out["memory_bytes"] = m.memory_bytes;
  out["load_average"] = m.load;
  out["models"] = json_list(comm::backends(), [](const comm::Backend& b) { return b.name; });
  out["missing"] = comm::missing_backends();
  out["library_faults"] = comm::library_faults();
  out["launcher"] = {{"path", l.path},       {"version", l.version}, {"family", l.family},
                     {"options", l.options}, {"problem", l.problem}, {"library", library_text()}};
  out["settings"] = json_list(launch_settings(find_launcher()), [](const comm::Setting& s) {
    return Json{{"name", s.name}, {"value", s.value}, {"why", s.why}};
  });
  out["warnings"] = find_warnings();
  out["hints"] = hints_json(hints);
  if (!measured.empty()) out["settings_measured"] = comparison_json(measured, rounds);
  return out;
}

/// Body of the command doctor: prints the report, and measures if asked to.
int run(DoctorCommand& o, const Invocation&) {
  const auto hinted = collect_hints(o);
  std::vector<MeasuredSettings> measured;
  if (o.measure && comm::mpi_library() != "none") measured = measure_settings(o.rounds);
  if (!o.json.empty()) {
    write_record(o.json, doctor_json(hinted, measured, o.rounds));
    if (o.json == "-") return 0;
  }
  std::cout << version_text();
  print_machine();
  print_models();
  print_launcher();
  if (!measured.empty()) std::cout << comparison_text(measured, o.rounds);
  const auto found = find_warnings();
  std::cout << (found.empty() && hinted.empty() ? "\nnothing to worry about\n" : "\nlook at this\n");
  for (const auto& w : found) std::cout << "  - " << w << '\n';
  std::cout << hints_text(hinted);
  return 0;
}

constexpr std::string_view kDoctorText =
    "Says what this program was built with and what it finds here: communication models, launcher, the settings that\n"
    "work around faults of the installed libraries, vector extensions, memory and load, and what looks misconfigured.\n"
    "Starts nothing but, with --measure, pairs of ranks: one pair for what exchanges cost, and pairs with and without\n"
    "each of the settings, and with other components of the library, which shows which of them are right here.\n";

}  // namespace

extern const Command doctor_command;
const Command doctor_command =
    make_command<DoctorCommand, run>("doctor", "say what is here and what is missing", kDoctorText);

}  // namespace merganser::app
