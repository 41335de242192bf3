"""Parcel files made with the NetCDF module alone, and ways to spoil what they say (not their bytes).

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
TYPES = ("f4", "i4", "i8", "u1", "S1", str)


class Parcels:
    """What a parcel file is to hold; spoil it, then bytes()."""

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
        self.types, self.chunks, self.fills, self.options = {}, {}, {}, {}
        self.shape, self.format, self.times = "time", "NETCDF4", 1
        self.groups, self.declared = [], {}

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
        file.createDimension("n_parcels", self.declared.get("n_parcels", self.count))
        file.createDimension("t", None)
        for name, values in self.variables.items():
            dimension = "n_parcels"
            if len(values) != self.count:
                dimension = f"n_{name}"
                file.createDimension(dimension, len(values))
            kind = self.types.get(name, "f8")
            more = {"fill_value": self.fills[name]} if name in self.fills else {}
            shape = {"time": ("t", dimension), "plain": (dimension,), "turned": (dimension, "t"), "none": ()}[self.shape]
            variable = file.createVariable(name, kind, shape, **more, **self.options)
            for key, value in self.chunks.get(name, {}).items():
                variable.setncattr(key, value)
            if kind == str:
                values = numpy.array([str(x) for x in values], dtype=object)
            elif kind == "S1":
                values = numpy.array([b"x"] * len(values), dtype="S1")
            for t in range(self.times if self.shape == "time" else 1):
                if self.shape == "time":
                    variable[t, :] = values
                elif self.shape == "plain":
                    variable[:] = values
        for name in self.groups:
            file.createGroup(name).createDimension("n_parcels", 3)


def spoil(parcels, step):
    """One step of a mutation: (what, ...), as choose() draws it."""
    what, *rest = step
    if what == "value":
        name, at, value = rest
        if name in parcels.variables and at < len(parcels.variables[name]):
            parcels.variables[name][at] = value
    elif what == "all":
        name, value = rest
        if name in parcels.variables:
            parcels.variables[name][:] = value
    elif what == "type":
        parcels.types[rest[0]] = rest[1]
    elif what == "missing":
        parcels.variables.pop(rest[0], None)
    elif what == "renamed":
        old, new = rest
        parcels.variables = {new if n == old else n: v for n, v in parcels.variables.items()}
    elif what == "extra":
        parcels.variables[rest[0]] = parcels.variables["volume" if "volume" in parcels.variables else "B11"] * 3
    elif what == "length":
        name, size = rest
        if name in parcels.variables:
            parcels.variables[name] = numpy.resize(parcels.variables[name], size)
    elif what == "attribute":
        name, value = rest
        parcels.attributes[name] = value
    elif what == "no attribute":
        parcels.attributes.pop(rest[0], None)
    elif what == "packed":
        parcels.chunks[rest[0]] = {rest[1]: rest[2]}
    elif what == "fill":
        parcels.fills[rest[0]] = rest[1]
    elif what in ("shape", "format", "times", "options"):
        setattr(parcels, what, rest[0])
    elif what == "declared":
        parcels.declared["n_parcels"] = rest[0]
    elif what == "same place":
        for axis in "xyz":
            if f"{axis}_position" in parcels.variables:
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
    elif what == "group":
        parcels.groups.append(rest[0])


def lack(parcels, name, kind, places):
    """Values of a variable that are missing, told so in one of the ways that there are."""
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
    parcels.chunks[name] = attributes


def present_here(what):
    """Values of a variable that are not missing."""
    import netCDF4
    content, name = what
    file = netCDF4.Dataset("memory.nc", "r", memory=content)
    values = numpy.ma.masked_invalid(numpy.ma.asarray(file.variables[name][-1]))
    return [float(x) for x in values.compressed()]


def build_here(steps):
    parcels = Parcels()
    for step in steps:
        spoil(parcels, step)
    return parcels.bytes()


def volume_here(content):
    import netCDF4
    file = netCDF4.Dataset("memory.nc", "r", memory=content)
    file.set_auto_maskandscale(False)
    values = numpy.asarray(file.variables["volume"][:], dtype="f8")
    return math.fsum(numpy.ravel(values[-1] if values.ndim == 2 else values).tolist())  # the last time is the one that counts


def columns_here(content):
    """{name: values} of all variables over the parcels, of the last time."""
    import netCDF4
    file = netCDF4.Dataset("memory.nc", "r", memory=content)
    file.set_auto_maskandscale(False)
    count = len(file.dimensions["n_parcels"])
    out = {name: numpy.asarray(variable[...]) for name, variable in file.variables.items()}
    return {name: values.reshape(-1, count)[-1].tolist() for name, values in out.items() if values.shape[-1:] == (count,)}


def read_here(content):
    """Reads all that there is, as a reader of parcels may have to."""
    import netCDF4
    file = netCDF4.Dataset("memory.nc", "r", memory=content)
    file.set_auto_maskandscale(False)
    for name in file.ncattrs():
        file.getncattr(name)
    for variable in file.variables.values():
        variable.filters(), variable.chunking(), variable.endian()
        for name in variable.ncattrs():
            variable.getncattr(name)
        if variable.size < 10**6:
            variable[...]


def attributes_here(content):
    import netCDF4
    file = netCDF4.Dataset("memory.nc", "r", memory=content)
    return {name: numpy.atleast_1d(file.getncattr(name)).tolist() for name in file.ncattrs()}


def serve():
    """The helper: reads (name of a function, argument), writes its result, until there is no more."""
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
    """In the helper; None if the library refused it or crashed on it."""
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
    """Values of all variables over the parcels, by name; None if the file cannot be read."""
    return ask("columns", content)


def close():
    """Ends the helper."""
    with LOCK:
        while _helper:
            helper = _helper.pop()
            helper.kill()
            helper.communicate()


def build(steps):
    """Bytes of the valid file with these steps applied; empty if the library cannot write that."""
    return ask("build", steps) or b""


def volume(content):
    """Sum of the volumes of all parcels of a file; None if it cannot be read."""
    return ask("volume", content)


def present(content, name):
    """Values of a variable that are not missing; None if it cannot be read."""
    return ask("present", (content, name))
def attributes(content):
    """Global attributes of a file as lists; None if it cannot be read."""
    return ask("attributes", content)


def choose(random):
    """One step at random."""
    name = random.choice(REQUIRED)
    value = random.choice(BAD)
    grid = random.choice(["ncells", "extent", "origin", "periodic", "min_vratio"])
    return random.choices([
        ("value", name, random.randrange(60), value),
        ("all", name, value),
        ("type", name, random.choice(TYPES)),
        ("missing", name),
        ("renamed", name, random.choice(["X_POSITION", "volume ", "B33", "humidity", "é"])),
        ("extra", random.choice(["humidity", "theta", "label", "B33", "id", "t"])),
        ("length", name, random.choice([0, 1, 59, 61, 1000])),
        ("attribute", grid, random.choice([numpy.array([random.choice(SIZES)] * 3, "i8"), numpy.array([value] * 3),
                                           numpy.array([4, 4], "i4"), numpy.array([4.0] * 5), "4,4,4", "",
                                           numpy.array([4, 4, random.choice(SIZES)], "i8")])),
        ("no attribute", grid),
        ("packed", name, random.choice(["scale_factor", "add_offset", "_Unsigned", "valid_max"]), value),
        ("fill", name, value),
        ("shape", random.choice(["plain", "turned", "none"])),
        ("format", random.choice(["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF4_CLASSIC"])),
        ("times", random.choice([0, 2, 5])),
        ("options", random.choice([{"zlib": True}, {"endian": "big"}, {"chunksizes": None}, {"fletcher32": True}])),
        ("declared", random.choice([0, 1, 59, 10**9, 2**40, 2**62])),
        ("same place",),
        ("group", "volume"),
    ], [12, 5, 6, 3, 2, 2, 3, 6, 2, 2, 2, 2, 2, 2, 2, 3, 1, 1])[0]


HELPS = {"build": build_here, "columns": columns_here, "read": read_here, "volume": volume_here, "present": present_here,
         "attributes": attributes_here}
if __name__ == "__main__":
    serve()
