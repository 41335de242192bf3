"""Trees of points and forests of graphs, compared with SciPy's."""
import merganser
import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import pdist, squareform


def points_of(n, d, seed=1):
    return np.random.default_rng(seed).random((n, d))


def brute_weights(points):
    """Weights of the minimum spanning tree of the complete graph, ascending."""
    return np.sort(minimum_spanning_tree(squareform(pdist(points))).data)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("n", [2, 3, 10, 200])
def test_a_tree_of_points_has_the_weights_of_the_complete_graphs(n, d):
    points = points_of(n, d)
    forest = merganser.euclidean_tree(points)
    assert forest.edges.shape == (n - 1, 2)
    np.testing.assert_allclose(forest.weights, brute_weights(points), rtol=1e-14)
    a, b = points[forest.edges[:, 0]], points[forest.edges[:, 1]]
    np.testing.assert_allclose(forest.weights, np.sqrt(((a - b) ** 2).sum(axis=1)), rtol=1e-14)
    assert (forest.edges[:, 0] < forest.edges[:, 1]).all()
    assert (np.diff(forest.weights) >= 0).all()
    assert forest.components == 1


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_the_tree_is_the_same_on_any_number_of_ranks_and_threads(ranks):
    points = points_of(3000, 3)
    alone = merganser.euclidean_tree(points, min_samples=4)
    spread = merganser.euclidean_tree(points, min_samples=4, ranks=ranks, threads=2)
    assert spread.digest == alone.digest
    np.testing.assert_array_equal(spread.edges, alone.edges)
    np.testing.assert_array_equal(spread.weights, alone.weights)


def test_numbers_of_points_name_them():
    points = points_of(100, 3)
    order = np.random.default_rng(2).permutation(100)
    forest = merganser.euclidean_tree(points[order], ids=order)
    assert forest.digest == merganser.euclidean_tree(points).digest


def test_a_periodic_box_joins_its_faces():
    points = np.array([[0.01, 0.5], [0.99, 0.5], [0.5, 0.5]])
    forest = merganser.euclidean_tree(points, box=(0, 1), periodic=[True, False])
    assert forest.edges[0].tolist() == [0, 1]
    np.testing.assert_allclose(forest.weights, [0.02, 0.49])


def test_mutual_reachability_counts_the_point_itself():
    points = points_of(200, 3)
    distance = squareform(pdist(points))
    core = np.sort(distance, axis=1)[:, 4]
    mutual = np.maximum(distance, np.maximum(core[:, None], core[None, :]))
    np.fill_diagonal(mutual, 0)
    forest = merganser.euclidean_tree(points, min_samples=5)
    np.testing.assert_allclose(forest.weights, np.sort(minimum_spanning_tree(mutual).data), rtol=1e-14)


def random_graph(n, m, weights, seed=3):
    rng = np.random.default_rng(seed)
    u, v = rng.integers(0, n, m), rng.integers(0, n, m)
    return u, v, weights(rng, m)


@pytest.mark.parametrize("weights", [
    lambda rng, m: rng.random(m),
    lambda rng, m: rng.integers(1, 2**40, m),
    lambda rng, m: rng.integers(1, 2**40, m).astype(np.uint64),
    lambda rng, m: rng.integers(-50, 50, m),
    lambda rng, m: rng.random(m).astype(np.float32),
])
@pytest.mark.parametrize("ranks", [1, 3])
def test_a_forest_of_a_graph_weighs_what_the_oracle_says(weights, ranks):
    n = 300
    u, v, w = random_graph(n, 2000, weights)
    forest = merganser.minimum_spanning_forest((n, u, v, w), ranks=ranks)
    parent = list(range(n))

    def root(x):
        while parent[x] != x:
            x = parent[x]
        return x

    total = []
    for i in np.lexsort((np.maximum(u, v), np.minimum(u, v), w)):
        a, b = root(u[i]), root(v[i])
        if a != b:
            parent[a] = b
            total.append((w[i], min(u[i], v[i]), max(u[i], v[i])))
    assert forest.weights.tolist() == [t[0] for t in total]
    assert forest.edges.tolist() == [[t[1], t[2]] for t in total]
    assert forest.vertices == n


def test_matrices_of_scipy_are_graphs():
    points = points_of(60, 3)
    distance = squareform(pdist(points))
    for graph in (coo_array(distance), csr_array(distance)):
        forest = merganser.minimum_spanning_forest(graph)
        np.testing.assert_array_equal(forest.weights, brute_weights(points))
    back = forest.to_scipy()
    assert back.nnz == 59
    np.testing.assert_allclose(back.sum(), forest.total_weight)


def test_a_maximum_forest_takes_the_heaviest():
    forest = merganser.minimum_spanning_forest((3, [0, 1, 2], [1, 2, 0], [1, 2, 3]), maximum=True)
    assert sorted(forest.weights.tolist()) == [2, 3]


def test_an_empty_set_has_an_empty_tree():
    for n in (0, 1):
        forest = merganser.euclidean_tree(np.zeros((n, 3)))
        assert forest.edges.shape == (0, 2)
        assert forest.weights.shape == (0,)
        assert forest.vertices == n
    empty = merganser.minimum_spanning_forest((0, [], [], []))
    assert len(empty) == 0


def test_edges_cannot_be_written_and_outlive_their_forest():
    edges = merganser.euclidean_tree(points_of(50, 3)).edges
    with pytest.raises(ValueError):
        edges[0, 0] = 7
    assert edges.max() == 49
