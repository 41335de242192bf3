"""Steps, made parcels, rows that migrate, and files of parcels: options and bounds, against counts by hand and against NumPy."""
import itertools

import merganser
import numpy as np
import pytest
from merganser import Clusterer, Parcels, Schema, _parcel_checks, _parcel_files


def line_of_parcels(volumes, schema=None):
    """Parcels along x, one in the middle of each tenth of the unit box."""
    parcels = Parcels(Schema({"a": "sum"}) if schema is None else schema, len(volumes))
    parcels["position"] = np.stack([(np.arange(len(volumes)) + 0.5) / 10, np.full(len(volumes), 0.5), np.full(len(volumes), 0.5)],
                                   axis=1)
    parcels["volume"] = volumes
    return parcels


@pytest.mark.parametrize("ratio", [1, 4, 40, 62.5, None])
def test_a_parcel_is_small_below_the_volume_of_a_cell_over_the_ratio(ratio):
    limit = 1 / 8 / (40 if ratio is None else ratio)
    parcels = line_of_parcels([1.0, limit, np.nextafter(limit, 0), 1.0, np.nextafter(limit, 1)])
    report = Clusterer(parcels, 2, box=(0, 1), min_volume_ratio=ratio).step()
    assert (report["before"], report["small"], report["merged"], report["after"]) == (5, 1, 1, 4)
    assert len(parcels) == 4 and 2 not in parcels["id"]


def test_a_step_merges_stars_by_hand():
    parcels = line_of_parcels([1.0, 0.001, 1.0, 0.002, 1.0, 1.0])
    parcels["x"] = [0.1, 0.19, 0.3, 0.32, 0.7, 0.95]
    parcels["a"] = [1, 2, 4, 8, 16, 32]
    clusterer = Clusterer(parcels, (2, 2, 2), box=(0, 1), min_volume_ratio=8)
    report = clusterer.step()
    assert report["merged"] == 2 and clusterer.parcels is parcels
    assert sum(size * count for size, count in report["clusters"].items()) == 4 and set(report["clusters"]) == {2}
    order = np.argsort(parcels["id"])
    assert parcels["id"][order].tolist() == [0, 2, 4, 5] and parcels["a"][order].tolist() == [3, 12, 16, 32]
    np.testing.assert_allclose(parcels["x"][order], [(0.1 + 0.00019) / 1.001, (0.3 + 0.00064) / 1.002, 0.7, 0.95], rtol=1e-14)
    before = parcels.digest
    assert clusterer.step()["merged"] == 0 and parcels.digest == before
    clusterer.distribute()
    assert parcels.digest == before


@pytest.mark.parametrize("periodic, x", [([True, True, False], [0.25, 0.5, 0.999]), (False, [1.0, 0.5, 0.999])])
def test_parcels_that_have_moved_beyond_a_face_are_wrapped_or_put_onto_the_wall(periodic, x):
    parcels = line_of_parcels([1.0])
    clusterer = Clusterer(parcels, 4, box=(0, 1), periodic=periodic)
    parcels["position"] = [[3.25, 0.5, 0.999]]
    clusterer.step()
    np.testing.assert_allclose(parcels["position"][0], x, atol=1e-15)


@pytest.mark.parametrize("shape", ["auto", "1d", "2d", "3d"])
def test_every_shape_of_blocks_gives_the_same_parcels(shape):
    parcels, plain = (merganser.random_parcels(6, box=(-1, 1), per_cell=6, seed=9) for _ in range(2))
    Clusterer(parcels, 6, box=(-1, 1), shape=shape).step()
    Clusterer(plain, [6, 6, 6], box=(-1, [1, 1, 1])).step()
    assert parcels.digest == plain.digest


GOOD = {"cells": 2, "box": (0, 1)}


