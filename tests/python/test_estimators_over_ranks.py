"""Estimators over the ranks of an MPI: what each rank gets for its share is what one process gets for all points."""
import subprocess
import sys

import pytest
from patience import PATIENCE

PROGRAM = """
import numpy as np
from merganser import HDBSCAN, SingleLinkage, approximate_predict
from mpi4py import MPI

comm = MPI.COMM_WORLD
random = np.random.default_rng(5)
points = np.concatenate([random.normal(c, 0.1, (60, 2)) for c in ((0, 0), (3, 0), (0, 3))] + [np.round(4 * random.random((100, 2)), 1)])
fresh = 4 * random.random((30, 2))
cuts = np.array([0, 50, 50, 160])[: comm.size].tolist() + [len(points)]  # one rank has nothing
here = slice(cuts[comm.rank], cuts[comm.rank + 1])
for ties in ("together", "sequential"):
    alone = HDBSCAN(min_cluster_size=8, ties=ties).fit(points)
    mine = HDBSCAN(min_cluster_size=8, ties=ties, comm=comm).fit(points[here])
    assert np.array_equal(mine.labels_, alone.labels_[here])
    assert np.array_equal(mine.probabilities_, alone.probabilities_[here])
    assert (mine.condensed_tree_ is None) == (mine.single_linkage_tree_ is None) == (comm.rank > 0)
    some = fresh[comm.rank :: comm.size]
    for a, b in zip(approximate_predict(mine, some), approximate_predict(alone, some)):
        assert np.array_equal(a, b)
for more in ({"n_clusters": 4}, {"n_clusters": None, "distance_threshold": 0.5}):
    alone = SingleLinkage(**more).fit(points)
    mine = SingleLinkage(**more, comm=comm).fit(points[here])
    assert np.array_equal(mine.labels_, alone.labels_[here])
    assert mine.n_clusters_ == alone.n_clusters_
def apart(a, b):
    return abs(a[0] - b[0]) + abs(a[1] - b[1])


def refuse(a, b):
    raise ZeroDivisionError("no distance")


holes = points.copy()
holes[[3, 70, 200]] = [[np.nan, 1], [np.inf, 2], [np.nan, -np.inf]]
for given, data in (({"metric": apart}, points), ({"metric": "canberra"}, points), ({"metric": "minkowski", "p": 3}, points),
                    ({"metric": "cosine"}, points + 1), ({"metric": "hamming"}, np.round(points)),
                    ({"metric": "euclidean", "metric_params": {"w": [1.0, 3.0]}}, points), ({}, holes),
                    ({"metric": "canberra"}, holes)):
    for ties in ("together", "sequential"):
        alone = HDBSCAN(8, 4, ties=ties, **given).fit(data)
        mine = HDBSCAN(8, 4, ties=ties, comm=comm, **given).fit(data[here])
        assert np.array_equal(mine.labels_, alone.labels_[here]), given
        assert np.array_equal(mine.probabilities_, alone.probabilities_[here], equal_nan=True), given
        if comm.rank == 0:
            assert np.array_equal(mine.condensed_tree_.to_numpy(), alone.condensed_tree_.to_numpy()), given
        rows = mine.single_linkage_tree_
        if comm.rank == 0:
            assert np.array_equal(rows.to_numpy(), alone.single_linkage_tree_.to_numpy()), given
alone = SingleLinkage(4, metric=apart).fit(points)
assert np.array_equal(SingleLinkage(4, metric=apart, comm=comm).fit(points[here]).labels_, alone.labels_[here])
for given, error in (({"metric": refuse}, (ZeroDivisionError, ValueError)),
                     ({"metric": "canberra", "most_distances": 9}, ValueError),
                     ({"metric": "minkowski", "metric_params": {"p": 3, "w": [1, 2, 3]}}, ValueError)):
    try:
        HDBSCAN(comm=comm, **given).fit(points[here])
        raise SystemExit("not refused")
    except error:
        pass
bad = points[here].copy()
if comm.rank == comm.size - 1:
    bad[0, 0] = np.nan
try:
    SingleLinkage(comm=comm).fit(bad)
except ValueError:
    print("fine", flush=True)
"""


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_every_rank_gets_the_labels_of_its_share(ranks, tmp_path):
    mpi = pytest.importorskip("test_mpi", reason="mpi4py is not here")
    if mpi.LAUNCHER is None:
        pytest.skip("no MPI here that fits mpi4py")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [mpi.LAUNCHER, "-n", str(ranks), sys.executable, "-m", "mpi4py", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200 * PATIENCE, env=mpi.ENVIRONMENT)
    assert done.stdout.count("fine") == ranks, done.stderr  # lines of ranks may meet
