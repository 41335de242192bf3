"""Announcement network: broadcasts from any rank to all ranks without a collective call, one hop per step.

mpirun -n 4 python -m mpi4py examples/python/04_announcements.py      (or without mpirun: one rank)
"""
import merganser

try:
    from mpi4py import MPI

    comm, rank = MPI.COMM_WORLD, MPI.COMM_WORLD.rank
except ImportError:
    comm, rank = None, 0

network = merganser.Announcements(comm, "manhattan", dimension=2)
for step in range(6):
    if step == rank:
        network.announce(f"rank {rank} is at step {step}".encode())
    for a in network.step():  # handed over everywhere at the same step, in the same order
        if rank == 0:
            print(f"step {network.now}: {a.bytes.decode()} (announced {network.now - a.announced} steps ago)")
for _ in range(network.time_to_live):  # what is still on its way
    for a in network.step():
        if rank == 0:
            print(f"step {network.now}: {a.bytes.decode()}")