@pytest.mark.parametrize("bad, error, text", [
    ({"cells": 0}, merganser.UsageError, "cells: 0; allowed: from 1 to 1048576"),
    ({"cells": (2, 2)}, merganser.UsageError, r"cells: \(2, 2\); allowed: a number, or one for each of 3 axes"),
    ({"cells": [2, 2, 2**20 + 1]}, merganser.UsageError, "cells: 1048577"),
    ({"cells": 2.0}, TypeError, "cells: a float; allowed: a whole number"), ({"cells": [2, 2, "2"]}, TypeError, "cells: a str"),
    ({"box": (1, 0)}, merganser.UsageError, "box: "),
    ({"periodic": [True]}, merganser.UsageError, r"periodic: \[True\]; allowed: True, False, or 3 of them"),
    ({"min_volume_ratio": 0}, merganser.UsageError, "min_volume_ratio: 0.0; allowed: above 0"),
    ({"min_volume_ratio": -3}, merganser.UsageError, "min_volume_ratio: -3.0"),
    ({"min_volume_ratio": "4"}, TypeError, "min_volume_ratio: a str"),
    ({"min_volume_ratio": np.nan}, merganser.UsageError, "min_volume_ratio: nan; allowed: a number"),
    ({"shape": "4d"}, merganser.UsageError, ".*4d"), ({"model": "rma"}, merganser.UsageError, "model: 'rma'"),
    ({"parcels": [1]}, TypeError, "parcels: a list; allowed: merganser.Parcels"),
])
def test_a_clusterer_is_refused_by_argument(bad, error, text):
    given = {"parcels": line_of_parcels([1.0]), **GOOD, **bad}
    with pytest.raises(error, match=f"^{text}"):
        Clusterer(given.pop("parcels"), given.pop("cells"), **given)


@pytest.mark.parametrize("name, value, text",
                         [("volume", 0.0, "volume is 0; allowed: 1e-120 to"), ("volume", np.nan, "volume is nan"),
                          ("a", np.inf, "a is inf"), ("a", 1.1e100, "a is 1.1")])
def test_a_step_names_the_parcel_with_a_value_that_cannot_merge(name, value, text):
    parcels = line_of_parcels([1.0] * 4)
    parcels["id"] = [10, 20, 30, 40]
    clusterer = Clusterer(parcels, **GOOD)
    values = parcels[name]
    values[2] = value
    parcels[name] = values
    with pytest.raises(merganser.InputError, match=f"^parcel id 30: {text}"):
        clusterer.step()


def test_random_parcels_are_the_same_for_any_number_of_blocks_and_differ_by_seed():
    whole = merganser.random_parcels((4, 3, 2), box=([0, -1, 2], [4, 2, 3]), per_cell=15, seed=5)
    assert len(whole) == 4 * 3 * 2 * 15 and whole.schema == Schema.epic()
    for ranks in (2, 3, 6):
        parts = [merganser.random_parcels((4, 3, 2), box=([0, -1, 2], [4, 2, 3]), per_cell=15, seed=5, rank=r, ranks=ranks)
                 for r in range(ranks)]
        for name, column in whole.to_dict().items():
            joined = np.concatenate([p[name] for p in parts])
            np.testing.assert_array_equal(joined[np.argsort(np.concatenate([p["id"] for p in parts]))],
                                          column[np.argsort(whole["id"])])
    seeds = [merganser.random_parcels((4, 3, 2), box=(0, 1), seed=seed).digest for seed in (0, 6, 7, 2**63 - 1)]
    assert len(set(seeds)) == 4
    for seed in (-1, 2**63):
        with pytest.raises(merganser.UsageError, match=f"seed: {seed}; allowed"):
            merganser.random_parcels(1, box=(0, 1), seed=seed)
    named = merganser.random_parcels([1, 1, 1], box=([0] * 3, 1), per_cell=20, seed=42, small_fraction=0.5, min_volume_ratio=20)
    assert merganser.random_parcels(1, box=(0, 1)).digest == named.digest


@pytest.mark.parametrize("fraction", [0, 0.25, 1])
def test_a_fraction_of_made_parcels_is_small(fraction):
    parcels = merganser.random_parcels(6, box=(0, 3), small_fraction=fraction, min_volume_ratio=10, per_cell=10)
    assert np.mean(parcels["volume"] < 0.5**3 / 10) == pytest.approx(fraction, abs=0.03)
    position = parcels["position"]
    assert (position >= 0).all() and (position <= 3).all() and len(set(parcels["id"].tolist())) == len(parcels) == 2160


@pytest.mark.parametrize("bad, error, text", [
    ({"per_cell": 0}, merganser.UsageError, "per_cell: 0; allowed: from 1 to"), ({"per_cell": 1.0}, TypeError, "per_cell: a float"),
    ({"small_fraction": "x"}, TypeError, "small_fraction: a str"),
    ({"small_fraction": 1.5}, merganser.UsageError, ".*1.5"), ({"small_fraction": -0.1}, merganser.UsageError, ".*-0.1"),
    ({"min_volume_ratio": None}, TypeError, "min_volume_ratio: a NoneType"),
    ({"seed": -1}, merganser.UsageError, "seed: -1"),
    ({"rank": 2, "ranks": 2}, merganser.UsageError, "rank: 2; allowed: from 0 to 1"),
    ({"rank": -1}, merganser.UsageError, "rank: -1; allowed: from 0 to 0"),
    ({"ranks": 0}, merganser.UsageError, "ranks: 0; allowed: from 1"), ({"cells": []}, merganser.UsageError, r"cells: \[\]"),
    ({"box": 1}, merganser.UsageError, "box: 1"),
])
def test_made_parcels_are_refused_by_argument(bad, error, text):
    given = {**GOOD, **bad}
    with pytest.raises(error, match=f"^{text}"):
        merganser.random_parcels(given.pop("cells"), **given)


