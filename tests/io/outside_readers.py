"""Opens files that merganser writes with the libraries of others: openPMD-api, h5py and VTK; openPMD-viewer and openPMD's
validator too where they are installed. Exit code 77: one of the first three is missing.

usage: outside_readers.py MERGANSER [PLASMA.h5]
"""
import importlib.util
import pathlib
import shutil
import subprocess
import sys
import tempfile


def run(*words):
    """Runs a command of merganser. Returns its digest, if it prints one."""
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, words))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    for line in done.stdout.splitlines():
        if line.startswith("digest "):
            return line
    return ""


def check_openpmd(path, species, count, records):
    """Reads all particles of a file by openPMD-api and compares number and attributes."""
    import openpmd_api

    series = openpmd_api.Series(str(path), openpmd_api.Access.read_only)
    iteration = series.iterations[max(series.iterations)]
    for name in species:
        particles = iteration.particles[name]
        missing = set(records) - set(particles)
        assert not missing, f"{path}: {name} lacks {missing}"
        for record in records:
            assert len(particles[record].unit_dimension) == 7
            assert {"macroWeighted", "weightingPower", "timeOffset"} <= set(particles[record].attributes), record
    loaded = {name: iteration.particles[name]["position"]["x"].load_chunk() for name in species}
    series.flush()
    assert sum(len(x) for x in loaded.values()) == count, (path, {k: len(v) for k, v in loaded.items()})
    series.close()


def check_validator(path):
    """Lets openPMD's validator read a file: no error."""
    validator = pathlib.Path(sys.executable).with_name("openPMD_check_h5")
    if not validator.exists():
        print(f"no {validator}: {path.name} is not validated")
        return
    done = subprocess.run([validator, "-i", path], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0 and "Result: 0 Errors" in done.stdout, done.stdout + done.stderr


def check_viewer(path, folder, species, count):
    """Reads every component of every species by openPMD-viewer, with both of its readers."""
    if importlib.util.find_spec("openpmd_viewer") is None:
        print(f"no openPMD-viewer: {path.name} is not shown")
        return
    from openpmd_viewer import OpenPMDTimeSeries

    folder.mkdir()
    shutil.copy(path, folder)
    for backend in ("h5py", "openpmd-api"):
        series = OpenPMDTimeSeries(str(folder), check_all_files=True, backend=backend)
        assert series.avail_species == list(species), series.avail_species
        total = 0
        for name in species:
            components = series.avail_record_components[name]
            assert {"x", "y", "z", "w"} <= set(components), components
            read = series.get_particle(components, species=name, iteration=series.iterations[0])
            assert len({len(values) for values in read}) == 1, name
            total += len(read[0])
        assert total == count, (backend, total, count)


def check_vtkhdf(path, count, arrays):
    """Reads a file by VTK and compares the number of points, vertices and the names of arrays."""
    from vtkmodules.vtkIOHDF import vtkHDFReader

    reader = vtkHDFReader()
    reader.SetFileName(str(path))
    reader.Update()
    data = reader.GetOutput()
    assert data.GetNumberOfPoints() == data.GetNumberOfVerts() == count, data.GetNumberOfPoints()
    names = {data.GetPointData().GetArrayName(i) for i in range(data.GetPointData().GetNumberOfArrays())}
    assert set(arrays) <= names, names


def check_series(merganser, folder):
    """Lets a series grow by three steps and compares each, as VTK reads it, with the file of that step alone."""
    import h5py
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOHDF import vtkHDFReader

    def read(path, time=None):
        reader = vtkHDFReader()
        reader.SetFileName(str(path))
        reader.UpdateInformation()
        if time is not None:
            reader.UpdateTimeStep(time)
        reader.Update()
        data = reader.GetOutput()
        arrays = data.GetPointData()
        found = {arrays.GetArrayName(i): vtk_to_numpy(arrays.GetArray(i)) for i in range(arrays.GetNumberOfArrays())}
        places = [data.GetCell(i).GetPointId(0) for i in range(data.GetNumberOfCells())]
        return {**found, "points": vtk_to_numpy(data.GetPoints().GetData()), "places": places}

    for step in range(3):
        run(merganser, "gen", "random", "--cells", "3,3,3", "--per-cell", 2 + step % 2, "--seed", step, "-o", folder / f"{step}.nc")
        with h5py.File(folder / f"{step}.nc", "a") as file:
            file["t"][:] = 0.5 * step
        run(merganser, "convert", folder / f"{step}.nc", folder / f"{step}.vtkhdf")
        run(merganser, "convert", folder / f"{step}.nc", folder / "series.vtkhdf:series")
    for step in range(3):
        alone, of_series = read(folder / f"{step}.vtkhdf"), read(folder / "series.vtkhdf", 0.5 * step)
        assert alone.keys() == of_series.keys() and len(alone["places"]) == len(alone["volume"])
        for name in alone:
            assert (alone[name] == of_series[name]).all() if name != "places" else alone[name] == of_series[name], (step, name)


def check_plasma(merganser, plasma, folder):
    """Merges a plasma, on one rank and two, and reads the results."""
    count = 30000
    first = run(merganser, "cluster", plasma, "-o", folder / "thin.h5", "--periodic", "xyz")
    assert first == run(merganser, "cluster", plasma, "--periodic", "xyz", "--ranks", "2"), "digests of ranks differ"
    assert first == run(merganser, "cluster", folder / "thin.h5"), "digest of what was written differs"
    records = ("position", "positionOffset", "momentum", "weighting", "id", "charge", "mass")
    check_openpmd(folder / "thin.h5", ("electrons", "ions"), count, records)
    check_validator(folder / "thin.h5")
    check_viewer(folder / "thin.h5", folder / "thin", ("electrons", "ions"), count)
    run(merganser, "cluster", plasma, "-o", folder / "thin.vtkhdf", "--periodic", "xyz", "--attribute", "openPMD:drop")
    check_vtkhdf(folder / "thin.vtkhdf", count, ("volume", "merganser_id", "momentum", "species"))


def main():
    try:
        import h5py
        import openpmd_api  # noqa: F401
        import vtkmodules.vtkIOHDF  # noqa: F401
    except ImportError as wrong:
        print(f"skipped: {wrong}")
        return 77
    merganser = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run(merganser, "gen", "random", "--cells", "4,4,4", "--per-cell", "5", "-o", folder / "in.nc")
        want = run(merganser, "cluster", folder / "in.nc", "-o", folder / "out.nc")
        for out in ("out.h5:openpmd", "out.vtkhdf"):
            assert want == run(merganser, "cluster", folder / "in.nc", "-o", folder / out), out
        count = h5py.File(folder / "out.h5")["data/0/particles/parcels/weighting"].shape[0]
        records = ("position", "positionOffset", "weighting", "id", "vorticity", "buoyancy", "B11")
        check_openpmd(folder / "out.h5", ("parcels",), count, records)
        check_validator(folder / "out.h5")
        check_viewer(folder / "out.h5", folder / "out", ("parcels",), count)
        check_vtkhdf(folder / "out.vtkhdf", count, ("volume", "merganser_id", "vorticity", "buoyancy", "B11"))
        check_series(merganser, folder)
        if len(sys.argv) > 2 and pathlib.Path(sys.argv[2]).exists():
            check_plasma(merganser, sys.argv[2], folder)
    print("openPMD-api, h5py and VTK read what was written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
