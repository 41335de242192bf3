"""./x simulate --machine NAME --ranks N,... [-- COMMAND ...]"""
import json
import os
import signal
import sys
import tempfile

from . import calibrate, cases, cli, machines, published, runner, table, work

LISTED = """\
machines  {machines}
models    {models}
prunings  {prunings}"""


def say(text):
    print(text, file=sys.stderr, flush=True)


def program(folder, what):
    path = os.path.realpath(os.path.join(folder, "bin", "merganser"))
    if not os.path.isfile(path):
        raise runner.Failed(f"{path} is not there; {what}", 2)
    return path


def simulated_program(o):
    return program(o.simulated, "cmake --preset simgrid && cmake --build --preset simgrid makes it")


def run_command(o):
    """Any command of the program, once for each number of ranks."""
    merganser = simulated_program(o)
    runs = []
    for ranks in o.ranks:
        platform = machines.platform(o.machine, ranks, o.noise, o.per_node)
        what = f"{o.machine}, {ranks:,} ranks"
        sys.stdout.flush()
        taken = runner.simulate(platform, merganser, o.command, {"MERGANSER_COMM": o.comm[0]}, o.limits, what, sys.stdout)
        say(f"{what}: {taken.simulated_s:.6g} s simulated in {taken.real_s:.1f} s, {taken.peak_bytes / 2**20:,.0f} MiB")
        runs.append({"ranks": ranks, "model": o.comm[0], "simulated_s": taken.simulated_s, "real_s": taken.real_s, "cpu_s": taken.cpu_s,
                     "peak_bytes": taken.peak_bytes, "platform": about(platform)})
    return {"command": o.command, "runs": runs}


def about(platform):
    return {"config": platform.config, "environment": platform.environment, "ranks_on_a_node": platform.per_node,
            "notes": platform.notes, "settings": runner.SETTINGS}


def merge_steps(o, case, prune, model, environment):
    """One simulation of merge steps: the record of its last cycle, and what it took."""
    platform = machines.platform(o.machine, case.ranks, o.noise, o.per_node)
    with tempfile.TemporaryDirectory(prefix="merganser-simulate-") as folder:
        path = os.path.join(folder, "steps.json")
        arguments = ["merge-steps", *case.arguments(), "--per-cell", str(cases.PER_CELL), "--cycles", str(o.cycles), "--prune", prune,
                     "--small-within", repr(o.small_within), "--comm", model, "--json", path]
        what = f"{o.machine}, {case.ranks:,} ranks, {model}, {prune}"
        taken = runner.simulate(platform, simulated_program(o), arguments, environment, o.limits, what)
        with open(path, encoding="utf-8") as file:
            result = json.load(file)["result"]
    last = result["cycles"][-1]
    return {"ranks": case.ranks, "model": model, "prune": prune, "cells": case.cells, "blocks": case.blocks, **last,
            "cycles": result["cycles"], "simulated_s": taken.simulated_s, "real_s": taken.real_s, "cpu_s": taken.cpu_s,
            "peak_bytes": taken.peak_bytes, "platform": about(platform)}


def run_steps(o):
    simulated_program(o)
    block = o.cells if o.strong is None else tuple(max(1, round(n)) for n in block_of(o))
    known = None
    if o.work != "none":
        real = program(o.build, "./x build makes it; --work none does without")
        known = work.costs(real, block, o.simulated, again=o.work == "again")
    # What is not timed takes no time: set-up, and totals behind a step. The published reductions are MPI's all the same.
    environment = {"MERGANSER_SIMULATED_COSTS": work.variable(known) if known else "", "MERGANSER_SIMULATED_COLLECTIVES": "free"}
    runs = []
    for ranks in o.ranks:
        case = cases.weak(ranks, o.cells) if o.strong is None else cases.strong(ranks, o.strong)
        say(f"{o.machine}, {ranks:,} ranks: {'x'.join(map(str, case.cells))} cells in {'x'.join(map(str, case.blocks))} blocks; "
            + cases.scaling(case))
        for model in o.comm:
            for prune in o.prune:
                runs.append(merge_steps(o, case, prune, model, environment))
                say(f"  {model}, {prune}: done in {runs[-1]['real_s']:.1f} s")
    print(table.text(runs))
    print("times in us, simulated, of the slowest rank; late: ranks that end 0.5 ms after the first or later")
    for line in table.sentences(runs) + same_bits(runs):
        print(line)
    return {"work": known, "runs": runs, "small_within": o.small_within, "scaling": "strong" if o.strong else "weak"}


def block_of(o):
    """Cells of a rank where the grid is the same for all: in the middle of the numbers asked for."""
    case = cases.strong(o.ranks[len(o.ranks) // 2], o.strong)
    return [n / b for n, b in zip(case.cells, case.blocks)]


def same_bits(runs):
    """Every model and pruning must give the same parcels."""
    digests = {}
    for r in runs:
        digests.setdefault((r["ranks"], tuple(r["cells"])), set()).add(r["counts"]["digest"])
    for (ranks, _), found in digests.items():
        if len(found) > 1:
            raise runner.Failed(f"{ranks} ranks: digests differ: {', '.join(sorted(found))}; allowed: one", 1)
    return []


def write(path, record):
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump(record, file, indent=1)
            file.write("\n")
        os.replace(temporary, path)
    except OSError as e:
        raise runner.Failed(f"--json {path}: {e.strerror}", 2) from e


def main(words):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # folders and processes are cleaned up
    if "--calibrate" in words[:words.index("--") if "--" in words else None]:
        return calibrate.main(words)
    o = cli.parse(words)
    if o.list:
        names = [f"{n} ({published.NODES[n][0]} nodes, {machines.SHAPES[n].per_node} ranks on each)" for n in machines.MACHINES]
        print(LISTED.format(machines=", ".join(names), models=", ".join(cli.MODELS), prunings=", ".join(cli.PRUNINGS)))
        return 0
    try:
        result = run_command(o) if o.command else run_steps(o)
        if o.json:
            write(o.json, {"schema": "merganser-simulation", "schema_version": 1, "machine": o.machine, "arguments": words,
                           "noise": o.noise.text() if o.noise else None, **result})
    except runner.Failed as e:
        say(f"simulate: {e}")
        return e.code
    except ValueError as e:
        say(f"simulate: {e}")
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
