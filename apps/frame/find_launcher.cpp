// Discovery of the launcher (mpirun, mpiexec, srun, aprun) that can start ranks of the MPI this program is linked with: candidates
// are identified by the first line of --version, and refused if they belong to another MPI.
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

bool contains_text(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// Returns the first line that a program prints for --version, on either stream, in printable characters.
std::string version_line(const std::string& program) {
  std::string text = capture_output({program, "--version"}, kVersionSeconds, 200, true);
  text.resize(std::min(text.find('\n'), text.size()));
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.pop_back();
  return one_line(text);
}

/// Returns the version text of the MPI that this program is linked with, else of its OpenSHMEM, else "none".
std::string linked_library() { return comm::mpi_library() != "none" ? comm::mpi_library() : comm::shmem_library(); }

/// Returns the path of the mapped MPI or OpenSHMEM library; empty if /proc does not show it.
std::string library_path() {
  for (const auto& path : mapped_files()) {
    const std::string name = path.substr(path.rfind('/') + 1);
    for (const char* known : {"libmpi.so", "libmpich.so", "libmpi_abi.so", "liboshmem.so", "libsma.so"})
      if (name.starts_with(known)) return path;
  }
  return "";
}

/// Returns the family of launchers that can start this program. An OpenSHMEM without MPI needs a launcher that provides the
/// process management interface it was built with: PMIx, as Open MPI's launchers do, or the older PMI of MPICH's.
std::string linked_family() {
  const std::string family = mpi_family(linked_library());
  if (family != "unknown" || comm::mpi_library() != "none" || comm::shmem_library() == "none") return family;
  const auto files = mapped_files();
  const bool pmix =
      std::any_of(files.begin(), files.end(), [](const auto& f) { return contains_text(f, "/libpmix.so"); });
  return pmix ? "Open MPI" : "MPICH";
}

/// Sets in `l` the option with which srun starts ranks of this library, or its problem if srun has no fitting plug-in. Without the
/// option, where MpiDefault is none, srun starts processes that are not ranks of one job, which MPI_Init then ends.
void select_srun_option(Launcher& l, const std::string& family) {
  if (family == "unknown") return;
  const std::string allowed = family == "Open MPI" ? "pmix" : "pmi2, cray_shasta";
  if (const char* set = std::getenv("SLURM_MPI_TYPE"); set != nullptr && *set != '\0') {
    const std::string type = set;  // the user has decided
    if (type == "none" || (family == "Open MPI" && !type.starts_with("pmix")))
      l.problem = fmt::format("SLURM_MPI_TYPE is {}, with which {} starts no ranks of {}; allowed: {}, or unset", type,
                              l.path, library_text(), allowed);
    return;
  }
  const std::string list = capture_output({l.path, "--mpi=list"}, kVersionSeconds, 4000, true);
  const std::string option = srun_option(mpi_family(linked_library()) == "unknown" ? family : linked_library(), list);
  if (!option.empty()) {
    l.options = {option};
    return;
  }
  l.problem = fmt::format("{} has no plug-in that starts ranks of {}; needed: {}; srun --mpi=list says: {}", l.path,
                          library_text(), allowed, one_line(list));
}

/// Identifies a launcher by its --version, and sets `problem` if it starts ranks of another library.
Launcher inspect_launcher(const std::string& path) {
  Launcher l{path, version_line(path), "", {}, ""};
  l.family = launcher_family(path, l.version);
  const std::string family = linked_family();
  if (l.family == "Slurm") {
    select_srun_option(l, family);
  } else if (l.family == "PALS" || l.family == "ALPS") {
    if (family != "MPICH" && family != "unknown")
      l.problem = path + " starts processes of Cray's MPICH, but this program is linked with " + library_text();
  } else if (l.family != "unknown" && family != "unknown" && l.family != family) {
    l.problem = path + " starts processes of " + l.family + ", but this program is linked with " + library_text();
  }
  return l;
}

/// Returns the names under which launchers of a family are installed; names that several families share come first.
std::vector<std::string> launcher_names(const std::string& family) {
  std::vector<std::string> names{"mpirun", "mpiexec"};
  const auto add = [&names](std::initializer_list<std::string> more) { names.insert(names.end(), more); };
  if (family == "Open MPI" || family == "unknown") add({"orterun", "prterun", "mpirun.openmpi", "mpiexec.openmpi"});
  if (family == "MPICH" || family == "unknown") add({"mpiexec.hydra", "mpiexec.mpich", "mpirun.mpich", "aprun"});
  if (family == "Intel MPI") add({"mpiexec.hydra"});
  return names;
}

/// Returns the paths of candidate launchers, each once: those on PATH, then those in bin/ of the library's installation prefix.
std::vector<std::string> candidate_paths() {
  const std::string family = linked_family();
  std::vector<std::string> out;
  const auto add = [&out](const std::string& path) {
    if (!path.empty() && std::find(out.begin(), out.end(), path) == out.end()) out.push_back(path);
  };
  for (const auto& name : launcher_names(family)) add(which(name));
  const std::filesystem::path beside = std::filesystem::path(library_path()).parent_path();
  if (beside.empty()) return out;
  for (const auto& name : launcher_names(family))
    for (const auto& bin : {beside / "../bin", beside / "../../bin"}) {
      std::error_code error;
      const auto path = std::filesystem::canonical(bin / name, error);
      if (!error) add(which(path.string()));
    }
  return out;
}

/// Returns the launcher that a user has named. @param who  the option or variable that names it, for the message
Launcher launcher_by_name(const std::string& name, const std::string& who) {
  const std::string path = which(name);
  if (path.empty())
    return {"", "", "", {}, who + " is " + name + ", which is no program; allowed: the path of one, or a name on PATH"};
  return inspect_launcher(path);
}

}  // namespace