@pytest.mark.parametrize("bad, error, text", [
    ({"n": -1}, merganser.UsageError, "n: -1; allowed: from 0 to 2147483647"), ({"n": 2.0}, TypeError, "n: a float"),
    ({"schema": {"a": "mean"}}, TypeError, "schema: a dict; allowed: a merganser.Schema"),
])
def test_containers_are_refused_by_argument(bad, error, text):
    with pytest.raises(error, match=f"^{text}"):
        Parcels(**bad)
    if "n" in bad:
        with pytest.raises(error, match=f"^{text}"):
            Parcels(n=2).resize(bad["n"])


@pytest.mark.parametrize("dtype, shape",
                         list(itertools.product(["f8", ">f4", "i1", "?", "S3", "M8[s]", "f8,i4"],
                                                [(20,), (20, 3), (20, 0), (20, 2, 2)])))
def test_rows_of_any_type_migrate_as_they_are_in_one_process(dtype, shape):
    points = np.random.default_rng(1).random((20, 2))
    found = merganser.stars(points, points[:, 0] < 0.5)
    came = found.migrate(np.zeros(shape, dtype))
    assert came.shape == (0, *shape[1:]) and came.dtype == np.dtype(dtype)


@pytest.mark.parametrize("array, text",
                         [(np.zeros(19), r"\(19,\) and float64; allowed: a row of numbers for each of 20 points"),
                          (np.array([None] * 20), r"\(20,\) and object"), ([], r"\(0,\)")])
def test_rows_that_cannot_migrate_are_refused(array, text):
    points = np.random.default_rng(1).random((20, 2))
    with pytest.raises(merganser.InputError, match=f"^migrate: an array of shape {text}"):
        merganser.stars(points, points[:, 0] < 0.5).migrate(array)


@pytest.mark.parametrize("schema",
                         [None, Schema({"B": "ellipsoid"}),
                          Schema({"salt": ("sum", 2), "B": "ellipsoid", "tag": "largest", "first": ("centre", 2)}),
                                    Schema({"B": "ellipsoid", "buoyancy": "mean", "wet": "mean_present",
                                            "rain": ("sum_present", 1)})])
def test_files_keep_every_attribute_that_a_rule_is_named_for(tmp_path, schema):
    pytest.importorskip("netCDF4")
    made = merganser.random_parcels(2, box=(0, 1), per_cell=4, seed=3)
    parcels = Parcels(schema, len(made))
    rng = np.random.default_rng(4)
    for name in ("position", "volume", "id", "B"):
        parcels[name] = made[name]
    rules = {}
    for name, (rule, components) in parcels.schema.attributes.items():
        if name in ("B", "vorticity"):
            continue
        values = rng.normal(size=(len(made), components))
        if rule in ("largest", "centre", "mean_present", "sum_present"):
            values[::5, 0] = np.nan
        parcels[name] = values[:, 0] if components == 1 else values
        if name != "buoyancy":
            names = [name] if components == 1 else [f"{name}_{i}" for i in range(components)]
            rules.update({v: rule.replace("_present", "") + ("" if rule == "sum" else ",missing=skip") for v in names})
    merganser.write_parcels(str(tmp_path / "p.nc"), parcels, box=(0, 1), cells=2, time=1.5, periodic=False, min_volume_ratio=3)
    back, record = merganser.read_parcels(tmp_path / "p.nc", attributes=rules)
    assert record == {"box": ([0.0] * 3, [1.0] * 3), "periodic": [False] * 3, "cells": [2] * 3, "min_volume_ratio": 3.0,
                      "time": 1.5, "passed_over": []}
    for name, column in parcels.to_dict().items():
        components = 1 if name not in parcels.schema.attributes else parcels.schema.attributes[name][1]
        if components == 1 or name in ("vorticity", "B"):
            np.testing.assert_array_equal(back[name], column)
        else:
            np.testing.assert_array_equal(np.stack([back[f"{name}_{i}"] for i in range(components)], axis=1), column)
    own = ("B", "vorticity", "buoyancy")
    given = {rule for name, (rule, _) in parcels.schema.attributes.items() if name not in own}
    assert {back.schema.attributes[v][0] for v in rules} == given


