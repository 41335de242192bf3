#pragma once
/// Says at once that the headers need C++20. Included by every public header, most by way of others.
#if __cplusplus < 202002L
#error "merganser needs C++20: compile with -std=c++20, or link merganser::merganser with CMake, which asks for it"
#endif
