"""Single simulations: of merge steps, or of a command that writes a record."""
import json
import os
import tempfile

from . import cases, machines, runner


def program(folder, what):
    """Returns the path of the program merganser of a build folder. @throws Failed, which says `what` to do, if it is missing"""
    path = os.path.realpath(os.path.join(folder, "bin", "merganser"))
    if not os.path.isfile(path):
        raise runner.Failed(f"{path} is not there; {what}", 2)
    return path


def simulated_program(o):
    """Returns the path of the program merganser for simulated ranks. @throws Failed if it is missing"""
    return program(o.simulated, "cmake --preset simgrid && cmake --build --preset simgrid makes it")


def about(platform):
    """Returns the settings of a simulation (SimGrid's, variables, ranks on a node), for its record."""
    return {"config": platform.config, "environment": platform.environment, "ranks_on_a_node": platform.per_node,
            "notes": platform.notes, "settings": runner.SETTINGS,
            "messages": os.environ.get("MERGANSER_SIMULATED_MESSAGES", "timers")}


def run_with_record(o, platform, arguments, environment, what):
    """Simulates a command of merganser that writes a run record. @return the time and memory of the simulation, and the run record"""
    with tempfile.TemporaryDirectory(prefix="merganser-simulate-") as folder:
        path = os.path.join(folder, "record.json")
        taken = runner.simulate(platform, simulated_program(o), [*arguments, "--json", path], environment, o.limits, what)
        with open(path, encoding="utf-8") as file:
            return taken, json.load(file)


def cost(taken):
    """Returns the time and memory that a simulation took, for its record."""
    return {"simulated_s": taken.simulated_s, "real_s": taken.real_s, "cpu_s": taken.cpu_s, "peak_bytes": taken.peak_bytes}


def merge_steps(o, case, prune, model, environment):
    """Simulates merge steps of one grid, pruning and communication model. @return the record of the last cycle, and the time and
    memory of the simulation"""
    platform = machines.platform(o.machine, case.ranks, o.noise, o.per_node, o.place, case.blocks)
    arguments = ["merge-steps", *case.arguments(), "--per-cell", str(cases.PER_CELL), "--cycles", str(o.cycles), "--prune", prune,
                 "--small-within", repr(o.small_within), "--comm", model]
    taken, record = run_with_record(o, platform, arguments, environment, f"{o.machine}, {case.ranks:,} ranks, {model}, {prune}")
    result = record["result"]
    last = result["cycles"][-1]
    return {"ranks": case.ranks, "model": model, "prune": prune, "cells": case.cells, "blocks": case.blocks, **last,
            "cycles": result["cycles"], **cost(taken), "platform": about(platform)}


def middle_block(o):
    """Returns the cells per rank along each axis in strong scaling, on the middle one of the numbers of ranks, for measuring a
    rank's work."""
    case = cases.strong(o.ranks[len(o.ranks) // 2], o.strong)
    return [n / b for n, b in zip(case.cells, case.blocks)]


def same_bits(runs):
    """Validates that every communication model and pruning of simulated merge steps gave the same parcels, by digest. @return no
    lines for the report  @throws Failed otherwise"""
    digests = {}
    for r in runs:
        digests.setdefault((r["ranks"], tuple(r["cells"])), set()).add(r["counts"]["digest"])
    for (ranks, _), found in digests.items():
        if len(found) > 1:
            raise runner.Failed(f"{ranks} ranks: digests differ: {', '.join(sorted(found))}; allowed: one", 1)
    return []
