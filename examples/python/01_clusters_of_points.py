"""Clusters of points: minimum spanning tree, single-linkage dendrogram, cuts, and HDBSCAN*.

python examples/python/01_clusters_of_points.py
"""
import merganser
import numpy as np

rng = np.random.default_rng(1)
blobs = [rng.normal(centre, 0.05, (2000, 3)) for centre in ((0, 0, 0), (1, 0, 0), (0, 1, 1))]
points = np.concatenate([*blobs, rng.uniform(-0.5, 1.5, (500, 3))])

# Single linkage: the exact tree is one, whatever finds it.
tree = merganser.euclidean_tree(points)
print(tree)
z = merganser.linkage(tree)  # as scipy.cluster.hierarchy has it
labels = merganser.cut(z, height=0.1)
print(f"single linkage at 0.1: {labels.max() + 1} clusters, the largest of {np.bincount(labels).max()} points")

# HDBSCAN*: mutual reachability distances, clusters of any density, noise.
tree = merganser.euclidean_tree(points, min_samples=10)
found = merganser.hdbscan(tree, min_cluster_size=50)
print(f"HDBSCAN*: {found.labels.max() + 1} clusters of {np.bincount(found.labels[found.labels >= 0])} points, "
      f"{(found.labels < 0).sum()} are noise")

# The same bits on four ranks, which are threads of this process here.
again = merganser.euclidean_tree(points, min_samples=10, ranks=4)
print("four ranks find the same tree:", again.digest == tree.digest)
