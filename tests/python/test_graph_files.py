"""Files of graphs and process graphs: every format there and back, and by hand; what cannot be told apart, and what is refused."""
import gzip

import merganser
import numpy as np
import pytest
from merganser import topology
from scipy import sparse

READ_AND_WRITTEN = ("edge-list", "matrix-market", "metis", "dimacs", "parhip", "binary")
EXTENSIONS = {"edge-list": ".txt", "matrix-market": ".mtx", "metis": ".graph", "dimacs": ".gr", "parhip": ".parhip",
              "binary": ".mgr"}


def rows(graph):
    """The edges of a graph as sorted (low, high, weight)."""
    low, high = np.minimum(graph.u, graph.v), np.maximum(graph.u, graph.v)
    return sorted(zip(low.tolist(), high.tolist(), graph.w.tolist()))


def some_graph(seed=1, n=20, m=60, most=50):
    """Distinct edges without loops and with whole weights from 1 on, which every format holds; each vertex has one."""
    rng = np.random.default_rng(seed)
    pairs = {(min(a, b), max(a, b)) for a, b in rng.integers(0, n, (m, 2)).tolist() if a != b} | {(i, i + 1) for i in range(n - 1)}
    u, v = np.array(sorted(pairs)).T
    return merganser.Graph(n, u.copy(), v.copy(), rng.integers(1, most, len(u)))


@pytest.mark.parametrize("extension", [True, False], ids=["by extension", "by name"])
@pytest.mark.parametrize("format", READ_AND_WRITTEN)
def test_every_format_that_is_written_is_read_back_as_it_was(tmp_path, format, extension):
    graph = some_graph()
    path = tmp_path / ("graph" + (EXTENSIONS[format] if extension else ".x"))
    merganser.write_graph(path, graph, format="" if extension else format)
    back, record = merganser.read_graph(str(path), format="" if extension else format)
    assert record["format"] == format and back.n == 20
    assert rows(back) == rows(graph)
    assert record["weighted"] is True and record["loops"] == 0
    assert record["bytes"] == path.stat().st_size
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("format", READ_AND_WRITTEN)
def test_a_graph_without_edges_is_a_graph_in_every_format(tmp_path, format):
    merganser.write_graph(tmp_path / "graph", (3, [], [], np.zeros(0, np.uint64)), format=format)
    back, _ = merganser.read_graph(tmp_path / "graph", format=format)
    assert (back.n, len(back.u), len(back.v), len(back.w)) == (3, 0, 0, 0)


@pytest.mark.parametrize("format", ["edge-list", "matrix-market", "binary"])
@pytest.mark.parametrize("w", [[0.1, -2.5, 1e-300], [1 / 3, np.inf, -np.inf], np.array([-1, 2**62, -2**63]),
                               np.array([0, 2**64 - 1, 7], np.uint64)], ids=["floats", "infinities", "signed", "unsigned"])
def test_weights_keep_every_bit_and_their_kind(tmp_path, format, w):
    graph = (4, [0, 1, 2], [1, 2, 3], w)
    merganser.write_graph(tmp_path / "graph", graph, format=format)
    back, _ = merganser.read_graph(tmp_path / "graph", format=format)
    assert rows(back) == list(zip([0, 1, 2], [1, 2, 3], np.asarray(w).tolist()))
    kind = np.asarray(w).dtype.kind
    assert back.w.dtype.kind == kind
    forests = [merganser.minimum_spanning_forest(g) for g in (graph, back)]
    assert forests[0].weights.tolist() == forests[1].weights.tolist()


@pytest.mark.parametrize("format", ["metis", "parhip"])
def test_formats_of_whole_weights_refuse_others_and_leave_the_old_file(tmp_path, format):
    path = tmp_path / "graph"
    merganser.write_graph(path, some_graph(), format=format)
    before = path.read_bytes()
    for bad in ((2, [0], [1], [0.5]), (3, [0, 1], [1, 2], [1, np.inf])):
        with pytest.raises(ValueError):
            merganser.write_graph(path, bad, format=format)
        assert path.read_bytes() == before and len(list(tmp_path.iterdir())) == 1


