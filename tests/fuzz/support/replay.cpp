// Program that runs a fuzz target on its seeds and random changes of them, without libFuzzer: replay NAME SEEDS CHANGES. Every seed
// must be read, except those whose name begins with "refused". An input that ends the program is left in the file NAME.finding.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>

#include "tests/fuzz/support/target.hpp"
#include "tests/support/mutated.hpp"

namespace {

using namespace merganser;

std::string keep_in;           // file for a finding
std::string_view being_fed{};  // current input; with keep_in the only data that the signal handler reads

extern "C" void keep_input(int signal) {
  const int file = ::open(keep_in.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  const auto done = ::write(file, being_fed.data(), being_fed.size());
  const char* const text = done < 0 ? "finding: its input could not be kept\n" : "finding: its input was kept\n";
  (void)!::write(2, text, std::strlen(text));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Counts {
  std::uint64_t read = 0;
  std::uint64_t refused = 0;
};

bool feed(const fuzz::Target& target, const std::string& input, Counts& counts) {
  being_fed = input;
  bool read = false;
  try {
    read = target.feed(input);
  } catch (const std::exception& e) {
    fuzz::finding(std::string("an exception that readers may not throw: ") + e.what());
  }
  (read ? counts.read : counts.refused) += 1;
  return read;
}

int replay(const fuzz::Target& target, const std::string& folder, std::uint64_t changes) {
  std::map<std::string, std::string> seeds;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    seeds[entry.path().filename().string()] = bytes_of(entry.path());
  Counts good, changed;
  for (const auto& [name, bytes] : seeds) {
    if (feed(target, bytes, good) == name.starts_with("refused")) {
      std::cerr << folder << '/' << name << (name.starts_with("refused") ? " is read" : " is refused") << '\n';
      return 1;
    }
  }
  for (std::uint64_t i = 0; i < changes && !seeds.empty(); ++i) {
    const std::string& seed = std::next(seeds.begin(), static_cast<std::ptrdiff_t>(i % seeds.size()))->second;
    feed(target, test::mutated(seed, i).substr(0, target.longest), changed);
  }
  std::cout << target.name << ": " << good.read << " seeds read, " << good.refused << " refused; of " << changes
            << " changed ones " << changed.read << " read, " << changed.refused << " refused\n";
  const bool enough = good.read > 0 && changed.read > 0 && changed.refused > 0;
  if (!enough) std::cerr << "allowed: some seeds that are read, and changed ones of both kinds\n";
  return enough ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  for (const auto* target : fuzz::targets()) {
    if (argc != 4 || name != target->name) continue;
    keep_in = name + ".finding";
    for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, keep_input);
    fuzz::prepare();
    return replay(*target, argv[2], std::stoull(argv[3]));
  }
  std::cerr << "usage: replay NAME SEEDS CHANGES; targets:";
  for (const auto* target : fuzz::targets()) std::cerr << ' ' << target->name;
  std::cerr << '\n';
  return 2;
}
