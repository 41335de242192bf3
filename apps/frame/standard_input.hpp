#pragma once
/// Standard input as a file that all ranks read at any place, for options that take "-" for the name of a file.
#include <string>

#include "merganser/comm/transport.hpp"

namespace merganser::app {

/// Returns the path by which an input of a command can be read at any place on all ranks: that of "-" is /dev/stdin, others stay as
/// they are. Collective.
///
/// Standard input of rank 0 is copied to a temporary file in the folder of TMPDIR, or /tmp, which takes the place of standard input
/// in the processes of all ranks and has no name from then on, so that nothing is left; a plain file that is standard input of the
/// only process is not copied.
/// @throws InputError on every rank: standard input is closed or a terminal, the folder has not enough room, or another rank's host
/// has another folder (then TMPDIR must name a shared one)
[[nodiscard]] std::string readable_input(const std::string& path, comm::Transport& transport);
/// Returns the name of an input of a command for reports: "standard input" for "-", others stay as they are.
[[nodiscard]] std::string input_name(const std::string& path);

}  // namespace merganser::app
