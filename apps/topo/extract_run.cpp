#include "apps/topo/extract_run.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>

#include "apps/frame/launcher.hpp"
#include "merganser/base/error.hpp"

#ifndef MERGANSER_LIBDIR
#define MERGANSER_LIBDIR "lib"
#endif

namespace merganser::app {

namespace fs = std::filesystem;

std::string trace_library() {
  constexpr const char* kName = "libmerganser-trace.so";
  if (const char* named = std::getenv("MERGANSER_TRACE_LIBRARY"); named != nullptr && *named != '\0') {
    if (::access(named, R_OK) != 0) throw CommError(std::string("MERGANSER_TRACE_LIBRARY is ") + named + ", no file");
    return fs::absolute(named).string();
  }
  const fs::path here = fs::path(self_path()).parent_path();
  for (const fs::path& folder : {here / "..", here, here / ".." / MERGANSER_LIBDIR / "merganser"}) {
    const fs::path candidate = folder / kName;
    if (::access(candidate.c_str(), R_OK) == 0) return fs::canonical(candidate).string();
  }
  throw CommError(
      std::string(kName) + " is not beside " + here.string() +
      ": this build has neither MPI nor OpenSHMEM, or it was moved; set MERGANSER_TRACE_LIBRARY to its path");
}

std::string trace_place(const std::string& output) {
  const fs::path folder = fs::path(output).parent_path();
  return fs::absolute(folder.empty() ? fs::path(".") : folder).lexically_normal().string();
}

int run_traced(int ranks, const std::vector<std::string>& program, PrivateFolder& folder) {
  const std::string library = trace_library();
  const std::string path = which(program.at(0));
  if (path.empty()) throw UsageError("no program " + program[0] + ": it is no file that can be run, nor on PATH");
  if (const Launcher launcher = find_launcher(); !launcher.problem.empty()) throw CommError(launcher.problem);
  LaunchPlan plan = plan_launch(ranks, {}, true);
  check_launchable(program);
  plan.command.pop_back();  // this program
  plan.of_this_program = false;
  // Through env, so that every launcher passes it on, and only ranks load the library.
  std::string preload = library;
  if (const char* others = std::getenv("LD_PRELOAD"); others != nullptr && *others != '\0')
    preload += ':' + std::string(others);
  const std::string env = which("env");
  plan.command.insert(plan.command.end(), {env.empty() ? "/usr/bin/env" : env, "LD_PRELOAD=" + preload,
                                           "MERGANSER_TRACE_FOLDER=" + folder.path(), path});
  plan.command.insert(plan.command.end(), program.begin() + 1, program.end());
  for (int rank = 0; rank < ranks; ++rank) folder.file(fmt::format("rank-{}.trace", rank));
  std::cerr << "+ " << plan.text() << std::endl;
  return launch(plan);
}

}  // namespace merganser::app
