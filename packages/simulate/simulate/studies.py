"""The studies of the papers, as campaigns: ./x simulate --study NAME."""
import os

from . import cases, machines, steps, table, work
from .campaign import Case, Study

# 256 x 512 x 32 cells [frey2025, section 3.2.1] with a quarter as many along each axis: 1 / 64 of the cells.
STRONG_CELLS = (64, 128, 8)
# Contraction continues by Kruskal below this number of components: the rest would be a few waves of nearly empty messages each.
BASE_CASE = 1024
# Announcements per step, of all ranks together: one of each rank would make their number the square of the ranks.
ANNOUNCED_A_STEP = 16
WORK_MS = 65  # of a step, as in the announcement paper
MOST_GATHERED = 3 * 2**30  # bytes that the all-gathers of all ranks may occupy in the simulating process


def environment(o, block, notes):
    """Returns the variables of a simulation of merge steps: a rank's own work; set-up, which is not timed, takes nothing."""
    known = None
    if o.work != "none":
        real = steps.program(o.build, "./x build makes it; --work none does without")
        known = work.costs(real, block, o.simulated, again=o.work == "again")
        notes["costs_s"] = known["costs_s"]
    return {"MERGANSER_SIMULATED_COSTS": work.variable(known) if known else "", "MERGANSER_SIMULATED_COLLECTIVES": "free"}


def without_cycles(result):
    """Returns a result of simulated merge steps without the times of single cycles."""
    return {name: value for name, value in result.items() if name != "cycles"}


def step_cases(o, case_of):
    """Returns the cases of a study of merge steps: every number of ranks, communication model and pruning. @param case_of
    case_of(ranks): the grid"""
    made = []
    for model in o.comm:
        for prune in o.prune:
            for ranks in o.ranks:
                case = case_of(ranks)
                block = tuple(max(1, round(n / b)) for n, b in zip(case.cells, case.blocks))
                notes = {}

                def run(case=case, block=block, prune=prune, model=model, notes=notes):
                    result = steps.merge_steps(o, case, prune, model, environment(o, block, notes))
                    return {**without_cycles(result), **notes, "place": o.place, "cells_of_a_rank": block}

                key = {"cells": list(case.cells), "blocks": list(case.blocks), "small_within": o.small_within, "cycles": o.cycles,
                       "work": o.work, "place": o.place, "per_node": o.per_node, "noise": o.noise.text() if o.noise else None}
                made.append(Case(f"{model}, {prune}", ranks, key, run))
    return made


def growth(results, ideal):
    """Describes the parallel efficiency of simulated merge steps relative to the fewest ranks. @param ideal  ideal(fewest, more):
    decrease of a rank's work"""
    lines = []
    for series in dict.fromkeys((r["model"], r["prune"]) for r in results):
        of = sorted((r for r in results if (r["model"], r["prune"]) == series), key=lambda r: r["ranks"])
        if len(of) < 2:
            continue
        first, words = of[0], []
        for r in of[1:]:
            share = first["slowest_s"]["step"] / r["slowest_s"]["step"] / ideal(first["ranks"], r["ranks"])
            words.append(f"{100 * share:.0f} % on {r['ranks']:,}")
        lines.append(f"{', '.join(series)}: efficiency of a step against {first['ranks']:,} ranks: " + ", ".join(words))
    return lines


def step_text(ideal):
    """Returns the function that formats the results of a study of merge steps as a table and sentences."""
    def text(results):
        steps.same_bits(results)
        lines = [table.text(results), "times in us, simulated, of the slowest rank; late: ranks that end 0.5 ms after the first or later"]
        return "\n".join(lines + table.sentences(results) + growth(results, ideal))
    return text


