"""Measured series of merge steps, one form for the records of bench random, bench files, cluster and simulations."""
from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .records import Record, dig, number, objects

STAGES = ("search", "exchange", "graph", "prune", "migrate", "merge")
"""Stages of a merge step in their order; columns of the list `stages` of a cycle, which `step` follows."""
COUNTS = {"messages": "messages", "bytes": "bytes", "puts": "puts", "gets": "gets", "syncs": "synchronisations"}
PRUNING = {"words_written": "words written (puts)", "puts": "words written (puts)", "words_read": "words read (gets)",
           "gets": "words read (gets)", "rounds": "rounds", "syncs": "synchronisations", "reductions": "reductions"}
"""Counts of the pruning by their names in records, former ones too, and their headings."""


@dataclass(frozen=True)
class Series:
    """A series of merge steps: where it stands, on how many ranks it ran, and its numbers as the record has them."""
    record: Record
    variant: str
    ranks: int
    model: str
    stages: dict[str, dict[str, float]]
    """Seconds by stage and statistic (min, median, max); of simulations the mean over ranks stands for the median."""
    data: dict[str, Any]
    weak: bool = False
    simulated: bool = False

    @property
    def name(self) -> str:
        """The record with the variant, as legends show it."""
        return f"{self.record.label}: {self.variant}"

    @property
    def step(self) -> dict[str, float] | None:
        """Seconds of the whole step; None if the record has none."""
        return self.stages.get("step")


def _measured(record: Record, variant: str, data: dict[str, Any], weak: bool, ranks: Any = None) -> Series | None:
    """Returns the series that an object of a record with `stages` describes; None if there are no stages in it."""
    stages = {}
    for stage, times in (dig(data, "stages", default={}) or {}).items():
        if isinstance(times, dict) and all(number(times.get(key)) is not None for key in ("min", "median", "max")):
            stages[stage] = {key: times[key] for key in ("min", "median", "max")}
            stages[stage]["count"] = number(times.get("count")) or 0
    found = number(dig(data, "ranks", default=ranks)) or 1
    return Series(record, variant, int(found), str(dig(data, "model", default="")), stages, data, weak) if stages else None


def _bench(record: Record) -> Iterator[Series | None]:
    """Lists the series of bench random and bench files: of each number of ranks where the record has several."""
    result = record.get("result", default={})
    weak = record.get("options", "weak") is True
    scaling = list(objects(result.get("scaling") if isinstance(result, dict) else None))
    for entry in scaling:
        for variant, data in entry.items():
            if isinstance(data, dict):
                yield _measured(record, variant, data, weak, entry.get("ranks"))
    done = {(variant, entry.get("ranks")) for entry in scaling for variant in entry}
    for variant, data in result.items() if isinstance(result, dict) else ():
        if isinstance(data, dict) and (variant, data.get("ranks")) not in done:
            yield _measured(record, variant, data, weak)
    for entry in objects(result.get("compare") if isinstance(result, dict) else None):
        for side in ("a", "b"):
            if isinstance(entry.get(f"series_{side}"), dict):
                yield _measured(record, str(entry.get(side)), entry[f"series_{side}"], weak, entry.get("ranks"))


def _simulated(record: Record, run: dict[str, Any], variant: str, weak: bool) -> Series | None:
    """Returns the series of a simulated run: the mean over ranks, and the slowest and the fastest rank of the step."""
    stages = {}
    for stage, mean in (run.get("mean_s") or {}).items():
        slowest = number(dig(run, "slowest_s", stage))
        if number(mean) is not None:
            stages[stage] = {"min": mean, "median": mean, "max": slowest if slowest is not None else mean, "count": 0}
    if "step" in stages and number(run.get("fastest_s")) is not None:
        stages["step"]["min"] = run["fastest_s"]
    ranks = number(run.get("ranks"))
    if not stages or ranks is None:
        return None
    return Series(record, variant, int(ranks), str(run.get("model", "")), stages, run, weak, True)


def _cluster(record: Record) -> Series | None:
    data = {**(record.get("result", default={})), "stages": record.get("timings"), "counters_all_cycles": record.get("counters"),
            "pruning_all_cycles": record.get("pruning")}
    return _measured(record, "cluster", data, False, record.get("provenance", "ranks"))


def _cells_of_rank(run: dict[str, Any]) -> int:
    """Returns the number of cells of a rank in a simulated run; 0 if the run does not tell."""
    cells, ranks = run.get("cells"), number(run.get("ranks"))
    if not isinstance(cells, list) or not ranks or any(number(cell) is None for cell in cells):
        return 0
    return round(math.prod(cells) / ranks)


def _study_variant(case: dict[str, Any]) -> str:
    """Returns what a case of a study is, without its ranks: machine, series, and the cells where the work is fixed."""
    cells = dig(case, "key", "cells", default=[])
    shape = "x".join(map(str, cells)) if isinstance(cells, list) else ""
    return ", ".join(str(part) for part in (dig(case, "key", "machine"), dig(case, "key", "series"), shape and f"{shape} cells")
                     if part)


def step_series(records: list[Record]) -> list[Series]:
    """Lists the series of merge steps of all records."""
    found: list[Series | None] = []
    for record in records:
        if record.kind in ("bench random", "bench files"):
            found.extend(_bench(record))
        elif record.kind == "cluster":
            found.append(_cluster(record))
        elif record.kind == "simulation":
            weak = record.get("scaling", default="weak") == "weak"
            for run in objects(record.get("runs")):
                name = f"{run.get('model')}, {run.get('prune')}"
                work = _cells_of_rank(run)
                found.append(_simulated(record, run, f"{name}, {work:,} cells a rank" if work and weak else name, weak))
        elif record.kind == "simulated study":
            for case in objects(record.get("cases")):
                result = case.get("result")
                if isinstance(result, dict) and "mean_s" in result:
                    found.append(_simulated(record, result, _study_variant(case), False))
    return [series for series in found if series is not None]


def waiting_shares(series: Series) -> list[float]:
    """Returns for each rank which share of a step lies between its end and that of the slowest rank of the same cycle, on the mean
    over cycles; nothing where the record has no times by rank."""
    totals: list[float] = []
    cycles = 0
    for cycle in objects(series.data.get("cycles")):
        steps = [number(dig(rank, -1)) for rank in cycle.get("stages") or []]
        if len(steps) < 2 or any(step is None or step <= 0 for step in steps) or (totals and len(totals) != len(steps)):
            continue
        totals = totals or [0.0] * len(steps)
        slowest = max(steps)
        totals = [total + (slowest - step) / slowest for total, step in zip(totals, steps)]
        cycles += 1
    return [total / cycles for total in totals]


def rank_stages(series: Series) -> list[list[float]]:
    """Returns the mean seconds over cycles of each rank (rows) in each stage, step last; nothing where there are no
    times by rank."""
    sums: list[list[float]] = []
    cycles = 0
    for cycle in objects(series.data.get("cycles")):
        ranks = cycle.get("stages")
        if not isinstance(ranks, list) or not all(isinstance(rank, list) and len(rank) == len(STAGES) + 1 for rank in ranks):
            continue
        values = [[number(value) or 0.0 for value in rank] for rank in ranks]
        if sums and len(sums) != len(values):
            continue
        sums = [[a + b for a, b in zip(old, new)] for old, new in zip(sums, values)] if sums else values
        cycles += 1
    return [[value / cycles for value in rank] for rank in sums]
