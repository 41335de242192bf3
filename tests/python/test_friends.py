"""Friends of friends: against scikit-learn and all pairs, over threads, in periodic boxes; columns, sums, refusals."""
import merganser
import numpy as np
import pytest
from merganser import InputError, UsageError, friends_of_friends


def clumps(n, d=3, seed=1):
    """Points in clumps and apart, some at one place, some on a lattice where many distances are equal."""
    rng = np.random.default_rng(seed)
    centres = rng.random((12, d))
    near = centres[rng.integers(0, 12, n // 2)] + 0.03 * rng.normal(size=(n // 2, d))
    points = np.concatenate([near, rng.random((n - n // 2, d))])
    points[: n // 8] = np.round(points[: n // 8] * 16) / 16
    points[n // 8: n // 6] = points[0]
    return np.clip(points, 0, 0.999)


def by_all_pairs(points, length, periodic=False, same=None):
    """Lowest position in the group of each point, by comparing all pairs."""
    apart = np.abs(points[:, None] - points[None])
    if periodic:
        apart = np.minimum(apart, 1 - apart)
    friends = (apart**2).sum(2) <= length * length
    if same is not None:
        friends &= same[:, None] == same[None]
    labels = np.arange(len(points))
    while True:
        least = np.where(friends, labels[None], len(points)).min(1)
        if (least == labels).all():
            return labels
        labels = least


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("length", [0.001, 0.0625, 0.15])
def test_groups_are_those_of_dbscan(d, length):
    cluster = pytest.importorskip("sklearn.cluster")
    points = clumps(600, d)
    found = friends_of_friends(points, length, box=(0, 1))
    theirs = cluster.DBSCAN(eps=length, min_samples=1).fit(points).labels_
    first = np.array([np.flatnonzero(theirs == k)[0] for k in range(theirs.max() + 1)])
    np.testing.assert_array_equal(found.labels, first[theirs])
    np.testing.assert_array_equal(found.id, np.sort(first))
    np.testing.assert_array_equal(found.members, np.bincount(theirs)[np.argsort(first)])


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("periodic", [False, True])
def test_groups_are_those_of_all_pairs_on_any_number_of_ranks(ranks, periodic):
    points = clumps(500, seed=2)
    same = np.random.default_rng(3).integers(0, 2, 500)
    given = points + (np.random.default_rng(4).integers(-2, 3, points.shape) if periodic else 0)
    for columns in (None, same):
        found = friends_of_friends(given, 0.0625, same=columns, box=(0, 1), periodic=periodic, ranks=ranks)
        wrapped = given - np.floor(given)
        np.testing.assert_array_equal(found.labels, by_all_pairs(wrapped, 0.0625, periodic, columns))
        assert found.length == 0.0625 and found.members.sum() == 500 and (np.diff(found.id) > 0).all()


@pytest.mark.parametrize("ranks", [2, 4])
def test_sums_have_the_same_bits_on_any_number_of_ranks(ranks):
    points, rng = clumps(800, seed=5), np.random.default_rng(6)
    given = dict(ids=rng.permutation(800) * 7 - 900, mass=10.0 ** rng.uniform(-6, 6, 800), velocity=rng.normal(size=(800, 3)),
                 box=(0, 1), periodic=[True, True, False])
    one = friends_of_friends(points, 0.07, **given)
    all = friends_of_friends(points, 0.07, ranks=ranks, **given)
    for a, b in zip(one[:7], all[:7]):
        np.testing.assert_array_equal(a, b)
    order = rng.permutation(800)
    shuffle = {k: v[order] if isinstance(v, np.ndarray) else v for k, v in given.items()}
    shuffled = friends_of_friends(points[order], 0.07, **shuffle)
    np.testing.assert_array_equal(shuffled.labels, one.labels[order])
    for a, b in zip(one[1:7], shuffled[1:7]):
        np.testing.assert_array_equal(a, b)
    for k, group in enumerate(one.id):
        members = one.labels == group
        assert members.sum() == one.members[k] and given["ids"][members].min() == group
        np.testing.assert_allclose(given["mass"][members].sum(), one.mass[k], rtol=1e-13)
        mean = (given["mass"][members, None] * given["velocity"][members]).sum(0) / given["mass"][members].sum()
        np.testing.assert_allclose(mean, one.velocity[k], rtol=1e-9, atol=1e-12)


def test_a_group_across_a_face_has_its_centre_there_and_one_around_the_box_none():
    pair = friends_of_friends([[0.02, 0.5, 0.5], [0.99, 0.5, 0.5]], 0.1, box=(0, 1), periodic=True, velocity=np.eye(3)[:2])
    assert pair.labels.tolist() == [0, 0] and not pair.winds[0]
    np.testing.assert_allclose(pair.centre, [[0.005, 0.5, 0.5]], atol=1e-12)
    np.testing.assert_allclose(pair.velocity, [[0.5, 0.5, 0]])
    ring = np.stack([np.arange(20) / 20, np.full(20, 0.5), np.full(20, 0.5)], axis=1)
    found = friends_of_friends(ring, 0.06, box=(0, 1), periodic=True)
    assert found.winds.tolist() == [True] and found.members.tolist() == [20] and np.isnan(found.centre).all()
    assert found.winds.dtype == bool and found.velocity is None


def test_lengths_in_spacings_and_small_groups():
    points = clumps(1000, seed=7)
    found = friends_of_friends(points, "0.5spacing", box=(0, 1))
    assert abs(found.length - 0.5 * 0.1) < 1e-15
    listed = friends_of_friends(points, "0.5 spacing", box=(0, 1), least_members=5)
    np.testing.assert_array_equal(listed.labels, found.labels)
    np.testing.assert_array_equal(listed.id, found.id[found.members >= 5])


@pytest.mark.parametrize("n", [0, 1])
@pytest.mark.parametrize("ranks", [1, 3])
def test_few_points_have_few_groups(n, ranks):
    found = friends_of_friends(np.full((n, 2), 0.5), 0.1, velocity=np.ones((n, 2)), same=np.ones((n, 2)), ranks=ranks)
    assert found.labels.tolist() == [0] * n and found.centre.tolist() == [[0.5, 0.5]] * n == (found.velocity * 0.5).tolist()


def test_parcels_have_their_ids_and_volumes():
    parcels = merganser.random_parcels(4, box=(0, 1), per_cell=4, seed=2)
    found = friends_of_friends(parcels, 0.06, velocity="vorticity", same=["buoyancy"], box=(0, 1))
    alone = friends_of_friends(parcels["position"], 0.06, ids=parcels["id"], mass=parcels["volume"], velocity=parcels["vorticity"],
                               same=parcels["buoyancy"], box=(0, 1))
    for a, b in zip(found[:7], alone[:7]):
        np.testing.assert_array_equal(a, b)


POINTS = [[0.1, 0.2], [0.3, 0.4]]


@pytest.mark.parametrize("change, error, message", [
    (dict(linking_length=0), UsageError, "positive LENGTH"),
    (dict(linking_length=-1), UsageError, "positive LENGTH"),
    (dict(linking_length="a"), UsageError, "positive LENGTH"),
    (dict(linking_length="1cell"), UsageError, "in units of cells"),
    (dict(linking_length="1spacing", points=np.ones((2, 3))), UsageError, "without box"),
    (dict(linking_length="1spacing", box=(0, 1)), UsageError, "in two dimensions"),
    (dict(linking_length=0.5, box=(0, 1), periodic=True), UsageError, "below half of a periodic extent"),
    (dict(linking_length=None), TypeError, "a number"),
    (dict(points=[[0.1, np.nan], [0, 0]]), InputError, "point 0 is (0.1, nan)"),
    (dict(points=[[0.1, 2], [0, 0]], box=(0, 1)), InputError, "point 0 is (0.1, 2)"),
    (dict(points=np.ones((2, 4))), InputError, "4 coordinates"),
    (dict(ids=[3, 3]), InputError, "3"),
    (dict(mass=[1, 0]), InputError, "mass: point 1: 0; allowed: finite and positive"),
    (dict(velocity=[[0, 0], [0, np.inf]]), InputError, "velocity: point 1: inf"),
    (dict(velocity=np.ones((2, 3))), InputError, "velocity: an array of shape (2, 3); allowed: (2, 2)"),
    (dict(same=[0, np.nan]), InputError, "same: point 1: nan"),
    (dict(same=[0]), InputError, "allowed: (2,) or (2, k)"),
    (dict(least_members=0), UsageError, "least_members: 0"),
    (dict(points=merganser.Parcels(n=2), ids=[0, 1]), UsageError, "ids or mass beside parcels"),
])
@pytest.mark.parametrize("ranks", [1, 2])
def test_bad_arguments_are_refused(change, error, message, ranks):
    given = {"points": POINTS, "linking_length": 0.1, "ranks": ranks, **change}
    with pytest.raises(error) as caught:
        friends_of_friends(given.pop("points"), given.pop("linking_length"), **given)
    assert message in str(caught.value)


class TwoRanks:
    """A communicator of this rank, which is rank 0, and another one that has said something."""

    def __init__(self, other):
        self.other = other

    def allgather(self, mine):
        return [mine, self.other]


def test_an_error_on_one_rank_is_an_error_on_all():
    from merganser import _friends

    def refuse():
        raise KeyError("mine")

    assert _friends._agreed(None, lambda: (1, 2)) == _friends._agreed(TwoRanks(None), lambda: (1, 2)) == (1, 2)
    for other in (None, (True, "theirs")):
        with pytest.raises(KeyError, match="mine"):
            _friends._agreed(TwoRanks(other), refuse)
    for usage, kind in ((True, merganser.UsageError), (False, merganser.InputError)):
        with pytest.raises(kind, match="^friends_of_friends: rank 1: theirs$"):
            _friends._agreed(TwoRanks((usage, "theirs")), lambda: (1, 2))
