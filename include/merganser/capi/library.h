#pragma once
/// Conventions and common functions of the C interface: statuses, error texts, versions, handles, records.
///
/// A function returns MG_OK or the status of an error, whose text mg_error() returns. It never prints, never ends the program,
/// and throws no exception. Results are written through pointers, which are not written to on failure.
///
/// A handle is created by a function that ends in _new (or mg_open...) and freed by the one that ends in _free (_close). No
/// handle is used twice: a freed one is refused, also when it is freed again. NULL is refused, except by functions that free,
/// which then do nothing. Objects made over a transport keep it alive: free in any order, but in the same one on every rank.
/// A handle may be used by one thread at a time, different ones by different threads.
///
/// After MPI_Finalize objects made over a communicator can still be freed; calls that would communicate return
/// MG_COMMUNICATION.
///
/// A record (struct) begins with its size, which the caller sets: mg_box box = {sizeof box}; Later versions append fields,
/// which are zero for callers compiled before. Zero means the default wherever a field says so.
#include <stddef.h>
#include <stdint.h>

#ifndef MG_API
#if defined(__GNUC__) || defined(__clang__)
#define MG_API __attribute__((visibility("default")))
#else
#define MG_API
#endif
#endif

/* Version of this interface: increases by one when functions are added; existing functions do not change. */
#define MG_ABI 3

#ifdef __cplusplus
extern "C" {
#endif

/// Status that every function of the C interface returns. The first five are also exit codes of the command merganser.
enum mg_status {
  MG_OK = 0,             ///< success
  MG_VERIFICATION = 1,   ///< a computed result failed verification
  MG_USAGE = 2,          ///< an invalid handle, argument or option, or an invalid combination of them
  MG_INPUT = 3,          ///< invalid data: points, parcels, edges
  MG_COMMUNICATION = 4,  ///< communication failed or is impossible
  MG_INTERNAL = 70,      ///< a fault of the library
  MG_MEMORY = 71         ///< memory could not be allocated
};

/// Returns the version of the interface that the library implements. A program must not use the library unless this is at
/// least the MG_ABI that it was compiled with.
MG_API int mg_abi(void);
/// Returns the version of the merganser library, as "0.2.0".
MG_API const char* mg_version(void);
/// Returns the text of the last call that failed in this thread: what, the value, what is allowed. Never NULL; "" if none has
/// failed. Valid until the next call that fails in this thread.
MG_API const char* mg_error(void);
/// Returns the text of the last call that failed in this thread, with positions in the caller's arrays (points, parcels)
/// counted from `first`: 0 as in C, 1 as in Fortran. Ranks count from 0 in both. Valid until the next call of this function,
/// or one that fails, in this thread.
MG_API const char* mg_error_from(int first);
/// Ends every process of the job with an exit code, as MPI_Abort on MPI_COMM_WORLD; without MPI this process. For programs
/// that cannot continue. The only function that does not return.
MG_API void mg_end_job(int exit_code);

#ifdef __cplusplus
}
#endif
