// Comparison of settings of the MPI library for doctor --measure: launches of two ranks with each candidate, in turns.
#include "apps/doctor/settings_comparison.hpp"

#include <fmt/core.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "apps/frame/elsewhere.hpp"
#include "apps/frame/launcher.hpp"
#include "apps/frame/table.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/private_folder.hpp"
#include "merganser/stats/summary.hpp"

namespace merganser::app {
namespace {

constexpr double kSeconds = 0.1;     // duration of each measurement; starting MPI takes longer
constexpr double kLaunchLimit = 20;  // seconds after which a launch is ended
constexpr double kSame = 1.15;       // ratios of times below are noise

constexpr const char* kOsc = "OMPI_MCA_osc";
constexpr const char* kPriority = "OMPI_MCA_osc_rdma_priority";
constexpr const char* kYield = "OMPI_MCA_mpi_yield_when_idle";

/// Returns true if the version text of an MPI library contains a name, as "Open MPI".
bool contains_text(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// Returns true if `merganser run` exports an environment variable.
bool is_exported(const char* name) {
  const auto settings = launch_settings(find_launcher());
  return std::any_of(settings.begin(), settings.end(), [&](const auto& s) { return s.name == name; });
}

/// Adds the candidates of settings to compare for Open MPI: without settings of merganser run, and with other components, if they
/// are installed.
void add_open_mpi(const std::vector<std::string>& components, std::vector<Candidate>& out) {
  const auto there = [&](const std::string& name) {
    return components.empty() || std::find(components.begin(), components.end(), name) != components.end();
  };
  if (is_exported(kPriority)) out.push_back({"osc_rdma_priority not set", {{kPriority, std::nullopt}}});
  if (is_exported(kOsc))
    out.push_back({"osc, osc_rdma_priority not set", {{kOsc, std::nullopt}, {kPriority, std::nullopt}}});
  for (const char* osc : {"sm", "rdma", "pt2pt", "ucx"})
    if (there(std::string("osc:") + osc)) out.push_back({std::string("osc=") + osc, {{kOsc, osc}}});
  const std::string shared = there("btl:vader") ? "vader" : "sm";
  const auto over = [](const std::string& btl) {
    return Candidate{"pml=ob1 btl=self," + btl, {{"OMPI_MCA_pml", "ob1"}, {"OMPI_MCA_btl", "self," + btl}}};
  };
  out.push_back(over(shared));
  if (there("btl:tcp")) out.push_back(over("tcp"));
  if (there("pml:ucx"))
    out.push_back({"pml=ucx, any device",
                   {{"OMPI_MCA_pml", "ucx"}, {"OMPI_MCA_pml_ucx_tls", "any"}, {"OMPI_MCA_pml_ucx_devices", "any"}}});
}

/// Adds the candidates of settings to compare for MPICH: without shared memory, and with other providers or transports of its
/// device.
void add_mpich(const std::string& library, std::vector<Candidate>& out) {
  out.push_back({"MPIR_CVAR_NOLOCAL=1", {{"MPIR_CVAR_NOLOCAL", "1"}}});
  if (contains_text(library, "ch4:ofi"))
    for (const char* provider : {"tcp", "sockets", "shm"})
      out.push_back({std::string("FI_PROVIDER=") + provider, {{"FI_PROVIDER", provider}}});
  if (contains_text(library, "ch4:ucx"))
    for (const char* transports : {"sm,self", "tcp,self"})
      out.push_back({std::string("UCX_TLS=") + transports, {{"UCX_TLS", transports}}});
}

/// Guard that sets the environment variables of a candidate of settings in this process, and restores them at its end.
class Variables {
 public:
  explicit Variables(const Candidate& candidate) {
    for (const auto& [name, value] : candidate.variables) {
      const char* before = std::getenv(name.c_str());
      before_.emplace_back(name, before != nullptr ? std::optional<std::string>(before) : std::nullopt);
      set(name, value);
    }
  }
  ~Variables() {
    for (const auto& [name, value] : before_) set(name, value);
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;

 private:
  /// Sets an environment variable of this process; no value: unsets it.
  static void set(const std::string& name, const std::optional<std::string>& value) {
    if (value) ::setenv(name.c_str(), value->c_str(), 1);
    if (!value) ::unsetenv(name.c_str());
  }
  std::vector<std::pair<std::string, std::optional<std::string>>> before_;  // former values
};

/// Returns the first core in the affinity mask of this process; 0 if the system does not give it.
int first_core() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 0;
  int core = 0;
  while (core + 1 < CPU_SETSIZE && !CPU_ISSET(static_cast<std::size_t>(core), &set)) ++core;
  return core;
}

/// Launches two ranks with a candidate's settings and appends their times of a ping and a put, or sets `failure`.
void measure_once(MeasuredSettings& measured) {
  const Variables variables(measured.candidate);
  PrivateFolder folder(shared_folder());
  const std::string path = folder.file("pair.cbor");
  std::vector<std::string> arguments{"pair", fmt::format("--seconds={}", kSeconds), "--results=" + path};
  if (measured.candidate.oversubscribed) arguments.push_back(fmt::format("--core={}", first_core()));
  LaunchPlan plan = plan_launch(2, arguments, true);
  std::erase_if(plan.exports, [&](const auto& s) {
    const auto& own = measured.candidate.variables;
    return std::any_of(own.begin(), own.end(), [&](const auto& variable) { return variable.first == s.name; });
  });
  const JobEnd end = run_job(plan, kLaunchLimit);
  if (end.code != 0) {
    measured.failure = end.code == kTimedOut ? fmt::format("did not end within {} s", kLaunchLimit)
                       : !end.why.empty()    ? end.why
                                             : fmt::format("the launch ended with exit code {}", end.code);
    return;
  }
  const Json told = read_cbor(path);
  measured.pings.push_back(told.at("ping_s").get<double>());
  if (const double put = told.at("put_flush_s").get<double>(); put > 0) measured.puts.push_back(put);
  measured.failure = utf8_to_bytes(told.at("put_error").get<std::string>());
}

/// Returns the median over rounds of a ping's or put's times, s; 0 without times.
double median_or_zero(const std::vector<double>& times) { return times.empty() ? 0 : median(times); }

/// Formats the median time of a ping or put; "-" without times.
std::string time_text(const std::vector<double>& times) {
  return times.empty() ? "-" : seconds_text(median_or_zero(times));
}

/// Formats the ratio of a candidate's median time to that with the settings of merganser run; "-" where one is missing.
std::string factor_text(const std::vector<double>& times, const std::vector<double>& base) {
  if (times.empty() || base.empty()) return "-";
  return fixed_text(median_or_zero(times) / median_or_zero(base), 2);
}

/// Returns the measured times with the settings of merganser run that a candidate is compared with, of the same kind: both ranks on
/// cores of their own, or on one.
const MeasuredSettings& find_base(const std::vector<MeasuredSettings>& measured, const MeasuredSettings& one) {
  return *std::find_if(measured.begin(), measured.end(), [&](const MeasuredSettings& p) {
    return p.candidate.oversubscribed == one.candidate.oversubscribed;
  });
}

/// Formats the verdict of doctor --measure on one setting of merganser run, as "SETTING is right: without it a put takes 16 times
/// as long".
/// @param with, without  times in seconds; 0: could not be measured
std::string format_verdict(const std::string& setting, const std::string& what, double with, double without) {
  if (with == 0 || without == 0) return setting + " is right: without it there is no " + what;
  const double factor = without / with;
  if (factor > kSame)
    return fmt::format("{} is right: without it a {} takes {:.1f} times as long", setting, what, factor);
  if (factor > 1 / kSame) return fmt::format("{} changes nothing here for a {}", setting, what);
  return fmt::format("{} is WRONG here: without it a {} takes {:.2f} of the time", setting, what, factor);
}

}  // namespace

// Components of Open MPI from lines such as "mca:osc:sm:version:...": the two words after "mca", each pair once.
std::vector<std::string> parse_components(const std::string& parsable) {
  std::vector<std::string> out;
  std::istringstream lines(parsable);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("mca:")) continue;
    const auto framework = line.find(':', 4);
    const auto component = framework == std::string::npos ? framework : line.find(':', framework + 1);
    if (component == std::string::npos) continue;
    const std::string name = line.substr(4, component - 4);
    if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
  }
  return out;
}

