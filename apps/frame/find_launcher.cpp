// Which program starts ranks of the MPI that this one is linked with.
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "apps/frame/environment.hpp"
#include "apps/frame/launcher.hpp"
#include "merganser/base/log.hpp"
#include "merganser/base/text.hpp"

namespace merganser::app {
namespace {

constexpr double kVersionSeconds = 10;  // far beyond what --version takes on a slow disk

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::string first_line_of(const std::string& program) {
  std::string text = output_of({program, "--version"}, kVersionSeconds, 200, true);
  text.resize(std::min(text.find('\n'), text.size()));
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.pop_back();
  return one_line(text);
}

/// What this program is linked with.
std::string library() { return comm::mpi_library() != "none" ? comm::mpi_library() : comm::shmem_library(); }

/// Where the library lies from which it comes; empty if the system does not tell.
std::string library_path() {
  for (const auto& path : mapped_files()) {
    const std::string name = path.substr(path.rfind('/') + 1);
    for (const char* known : {"libmpi.so", "libmpich.so", "libmpi_abi.so", "liboshmem.so", "libsma.so"})
      if (name.starts_with(known)) return path;
  }
  return "";
}

/// Whose launchers start this program. An OpenSHMEM without MPI is started by who speaks the protocol it was built for: PMIx,
/// as Open MPI's launchers do, or the older one of MPICH's.
std::string family_here() {
  const std::string family = mpi_family(library());
  if (family != "unknown" || comm::mpi_library() != "none" || comm::shmem_library() == "none") return family;
  const auto files = mapped_files();
  const bool pmix = std::any_of(files.begin(), files.end(), [](const auto& f) { return holds(f, "/libpmix.so"); });
  return pmix ? "Open MPI" : "MPICH";
}

/// Gives srun the option with which it starts ranks of this library, or the launcher a problem.
void fit_slurm(Launcher& l, const std::string& family) {
  if (family == "unknown") return;
  const std::string allowed = family == "Open MPI" ? "pmix" : "pmi2, cray_shasta";
  if (const char* set = std::getenv("SLURM_MPI_TYPE"); set != nullptr && *set != '\0') {
    const std::string type = set;  // the user has decided
    if (type == "none" || (family == "Open MPI" && !type.starts_with("pmix")))
      l.problem = fmt::format("SLURM_MPI_TYPE is {}, with which {} starts no ranks of {}; allowed: {}, or unset", type,
                              l.path, library_text(), allowed);
    return;
  }
  const std::string list = output_of({l.path, "--mpi=list"}, kVersionSeconds, 4000, true);
  const std::string option = srun_option(mpi_family(library()) == "unknown" ? family : library(), list);
  if (!option.empty()) {
    l.options = {option};
    return;
  }
  l.problem = fmt::format("{} has no plug-in that starts ranks of {}; needed: {}; srun --mpi=list says: {}", l.path,
                          library_text(), allowed, one_line(list));
}

Launcher inspect(const std::string& path) {
  Launcher l{path, first_line_of(path), "", {}, ""};
  l.family = launcher_family(path, l.version);
  const std::string family = family_here();
  if (l.family == "Slurm") {
    fit_slurm(l, family);
  } else if (l.family == "PALS" || l.family == "ALPS") {
    if (family != "MPICH" && family != "unknown")
      l.problem = path + " starts processes of Cray's MPICH, but this program is linked with " + library_text();
  } else if (l.family != "unknown" && family != "unknown" && l.family != family) {
    l.problem = path + " starts processes of " + l.family + ", but this program is linked with " + library_text();
  }
  return l;
}

/// Names under which the launchers of a family are known, those that several families use first.
std::vector<std::string> names_of(const std::string& family) {
  std::vector<std::string> names{"mpirun", "mpiexec"};
  const auto add = [&names](std::initializer_list<std::string> more) { names.insert(names.end(), more); };
  if (family == "Open MPI" || family == "unknown") add({"orterun", "prterun", "mpirun.openmpi", "mpiexec.openmpi"});
  if (family == "MPICH" || family == "unknown") add({"mpiexec.hydra", "mpiexec.mpich", "mpirun.mpich", "aprun"});
  if (family == "Intel MPI") add({"mpiexec.hydra"});
  return names;
}

/// Paths to look at, in this order, each once: on PATH, then beside the library: a prefix has lib/ and bin/.
std::vector<std::string> candidates() {
  const std::string family = family_here();
  std::vector<std::string> out;
  const auto add = [&out](const std::string& path) {
    if (!path.empty() && std::find(out.begin(), out.end(), path) == out.end()) out.push_back(path);
  };
  for (const auto& name : names_of(family)) add(which(name));
  const std::filesystem::path beside = std::filesystem::path(library_path()).parent_path();
  if (beside.empty()) return out;
  for (const auto& name : names_of(family))
    for (const auto& bin : {beside / "../bin", beside / "../../bin"}) {
      std::error_code error;
      const auto path = std::filesystem::canonical(bin / name, error);
      if (!error) add(which(path.string()));
    }
  return out;
}

Launcher named(const std::string& name, const std::string& who) {
  const std::string path = which(name);
  if (path.empty())
    return {"", "", "", {}, who + " is " + name + ", which is no program; allowed: the path of one, or a name on PATH"};
  return inspect(path);
}

}  // namespace

std::string library_text() {
  const std::string path = library_path();
  return library() + (path.empty() ? "" : " (" + path + ")");
}

std::string mpi_family(const std::string& library) {
  if (holds(library, "Open MPI") || holds(library, "Open SHMEM") || holds(library, "open-mpi")) return "Open MPI";
  if (holds(library, "Intel")) return "Intel MPI";
  if (holds(library, "MPICH") || holds(library, "MVAPICH")) return "MPICH";
  return "unknown";
}

std::string launcher_family(const std::string& path, const std::string& version) {
  if (holds(version, "Open MPI") || holds(version, "OpenRTE") || holds(version, "PRRTE") || holds(version, "PRTE"))
    return "Open MPI";
  if (holds(version, "Intel")) return "Intel MPI";
  if (version.starts_with("slurm") || path.ends_with("/srun")) return "Slurm";
  if (holds(version, "PALS") || holds(path, "/pals/")) return "PALS";
  if (holds(version, "ALPS")) return "ALPS";
  if (holds(version, "HYDRA") || holds(version, "MPICH")) return "MPICH";
  return "unknown";
}

std::string srun_option(const std::string& library, const std::string& list) {
  std::istringstream words(list);
  bool pmix = false, pmi2 = false, cray = false;
  for (std::string word; words >> word;) {
    pmix = pmix || word == "pmix";
    pmi2 = pmi2 || word == "pmi2";
    cray = cray || word == "cray_shasta";
  }
  if (mpi_family(library) == "Open MPI") return pmix ? "--mpi=pmix" : "";
  if (holds(library, "CRAY") && cray) return "--mpi=cray_shasta";
  return pmi2 ? "--mpi=pmi2" : "";
}

Launcher find_launcher(const std::string& with) {
  if (!with.empty()) return named(with, "--launcher");
  if (const char* name = std::getenv("MERGANSER_LAUNCHER"); name != nullptr && *name != 0)
    return named(name, "MERGANSER_LAUNCHER");
  Launcher misfit;
  if (std::getenv("SLURM_JOB_ID") != nullptr)
    if (const std::string srun = which("srun"); !srun.empty()) {
      misfit = inspect(srun);
      if (misfit.problem.empty()) return misfit;
    }
  for (const auto& path : candidates()) {
    Launcher l = inspect(path);
    if (l.problem.empty()) return l;
    if (misfit.problem.empty()) misfit = std::move(l);
  }
  if (misfit.problem.empty()) misfit.problem = "no mpirun, mpiexec, aprun or srun on PATH or beside the library";
  return misfit;
}

}  // namespace merganser::app
