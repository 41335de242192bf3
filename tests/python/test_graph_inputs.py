"""Graphs as they are given: sparse matrices of all formats, arrays of all types, against SciPy and against Kruskal's algorithm."""
import itertools

import merganser
import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph

from references import kruskal


def forest_of(n, u, v, w, maximum=False):
    """Edges and weights of the forest in the strict order (weight, low, high), for a maximum forest descending in weight."""
    taken = kruskal(n, [(-weight if maximum else weight, min(a, b), max(a, b)) for a, b, weight in zip(u, v, w) if a != b])
    rows = sorted((-weight if maximum else weight, a, b) for weight, a, b in taken)
    return [[a, b] for _, a, b in rows], [weight for weight, _, _ in rows]


def check(forest, n, u, v, w, maximum=False):
    edges, weights = forest_of(n, u, v, w, maximum)
    assert forest.edges.tolist() == edges
    assert forest.weights.tolist() == weights
    assert (forest.vertices, forest.total_edges, forest.components) == (n, len(edges), n - len(edges))


def entries(matrix):
    """The stored entries of a matrix, with those at one place added up: (u, v, w)."""
    coo = matrix.tocoo(copy=True)
    found = {}
    for i, j, w in zip(coo.row.tolist(), coo.col.tolist(), coo.data.tolist()):
        found[i, j] = found.get((i, j), 0) + w
    return [i for i, _ in found], [j for _, j in found], list(found.values())


