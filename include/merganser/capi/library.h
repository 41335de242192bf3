#pragma once
/// What holds for every function of the C interface: statuses, texts, versions, handles, records.
///
/// A function returns MG_OK or what went wrong; mg_error() then has the text. It never prints, never ends the program, and
/// no exception leaves it. What it gives comes through pointers, which are left alone when it fails.
///
/// A handle is made by a function that ends in _new (or mg_open...) and freed by the one that ends in _free (_close). It is
/// never used again by the library: a handle that was freed is refused, also when it is freed twice. NULL is refused, but for
/// functions that free, which have nothing to do then. What is made over a transport keeps it alive: free in any order, but in
/// the same one on every rank. A handle may be used by one thread at a time, different ones by different threads.
///
/// After MPI_Finalize what was made over a communicator can be freed; calls that would communicate return MG_COMMUNICATION.
///
/// A record (struct) begins with its size, which the caller sets: mg_box box = {sizeof box}; Fields that a later version
/// adds come behind, and are zero for callers who do not know them. Zero means the default wherever a field says so.
#include <stddef.h>
#include <stdint.h>

#ifndef MG_API
#if defined(__GNUC__) || defined(__clang__)
#define MG_API __attribute__((visibility("default")))
#else
#define MG_API
#endif
#endif

/* Version of this interface: goes up by one when functions are added; what there is does not change. */
#define MG_ABI 2

#ifdef __cplusplus
extern "C" {
#endif

/// What a function returns. The first five are also the exit codes of the command merganser.
enum mg_status {
  MG_OK = 0,
  MG_VERIFICATION = 1,   ///< a result is not what it must be
  MG_USAGE = 2,          ///< a call that makes no sense: a bad handle, argument, option, or combination of them
  MG_INPUT = 3,          ///< bad data: points, parcels, edges
  MG_COMMUNICATION = 4,  ///< ranks cannot talk
  MG_INTERNAL = 70,      ///< a fault of the library
  MG_MEMORY = 71         ///< there is no memory
};

/// Number of the interface that the library has: at least the MG_ABI that a program was compiled with, or it must not be
/// used.
MG_API int mg_abi(void);
/// Version of the library: "0.1.0".
MG_API const char* mg_version(void);
/// Why the last call that failed in this thread did: what, the value, what is allowed. Never NULL; "" if none has. Valid
/// until the next call that fails in this thread.
MG_API const char* mg_error(void);
/// The same text with positions in the caller's arrays (points, parcels) counted from `first`: 0 as in C, 1 as in Fortran.
/// Ranks count from 0 in both. Valid until the next call of this function, or one that fails, in this thread.
MG_API const char* mg_error_from(int first);
/// Ends every process of the job with an exit code, as MPI_Abort on the world; without MPI this process. For programs that
/// cannot go on. The one function that does not return.
MG_API void mg_end_job(int exit_code);

#ifdef __cplusplus
}
#endif