def forest_cases(o):
    """Returns the cases of the study of spanning forests: by method and ranks, with messages alone and with the work of ranks."""
    made = []
    for measured in ([False] if o.work == "none" else [False, True]):
        for method in ("kruskal", "boruvka"):
            for ranks in o.ranks:
                base_case = ["--base-case", str(BASE_CASE)] if method == "boruvka" else []  # Kruskal's does not use it
                arguments = ["msf", "--gen", o.graph, "--method", method, *base_case, "--comm", o.comm[0], "--force"]
                series = f"{method}, {'work as measured' if measured else 'messages only'}"

                def run(ranks=ranks, arguments=arguments, measured=measured, method=method):
                    platform = machines.platform(o.machine, ranks, o.noise, o.per_node)
                    variables = {"MERGANSER_SIMULATED_WORK": "measured" if measured else "none"}
                    taken, record = steps.run_with_record(o, platform, arguments, variables, f"{o.machine}, {ranks:,} ranks, {method}")
                    return {"ranks": ranks, "method": method, "work": "measured" if measured else "none", **summarise_forest(record),
                            **steps.cost(taken), "platform": steps.about(platform)}

                key = {"arguments": arguments, "per_node": o.per_node, "noise": o.noise.text() if o.noise else None}
                made.append(Case(series, ranks, key, run))
    return made


def summarise_forest(record):
    """Returns times by stage and counts of messages from a record of msf."""
    phases = {name: {"most_s": p["seconds"]["max"], "median_s": p["seconds"]["median"],
                     **{c: p["counters"][c] for c in ("messages", "bytes", "waves", "collectives")}}
              for name, p in record["phases"].items()}
    return {"forest_s": record["timings"]["forest"], "phases": phases,
            "rounds": record["facts"].get("rounds", {"most": 0})["most"],
            "messages": sum(p["messages"] for p in phases.values()), "bytes": sum(p["bytes"] for p in phases.values()),
            "input": {n: record["input"][n] for n in ("source", "vertices", "edges")},
            "digest": record["result"]["digest"]}


FOREST_STAGES = ("partition", "local forest", "lookup", "choose", "contract", "base case", "merge")


def forest_text(results):
    """Formats the results of the study of spanning forests as a table. @throws ValueError if digests of one graph differ"""
    digests = {(r["input"]["source"], r["digest"]) for r in results}
    if len(digests) != len({r["input"]["source"] for r in results}):
        raise ValueError(f"digests differ: {sorted(digests)}; allowed: one forest of a graph")
    rows = [["ranks", "method", "work", *FOREST_STAGES, "forest", "rounds", "msgs/rank", "KiB/rank", "real s", "core s", "MiB", "digest"]]
    for r in results:
        stages = [table.microseconds(r["phases"][s]["most_s"]) if s in r["phases"] else "" for s in FOREST_STAGES]
        rows.append([f"{r['ranks']:,}", r["method"], r["work"], *stages, table.microseconds(r["forest_s"]), str(r["rounds"]),
                     f"{r['messages'] / r['ranks']:.1f}", f"{r['bytes'] / r['ranks'] / 1024:.1f}", f"{r['real_s']:.1f}",
                     f"{r['cpu_s']:.1f}", f"{r['peak_bytes'] / 2**20:,.0f}", r["digest"][:12]])
    return table.aligned(rows) + "\ntimes in us, simulated, of the slowest rank in each stage"


def gathered_bytes(ranks, size):
    """Returns the bytes of all ranks' all-gathers: over SMPI each rank's result and its messages; as timers one shared result."""
    return 2 * size * ranks * ranks if os.environ.get("MERGANSER_SIMULATED_MESSAGES") == "smpi" else size * ranks


