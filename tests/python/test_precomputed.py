"""Precomputed distances: infinite ones, sparse matrices, and graphs of any form in minimum_spanning_forest()."""
import warnings

import merganser
import numpy as np
import pytest
from merganser import HDBSCAN, SingleLinkage

sparse = pytest.importorskip("scipy.sparse")
random = np.random.default_rng(2)
BLOBS = np.concatenate([random.normal(c, 0.3, (50, 2)) for c in ((0, 0), (3, 0), (0, 3))])
DISTANCES = np.sqrt(((BLOBS[:, None] - BLOBS[None]) ** 2).sum(axis=2))
NEAR = sparse.csr_matrix(np.where(DISTANCES < 2.2, DISTANCES, 0))
PARTS = sparse.csr_matrix(np.where(DISTANCES < 1.2, DISTANCES, 0))


def scikit_learns(X, **parameters):
    cluster = pytest.importorskip("sklearn.cluster", reason="the comparison needs scikit-learn (checked with 1.9.1)")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cluster.HDBSCAN(metric="precomputed", copy=True, **parameters).fit(X.copy())


@pytest.mark.parametrize("form", ["csr_matrix", "csc_matrix", "coo_array", "lil_array", "csr_array"])
def test_sparse_distances_give_scikit_learns_labels(form):
    given = getattr(sparse, form)(NEAR)
    for samples in (1, 3, 8):
        theirs = scikit_learns(sparse.csr_matrix(NEAR), min_cluster_size=6, min_samples=samples)
        ours = HDBSCAN(6, samples, metric="precomputed").fit(given)
        np.testing.assert_array_equal(ours.labels_, theirs.labels_)
        np.testing.assert_allclose(ours.probabilities_, theirs.probabilities_, rtol=1e-9)
        assert ours.exact_order_ and ours.n_features_in_ == 150
    assert (given.toarray() == NEAR.toarray()).all(), "distances are only read"


def test_entries_that_repeat_are_added_up():
    coo = NEAR.tocoo()
    half = sparse.coo_array((np.tile(coo.data / 2, 2), (np.tile(coo.row, 2), np.tile(coo.col, 2))), shape=coo.shape)
    whole = HDBSCAN(6, 3, metric="precomputed").fit(NEAR)
    np.testing.assert_array_equal(HDBSCAN(6, 3, metric="precomputed").fit(half).labels_, whole.labels_)
    assert merganser.minimum_spanning_forest(half).digest == merganser.minimum_spanning_forest(NEAR).digest


def test_pairs_that_are_not_stored_are_no_edges():
    with pytest.raises(merganser.InputError, match="3 connected components .*disconnected graph.*; allowed: one, or metric_params"):
        HDBSCAN(6, 3, metric="precomputed").fit(PARTS)
    with pytest.warns(UserWarning, match=r"edge weights with value infinity \(2 of 149\)"):
        joined = HDBSCAN(6, 3, metric="precomputed", metric_params={"max_distance": np.inf}).fit(PARTS)
    assert joined.exact_order_ is False
    assert [len(set(joined.labels_[part])) for part in (slice(0, 50), slice(50, 100), slice(100, 150))].count(0) == 0
    firsts = [np.bincount(joined.labels_[part][joined.labels_[part] >= 0]).argmax()
              for part in (slice(0, 50), slice(50, 100), slice(100, 150))]
    assert len(set(firsts)) == 3
    apart = SingleLinkage(None, distance_threshold=np.inf, metric="precomputed").fit(PARTS)
    assert apart.labels_.tolist() == [0] * 50 + [1] * 50 + [2] * 50 and apart.n_connected_components_ == 3
    with pytest.raises(merganser.InputError, match="There exists points with fewer than 60 neighbors: row 0 stores"):
        HDBSCAN(60, metric="precomputed").fit(PARTS)


@pytest.mark.parametrize("change, text", [
    (lambda m: m[:5], r"X: The precomputed distance matrix has shape \(5, 150\)"),
    (lambda m: sparse.triu(m), "X: The precomputed distance matrix has values that are not symmetric"),
    (lambda m: -m, "X: contains a distance of -"), (lambda m: m * np.nan, "X: contains NaN"),
    (lambda m: m * 1j, "X: a sparse matrix of complex128; allowed: real numbers"),
])
def test_sparse_distances_are_refused_by_what_is_wrong(change, text):
    for estimator in (HDBSCAN(metric="precomputed"), SingleLinkage(metric="precomputed")):
        with pytest.raises(merganser.InputError, match=f"^{text}"):
            estimator.fit(change(NEAR))


@pytest.mark.parametrize("scale", [1e-12, 1e-9, 1.0, 1e9, 1e-300])
def test_distances_are_symmetric_whatever_their_unit(scale):
    for matrix in (DISTANCES, sparse.csr_matrix(NEAR)):
        bent = matrix.copy()
        bent[3, 7] = 1.5 * bent[3, 7] + 0.25
        bent[7, 3] = 0.5 * bent[7, 3] + 0.25
        for estimator in (HDBSCAN(6, 3, metric="precomputed"), SingleLinkage(3, metric="precomputed")):
            with pytest.raises(merganser.InputError, match="values that are not symmetric"):
                estimator.fit(bent * scale)
            rounded = matrix * scale
            rounded[3, 7] *= 1 + 1e-9
            assert (estimator.fit(rounded).labels_ == estimator.fit(matrix * scale).labels_).all()


