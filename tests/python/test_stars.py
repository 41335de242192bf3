"""Stars of points and merge steps, compared with what they are by definition."""
import merganser
import numpy as np
import pytest
from scipy.spatial import cKDTree


def swarm(n=800, d=3, seed=1, share=0.3):
    rng = np.random.default_rng(seed)
    return rng.random((n, d)), rng.random(n) < share


def brute_links(points, small, boxsize=None):
    """The nearest other point of each small one."""
    _, near = cKDTree(points, boxsize=boxsize).query(points, k=2)
    return {int(i): int(near[i][1]) for i in np.flatnonzero(small)}


def brute_stars(links):
    """By definition: of pairs that point at each other the lower one stays unless something else makes it a leaf; a point
    that a leaf merges into is a centre and drops its own link; all else are leaves."""
    import functools

    sources = {}
    for s, t in links.items():
        sources.setdefault(t, []).append(s)

    def partner(v):
        return v in links and links.get(links[v]) == v

    @functools.lru_cache(maxsize=None)
    def centre(v):  # some child that is no dual partner is a leaf
        return any(not centre(s) for s in sources.get(v, []) if links.get(v) != s)

    kept = {}
    for s, t in links.items():
        if centre(s):
            continue
        if partner(s):
            if not centre(t) and s < t:
                continue  # an isolated dual link keeps the lower one
        kept[s] = t
    return kept


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_stars_are_those_of_the_definition(d, ranks):
    points, small = swarm(d=d)
    found = merganser.stars(points, small, ranks=ranks)
    links = brute_links(points, small)
    kept = brute_stars(links)
    expected = np.arange(len(points))
    for source, centre in kept.items():
        expected[source] = centre
    np.testing.assert_array_equal(found.centre, expected)
    leaves = np.flatnonzero(found.centre != np.arange(len(points)))
    assert len(leaves) > 50
    assert (found.centre[found.centre[leaves]] == found.centre[leaves]).all()
    assert len(found.sends) == len(found.receives) == 0


def test_periodic_boxes_join_their_faces():
    points, small = swarm(500, 2)
    found = merganser.stars(points, small, box=(0, 1), periodic=True)
    alone = merganser.stars(points, small, box=(0, 1), periodic=True, ranks=3)
    np.testing.assert_array_equal(found.centre, alone.centre)
    kept = brute_stars(brute_links(points, small, boxsize=1))
    assert {int(i): int(found.centre[i]) for i in np.flatnonzero(found.centre != np.arange(500))} == kept


def test_merging_keeps_sums_and_weighted_means():
    points, small = swarm()
    rng = np.random.default_rng(2)
    volume, salt, colour = rng.random(800) + 0.1, rng.random(800), rng.random((800, 2))
    found = merganser.stars(points, small)
    merged = found.merge(volume, {"salt": salt, "colour": colour})
    np.testing.assert_array_equal(merged.kept, np.flatnonzero(found.centre == np.arange(800)))
    np.testing.assert_allclose(merged.volume.sum(), volume.sum())
    np.testing.assert_allclose((merged.volume * merged.attributes["salt"]).sum(), (volume * salt).sum())
    np.testing.assert_allclose(merged.volume @ merged.attributes["colour"], volume @ colour)
    np.testing.assert_allclose(merged.volume @ merged.points, volume @ points)
    members = np.flatnonzero(found.centre == merged.kept[5])
    np.testing.assert_allclose(merged.volume[5], volume[members].sum())
    largest = found.merge(volume, {"salt": salt}, merganser.Schema({"salt": "largest"}))
    assert largest.attributes["salt"][5] == salt[members[np.argmax(volume[members])]]


@pytest.mark.parametrize("volume", [0.0, -1.0, 1e-310, 1e130, np.nan])
def test_volumes_out_of_range_are_named(volume):
    points, small = swarm(50)
    volumes = np.ones(50)
    volumes[7] = volume
    with pytest.raises(merganser.InputError, match="volume: row 7: .*allowed: 1e-120 to 1e120"):
        merganser.stars(points, small).merge(volumes)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e101])
def test_attributes_that_cannot_be_averaged_are_named(value):
    points, small = swarm(50)
    salt = np.ones(50)
    salt[9] = value
    with pytest.raises(merganser.InputError, match="row 9: salt is "):
        merganser.stars(points, small).merge(np.ones(50), {"salt": salt})


def test_migrating_in_one_process_moves_nothing():
    points, small = swarm(50)
    found = merganser.stars(points, small)
    assert found.migrate(points).shape == (0, 3)
    assert found.migrate(np.zeros((50, 2, 4), np.float32)).shape == (0, 2, 4)
    with pytest.raises(merganser.InputError):
        found.migrate(np.zeros(49))