def test_a_sparse_matrix_is_written_as_its_entries(tmp_path):
    matrix = sparse.coo_array(([2.0, 3.0, 0.0, 9.0], ([0, 0, 1, 2], [1, 1, 2, 0])), shape=(4, 4))
    merganser.write_graph(tmp_path / "graph.mgr", matrix)
    back, _ = merganser.read_graph(tmp_path / "graph.mgr")
    assert back.n == 4 and rows(back) == [(0, 1, 5.0), (0, 2, 9.0), (1, 2, 0.0)]


BY_HAND = {
    "edge-list": ("graph.txt", "# a comment\n# Undirected\n0 1 2.5\n\n1 2 0.5\n2 2 9.0\n1 0 2.5\n", 3, [(0, 1, 2.5), (1, 2, 0.5)]),
    "edge-list of commas": ("graph.csv", "source,target,weight\n0,3,4\n3,1,5\n", 4, [(0, 3, 4), (1, 3, 5)]),
    "edge-list of KONECT": ("graph.tsv", "% sym weighted\n1 2 7\n2 3 8\n", 3, [(0, 1, 7), (1, 2, 8)]),
    "matrix-market": ("graph.mtx", "%%MatrixMarket matrix coordinate integer general\n% c\n3 3 4\n1 2 5\n2 1 5\n3 3 1\n3 1 -2\n", 3,
                      [(0, 1, 5), (0, 2, -2)]),
    "metis": ("graph.metis", "% c\n3 2 1\n2 7\n1 7 3 9\n2 9\n", 3, [(0, 1, 7), (1, 2, 9)]),
    "dimacs": ("graph.gr", "c hello\np sp 3 3\na 1 2 4\na 2 1 4\na 2 3 6\n", 3, [(0, 1, 4), (1, 2, 6)]),
}


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("name", BY_HAND)
def test_text_that_others_have_written_is_read(tmp_path, name, packed):
    file, text, n, expected = BY_HAND[name]
    path = tmp_path / (file + (".gz" if packed else ""))
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    graph, record = merganser.read_graph(path)
    assert (graph.n, rows(graph)) == (n, expected)
    assert record["format"] == name.split()[0]
    assert record["loops"] == text.count("2 2 9.0") + text.count("3 3 1")


def test_ids_with_gaps_are_numbered_anew_and_their_names_kept(tmp_path):
    (tmp_path / "graph.txt").write_text("# Undirected\n5000000 7 1\n7 90000000 2\n")
    graph, record = merganser.read_graph(tmp_path / "graph.txt")
    assert graph.n == 3 and rows(graph) == [(0, 1, 1), (0, 2, 2)]
    assert record["names"].tolist() == [7, 5000000, 90000000]
    (tmp_path / "dense.txt").write_text("# Undirected\n5 7 1\n")
    graph, record = merganser.read_graph(tmp_path / "dense.txt")
    assert graph.n == 8 and record["names"] is None


def test_weights_that_a_file_lacks_are_a_hash_of_both_ends_and_the_seed(tmp_path):
    (tmp_path / "graph.mtx").write_text("%%MatrixMarket matrix coordinate pattern symmetric\n4 4 3\n2 1\n3 2\n4 3\n")
    read = {seed: merganser.read_graph(tmp_path / "graph.mtx", seed=seed)[0] for seed in (1, 2)}
    assert (read[1].w == merganser.read_graph(tmp_path / "graph.mtx")[0].w).all()
    assert (read[1].w != read[2].w).any() and len(set(read[1].w.tolist())) == 3
    assert merganser.read_graph(tmp_path / "graph.mtx")[1]["weighted"] is False
    assert merganser.read_graph(tmp_path / "graph.mtx", weights="unit")[0].w.tolist() == [1, 1, 1]
    few = merganser.read_graph(tmp_path / "graph.mtx", weights="uniform:3", seed=5)[0].w
    assert few.min() >= 1 and few.max() <= 3
    for kind, dtype in (("float64", np.float64), ("signed", np.int64), ("uniform", np.uint64)):
        assert merganser.read_graph(tmp_path / "graph.mtx", weights=kind)[0].w.dtype == dtype