// Candidates of doctor --measure: the present settings first, then each setting left out or replaced.
std::vector<Candidate> make_candidates(const std::string& library, const std::vector<std::string>& components) {
  std::vector<Candidate> out{{"as merganser run sets it", {}}};
  if (contains_text(library, "Open MPI")) add_open_mpi(components, out);
  if (contains_text(library, "MPICH")) add_mpich(library, out);
  if (contains_text(library, "Intel"))
    for (const char* fabric : {"shm", "ofi"})
      out.push_back({std::string("I_MPI_FABRICS=") + fabric, {{"I_MPI_FABRICS", fabric}}});
  out.push_back({"both ranks on one core", {}, true});
  if (contains_text(library, "Open MPI"))
    out.push_back({"both on one core, mpi_yield_when_idle=0", {{kYield, "0"}}, true});
  return out;
}

// Verdicts of doctor --measure on settings, by medians of times and a ratio that exceeds the noise.
std::vector<std::string> verdicts(const std::vector<MeasuredSettings>& measured) {
  std::vector<std::string> out;
  const auto put = [](const MeasuredSettings& p) { return median_or_zero(p.puts); };
  for (const MeasuredSettings& p : measured) {
    const auto& variables = p.candidate.variables;
    if (variables.empty()) continue;
    const MeasuredSettings& base = find_base(measured, p);
    const std::string& name = variables.front().first;
    const bool unset = !variables.front().second;
    if (unset && name == kPriority) out.push_back(format_verdict(kPriority, "put", put(base), put(p)));
    if (unset && name == kOsc)
      out.push_back(format_verdict(std::string(kOsc) + " with " + kPriority, "put", put(base), put(p)));
    if (p.candidate.oversubscribed && name == kYield)
      out.push_back(format_verdict(kYield, "ping between ranks that share a core", median_or_zero(base.pings),
                                   median_or_zero(p.pings)));
  }
  if (measured.empty()) return out;
  const MeasuredSettings& base = measured.front();
  for (const MeasuredSettings& p : measured) {
    if (p.candidate.oversubscribed || p.candidate.variables.empty()) continue;
    if (!p.puts.empty() && put(base) > 0 && put(base) / put(p) > kSame)
      out.push_back(fmt::format("{} is faster for puts here, {:.1f} times: {}", p.candidate.text, put(base) / put(p),
                                "it may not serve between hosts, or on one rank; see the documents"));
    if (!p.pings.empty() && median_or_zero(base.pings) / median_or_zero(p.pings) > kSame)
      out.push_back(fmt::format("{} is faster for messages here, {:.1f} times", p.candidate.text,
                                median_or_zero(base.pings) / median_or_zero(p.pings)));
  }
  return out;
}

