#pragma once
/// Measurement of exchanges along the arcs of a process graph: the C interface of the topology package.
#include "merganser/capi/transport.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Results of one call of mg_measure(), complete on rank 0: times of exchanges by kernel.
typedef struct mg_measurement mg_measurement;

/// A process graph, the same on every rank: rank r sends to heads[offsets[r]] .. heads[offsets[r + 1] - 1].
typedef struct mg_process_graph {
  size_t struct_size;      ///< sizeof(mg_process_graph)
  int32_t ranks;           ///< number of ranks, that of the transport
  int32_t unused;          ///< 0; reserved for later versions, which could not use padding
  const int64_t* offsets;  ///< ranks + 1 numbers, ascending from 0
  const int32_t* heads;    ///< receivers: offsets[ranks] numbers from 0 to ranks - 1
  const double* bytes;     ///< bytes along each arc; NULL: mg_measure_options.bytes for all
} mg_process_graph;

/// Options of mg_measure(); the same on every rank. A member that is zero has its default.
typedef struct mg_measure_options {
  size_t struct_size;   ///< sizeof(mg_measure_options)
  double seconds;       ///< duration of the whole measurement, s; 0: 10
  const char* kernels;  ///< names separated by commas; NULL: all kernels of the completion class `notified`
  double bytes;         ///< bytes along each arc of a graph without bytes; 0: 8
} mg_measure_options;

/// Time of an exchange by one kernel on its slowest rank. The caller sets `struct_size`.
typedef struct mg_measured {
  size_t struct_size;  ///< sizeof(mg_measured)
  const char* kernel;  ///< name of the exchange kernel; valid until the measurement is freed
  const char* reason;  ///< reason why it could not be measured; NULL: it was measured
  double median_ns;    ///< median of the exchange time over iterations
  double low_ns;       ///< lower end of the 95 % interval of the median
  double high_ns;      ///< upper end of the 95 % interval of the median
  int64_t messages;    ///< messages per exchange, of all ranks
  int64_t bytes;       ///< bytes per exchange, of all ranks
  uint64_t samples;    ///< number of timed exchanges of the kernel
} mg_measured;

/// Measures exchanges by all kernels of the options on a process graph. Collective; graph and options are the same on every rank.
MG_API int mg_measure(mg_transport* transport, const mg_process_graph* graph, const mg_measure_options* options,
                      mg_measurement** measurement);
/// Gets the number of exchange kernels that were measured or could not be; 0 on all ranks but 0. Local.
MG_API int mg_measurement_count(mg_measurement* measurement, size_t* count);
/// Gets the measured time of one kernel, or the reason why there is none; `index` is below mg_measurement_count(). Local.
MG_API int mg_measurement_get(mg_measurement* measurement, size_t index, mg_measured* measured);
/// Frees the results of mg_measure(), and the texts that mg_measured points to. Local.
MG_API int mg_measurement_free(mg_measurement* measurement);

#ifdef __cplusplus
}
#endif
