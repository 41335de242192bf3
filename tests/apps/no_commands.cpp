/// The table of commands belongs to the program; what is tested here needs none.
#include "apps/frame/command.hpp"

std::span<const merganser::app::CommandGroup> merganser::app::command_groups() { return {}; }
