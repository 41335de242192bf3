"""The command ./x simulate --machine NAME --ranks N,... [-- COMMAND ...], or --study NAME."""
import signal
import sys

from . import calibrate, campaign, cases, cli, machines, published, runner, steps, studies, table, work
from .campaign import say
from .results import write

LISTED = """\
machines  {machines}
models    {models}
prunings  {prunings}
studies   {studies}"""


def run_command(o):
    """Simulates a command of merganser, once for each number of ranks. @return the result part of the simulation record"""
    merganser = steps.simulated_program(o)
    runs = []
    for ranks in o.ranks:
        platform = machines.platform(o.machine, ranks, o.noise, o.per_node)
        what = f"{o.machine}, {ranks:,} ranks"
        sys.stdout.flush()
        taken = runner.simulate(platform, merganser, o.command, {"MERGANSER_COMM": o.comm[0]}, o.limits, what, sys.stdout)
        say(f"{what}: {taken.simulated_s:.6g} s simulated in {taken.real_s:.1f} s, {taken.peak_bytes / 2**20:,.0f} MiB")
        runs.append({"ranks": ranks, "model": o.comm[0], "simulated_s": taken.simulated_s, "real_s": taken.real_s, "cpu_s": taken.cpu_s,
                     "peak_bytes": taken.peak_bytes, "platform": steps.about(platform)})
    return {"command": o.command, "runs": runs}


def run_steps(o):
    """Simulates merge steps by ranks, communication model and pruning, and prints their table. @return the result part of the
    simulation record"""
    steps.simulated_program(o)
    block = o.cells if o.strong is None else tuple(max(1, round(n)) for n in steps.middle_block(o))
    known = None
    if o.work != "none":
        real = steps.program(o.build, "./x build makes it; --work none does without")
        known = work.costs(real, block, o.simulated, again=o.work == "again")
    # Untimed parts cost nothing: set-up, and totals after a step. The published reductions are MPI's and cost time all the same.
    environment = {"MERGANSER_SIMULATED_COSTS": work.variable(known) if known else "", "MERGANSER_SIMULATED_COLLECTIVES": "free"}
    runs = []
    for ranks in o.ranks:
        case = cases.weak(ranks, o.cells) if o.strong is None else cases.strong(ranks, o.strong)
        say(f"{o.machine}, {ranks:,} ranks: {'x'.join(map(str, case.cells))} cells in {'x'.join(map(str, case.blocks))} blocks; "
            + cases.scaling(case))
        for model in o.comm:
            for prune in o.prune:
                runs.append(steps.merge_steps(o, case, prune, model, environment))
                say(f"  {model}, {prune}: done in {runs[-1]['real_s']:.1f} s")
    print(table.text(runs))
    print("times in us, simulated, of the slowest rank; late: ranks that end 0.5 ms after the first or later")
    for line in table.sentences(runs) + steps.same_bits(runs):
        print(line)
    return {"work": known, "runs": runs, "small_within": o.small_within, "scaling": "strong" if o.strong else "weak"}


def main(words):
    """Runs ./x simulate for the arguments of its command line. @return exit code"""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # folders and processes are cleaned up
    if "--calibrate" in words[:words.index("--") if "--" in words else None]:
        return calibrate.main(words)
    o = cli.parse(words)
    if o.list:
        names = [f"{n} ({published.NODES[n][0]} nodes, {machines.SHAPES[n].per_node} ranks on each)" for n in machines.MACHINES]
        print(LISTED.format(machines=", ".join(names), models=", ".join(cli.MODELS), prunings=", ".join(cli.PRUNINGS),
                            studies="\n          ".join(f"{n}: {s.about}" for n, s in studies.STUDIES.items())))
        return 0
    try:
        if o.study:
            return campaign.run(studies.STUDIES[o.study], o, words)
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
