#pragma once
/// Telling every rank without a collective.
#include "merganser/capi/transport.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Spreads announcements over every rank of a transport, one hop per step.
typedef struct mg_announcer mg_announcer;

/// Limits; the same on every rank. Zero in every field: the default.
typedef struct mg_announcer_options {
  size_t struct_size;     ///< sizeof(mg_announcer_options)
  size_t max_bytes;       ///< of one announcement; 0: 2^20
  size_t max_step_bytes;  ///< of all that a rank announces between two steps; 0: 2^24
} mg_announcer_options;

/// When an announcement is handed over.
enum mg_delivery {
  MG_SAME_STEP = 0,  ///< on every rank at the same step, mg_announcer_time() steps later
  MG_IMMEDIATE = 1   ///< as soon as it is there
};

/// What was announced. Records of lists have no size: they never change.
typedef struct mg_announcement {
  int32_t origin;  ///< rank that announced
  uint16_t topic;
  uint16_t delivery;  ///< of enum mg_delivery
  uint64_t counter;   ///< 0, 1, 2, ... of that rank
  int64_t announced;  ///< steps the origin had made
  const void* bytes;  ///< valid until the next step
  size_t byte_count;
} mg_announcement;

/// Makes the network together. Collective.
/// @param network    "manhattan", "torus", "hypercube" or "debruijn"
/// @param dimension  of manhattan and torus; the degree of debruijn
/// @param options    NULL: defaults
MG_API int mg_announcer_new(mg_transport* transport, const char* network, int dimension,
                            const mg_announcer_options* options, mg_announcer** announcer);
/// Takes bytes for every rank, this one too; they leave with the next step. Local. @param topic  0 to 65279
/// @param delivery  of enum mg_delivery
MG_API int mg_announcer_announce(mg_announcer* announcer, int topic, const void* bytes, size_t count, int delivery);
/// Takes everything one hop further. Called by every rank. @param handed_over  their number; NULL: not wanted
MG_API int mg_announcer_step(mg_announcer* announcer, size_t* handed_over);
/// What the last step handed over, in the order of (announced, origin, counter). Valid until the next step.
MG_API int mg_announcer_received(mg_announcer* announcer, const mg_announcement** announcements, size_t* count);
/// Steps until an announcement is on every rank.
MG_API int mg_announcer_time(mg_announcer* announcer, int* steps);
/// Lets go of it.
MG_API int mg_announcer_free(mg_announcer* announcer);

#ifdef __cplusplus
}
#endif
