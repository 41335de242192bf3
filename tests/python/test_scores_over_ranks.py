"""Scores, memberships and predictions over the ranks of an MPI: each rank gets for its points what one process gets for all."""
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE

PROGRAM = """
import numpy as np
import merganser
from merganser import HDBSCAN
from mpi4py import MPI
from score_sets import make_set

comm = MPI.COMM_WORLD
for number in (0, 1, 5, 16, 20):
    _, points, given = make_set(number)
    fresh = np.concatenate([np.random.default_rng(number).normal(0, 1, (30, points.shape[1])), points[:5]])
    cuts = np.array([0, 50, 50, 90])[: comm.size].tolist() + [len(points)]  # of three and four ranks one has nothing
    here, some = slice(cuts[comm.rank], cuts[comm.rank + 1]), slice(comm.rank, None, comm.size)
    keywords = {"min_cluster_size": given["min_cluster_size"], "min_samples": given["samples"] + 1,
                "cluster_selection_method": given["method"], "allow_single_cluster": given["single"], "store_centers": "both"}
    alone = HDBSCAN(**keywords).fit(points)
    mine = HDBSCAN(**keywords, comm=comm).fit(points[here])
    assert np.array_equal(mine.outlier_scores_, alone.outlier_scores_[here])
    for name in ("cluster_persistence_", "relative_validity_", "centroids_", "medoids_"):
        assert np.array_equal(getattr(mine, name), getattr(alone, name)), name
    assert len(mine.exemplars_) == len(alone.exemplars_)
    assert all(map(np.array_equal, mine.exemplars_, alone.exemplars_))
    assert all(map(np.array_equal, mine.exemplar_indices_, alone.exemplar_indices_))
    tree = mine.minimum_spanning_tree_
    assert (tree is None) == (comm.rank > 0)
    assert tree is None or np.array_equal(tree.to_numpy(), alone.minimum_spanning_tree_.to_numpy())
    assert np.array_equal(mine.dbscan_clustering(0.3, 3), alone.dbscan_clustering(0.3, 3)[here])
    if len(alone.centroids_):
        assert np.array_equal(mine.weighted_cluster_medoid(0), alone.weighted_cluster_medoid(0))
    assert np.array_equal(merganser.all_points_membership_vectors(mine), merganser.all_points_membership_vectors(alone)[here])
    for a, b in zip(merganser.all_points_membership_vectors(mine, top_k=2), merganser.all_points_membership_vectors(alone, top_k=2)):
        assert np.array_equal(a, b[here])
    assert np.array_equal(merganser.membership_vector(mine, fresh[some]), merganser.membership_vector(alone, fresh)[some])
    assert np.array_equal(merganser.approximate_predict_scores(mine, fresh[some]),
                          merganser.approximate_predict_scores(alone, fresh)[some])
    for a, b in zip(merganser.approximate_predict(mine, fresh[some], True), merganser.approximate_predict(alone, fresh, True)):
        assert np.array_equal(a, b[some])

# Rows of the direction of fitted ones: at distance 0 but for rounding.
for columns in (3, 20):
    points = np.random.default_rng(6).normal(size=(60, columns))
    keywords = {"min_cluster_size": 4, "metric": "cosine", "allow_single_cluster": True}
    here = slice(60 * comm.rank // comm.size, 60 * (comm.rank + 1) // comm.size)
    alone, mine = HDBSCAN(**keywords).fit(points), HDBSCAN(**keywords, comm=comm).fit(points[here])
    assert np.array_equal(merganser.approximate_predict_scores(mine, 3.1 * points[here]),
                          merganser.approximate_predict_scores(alone, 3.1 * points)[here]), columns

def same(a, b):
    return np.array_equal(a, b, equal_nan=True)

# By metrics of directions and of all pairs, weighted, with rows that are not finite.
_, points, _ = make_set(1)
points = points + 4
points[[3, 71, len(points) - 1], [0, 1, 0]] = np.nan, np.inf, np.nan
weights = np.random.default_rng(3).integers(1, 3, len(points)).astype(float)
cuts = np.array([0, 50, 50, 90])[: comm.size].tolist() + [len(points)]
here, some = slice(cuts[comm.rank], cuts[comm.rank + 1]), slice(comm.rank, None, comm.size)
for metric in ("euclidean", "cosine", "canberra"):
    keywords = {"min_cluster_size": 5, "min_samples": 3, "metric": metric, "store_centers": "both", "ties": "together"}
    alone = HDBSCAN(**keywords).fit(points, sample_weight=weights)
    mine = HDBSCAN(**keywords, comm=comm).fit(points[here], sample_weight=weights[here])
    assert alone.labels_.max() >= 0 and alone.labels_.min() == -3
    for name in ("labels_", "probabilities_", "outlier_scores_"):
        assert same(getattr(mine, name), getattr(alone, name)[here]), (metric, name)
    for name in ("cluster_persistence_", "relative_validity_", "centroids_", "medoids_"):
        assert np.array_equal(getattr(mine, name), getattr(alone, name)), (metric, name)
    for name in ("exemplars_", "exemplar_indices_"):
        assert len(getattr(mine, name)) == len(getattr(alone, name))
        assert all(map(np.array_equal, getattr(mine, name), getattr(alone, name))), (metric, name)
    tree = mine.minimum_spanning_tree_
    assert tree is None or np.array_equal(tree.to_numpy(), alone.minimum_spanning_tree_.to_numpy())
    assert np.array_equal(mine.dbscan_clustering(0.1, 3), alone.dbscan_clustering(0.1, 3)[here])
    if metric == "canberra":
        continue
    assert same(merganser.all_points_membership_vectors(mine), merganser.all_points_membership_vectors(alone)[here])
    fresh = points[4:40] + 0.1
    for function in (merganser.membership_vector, merganser.approximate_predict_scores):
        assert np.array_equal(function(mine, fresh[some]), function(alone, fresh)[some])
    for a, b in zip(merganser.approximate_predict(mine, fresh[some], True), merganser.approximate_predict(alone, fresh, True)):
        assert np.array_equal(a, b[some])
try:
    merganser.PredictionModel(mine)
except merganser.UsageError:
    print("fine", flush=True)
"""


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_every_rank_gets_the_scores_of_its_points(ranks, tmp_path):
    mpi = pytest.importorskip("test_mpi", reason="mpi4py is not here")
    if mpi.LAUNCHER is None:
        pytest.skip("no MPI here that fits mpi4py")
    program = tmp_path / "program.py"
    program.write_text(f"import sys\nsys.path.insert(0, {str(Path(__file__).parent)!r})\n{PROGRAM}")
    command = [mpi.LAUNCHER, "-n", str(ranks), sys.executable, "-m", "mpi4py", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200 * PATIENCE, env=mpi.ENVIRONMENT)
    assert done.stdout.count("fine") == ranks, done.stderr  # lines of ranks may meet