@pytest.mark.parametrize("kind, n, edges", [
    ("path:1", 1, []), ("path:4", 4, [(0, 1), (1, 2), (2, 3)]), ("star:4", 4, [(0, 1), (0, 2), (0, 3)]),
    ("complete:4", 4, [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]),
    ("grid:2x3", 6, [(0, 1), (0, 3), (1, 2), (1, 4), (2, 5), (3, 4), (4, 5)]),
    ("grid:1x2x2", 4, [(0, 1), (0, 2), (1, 3), (2, 3)]),
])
def test_small_graphs_are_made_edge_by_edge(kind, n, edges):
    graph = merganser.generate_graph(kind, weights="unit")
    assert graph.n == n and rows(graph) == [(a, b, 1) for a, b in edges]
    assert graph.u.dtype == graph.v.dtype == np.int64


@pytest.mark.parametrize("kind, count",
                         [("gnm:6:4", 256), ("gnm:100:3", 300), ("ba:6:3", None), ("rmat:6:4", None), ("rgg3d:7:4", None)])
def test_random_graphs_depend_on_the_seed_and_have_as_many_edges_as_asked(kind, count):
    one, again, other = (merganser.generate_graph(kind, seed=seed) for seed in (3, 3, 4))
    assert one.n == (100 if "100" in kind else 2 ** int(kind.split(":")[1]))
    assert rows(one) == rows(again) != rows(other)
    assert count is None or (len(one.u) == count == len(set(zip(one.u.tolist(), one.v.tolist()))))
    assert (one.u != one.v).all() and one.u.min() >= 0 and max(one.u.max(), one.v.max()) < one.n


def test_weights_of_points_are_distances_and_of_others_as_asked():
    near = merganser.generate_graph("rgg2d:8:4", weights="euclidean")
    assert near.w.min() > 0 and near.w.max() < 0.2
    few = merganser.generate_graph("gnm:8:4", weights="uniform:3").w
    assert sorted(set(few.tolist())) == [1, 2, 3]
    real = merganser.generate_graph("gnm:8:4", weights="float64").w
    assert real.dtype == np.float64 and 0 <= real.min() < 0.05 and 0.95 < real.max() < 1
    assert (merganser.generate_graph("gnm:8:4", weights="signed").w < 0).any()


@pytest.mark.parametrize("call, error, text", [
    (lambda p: merganser.generate_graph(None), TypeError, "kind: a NoneType; allowed: a text"),
    (lambda p: merganser.generate_graph("path:3", weights=1), TypeError, "weights: a int; allowed: a text"),
    (lambda p: merganser.generate_graph("path:3", weights="heavy"), merganser.UsageError, ".*heavy"),
    (lambda p: merganser.generate_graph("path:3", weights="euclidean"), merganser.UsageError, ".*euclidean"),
    (lambda p: merganser.generate_graph("path:3", seed=-1), merganser.UsageError,
     "seed: -1; allowed: from 0 to 9223372036854775807"),
    (lambda p: merganser.generate_graph("path:3", seed=1.0), TypeError, "seed: a float; allowed: a whole number"),
    (lambda p: merganser.generate_graph("path:3", model="p2p"), merganser.UsageError, "model: 'p2p'"),
    (lambda p: merganser.generate_graph("path:x"), merganser.UsageError, ".*path:x"),
    (lambda p: merganser.read_graph(3), TypeError, ""),
    (lambda p: merganser.read_graph(p, format=None), TypeError, "format: a NoneType; allowed: a text"),
    (lambda p: merganser.read_graph(p, weights=b"unit"), TypeError, "weights: a bytes"),
    (lambda p: merganser.read_graph(p, format="dot"), merganser.UsageError, ".*dot.*allowed"),
    (lambda p: merganser.read_graph(p, format="matrix-market"), merganser.InputError, ".*graph.txt"),
    (lambda p: merganser.read_graph(p, seed="1"), TypeError, "seed: a str"),
    (lambda p: merganser.read_graph(p.parent / "none.mgr"), merganser.InputError, ".*none.mgr"),
    (lambda p: merganser.read_graph(p.parent), merganser.InputError, ""),
    (lambda p: merganser.write_graph(p, (2, [0], [1], [1.0]), format="bvgraph"), merganser.UsageError, ".*bvgraph"),
    (lambda p: merganser.write_graph(p, (2, [0], [1], [1.0]), format=7), TypeError, "format: a int"),
    (lambda p: merganser.write_graph(p, "edges"), TypeError, "graph: a str"),
    (lambda p: merganser.write_graph(p, (2, [0], [2], [1.0])), merganser.InputError, "graph: edge 0 has an end that is no vertex"),
    (lambda p: merganser.write_graph(p, (2, [-1], [1], [1.0])), merganser.InputError, "graph: edge 0 has an end that is no vertex"),
    (lambda p: merganser.write_graph(p.parent / "a" / "b.mgr", (2, [0], [1], [1.0])), merganser.InputError, ".*b.mgr"),
    (lambda p: merganser.write_graph(p.with_suffix(".xyz"), (2, [0], [1], [1.0])), merganser.UsageError, ".*xyz"),
])
def test_what_cannot_be_made_read_or_written_is_refused(tmp_path, call, error, text):
    (tmp_path / "graph.txt").write_text("0 1 2\n")
    with pytest.raises(error, match=f"^{text}"):
        call(tmp_path / "graph.txt")
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("graph.txt", "0 1 2\n")]


