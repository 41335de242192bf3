"""Minimum spanning tree and clusters of points over MPI: every rank passes its share and receives the labels of its own points.

mpirun -n 4 python -m mpi4py examples/python/03_tree_over_mpi.py      (an error on one rank then ends all)
"""
import merganser
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
n = 40_000
points = np.random.default_rng(3).random((n, 3))
mine = points[n * comm.rank // comm.size : n * (comm.rank + 1) // comm.size]  # a real program has these only

tree = merganser.euclidean_tree(mine, min_samples=5, comm=comm)
labels = merganser.hdbscan(tree, min_cluster_size=10).labels  # of this rank's points
noise = comm.allreduce(int((labels < 0).sum()))
if comm.rank == 0:
    print(f"{comm.size} ranks, model {tree.team.model}, {MPI.Get_library_version().splitlines()[0]}")
    print(f"{tree.total_edges} edges of total weight {tree.total_weight:.6f}, {noise} points are noise")
    print("digest", tree.digest)
    print("one process finds the same:", merganser.euclidean_tree(points, min_samples=5).digest == tree.digest)