@pytest.mark.parametrize("bad", [
    {"small": np.zeros(9, bool)}, {"small": np.zeros(10)}, {"points": np.zeros((10, 4))}, {"ids": np.zeros(10)},
    {"points": np.full((10, 3), np.nan)}, {"box": (0, 0.5)}, {"periodic": True}, {"block": (0, 1)},
])
def test_bad_arguments_are_refused(bad):
    given = {"points": np.random.default_rng(1).random((10, 3)), "small": np.ones(10, bool), **bad}
    with pytest.raises((TypeError, ValueError)) as caught:
        merganser.stars(given.pop("points"), given.pop("small"), **given)
    assert len(str(caught.value)) > 10


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_ids_that_are_not_distinct_are_refused_on_any_number_of_ranks(ranks):
    points, small = swarm(400)
    for ids in (np.zeros(400, int), np.arange(400) % 100, np.r_[0:399, 7], np.r_[-(2**63), 2**62 - np.arange(398), 2**62]):
        with pytest.raises(merganser.InputError, match="allowed: ids distinct over all ranks"):
            merganser.stars(points, small, ids=ids, ranks=ranks)
    order = np.random.default_rng(3).permutation(400)
    assert merganser.stars(points, small, ids=order, ranks=ranks).ids.tolist() == order.tolist()


def test_a_step_refuses_ids_that_two_parcels_have():
    parcels = merganser.random_parcels(4, box=(0, 1), per_cell=4)
    clusterer = merganser.Clusterer(parcels, 4, box=(0, 1))
    parcels["id"] = np.r_[1, 1:len(parcels)]
    with pytest.raises(merganser.InputError, match="parcel id 1 is there twice"):
        clusterer.step()
    with pytest.raises(merganser.InputError, match="parcel id 1 is there twice"):
        clusterer.distribute()


@pytest.mark.parametrize("ranks", [1, 3])
def test_points_outside_of_a_periodic_axis_are_wrapped_by_every_function_alike(ranks):
    points, small = swarm(300)
    points *= 50
    outside = points + 50 * np.random.default_rng(7).integers(-2, 3, points.shape)
    outside[:4, 0] = [-1e-17, 51, 50, -50]
    inside = outside - 50 * np.floor(outside / 50)
    inside[inside >= 50] = 0
    box = {"box": (0, 50), "periodic": True}
    here, there = (merganser.stars(p, small, **box, ranks=ranks) for p in (inside, outside))
    np.testing.assert_array_equal(here.centre, there.centre)
    volume = np.random.default_rng(8).random(300) + 0.1
    np.testing.assert_array_equal(here.merge(volume).points, there.merge(volume).points)
    assert merganser.euclidean_tree(inside, **box).digest == merganser.euclidean_tree(outside, **box).digest
    digests = []
    for place in (inside, outside):
        parcels = merganser.Parcels(merganser.Schema({}), 300)
        parcels["position"], parcels["volume"] = place, volume * 100
        merganser.Clusterer(parcels, 5, **box).step()
        digests.append(parcels.digest)
    assert digests[0] == digests[1]


def test_a_point_outside_of_a_wall_is_named_with_every_digit_and_the_box():
    points, small = swarm(10)
    points[3] = [0.25, 7, 1 + 2**-52]
    with pytest.raises(merganser.InputError) as caught:
        merganser.stars(points, small, box=(0, 1), periodic=[False, True, False])
    assert str(caught.value) == (
        "points: point 3 is (0.25, 7, 1.0000000000000002); allowed: finite numbers between the walls of the box "
        "[0, 1] x [0, 1) x [0, 1], periodic in y")
    parcels = merganser.Parcels(merganser.Schema({}), 1)
    parcels["z"] = 1.5
    with pytest.raises(merganser.InputError, match=r"at \(0, 0, 1.5\) is outside of a wall of the box \[0, 1\]"):
        merganser.Clusterer(parcels, 2, box=(0, 1))


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_points_have_few_stars(n):
    found = merganser.stars(np.random.default_rng(1).random((n, 3)), np.ones(n, bool))
    assert found.centre.tolist() == {0: [], 1: [0], 2: [0, 0]}[n]


def test_points_at_one_place_merge_by_their_ids():
    found = merganser.stars(np.zeros((5, 3)), np.ones(5, bool))
    assert (found.centre != np.arange(5)).sum() > 0
    assert (found.centre[found.centre] == found.centre).all()


