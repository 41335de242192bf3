/// Program that plugins_test starts: plugins_probe WHERE LIBRARY... opens libraries by RTLD_LOCAL, as Python does, then uses a
/// plug-in from WHERE, from several threads at once, and prints the plug-in in use or the error.
#include <dlfcn.h>

#include <iostream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/capi/transport.h"
#include "merganser/comm/open.hpp"
#include "merganser/comm/plugins.hpp"
#include "merganser/kernels/exchange.hpp"

namespace {

using namespace merganser;

std::string models() {
  std::string all;
  for (const auto& backend : comm::backends()) all += " " + std::string(backend.name);
  return all;
}

void tell(const comm::MpiInUse& mpi) {
  std::cout << "interface " << mpi.library.abi << "\nlibrary " << mpi.library.path << "\nversion "
            << mpi.library.version << "\nplug-in " << mpi.plugin << "\ncompiled " << mpi.compiled << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  const std::string where = argc > 1 ? argv[1] : "";
  for (int i = 2; i < argc; ++i) {
    if (::dlopen(argv[i], RTLD_NOW | RTLD_LOCAL) != nullptr) continue;
    std::cout << "wrong: " << ::dlerror() << "\n";
    return 9;
  }
  const auto before = comm::backends();
  const auto kernels_before = kernels::kernels();
  std::cout << "before:" << models() << "; " << kernels_before.size() << " kernels; " << comm::missing_backends().size()
            << " missing\n";
  constexpr std::size_t kThreads = 4;
  std::vector<const comm::MpiInUse*> got(kThreads, nullptr);
  std::vector<std::string> why(kThreads);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < kThreads; ++i)
      threads.emplace_back([&, i] {
        try {
          got[i] = &comm::use_mpi(where);
        } catch (const UsageError& e) {
          why[i] = e.what();
        }
      });
  }
  if (std::set(got.begin(), got.end()).size() != 1) std::cout << "wrong: threads have got different things\n";
  if (got[0] == nullptr) {
    std::cout << why[0] << "\n";
    if (mg_use_mpi(where.c_str()) != MG_USAGE || mg_error() != why[0])
      std::cout << "wrong: in C " << mg_error() << "\n";
    return 2;
  }
  tell(*got[0]);
  if (&comm::use_mpi("elsewhere") != got[0] || mg_use_mpi(nullptr) != MG_OK)
    std::cout << "wrong: not the same when asked again\n";
  if (before.front().name != "threads" || kernels_before.empty()) std::cout << "wrong: what was given before is gone\n";
  std::cout << "after:" << models() << "; " << kernels::kernels().size() << " kernels; "
            << comm::missing_backends().size() << " missing\n"
            << "MPI: " << comm::mpi_library() << "\n";
  try {
    (void)comm::open(0);
  } catch (const UsageError& e) {
    std::cout << e.what() << "\n";
  }
  return 0;
}
