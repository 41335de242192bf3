#pragma once
/// Macros of the tracing library that wrap a function of MPI under both its names, MPI_NAME and PMPI_NAME.
#include "src/trace/mpi_ranks.hpp"

#define MERGANSER_UNPACK(...) __VA_ARGS__

/// Defines a wrapper of an MPI function under both its names: MPI_NAME calls OWN##NAME, PMPI_NAME executes SECOND.
#define MERGANSER_SHOW(NAME, OWN, PARAMETERS, ARGUMENTS, SECOND)           \
  extern "C" MERGANSER_SHOWN int MPI_##NAME(MERGANSER_UNPACK PARAMETERS) { \
    return OWN##NAME(MERGANSER_UNPACK ARGUMENTS);                          \
  }                                                                        \
  extern "C" MERGANSER_SHOWN int PMPI_##NAME(MERGANSER_UNPACK PARAMETERS) { SECOND; }

/// Wraps NAME: MPI_NAME counts by the last argument if it succeeds. PMPI_NAME counts only where the Fortran bindings call it,
/// since tools and the library itself use it too.
#define MERGANSER_WRAP(NAME, PARAMETERS, ARGUMENTS, ...)                               \
  static inline int counted_##NAME(MERGANSER_UNPACK PARAMETERS) {                      \
    using namespace ::merganser::trace;                                                \
    const Call call;                                                                   \
    const int result = MERGANSER_REAL(NAME)(MERGANSER_UNPACK ARGUMENTS);               \
    if (result == MPI_SUCCESS && call.counts()) {                                      \
      __VA_ARGS__;                                                                     \
    }                                                                                  \
    return result;                                                                     \
  }                                                                                    \
  MERGANSER_SHOW(NAME, counted_, PARAMETERS, ARGUMENTS,                                \
                 return ::merganser::trace::from_bindings(__builtin_return_address(0)) \
                            ? counted_##NAME(MERGANSER_UNPACK ARGUMENTS)               \
                            : MERGANSER_REAL(NAME)(MERGANSER_UNPACK ARGUMENTS))

/// Wraps a blocking call and the nonblocking one of the same arguments, which has a request besides.
#define MERGANSER_WRAP_BOTH(NAME, START, PARAMETERS, ARGUMENTS, ...)                                                 \
  MERGANSER_WRAP(NAME, (MERGANSER_UNPACK PARAMETERS), (MERGANSER_UNPACK ARGUMENTS), __VA_ARGS__)                     \
  MERGANSER_WRAP(START, (MERGANSER_UNPACK PARAMETERS, MPI_Request * request), (MERGANSER_UNPACK ARGUMENTS, request), \
                 __VA_ARGS__)

/// Wraps NAME so that both names execute BEFORE and, on success, AFTER: for events that count whoever calls.
#define MERGANSER_WATCH(NAME, PARAMETERS, ARGUMENTS, BEFORE, AFTER)      \
  static inline int watched_##NAME(MERGANSER_UNPACK PARAMETERS) {        \
    using namespace ::merganser::trace;                                  \
    BEFORE;                                                              \
    const int result = MERGANSER_REAL(NAME)(MERGANSER_UNPACK ARGUMENTS); \
    if (result == MPI_SUCCESS) {                                         \
      AFTER;                                                             \
    }                                                                    \
    return result;                                                       \
  }                                                                      \
  MERGANSER_SHOW(NAME, watched_, PARAMETERS, ARGUMENTS, return watched_##NAME(MERGANSER_UNPACK ARGUMENTS))

#define MERGANSER_SHOWN __attribute__((visibility("default")))
