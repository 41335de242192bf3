"""Graphs that are made, read and written; process graphs, measurements, advice, announcements."""
import merganser
import numpy as np
import pytest
from merganser import topology
from scipy.sparse import csr_array


@pytest.mark.parametrize("kind, weights", [("rmat:8:8", "uniform"), ("gnm:8:4", "float64"), ("rgg2d:8:4", "euclidean"),
                                           ("grid:5x7", "signed"), ("path:10", "unit")])
def test_graphs_are_made_and_survive_a_file(tmp_path, kind, weights):
    graph = merganser.generate_graph(kind, weights=weights)
    assert len(graph.u) == len(graph.v) == len(graph.w) > 0 and graph.v.max() < graph.n
    forest = merganser.minimum_spanning_forest(graph)
    path = tmp_path / "graph.bin"
    merganser.write_graph(path, graph, format="binary")
    back, record = merganser.read_graph(path)
    assert record["format"] == "binary" and back.n == graph.n
    np.testing.assert_array_equal(merganser.minimum_spanning_forest(back).weights, forest.weights)


def test_a_matrix_market_file_is_read(tmp_path):
    path = tmp_path / "graph.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 0.5\n3 2 1.5\n")
    graph, record = merganser.read_graph(path)
    assert (graph.n, graph.u.tolist(), graph.v.tolist(), graph.w.tolist()) == (3, [0, 1], [1, 2], [0.5, 1.5])
    assert record["weighted"] and record["format"] == "matrix-market"


def test_bad_graphs_and_files_are_refused(tmp_path):
    (tmp_path / "bad.mtx").write_text("%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 9 0.5\n")
    with pytest.raises(merganser.InputError, match="bad.mtx"):
        merganser.read_graph(tmp_path / "bad.mtx")
    with pytest.raises(merganser.InputError):
        merganser.read_graph(tmp_path / "none.mtx")
    for kind in ("nothing:3", "rmat:8", "rgg2d:8:4:9"):
        with pytest.raises(ValueError):
            merganser.generate_graph(kind)
    with pytest.raises(TypeError):
        merganser.generate_graph(7)
    with pytest.raises(ValueError):
        merganser.write_graph(tmp_path / "graph.bin", (2, [0], [5], [1.0]), format="binary")


def test_process_graphs_go_to_scipy_and_networkx_and_back(tmp_path):
    networkx = pytest.importorskip("networkx")
    graph = topology.from_scipy(csr_array(np.array([[0, 8, 0], [0, 0, 16], [4, 0, 0]])))
    assert (graph.ranks, graph.arcs, graph.symmetric, graph.max_degree) == (3, 3, False, 1)
    assert topology.to_scipy(graph).toarray().tolist() == [[0, 8, 0], [0, 0, 16], [4, 0, 0]]
    other = topology.to_networkx(graph)
    assert isinstance(other, networkx.DiGraph) and other[1][2]["weight"] == 16
    assert topology.from_networkx(other) == graph
    topology.write(tmp_path / "graph.mtx", graph)
    assert topology.read(tmp_path / "graph.mtx").digest == graph.digest
    assert topology.generate("torus2d", 16).arcs == 64
    for bad in (csr_array(np.eye(3)), csr_array(np.ones((2, 3)))):
        with pytest.raises(ValueError):
            topology.from_scipy(bad)
    with pytest.raises(ValueError):
        topology.ProcessGraph(np.array([0, 1]), np.array([5]), np.array([1.0]))


def test_exchanges_of_threads_are_measured_and_advised_upon():
    pandas = pytest.importorskip("pandas")
    graph = topology.generate("ring", 2)
    names = [k["kernel"] for k in topology.kernels() if k["model"] == "threads"]
    found = topology.measure(graph, [8, 1024], names, seconds=2)
    assert len(found.records) + len(found.unusable) >= 2 * len(names) - len(found.unusable)
    table = pandas.DataFrame(found.records)
    assert (table.p50_ns > 0).all() and (table.p50_low_ns <= table.p50_high_ns).all()
    assert set(table["size"]) == {"8", "1024"}
    small = [record for record in found.records if record["size"] == "8"]
    advice = topology.advise(small)
    assert {row["kernel"] for row in advice.records} == {record["kernel"] for record in small}
    with pytest.raises(ValueError):
        topology.measure(graph, [8], ["no.kernel"])
    with pytest.raises(TypeError):
        topology.measure("ring", [8])
    topology.measure(graph, [8], names[:1], seconds=0.01, seed=2**63 - 1)
    with pytest.raises(merganser.UsageError, match=f"seed: -1; allowed: from 0 to {2**63 - 1}"):
        topology.measure(graph, [8], names, seed=-1)


def test_an_announcement_in_one_process_comes_back():
    network = merganser.Announcements()
    assert network.announce(b"hello", topic=3) == (0, 0)
    heard = [a for _ in range(network.time_to_live) for a in network.step()]
    assert [(a.origin, a.topic, a.bytes) for a in heard] == [(0, 3, b"hello")]
    assert network.statistics()["delivered"] == 1 and network.now == network.time_to_live
    for bad in ({"message": "text"}, {"message": b"x" * (1 << 21)}, {"message": b"", "topic": -1}):
        with pytest.raises((TypeError, ValueError)):
            network.announce(**bad)
    with pytest.raises(ValueError):
        merganser.Announcements(network="pigeons")


def test_parcel_files_keep_every_bit(tmp_path):
    pytest.importorskip("netCDF4")
    parcels = merganser.random_parcels(4, box=(-1, 1), per_cell=5)
    merganser.write_parcels(tmp_path / "x_parcels.nc", parcels, box=(-1, 1), cells=4, time=2.5)
    back, record = merganser.read_parcels(tmp_path / "x_parcels.nc")
    assert back.digest == parcels.digest
    assert record == {"box": ([-1.0] * 3, [1.0] * 3), "periodic": [True, True, False], "cells": [4, 4, 4], "time": 2.5,
                      "min_volume_ratio": None, "passed_over": []}
    (tmp_path / "bad.nc").write_bytes(b"nothing")
    with pytest.raises(merganser.InputError, match="bad.nc"):
        merganser.read_parcels(tmp_path / "bad.nc")
