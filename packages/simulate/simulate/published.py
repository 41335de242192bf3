"""Figures measured on the real machines. Source: [frey2025] (docs/sources.md), Tables 1, 3 and 4.

Both tables come from the OSU micro-benchmarks 7.5 with messages of 4 bytes. "On node" is two cores of one NUMA domain.

- Latency of P2P is half a round trip of MPI_Send and MPI_Recv (osu_latency).
- Bandwidth of P2P: one rank sends 64 messages by MPI_Isend, waits for all and for an answer of 4 bytes (osu_bw).
- Latency of RMA is the time of MPI_Win_lock (shared), one MPI_Put or MPI_Get, MPI_Win_unlock: an epoch, not a message.
- Bandwidth of RMA is that of epochs with 64 operations each (osu_put_bw, osu_get_bw).

MB are 10^6 bytes. The latency of SHMEM is that of one put and shmem_quiet, or of one get; SHMEM is not simulated.
"""
from dataclasses import dataclass

WINDOW = 64  # messages in a window of the bandwidth tests: their default
BYTES = 4


@dataclass(frozen=True)
class Row:
    """Published figures of a machine on or off a node, a row of Tables 3 and 4: latency in us, bandwidth in MB/s, for 4 bytes."""
    p2p_us: float
    put_us: float
    get_us: float
    shmem_put_us: float
    shmem_get_us: float
    p2p_mb_s: float
    put_mb_s: float
    get_mb_s: float

    def window_us(self, what):
        """Returns the published time of a window of 64 messages of a bandwidth test, us. @param what  p2p, put or get"""
        return WINDOW * BYTES / getattr(self, f"{what}_mb_s")


# Table 1: nodes of the machine, cores per node.
NODES = {"archer2": (5276, 128), "hotlum": (1016, 128), "cirrus": (280, 36)}
# Latencies of Table 4, then bandwidths of Table 3.
ON_NODE = {
    "archer2": Row(0.43, 2.71, 2.66, 0.06, 0.04, 18.75, 47.21, 47.86),
    "hotlum": Row(0.21, 0.86, 0.86, 0.02, 0.02, 39.77, 94.90, 101.81),
    "cirrus": Row(0.25, 0.42, 0.32, 0.09, 0.05, 34.63, 71.26, 66.80),
}
OFF_NODE = {
    "archer2": Row(2.48, 18.97, 15.64, 6.34, 4.97, 7.26, 4.91, 4.30),
    "hotlum": Row(1.72, 18.64, 18.21, 5.59, 2.74, 9.37, 7.58, 5.13),
    "cirrus": Row(1.72, 4.23, 5.10, 1.89, 2.32, 14.21, 13.36, 6.68),
}
