"""Over communicators of mpi4py: what single processes are tested for, with shares of any size, types of any kind, and refusals."""
import pytest

import test_mpi
from test_mpi import run

pytestmark = test_mpi.pytestmark

REFUSAL = """
def refusal(call, *kinds):
    try: call()
    except kinds or (ValueError, TypeError) as error: return f"{type(error).__name__}: {error}"
    return "nothing"
def everywhere(text): return comm.allgather(text)
"""


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_ranks_without_anything_and_one_with_all_find_what_one_process_finds(ranks):
    code = """
rng = np.random.default_rng(5)
points, small, volume = rng.random((400, 2)), rng.random(400) < 0.4, rng.random(400) + 0.1
last = comm.rank == comm.size - 1
mine = slice(None) if last else slice(0)
whole = merganser.euclidean_tree(points, min_samples=3)
forest = merganser.euclidean_tree(points[mine].astype(">f8"), min_samples=3, comm=comm)
assert (forest.digest, forest.total_edges, forest.own) == (whole.digest, 399, 400 if last else 0)
assert forest.total_weight == whole.total_weight and comm.allreduce(len(forest)) == 399
edges = sorted(sum(comm.allgather(forest.edges.tolist()), []))
assert edges == sorted(whole.edges.tolist())
for ties in ("together", "sequential"):
    gathered = merganser.gather_points(points[mine], min_samples=3, comm=comm) if ties == "sequential" else None
    found = merganser.hdbscan(forest, 6, ties=ties, points=gathered)
    alone = merganser.gather_points(points, min_samples=3) if ties == "sequential" else None
    expected = merganser.hdbscan(whole, 6, ties=ties, points=alone)
    assert (found.labels == expected.labels[mine]).all() and (found.probabilities == expected.probabilities[mine]).all()
    assert (found.tree is None) == (comm.rank > 0) and (comm.rank > 0 or found.selected.tolist() == expected.selected.tolist())
stars, alone = merganser.stars(points[mine], small[mine], comm=comm), merganser.stars(points, small)
assert stars.centre.tolist() == alone.centre[mine].tolist() and set(stars.rank.tolist()) <= {comm.size - 1}
merged, expected = stars.merge(volume[mine], {"v": volume[mine]}), alone.merge(volume, {"v": volume})
assert len(merged.kept) == (len(expected.kept) if last else 0)
if last: assert (merged.points == expected.points).all() and (merged.attributes["v"] == expected.attributes["v"]).all()
if comm.rank == 0: print("well")
"""
    assert run(ranks, code).startswith("well")


def test_ids_in_any_order_on_any_rank_name_the_points():
    code = """
rng = np.random.default_rng(6)
points, order = rng.random((300, 3)), rng.permutation(300)
ids = share(order)
forest = merganser.euclidean_tree(points[ids], ids=ids, comm=comm)
whole = merganser.euclidean_tree(points)
assert forest.digest == whole.digest
labels = merganser.hdbscan(forest, 4).labels
assert (labels == merganser.hdbscan(whole, 4).labels[ids]).all()
graph = (300, *(np.array(share(a)) for a in (*whole.edges.T, whole.weights)))
again = merganser.minimum_spanning_forest(graph, comm=comm)
assert again.digest == whole.digest and again.own == (300 if comm.rank == 0 else 0)
both = merganser.minimum_spanning_forest(graph, comm=comm, maximum=True)
assert both.digest == whole.digest, "a tree is its own maximum forest"
if comm.rank == 0: print("well")
"""
    assert run(3, code).startswith("well")


