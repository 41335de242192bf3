"""Files of parcels that are not what they must be, and variables that are not EPIC's."""
import pathlib
import types
import warnings

import merganser
import numpy as np
import pytest

netCDF4 = pytest.importorskip("netCDF4")


@pytest.fixture
def path(tmp_path):
    """A file of 40 parcels in the unit box."""
    parcels = merganser.random_parcels(2, box=(0, 1), per_cell=5)
    merganser.write_parcels(tmp_path / "parcels.nc", parcels, box=(0, 1), cells=2)
    return tmp_path / "parcels.nc"


def put(name, value, place=3):
    def change(file):
        file.variables[name][0, place] = value

    return change


def rename(old, new):
    return lambda file: file.renameVariable(old, new)


def attribute(of, name, value):
    return lambda file: (file.variables[of] if of else file).setncattr(name, value)


def without(name):
    return lambda file: file.delncattr(name)


@pytest.mark.parametrize("change, says", [
    (put("volume", -1.0), "parcel 3: volume is -1.0; allowed: 1e-120 to"),
    (put("volume", np.nan), r'variable "volume": 1 of 40 values is missing, of parcel 3 \(NaN\)'),
    (put("y_position", 9.969209968386869e36, slice(5, 8)), r'"y_position": 3 of 40 values are missing, the first of parcel 5 \(never'),
    (put("merganser_id", -9223372036854775806), '"merganser_id": 1 of 40 values is missing'),
    (attribute("B12", "missing_value", "none"), "the attribute missing_value has .* values of type char; allowed: numbers"),
    (attribute(None, "periodic", [1, 1, 2]), "periodic is .*; allowed: 3 times 0 or 1"),
    (attribute(None, "origin", [1e17, 0.0, 0.0]), "axis x from 1e[+]17.* cannot be told apart"),
    (attribute(None, "ncells", [1e9, 1e9, 4.0]), "axis x: 1000000000 cells; allowed: 1 to 16777216"),
    (attribute(None, "ncells", [16384, 8192, 8192]), "fewer than 2\\^40 in all"),
    (put("volume", np.inf), "parcel 3: volume is inf"),
    (put("x_position", np.nan), '"x_position": 1 of 40'),
    (put("z_position", 1.5), "parcel 3: z_position is 1.5; allowed: 0.0 to 1.0, within the walls"),
    (put("B11", 0.0), "parcel 3: B11 B22 - B12"),
    (put("B22", np.nan), '"B22": 1 of 40'),
    (put("B11", 1e90), "parcel 3: B11 is 1e"),
    (put("buoyancy", np.inf), "parcel 3: buoyancy is inf"),
    (put("y_vorticity", -1e101), "parcel 3: y_vorticity is -1e"),
    (put("merganser_id", -4), "parcel 3: merganser_id is -4"),
    (put("merganser_id", 7, slice(5, 7)), "have the same id, 7"),
    (rename("volume", "other"), "no variable volume"),
    (rename("y_vorticity", "other"), "no variable y_vorticity, beside others of vorticity"),
    (attribute("B11", "scale_factor", 2.0), "B11 is packed: scale_factor = 2.0"),
    (attribute("x_position", "add_offset", 0.5), "x_position is packed: add_offset"),
    (attribute(None, "extent", [1.0, 0.0, 1.0]), "extent 0.0"),
    (attribute(None, "ncells", [1.0, 2.5, 1.0]), "ncells"),
    (attribute(None, "origin", [1.0, 2.5]), "origin .*; allowed: 3 numbers"),
    (without("extent"), "no global attribute extent"),
])
def test_what_the_command_refuses_is_refused(path, change, says):
    with netCDF4.Dataset(path, "a") as file:
        change(file)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(merganser.InputError, match=says) as error:
            merganser.read_parcels(path)
    assert "parcels.nc" in str(error.value)


@pytest.mark.parametrize("dimensions, kind, says", [
    (("t", "n_parcels"), "f4", "volume has type float32"),
    (("n_parcels", "t"), "f8", "volume has shape"),
    (("t", "t", "n_parcels"), "f8", "volume has shape"),
    (("t", "short"), "f8", "volume has shape"),
])
def test_other_types_and_shapes_are_refused(path, dimensions, kind, says):
    with netCDF4.Dataset(path, "a") as file:
        file.renameVariable("volume", "old")
        file.createDimension("short", 7)
        file.createVariable("volume", kind, dimensions)
    with pytest.warns(UserWarning), pytest.raises(merganser.InputError, match=says):
        merganser.read_parcels(path)


