#pragma once
/// Compile-time check that the compiler reads C++20. Every public header includes it, directly or through another, so that an older
/// language version gives this one message.
#if __cplusplus < 202002L
#error "merganser needs C++20: compile with -std=c++20, or link merganser::merganser with CMake, which asks for it"
#endif