std::string library_text() {
  const std::string path = library_path();
  return linked_library() + (path.empty() ? "" : " (" + path + ")");
}

// Families by the version text of the library.
std::string mpi_family(const std::string& library) {
  if (contains_text(library, "Open MPI") || contains_text(library, "Open SHMEM") || contains_text(library, "open-mpi"))
    return "Open MPI";
  if (contains_text(library, "Intel")) return "Intel MPI";
  if (contains_text(library, "MPICH") || contains_text(library, "MVAPICH")) return "MPICH";
  return "unknown";
}

// Families by what a launcher prints for --version.
std::string launcher_family(const std::string& path, const std::string& version) {
  if (contains_text(version, "Open MPI") || contains_text(version, "OpenRTE") || contains_text(version, "PRRTE") ||
      contains_text(version, "PRTE"))
    return "Open MPI";
  if (contains_text(version, "Intel")) return "Intel MPI";
  if (version.starts_with("slurm") || path.ends_with("/srun")) return "Slurm";
  if (contains_text(version, "PALS") || contains_text(path, "/pals/")) return "PALS";
  if (contains_text(version, "ALPS")) return "ALPS";
  if (contains_text(version, "HYDRA") || contains_text(version, "MPICH")) return "MPICH";
  return "unknown";
}

// Choice of srun's plug-in for the process management interface that the MPI library uses.
std::string srun_option(const std::string& library, const std::string& list) {
  std::istringstream words(list);
  bool pmix = false, pmi2 = false, cray = false;
  for (std::string word; words >> word;) {
    pmix = pmix || word == "pmix";
    pmi2 = pmi2 || word == "pmi2";
    cray = cray || word == "cray_shasta";
  }
  if (mpi_family(library) == "Open MPI") return pmix ? "--mpi=pmix" : "";
  if (contains_text(library, "CRAY") && cray) return "--mpi=cray_shasta";
  return pmi2 ? "--mpi=pmi2" : "";
}

// Search for the launcher of `merganser run`: named, by variable, srun within a Slurm job, then candidates in order;
// the first that fits the linked MPI.
Launcher find_launcher(const std::string& with) {
  if (!with.empty()) return launcher_by_name(with, "--launcher");
  if (const char* name = std::getenv("MERGANSER_LAUNCHER"); name != nullptr && *name != 0)
    return launcher_by_name(name, "MERGANSER_LAUNCHER");
  Launcher misfit;
  if (std::getenv("SLURM_JOB_ID") != nullptr)
    if (const std::string srun = which("srun"); !srun.empty()) {
      misfit = inspect_launcher(srun);
      if (misfit.problem.empty()) return misfit;
    }
  for (const auto& path : candidate_paths()) {
    Launcher l = inspect_launcher(path);
    if (l.problem.empty()) return l;
    if (misfit.problem.empty()) misfit = std::move(l);
  }
  if (misfit.problem.empty()) misfit.problem = "no mpirun, mpiexec, aprun or srun on PATH or beside the library";
  return misfit;
}

}  // namespace merganser::app
