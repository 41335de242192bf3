"""Do simulated machines take what was measured on the real ones? ./x simulate --calibrate [--machine NAME].

Runs what the published tables were measured with (figures.c) between two ranks of each simulated machine, on a node and on two, and
compares. Prints a table; ends with 1 if a figure is missed by more than 10 %.
"""
import argparse
import sys
import tempfile
from dataclasses import asdict, dataclass

from . import machines, published, runner, smpi
from .results import write

WITHIN = 0.10
ROUNDS = 10
LIMITS = runner.Limits(seconds=120, bytes=2 * 2**30)
# Name in figures.c, description, unit (MB/s where a bandwidth was published), field of published.Row.
FIGURES = (
    ("p2p", "P2P, latency", "us", "p2p_us"),
    ("put", "RMA put, latency (lock, put, unlock)", "us", "put_us"),
    ("get", "RMA get, latency (lock, get, unlock)", "us", "get_us"),
    ("p2p64", "P2P, bandwidth (64 messages)", "MB/s", "p2p_mb_s"),
    ("put64", "RMA put, bandwidth (epochs of 64)", "MB/s", "put_mb_s"),
    ("get64", "RMA get, bandwidth (epochs of 64)", "MB/s", "get_mb_s"),
)
# Not published for RMA; the nearest figure is that of SHMEM, which waits for the same completion.
UNPUBLISHED = (("put_flush", "RMA put and flush in an open epoch", "shmem_put_us"),
               ("get_flush", "RMA get and flush in an open epoch", "shmem_get_us"))


@dataclass(frozen=True)
class Figure:
    """Published latency or bandwidth of a real machine and the simulated one, in the same unit; filled by compare()."""
    machine: str
    place: str
    what: str
    unit: str
    published: float
    simulated: float

    def difference(self):
        """Returns the relative deviation of the simulated from the published figure."""
        return self.simulated / self.published - 1

    def missed(self):
        """Returns true if the deviation exceeds WITHIN, or is not a number."""
        return not abs(self.difference()) <= WITHIN


def times(machine, per_node, program, folder):
    """Runs the latency and bandwidth tests of figures.c on a simulated machine. @param per_node  2: on one node; 1: on two  @return
    microseconds by name"""
    with open(f"{folder}/figures.txt", "w+", encoding="ascii") as out:
        runner.simulate(machines.platform(machine, 2, per_node=per_node), program, [str(ROUNDS)], {}, LIMITS, f"figures of {machine}",
                        out)
        out.seek(0)
        return {name: float(us) for name, us in (line.split() for line in out)}


def compare(machine, program, folder):
    """Returns the simulated latencies and bandwidths of a machine: those with a published counterpart, and the others beside SHMEM's."""
    found, others = [], []
    for place, per_node, rows in (("on node", 2, published.ON_NODE), ("off node", 1, published.OFF_NODE)):
        us = times(machine, per_node, program, folder)
        row = rows[machine]
        for name, what, unit, attribute in FIGURES:
            value = us[name] if unit == "us" else published.WINDOW * published.BYTES / us[name]
            found.append(Figure(machine, place, what, unit, getattr(row, attribute), value))
        for name, what, attribute in UNPUBLISHED:
            others.append(Figure(machine, place, what, "us", getattr(row, attribute), us[name]))
    return found, others


def table(figures):
    """Formats the table of simulated beside published latencies and bandwidths, marking those that differ by more than WITHIN."""
    lines = [f"{'machine':8} {'place':9} {'what':38} {'unit':5} {'published':>9} {'simulated':>9} {'difference':>10}"]
    for f in figures:
        lines.append(f"{f.machine:8} {f.place:9} {f.what:38} {f.unit:5} {f.published:9.2f} {f.simulated:9.2f} {f.difference():+10.1%}"
                     + ("  missed" if f.missed() else ""))
    return "\n".join(lines)


def other_table(figures):
    """Formats the table of simulated RMA latencies without a published counterpart, beside those of SHMEM."""
    lines = [f"{'machine':8} {'place':9} {'what (not published)':38} {'simulated us':>12}  SHMEM, published"]
    for f in figures:
        lines.append(f"{f.machine:8} {f.place:9} {f.what:38} {f.simulated:12.2f} {f.published:17.2f}")
    return "\n".join(lines)


def calibrate(names):
    """Returns simulated and published latencies and bandwidths of machines. @throws runner.Failed where SimGrid is missing or a
    simulation fails"""
    lacking = smpi.missing()
    if lacking:
        raise runner.Failed(f"there is no program {lacking}; Debian's package libsimgrid-dev has it", 77)
    figures, others = [], []
    with tempfile.TemporaryDirectory(prefix="merganser-simulate-") as folder:
        program = smpi.build("figures.c", folder)
        for name in names:
            more = compare(name, program, folder)
            figures += more[0]
            others += more[1]
    return figures, others


def main(words):
    """Runs ./x simulate --calibrate. @return exit code: 1 if a published figure is missed by more than WITHIN"""
    p = argparse.ArgumentParser(prog="./x simulate --calibrate", description=__doc__)
    p.add_argument("--machine", choices=machines.MACHINES, action="append", help="only this one; may be repeated [all]")
    p.add_argument("--json", metavar="FILE", help="write the figures")
    for known in ("--build", "--simulated"):  # of ./x simulate
        p.add_argument(known, help=argparse.SUPPRESS)
    p.add_argument("--calibrate", action="store_true", help=argparse.SUPPRESS)
    o = p.parse_args(words)
    try:
        figures, others = calibrate(o.machine or machines.MACHINES)
    except runner.Failed as e:
        print(f"simulate: {e}", file=sys.stderr)
        return e.code
    print(table(figures))
    print()
    print(other_table(others))
    missed = sum(f.missed() for f in figures)
    print(f"\n{len(figures) - missed} of {len(figures)} published figures within {WITHIN:.0%}")
    if o.json:
        try:
            write(o.json, {"schema": "merganser-calibration", "schema_version": 1, "within": WITHIN,
                           "figures": [{**asdict(f), "difference": f.difference()} for f in figures],
                           "not_published": [asdict(f) for f in others]})
        except runner.Failed as e:
            print(f"simulate: {e}", file=sys.stderr)
            return e.code
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
