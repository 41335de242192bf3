"""What stands out: sentences written from the numbers of records, each with the interval that it rests on.

A difference is named only where intervals show it; where they do not, nothing is said, or that it was not shown.
"""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from .checks import digests, machines
from .compare import changes
from .draw import cores_text, text_of, time_text
from .growth import subjects
from .records import Record, dig, number, objects
from .step_series import STAGES, Series, step_series, waiting_shares
from .topo import ENOUGH, cells

MOST = 5
"""Sentences of one kind that a report has at most."""
BUSY = 1.2
"""Load per core above which times are said to be those of a busy machine."""


def _checks(records: list[Record]) -> Iterator[str]:
    """Yields sentences on what was verified, and on records of equal inputs whose digests differ."""
    for record in records:
        runs = number(record.get("result", "runs"))
        if record.kind == "verify" and runs:
            failures = number(record.get("result", "failures")) or 0
            broken = number(record.get("result", "broken")) or 0
            if failures or broken:
                yield (f"{record.label}: {text_of(failures)} of {text_of(runs)} verified runs differ from the reference, and "
                       f"{text_of(broken)} jobs broke off.")
            else:
                yield f"{record.label}: all {text_of(runs)} verified runs have the bits of the serial reference."
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    by_label = {record.label: record for record in records}
    for row in digests(records):
        given = by_label[row["record"]].get("input", default={})
        if row["input"] and given.get("generated"):
            groups[row["command"], row["of"], row["input"], given.get("weights"), given.get("seed")].append(row)
    for (command, of, source, *_), rows in groups.items():
        if len(rows) < 2:
            continue
        if len({row["digest"] for row in rows}) == 1:
            ranks = ", ".join(text_of(value) for value in sorted({row["ranks"] for row in rows}))
            yield (f"{command} of {source}: {len(rows)} records on {ranks} ranks have equal results (digest "
                   f"{rows[0]['digest'][:8]}...).")
        else:
            yield (f"{command} of {source}: the records have different {of}s. Different options, or an error: results depend on "
                   "the "
                   "input only.")
    for record in records:
        differences = [(abs(number(entry.get("relative_difference")) or 0), entry) for entry in objects(record.get("conservation"))]
        if differences:
            most, entry = max(differences, key=lambda pair: pair[0])
            yield (f"{record.label}: of {len(differences)} sums none changed in the merge step." if most == 0 else
                   f"{record.label}: of {len(differences)} sums, {entry.get('quantity')} changed most in the merge step, by "
                   f"{most:.1e} of it.")


def _comparisons(records: list[Record]) -> Iterator[str]:
    """Verdicts of compare, with what could not have been seen."""
    for record in records:
        if record.kind != "compare" or not isinstance(record.get("result", "suite"), dict):
            continue
        found = changes(record)
        if record.get("result", "regression") is True:
            slower = [row for row in found if row["verdict"].startswith("slower")]
            worst = max(slower, key=lambda row: row["ratio"]) if slower else None
            yield f"{record.label}: a regression was found" + (
                f"; most: {worst['what']}, {worst['ratio']:.2f} times ({worst['low']:.2f} to {worst['high']:.2f}) as long as "
                "before."
                if worst else ".")
        else:
            detectable = number(record.get("result", "detectable", "suite"))
            yield f"{record.label}: no regression was shown" + (
                f"; a slowdown of everything below {_percent(detectable)} could not have been seen." if detectable is not None
                else ".")


def _percent(value: float) -> str:
    return f"{value * 100:.0f} %" if value < 2 else f"{text_of(float(f'{1 + value:.3g}'))} times"


def _named(entry: Series) -> str:
    return f"{entry.name}, {entry.ranks} rank{'s' if entry.ranks != 1 else ''}"


def _steps(records: list[Record]) -> Iterator[str]:
    """Ways compared in turns, scaling, the greatest stage, the time between the ends of ranks."""
    for record in records:
        for entry in objects(record.get("result", "compare")):
            low, middle, high = (number(dig(entry, "ratio", key)) for key in ("low", "median", "high"))
            if None in (low, middle, high) or min(low, middle, high) <= 0:
                continue
            a, b, ranks = entry.get("a"), entry.get("b"), entry.get("ranks")
            if high < 1:
                yield (f"{record.label}: on {ranks} ranks {a} is {1 / middle:.2f} times faster than {b} ({1 / high:.2f} to "
                       f"{1 / low:.2f}).")
            elif low > 1:
                yield f"{record.label}: on {ranks} ranks {b} is {middle:.2f} times faster than {a} ({low:.2f} to {high:.2f})."
            else:
                yield (f"{record.label}: on {ranks} ranks no difference between {a} and {b} was shown (ratio {low:.2f} to "
                       f"{high:.2f}).")
    series = step_series(records)
    yield from list(_scaling(series))[:MOST]
    yield from list(_stage(series))[:MOST]
    waits = [(sum(shares) / len(shares), max(range(len(shares)), key=lambda rank: -shares[rank]), entry)
             for entry in series for shares in [waiting_shares(entry)] if shares]
    for mean, rank, entry in sorted(waits, key=lambda found: -found[0])[:2]:
        if mean >= 0.05:
            yield (f"{_named(entry)}: ranks end {mean * 100:.0f} % of a step before the slowest one on the mean; rank {rank} "
                   "leaves "
                   "the least.")