@pytest.mark.parametrize("format, extension",
                         [("binary", ".bin"), ("adjacency", ".txt"), ("pairs", ".adj"), ("matrix-market", ".mtx")])
def test_process_graphs_survive_every_format(tmp_path, format, extension):
    sizes = np.array([[0, 8, 0, 0.5], [0, 0, 16, 0], [4, 0, 0, 1], [0, 0, 0, 0]])
    graph = topology.from_scipy(sparse.csr_array(sizes))
    for path, how in ((tmp_path / "graph.x", format), (tmp_path / ("graph" + extension), "")):
        topology.write(path, graph, how)
        back = topology.read(path)
        assert back.ranks == 4
        expected = sizes > 0 if format == "pairs" else sizes
        if format != "pairs":
            assert back == graph and back.digest == graph.digest
        assert ((topology.to_scipy(back).toarray() > 0) == (expected > 0)).all()


def test_symmetric_process_graphs_survive_metis(tmp_path):
    graph = topology.generate("torus:4x2", 8)
    topology.write(tmp_path / "graph.metis", graph)
    assert topology.read(tmp_path / "graph.metis") == graph
    assert graph.symmetric and graph.max_degree == 3 and graph.arcs == 24
    with pytest.raises(ValueError, match="metis|METIS|symmetric"):
        topology.write(tmp_path / "graph.metis", topology.generate("incast", 4))


@pytest.mark.parametrize("kind, ranks, expected", [
    ("chain", 3, {(0, 1), (1, 0), (1, 2), (2, 1)}), ("ring", 3, {(i, j) for i in range(3) for j in range(3) if i != j}),
    ("incast", 4, {(1, 0), (2, 0), (3, 0)}), ("incast:2", 4, {(1, 0), (2, 0)}),
    ("complete", 3, {(i, j) for i in range(3) for j in range(3) if i != j}),
    ("grid:2x2", 4, {(0, 1), (1, 0), (0, 2), (2, 0), (1, 3), (3, 1), (2, 3), (3, 2)}),
])
def test_kinds_of_process_graphs_have_the_arcs_of_their_names(kind, ranks, expected):
    graph = topology.generate(kind, ranks)
    offsets, heads, sizes = graph.arrays()
    tails = np.repeat(np.arange(ranks), np.diff(offsets))
    assert set(zip(tails.tolist(), heads.tolist())) == expected and len(heads) == graph.arcs == len(expected)
    assert set(sizes.tolist()) == {1.0}
    assert graph.symmetric == all((b, a) in expected for a, b in expected)


def test_seeds_make_random_process_graphs():
    assert topology.generate("random:4", 20, 1) == topology.generate("random:4", 20, seed=1) != topology.generate("random:4", 20, 2)
    assert topology.generate("random:4", 20) == topology.generate("random:4", 20, 42)


