"""Calls the C library as its callers must not, between calls that they may: for the class of attacks of this name.

    python3 misuse.py LIBRARY SEED ranks=2|mpi=p2p ACTION...

Every rank makes the same calls, in the order of the actions. Whatever came before, a good call with what it needs must end well
and with the right result; a bad one must be refused with a text and leave everything as it was. Ends with 1 and says what
was wrong; a crash is one by itself.
"""
import ctypes
import functools
import random
import sys
from ctypes import byref, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint8, c_void_p

OK, USAGE, INPUT, COMMUNICATION = 0, 2, 3, 4
REFUSED = (USAGE, INPUT, COMMUNICATION)
POINTS = 60  # of all ranks
EDGE = (4.0, 4.0, 1.0)
WORLDS = (0, 0x44000000)  # MPI_COMM_WORLD as Fortran's integer: Open MPI, MPICH


class Box(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("lower", c_double * 3), ("extent", c_double * 3), ("periodic", c_int32 * 3), ("unused", c_int32)]


class Points(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("count", c_size_t), ("x", c_void_p), ("y", c_void_p), ("z", c_void_p), ("stride", c_size_t)]


class Columns(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("count", c_size_t), ("x", c_void_p), ("y", c_void_p), ("z", c_void_p),
                ("position_stride", c_size_t), ("volume", c_void_p), ("attributes", c_size_t), ("columns", c_void_p),
                ("strides", c_void_p), ("ids", c_void_p)]


class Numbers(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t)] + [(n, c_int64) for n in ("before", "small", "merged", "after", "unmatched", "cross_links")] + [
        ("seconds", c_double)]


class OpenOptions(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("backend", c_char_p), ("decorators", c_char_p)]


class Wrong(Exception):
    """A call of the library had another effect than documented."""


def array(kind, values):
    values = list(values)
    return (kind * max(1, len(values)))(*values)


class Cloud:
    """All points, on a lattice so that distances are often equal; the same on every rank."""

    def __init__(self, seed):
        rng = random.Random(seed)
        self.at = [tuple(rng.randrange(int(e * 8)) / 8 for e in EDGE) for _ in range(POINTS)]
        self.small = [rng.random() < 0.5 for _ in self.at]
        self.ids = rng.sample(range(-40, 40), POINTS) if rng.random() < 0.5 else list({rng.randrange(-2**62, 2**62) for _ in range(2 * POINTS)})[:POINTS]
        self.kept = self.stars()

    def distance2(self, a, b):
        d = [abs(x - y) for x, y in zip(a, b)]
        d = [min(x, e - x) if axis < 2 else x for axis, (x, e) in enumerate(zip(d, EDGE))]
        return d[0] * d[0] + d[1] * d[1] + d[2] * d[2]

    def stars(self):
        """Returns {id of a source: id of its centre} by the definition: see docs/architecture.md and
        tests/python/test_stars.py."""
        by_id = dict(zip(self.ids, self.at))
        links = {i: min((j for j in self.ids if j != i), key=lambda j: (self.distance2(by_id[i], by_id[j]), j))
                 for i, small in zip(self.ids, self.small) if small}
        links = {i: j for i, j in links.items()}
        sources = {}
        for i, j in links.items():
            sources.setdefault(j, []).append(i)

        @functools.lru_cache(maxsize=None)
        def centre(i):
            return any(not centre(s) for s in sources.get(i, []) if links.get(i) != s)

        kept = {}
        for i, j in links.items():
            pair = links.get(j) == i
            if not centre(i) and not (pair and not centre(j) and i < j):
                kept[i] = j
        return kept


