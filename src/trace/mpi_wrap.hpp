#pragma once
/// How a function of MPI is wrapped under both its names.
#include "src/trace/mpi_ranks.hpp"

#define MERGANSER_UNPACK(...) __VA_ARGS__

/// MPI_NAME counts what COUNT says if it succeeds. The second name counts only where the Fortran bindings call it: tools
/// and the library itself use it too.
#define MERGANSER_WRAP(NAME, PARAMETERS, ARGUMENTS, ...)                    \
  static inline int counted_##NAME(MERGANSER_UNPACK PARAMETERS) {           \
    using namespace ::merganser::trace;                                     \
    const Call call;                                                        \
    const int result = MERGANSER_REAL(NAME)(MERGANSER_UNPACK ARGUMENTS);    \
    if (result == MPI_SUCCESS && call.counts()) {                           \
      __VA_ARGS__;                                                          \
    }                                                                       \
    return result;                                                          \
  }                                                                         \
  extern "C" MERGANSER_SHOWN int MPI_##NAME(MERGANSER_UNPACK PARAMETERS) {  \
    return counted_##NAME(MERGANSER_UNPACK ARGUMENTS);                      \
  }                                                                         \
  extern "C" MERGANSER_SHOWN int PMPI_##NAME(MERGANSER_UNPACK PARAMETERS) { \
    if (::merganser::trace::from_bindings(__builtin_return_address(0))) {   \
      return counted_##NAME(MERGANSER_UNPACK ARGUMENTS);                    \
    }                                                                       \
    return MERGANSER_REAL(NAME)(MERGANSER_UNPACK ARGUMENTS);                \
  }

/// Both names do the same: what must be noticed whoever calls.
#define MERGANSER_WATCH(NAME, PARAMETERS, ARGUMENTS, BEFORE, AFTER)         \
  static inline int watched_##NAME(MERGANSER_UNPACK PARAMETERS) {           \
    using namespace ::merganser::trace;                                     \
    BEFORE;                                                                 \
    const int result = MERGANSER_REAL(NAME)(MERGANSER_UNPACK ARGUMENTS);    \
    if (result == MPI_SUCCESS) {                                            \
      AFTER;                                                                \
    }                                                                       \
    return result;                                                          \
  }                                                                         \
  extern "C" MERGANSER_SHOWN int MPI_##NAME(MERGANSER_UNPACK PARAMETERS) {  \
    return watched_##NAME(MERGANSER_UNPACK ARGUMENTS);                      \
  }                                                                         \
  extern "C" MERGANSER_SHOWN int PMPI_##NAME(MERGANSER_UNPACK PARAMETERS) { \
    return watched_##NAME(MERGANSER_UNPACK ARGUMENTS);                      \
  }

#define MERGANSER_SHOWN __attribute__((visibility("default")))
