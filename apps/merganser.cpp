// The command line program: finds the verb, runs it, turns errors into one line and an exit code.
#include <csignal>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <vector>

#include "merganser/base/error.hpp"
#include "support/command.hpp"
#include "support/launcher.hpp"

int main(int argc, char** argv) {
  using namespace merganser;
  std::ios::sync_with_stdio(false);
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on the size of files is met as an error of a write
  try {
    const int code = app::dispatch(std::vector<std::string>(argv + 1, argv + argc));
    std::cout.flush();
    if (code == 0 && !std::cout) throw InputError("cannot write to standard output");
    return code;
  } catch (const Error& e) {
    app::print_error(e.what(), e.exit_code());
    return e.exit_code();
  } catch (const app::Interrupted& e) {
    app::print_error(e.what(), e.exit_code());
    return e.exit_code();
  } catch (const std::bad_alloc&) {
    app::print_error("out of memory; use more ranks or a smaller input", app::kInternalError);
  } catch (const std::exception& e) {
    app::print_error(e.what(), app::kInternalError);
  }
  return app::kInternalError;
}