def test_process_graphs_of_scipy_and_networkx_keep_zeros_sums_and_default_weights():
    networkx = pytest.importorskip("networkx")
    given = sparse.coo_matrix(([1.0, 2.0, 0.0], ([0, 0, 1], [1, 1, 0])), shape=(3, 3))
    for matrix in (given, given.tocsr(), given.tocsc()):
        graph = topology.from_scipy(matrix)
        assert [a.tolist() for a in graph.arrays()] == [[0, 1, 2, 2], [1, 0], [3.0, 0.0]]
    both = networkx.Graph()
    both.add_nodes_from([2, 1, 0])
    both.add_edge(0, 2)
    both.add_edge(2, 1, weight=7)
    graph = topology.from_networkx(both)
    assert topology.to_scipy(graph).toarray().tolist() == [[0, 0, 1], [0, 0, 7], [1, 7, 0]]
    assert sorted(topology.to_networkx(graph).edges(data="weight")) == [(0, 2, 1.0), (1, 2, 7.0), (2, 0, 1.0), (2, 1, 7.0)]
    with pytest.raises(merganser.UsageError, match=r"graph: nodes that are not 0 \.\. 1; allowed: these"):
        topology.from_networkx(networkx.DiGraph([("a", "b")]))
    assert list(topology.to_networkx(topology.from_scipy(sparse.csr_array((3, 3)))).nodes) == [0, 1, 2]


@pytest.mark.parametrize("offsets, heads, sizes", [
    ([0, 1, 1], [0], [1.0]), ([0, 1], [1], [1.0]), ([0, 1, 1], [1], [-1.0]),
    ([0, 1, 1], [1], [np.nan]),
    ([0, 1, 1], [1], [np.inf]), ([-1, 1, 1], [1], [1.0]), ([0, 1, 2], [1], [1.0]), ([0, 1, 0], [1], [1.0]),
    ([0, 1, 1], [1, 0], [1.0]),
    ([0, 1, 1], [-1], [1.0]), ([], [], []),
    ([1, 1, 1], [0], [1.0]), ([0, 0, 1], [0, 0], [1.0, 1.0]),  # heads before the first row and behind the last
])
def test_arrays_that_are_no_process_graph_are_refused(offsets, heads, sizes):
    with pytest.raises(ValueError):
        topology.ProcessGraph(np.array(offsets, np.int64), np.array(heads, np.int64), np.array(sizes, np.float64))


@pytest.mark.parametrize("call, error, text", [
    (lambda p: topology.generate(3, 4), TypeError, "kind: a int; allowed: a text"),
    (lambda p: topology.generate("ring", 0), merganser.UsageError, "ranks: 0; allowed: from 1 to 2147483647"),
    (lambda p: topology.generate("ring", 2.0), TypeError, "ranks: a float; allowed: a whole number"),
    (lambda p: topology.generate("ring", 2, -1), merganser.UsageError, "seed: -1; allowed: from 0 to"),
    (lambda p: topology.generate("wheel", 4), merganser.UsageError, ".*wheel"),
    (lambda p: topology.generate("torus:3x2", 4), merganser.UsageError, ".*"),
    (lambda p: topology.from_scipy(sparse.csr_array((2, 3))), merganser.UsageError,
     r"matrix: of shape \(2, 3\); allowed: \(ranks, ranks\)"),
    (lambda p: topology.measure(topology.generate("ring", 2), ["8"]), TypeError, "sizes: a str; allowed: a whole number"),
    (lambda p: topology.measure(topology.generate("ring", 2), [-8]), merganser.UsageError, "sizes: -8; allowed: from 0 to"),
    (lambda p: topology.measure(topology.generate("ring", 2), seconds="5"), TypeError, "seconds: a str; allowed: a number"),
    (lambda p: topology.measure(topology.generate("ring", 2), seconds=np.nan), merganser.UsageError,
     "seconds: nan; allowed: a number"),
    (lambda p: topology.advise([], topology.generate("ring", 2)), merganser.UsageError,
     "advise: one of graph and size; allowed: both or none"),
    (lambda p: topology.advise([], size=8), merganser.UsageError, "advise: one of graph and size"),
    (lambda p: topology.read(p / "none.bin"), merganser.InputError, ".*none.bin"),
    (lambda p: topology.write(p / "x.bin", topology.generate("ring", 2), "xml"), merganser.UsageError, ".*xml"),
    (lambda p: topology.write(p / "x.xml", topology.generate("ring", 2)), merganser.UsageError, ".*xml"),
    (lambda p: topology.write(p / "x.bin", "ring"), TypeError, ""),
])
def test_what_is_no_process_graph_is_refused(tmp_path, call, error, text):
    with pytest.raises(error, match=f"^{text}"):
        call(tmp_path)
    assert not list(tmp_path.iterdir())


