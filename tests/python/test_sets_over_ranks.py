"""The thirty sets of test_beside_hdbscan.py over the ranks of an MPI: every attribute of each has the bits of one process; labels are
scikit-learn's, and where there are no ties all are hdbscan's (on one rank of all sets, on more of every fifth)."""
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE

PROGRAM = """
import warnings
import numpy as np
import merganser
from merganser import HDBSCAN
from mpi4py import MPI
from score_sets import SETS, make_set

comm = MPI.COMM_WORLD
try:
    import hdbscan
    import sklearn.cluster
except ImportError:
    hdbscan = None
if hdbscan is not None:
    from test_beside_hdbscan import equal, equal_memberships, order_of, theirs

def gathered(values):
    parts = comm.gather(values, root=0)
    return None if parts is None else np.concatenate(parts)

def beside_others(number, points, given, keywords, all_of):
    warnings.simplefilter("ignore")
    learned = sklearn.cluster.HDBSCAN(algorithm="kd_tree", **{**keywords, "store_centers": "centroid"}).fit(points)
    assert np.array_equal(all_of["labels_"], learned.labels_), number
    equal(all_of["probabilities_"], learned.probabilities_)
    if len(learned.centroids_):
        equal(all_of["centroids_"], learned.centroids_)
    if number >= 15:
        return 1, 0  # ties
    _, other = theirs(points, given)
    order = order_of(other.labels_, all_of["labels_"])
    equal(all_of["probabilities_"], other.probabilities_)
    equal(all_of["outlier_scores_"], other.outlier_scores_)
    equal(all_of["cluster_persistence_"], other.cluster_persistence_[order])
    equal(all_of["relative_validity_"], other.relative_validity_)
    equal(all_of["heights"], np.sort(other.minimum_spanning_tree_.to_numpy()[:, 2]))
    for label, theirs_label in enumerate(order):
        equal(all_of["centroids_"][label], other.weighted_cluster_centroid(theirs_label))
        equal(all_of["medoids_"][label], other.weighted_cluster_medoid(theirs_label))
    if not given["single"]:  # as in test_beside_hdbscan.py
        other.generate_prediction_data()
        assert all(np.array_equal(np.sort(all_of["exemplars_"][i], axis=0), np.sort(other.exemplars_[j], axis=0))
                   for i, j in enumerate(order))
        equal_memberships(all_of["memberships"], hdbscan.all_points_membership_vectors(other)[:, order], all_of["labels_"])
    return 1, 1

counts = np.zeros(2, dtype=int)
for number in SETS:
    _, points, given = make_set(number)
    cuts = [0, *np.sort(np.random.default_rng(number).integers(0, len(points), comm.size - 1)), len(points)]
    here = slice(cuts[comm.rank], cuts[comm.rank + 1])
    keywords = {"min_cluster_size": given["min_cluster_size"], "min_samples": given["samples"] + 1,
                "cluster_selection_method": given["method"], "allow_single_cluster": given["single"], "store_centers": "both"}
    mine, alone = HDBSCAN(**keywords, comm=comm).fit(points[here]), HDBSCAN(**keywords).fit(points)
    all_of = {}
    for name in ("labels_", "probabilities_", "outlier_scores_"):
        all_of[name] = gathered(getattr(mine, name))
        assert np.array_equal(getattr(mine, name), getattr(alone, name)[here]), (number, name)
    for name in ("cluster_persistence_", "relative_validity_", "centroids_", "medoids_"):
        all_of[name] = getattr(mine, name)
        assert np.array_equal(all_of[name], getattr(alone, name)), (number, name)
    for name in ("exemplars_", "exemplar_indices_"):
        all_of[name] = getattr(mine, name)
        assert len(all_of[name]) == len(getattr(alone, name)), (number, name)
        assert all(map(np.array_equal, all_of[name], getattr(alone, name))), (number, name)
    vectors = merganser.all_points_membership_vectors(mine)
    assert np.array_equal(vectors, merganser.all_points_membership_vectors(alone)[here])
    all_of["memberships"] = gathered(vectors)
    assert np.array_equal(mine.dbscan_clustering(0.5, 4), alone.dbscan_clustering(0.5, 4)[here])
    tree, fresh = mine.minimum_spanning_tree_, points[::7] + 0.01
    some = slice(comm.rank, None, comm.size)
    for function in (merganser.membership_vector, merganser.approximate_predict_scores):
        assert np.array_equal(function(mine, fresh[some]), function(alone, fresh)[some]), number
    for a, b in zip(merganser.approximate_predict(mine, fresh[some], True), merganser.approximate_predict(alone, fresh, True)):
        assert np.array_equal(a, b[some]), number
    if comm.rank == 0:
        for a, b in ((tree, alone.minimum_spanning_tree_), (mine.condensed_tree_, alone.condensed_tree_),
                     (mine.single_linkage_tree_, alone.single_linkage_tree_)):
            assert np.array_equal(a.to_numpy(), b.to_numpy()), number
        all_of["heights"] = tree.to_numpy()[:, 2]
        if hdbscan is not None and (comm.size == 1 or number % 5 == 0):  # of more ranks some: the bits are those of one
            counts += beside_others(number, points, given, keywords, all_of)
    else:
        mine.single_linkage_tree_  # collective
assert comm.rank > 0 or hdbscan is None or counts.tolist() == ([30, 15] if comm.size == 1 else [6, 3]), counts
print("fine", flush=True)
"""


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_thirty_sets_have_the_values_of_one_process_and_of_the_other_packages(ranks, tmp_path):
    mpi = pytest.importorskip("test_mpi", reason="mpi4py is not here")
    if mpi.LAUNCHER is None:
        pytest.skip("no MPI here that fits mpi4py")
    program = tmp_path / "program.py"
    program.write_text(f"import sys\nsys.path.insert(0, {str(Path(__file__).parent)!r})\n{PROGRAM}")
    command = [mpi.LAUNCHER, "-n", str(ranks), sys.executable, "-m", "mpi4py", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=400 * PATIENCE, env=mpi.ENVIRONMENT)
    assert done.stdout.count("fine") == ranks, done.stderr  # lines of ranks may meet
