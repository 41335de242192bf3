"""What stars merge into, by every rule, against NumPy; and parcels: schemas, columns, steps, refusals."""
import itertools

import merganser
import numpy as np
import pytest
from merganser import Parcels, Schema


def swarm(n=300, d=3, seed=1, share=0.5):
    rng = np.random.default_rng(seed)
    return rng.random((n, d)), rng.random(n) < share, rng.random(n) + 0.1


def members_of(found):
    """The points of each star and those by themselves: {centre: [centre, sources by ascending id]}."""
    stars = {int(c): [int(c)] for c in found.centre if found.centre[c] == c}
    for i in sorted(range(len(found.centre)), key=lambda i: found.ids[i]):
        if found.centre[i] != i:
            stars[int(found.centre[i])].append(i)
    return dict(sorted(stars.items()))


def ordered_sum(terms):
    """The sum in the order of the terms, which NumPy's own is not."""
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def present(values, volumes, weighted):
    there = [(v, x) for v, x in zip(volumes, values) if x == x]
    if not there:
        return np.nan
    total = ordered_sum([v * x if weighted else x for v, x in there])
    return total * (1 / ordered_sum([v for v, _ in there])) if weighted else total


RULES = {
    "mean": lambda x, v: ordered_sum([a * b for a, b in zip(v, x)]) * (1 / ordered_sum(v)),
    "sum": lambda x, v: ordered_sum(x),
    "centre": lambda x, v: x[0],
    "mean_present": lambda x, v: present(x, v, True),
    "sum_present": lambda x, v: present(x, v, False),
}


@pytest.mark.parametrize("rule, components", list(itertools.product([*RULES, "largest"], [1, 3])))
@pytest.mark.parametrize("ranks", [1, 3])
def test_every_rule_gives_the_bits_of_its_definition(rule, components, ranks):
    points, small, volume = swarm()
    rng = np.random.default_rng(2)
    volume[::7] = 0.5  # of equal volumes that of the lowest id is the largest
    ids = rng.permutation(300) * 3 - 400
    values = rng.normal(size=(300, components))
    if rule in ("centre", "largest") or "present" in rule:
        values[rng.random(values.shape) < 0.4] = np.nan
    given = values[:, 0] if components == 1 else values
    found = merganser.stars(points, small, ids=ids, ranks=ranks)
    merged = found.merge(volume, {"a": given}, Schema({"a": (rule, components)}))
    stars = members_of(found)
    assert merged.kept.tolist() == list(stars) and 50 < len(stars) < 250
    expected = []
    for members in stars.values():
        if len(members) == 1:  # stays as it is
            expected.append(values[members[0]])
        elif rule == "largest":
            expected.append(values[min(members, key=lambda i: (-volume[i], ids[i]))])
        else:
            expected.append([RULES[rule](values[members, c].tolist(), volume[members].tolist()) for c in range(components)])
    expected = np.array(expected)
    assert merged.attributes["a"].shape == ((len(stars),) if components == 1 else (len(stars), 3))
    np.testing.assert_array_equal(merged.attributes["a"].reshape(len(stars), components), expected)
    np.testing.assert_array_equal(merged.volume, [ordered_sum(volume[m].tolist()) for m in stars.values()])


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("periodic", [False, True])
def test_merged_points_are_means_around_the_centre_and_within_the_box(d, periodic):
    points, small, volume = swarm(400, d, seed=4)
    points = points * 5 - 2
    found = merganser.stars(points, small, box=(-2, 3), periodic=periodic)
    merged = found.merge(volume)
    assert merged.attributes == {} and merged.points.shape == (len(merged.kept), d)
    across = 0
    for place, (centre, members) in zip(merged.points, members_of(found).items()):
        apart = points[members] - points[centre]
        if periodic:
            across += (np.abs(apart) > 2.5).any()
            apart -= 5 * np.round(apart / 5)
        expected = points[centre] + volume[members] @ apart / volume[members].sum()
        if periodic:
            expected = (expected + 2) % 5 - 2
        np.testing.assert_allclose(place, expected, atol=1e-13)
    assert (across > 0) == periodic
    assert merged.points.min() >= -2 and merged.points.max() <= 3


def matrix_of(b, volume):
    """The matrix of an ellipsoid, whose last element follows from its volume: det B = (3 volume / 4 pi)^2."""
    b11, b12, b13, b22, b23 = b
    square = (0.75 * volume / np.pi) ** 2
    b33 = (square + b11 * b23 * b23 - 2 * b12 * b13 * b23 + b13 * b13 * b22) / (b11 * b22 - b12 * b12)
    return np.array([[b11, b12, b13], [b12, b22, b23], [b13, b23, b33]])