def test_factors_that_change_nothing_are_no_packing(path):
    with netCDF4.Dataset(path, "a") as file:
        file.variables["volume"].setncatts({"scale_factor": 1.0, "add_offset": 0.0})
    assert len(merganser.read_parcels(path)[0]) == 40


def test_other_variables_need_a_rule_or_are_named(path, tmp_path):
    with netCDF4.Dataset(path, "a") as file:
        file.createVariable("humidity", "f4", ("t", "n_parcels"))[0, :] = np.arange(40) / 8
        file.createVariable("label", "i4", ("n_parcels",))[:] = np.arange(40)
        file.createVariable("units", "f8", ("t",))
    with pytest.warns(UserWarning, match="passed over: humidity, label;") as warned:
        parcels, record = merganser.read_parcels(path)
    assert [warning.filename for warning in warned] == [__file__], "a warning names the line that calls"
    assert record["passed_over"] == ["humidity", "label"] and parcels.schema == merganser.Schema.epic()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parcels, record = merganser.read_parcels(path, attributes={"humidity": "mean", "label": "drop"})
        assert record["passed_over"] == ["label"]
        rules = types.MappingProxyType({"humidity": "mean", "label": "largest"})
        parcels, record = merganser.read_parcels(path, attributes=rules)
    assert parcels["humidity"].tolist() == [i / 8 for i in range(40)]
    assert parcels.schema.attributes["label"] == ("largest", 1)
    merganser.write_parcels(tmp_path / "again.nc", parcels, box=(0, 1), cells=2)
    again, _ = merganser.read_parcels(tmp_path / "again.nc", attributes={"humidity": "mean", "label": "largest"})
    assert again.digest == parcels.digest
    for bad in ({"humidity": "median"}, {"nothing": "mean"}, {"volume": "sum"}):
        with pytest.raises(merganser.UsageError, match=next(iter(bad))):
            merganser.read_parcels(path, attributes=bad)


def test_whole_numbers_that_float64_does_not_hold_are_refused(path):
    with netCDF4.Dataset(path, "a") as file:
        file.createVariable("label", "i8", ("n_parcels",))[:] = 2**53 + np.arange(40)
    with pytest.raises(merganser.InputError, match="label has numbers beyond 2"):
        merganser.read_parcels(path, attributes={"label": "largest"})


def test_what_cannot_be_read_back_is_not_written(tmp_path):
    parcels = merganser.random_parcels(2, box=(0, 1), per_cell=5)
    with pytest.raises(merganser.InputError, match="z_position"):
        merganser.write_parcels(tmp_path / "x.nc", parcels, box=(0, 0.5), cells=2)
    merganser.write_parcels(tmp_path / "x.nc", parcels, box=(0, 0.5), cells=2, periodic=True)
    assert merganser.read_parcels(tmp_path / "x.nc")[1]["periodic"] == [True] * 3
    before = (tmp_path / "x.nc").read_bytes()
    parcels["volume"] = np.r_[np.nan, np.ones(39)]
    with pytest.raises(merganser.InputError, match="parcel 0: volume is nan"):
        merganser.write_parcels(tmp_path / "x.nc", parcels, box=(0, 1), cells=2)
    assert (tmp_path / "x.nc").read_bytes() == before and len(list(tmp_path.iterdir())) == 1
    clash = merganser.Parcels(merganser.Schema({"B": "ellipsoid", "t": "mean"}), 0)
    with pytest.raises(merganser.UsageError, match="two variables of the name t"):
        merganser.write_parcels(tmp_path / "y.nc", clash, box=(0, 1), cells=2)