class Rank:
    """One rank's handles and the state that they must have."""

    def __init__(self, library, cloud, transport, mpi):
        self.c, self.cloud, self.transport, self.mpi = library, cloud, transport, mpi
        self.finalised = False
        self.blocks, self.finder, self.schema, self.clusterer = (c_void_p() for _ in range(4))
        self.found = self.put_well = self.closed = False
        self.freed = []
        rank, ranks = c_int(), c_int()
        self.must(library.mg_transport_rank(transport, byref(rank)), "rank")
        self.must(library.mg_transport_size(transport, byref(ranks)), "size")
        self.rank, self.ranks = rank.value, ranks.value
        self.make()

    # ---- conditions of every call ----

    def text(self):
        return self.c.mg_error().decode(errors="replace")

    def must(self, status, what):
        if status != OK:
            raise Wrong(f"{what}: status {status}: {self.text()}; expected 0")

    def must_not(self, status, what, allowed=REFUSED):
        if status not in allowed:
            raise Wrong(f"{what}: status {status}; expected one of {allowed}")
        if len(self.text()) < 8:
            raise Wrong(f"{what}: refused without a text")

    def over(self, status, what, good=True):
        """Makes a call that communicates, which must succeed unless MPI or the transport has ended."""
        if self.finalised:
            self.must_not(status, what + " after MPI_Finalize")
            return False
        if good:
            self.must(status, what)
        else:
            self.must_not(status, what)
        return good

    # ---- objects ----

    def box(self):
        return Box(ctypes.sizeof(Box), (c_double * 3)(0, 0, 0), (c_double * 3)(*EDGE), (c_int32 * 3)(1, 1, 0), 0)

    def make(self):
        cells = (c_int64 * 3)(8, 8, 2)
        self.must(self.c.mg_decomposition_new(byref(self.box()), cells, self.ranks, None, byref(self.blocks)), "blocks")
        self.must(self.c.mg_finder_new(self.transport, self.blocks, None, byref(self.finder)), "finder")
        self.must(self.c.mg_schema_new(byref(self.schema)), "schema")
        self.must(self.c.mg_clusterer_new(self.transport, self.blocks, self.schema, None, byref(self.clusterer)), "clusterer")
        owners = array(c_int32, [0] * POINTS)
        xyz = array(c_double, [x for p in self.cloud.at for x in p])
        self.must(self.c.mg_decomposition_owners(self.blocks, xyz, c_size_t(POINTS), owners), "owners")
        self.mine = [i for i in range(POINTS) if owners[i] == self.rank]

    def points(self, at):
        self.xyz = array(c_double, [x for p in at for x in p])
        start = ctypes.addressof(self.xyz)
        return Points(ctypes.sizeof(Points), len(at), start, start + 8, start + 16, 3)

    def do_find(self, how):
        at = [list(self.cloud.at[i]) for i in self.mine]
        ids = [self.cloud.ids[i] for i in self.mine]
        small = [self.cloud.small[i] for i in self.mine]
        bad = how in ("twice", "outside", "nan", "null", "stride") and len(at) > 1
        if how == "shift":  # by whole periods: exact here
            for k, p in enumerate(at):
                p[0] += EDGE[0] * (k % 5 - 2)
                p[1] -= EDGE[1] * (k % 3)
        elif how == "twice" and bad:
            ids[-1] = ids[0]
        elif how == "outside" and bad:
            at[-1][2] = EDGE[2] + 2.0**-52
            at[0][2] = -1e-6
        elif how == "nan" and bad:
            at[-1][1] = float("nan")
        points = self.points(at)
        if how == "stride" and bad:
            points.stride = 1 << 40
        mask, numbers = array(c_uint8, small), array(c_int64, ids)
        status = self.c.mg_finder_find(self.finder, None if how == "null" and bad else byref(points), mask, numbers)
        # A rank with too few points for the bad call makes the good one and waits for ranks that have left: see main().
        self.found = self.over(status, f"find {how}", not bad)
        if self.found:
            self.check_stars(ids)

    def check_stars(self, ids):
        centres = array(c_int64, [0] * len(ids))
        self.must(self.c.mg_finder_places(self.finder, None, None, centres, None), "places")
        ranks = array(c_int32, [0] * len(ids))
        self.must(self.c.mg_finder_places(self.finder, ranks, None, None, None), "places")
        for k, i in enumerate(ids):
            got = centres[k] if ranks[k] >= 0 else None
            if got != self.cloud.kept.get(i):
                raise Wrong(f"find: point {k} (id {i}) merges into {got}; expected {self.cloud.kept.get(i)}")

    def do_lists(self, _):
        data, count = c_void_p(), c_size_t()
        for name in ("links", "sends", "receives"):
            status = getattr(self.c, f"mg_finder_{name}")(self.finder, byref(data), byref(count))
            (self.must if self.found else self.must_not)(status, name)
        self.must_not(self.c.mg_finder_lists(self.finder, 7, None), "lists of base 7")
        self.must_not(self.c.mg_finder_links(self.finder, None, None), "links to nowhere")

    def do_migrate(self, how):
        rows = array(c_double, range(len(self.mine)))
        room = array(c_double, [0] * POINTS)
        if how == "short":
            self.must_not(self.c.mg_finder_migrate(self.finder, rows, c_size_t(1 << 40), room, c_size_t(8)), "rows of a terabyte")
        elif how == "null":
            status = self.c.mg_finder_migrate_packed(self.finder, c_size_t(8), None, None, room, c_size_t(8 * POINTS))
            self.must_not(status, "migrate without a function")
        elif not self.found:
            self.must_not(self.c.mg_finder_migrate(self.finder, rows, c_size_t(8), room, c_size_t(8 * POINTS)), "migrate early")
        else:
            status = self.c.mg_finder_migrate(self.finder, rows, c_size_t(8), room, c_size_t(8 * POINTS))
            self.over(status, "migrate")

    def columns(self, bad=""):
        at = [self.cloud.at[i] for i in self.mine]
        self.position = array(c_double, [x for p in at for x in p])
        self.volume = array(c_double, [1e-4 if self.cloud.small[i] else 1.0 for i in self.mine])
        self.numbers = array(c_int64, [self.cloud.ids[i] for i in self.mine])
        start = ctypes.addressof(self.position)
        columns = Columns(ctypes.sizeof(Columns), len(at), start, start + 8, start + 16, 3, ctypes.addressof(self.volume), 0, None,
                          None, ctypes.addressof(self.numbers))
        if bad == "volume" and at:
            self.volume[0] = -1
        elif bad == "twice" and len(at) > 1:
            self.numbers[1] = self.numbers[0]
        elif bad == "count":
            columns.count = 1 << 40
        elif bad == "attributes":
            columns.attributes = 3
        elif bad == "size":
            columns.struct_size = 8
        else:
            bad = ""
        return columns, bool(bad)

    def do_put(self, how):
        columns, bad = self.columns(how)
        status = self.c.mg_clusterer_put(self.clusterer, byref(columns))
        (self.must_not if bad else self.must)(status, f"put {how}")
        self.put_well = self.put_well or not bad

    def do_step(self, _):
        numbers = Numbers(ctypes.sizeof(Numbers))
        if self.over(self.c.mg_clusterer_distribute(self.clusterer), "distribute"):
            self.must(self.c.mg_clusterer_step(self.clusterer, byref(numbers)), "step")
            total = (c_int64 * 1)(numbers.merged)
            self.must(self.c.mg_transport_sum(self.transport, total, c_size_t(1)), "sum")
            if self.put_well and self.fresh and total[0] != len(self.cloud.kept):
                raise Wrong(f"step: {total[0]} parcels merged; expected {len(self.cloud.kept)}")
            self.must(self.c.mg_clusterer_redistribute(self.clusterer, None), "redistribute")
        self.fresh = False

    fresh = False

    def do_fresh(self, _):
        """Restores the parcels and makes a step, which must merge what the definition says."""
        self.do_put("")
        self.fresh = True
        self.do_step("")

    def do_merge(self, how):
        columns, _ = self.columns()
        left = c_size_t()
        if how == "count":
            columns.count += 1
        schema = self.finder if how == "kind" else self.schema
        status = self.c.mg_finder_merge(self.finder, schema, byref(columns), byref(left))
        if not self.found or how in ("count", "kind"):
            self.must_not(status, f"merge {how}")
        else:
            self.over(status, "merge")
            self.found = False

    def do_null(self, _):
        for name in ("transport_barrier", "clusterer_step", "clusterer_count", "finder_links", "decomposition_ranks"):
            call = getattr(self.c, f"mg_{name}")
            self.must_not(call(None, None, None) if name == "finder_links" else call(None, None), name + " of NULL")
        for name in ("finder_free", "transport_close", "schema_free", "clusterer_free", "decomposition_free"):
            self.must(getattr(self.c, f"mg_{name}")(None), name + " of NULL")

    def do_other(self, _):
        """Passes handles of other kinds, and null handles."""
        count = c_size_t()
        for handle in (self.finder, self.schema, c_void_p(1), c_void_p(0x4d470001 + 2**20), c_void_p(ctypes.addressof(count))):
            self.must_not(self.c.mg_clusterer_count(handle, byref(count)), "count of another handle")
            self.must_not(self.c.mg_clusterer_free(handle), "free of another handle")

    def do_freed(self, _):
        """Frees handles twice, and uses them afterwards."""
        schema = c_void_p()
        self.must(self.c.mg_schema_new(byref(schema)), "schema")
        self.must(self.c.mg_schema_free(schema), "free")
        self.must_not(self.c.mg_schema_free(schema), "freed twice")
        self.must_not(self.c.mg_schema_add(schema, b"salt", 1, 0), "used after it was freed")

    def do_close(self, _):
        """Frees the transport before the objects made over it, which must remain usable."""
        if not self.mpi or self.closed:
            return
        self.must(self.c.mg_transport_close(self.transport), "close")
        self.must_not(self.c.mg_transport_barrier(self.transport), "barrier of what was closed")
        self.closed = True

    def do_finalize(self, _):
        if self.mpi and not self.finalised:
            if self.c.MPI_Finalize() != 0:
                raise Wrong("MPI_Finalize failed")
            self.finalised = True

    def do(self, action):
        name, _, how = action.partition("=")
        if name == "fresh" and self.closed:
            return  # its sum needs the transport
        if name == "step" and self.closed:
            return
        getattr(self, f"do_{name}")(how)

    def end(self):
        for name, handle in (("finder_free", self.finder), ("clusterer_free", self.clusterer), ("schema_free", self.schema),
                             ("decomposition_free", self.blocks)):
            self.must(getattr(self.c, f"mg_{name}")(handle), name)
        if self.mpi and not self.closed:
            self.must(self.c.mg_transport_close(self.transport), "close")


