"""Platforms for SimGrid's SMPI that resemble the machines of the clustering paper.

A node is one SimGrid host with as many cores as ranks: ranks of a node talk over its loopback, which nobody shares.
Nodes are joined by a dragonfly (every switch of a group is linked to every other, one switch of a group to each other group)
or a tree of two levels. Ranks are dealt out node by node, in their order or as compact tiles of their process grid (`place_ranks()`).

What a message costs besides the network (overheads, epochs of one-sided calls, noise) cannot be said in a platform file for
pairs of ranks on and off a node. costs.cpp does it: it must be linked into what is simulated, and reads
`Platform.environment`. How the costs follow from the published tables: `costs()`.
"""
from dataclasses import dataclass, field

from . import published

MAX_RANKS = 65536


@dataclass(frozen=True)
class Shape:
    """Structure of nodes and network of a simulated machine.

    @param per_node   ranks on a node: what the paper's scaling of random parcels used
    @param topology   of SimGrid: DRAGONFLY or FAT_TREE
    @param group      nodes of a group, or of a leaf switch
    @param per_switch  nodes of a switch
    @param hop_us     latency of a link and the switch at its end
    @param gb_s       of a node's link, in GB/s
    @param near_gb_s  of a copy between two ranks of a node, in GB/s
    """
    per_node: int
    topology: str
    group: int
    per_switch: int
    hop_us: float
    gb_s: float
    near_gb_s: float


# per_node: the paper used all cores of ARCHER2 and Cirrus and half of those of Hotlum (section 3.2.1).
# near_gb_s is assumed. For 4 bytes it does not matter.
SHAPES = {
    # ARCHER2's documentation of its hardware: 128 nodes in a group, two ports of 100 Gb/s for each node. A group has 16
    # switches of 64 ports (16 for nodes, so 8 nodes with two ports). Switch: 350 ns [desensi2020].
    "archer2": Shape(128, "DRAGONFLY", 128, 8, 0.35, 25.0, 10.0),
    # One port of 200 Gb/s for each node (the paper, section 3.2.1, and Table 1, whose GB/s are the vendors' Gb/s). The
    # shape of its groups is not published: taken to be that of ARCHER2.
    "hotlum": Shape(64, "DRAGONFLY", 128, 8, 0.35, 25.0, 10.0),
    # FDR: 54.5 Gb/s (Table 1). "Tree (hypercube with cut edges)": taken to be a tree of switches with 36 ports, half of
    # them upwards. 170 ns for a switch is Mellanox' figure for SX6036.
    "cirrus": Shape(36, "FAT_TREE", 18, 18, 0.17, 54.5 / 8, 10.0),
}
MACHINES = tuple(SHAPES)
PLACES = ("rows", "tiles")
# Algorithms that both libraries use for few bytes. SMPI's defaults create communicators per node in the first MPI_Allreduce, whose
# time and memory grow with the square of the ranks (62 s with 1,024).
COLLECTIVES = {"allreduce": "rdb", "barrier": "ompi_bruck", "bcast": "binomial_tree", "reduce": "binomial", "gather": "ompi_binomial",
               "allgather": "bruck", "allgatherv": "ompi_bruck", "alltoall": "bruck"}


@dataclass(frozen=True)
class Costs:
    """Costs of MPI calls between two ranks of a simulated machine, in us; filled by costs().

    @param overhead   of a rank for a message that it sends, and for one that it receives
    @param wire       from the end of the sender's overhead to the begin of the receiver's
    @param put, get   overhead of an operation
    @param epoch      of MPI_Win_lock and MPI_Win_unlock together, besides the operations
    @param put_done, get_done  from the arrival of the last operation until the origin is notified (MPI_Win_flush, _unlock)
    """
    overhead: float
    wire: float
    put: float
    get: float
    epoch: float
    put_done: float
    get_done: float


