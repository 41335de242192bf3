"""Parcel files made with the NetCDF module alone, and changes of what they say (not of their bytes).

The NetCDF library is used in a process of its own: it is not safe with threads, prints, and may crash on a bad file.
"""
import math
import os
import pickle
import subprocess
import sys
import threading

import numpy

LOCK = threading.RLock()
_helper = []
REQUIRED = ("x_position", "y_position", "z_position", "x_vorticity", "y_vorticity", "z_vorticity", "buoyancy", "volume",
            "B11", "B12", "B13", "B22", "B23")
BAD = (1e160, -1e160, 1e308, -0.0, 0.0, math.nan, math.inf, -math.inf, 2.0**63, -1.0, 5e-324, 1e-160, 1.0, 2.0**31)
SIZES = (0, 1, -1, 2**31 - 1, 2**31, 2**62, 2**63 - 1, 7)


class Parcels:
    """Contents of a parcel file, to be changed by change() and written by bytes()."""

    def __init__(self, count=60):
        spread = [math.modf(i * 0.6180339887)[0] for i in range(13 * count)]
        self.count = count
        self.attributes = {"ncells": numpy.array([4, 4, 4], "i4"), "extent": numpy.array([2.0, 2.0, 2.0]),
                           "origin": numpy.array([-1.0, -1.0, -1.0])}
        self.variables = {}
        for v, name in enumerate(REQUIRED):
            u = numpy.array(spread[v * count:(v + 1) * count])
            self.variables[name] = (1.98 * u - 0.99 if "position" in name else u - 0.5)
        self.variables["volume"] = 0.001 + 0.004 * (self.variables["volume"] + 0.5)
        for name in ("B11", "B22"):
            self.variables[name] = 0.02 + 0.01 * self.variables[name]
        for name in ("B12", "B13", "B23"):
            self.variables[name] = 0.004 * self.variables[name]
        self.types, self.told, self.fills, self.options = {}, {}, {}, {}
        self.format = "NETCDF4"

    def bytes(self):
        import netCDF4
        file = netCDF4.Dataset("memory.nc", "w", format=self.format, memory=1 << 16)
        file.set_auto_mask(False)
        try:
            self.fill(file)
        except Exception:  # what this format cannot hold is left out; what there is so far is a case as well
            pass
        return bytes(file.close())

    def fill(self, file):
        for name, value in self.attributes.items():
            file.setncattr(name, value)
        file.createDimension("n_parcels", self.count)
        file.createDimension("t", None)
        for name, values in self.variables.items():
            more = {"fill_value": self.fills[name]} if name in self.fills else {}
            variable = file.createVariable(name, self.types.get(name, "f8"), ("t", "n_parcels"), **more, **self.options)
            for key, value in self.told.get(name, {}).items():
                variable.setncattr(key, value)
            variable[0, :] = values


def change(parcels, step):
    """Applies one step, (kind, arguments...)."""
    what, *rest = step
    if what == "value":
        name, at, value = rest
        parcels.variables[name][at] = value
    elif what == "all":
        name, value = rest
        parcels.variables[name][:] = value
    elif what == "type":
        parcels.types[rest[0]] = rest[1]
    elif what == "extra":
        parcels.variables[rest[0]] = parcels.variables["volume"] * 3
    elif what == "attribute":
        name, value = rest
        parcels.attributes[name] = value
    elif what in ("format", "options"):
        setattr(parcels, what, rest[0])
    elif what == "same place":
        for axis in "xyz":
            parcels.variables[f"{axis}_position"][:] = parcels.variables[f"{axis}_position"][0]
    elif what == "count":
        parcels.__init__(rest[0])
    elif what == "values":
        parcels.variables[rest[0]] = numpy.array(rest[1])
    elif what == "order":
        order = numpy.random.default_rng(rest[0]).permutation(parcels.count)
        parcels.variables = {n: v[order] for n, v in parcels.variables.items()}
    elif what == "lacks":
        lack(parcels, *rest)