// Measurement of `doctor --measure`, in rounds, so that a slow phase of the machine affects all candidates of settings.
std::vector<MeasuredSettings> measure_settings(int rounds) {
  const Launcher launcher = find_launcher();
  std::vector<std::string> components;
  if (contains_text(comm::mpi_library(), "Open MPI")) {
    const auto info = std::filesystem::path(launcher.path).parent_path() / "ompi_info";
    components = parse_components(capture_output({info.string(), "--parsable"}, 10, std::size_t{1} << 20));
  }
  std::vector<MeasuredSettings> measured;
  for (auto& candidate : make_candidates(comm::mpi_library(), components))
    measured.push_back({std::move(candidate), {}, {}, {}});
  for (int round = 0; round < rounds; ++round)
    for (MeasuredSettings& one : measured)
      if (one.failure.empty() || !one.pings.empty()) measure_once(one);
  if (measured.front().pings.empty())
    throw CommError("two ranks with the settings of merganser run: " + measured.front().failure);
  return measured;
}

// Table of doctor --measure: times of a put and a ping by candidate of settings, ratios, failures, verdicts.
std::string comparison_text(const std::vector<MeasuredSettings>& measured, int rounds) {
  Table table({"settings", "put+flush 8 B", "factor", "ping 8 B", "factor"});
  std::string failures;
  for (const MeasuredSettings& p : measured) {
    const MeasuredSettings& base = find_base(measured, p);
    table.row({p.candidate.text, time_text(p.puts), factor_text(p.puts, base.puts), time_text(p.pings),
               factor_text(p.pings, base.pings)});
    if (!p.failure.empty()) failures += "  " + p.candidate.text + ": " + p.failure + '\n';
  }
  std::string out = fmt::format(
      "\nsettings measured: two ranks, in turns, launches of each: {}; medians, factors against the settings of "
      "merganser run\n",
      rounds);
  std::istringstream lines(table.text());
  for (std::string line; std::getline(lines, line);) out += "  " + line + '\n';
  out += failures;
  for (const auto& line : verdicts(measured)) out += "  " + line + '\n';
  out += "  the other settings prevent crashes and refusals, or enlarge buffers, which no time shows\n";
  return out;
}

Json comparison_json(const std::vector<MeasuredSettings>& measured, int rounds) {
  Json out;
  out["rounds"] = rounds;
  out["candidates"] = Json::array();
  for (const MeasuredSettings& p : measured) {
    Json variables = Json::object();
    for (const auto& [name, value] : p.candidate.variables) variables[name] = value ? Json(*value) : Json(nullptr);
    out["candidates"].push_back({{"settings", p.candidate.text},
                                 {"variables", variables},
                                 {"ranks_share_a_core", p.candidate.oversubscribed},
                                 {"put_flush_s", p.puts},
                                 {"ping_s", p.pings},
                                 {"failure", bytes_to_utf8(p.failure)}});
  }
  out["verdicts"] = verdicts(measured);
  return out;
}

}  // namespace merganser::app