def random_matrix(n, m, seed):
    """A COO matrix with entries that repeat, entries in both triangles, zeros that are stored, and a diagonal."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(0, n, m), rng.integers(0, n, m)
    return sparse.coo_matrix((rng.integers(0, 9, m).astype(float), (rows, columns)), shape=(n, n))


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("array", [False, True], ids=["matrix", "array"])
def test_every_format_of_scipy_is_the_same_graph(kind, array, ranks):
    matrix = random_matrix(12, 60, 2)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()  # of which not every format keeps all
    given = (sparse.coo_array if array else sparse.coo_matrix)(matrix).asformat(kind)
    before = given.toarray()
    forest = merganser.minimum_spanning_forest(given, ranks=ranks)
    if kind in ("bsr", "dia"):  # which store zeros beside
        given = given.tocoo()
        given.eliminate_zeros() if kind == "dia" else None
    check(forest, 12, *entries(given))
    assert (given.toarray() == before).all()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("maximum", [False, True])
def test_duplicates_are_added_zeros_are_edges_and_the_diagonal_is_none(seed, maximum):
    matrix = random_matrix(9, 40, seed)
    check(merganser.minimum_spanning_forest(matrix, maximum=maximum), 9, *entries(matrix), maximum)
    check(merganser.minimum_spanning_forest(matrix.tocsr(), maximum=maximum), 9, *entries(matrix), maximum)
    check(merganser.minimum_spanning_forest(matrix.tocsc(), maximum=maximum), 9, *entries(matrix), maximum)


def test_unsorted_columns_and_a_csr_that_is_not_canonical_are_read_and_left_alone():
    indptr, indices = np.array([0, 4, 5, 5]), np.array([2, 1, 2, 0, 2])
    matrix = sparse.csr_matrix((np.array([4.0, 3.0, -1.0, 0.5, 2.0]), indices, indptr), shape=(3, 3))
    assert not matrix.has_sorted_indices
    forest = merganser.minimum_spanning_forest(matrix)
    assert forest.edges.tolist() == [[1, 2], [0, 1]] or forest.weights.tolist() == [2, 3]
    check(forest, 3, *entries(matrix))
    assert matrix.indices.tolist() == [2, 1, 2, 0, 2] and matrix.nnz == 5


def test_the_lighter_of_both_triangles_counts_and_for_a_maximum_the_heavier():
    matrix = sparse.csr_array(np.array([[0, 5.0, 0], [2.0, 0, 7.0], [1.0, 9.0, 0]]))
    assert merganser.minimum_spanning_forest(matrix).weights.tolist() == [1, 2]
    assert merganser.minimum_spanning_forest(matrix, maximum=True).weights.tolist() == [5, 9]


@pytest.mark.parametrize("seed", range(5))
def test_weight_and_components_are_those_of_scipys_csgraph(seed):
    rng = np.random.default_rng(seed)
    matrix = sparse.random_array((40, 40), density=[0.01, 0.03, 0.05, 0.2, 0.9][seed], rng=rng, format="csr")
    matrix.data += 0.1
    forest = merganser.minimum_spanning_forest(matrix, ranks=1 + seed % 3, threads=2)
    theirs = csgraph.minimum_spanning_tree(matrix)
    np.testing.assert_array_equal(forest.weights, np.sort(theirs.data))
    assert forest.components == csgraph.connected_components(matrix, directed=False)[0]
    assert csgraph.connected_components(forest.to_scipy(), directed=False)[0] == forest.components
    assert forest.to_scipy().sum() == pytest.approx(theirs.sum(), rel=1e-15)


WEIGHTS = {
    "u1": [0, 255, 3, 3, 254, 7], "i1": [-128, 127, 0, -1, 0, 5], ">u2": [65535, 0, 1, 1, 2, 3],
    ">i4": [-2**31, 2**31 - 1, 0, 1, 1, 2],
    "u8": [2**64 - 1, 0, 2**63, 2**63 - 1, 5, 5], "i8": [-2**63, 2**63 - 1, 0, -1, 1, 1], "f2": [0.5, -0.5, 65504, 1, 1, 2],
    ">f4": [1.5, -2.5, 1e30, 1e-40, 0, 0], "f8": [np.inf, -np.inf, 1e308, -1e308, 5e-324, 0],
    "?": [True, False, True, False, True, True],
    "g": [1, 2, 3, 4, 5, 6],
}


@pytest.mark.parametrize("ranks", [1, 4])
@pytest.mark.parametrize("dtype", WEIGHTS)
def test_weights_of_every_type_keep_their_values_and_order(dtype, ranks):
    w = np.array(WEIGHTS[dtype], dtype=dtype)
    u, v = [0, 1, 2, 3, 4, 0], [1, 2, 3, 4, 0, 2]
    kind = {"u": np.uint64, "b": np.uint64, "i": np.int64, "f": np.float64}[w.dtype.kind]
    for maximum in (False, True):
        forest = merganser.minimum_spanning_forest((5, u, v, w), ranks=ranks, maximum=maximum)
        assert forest.weights.dtype == kind
        check(forest, 5, u, v, w.astype(kind).tolist(), maximum)


def test_python_integers_are_exact_up_to_64_bits_and_refused_beyond():
    big = [2**64 - 1, 2**64 - 2, 2**63]
    forest = merganser.minimum_spanning_forest((3, [0, 1, 2], [1, 2, 0], big))
    assert forest.weights.tolist() == [2**63, 2**64 - 2]
    assert forest.total_weight_text == str(2**63 + 2**64 - 2)
    assert merganser.minimum_spanning_forest((2, [0], [1], np.array([-2**63], object))).weights.tolist() == [-2**63]
    for beyond in ([2**64], [-2**63 - 1], [-1, 2**63]):
        with pytest.raises(merganser.InputError, match="w: .*"):
            edges = ([0] * len(beyond), [1] * len(beyond))
            merganser.minimum_spanning_forest((2, *edges, np.array(beyond, object)))


def test_parallel_edges_and_loops_are_allowed_and_the_lightest_is_taken():
    u, v, w = [0, 1, 0, 0, 1, 2, 2], [1, 0, 1, 0, 1, 2, 1], [3, 2, 5, -9, -9, -9, 4]
    for ranks in (1, 2, 5):
        check(merganser.minimum_spanning_forest((4, u, v, w), ranks=ranks), 4, u, v, w)
        check(merganser.minimum_spanning_forest((4, u, v, w), ranks=ranks, maximum=True), 4, u, v, w, True)


@pytest.mark.parametrize("n, m", list(itertools.product([1, 2, 7, 30], [0, 1, 40])))
@pytest.mark.parametrize("ranks", [1, 2, 7])
def test_graphs_of_few_weights_follow_the_strict_order(n, m, ranks):
    rng = np.random.default_rng(n * 100 + m)
    u, v, w = rng.integers(0, n, m), rng.integers(0, n, m), rng.integers(-1, 2, m)
    for maximum in (False, True):
        forest = merganser.minimum_spanning_forest((n, u, v, w), maximum=maximum, ranks=ranks)
        edges, weights = forest_of(n, u.tolist(), v.tolist(), w.tolist(), maximum)
        assert forest.weights.tolist() == weights
        assert forest.components == n - len(edges)
        if not maximum:
            assert forest.edges.tolist() == edges


def test_ends_of_edges_may_have_any_layout():
    rng = np.random.default_rng(3)
    u, v, w = rng.integers(0, 20, 60), rng.integers(0, 20, 60), rng.random(60)
    plain = merganser.minimum_spanning_forest((20, u, v, w)).digest
    pairs = np.asfortranarray(np.stack([u, v], axis=1).astype(">i2"))
    for graph in ([20, u.tolist(), v.tolist(), w.tolist()], (np.int16(20), pairs[:, 0], pairs[:, 1], w[::-1].copy()[::-1]),
                  (20, u.astype("u8"), v.astype("u1"), np.repeat(w, 2)[::2]), merganser.Graph(20, u, v, w),
                  (20, np.ma.array(u), u.__class__(u.shape, u.dtype, v.copy().data), np.ma.array(w, mask=False))):
        assert merganser.minimum_spanning_forest(graph).digest == plain


def test_pandas_gives_columns_of_edges():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"weight": [2.5, 0.5, 1.0], "to": [1, 2, 0], "from": [0, 1, 2]})
    forest = merganser.minimum_spanning_forest((3, frame["from"], frame["to"], frame["weight"]))
    assert forest.edges.tolist() == [[1, 2], [0, 2]] and forest.weights.tolist() == [0.5, 1]
    whole = pandas.array([7, 3, 9], dtype="Int64")
    assert merganser.minimum_spanning_forest((3, frame["from"], frame["to"], whole)).weights.tolist() == [3, 7]
    whole[1] = pandas.NA
    with pytest.raises(merganser.InputError, match="missing value|NaN"):
        merganser.minimum_spanning_forest((3, frame["from"], frame["to"], whole))
    with pytest.raises(TypeError, match="u: .*the text 'a'|u: an array of"):
        merganser.minimum_spanning_forest((3, pandas.Series(list("abc")), frame["to"], frame["weight"]))


GOOD = {"n": 3, "u": [0, 1], "v": [1, 2], "w": [1.0, 2.0]}


@pytest.mark.parametrize("bad, error, text", [
    ({"n": -1}, merganser.UsageError, f"n: -1; allowed: from 0 to {2**62}"),
    ({"n": 3.0}, TypeError, "n: a float; allowed: a whole number"),
    ({"n": "3"}, TypeError, "n: a str"),
    ({"n": True}, TypeError, "n: True; allowed: a whole number"),
    ({"n": 2}, merganser.InputError, r"edge 1: \(1, 2\); allowed: vertices from 0 to below 2"),
    ({"n": 0}, merganser.InputError, r"edge 0: \(0, 1\); allowed: vertices from 0 to below 0"),
    ({"u": [0, -1]}, merganser.InputError, r"edge 1: \(-1, 2\); allowed: vertices from 0 to below 3"),
    ({"v": [3, 2]}, merganser.InputError, r"edge 0: \(0, 3\)"),
    ({"u": [0.0, 1.0]}, TypeError, "u: an array of float64; allowed: whole numbers"),
    ({"v": [0.5, 1.0]}, TypeError, "v: an array of float64; allowed: whole numbers"),
    ({"u": [[0, 1]]}, merganser.InputError, r"u: an array of shape \(1, 2\); allowed: \(n,\)"),
    ({"u": 0}, merganser.InputError, r"u: an array of shape \(\); allowed: \(n,\)"),
    ({"v": [1]}, merganser.InputError, r"v: an array of shape \(1,\); allowed: \(2,\)"),
    ({"w": [1.0, 2.0, 3.0]}, merganser.InputError, r"w: an array of shape \(3,\); allowed: \(2,\)"),
    ({"u": [2**63, 0]}, merganser.InputError, "u: 9223372036854775808; allowed: numbers below 2.63"),
    ({"w": ["1", "2"]}, TypeError, "w: an array of <U1; allowed: real numbers"),
    ({"w": [1j, 2]}, TypeError, "w: an array of complex128; allowed: real numbers"),
    ({"w": [None, 2]}, merganser.InputError, r"w: \[0\]: a missing value \(None\); allowed: numbers"),
    ({"w": np.ma.array([1, 2], mask=[0, 1])}, merganser.InputError, r"w: 1 masked values, the first at \[1\]"),
    ({"v": np.ma.array([1, 2], mask=True)}, merganser.InputError, r"v: 2 masked values, the first at \[0\]"),
    ({"w": [1.0, np.nan]}, merganser.InputError, ".*NaN|.*nan"),
])
@pytest.mark.parametrize("ranks", [1, 2])
def test_edges_are_refused_by_name_and_place(bad, error, text, ranks):
    with pytest.raises(error, match=f"^{text}"):
        merganser.minimum_spanning_forest(tuple({**GOOD, **bad}.values()), ranks=ranks)


@pytest.mark.parametrize("graph, error, text", [
    (sparse.csr_array((2, 3)), merganser.InputError, r"graph: a matrix of shape \(2, 3\); allowed: \(n, n\)"),
    ([[0, 1], [1, 0]], TypeError,
     r"graph: a list; allowed: a sparse matrix of SciPy, an array \(n, n\), a graph of networkx, or \(n, u, v, w\)"),
    ((3, [0], [1]), TypeError, "graph: a tuple"), (None, TypeError, "graph: a NoneType"), ({}, TypeError, "graph: a dict"),
    (sparse.csr_array(np.array([[0, 1j], [0, 0]])), TypeError, "w: an array of complex128"),
    (sparse.csr_array(np.array([[0, np.nan], [0, 0]])), merganser.InputError, ".*NaN|.*nan"),
])
def test_what_is_no_graph_is_refused(graph, error, text):
    with pytest.raises(error, match=f"^{text}"):
        merganser.minimum_spanning_forest(graph)


@pytest.mark.parametrize("bad, error, text", [
    ({"threads": 0}, merganser.UsageError, "threads: 0; allowed: from 1 to 1024"),
    ({"threads": 1.5}, TypeError, "threads: a float"),
    ({"ranks": 0}, merganser.UsageError, "ranks: 0"), ({"ranks": "2"}, TypeError, "ranks: a str"),
    ({"model": "rma"}, merganser.UsageError, "model: 'rma'; allowed without comm"),
    ({"comm": 3, "ranks": 2}, ValueError, "ranks: 2 beside comm"),
])
def test_options_of_a_forest_are_refused_by_name(bad, error, text):
    with pytest.raises(error, match=f"^{text}"):
        merganser.minimum_spanning_forest(tuple(GOOD.values()), **bad)
