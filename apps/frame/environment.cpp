// Run-time environment of a process for run records: variables, loaded components of Open MPI, cores and host.
#include "apps/frame/environment.hpp"

#include <fmt/core.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <fstream>
#include <map>
#include <set>

#include "apps/frame/secrets.hpp"

extern char** environ;

namespace merganser::app {
namespace {

constexpr std::size_t kLongest = 500;  // of a value that is kept, in characters
constexpr int kMaxChanges = 2;  // between letters and digits in a word, as in mlx5 or 10us; with more it looks random
constexpr std::size_t kMaxLetters = 24;  // of a word

/// Replaces words that look random by *** in the value of an environment variable for a run record. A variable of a known family
/// may still hold a secret, since families match by prefix.
std::string mask_random_words(const std::string& value) {
  std::string out;
  for (std::size_t begin = 0; begin < value.size();) {
    std::size_t end = begin;
    int changes = 0;
    const auto is = [&value](std::size_t i, auto&& kind) { return kind(static_cast<unsigned char>(value[i])) != 0; };
    const auto digit = [](int c) { return std::isdigit(c); };
    const auto letter_or_digit = [](int c) { return std::isalnum(c); };
    for (; end < value.size() && is(end, letter_or_digit); ++end)
      if (end > begin && is(end, digit) != is(end - 1, digit)) ++changes;
    const bool random = changes > kMaxChanges || end - begin > kMaxLetters;
    out += random ? "***" : value.substr(begin, end - begin);
    for (; end < value.size() && !is(end, letter_or_digit); ++end) out += value[end];
    begin = end;
  }
  return out;
}

}  // namespace

// Part of a run record: variables that may explain times, with random-looking words masked.
Json library_variables() {
  Json out = Json::object();
  for (char** v = environ; v != nullptr && *v != nullptr; ++v) {
    const std::string line(*v);
    const auto at = line.find('=');
    if (at == std::string::npos) continue;
    const std::string name = line.substr(0, at);
    if (!is_setting(name)) continue;
    out[bytes_to_utf8(name)] =
        bytes_to_utf8(mask_random_words(without_secrets(line.substr(at + 1))).substr(0, kLongest));
  }
  return out;
}

// Part of a run record: the transports that Open MPI has loaded.
Json loaded_components() {
  std::map<std::string, std::set<std::string>> found;
  for (const auto& path : mapped_files()) {
    const std::string file = path.substr(path.rfind('/') + 1);
    if (!file.starts_with("mca_") || !file.ends_with(".so")) continue;
    // Open MPI's components are shared objects called mca_FRAMEWORK_COMPONENT.so.
    const auto split = file.find('_', 4);
    if (split == std::string::npos) continue;
    const std::string framework = file.substr(4, split - 4);
    for (const char* known : {"pml", "mtl", "btl", "osc", "spml"})
      if (framework == known) found[framework].insert(file.substr(split + 1, file.size() - split - 4));
  }
  Json out = Json::object();
  for (const auto& [framework, names] : found) out[framework] = names;
  return out;
}

std::vector<std::string> mapped_files() {
  std::vector<std::string> out;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (const auto at = line.find('/'); at != std::string::npos) out.push_back(line.substr(at));
  return out;
}

// Part of a run record: the cores to which this process is bound.
std::string core_list() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return "";
  std::string out;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (!CPU_ISSET(i, &set)) continue;
    int last = i;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set)) ++last;
    out += (out.empty() ? "" : ",") + (last > i ? fmt::format("{}-{}", i, last) : std::to_string(i));
    i = last;
  }
  return out;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "";
}

}  // namespace merganser::app