def test_rows_go_to_the_rank_of_their_centre_whatever_their_type_is():
    code = """
rng = np.random.default_rng(7)
points, small = rng.random((500, 2)), rng.random(500) < 0.5
found = merganser.stars(share(points), share(small), comm=comm)
whole = merganser.stars(points, small)
begin = np.array([500 * r // comm.size for r in range(comm.size)])
mine = np.arange(begin[comm.rank], begin[comm.rank] + len(found.centre))
assert set(found.sends.tolist()) == set(np.flatnonzero(found.rank != comm.rank).tolist()) and len(found.sends)
for kind, tail in (("i8", ()), (">i4", (2,)), ("u1", (1, 3)), ("S5", ()), ("f4,i2", ()), ("?", (4,))):
    values = np.zeros((len(mine), *tail), kind)
    flat = values.reshape(len(mine), -1)
    few = mine % 100
    flat[...] = few[:, None].astype(kind) if "," not in kind else np.array([(m, m) for m in few], kind)[:, None]
    came = found.migrate(np.asfortranarray(values))
    assert came.shape == (len(found.receives), *tail) and came.dtype == np.dtype(kind)
    if kind != "i8": continue
    plain = found.migrate(mine)
    assert (whole.centre[plain] == found.receives + begin[comm.rank]).all(), "each row is at its own centre"
    everyone = sorted(sum(comm.allgather(plain.tolist()), []))
    assert everyone == sorted(sum(comm.allgather(mine[found.sends].tolist()), []))
kinds = ["f8", "f4"]
try: found.migrate(np.zeros(len(mine), kinds[comm.rank % 2]))
except (ValueError, RuntimeError) as error: assert "bytes of a row" in str(error), error
else: assert False
if comm.rank == 0: print("well")
"""
    assert run(2, code).startswith("well")


def test_estimators_over_ranks_have_trees_on_rank_0_and_refuse_together():
    code = REFUSAL + """
rng = np.random.default_rng(8)
points = np.concatenate([rng.normal(c, 0.1, (50, 2)) for c in ((0, 0), (3, 0), (0, 3))])
alone = merganser.HDBSCAN(6).fit(points)
fitted = merganser.HDBSCAN(6, comm=comm).fit(share(points))
assert (fitted.labels_ == share(alone.labels_)).all() and (fitted.probabilities_ == share(alone.probabilities_)).all()
assert (fitted.condensed_tree_ is None) == (comm.rank > 0) and fitted.exact_order_ is (True if comm.rank == 0 else None)
rows = fitted.single_linkage_tree_
assert (rows is None) == (comm.rank > 0)
if rows is not None: assert (rows.to_numpy() == alone.single_linkage_tree_.to_numpy()).all()
fresh = points[comm.rank::comm.size] + 0.01
for ours, theirs in zip(fitted.approximate_predict(fresh), alone.approximate_predict(fresh)): assert (ours == theirs).all()
for options in ({"n_clusters": 3}, {"n_clusters": None, "distance_threshold": 0.3}):
    flat, whole = merganser.SingleLinkage(comm=comm, **options).fit(share(points)), merganser.SingleLinkage(**options).fit(points)
    assert (flat.labels_ == share(whole.labels_)).all() and flat.n_clusters_ == whole.n_clusters_ and flat.n_leaves_ == 150
    assert (flat.children_ is None) == (flat.distances_ is None) == (comm.rank > 0)
bad = share(points).copy()
if comm.rank == 1: bad = bad[:, :1] * 1j
texts = everywhere(refusal(lambda: merganser.HDBSCAN(comm=comm).fit(bad)))
assert "Complex data not supported" in texts[1] and texts[0].startswith("InputError: rank 1: Complex"), texts
centred = merganser.HDBSCAN(6, comm=comm, store_centers="both").fit(share(points))
whole = merganser.HDBSCAN(6, store_centers="both").fit(points)
assert (centred.centroids_ == whole.centroids_).all() and (centred.medoids_ == whole.medoids_).all()
some = [1] * 75 if comm.rank else None
texts = everywhere(refusal(lambda: merganser.HDBSCAN(6, comm=comm).fit(share(points), sample_weight=some)))
assert all(t == "InputError: sample_weight: on some ranks only; allowed: on all ranks or on none" for t in texts), texts
weighed = merganser.HDBSCAN(6, comm=comm).fit(share(points), sample_weight=share(np.arange(150) % 3))
assert (weighed.labels_ == share(merganser.HDBSCAN(6).fit(points, sample_weight=np.arange(150) % 3).labels_)).all()
texts = everywhere(refusal(lambda: merganser.SingleLinkage(comm=comm, metric="precomputed").fit(points)))
assert all("'precomputed' with comm" in t for t in texts), texts
if comm.rank == 0: print("well")
"""
    assert run(2, code).startswith("well")