def test_ellipsoids_merge_by_second_moments_and_keep_their_volume():
    points, small, volume = swarm(200, 3, seed=6)
    volume *= 1e-3
    rng = np.random.default_rng(7)
    shapes = np.empty((200, 5))
    for i in range(200):
        a = rng.normal(size=(3, 3)) * 0.2 + np.eye(3)
        b = a @ a.T
        b *= ((0.75 * volume[i] / np.pi) ** 2 / np.linalg.det(b)) ** (1 / 3)
        shapes[i] = b[0, 0], b[0, 1], b[0, 2], b[1, 1], b[1, 2]
    found = merganser.stars(points, small)
    merged = found.merge(volume, {"B": shapes}, Schema({"B": "ellipsoid"}))
    for shape, (centre, members) in zip(merged.attributes["B"], members_of(found).items()):
        if len(members) == 1:
            assert (shape == shapes[centre]).all()
            continue
        whole = volume[members].sum()
        middle = volume[members] @ points[members] / whole
        moment = sum(volume[i] / whole * (matrix_of(shapes[i], volume[i]) + 5 * np.outer(points[i] - middle, points[i] - middle))
                     for i in members)
        moment *= ((0.75 * whole / np.pi) ** 2 / np.linalg.det(moment)) ** (1 / 3)
        np.testing.assert_allclose(shape, moment[[0, 0, 0, 1, 1], [0, 1, 2, 1, 2]], rtol=1e-9, atol=1e-14)
    none = found.merge(volume, {"B": np.zeros((200, 5))}, Schema({"B": "ellipsoid"}))
    assert not none.attributes["B"].any(), "five zeros are no shape"


def test_ids_decide_ties_in_links_and_stay_with_their_points():
    points = np.array([[0.0, 0, 0], [1, 0, 0], [-1, 0, 0]])
    small = np.array([True, False, False])
    for ids, centre in (([5, 7, 9], 1), ([5, 9, 7], 2), ([5, -9, -10], 2), (None, 1)):
        found = merganser.stars(points, small, ids=ids)
        assert found.centre.tolist() == [centre, 1, 2]
        assert found.ids.tolist() == (ids or [0, 1, 2])
        assert repr(found) == "<merganser.Stars: 3 points, 1 of them merge>"
        assert found.rank is None and found.sends.tolist() == found.receives.tolist() == []


@pytest.mark.parametrize("dtype", ["f4", ">f8", "i4", "u1", "?"])
def test_volumes_and_attributes_of_any_type_are_taken_as_numbers(dtype):
    points, small, _ = swarm(100)
    found = merganser.stars(points, small)
    volume = np.arange(1, 101).astype(dtype)
    values = np.asfortranarray(np.arange(200).reshape(100, 2).astype(dtype))
    plain = found.merge(volume.astype(float), {"a": values.astype(float)})
    merged = found.merge(volume[::-1].copy()[::-1], {"a": values}, Schema({"a": ("mean", 2)}))
    for ours, theirs in zip(merged, plain):
        if isinstance(ours, dict):
            ours, theirs = ours["a"], theirs["a"]
        np.testing.assert_array_equal(ours, theirs)
    assert merged.volume.dtype == merged.attributes["a"].dtype == np.float64 and merged.kept.dtype == np.int64


def merge(volume=np.ones(40), attributes=None, schema=None):
    points, small, _ = swarm(40)
    return merganser.stars(points, small).merge(volume, attributes, schema)