def _scaling(series: list[Series]) -> Iterator[str]:
    groups: dict[tuple[str, str, bool], list[Series]] = defaultdict(list)
    for entry in series:
        if entry.step and entry.record.kind != "cluster":
            groups[entry.name, entry.model, entry.weak].append(entry)
    for (name, _, weak), members in groups.items():
        first, last = min(members, key=lambda m: m.ranks), max(members, key=lambda m: m.ranks)
        if first.ranks == last.ranks or not last.step["median"] or not last.step["min"]:
            continue
        if len({m.ranks for m in members}) < len(members):
            continue  # different work under one name
        ideal = 1 if weak else last.ranks / first.ranks
        ratio = first.step["median"] / last.step["median"]
        low, high = first.step["min"] / last.step["max"], first.step["max"] / last.step["min"]
        if low <= 0 or high / low > 10:
            continue  # the times of single steps tell nothing
        cores = number(first.record.provenance.get("cores"))
        crowded = cores and last.ranks > cores and not last.simulated
        over = f" It had {cores_text(cores)} for {last.ranks} ranks." if crowded else ""
        kind = "weak" if weak else "strong"
        what = "simulated: from mean and slowest rank" if last.simulated else "from the least and greatest steps"
        yield (f"{name}: from {first.ranks:,} to {last.ranks:,} ranks ({kind} scaling) efficiency is {ratio / ideal * 100:.0f} % "
               f"({low / ideal * 100:.0f} to {high / ideal * 100:.0f} %, {what}).{over}")


def _stage(series: list[Series]) -> Iterator[str]:
    most: dict[str, Series] = {}
    for entry in series:
        if entry.step and (entry.record.label not in most or entry.ranks > most[entry.record.label].ranks):
            most[entry.record.label] = entry
    for entry in most.values():
        medians = {stage: entry.stages[stage]["median"] for stage in STAGES if stage in entry.stages}
        total = sum(medians.values())
        if total > 0:
            stage = max(medians, key=lambda name: medians[name])
            yield (f"{_named(entry)}: {stage} takes {medians[stage] / total * 100:.0f} % of the stages' time "
                   f"({time_text(medians[stage])}).")