def test_the_file_says_its_box_and_what_is_small(tmp_path):
    parcels = merganser.random_parcels(2, box=(0, 1), per_cell=5)
    name = tmp_path / "x.nc"
    merganser.write_parcels(name, parcels, box=(0, 1), cells=2, periodic=[False, True, True], min_volume_ratio=7.5)
    record = merganser.read_parcels(name)[1]
    assert record["min_volume_ratio"] == 7.5 and record["periodic"] == [False, True, True]
    given = {key: record[key] for key in ("cells", "box", "periodic", "min_volume_ratio")}
    small = int((parcels["volume"] < 1 / 8 / 7.5).sum())
    assert merganser.Clusterer(parcels, **given).step()["small"] == small
    with netCDF4.Dataset(name, "a") as file:
        file.setncattr("min_vratio", 0.25)
    assert merganser.read_parcels(name)[1]["min_volume_ratio"] == 0.25
    for attribute, value in (("min_vratio", 0.0), ("min_vratio", np.nan), ("min_vratio", [1.0, 2.0]), ("periodic", [1, 2, 0])):
        with netCDF4.Dataset(name, "a") as file:
            file.setncattr(attribute, value)
        with pytest.raises(merganser.InputError, match=f"attribute {attribute}"):
            merganser.read_parcels(name)
        with netCDF4.Dataset(name, "a") as file:
            file.setncattr("min_vratio", 7.5)
    with pytest.raises(merganser.UsageError, match="min_volume_ratio"):
        merganser.write_parcels(name, parcels, box=(0, 1), cells=2, min_volume_ratio=-1)


def test_a_file_appears_whole_and_leaves_nothing_beside_it(tmp_path, monkeypatch):
    parcels = merganser.random_parcels(2, box=(0, 1), per_cell=5)
    (tmp_path / "link.nc").symlink_to("parcels.nc")
    merganser.write_parcels(tmp_path / "link.nc", parcels, box=(0, 1), cells=2)  # through the link, as the command does
    assert (tmp_path / "link.nc").is_symlink()
    written = (tmp_path / "parcels.nc").read_bytes()

    def fail(file, parcels, columns, time):
        raise OSError("no room")

    monkeypatch.setattr("merganser._parcel_files._write", fail)
    with pytest.raises(merganser.InputError, match="no room"):
        merganser.write_parcels(tmp_path / "parcels.nc", parcels, box=(0, 1), cells=2)
    assert (tmp_path / "parcels.nc").read_bytes() == written
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.nc", "parcels.nc"]
    with pytest.raises(merganser.InputError, match="none"):
        merganser.write_parcels(tmp_path / "none" / "parcels.nc", parcels, box=(0, 1), cells=2)


@pytest.mark.parametrize("keep", [0, 9, 3000])
def test_damaged_files_are_refused(path, keep):
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(merganser.InputError, match="parcels.nc"):
        merganser.read_parcels(path)


def test_no_parcels_are_parcels(tmp_path):
    merganser.write_parcels(tmp_path / "x.nc", merganser.Parcels(None, 0), box=(0, 1), cells=2)
    assert len(merganser.read_parcels(tmp_path / "x.nc")[0]) == 0


def test_missing_values_of_other_variables_are_refused_or_skipped_by_a_rule(path, tmp_path):
    values = np.arange(40) / 8
    values[[3, 7]] = -999
    with netCDF4.Dataset(path, "a") as file:
        file.createVariable("humidity", "f8", ("t", "n_parcels"), fill_value=-999.0)[0, :] = values
        file.createVariable("count", "i4", ("n_parcels",))[:] = np.arange(40)
        file.variables["count"].valid_max = np.int32(38)
    with pytest.raises(merganser.InputError, match=r'"humidity": 2 of 40 values are missing, the first of parcel 3 \(_FillValue -999\)'):
        merganser.read_parcels(path, attributes={"humidity": "largest", "count": "drop"})
    rules = {"humidity": "mean,missing=skip", "count": "sum,missing=skip"}
    parcels, _ = merganser.read_parcels(path, attributes=rules)
    assert np.flatnonzero(np.isnan(parcels["humidity"])).tolist() == [3, 7]
    assert np.flatnonzero(np.isnan(parcels["count"])).tolist() == [39]
    assert parcels.schema.attributes["humidity"] == ("mean_present", 1)
    merganser.write_parcels(tmp_path / "again.nc", parcels, box=(0, 1), cells=2)
    again, _ = merganser.read_parcels(tmp_path / "again.nc", attributes=rules)
    assert again.digest == parcels.digest
    with pytest.raises(merganser.InputError, match="never written"):
        merganser.read_parcels(tmp_path / "again.nc", attributes={"humidity": "mean", "count": "drop"})
    for bad in ("mean,missing=zero", "drop,missing=skip", ",missing=skip"):
        with pytest.raises(merganser.UsageError, match="missing=skip"):
            merganser.read_parcels(path, attributes={"humidity": bad, "count": "drop"})
    parcels["buoyancy"] = np.r_[9.969209968386869e36, np.zeros(39)]
    with pytest.raises(merganser.InputError, match="parcel 0: buoyancy .* means missing"):
        merganser.write_parcels(tmp_path / "again.nc", parcels, box=(0, 1), cells=2)