@pytest.mark.parametrize("call, error, text", [
    (lambda: merge(np.ones(39)), merganser.InputError, r"volume: an array of shape \(39,\); allowed: \(40,\)"),
    (lambda: merge(np.ones((40, 1))), merganser.InputError, r"volume: an array of shape \(40, 1\)"),
    (lambda: merge(1.0), merganser.InputError, r"volume: an array of shape \(\)"),
    (lambda: merge(["a"] * 40), TypeError, "volume: an array of <U1; allowed: real numbers"),
    (lambda: merge(np.full(40, 1e121)), merganser.InputError, "volume: row 0: 1e.121; allowed: 1e-120 to 1e120"),
    (lambda: merge(attributes={"a": np.ones(39)}), merganser.InputError,
     r"attributes: arrays of shapes {'a': \(39,\)}; allowed: .*each with 40 rows"),
    (lambda: merge(attributes={"a": np.ones((40, 2, 1))}), merganser.InputError,
     r"a: an array of shape \(40, 2, 1\); allowed: \(n,\) or \(n, c\)"),
    (lambda: merge(attributes={"a": np.ones(40)}, schema=Schema({"b": "mean"})), merganser.InputError, "attributes: arrays"),
    (lambda: merge(attributes={"a": np.ones(40)}, schema=Schema({"a": ("mean", 2)})), merganser.InputError, "attributes: arrays"),
    (lambda: merge(schema=Schema({"a": "mean"})), merganser.InputError, "attributes: arrays of shapes {}"),
    (lambda: merge(attributes={"a": [1j] * 40}), TypeError, "a: an array of complex128"),
    (lambda: merge(attributes={"B": np.ones((40, 5))}, schema=Schema({"B": "ellipsoid"})), merganser.InputError,
     "row 0: B: the ellipsoid is singular"),
    (lambda: merge(attributes={"s": np.full(40, -1e101)}, schema=Schema({"s": "sum"})), merganser.InputError,
     r"row 0: s is -1e.101; allowed: -1e.100 to 1e.100"),
])
def test_what_cannot_merge_is_refused_by_name(call, error, text):
    with pytest.raises(error, match=f"^{text}"):
        call()


@pytest.mark.parametrize("given, error, text", [
    ({"a": "median"}, merganser.UsageError, 'rule: "median"; allowed: mean, sum'),
    ({"a": ("mean", 0)}, merganser.UsageError, "a: 0; allowed: from 1 to"),
    ({"a": ("mean", 1.5)}, TypeError, "a: a float; allowed: a whole number"),
    ({"a": ("mean", 1.0)}, merganser.WrongTypeError, "a: a float; allowed: a whole number"),
    ({"a": ("mean", True)}, merganser.WrongTypeError, "a: True; allowed: a whole number"),
    ({"a": ("mean", np.array([1]))}, merganser.WrongTypeError, "a: a ndarray; allowed: a whole number"),
    ({"a": ("ellipsoid", 4)}, merganser.UsageError, "attribute a: an ellipsoid has 5 components"),
    ({"": "sum"}, merganser.UsageError, "an attribute without a name"), ({"a": 3}, TypeError, ""),
    ({"a": ("mean", 1, 2)}, merganser.WrongTypeError, r"attributes: 'a': \('mean', 1, 2\); allowed"),
    ({"a": ("mean",)}, merganser.WrongTypeError, "attributes: 'a'"),
    ({"a": None}, merganser.WrongTypeError, "attributes: 'a': None"),
    (3, merganser.WrongTypeError, "attributes: a int; allowed: a dict"), (["ab"], merganser.WrongTypeError, "attributes: a list"),
    ({"a": (1, 2)}, merganser.WrongTypeError, "attributes: 'a'"), ({7: "mean"}, merganser.WrongTypeError, "attributes: 7"),
])
def test_schemas_are_refused_by_attribute(given, error, text):
    with pytest.raises(error, match=f"^{text}"):
        Schema(given)


@pytest.mark.parametrize("name", ["id", "position", "x", "z", "volume"])
def test_no_attribute_of_parcels_hides_one_of_their_columns(name):
    with pytest.raises(merganser.UsageError, match=f"^schema: an attribute '{name}'; allowed: other names"):
        Parcels(Schema({name: "mean"}), 3)


def test_schemas_are_equal_by_what_they_hold():
    one = Schema({"a": "mean", "b": ("largest", 2)})
    assert one == Schema({"a": ("mean", 1), "b": ("largest", 2)})
    others = ({"b": ("largest", 2), "a": "mean"}, {"a": "sum", "b": ("largest", 2)}, {"a": "mean", "b": ("largest", 3)},
              {"a": "mean"}, {"c": "mean", "b": ("largest", 2)})
    assert all(one != Schema(other) for other in others) and one != {"a": ("mean", 1), "b": ("largest", 2)}
    assert repr(one) == "Schema({'a': ('mean', 1), 'b': ('largest', 2)})" and eval(repr(one)) == one
    assert Schema.epic().attributes == {"vorticity": ("mean", 3), "buoyancy": ("mean", 1), "B": ("ellipsoid", 5)}
    assert Schema({"B": "ellipsoid"}).attributes == {"B": ("ellipsoid", 5)} and Schema({}).attributes == {}
    with pytest.raises(TypeError):
        hash(one)


