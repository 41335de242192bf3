"""Valid inputs of every reader, small: most are written by the program itself, the others here."""
import gzip
import io
import struct

GRAPHS = {"edge-list": "g.txt", "matrix-market": "g.mtx", "metis": "g.metis", "dimacs": "g.gr", "parhip": "g.parhip",
          "bvgraph": "g.graph", "binary": "g.mgr"}
PROCESS_GRAPHS = {"binary": "p.bin", "adjacency": "p.txt", "pairs": "p.adj", "matrix-market": "p.mtx", "metis": "p.graph"}
RECORDS = {"cluster": ["cluster", "in.nc", "--ranks", "3", "--json", "r.json"],
           "bench": ["topo", "bench", "--models", "threads", "--ranks", "2", "--sizes", "8", "--graph", "chain", "--time",
                     "0.3", "--quiet", "--json", "r.json"],
           "random": ["bench", "random", "--cells", "3,3,3", "--steps", "3", "--ranks", "1,2", "--quiet", "--json", "r.json"],
           "msf": ["msf", "--gen", "gnm:6:3", "--ranks", "2", "--json", "r.json"]}


def make(name, world):
    kind, _, which = name.partition(":")
    return MAKERS[kind](which, world)


def parcels(_, __):
    from . import epic  # needs the NetCDF module, which those who run other attacks may not have
    content = epic.build([])
    if not content:
        raise RuntimeError("no sample of a parcel file: the NetCDF module is missing (Debian: python3-netcdf4)")
    return content


def many_parcels(cells, world):
    return world.make_with_program(["gen", "random", "--cells", cells, "--per-cell", "12", "-o", "in.nc"], "in.nc")


def graph(which, world):
    """{file name: bytes}"""
    if which == "bvgraph":
        return bvgraph([[1, 2, 5], [0, 3], [], [0, 1, 2, 4], [5], [0]])
    name = GRAPHS[which]
    return {name: world.make_with_program(["graph", "convert", "--gen", "gnm:5:3", name], name)}


def process_graph(which, world):
    if which == "small":  # as many ranks as the records have: those can tell of it
        return {"p2.bin": world.make_with_program(["topo", "gen", "chain", "--ranks", "2", "-o", "p2.bin"], "p2.bin")}
    name = PROCESS_GRAPHS[which]
    kind = ["random:4", "--ranks", "7"] if which == "metis" else ["incast", "--ranks", "5"]
    return {name: world.make_with_program(["topo", "gen", *kind, "-o", name, "--format", which], name)}


def points(which, _):
    rows = [(i * 37 % 101 / 7, i * 53 % 89 / 3, i * 11 % 17) for i in range(40)]
    if which == "npy":
        header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (40, 3), }"
        header += b" " * (117 - len(header)) + b"\n"
        return {"p.npy": b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header +
                b"".join(struct.pack("<3d", *row) for row in rows)}
    text = "# x y z\n" + "".join("%r %r %r\n" % row for row in rows)
    return {"p.txt.gz": gzip.compress(text.encode(), mtime=0)} if which == "gzip" else {"p.txt": text.encode()}


def record(which, world):
    given = {"in.nc": world.sample("parcels")} if which == "cluster" else {}
    return world.make_several(RECORDS[which], given)["r.json"]


def traffic(_, world):
    made = world.make_several(["topo", "extract", "--from", "r.json", "-o", "t.json"], {"r.json": world.sample("record:cluster")})
    return made["t.json"]


def trace(_, __):
    """{file name: bytes} of a folder, as libmerganser-trace.so writes it."""
    part = ("merganser-trace 1\nprogram /usr/bin/ring\nrank {0} of 3\nended finalize\nphase 0 1\n"
            "flow 0 {1} message 4 400 7 4\nflow 0 {1} put 2 16 4 2\nphase 1 3\nflow 1 {2} get 3 30 4 3\n"
            "self 1 8\noutside 0 0\ncollective MPI_Barrier 2\nend\n")
    return {f"rank-{r}.trace": part.format(r, (r + 1) % 3, (r + 2) % 3).encode() for r in range(3)}


def monitoring(_, __):
    """{file name: bytes}, as Open MPI's monitoring component writes them."""
    sizes = "3,0,0,15,4,2,1,10" + ",0" * 58
    part = ("# POINT TO POINT\nE\t{0}\t{1}\t1000 bytes\t10 msgs sent\t" + sizes + "\nI\t{0}\t{2}\t4204 bytes\t16 msgs sent\n"
            "# OSC\nS\t{0}\t{1}\t8 bytes\t2 msgs sent\nR\t{0}\t{1}\t8 bytes\t1 msgs sent\n# COLLECTIVES\n"
            "C\t{0}\t{1}\t4292 bytes\t26 msgs sent\nD\tMPI_COMM_WORLD\tprocs: 0,1,2\nO2A\t{0}\t0 bytes\t0 msgs sent\n"
            "A2O\t{0}\t0 bytes\t0 msgs sent\nA2A\t{0}\t40 bytes\t5 msgs sent\n")
    return {f"ring.{r}.prof": part.format(r, (r + 1) % 3, (r + 2) % 3).encode() for r in range(3)}


class Bits:
    """Bits of a BVGraph stream, the highest first."""

    def __init__(self):
        self.text = []

    def unary(self, x):
        self.text.append("0" * x + "1")

    def gamma(self, x):
        width = (x + 1).bit_length() - 1
        self.unary(width)
        if width:
            self.text.append(format(x + 1 - (1 << width), f"0{width}b"))

    def size(self):
        return sum(map(len, self.text))

    def bytes(self):
        text = "".join(self.text)
        text += "0" * (-len(text) % 8)
        return bytes(int(text[i:i + 8], 2) for i in range(0, len(text), 8))


def bvgraph(lists):
    """Files of a graph in WebGraph's format, without references and intervals, all in gamma codes."""
    out, offsets, before = Bits(), Bits(), 0
    offsets.gamma(0)
    for vertex, others in enumerate(lists):
        out.gamma(len(others))
        for i, other in enumerate(others):
            gap = other - vertex
            out.gamma(other - others[i - 1] - 1 if i else (2 * gap if gap >= 0 else -2 * gap - 1))
        offsets.gamma(out.size() - before)
        before = out.size()
    properties = ("#BVGraph properties\nversion=0\ngraphclass=it.unimi.dsi.webgraph.BVGraph\n"
                  f"nodes={len(lists)}\narcs={sum(map(len, lists))}\nwindowsize=0\nmaxrefcount=0\nminintervallength=0\n"
                  "zetak=3\ncompressionflags=RESIDUALS_GAMMA\n")
    return {"g.graph": out.bytes(), "g.properties": properties.encode(), "g.offsets": offsets.bytes()}


def bomb(content, times):
    """gzip of bytes repeated so often: small on disk, large in memory."""
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", mtime=0, compresslevel=9) as file:
        for _ in range(times >> 10):
            file.write(content * 1024)
    return out.getvalue()


MAKERS = {"parcels": parcels, "many": many_parcels, "graph": graph, "topo": process_graph, "points": points,
          "record": record, "traffic": traffic, "trace": trace, "monitoring": monitoring}
