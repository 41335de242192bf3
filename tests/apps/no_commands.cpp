/// Empty table of verbs for test programs, which link the verbs' code without the generated table of the command.
#include "apps/frame/command.hpp"

std::span<const merganser::app::CommandGroup> merganser::app::command_groups() { return {}; }
