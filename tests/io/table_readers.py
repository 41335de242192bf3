"""Opens VTU, VTKHDF, NPZ, NPY and CSV files, and EPIC's, that `merganser convert` writes with the libraries of others: VTK, NumPy,
pandas and xarray. Exit code 77: one of them is missing (pip install vtk pandas xarray netCDF4).

usage: table_readers.py MERGANSER
"""
import pathlib
import subprocess
import sys
import tempfile
import warnings

EPIC = {"volume": 1, "merganser_id": 1, "vorticity": 3, "buoyancy": 1, "B11": 1, "B12": 1, "B13": 1, "B22": 1, "B23": 1}


def run(*words):
    """Runs a command of merganser. Returns its digest."""
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, words))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return next((line for line in done.stdout.splitlines() if line.startswith("digest ")), "")


def vtk_arrays(data):
    """Returns points and arrays over the points of a data set of VTK as NumPy's."""
    from vtkmodules.util.numpy_support import vtk_to_numpy

    points = data.GetPointData()
    return vtk_to_numpy(data.GetPoints().GetData()), {points.GetArrayName(i): vtk_to_numpy(points.GetArray(i))
                                                      for i in range(points.GetNumberOfArrays())}


def read_vtu(path):
    """Reads a VTU file by VTK. Returns points, arrays, and the time that VTK tells."""
    from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline
    from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader

    reader = vtkXMLUnstructuredGridReader()
    reader.SetFileName(str(path))
    reader.Update()
    data = reader.GetOutput()
    assert data.GetNumberOfCells() == data.GetNumberOfPoints()
    assert data.GetCellType(0) == 1 and data.GetCell(5).GetPointId(0) == 5
    times = reader.GetOutputInformation(0).Get(vtkStreamingDemandDrivenPipeline.TIME_STEPS())
    return *vtk_arrays(data), times if times else (data.GetFieldData().GetArray("TimeValue").GetValue(0),)


def check(folder, merganser):
    """Converts parcels to every format and compares what libraries read with what xarray reads of EPIC's file."""
    import numpy
    import pandas
    import xarray
    from vtkmodules.vtkCommonCore import vtkVersion
    from vtkmodules.vtkIOHDF import vtkHDFReader

    run(merganser, "gen", "random", "--cells", "4,4,4", "--per-cell", "5", "-o", folder / "in.nc")
    want = run(merganser, "convert", folder / "in.nc", folder / "a.nc")
    for name in ("a.vtu", "a.vtkhdf", "a.npz", "a.npy", "a.csv"):
        assert run(merganser, "convert", folder / "in.nc", folder / name, "--ranks", "2") == want, name
    with xarray.open_dataset(folder / "a.nc") as epic:
        assert epic["t"].dtype == numpy.float64 and epic["t"].attrs["axis"] == "T"
        columns = {name: epic[name].values[0] for name in epic.data_vars if epic[name].dims == ("t", "n_parcels")}
        time = float(epic["t"][0])
    places = numpy.stack([columns[f"{axis}_position"] for axis in "xyz"], axis=1)
    columns["vorticity"] = numpy.stack([columns[f"{axis}_vorticity"] for axis in "xyz"], axis=1)

    def same(points, arrays, source):
        assert points.dtype == numpy.float64 and (points == places).all(), source
        for name in EPIC:
            assert arrays[name].dtype == columns[name].dtype and (arrays[name] == columns[name]).all(), (source, name)

    points, arrays, times = read_vtu(folder / "a.vtu")
    same(points, arrays, "VTU")
    assert tuple(times) == (time,), times
    version = vtkVersion()
    if (version.GetVTKMajorVersion(), version.GetVTKMinorVersion()) >= (9, 3):  # earlier ones read no PolyData of VTKHDF
        reader = vtkHDFReader()
        reader.SetFileName(str(folder / "a.vtkhdf"))
        reader.Update()
        same(*vtk_arrays(reader.GetOutput()), "VTKHDF")
    archive = numpy.load(folder / "a.npz")
    assert archive["merganser_ncells"].tolist() == [4, 4, 4] and float(archive["merganser_time"]) == time
    same(archive["position"], archive, "NPZ")
    entries = numpy.load(folder / "a.npy")
    for name in entries.dtype.names:
        assert entries.dtype[name] == columns[name].dtype and (entries[name] == columns[name]).all(), name
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer versions of pandas need no float_precision
        frame = pandas.read_csv(folder / "a.csv", float_precision="round_trip")
    assert frame["merganser_id"].dtype == numpy.int64 and frame["x_position"].dtype == numpy.float64
    for name in frame:
        assert (frame[name].to_numpy() == columns[name]).all(), name
    numpy.savez(folder / "b.npz", **{name: archive[name] for name in archive})
    assert run(merganser, "convert", folder / "b.npz", folder / "b.nc") == want, "NPZ that NumPy writes"


def main():
    try:
        import netCDF4  # noqa: F401
        import pandas  # noqa: F401
        import vtkmodules.vtkIOHDF  # noqa: F401
        import vtkmodules.vtkIOXML  # noqa: F401
        import xarray  # noqa: F401
    except ImportError as wrong:
        print(f"skipped: {wrong}")
        return 77
    with tempfile.TemporaryDirectory() as name:
        check(pathlib.Path(name), pathlib.Path(sys.argv[1]).resolve())
    from vtkmodules.vtkCommonCore import vtkVersion

    print(f"VTK {vtkVersion().GetVTKVersion()}, NumPy, pandas and xarray read what was written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
