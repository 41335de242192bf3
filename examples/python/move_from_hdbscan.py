"""From the package hdbscan to merganser: every attribute and function beside that of hdbscan, with the values of both if it is here.

    python examples/python/move_from_hdbscan.py
"""
import warnings

import merganser
import numpy as np

try:
    import hdbscan
except ImportError:
    hdbscan = None

random = np.random.default_rng(7)
points = np.concatenate([random.normal(c, s, (120, 3)) for c, s in (((0, 0, 0), 0.1), ((2, 0, 0), 0.3), ((0, 3, 1), 0.2))])
points = np.concatenate([points, random.uniform(-1, 4, (40, 3))])
fresh = random.normal((2, 0, 0), 0.3, (5, 3))

# hdbscan does not count the point itself in min_samples, and its tree is exact only with approx_min_span_tree=False.
ours = merganser.HDBSCAN(min_cluster_size=10, min_samples=2).fit(points)
theirs = None
if hdbscan is not None:
    warnings.simplefilter("ignore")
    theirs = hdbscan.HDBSCAN(min_cluster_size=10, min_samples=1, approx_min_span_tree=False, gen_min_span_tree=True,
                             prediction_data=True).fit(points)

labels = ours.labels_
# Clusters may have other numbers: for each of ours the one of theirs with the same points.
order = None if theirs is None else [int(np.bincount(theirs.labels_[labels == label]).argmax()) for label in range(labels.max() + 1)]


def show(name, mine, other):
    """Prints a line about one attribute: its value here, and how far that of hdbscan is from it."""
    mine = np.asarray(mine, dtype=float)
    brief = f"{mine:.6g}" if mine.ndim == 0 else f"{'x'.join(map(str, mine.shape))}, mean {mine.mean():.6g}"
    apart = "" if theirs is None else f"{np.abs(mine - np.asarray(other(), dtype=float)).max():.1e}"
    print(f"{name:34} {brief:28} {apart}")


print(f"{'':34} {'merganser':28} {'hdbscan differs by' if theirs is not None else '(hdbscan is not installed)'}")
show("labels_", labels, lambda: [-1 if label < 0 else order.index(label) for label in theirs.labels_])
show("probabilities_", ours.probabilities_, lambda: theirs.probabilities_)
show("outlier_scores_", ours.outlier_scores_, lambda: theirs.outlier_scores_)
show("cluster_persistence_", ours.cluster_persistence_, lambda: theirs.cluster_persistence_[order])
show("relative_validity_", ours.relative_validity_, lambda: theirs.relative_validity_)
show("exemplars_ (number of each)", [len(some) for some in ours.exemplars_], lambda: [len(theirs.exemplars_[i]) for i in order])
show("weighted_cluster_centroid(0)", ours.weighted_cluster_centroid(0), lambda: theirs.weighted_cluster_centroid(order[0]))
show("weighted_cluster_medoid(0)", ours.weighted_cluster_medoid(0), lambda: theirs.weighted_cluster_medoid(order[0]))
show("minimum_spanning_tree_ (distances)", ours.minimum_spanning_tree_.to_numpy()[:, 2],
     lambda: np.sort(theirs.minimum_spanning_tree_.to_numpy()[:, 2]))
show("condensed_tree_ (lambdas)", np.sort(ours.condensed_tree_.to_numpy()["lambda_val"]),
     lambda: np.sort(theirs.condensed_tree_.to_numpy()["lambda_val"]))
show("single_linkage_tree_ (heights)", ours.single_linkage_tree_.to_numpy()[:, 2],
     lambda: theirs.single_linkage_tree_.to_numpy()[:, 2])
show("dbscan_clustering(0.3): clusters", ours.dbscan_clustering(0.3).max() + 1, lambda: theirs.dbscan_clustering(0.3).max() + 1)
show("all_points_membership_vectors", merganser.all_points_membership_vectors(ours)[labels >= 0],
     lambda: hdbscan.all_points_membership_vectors(theirs)[labels >= 0][:, order])
show("validity_index (DBCV)", merganser.validity_index(points, labels),
     lambda: hdbscan.validity.validity_index(points, theirs.labels_, metric="minkowski", p=2))

# For new points hdbscan looks at a few nearest fitted ones, with core distances of one neighbour less, so that
# these values differ.
show("approximate_predict (strengths)", merganser.approximate_predict(ours, fresh)[1],
     lambda: hdbscan.approximate_predict(theirs, fresh)[1])
show("approximate_predict_scores", merganser.approximate_predict_scores(ours, fresh),
     lambda: hdbscan.approximate_predict_scores(theirs, fresh))
show("membership_vector", merganser.membership_vector(ours, fresh), lambda: hdbscan.membership_vector(theirs, fresh)[:, order])

# Not in hdbscan: the greatest memberships alone, and a model in a file.
best, values = merganser.all_points_membership_vectors(ours, top_k=2)
print(f"of each point the 2 greatest memberships: clusters {best[0].tolist()} with {values[0].round(4).tolist()} of the first")
model = merganser.PredictionModel(ours)
print(f"{model} predicts {model.predict(fresh)[0].tolist()}")
