"""Where the simulator ends: counted messages replayed through LogGP [alexandrov1995].

A message of b bytes keeps its sender busy for o, is under way for L + (b - 1) G, keeps its receiver busy for o; messages of a rank
are g apart at least. The parameters are fitted to simulated messages between two ranks (messages.c), on a node and off. What a
pruning needs on its critical path is counted in a record of ./x simulate; how much longer it takes than that, because ranks
differ and meet, is one factor for each model and pruning, fitted to small runs. Larger runs are then predictions:

  python3 -m simulate.loggp --machine archer2 s.json --fit-to 256 --ranks 1024,4096,16384      (in packages/simulate/)
"""
import argparse
import json
import math
import sys
import tempfile
from dataclasses import dataclass

from . import machines, published, runner, smpi

LIMITS = runner.Limits(seconds=120, bytes=2 * 2**30)


@dataclass(frozen=True)
class Parameters:
    """Parameters L, o, g and G of the LogGP model of messages, in seconds; big_g per byte. Filled by fit()."""
    latency: float
    overhead: float
    gap: float
    big_g: float

    def way(self, size):
        """Returns the LogGP time from the begin of a send to the end of its receive, of `size` bytes, s."""
        return self.latency + 2 * self.overhead + (size - 1) * self.big_g


@dataclass(frozen=True)
class Observation:
    """Simulated time of messages between two ranks, one line of messages.c. @param what  way, send or window"""
    what: str
    size: int
    count: int
    seconds: float


def least_squares(rows, values):
    """Returns the x that minimises |rows x - values|, by normal equations. @throws ValueError if the rows do not determine it"""
    n = len(rows[0])
    scale = [max(abs(row[i]) for row in rows) or 1.0 for i in range(n)]
    a = [[sum(row[i] / scale[i] * row[j] / scale[j] for row in rows) for j in range(n)]
         + [sum(row[i] / scale[i] * v for row, v in zip(rows, values))] for i in range(n)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda k: abs(a[k][i]))
        if abs(a[pivot][i]) < 1e-12 * len(rows):
            raise ValueError(f"{len(rows)} observations do not determine {n} numbers")
        a[i], a[pivot] = a[pivot], a[i]
        for k in range(n):
            if k != i:
                factor = a[k][i] / a[i][i]
                a[k] = [x - factor * y for x, y in zip(a[k], a[i])]
    return [a[i][n] / a[i][i] / scale[i] for i in range(n)]


def fit(observations):
    """Fits the parameters of LogGP to simulated times of messages by relative errors. @throws ValueError if the observations do not
    determine them"""
    rows, values = [], []
    for o in observations:
        row = {"way": [1, 2, 0, o.size - 1], "send": [0, 1, 0, 0],
               "window": [1, 2, o.count - 1, o.size - 1]}[o.what]  # L, o, g, G
        rows.append([x / o.seconds for x in row])
        values.append(1.0)
    return Parameters(*least_squares(rows, values))


def observe(machine, per_node):
    """Simulates the messages between two ranks that LogGP is fitted to. @param per_node  2: on one node; 1: on two  @return the
    observations"""
    lacking = smpi.missing()
    if lacking:
        raise runner.Failed(f"there is no program {lacking}; Debian's package libsimgrid-dev has it", 77)
    with tempfile.TemporaryDirectory(prefix="merganser-simulate-") as folder:
        program = smpi.build("messages.c", folder)
        with open(f"{folder}/messages.txt", "w+", encoding="ascii") as out:
            runner.simulate(machines.platform(machine, 2, per_node=per_node), program, [], {}, LIMITS, f"messages of {machine}", out)
            out.seek(0)
            words = [line.split() for line in out]
    return [Observation(what, int(size), int(count), float(s)) for what, size, count, s in words if float(s) > 0]


def replay(run, near, far, machine):
    """Returns the seconds on the critical path of a pruning from the counts of its record, without the rank's own work.

    A wave is one message to and from each neighbour: the sends, one way, the receives of the others. A reduction or barrier of n ranks
    is ceil(log2 n) ways. In Algorithm 1 over rma every operation is an epoch of its own. In the single pass labels
    go along chains of crossing links; each step of the longest one is a way, or a put that has landed.
    """
    counts, ranks = run["counts"], run["ranks"]
    one_node = ranks <= run["platform"]["ranks_on_a_node"]
    p = near if one_node else far
    costs = machines.costs((published.ON_NODE if one_node else published.OFF_NODE)[machine])
    neighbours = math.prod(min(3, b) for b in run["blocks"]) - 1
    tree = math.ceil(math.log2(ranks)) * p.way(4) if ranks > 1 else 0
    wave = p.way(8) + 2 * (neighbours - 1) * max(p.gap, p.overhead)
    if run["model"] == "rma":
        operations = (counts["prune_puts"] * (costs.epoch + costs.put + costs.wire + costs.put_done)
                      + counts["prune_gets"] * (costs.epoch + costs.get + costs.wire + costs.get_done)) * 1e-6 / ranks
        if run["prune"] == "iterative":
            return operations + (counts["prune_syncs"] + counts["prune_reductions"]) * tree
        step = (costs.put + costs.wire + costs.put_done) * 1e-6
        return counts["prune_rounds"] * step + counts["prune_puts"] / ranks * costs.put * 1e-6
    if run["prune"] == "iterative":
        return counts["prune_syncs"] * wave + counts["prune_reductions"] * tree
    return wave + counts["prune_rounds"] * p.way(8)


