"""Opens fields and snapshots of a flow with xarray and with VTK's reader of CF files, and compares the time and the grid that they
see. Exit code 77: one of them is missing (pip install xarray netCDF4 vtk).

usage: cf_readers.py MERGANSER
"""
import pathlib
import subprocess
import sys
import tempfile

FIELDS = ("volume", "x_vorticity", "y_vorticity", "z_vorticity", "buoyancy", "x_velocity", "y_velocity", "z_velocity",
          "x_vorticity_tendency", "y_vorticity_tendency", "z_vorticity_tendency", "nparg", "nsparg")


def read_by_vtk(path):
    """Returns time, bounds of the grid and arrays by name, of all variables over z, y, x, as VTK reads them by default."""
    from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline
    from vtkmodules.vtkIONetCDF import vtkNetCDFCFReader
    from vtkmodules.util.numpy_support import vtk_to_numpy

    reader = vtkNetCDFCFReader()
    reader.SetFileName(str(path))
    reader.UpdateMetaData()
    reader.SetDimensions("(z, y, x)")
    reader.UpdateInformation()
    times = reader.GetOutputInformation(0).Get(vtkStreamingDemandDrivenPipeline.TIME_STEPS())
    reader.Update()
    grid = reader.GetOutputDataObject(0)
    points = grid.GetPointData()
    arrays = {points.GetArrayName(i): vtk_to_numpy(points.GetArray(i)) for i in range(points.GetNumberOfArrays())}
    return times, grid.GetBounds(), arrays


def check_fields(path, snapshot):
    """Compares what both read of a file of fields, and xarray's time of it with that of the snapshot beside it."""
    import numpy
    import xarray

    times, bounds, arrays = read_by_vtk(path)
    with xarray.open_dataset(path) as fields, xarray.open_dataset(snapshot) as parcels:
        assert fields["t"].dtype == parcels["t"].dtype == numpy.float64, (fields["t"], parcels["t"])
        assert list(fields["t"].values) == list(parcels["t"].values) == list(times), (fields["t"], parcels["t"], times)
        assert fields["t"].attrs["units"] == parcels["t"].attrs["units"] == "s"
        assert set(FIELDS) == set(arrays) == set(fields.data_vars), (set(arrays), set(fields.data_vars))
        want = [float(end) for axis in "xyz" for end in (fields[axis][0], fields[axis][-1])]
        assert numpy.allclose(bounds, want, rtol=1e-12), (bounds, want)
        for name in FIELDS:
            assert (fields[name].values.ravel() == arrays[name]).all(), name


def main():
    try:
        import netCDF4  # noqa: F401
        import vtkmodules.vtkIONetCDF  # noqa: F401
        import xarray  # noqa: F401
    except ImportError as wrong:
        print(f"skipped: {wrong}")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        words = [sys.argv[1], "flow", "rayleigh-taylor", "--cells", "8", "--until", "0.5", "--snapshots", "2", "-o", "rt"]
        subprocess.run(words, cwd=folder, check=True, capture_output=True, timeout=300)
        for number in (1, 2):
            check_fields(folder / f"rt_{number:010}_fields.nc", folder / f"rt_{number:010}_parcels.nc")
    print("xarray and VTK read the same time and fields")
    return 0


if __name__ == "__main__":
    sys.exit(main())