def load(path):
    library = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    library.mg_error.restype = c_char_p
    return library


def run(library, cloud, actions, transport, mpi):
    rank = Rank(library, cloud, transport, mpi)
    for number, action in enumerate(actions):
        try:
            rank.do(action)
        except Wrong as wrong:
            raise Wrong(f"rank {rank.rank}, action {number} ({action}): {wrong}") from None
    rank.end()


def over_mpi(library, cloud, actions, model):
    library.MPI_Init(None, None)
    transport = c_void_p()
    options = OpenOptions(ctypes.sizeof(OpenOptions), model.encode(), None)
    if all(library.mg_open_fortran(world, byref(options), byref(transport)) for world in WORLDS):
        raise Wrong(f"open: {library.mg_error().decode()}")
    run(library, cloud, actions, transport, True)
    finalised = c_int()
    library.MPI_Finalized(byref(finalised))
    if not finalised.value:
        library.MPI_Finalize()


def over_threads(library, cloud, actions, ranks):
    wrong = []

    def body(transport, _):
        try:
            run(library, cloud, actions, c_void_p(transport), False)
        except Exception as error:  # nothing may pass through C
            wrong.append(f"{type(error).__name__}: {error}" if not isinstance(error, Wrong) else str(error))
            return USAGE
        return OK

    kind = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)
    status = library.mg_run_threads(ranks, kind(body), None)
    if wrong or status != OK:
        raise Wrong(wrong[0] if wrong else f"run: status {status}: {library.mg_error().decode()}")


def main(path, seed, where, *actions):
    library = load(path)
    kind, _, value = where.partition("=")
    cloud = Cloud(int(seed))
    try:
        if kind == "mpi":
            over_mpi(library, cloud, actions, value)
        else:
            over_threads(library, cloud, actions, int(value))
    except Wrong as wrong:
        print(f"misuse: {wrong}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