def test_kernels_are_told_by_name_model_and_completion():
    found = topology.kernels()
    assert len({k["kernel"] for k in found}) == len(found) >= 3
    assert all(set(k) == {"kernel", "model", "completion", "description"} and all(k.values()) for k in found)


def test_vertices_are_named_by_text(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("ann bob 5\nbob \"c d\" 2\n".encode() + b"ann \xff 1\n")
    graph, record = merganser.read_graph(path, names=True)
    assert record["names"] == ["ann", "bob", "c d", "\udcff"]
    assert sorted(zip(graph.u.tolist(), graph.v.tolist(), graph.w.tolist())) == [(0, 1, 5), (0, 3, 1), (1, 2, 2)]
    with pytest.raises(merganser.InputError, match="vertex"):
        merganser.read_graph(path)


def test_gml_is_read(tmp_path):
    path = tmp_path / "a.gml"
    path.write_text('graph [ node [ id 7 label "x" ] node [ id 3 label "y" ] edge [ source 3 target 7 weight 2 ] ]')
    graph, record = merganser.read_graph(path, names=True)
    assert (graph.n, graph.u.tolist(), graph.v.tolist(), graph.w.tolist()) == (2, [0], [1], [2])
    assert record["format"] == "gml" and record["names"] == ["x", "y"]


@pytest.mark.parametrize("call", [merganser.read_graph, lambda path: merganser.write_graph(path, (2, [0], [1], [1])),
                                  topology.read, lambda path: topology.write(path, topology.generate("torus2d", 4)),
                                  merganser.PredictionModel.read])
def test_names_of_files_are_taken_whole_or_not_at_all(call, tmp_path):
    (tmp_path / "a.tsv").write_text("0 1 5\n")
    for path in (str(tmp_path / "a.tsv") + "\0.mtx", bytes(tmp_path / "a.tsv") + b"\0", "\udcff.tsv"):
        with pytest.raises(merganser.UsageError, match="^path: .*; allowed: names in UTF-8 without zero bytes"):
            call(path)
    for path in (None, 3, ["a.tsv"]):
        with pytest.raises(merganser.WrongTypeError, match="^path: a .*; allowed: a text, bytes or os.PathLike"):
            call(path)
    assert (tmp_path / "a.tsv").read_text() == "0 1 5\n"


def test_names_of_files_may_be_bytes(tmp_path):
    merganser.write_graph(bytes(tmp_path / "a.tsv"), (2, [0], [1], [7]))
    assert merganser.read_graph(bytes(tmp_path / "a.tsv"))[0].w.tolist() == [7]


def test_weights_of_arcs_are_real_numbers():
    networkx = pytest.importorskip("networkx")
    for weight in ("5", np.complex64(5 + 1j), None):
        with pytest.raises(merganser.WrongTypeError, match="^weight: a .*; allowed: a number"):
            topology.from_networkx(networkx.DiGraph([(0, 1, {"weight": weight})]))


def test_matrices_of_unsigned_integers_that_scipy_writes_are_read(tmp_path):
    io = pytest.importorskip("scipy.io")
    weights = np.array([2**64 - 1, 5], dtype=np.uint64)
    io.mmwrite(tmp_path / "a.mtx", sparse.coo_array((weights, ([0, 1], [1, 2])), shape=(3, 3)))
    assert sorted(merganser.read_graph(tmp_path / "a.mtx")[0].w.tolist()) == [5, 2**64 - 1]