def costs(row):
    """Computes the costs of MPI calls that reproduce a row of published latencies and bandwidths (Tables 3 and 4): as many unknowns
    as figures, but for one.

    Two-sided: half a round trip is overhead + wire + overhead; a window takes 64 overheads of the sender, then the last
    message's way, then the reply's. One-sided: each further operation of an epoch costs an overhead. What is left of an
    epoch of one operation is the way there, the way back, and the epoch. The figures do not tell the latter two apart: the way
    back is assumed to be as long as the way there, for the cheaper of put and get, and the excess of the other to be its own.
    """
    more = published.WINDOW - 1
    overhead = (row.window_us("p2p") - 2 * row.p2p_us) / more
    wire = row.p2p_us - 2 * overhead
    put = (row.window_us("put") - row.put_us) / more
    get = (row.window_us("get") - row.get_us) / more
    epoch = max(0.0, min(row.put_us - put, row.get_us - get) - 2 * wire)
    return Costs(overhead, wire, put, get, epoch, row.put_us - put - wire - epoch, row.get_us - get - wire - epoch)


@dataclass(frozen=True)
class Noise:
    """Jitter of the operating system: in every window of time each rank is delayed once with probability 1 / one_in.

    The begin is anywhere in the window. A rank that computes loses late_s; one that waits loses what remains of it when the
    message that it waits for has arrived. Ranks and times follow from the seed alone. With window_s = late_s one rank in one_in is
    delayed at any time.
    """
    one_in: int = 1000
    late_s: float = 1e-3
    window_s: float = 1e-3
    seed: int = 42

    def __post_init__(self):
        if self.one_in < 1 or not 0 < self.late_s <= self.window_s:
            raise ValueError(f"noise: one in {self.one_in}, {self.late_s} s late in {self.window_s} s; "
                             "allowed: one in 1 or more, and 0 < late <= window")

    def text(self):
        """Formats the simulated noise as the variable MERGANSER_SMPI_NOISE, which costs.cpp reads."""
        return f"one_in={self.one_in} late={self.late_s:g} window={self.window_s:g} seed={self.seed}"


@dataclass(frozen=True)
class Platform:
    """Simulated machine for a number of ranks, as arguments of a simulation: platform file, hosts, settings, variables; filled by
    platform().

    @param xml          text of a platform file
    @param hosts        name of the host of each rank: lines of a host file
    @param config       settings, each passed as --cfg=SETTING
    @param environment  variables that costs.cpp reads
    @param notes        properties of the simulation that the real machine does not have
    """
    machine: str
    ranks: int
    per_node: int
    xml: str
    hosts: list
    config: list
    environment: dict
    notes: list = field(default_factory=list)