def test_communicators_and_what_goes_with_them_are_refused_by_name():
    code = REFUSAL + """
points = np.random.default_rng(9).random((40, 3))
tree = lambda **more: refusal(lambda: merganser.euclidean_tree(points, **more))
assert tree(comm=comm, ranks=2) == "UsageError: ranks: 2 beside comm; allowed: one of the two"
assert tree(comm=MPI.COMM_NULL) == "UsageError: comm: MPI.COMM_NULL; allowed: a communicator"
assert tree(comm=7) == "WrongTypeError: comm: a int; allowed: a communicator of mpi4py"
assert tree(comm=comm.Get_group()).startswith("WrongTypeError: comm: a Group; allowed")
assert "pigeons" in tree(comm=comm, model="pigeons"), tree(comm=comm, model="pigeons")
assert tree(comm=comm, model=3) == "WrongTypeError: model: a int; allowed: a name"
stars = lambda **more: refusal(lambda: merganser.stars(points, np.ones(40, bool), **more))
for given in ({"comm": comm}, {"box": (0, 1)}):
    assert stars(block=(0, 1), **given) == "UsageError: block: given without comm or box; allowed: with both"
forest = merganser.euclidean_tree(points, comm=comm)
text = refusal(lambda: merganser.cut(forest, height=1))
assert text == "nothing" if comm.rank == 0 else "rank 0 alone has the linkage" in text, text
columns = points if comm.rank else points[:, :2]
assert all(t != "nothing" for t in everywhere(refusal(lambda: merganser.euclidean_tree(columns, comm=comm), ValueError)))
vertices = refusal(lambda: merganser.minimum_spanning_forest((40, [0], [40 if comm.rank else 1], [1.0]), comm=comm), ValueError)
assert all("edge 0: (0, 40)" in t for t in everywhere(vertices)[1:]) and "nothing" not in everywhere(vertices)
assert merganser.euclidean_tree(share(points), comm=comm).digest == merganser.euclidean_tree(points).digest
if comm.rank == 0: print("well")
"""
    assert run(2, code).startswith("well")


def test_graph_files_are_read_and_written_by_all_ranks(tmp_path):
    code = f"""
import pathlib
folder = pathlib.Path({str(tmp_path)!r})
whole = merganser.generate_graph("gnm:7:4", seed=3)
mine = merganser.generate_graph("gnm:7:4", seed=3, comm=comm)
def rows(g): return list(zip(np.minimum(g.u, g.v).tolist(), np.maximum(g.u, g.v).tolist(), g.w.tolist()))
assert sorted(sum(comm.allgather(rows(mine)), [])) == sorted(rows(whole)) and mine.n == whole.n == 128
for name in ("g.mgr", "g.txt", "g.mtx", "g.metis", "g.gr", "g.parhip"):
    merganser.write_graph(folder / name, mine, comm=comm)
    comm.Barrier()
    back, record = merganser.read_graph(folder / name, comm=comm)
    assert sorted(sum(comm.allgather(rows(back)), [])) == sorted(rows(whole)), name
    one, alone = merganser.read_graph(folder / name)
    assert sorted(rows(one)) == sorted(rows(whole)) and record["format"] == alone["format"]
    comm.Barrier()
if comm.rank == 0: print("well")
"""
    assert run(3, code).startswith("well")
