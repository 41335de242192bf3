"""Outlier scores and memberships of points that are spread over the ranks of an MPI; no rank has all points or all memberships.

    mpirun -n 2 python -m mpi4py examples/python/memberships_over_mpi.py
"""
import merganser
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
random = np.random.default_rng(11)  # a real program would read its share; here every rank makes all points and keeps a part
points = np.concatenate([random.normal(c, 0.2, (500, 3)) for c in 4 * random.random((12, 3))] + [4 * random.random((300, 3))])
share = slice(len(points) * comm.rank // comm.size, len(points) * (comm.rank + 1) // comm.size)

fitted = merganser.HDBSCAN(min_cluster_size=40, min_samples=10, comm=comm).fit(points[share])
scores = fitted.outlier_scores_  # of this rank's points
labels, memberships = merganser.all_points_membership_vectors(fitted, top_k=3)
persistence = fitted.cluster_persistence_  # of all clusters, on every rank

unsure = int((memberships[:, 0] < 0.5).sum()) if memberships.shape[1] else len(scores)
print(f"rank {comm.rank}: {len(scores)} points, outlier scores up to {scores.max():.3f}, {unsure} points with no membership of half",
      flush=True)

# The same bits on any number of ranks: every rank compares its part with what it finds for all points alone.
alone = merganser.HDBSCAN(min_cluster_size=40, min_samples=10).fit(points)
expected = merganser.all_points_membership_vectors(alone, top_k=3)
same = (np.array_equal(scores, alone.outlier_scores_[share]) and np.array_equal(labels, expected[0][share])
        and np.array_equal(memberships, expected[1][share]) and np.array_equal(persistence, alone.cluster_persistence_))
everywhere = comm.allreduce(same, op=MPI.LAND)
if comm.rank == 0:
    print(f"{len(persistence)} clusters; one process finds the same: {everywhere}")
