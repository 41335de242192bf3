#pragma once
/// Checks of the files that a command line names, made before any work.
#include <string>

#include "merganser/base/options.hpp"
#include "merganser/base/pinned.hpp"

namespace merganser::app {

/// Refuses results that would overwrite an input or each other, and results that cannot be written. Paths are compared by the files
/// they lead to, through links, and also before the files exist. Local. Under a launcher it does not test whether results can be
/// written: ranks may see different disks and must agree on errors, so commands find out collectively.
/// @throws UsageError if two options name one file, a result has an empty name, or two results would be mixed on standard
/// output; InputError for a place where nothing can be written
void check_paths(const OptionTable& table);

/// Returns true if a verb may print its report on standard output, because no option directs a result there.
[[nodiscard]] bool can_print_report(const OptionTable& table);

/// Reservation of standard output for a result whose file is "-": while one exists, what is written to std::cout goes to standard
/// error, and write_result_text() to standard output. Without such a result it changes nothing.
class ReservedOutput : Pinned {
 public:
  /// Reserves standard output if an option of the verb directs a result there.
  explicit ReservedOutput(const OptionTable& table);
  ~ReservedOutput();

 private:
  bool holds_ = false;  // standard output is reserved by this object
};

/// Writes a text to standard output, also where it is reserved for results. A failure is one of std::cout, which the program
/// reports in the end.
void write_result_text(const std::string& text);

}  // namespace merganser::app