@pytest.mark.parametrize("schema, text",
                         [({"a": "mean"}, "parcels: no attribute B; allowed: those of EPIC"),
                          ({"B": ("sum", 5)}, "parcels: no attribute B"),
                          ({"B": "ellipsoid", "buoyancy": ("mean", 2)}, "parcels: buoyancy with 2 components; allowed: 1, as EPIC"),
                                          ({"B": "ellipsoid", "a": ("sum", 2), "a_1": "sum"},
                                           "parcels: two variables of the name a_1")])
def test_schemas_that_a_file_cannot_hold_are_refused(tmp_path, schema, text):
    with pytest.raises(merganser.UsageError, match=f"^{text}"):
        merganser.write_parcels(tmp_path / "p.nc", Parcels(Schema(schema)), **GOOD)
    assert not list(tmp_path.iterdir())
    with pytest.raises(TypeError, match="^parcels: a dict; allowed: merganser.Parcels"):
        merganser.write_parcels(tmp_path / "p.nc", {}, **GOOD)


def test_names_of_variables_follow_from_the_components():
    names = _parcel_files._variable_names(Schema({"B": "ellipsoid", "s": "sum", "w": ("mean", 2), "vorticity": ("mean", 3)}))
    assert names == {"B": ("B11", "B12", "B13", "B22", "B23"), "s": ("s",), "w": ("w_0", "w_1"),
                     "vorticity": ("x_vorticity", "y_vorticity", "z_vorticity")}


@pytest.mark.parametrize("text, rule, skip",
                         [("mean", "mean", False), ("mean,missing=refuse", "mean", False),
                          ("mean,missing=skip", "mean_present", True), ("sum,missing=skip", "sum_present", True),
                                              ("largest,missing=skip", "largest", True), ("centre", "centre", False),
                                              ("drop", None, False)])
def test_rules_of_files_are_words(text, rule, skip):
    assert _parcel_files.parse_rule("v", text) == (rule, skip)


@pytest.mark.parametrize("text",
                         ["", "Mean", "ellipsoid", "mean_present", "mean,", "mean,skip", "drop,missing=skip", "drop,missing=refuse",
                          "mean,missing=skip,", None, 3])
def test_other_words_are_no_rules(text):
    if text == "mean,":
        assert _parcel_files.parse_rule("v", text) == ("mean", False)
        return
    with pytest.raises(merganser.UsageError,
                       match=f"^attributes: v: {text!r}; allowed: mean, sum, centre, largest, drop, and behind one that merges"):
        _parcel_files.parse_rule("v", text)


@pytest.mark.parametrize("lower, extent, cells, text", [
    ([0, 0, 0], [1, 0, 1], [1] * 3, "f: extent 0; allowed: 1e-40 to 1e.40"), ([0, 0, 0], [1, 1, 2e40], [1] * 3, "f: extent 2e.40"),
    ([0, 0, np.nan], [1] * 3, [1] * 3, "f: origin nan; allowed: -1e.40 to"),
    ([-2e40, 0, 0], [1] * 3, [1] * 3, "f: origin -2e.40"),
    ([0] * 3, [1] * 3, [1, 0, 1], r"f: ncells \[1, 0, 1\]; allowed: whole numbers from 1 on"),
    ([0] * 3, [1] * 3, [1, 1.5, 1], "f: ncells"),
])
def test_grids_of_files_are_refused_beyond_their_bounds(lower, extent, cells, text):
    with pytest.raises(merganser.InputError, match=f"^{text}"):
        _parcel_checks.check_grid("f", lower, extent, cells)
    _parcel_checks.check_grid("f", [0.0, -1e3, 5.0], [1e-40, 1e3, 1.0], [1, 4, 2])


@pytest.mark.parametrize("ids, text",
                         [([0, 3, -1], "f: parcel 2: merganser_id is -1; allowed: 0 and above"),
                          ([5, 1, 7, 1, 5], "f: parcels 1 and 3 have the same id, 1; allowed: each once"),
                          ([2**62, 0, 2**62], f"f: parcels 0 and 2 have the same id, {2**62}")])
def test_ids_of_files_are_distinct_and_from_0_on(ids, text):
    with pytest.raises(merganser.InputError, match=f"^{text}"):
        _parcel_checks.check_ids("f", np.array(ids))
    _parcel_checks.check_ids("f", np.array([2**63 - 1, 0, 1]))
    _parcel_checks.check_ids("f", np.zeros(0, np.int64))
