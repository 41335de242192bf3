// Program for libFuzzer: selects the target by --target=NAME, which precedes libFuzzer's options and --all-checks, and passes
// inputs to it.
#include <cstdint>
#include <cstdlib>
#include <iostream>

#include "tests/fuzz/support/target.hpp"

namespace {

const merganser::fuzz::Target* chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  constexpr std::string_view option = "--target=";
  const std::string_view first = *argc > 1 ? (*argv)[1] : "";
  for (const auto* target : merganser::fuzz::targets()) {
    if (first == "--list") std::cout << target->name << ' ' << target->longest << '\n';
    if (first.starts_with(option) && first.substr(option.size()) == target->name) chosen = target;
  }
  if (first == "--list") std::exit(0);
  if (chosen == nullptr) {
    std::cerr << "the first argument is \"" << first << "\"; allowed: --list, --target=NAME\n";
    std::exit(2);
  }
  for (int i = 2; i < *argc; ++i)
    if (std::string_view((*argv)[i]) == "--all-checks") merganser::fuzz::every_check = true;
  merganser::fuzz::prepare();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  chosen->feed({reinterpret_cast<const char*>(data), size});
  return 0;
}
