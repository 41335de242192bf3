"""Small valid inputs by the names that command templates use: most are written by the program itself."""

GRAPHS = ("g.txt", "g.mtx")
PROCESS_GRAPHS = {"p.bin": ["incast", "--ranks", "5"],
                  "p2.bin": ["chain", "--ranks", "2"]}  # as many ranks as k.json has: that can tell of it
RECORDS = {"r.json": ["cluster", "in.nc", "--ranks", "3", "--json", "r.json"],
           "k.json": ["topo", "bench", "--models", "threads", "--ranks", "2", "--sizes", "8", "--graph", "chain", "--time",
                      "0.3", "--quiet", "--json", "k.json"]}
PARTICLES = ("in.vtkhdf", "in.vtu", "in.npz", "in.csv")
NAMES = ("in.nc", "p.txt", *PARTICLES, *GRAPHS, *PROCESS_GRAPHS, *RECORDS, "r2.json")


def make(name, world):
    """Returns the bytes of a sample: one of NAMES, or "many CELLS" of parcels in CELLS."""
    if name == "in.nc":
        return parcels()
    if name in PARTICLES:
        return world.make(["convert", "in.nc", name], name, {"in.nc": world.sample("in.nc")})
    if name == "r2.json":
        return world.sample("r.json")
    if name == "p.txt":
        rows = [(i * 37 % 101 / 7, i * 53 % 89 / 3, i * 11 % 17) for i in range(40)]
        return ("# x y z\n" + "".join("%r %r %r\n" % row for row in rows)).encode()
    if name in GRAPHS:
        return world.make(["graph", "convert", "--gen", "gnm:5:3", name], name)
    if name in PROCESS_GRAPHS:
        return world.make(["topo", "gen", *PROCESS_GRAPHS[name], "-o", name], name)
    if name in RECORDS:
        return world.make(RECORDS[name], name, {"in.nc": world.sample("in.nc")} if "in.nc" in RECORDS[name] else {})
    return world.make(["gen", "random", "--cells", name.removeprefix("many "), "--per-cell", "12", "-o", "in.nc"], "in.nc")


def parcels():
    from . import epic  # needs the NetCDF module, which those who run other attacks may not have
    content = epic.build([])
    if not content:
        raise RuntimeError("no sample of a parcel file: the NetCDF module is missing (Debian: python3-netcdf4)")
    return content