def test_columns_of_parcels_are_set_from_numbers_and_arrays_of_every_layout():
    parcels = Parcels(Schema({"a": "mean", "v": ("sum", 2)}), 3)
    parcels["a"], parcels["v"], parcels["position"] = 2, np.float32(0.5), 1.25
    assert parcels["a"].tolist() == [2] * 3 and parcels["v"].tolist() == [[0.5] * 2] * 3
    assert parcels["position"].tolist() == [[1.25] * 3] * 3
    parcels["v"] = np.arange(6, dtype=">i2").reshape(2, 3).T
    parcels["z"] = np.arange(6.0)[::-2]
    parcels["id"] = [9, -4, 2**63 - 1]
    assert parcels["v"].tolist() == [[0, 3], [1, 4], [2, 5]]
    assert parcels["position"].tolist() == [[1.25, 1.25, z] for z in (5, 3, 1)]
    columns = parcels.to_dict()
    assert list(columns) == ["id", "x", "y", "z", "volume", "a", "v"] and columns["id"].tolist() == [9, -4, 2**63 - 1]
    assert repr(parcels) == "<merganser.Parcels: 3, Schema({'a': ('mean', 1), 'v': ('sum', 2)})>"
    pandas = pytest.importorskip("pandas")
    parcels["v"] = pandas.DataFrame({"q": [1, 2, 3], "p": [0.5, 0.25, 0]})
    assert parcels["v"].tolist() == [[1, 0.5], [2, 0.25], [3, 0]]
    before = parcels.digest
    parcels.resize(2)
    assert parcels["id"].tolist() == [9, -4] and parcels.digest != before
    parcels.resize(4)
    assert parcels["id"].tolist() == [9, -4, 10, 11] and parcels["volume"].tolist() == [1] * 4
    assert parcels["v"].tolist()[2:] == [[0, 0]] * 2


@pytest.mark.parametrize("name, values, error, text", [
    ("a", [1, 2], merganser.InputError, r"a: an array of shape \(2,\); allowed: \(3,\)"),
    ("a", "x", TypeError, "a: a str; allowed: a number"),
    ("a", np.nan, merganser.UsageError, "a: nan; allowed: a number"), ("a", None, TypeError, "a: a NoneType"),
    ("a", 1j, TypeError, "a: a complex"),
    ("v", [1, 2, 3], merganser.InputError, r"v: an array of shape \(3,\); allowed: \(3, 2\)"),
    ("v", np.zeros((2, 3)), merganser.InputError, r"v: an array of shape \(2, 3\)"),
    ("v", [[1, 2]] * 2 + [[1, None]], merganser.InputError, r"v: \[2, 1\]: a missing value"),
    ("position", np.zeros((3, 2)), merganser.InputError, "position: an array"),
    ("id", 3, merganser.InputError, r"id: an array of shape \(\)"),
    ("id", [1.0, 2, 3], TypeError, "id: an array of float64; allowed: whole numbers"),
    ("id", [2**63, 0, 1], merganser.InputError, "id: 9223372036854775808; allowed: numbers below 2.63"),
    ("none", 1, merganser.UsageError, ".*none"),
    (3, 1, TypeError, "parcels: a int for a column; allowed: a name"),
    ("a", [2**53 + 1] * 3, merganser.InputError, r"a: 9007199254740993 at \[0\] is no float64"),
])
def test_columns_are_refused_by_name(name, values, error, text):
    parcels = Parcels(Schema({"a": "mean", "v": ("sum", 2)}), 3)
    before = parcels.digest
    with pytest.raises(error, match=f"^{text}"):
        parcels[name] = values
    assert parcels.digest == before
    if error is TypeError and name == 3 or name == "none":
        with pytest.raises(error, match=f"^{text}"):
            parcels[name]


def test_what_is_no_box_schema_or_dict_is_refused():
    parcels = Parcels(n=3)
    for call in (lambda: merganser.Clusterer(parcels, 4, box=None), lambda: merganser.random_parcels(4, box=None)):
        with pytest.raises(merganser.UsageError, match="^box: None; allowed"):
            call()
    with pytest.raises(merganser.WrongTypeError, match="^shape: a int; allowed: a text"):
        merganser.Clusterer(parcels, 4, box=(0, 1), shape=3)
    found = merganser.stars(np.eye(3), np.ones(3, bool))
    with pytest.raises(merganser.WrongTypeError, match="^attributes: a list; allowed: a dict"):
        found.merge(np.ones(3), [1, 2, 3])
    with pytest.raises(merganser.WrongTypeError, match="^schema: a dict; allowed: a merganser.Schema"):
        found.merge(np.ones(3), {"a": np.ones(3)}, {"a": "sum"})