def _exchanges(records: list[Record]) -> Iterator[str]:
    """The fastest kernel against two-sided messages, long tails, the rank that ends last."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    found = [cell for cell in cells(records) if cell["iterations"] >= ENOUGH and cell["low"] > 0]
    for cell in found:
        groups[cell["record"], cell["graph"], cell["completion"], cell["bytes"]].append(cell)
    shown = []
    for (_, graph, completion, size), members in groups.items():
        best = min(members, key=lambda cell: cell["p50"])
        others = [cell for cell in members if cell["kernel"].startswith("p2p.isend")] or [cell for cell in members
                                                                                          if cell is not best]
        other = min(others, key=lambda cell: cell["p50"]) if others else None
        if other is None or other is best or best["high"] >= other["low"]:
            continue
        ratio, least, most = other["p50"] / best["p50"], other["low"] / best["high"], other["high"] / best["low"]
        shown.append((least, f"{best['kernel']} is {text_of(ratio)} times faster than {other['kernel']} ({text_of(least)} to "
                      f"{text_of(most)}, from the intervals of both medians) at {int(size):,} bytes on {graph}, "
                      f"{completion} completion: {time_text(best['p50'] * 1e-9)} against {time_text(other['p50'] * 1e-9)}."))
    yield from [sentence for _, sentence in sorted(shown, reverse=True)[:3]]
    tails = [(cell["p99"] / cell["p50"], cell) for cell in found if cell["p99"]]
    if tails:
        ratio, cell = max(tails, key=lambda pair: pair[0])
        if ratio >= 2:
            yield (f"Longest tail: {cell['kernel']} at {int(cell['bytes']):,} bytes on {cell['graph']}: one exchange in 100 takes "
                   "at least "
                   f"{ratio:.1f} times the median.")
    last = [(max(shares) * len(shares), cell) for cell in found
            if len(shares := [number(s) or 0 for s in cell["slowest_share"]]) > 2]
    if last:
        times, cell = max(last, key=lambda pair: pair[0])
        share = max(cell["slowest_share"])
        if times >= 2:
            yield (f"Rank {cell['slowest_share'].index(share)} ends last in {share * 100:.0f} % of the "
                   f"{text_of(cell['iterations'])} exchanges "
                   f"of {cell['kernel']} at {int(cell['bytes']):,} bytes on {cell['graph']}.")


def _advice(records: list[Record]) -> Iterator[str]:
    """Advice of topo advise with its probability, and inflation by the traffic of other ranks."""
    for record in records:
        for advice in objects(record.get("result", "advice")):
            for group in objects(advice.get("classes")):
                probability = number(group.get("probability"))
                if group.get("advice") and probability is not None:
                    ties = group.get("near_ties") or []
                    rest = f"; near ties: {', '.join(map(str, ties))}" if ties else ""
                    yield (f"{record.label}: at {text_of(advice.get('size'))} bytes, {group.get('completion')} completion, "
                           f"{group['advice']} is "
                           f"advised, probability {probability:.2f} that it is the fastest{rest}.")
        shown = []
        for cell in objects(record.get("tail", "cells")):
            for what, name in (("p50", "median"), ("p99", "99th percentile")):
                low, ratio, high = (number(dig(cell, what, key)) for key in ("ratio_low", "ratio", "ratio_high"))
                if None not in (low, ratio, high) and low > 1:
                    shown.append((ratio, f"{record.label}: traffic of other ranks makes the {name} of {cell.get('kernel')} at "
                                  f"{text_of(cell.get('size'))} bytes {ratio:.1f} times as long ({low:.1f} to {high:.1f})."))
        yield from [sentence for _, sentence in sorted(shown, reverse=True)[:2]]


def _growth(records: list[Record]) -> Iterator[str]:
    """Exponents that two standard errors tell from 1."""
    for record, entry in subjects(records):
        exponent, error = number(dig(entry, "time", "exponent")), number(dig(entry, "time", "standard_error"))
        if exponent is None or not error or not abs(exponent - 1) > max(2 * error, 0.05):  # two points have no error
            continue
        how = "faster" if exponent > 1 else "slower"
        yield (f"{record.label}: the time of {entry.get('subject')} grows {how} than the size, with exponent {exponent:.2f} "
               f"({exponent - 2 * error:.2f} to {exponent + 2 * error:.2f}, two standard errors of the fit).")


def _announcements(records: list[Record]) -> Iterator[str]:
    """Efficiency of the variants, and counts that differ from formulas."""
    for record in records:
        parts = []
        for variant in objects(record.get("announce_bench", "variants")):
            found = {entry.get("q"): number(entry.get("efficiency"))
                     for entry in objects(dig(variant, "slowest_rank", "quantiles"))}
            if found.get(0.5) is not None and found.get(0.1) is not None and found.get(0.9) is not None:
                parts.append(f"{variant.get('exchange')} {found[0.5] * 100:.0f} % ({found[0.9] * 100:.0f} to "
                             f"{found[0.1] * 100:.0f} %)")
        if parts:
            yield f"{record.label}: median efficiency of steps, with the middle 80 % of them: {', '.join(parts)}."
        counted, expected = (record.get("announce_bench", "counts", key) for key in ("counted", "expected"))
        if counted and expected:
            yield (f"{record.label}: all counts are those of the formulas." if counted == expected else
                   f"{record.label}: counts differ from the formulas.")


def _busy(records: list[Record]) -> Iterator[str]:
    """Records made on busy machines, and warnings of doctor."""
    loads = [row for row in machines(records) if row["load"] > BUSY]
    if loads:
        worst = max(loads, key=lambda row: row["load"])
        yield (f"{len(loads)} of {len(records)} record{'s' if len(records) != 1 else ''} were made on a busy machine, the worst "
               "under a "
               f"load of {worst['load'] * worst['cores']:.1f} on {cores_text(worst['cores'])}: their times are longer than on a "
               "quiet "
               "one.")
    for record in records:
        if record.kind == "doctor":
            for word in ("warnings", "library_faults", "hints"):
                for text in record.get(word, default=[])[:MOST]:
                    said = text if isinstance(text, str) else dig(text, "text", default=dig(text, "what"))
                    if said:
                        yield f"{record.label}: {said}"


def findings(records: list[Record]) -> list[str]:
    """Returns the sentences of what stands out in records, the most serious first."""
    families = (_checks, _comparisons, _advice, _steps, _exchanges, _growth, _announcements, _busy)
    return [sentence for family in families for sentence in list(family(records))[:2 * MOST]]
