/// The table of commands belongs to the program; what is tested here needs none.
#include "apps/frame/command.hpp"

std::span<const merganser::app::Command* const> merganser::app::commands() { return {}; }