@pytest.mark.parametrize("name", ["external_link_new", "dense", "external_storage_old", "filter_new"])
def test_files_that_lead_to_others_are_refused_before_they_are_opened(name, monkeypatch):
    seeds = pathlib.Path(__file__).parents[1] / "fuzz" / "seeds" / "hdf5_references"
    monkeypatch.setattr(netCDF4, "Dataset", lambda *_, **__: pytest.fail("opened"))
    with pytest.raises(merganser.InputError, match="another file|plug-in"):
        merganser.read_parcels(seeds / f"refused-{name}")
    with pytest.raises(merganser.InputError, match="No such file"):
        merganser.read_parcels("http://127.0.0.1:9/in.nc")


def test_a_time_level_that_is_not_there_is_refused_with_those_that_are(path):
    for index in (1, 5, -2):
        with pytest.raises(merganser.InputError, match=f"1 time levels; allowed: time_index from -1 to 0, not {index}"):
            merganser.read_parcels(path, time_index=index)
    assert merganser.read_parcels(path, time_index=-1)[0].digest == merganser.read_parcels(path, time_index=0)[0].digest
    with netCDF4.Dataset(path, "a") as file:
        file.renameVariable("t", "other")
    with pytest.raises(merganser.InputError, match="1 time levels; allowed: time_index within them, not 1"):
        merganser.read_parcels(path, time_index=1)


@pytest.mark.parametrize("name", ["x", "id"])
def test_a_variable_called_as_a_column_of_parcels_does_not_replace_it(path, name):
    with netCDF4.Dataset(path, "r+") as file:
        file.createVariable(name, "f8", file.variables["volume"].dimensions)[:] = 0.25
    with pytest.raises(merganser.UsageError, match=f"an attribute '{name}'; allowed: other names"):
        merganser.read_parcels(path, attributes={name: "mean"})
    parcels, _ = merganser.read_parcels(path, attributes={name: "drop"})
    assert len(set(parcels["x"])) == 40


def test_arguments_that_would_be_written_or_read_as_others_are_refused(path):
    parcels = merganser.random_parcels(2, box=(0, 1), per_cell=5)
    before = path.read_bytes()

    def write(**given):
        merganser.write_parcels(path, parcels, **{"box": (0, 1), "cells": 2, **given})

    for time in (np.nan, np.inf, -np.inf):
        with pytest.raises(merganser.UsageError, match="^time: "):
            write(time=time)
    for given in ({"time": "3"}, {"time": np.datetime64(5, "s")}, {"time": np.complex64(1j)}, {"min_volume_ratio": "20"}):
        with pytest.raises(merganser.WrongTypeError, match="; allowed: a number"):
            write(**given)
    with pytest.raises(merganser.UsageError, match="^box: None"):
        write(box=None)
    for call in (merganser.read_parcels, lambda name: merganser.write_parcels(name, parcels, box=(0, 1), cells=2)):
        with pytest.raises(merganser.UsageError, match="^path: .*; allowed: names in UTF-8 without zero bytes"):
            call(f"{path}\0.nc")
    with pytest.raises(merganser.WrongTypeError, match="^time_index: a str"):
        merganser.read_parcels(path, time_index="0")
    with pytest.raises(merganser.WrongTypeError, match="^attributes: a list"):
        merganser.read_parcels(path, attributes=["a"])
    assert path.read_bytes() == before


def test_numbers_of_the_other_byte_order_are_read(path):
    with netCDF4.Dataset(path) as file, netCDF4.Dataset(path.with_name("big.nc"), "w") as other:
        other.setncatts(file.__dict__)
        for name, dimension in file.dimensions.items():
            other.createDimension(name, len(dimension))
        for name, variable in file.variables.items():
            other.createVariable(name, variable.dtype.newbyteorder(">"), variable.dimensions, endian="big")[:] = variable[:]
    assert merganser.read_parcels(path.with_name("big.nc"))[0].digest == merganser.read_parcels(path)[0].digest
