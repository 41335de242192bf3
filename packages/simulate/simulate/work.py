"""Costs of a rank's own work: seconds per parcel of each stage, measured once on this machine without simulation."""
import json
import os
import statistics
import subprocess
import tempfile

from . import cases
from .results import write
from .runner import Failed

CYCLES = 40
# Stage of a record: name of its cost in MERGANSER_SIMULATED_COSTS (merganser/base/simulated.hpp).
STAGES = {"search": "search", "graph": "graph", "merge": "merge"}


def steps(program, block, prune):
    """Runs merge steps on one real rank with the block of a simulated one. @return the record  @throws Failed"""
    with tempfile.TemporaryDirectory(prefix="merganser-simulate-") as folder:
        path = os.path.join(folder, "steps.json")
        words = [program, "merge-steps", "--cells", ",".join(map(str, block)), "--per-cell", str(cases.PER_CELL), "--periodic", "none",
                 "--comm", "threads", "--ranks", "1", "--cycles", str(CYCLES), "--prune", prune, "--json", path]
        try:
            got = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
        except (OSError, subprocess.TimeoutExpired) as e:
            raise Failed(f"measuring the work of a rank: {e}", 2) from e
        if got.returncode != 0:
            raise Failed(f"measuring the work of a rank: {got.stderr.strip()}", got.returncode)
        with open(path, encoding="utf-8") as file:
            return json.load(file)


def measure(program, block):
    """Measures the costs of a rank's own work by name, seconds per parcel, with the machine that they are from. The first decile
    over cycles counts: other users of the machine only ever add to times, and many of them add to more than half of the cycles."""
    by_prune = {prune: steps(program, block, prune) for prune in ("single-pass", "iterative")}
    record = by_prune["single-pass"]

    def per_parcel(of, value):
        """Returns the first decile over cycles of a value per parcel, without the first two cycles, which allocate memory."""
        return statistics.quantiles((value(c) / c["counts"]["before"] for c in of["result"]["cycles"][2:]), n=10)[0]

    costs = {name: per_parcel(record, lambda c, s=stage: c["slowest_s"][s]) for stage, name in STAGES.items()}
    costs["prune"] = per_parcel(record, lambda c: c["slowest_s"]["prune"])
    costs["prune-iterative"] = per_parcel(by_prune["iterative"], lambda c: c["slowest_s"]["prune"])
    costs["migrate"] = per_parcel(record, lambda c: c["copy_s"])
    p = record["provenance"]
    return {"costs_s": costs, "block": list(block), "cycles": CYCLES, "parcels": record["result"]["cycles"][0]["counts"]["before"],
            "measured_on": {name: p[name] for name in ("cpu", "cores", "load_average", "time", "git")}}


def known(path, block):
    """Returns the costs of a rank's own work that were measured before for a block of this size, or None."""
    try:
        with open(path, encoding="utf-8") as file:
            work = json.load(file)
    except (OSError, ValueError):
        return None
    return work if isinstance(work, dict) and work.get("block") == list(block) and isinstance(work.get("costs_s"), dict) else None


def costs(program, block, folder, again=False):
    """Returns the costs of a rank's own work, measured once for each size of block, and stored beside the simulated build."""
    path = os.path.join(folder, "work-" + "x".join(map(str, block)) + ".json")
    work = None if again else known(path, block)
    if work is None:
        work = measure(program, block)
        write(path, work, "cost of work in")
    return work


def variable(work):
    """Formats the costs of a rank's own work as the variable MERGANSER_SIMULATED_COSTS requires."""
    return ",".join(f"{name}={seconds:.6g}" for name, seconds in work["costs_s"].items())