def test_infinite_distances_are_scikit_learns():
    holes = np.where(DISTANCES < 1.2, DISTANCES, np.inf)
    for samples in (1, 4):
        theirs = scikit_learns(holes, min_cluster_size=6, min_samples=samples)
        with pytest.warns(UserWarning, match="edge weights with value infinity"):
            ours = HDBSCAN(6, samples, metric="precomputed").fit(holes)
        np.testing.assert_array_equal(ours.labels_, theirs.labels_)
        np.testing.assert_allclose(ours.probabilities_, theirs.probabilities_, rtol=1e-9)
        assert np.isinf(ours.single_linkage_tree_.to_numpy()[:, 2]).sum() == 2
    few = np.array([[1, np.inf], [np.inf, 1]])
    with pytest.warns(UserWarning, match="infinity"):
        assert HDBSCAN(min_samples=1, metric="precomputed").fit(few).labels_.tolist() == [-1, -1]


@pytest.mark.parametrize("bad, label", [(np.inf, -2), (-np.inf, -2), (np.nan, -3)])
def test_rows_that_are_not_finite_are_scikit_learns(bad, label):
    cluster = pytest.importorskip("sklearn.cluster", reason="the comparison needs scikit-learn (checked with 1.9.1)")
    points = BLOBS.copy()
    points[0, 1] = points[70, 0] = bad
    points[149] = [np.nan, np.inf]
    theirs = cluster.HDBSCAN(6, copy=True).fit(points)  # whose centres fail here
    ours = HDBSCAN(6, store_centers="both").fit(points)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(ours.probabilities_, theirs.probabilities_, rtol=1e-9)
    assert ours.labels_[[0, 70, 149]].tolist() == [label, label, -3]
    assert (ours.probabilities_[0] == 0) == (label == -2) and np.isnan(ours.probabilities_[149])
    rows = ours.single_linkage_tree_.to_numpy()
    expected = np.array([tuple(row) for row in theirs._single_linkage_tree_], dtype=float)
    from scipy.cluster.hierarchy import is_valid_linkage

    assert is_valid_linkage(np.where(np.isinf(rows), 1e9, rows)), "each cluster is merged once"
    assert rows.shape == (149, 4) and np.isinf(rows[-3:, 2]).all() and (rows[-3:, 3] == [148, 149, 150]).all()
    np.testing.assert_allclose(np.sort(rows[:, 2]), np.sort(expected[:, 2]), rtol=1e-12)
    condensed = ours.condensed_tree_.to_numpy()
    fallen = condensed[np.isin(condensed["child"], [0, 70, 149])]
    assert (fallen["lambda_val"] == 0).all() and (fallen["parent"] == 150).all()
    inside = ours.labels_ >= 0
    labels, _ = ours.approximate_predict(points[inside])
    assert (labels == ours.labels_[inside]).mean() > 0.9
    for label, centre in enumerate(ours.centroids_):
        of = ours.labels_ == label
        np.testing.assert_allclose(centre, np.average(points[of], axis=0, weights=ours.probabilities_[of]))


def test_sparse_rows_are_dense_rows():
    given = sparse.csr_matrix(BLOBS)
    assert (HDBSCAN(8).fit(given).labels_ == HDBSCAN(8).fit(BLOBS).labels_).all()
    with pytest.raises(merganser.UsageError, match="algorithm: 'ball_tree' with sparse X"):
        HDBSCAN(8, algorithm="ball_tree").fit(given)
    with pytest.raises(TypeError, match="SingleLinkage: X is sparse; allowed: dense arrays"):
        SingleLinkage().fit(given)


def test_forests_are_made_of_dense_adjacency_as_scipys_are():
    csgraph = pytest.importorskip("scipy.sparse.csgraph")
    matrix = np.where(DISTANCES < 1.2, DISTANCES, np.inf)
    matrix[3, 4] = matrix[4, 3] = np.nan
    forest = merganser.minimum_spanning_forest(matrix, ranks=2)
    theirs = csgraph.minimum_spanning_tree(np.where(np.isfinite(matrix), matrix, 0))
    assert forest.components == 3 and forest.total_weight == pytest.approx(theirs.sum(), rel=1e-12)
    assert merganser.minimum_spanning_forest(np.array([[0, 2], [1, 0]])).weights.tolist() == [1]
    for bad, error, text in ((np.zeros((2, 3)), merganser.InputError, r"graph: an array of shape \(2, 3\); allowed: \(n, n\)"),
                             (np.zeros((2, 2), complex), TypeError, "graph: an array of complex128")):
        with pytest.raises(error, match=text):
            merganser.minimum_spanning_forest(bad)


def test_forests_are_made_of_graphs_of_networkx():
    networkx = pytest.importorskip("networkx")
    graph = networkx.gnm_random_graph(60, 150, seed=4)
    for place, (a, b) in enumerate(graph.edges):
        graph[a][b]["weight"] = (place * 37) % 101
    named = networkx.relabel_nodes(graph, {node: f"node {node}" for node in graph})
    expected = networkx.minimum_spanning_tree(graph).size("weight")
    for one in (graph, named, graph.to_directed(), networkx.MultiGraph(graph)):
        forest = merganser.minimum_spanning_forest(one, ranks=2)
        assert forest.total_weight == expected and forest.weights.dtype == np.int64
        assert forest.components == networkx.number_connected_components(graph)
    path = merganser.minimum_spanning_forest(networkx.path_graph(4))
    assert path.edges.tolist() == [[0, 1], [1, 2], [2, 3]] and path.weights.tolist() == [1, 1, 1]
    assert merganser.minimum_spanning_forest(networkx.Graph()).vertices == 0


@pytest.mark.parametrize("kind", [HDBSCAN, SingleLinkage])
def test_one_point_is_refused_alike_in_dense_and_sparse_matrices(kind):
    for matrix in (np.zeros((1, 1)), sparse.csr_matrix((1, 1)), sparse.coo_array((1, 1))):
        with pytest.raises(merganser.InputError, match=r"^X: 1 sample \(n_samples=1\); allowed: 2 and more"):
            kind(metric="precomputed").fit(matrix)