def lack(parcels, name, kind, places):
    """Makes values of a variable missing, in one of the forms of NetCDF and CF."""
    if name not in parcels.variables:
        return
    told = {"nan": (math.nan, {}), "unwritten": (9.969209968386869e36, {}), "fill": (-999.0, {}),
            "missing_value": (-999.0, {"missing_value": -999.0}),
            "missing_list": (-999.0, {"missing_value": numpy.array([-9999.0, -999.0])}),
            "valid_range": (1e5, {"valid_range": numpy.array([-1e4, 1e4])}), "valid_max": (1e5, {"valid_max": 1e4})}
    value, attributes = told[kind]
    parcels.variables[name][[p for p in places if p < len(parcels.variables[name])]] = value
    if kind == "fill":
        parcels.fills[name] = value
    parcels.told[name] = attributes


def present_here(what):
    """Returns the values of a variable that are not missing. In this process."""
    import netCDF4
    content, name = what
    file = netCDF4.Dataset("memory.nc", "r", memory=content)
    values = numpy.ma.masked_invalid(numpy.ma.asarray(file.variables[name][-1]))
    return [float(x) for x in values.compressed()]


def build_here(steps):
    parcels = Parcels()
    for step in steps:
        change(parcels, step)
    return parcels.bytes()


def volume_here(content):
    import netCDF4
    file = netCDF4.Dataset("memory.nc", "r", memory=content)
    file.set_auto_maskandscale(False)
    values = numpy.asarray(file.variables["volume"][:], dtype="f8")
    return math.fsum(numpy.ravel(values[-1] if values.ndim == 2 else values).tolist())  # the last time is the one that counts


def columns_here(content):
    """Returns {name: values} of all variables over the parcels at the last time. In this process."""
    import netCDF4
    file = netCDF4.Dataset("memory.nc", "r", memory=content)
    file.set_auto_maskandscale(False)
    count = len(file.dimensions["n_parcels"])
    out = {name: numpy.asarray(variable[...]) for name, variable in file.variables.items()}
    return {name: values.reshape(-1, count)[-1].tolist() for name, values in out.items() if values.shape[-1:] == (count,)}


def attributes_here(content):
    import netCDF4
    file = netCDF4.Dataset("memory.nc", "r", memory=content)
    return {name: numpy.atleast_1d(file.getncattr(name)).tolist() for name in file.ncattrs()}


def serve():
    """Main loop of the helper process: reads (name of a function, argument), writes its result, until the input ends."""
    source, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    while True:
        try:
            function, argument = pickle.load(source)
        except EOFError:
            return
        try:
            answer = HELPS[function](argument)
        except Exception:  # the library refuses it, in one of its many ways
            answer = None
        pickle.dump(answer, answers)
        answers.flush()


def ask(function, argument):
    """Calls a function in the helper process; returns None if the library refused the file or crashed on it."""
    with LOCK:
        if not _helper:
            root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
            _helper.append(subprocess.Popen([sys.executable, "-m", "attack.epic"], cwd=root, stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL))
        try:
            pickle.dump((function, argument), _helper[0].stdin)
            _helper[0].stdin.flush()
            return pickle.load(_helper[0].stdout)
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):
            close()
            return None


def columns(content):
    """Returns the values of all variables over the parcels, by name; None if the file cannot be read."""
    return ask("columns", content)


def close():
    """Ends the helper process."""
    with LOCK:
        while _helper:
            helper = _helper.pop()
            helper.kill()
            helper.communicate()


def build(steps):
    """Returns the bytes of the valid file with these steps applied; empty if the library cannot write it."""
    return ask("build", steps) or b""


def volume(content):
    """Returns the sum of the volumes of all parcels of a file; None if it cannot be read."""
    return ask("volume", content)


def present(content, name):
    """Returns the values of a variable that are not missing; None if it cannot be read."""
    return ask("present", (content, name))


def attributes(content):
    """Returns the global attributes of a file as lists; None if it cannot be read."""
    return ask("attributes", content)


def choose(random):
    """Returns one random step: values that a reader may take, and that a merge must bear."""
    name = random.choice(REQUIRED)
    value = random.choice(BAD)
    grid = random.choice(["ncells", "extent", "origin", "periodic", "min_vratio"])
    return random.choices([
        ("value", name, random.randrange(60), value),
        ("all", name, value),
        ("attribute", grid, random.choice([numpy.array([random.choice(SIZES)] * 3, "i8"), numpy.array([value] * 3),
                                           numpy.array([4, 4, random.choice(SIZES)], "i8")])),
        ("same place",),
    ], [4, 2, 2, 1])[0]


HELPS = {"build": build_here, "columns": columns_here, "volume": volume_here, "present": present_here,
         "attributes": attributes_here}
if __name__ == "__main__":
    serve()