def test_parcels_keep_what_is_put_into_them():
    schema = merganser.Schema({"salt": "mean", "b": ("sum", 2)})
    parcels = merganser.Parcels(schema, 4)
    assert len(parcels) == 4 and parcels["volume"].tolist() == [1] * 4 and parcels["id"].tolist() == [0, 1, 2, 3]
    parcels["position"] = np.arange(12.0).reshape(4, 3)
    parcels["salt"] = [1, 2, 3, 4]
    parcels["salt"] *= 2
    parcels["b"] = np.ones((4, 2))
    parcels["b"][0, 0] = 7  # a copy
    assert parcels["y"].tolist() == [1, 4, 7, 10] and parcels["salt"].tolist() == [2, 4, 6, 8]
    assert parcels["b"].tolist() == [[1, 1]] * 4
    parcels.resize(6)
    assert parcels["id"].tolist() == [0, 1, 2, 3, 4, 5] and parcels["salt"].tolist() == [2, 4, 6, 8, 0, 0]
    assert parcels.schema.attributes == {"salt": ("mean", 1), "b": ("sum", 2)}
    for name, value in (("nothing", 1), ("salt", [1, 2]), ("position", np.zeros(6)), ("id", [0.5] * 6)):
        with pytest.raises((TypeError, ValueError)):
            parcels[name] = value
    for bad in ({"a": "median"}, {"a": ("ellipsoid", 3)}, {"": "mean"}):
        with pytest.raises(ValueError):
            merganser.Schema(bad)


def test_steps_merge_small_parcels_and_keep_volume():
    parcels = merganser.random_parcels(8, box=(0, 1), per_cell=10, seed=3)
    volume, before = parcels["volume"].sum(), len(parcels)
    clusterer = merganser.Clusterer(parcels, 8, box=(0, 1), periodic=True, min_volume_ratio=20)
    report = clusterer.step()
    assert report["before"] == before and report["after"] == len(parcels) == before - report["merged"]
    assert report["merged"] > 100 and sum(report["clusters"].values()) > 0
    np.testing.assert_allclose(parcels["volume"].sum(), volume)
    again = merganser.random_parcels(8, box=(0, 1), per_cell=10, seed=3)
    merganser.Clusterer(again, 8, box=(0, 1), periodic=True, min_volume_ratio=20).step()
    assert again.digest == parcels.digest


def test_a_step_does_what_stars_and_merge_do():
    rng = np.random.default_rng(4)
    points, volume = rng.random((500, 3)), rng.random(500) * 0.01 + 1e-4
    parcels = merganser.Parcels(merganser.Schema({"salt": "mean"}), 500)
    parcels["position"], parcels["volume"], parcels["salt"] = points, volume, volume
    merganser.Clusterer(parcels, 4, box=(0, 1), min_volume_ratio=4).step()
    merged = merganser.stars(points, volume < 1 / 64 / 4, box=(0, 1)).merge(volume, {"salt": volume})
    order = np.argsort(parcels["id"])
    np.testing.assert_array_equal(parcels["id"][order], merged.kept)
    np.testing.assert_array_equal(parcels["position"][order], merged.points)
    np.testing.assert_array_equal(parcels["salt"][order], merged.attributes["salt"])


def rounded_boxes(count=40):
    """Pairs (lower, upper) whose difference, added to the lower one again, falls short of the upper one."""
    rng = np.random.default_rng(15)
    found = [(0.3, 1.7)] if 0.3 + (1.7 - 0.3) < 1.7 else []
    while len(found) < count:
        lower, upper = np.array([-1, 1]) * rng.random(2) * 10.0 ** rng.integers(-6, 7, 2)
        if lower < upper and lower + (upper - lower) < upper:
            found.append((lower, upper))
    return found


@pytest.mark.parametrize("d", [2, 3])
def test_points_at_the_upper_bound_of_a_box_with_walls_lie_in_it(d):
    small = np.array([True, False])
    for i, (lower, upper) in enumerate(rounded_boxes()):
        points = np.full((2, d), upper)
        points[1] = lower
        for ranks in (1, 2) if i == 0 else (1,):
            found = merganser.stars(points, small, box=(lower, upper), ranks=ranks)
            assert found.merge(np.ones(2), {}).points.shape == (1, d)
        beyond = upper + 2 * np.spacing(upper - lower)  # the wall is at most one step of the extent above
        with pytest.raises(merganser.InputError, match="between the walls"):
            merganser.stars(np.full((2, d), beyond), small, box=(lower, upper))


def test_the_period_of_an_axis_is_the_difference_of_its_bounds():
    for lower, upper in rounded_boxes(10):
        assert merganser._arrays.parse_box((lower, upper), [True, False], 2)[1][0] == upper - lower
