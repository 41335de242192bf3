"""Parcels as tables of pandas and xarray, and as files of Parquet: every value, type and unit; what is said without the library."""
import sys

import merganser
import numpy as np
import pytest


@pytest.fixture
def parcels():
    """Random parcels with EPIC's attributes, an attribute of two components, and ids in no order."""
    found = merganser.random_parcels(2, box=(0, 1), per_cell=5)
    schema = merganser.Schema({**found.schema.attributes, "colour": ("largest", 2)})
    out = merganser.Parcels(schema, len(found))
    for name in ("position", "volume", *found.schema.attributes):
        out[name] = found[name]
    out["colour"] = np.random.default_rng(1).random((len(found), 2))
    out["id"] = np.random.default_rng(2).permutation(len(found)) + 2**60
    return out


def epic():
    """Random parcels of EPIC's schema, whose attributes have units."""
    return merganser.random_parcels(2, box=(0, 1), per_cell=5)


def test_a_data_frame_has_every_bit_and_type(parcels):
    pandas = pytest.importorskip("pandas")
    frame = parcels.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == len(parcels)
    assert frame["id"].dtype == np.int64 and (frame["id"] == parcels["id"]).all()
    assert set(frame.dtypes.drop("id")) == {np.dtype(np.float64)}
    for name in ("x", "y", "z", "volume", "buoyancy"):
        assert (frame[name].to_numpy() == parcels[name]).all()
    assert (frame[["colour_0", "colour_1"]].to_numpy() == parcels["colour"]).all()
    assert frame.attrs["rules"]["colour_1"] == "largest"


def test_names_and_units_are_those_of_files():
    pytest.importorskip("pandas")
    given = epic()
    frame = given.to_pandas()
    assert list(frame) == ["id", "x", "y", "z", "volume", "x_vorticity", "y_vorticity", "z_vorticity", "buoyancy", "B11", "B12",
                           "B13", "B22", "B23"]
    assert (frame["z_vorticity"].to_numpy() == given["vorticity"][:, 2]).all()
    assert frame.attrs["units"]["volume"] == "m^3" and frame.attrs["units"]["x_vorticity"] == "1/s"


def test_a_dataset_has_every_bit_and_unit(parcels):
    xarray = pytest.importorskip("xarray")
    data = parcels.to_xarray()
    assert isinstance(data, xarray.Dataset) and data.sizes["parcel"] == len(parcels)
    assert data["id"].dtype == np.int64 and set(data.coords) >= {"id", "x", "y", "z"}
    for name in ("id", "x", "y", "z", "volume", *parcels.schema.attributes):
        assert (data[name].values == parcels[name]).all(), name
        assert data[name].dtype == parcels[name].dtype
    assert data["colour"].attrs["merge_rule"] == "largest" and data["x"].attrs["units"] == "m"
    assert list(epic().to_xarray()["vorticity_component"].values) == ["x_vorticity", "y_vorticity", "z_vorticity"]


def test_a_file_of_parquet_has_every_bit_and_appears_whole(parcels, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "parcels.parquet"
    path.write_bytes(b"old")
    parcels.to_parquet(path)
    table = parquet.read_table(path)
    assert (table["id"].to_numpy() == parcels["id"]).all() and (table["colour_1"].to_numpy() == parcels["colour"][:, 1]).all()
    assert table.schema.field("volume").metadata == {b"units": b"m^3"}
    assert [p.name for p in tmp_path.iterdir()] == ["parcels.parquet"]
    with pytest.raises(merganser.InputError):
        parcels.to_parquet(tmp_path / "no" / "parcels.parquet")


def test_no_parcels_are_tables_without_rows():
    none = merganser.Parcels()
    if pytest.importorskip("pandas"):
        assert none.to_pandas().shape == (0, 14)
    if pytest.importorskip("xarray"):
        assert none.to_xarray()["vorticity"].shape == (0, 3)


def test_columns_of_one_name_are_refused():
    pytest.importorskip("pandas")
    clash = merganser.Parcels(merganser.Schema({"a": ("sum", 2), "a_1": "sum"}), 1)
    with pytest.raises(merganser.UsageError, match="a_1"):
        clash.to_pandas()


@pytest.mark.parametrize("library, call", [("pandas", "to_pandas"), ("xarray", "to_xarray"), ("pyarrow", "to_parquet")])
def test_a_library_that_is_not_there_is_named(library, call, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(merganser.InputError, match=f"pip install {library}"):
        getattr(merganser.Parcels(), call)(*([tmp_path / "a"] if call == "to_parquet" else []))