def tile_shape(per_node, blocks):
    """Returns the blocks along x and y of one node's tile: as many as fit both node and grid, in the squarest shape."""
    x, y = blocks[0], blocks[1]
    shapes = [(a, min(y, per_node // a)) for a in range(1, min(x, per_node) + 1)]
    return min(shapes, key=lambda s: (-s[0] * s[1], s[0] + s[1]))


def place_ranks(ranks, per_node, place, blocks):
    """Returns the index of the node of each simulated rank. Ranks count through a grid of blocks, the last axis first.

    @param place   rows: in their order; tiles: in compact tiles of the grid along x and y, one after the other
    @param blocks  ranks along x, y and z, for tiles
    @throws ValueError  for another place, or tiles without a grid of so many blocks
    """
    if place == "rows":
        return [r // per_node for r in range(ranks)]
    if place != "tiles":
        raise ValueError(f'place: "{place}"; allowed: {", ".join(PLACES)}')
    if blocks is None or blocks[0] * blocks[1] * blocks[2] != ranks:
        raise ValueError(f"place: tiles of {blocks} on {ranks} ranks; allowed: where ranks are a grid of blocks")
    _, y, z = blocks
    a, b = tile_shape(max(1, per_node // z), blocks)

    def position(rank):
        i, j = rank // z // y, rank // z % y
        return i // a, j // b, i % a, j % b, rank % z

    nodes = [0] * ranks
    for at, rank in enumerate(sorted(range(ranks), key=position)):
        nodes[rank] = at // per_node
    return nodes


def platform(machine, ranks, noise=None, per_node=None, place="rows", blocks=None):
    """Returns a simulated machine with enough nodes for a number of ranks.

    @param ranks     1 to 65,536
    @param noise     a Noise, or None
    @param per_node  ranks on a node, 1 to its cores [what the paper used]
    @param place, blocks  which ranks share a node: see place_ranks()
    @throws ValueError  says what is allowed
    """
    if machine not in SHAPES:
        raise ValueError(f'machine: "{machine}"; allowed: {", ".join(MACHINES)}')
    if not 1 <= ranks <= MAX_RANKS:
        raise ValueError(f"ranks: {ranks}; allowed: 1 to {MAX_RANKS}")
    shape = SHAPES[machine]
    real, cores = published.NODES[machine]
    each = shape.per_node if per_node is None else per_node
    if not 1 <= each <= cores:
        raise ValueError(f"ranks on a node: {each}; allowed: 1 to {cores}, the cores of a node of {machine}")
    nodes = -(-ranks // each)
    near, far = costs(published.ON_NODE[machine]), costs(published.OFF_NODE[machine])
    notes = [f"{nodes} nodes, {machine} has {real}"] if nodes > real else []
    environment = {"MERGANSER_SMPI_COSTS": costs_text(near, far, shape)}
    if noise is not None:
        environment["MERGANSER_SMPI_NOISE"] = noise.text()
    # SimGrid compares times with a precision of 1 ns by default, and some costs are not much more.
    config = ["smpi/bw-factor:0:1", "smpi/simulate-computation:no", "surf/precision:1e-12", "network/crosstraffic:no",
              *(f"smpi/{call}:{algorithm}" for call, algorithm in COLLECTIVES.items())]
    return Platform(machine, ranks, each, xml(shape, nodes, each, near), [f"node-{n}" for n in place_ranks(ranks, each, place, blocks)], config,
                    environment, notes)


def costs_text(near, far, shape):
    """Formats the costs of MPI calls in seconds as the variable MERGANSER_SMPI_COSTS, which costs.cpp reads. Two nodes of one
    switch are two links apart, which the platform has."""
    words = []
    for place, c, extra in (("near", near, 0.0), ("far", far, far.wire - 2 * shape.hop_us)):
        values = {"overhead": c.overhead, "wire": extra, "put": c.put, "get": c.get, "epoch": c.epoch,
                  "put_done": c.put_done, "get_done": c.get_done}
        words += [f"{place}.{name}={value * 1e-6:.6g}" for name, value in values.items()]
    return " ".join(words)


def topology(shape, nodes):
    """Returns SimGrid's parameters of a topology with at least `nodes` nodes, and how many it has. @throws ValueError"""
    if shape.topology == "DRAGONFLY":
        groups = -(-nodes // shape.group)
        switches = shape.group // shape.per_switch
        # One router of a group leads to each other group, over six links: so there cannot be more groups than routers.
        if groups > switches:
            raise ValueError(f"{nodes} nodes; allowed: {switches * shape.group}, a dragonfly of {switches} groups")
        return f"{groups},6;1,1;{switches},1;{shape.per_switch}", groups * shape.group
    leaves = -(-nodes // shape.per_switch)
    return f"2;{shape.per_switch},{leaves};1,{shape.per_switch};1,1", leaves * shape.per_switch


def xml(shape, nodes, per_node, near):
    """Returns the text of SimGrid's platform file for a machine with at least `nodes` nodes."""
    parameters, count = topology(shape, nodes)
    return f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="world" routing="Full">
    <cluster id="machine" prefix="node-" suffix="" radical="0-{count - 1}" speed="1Gf" core="{per_node}"
             bw="{shape.gb_s}GBps" lat="{shape.hop_us}us" loopback_bw="{shape.near_gb_s}GBps" loopback_lat="{near.wire:.6f}us"
             sharing_policy="SPLITDUPLEX" topology="{shape.topology}" topo_parameters="{parameters}"/>
  </zone>
</platform>
"""