def own_work(run, work):
    """Returns the seconds of a rank's own work in a simulated pruning, which was simulated with the costs in the record and is no
    message."""
    if not work:
        return 0.0
    name = "prune-iterative" if run["prune"] == "iterative" else "prune"
    return work["costs_s"][name] * run["counts"]["before"] / run["ranks"]


def factor(runs, replayed, work):
    """Returns the factor by which simulated pruning takes longer than its messages replayed through LogGP; every run has the same
    weight."""
    ratios = [(run["slowest_s"]["prune"] - own_work(run, work)) / r for run, r in zip(runs, replayed)]
    return least_squares([[1.0]] * len(ratios), ratios)[0]


def extrapolate_run(runs, ranks):
    """Extrapolates a simulated run of merge steps to more ranks: counts of a rank as in the largest run, those on the critical path
    extrapolated with log2 of the ranks.

    @param runs  of one model and pruning, weak scaling, two numbers of ranks or more
    """
    largest = max(runs, key=lambda r: r["ranks"])
    scale = ranks / largest["ranks"]
    counts = {n: v * scale if isinstance(v, (int, float)) else v for n, v in largest["counts"].items()}
    for name in ("prune_rounds", "prune_syncs", "prune_reductions"):
        a, b = least_squares([[1.0, math.log2(r["ranks"])] for r in runs], [r["counts"][name] for r in runs])
        counts[name] = max(a + b * math.log2(ranks), largest["counts"][name])
    side = int(ranks**0.5)
    blocks = [side, -(-ranks // side), 1]
    return {**largest, "ranks": ranks, "counts": counts, "blocks": blocks, "slowest_s": None}


def predict(record, near, far, fit_to, ranks):
    """Predicts pruning times by LogGP. @return for each model and pruning the factor, and by number of ranks (ranks, simulated or
    None, replayed, use)"""
    groups = {}
    for run in record["runs"]:
        groups.setdefault((run["model"], run["prune"]), []).append(run)
    machine, work = record["machine"], record.get("work")
    out = {}
    for key, runs in groups.items():
        fitted = [r for r in runs if r["platform"]["ranks_on_a_node"] < r["ranks"] <= fit_to]
        if not fitted:
            raise ValueError(f"{', '.join(key)}: no run on more than one node and at most {fit_to} ranks to fit to")
        k = factor(fitted, [replay(r, near, far, machine) for r in fitted], work)
        known = {r["ranks"]: r for r in runs}
        lines = []
        for n in sorted({*known, *ranks}):
            run = known.get(n) or extrapolate_run(runs, n)
            value = k * replay(run, near, far, machine) + own_work(run, work)
            seen = run["slowest_s"]["prune"] if n in known else None
            use = "extrapolated" if n not in known else "fitted" if any(r["ranks"] == n for r in fitted) else "predicted"
            lines.append((n, seen, value, use))
        out[key] = (k, lines)
    return out


def table(predicted):
    """Formats the table of simulated and replayed pruning times that predict() returns."""
    rows = [f"{'model':14} {'pruning':12} {'factor':>6} {'ranks':>7} {'simulated us':>13} {'replayed us':>12} {'difference':>10}"]
    for (model, prune), (k, lines) in predicted.items():
        for ranks, seen, value, use in lines:
            simulated = f"{seen * 1e6:13.1f}" if seen is not None else f"{'-':>13}"
            difference = f"{value / seen - 1:+10.1%}" if seen else f"{'':>10}"
            rows.append(f"{model:14} {prune:12} {k:6.2f} {ranks:7,} {simulated} {value * 1e6:12.1f} {difference}  {use}")
    return "\n".join(rows)


def main(words):
    """Runs python3 -m simulate.loggp: fits LogGP, and prints pruning times replayed and extrapolated. @return exit code"""
    p = argparse.ArgumentParser(prog="python3 -m simulate.loggp", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("record", metavar="FILE", nargs="+", help="records of ./x simulate of one machine, weak scaling")
    p.add_argument("--machine", choices=machines.MACHINES, required=True)
    p.add_argument("--fit-to", type=int, default=256, metavar="N", help="the factors are fitted to runs of up to N ranks [256]")
    p.add_argument("--ranks", default="", metavar="N,...", help="numbers of ranks to extrapolate to")
    o = p.parse_args(words)
    try:
        record = join_records([read(path) for path in o.record], o.machine)
        near, far = fit(observe(o.machine, 2)), fit(observe(o.machine, 1))
        for place, q in (("on node", near), ("off node", far)):
            print(f"{o.machine} {place}: L {q.latency * 1e6:.3f} us, o {q.overhead * 1e6:.3f} us, g {q.gap * 1e6:.3f} us, "
                  f"G {q.big_g * 1e9:.4f} ns/B")
        print(table(predict(record, near, far, o.fit_to, [int(n) for n in o.ranks.split(",") if n])))
    except (ValueError, OSError, KeyError) as e:
        print(f"loggp: {e}", file=sys.stderr)
        return 2
    except runner.Failed as e:
        print(f"loggp: {e}", file=sys.stderr)
        return e.code
    return 0


def read(path):
    """Reads a simulation record of ./x simulate from a JSON file."""
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def join_records(records, machine):
    """Joins the runs of several simulation records. @throws ValueError if one is of another machine or not of weak scaling"""
    for r in records:
        if r.get("schema") != "merganser-simulation" or r["machine"] != machine or r.get("scaling") != "weak":
            raise ValueError(f"a record of {r.get('machine')}, {r.get('scaling')} scaling; allowed: of {machine}, weak")
    return {**records[0], "runs": [run for r in records for run in r["runs"]]}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
