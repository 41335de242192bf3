"""Measurement of neighbour exchanges on a process graph on this machine, and advice on the fastest kernel.

python examples/python/05_measure.py                                  (ranks are threads)
mpirun -n 4 python -m mpi4py examples/python/05_measure.py mpi
"""
import sys

from merganser import topology

comm = None
if sys.argv[1:] == ["mpi"]:
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
graph = topology.generate("ring", comm.size if comm is not None else 2)
found = topology.measure(graph, sizes=[8, 4096], comm=comm, seconds=3)
for record in found.records:  # pandas.DataFrame(found.records) is a table
    print(f"{record['kernel']:32} {record['size']:>6} bytes  median {record['p50_ns'] / 1000:8.2f} us"
          f"  p99 {record['p99_ns'] / 1000:8.2f} us")
for row in topology.advise([r for r in found.records if r["size"] == "8"]).records[:3]:
    print(f"advice for 8 bytes: {row['kernel']} ({row['completion']}), {row['time_ns'] / 1000:.2f} us")
