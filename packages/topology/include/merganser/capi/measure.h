#pragma once
/// What an exchange along the arcs of a process graph costs.
#include "merganser/capi/transport.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Measured times, on rank 0.
typedef struct mg_measurement mg_measurement;

/// A process graph, the same on every rank: rank r sends to heads[offsets[r]] .. heads[offsets[r + 1] - 1].
typedef struct mg_process_graph {
  size_t struct_size;  ///< sizeof(mg_process_graph)
  int32_t ranks;
  int32_t unused;          ///< 0
  const int64_t* offsets;  ///< ranks + 1 numbers, ascending from 0
  const int32_t* heads;    ///< offsets[ranks] ranks
  const double* bytes;     ///< along each arc; NULL: those of the options
} mg_process_graph;

/// What is measured; the same on every rank. Zero in every field: the default.
typedef struct mg_measure_options {
  size_t struct_size;   ///< sizeof(mg_measure_options)
  double seconds;       ///< for everything; 0: 10
  const char* kernels;  ///< comma list of names; NULL: all that tell the receiver that its data is there
  double bytes;         ///< along each arc of a graph without bytes; 0: 8
} mg_measure_options;

/// Time of an exchange by one kernel: that of its slowest rank. The caller sets `size`.
typedef struct mg_measured {
  size_t struct_size;  ///< sizeof(mg_measured)
  const char* kernel;  ///< valid until the measurement is freed
  const char* reason;  ///< why it could not be measured; NULL: it was
  double median_ns;
  double low_ns;  ///< 95 % interval of the median
  double high_ns;
  int64_t messages;  ///< per exchange, of all ranks
  int64_t bytes;
  uint64_t samples;
} mg_measured;

/// Measures. Collective; graph and options are the same on every rank.
MG_API int mg_measure(mg_transport* transport, const mg_process_graph* graph, const mg_measure_options* options,
                      mg_measurement** measurement);
/// Kernels that were measured or could not be; 0 on ranks but 0.
MG_API int mg_measurement_count(mg_measurement* measurement, size_t* count);
/// One of them.
MG_API int mg_measurement_get(mg_measurement* measurement, size_t index, mg_measured* measured);
/// Lets go of it.
MG_API int mg_measurement_free(mg_measurement* measurement);

#ifdef __cplusplus
}
#endif
