#pragma once
/// C interface of announcement networks: broadcasts from any rank to all ranks without a collective call.
#include "merganser/capi/transport.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Announcement network over all ranks of a transport, which forwards announcements by one hop per step.
typedef struct mg_announcer mg_announcer;

/// Limits of an announcement network, passed to mg_announcer_new(); the same on every rank. Set struct_size; zero in another field
/// means the default.
typedef struct mg_announcer_options {
  size_t struct_size;     ///< sizeof(mg_announcer_options)
  size_t max_bytes;       ///< greatest size of one announcement; 0: 2^20
  size_t max_step_bytes;  ///< greatest size of all that a rank announces between two steps; 0: 2^24
} mg_announcer_options;

/// Time at which an announcement is delivered, passed to mg_announcer_announce().
enum mg_delivery {
  MG_SAME_STEP = 0,  ///< on all ranks at the same step, mg_announcer_time() steps later
  MG_IMMEDIATE = 1   ///< on each rank at the step at which it arrives
};

/// Announcement that was delivered on this rank (mg_announcer_received). Records of lists have no struct_size: they are the same
/// in all versions.
typedef struct mg_announcement {
  int32_t origin;     ///< rank that announced it
  uint16_t topic;     ///< 0 to 65279, as passed to mg_announcer_announce()
  uint16_t delivery;  ///< time of delivery, of enum mg_delivery
  uint64_t counter;   ///< number among the announcements of the origin, from 0
  int64_t announced;  ///< number of steps that the origin had made when it announced
  const void* bytes;  ///< contents of the announcement, valid until the next step
  size_t byte_count;  ///< number of bytes of the contents
} mg_announcement;

/// Creates an announcement network over a transport. Collective.
/// @param network    "manhattan", "torus", "hypercube" or "debruijn"
/// @param dimension  number of dimensions of manhattan and torus; degree of debruijn
/// @param options    the same on every rank; NULL: defaults
MG_API int mg_announcer_new(mg_transport* transport, const char* network, int dimension,
                            const mg_announcer_options* options, mg_announcer** announcer);
/// Announces bytes: copies them to be sent to all ranks, this one included, from the next step of the network on. Local.
/// @param topic     0 to 65279
/// @param delivery  of enum mg_delivery
MG_API int mg_announcer_announce(mg_announcer* announcer, int topic, const void* bytes, size_t count, int delivery);
/// Forwards all announcements by one hop along the arcs of the network and delivers those that are due. Called by every rank;
/// communicates with neighbours of the network only.
/// @param handed_over  number of announcements delivered on this rank; NULL: not wanted
MG_API int mg_announcer_step(mg_announcer* announcer, size_t* handed_over);
/// Returns the announcements that the last step delivered on this rank, ordered by (announced, origin, counter). Local. The
/// array is valid until the next step.
MG_API int mg_announcer_received(mg_announcer* announcer, const mg_announcement** announcements, size_t* count);
/// Returns the time to live of announcements: the number of steps after which one has reached all ranks. Local.
MG_API int mg_announcer_time(mg_announcer* announcer, int* steps);
/// Frees an announcement network; NULL is accepted. Every rank must free it.
MG_API int mg_announcer_free(mg_announcer* announcer);

#ifdef __cplusplus
}
#endif