def announce_cases(o):
    """Returns the cases of the study of announcements: by exchange (none, network, all-gather) and ranks."""
    made = []
    for exchange in ("none", "network", "all-gather"):
        for ranks in o.ranks:
            every = max(1, ranks // ANNOUNCED_A_STEP)
            arguments = ["announce", "bench", "--work-ms", str(WORK_MS), "--edge", str(o.edge), "--steps",
                         str(o.cycles), "--exchange", exchange, "--comm", o.comm[0], "--force"]
            if exchange != "none":
                arguments += ["--size", str(o.size)]
            if exchange == "network":
                arguments += ["--every", str(every)]
            cannot = ""
            if exchange == "all-gather" and gathered_bytes(ranks, o.size) > MOST_GATHERED:
                cannot = (f"its ranks would hold {gathered_bytes(ranks, o.size) / 2**30:.0f} GiB together; allowed: "
                          f"{MOST_GATHERED / 2**30:.0f} GiB")

            def run(ranks=ranks, arguments=arguments, exchange=exchange, every=every):
                platform = machines.platform(o.machine, ranks, o.noise, o.per_node)
                # Only set-up is free of cost: the all-gathers that are timed do not use the transport's collectives.
                variables = {"MERGANSER_SIMULATED_COLLECTIVES": "free"}
                taken, record = steps.run_with_record(o, platform, arguments, variables, f"{o.machine}, {ranks:,} ranks, {exchange}")
                return {"ranks": ranks, "every": every, **summarise_announcements(record), **steps.cost(taken), "platform": steps.about(platform)}

            key = {"arguments": arguments, "per_node": o.per_node, "noise": o.noise.text() if o.noise else None}
            made.append(Case(exchange, ranks, key, run, cannot))
    return made


def summarise_announcements(record):
    """Returns the times of steps and their quantiles from a record of announce bench."""
    bench = record["announce_bench"]
    variant = bench["variants"][0]
    return {"exchange": variant["exchange"], "step_s": variant["steps_and_ranks"]["median"],
            "slowest_s": variant["slowest_rank"]["median"],
            "quantiles": [{"q": q["q"], "efficiency": q["efficiency"]} for q in variant["steps_and_ranks"]["quantiles"]],
            "counted": {n: v for n, v in bench.items() if n != "variants" and isinstance(v, (int, float, str, dict))}}


def announce_text(results):
    """Formats the results of the study of announcements as a table."""
    rows = [["ranks", "beside the halo", "step, ms", "slowest, ms", "efficiency", "against fewest", "real s", "core s", "MiB"]]
    for r in results:
        fewest = min((x for x in results if x["exchange"] == r["exchange"]), key=lambda x: x["ranks"])
        rows.append([f"{r['ranks']:,}", r["exchange"], f"{r['step_s'] * 1e3:.3f}", f"{r['slowest_s'] * 1e3:.3f}",
                     f"{100 * WORK_MS * 1e-3 / r['slowest_s']:.2f} %", f"{100 * fewest['slowest_s'] / r['slowest_s']:.2f} %",
                     f"{r['real_s']:.1f}", f"{r['cpu_s']:.1f}", f"{r['peak_bytes'] / 2**20:,.0f}"])
    return table.aligned(rows) + "\nsimulated; step: median over ranks and steps; efficiency: work / step of the slowest rank, median over steps"


ALL = (64, 256, 1024, 4096, 16384)
STUDIES = {
    "weak": Study("merge steps, the same block of cells on each rank, both prunings",
                  {"ranks": list(ALL)}, lambda o: step_cases(o, lambda n: cases.weak(n, o.cells)), step_text(lambda few, many: 1)),
    "strong": Study("merge steps of 256x512x32 cells scaled down by 64, dealt to more and more ranks, both prunings",
                    {"ranks": list(ALL[:-1]), "strong": STRONG_CELLS},
                    lambda o: step_cases(o, lambda n: cases.strong(n, o.strong)), step_text(lambda few, many: many / few)),
    "early": Study("merge steps where a fifth of the domain has small parcels, as in an early Rayleigh-Taylor flow, both prunings",
                   {"ranks": list(ALL[:-1]), "small_within": 0.2}, lambda o: step_cases(o, lambda n: cases.weak(n, o.cells)),
                   step_text(lambda few, many: 1)),
    "forests": Study("spanning forests of an R-MAT graph by Kruskal and by contraction, messages alone and with the work of ranks",
                     {"ranks": list(ALL[:-1])}, forest_cases, forest_text),
    "announce": Study("steps of 65 ms with a halo, and beside it nothing, an announcement network or an all-gather",
                      {"ranks": [64, 256, 1024, 4096, 10240], "cycles": 4}, announce_cases, announce_text),
}
