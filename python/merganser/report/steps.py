"""Charts of merge steps: scaling, stages, counts of the pruning, ranks, n-way mergers, comparisons of two ways in turns."""
from __future__ import annotations

from collections import defaultdict

from .draw import Axis, Chart, Rows, bars, heat, intervals, limited, lines, stacks, time_unit
from .records import Record, dig, number, objects
from .step_series import PRUNING, STAGES, Series, rank_stages, step_series, waiting_shares

SECTION = "Merge steps"
MOST_LINES = 10
"""Series that a chart of lines has at most: as many as there are colours."""
MOST_HEATS = 4
"""Heat maps of ranks that a report has at most."""


def _scaling(series: list[Series], weak: bool, simulated: bool) -> list[Chart]:
    """Returns the time of a step over ranks, for strong or weak scaling, with at most ten series a chart; nothing if no series has
    two numbers of ranks."""
    groups: dict[str, list[Series]] = defaultdict(list)
    for entry in series:
        if entry.step and entry.weak == weak and entry.simulated == simulated and entry.record.kind != "cluster":
            groups[entry.name if not entry.model or entry.simulated else f"{entry.name}, {entry.model}"].append(entry)
    names = [name for name, members in groups.items() if len({m.ranks for m in members}) > 1]
    parts = [names[at:at + MOST_LINES] for at in range(0, len(names), MOST_LINES)]
    of = [f" ({at} of {len(parts)})" if len(parts) > 1 else "" for at in range(1, len(parts) + 1)]
    return [_scaling_chart({name: groups[name] for name in part}, weak, simulated, place) for part, place in zip(parts, of)]


def _scaling_chart(groups: dict[str, list[Series]], weak: bool, simulated: bool, place: str) -> Chart:
    """Returns the chart of a few series over ranks, by their names. place: which of several such charts it is."""
    scale, unit = time_unit([m.step["median"] for members in groups.values() for m in members])
    rows: Rows = []
    for name, members in groups.items():
        members = sorted(members, key=lambda m: m.ranks)
        first = members[0]
        for m in members:
            ideal = first.step["median"] * (1 if weak else first.ranks / m.ranks)
            rows.append({"series": name, "ranks": m.ranks, "time": m.step["median"] * scale, "low": m.step["min"] * scale,
                         "high": m.step["max"] * scale, "ideal": ideal * scale, "efficiency": ideal / m.step["median"]})
    columns = {"series": "series", "ranks": "ranks", "time": f"time of a step [{unit}]", "low": f"least [{unit}]",
               "high": f"greatest [{unit}]", "ideal": f"ideal [{unit}]", "efficiency": "efficiency"}
    notes: list[str] = []
    rows = limited(rows, notes)
    picture = lines(rows, columns, Axis("ranks", "ranks", True, ",d"), Axis("time", columns["time"], True), "series",
                    ("low", "high"), "ideal")
    kind = "Weak" if weak else "Strong"
    work = "as much work for each rank" if weak else "the same work on all ranks together"
    where = ", simulated" if simulated else ""
    points = ("Points: mean over ranks. Bars: from the fastest to the slowest rank." if simulated else
              "Points: median. Bars: from the least to the greatest.")
    return Chart(f"{kind} scaling of a merge step{where}{place}", f"Time of a step over the number of ranks, {work}. {points} "
                                                                  "Dashed: "
                 "ideal, from the first point.", rows, columns, picture, SECTION, notes)


def _label(entry: Series) -> str:
    return f"{entry.name}, {entry.ranks} rank{'s' if entry.ranks != 1 else ''}"


def _stages(series: list[Series], simulated: bool) -> Chart | None:
    series = [entry for entry in series if entry.simulated == simulated and any(stage in entry.stages for stage in STAGES)]
    used = series[:40]
    if not used:
        return None
    scale, unit = time_unit([times["median"] for entry in used for times in [entry.step] if times])
    rows: Rows = []
    for entry in used:
        total = sum(entry.stages[stage]["median"] for stage in STAGES if stage in entry.stages)
        rows += [{"series": _label(entry), "stage": stage, "time": entry.stages[stage]["median"] * scale,
                  "share": entry.stages[stage]["median"] / total if total else 0.0} for stage in STAGES if stage in entry.stages]
    columns = {"series": "series", "stage": "stage", "time": f"time [{unit}]", "share": "share of all stages"}
    notes = [f"The first {len(used)} of {len(series)} series are shown."] if len(used) < len(series) else []
    of = "Mean time of each stage over ranks." if simulated else "Median time of each stage over ranks and steps."
    return Chart(f"Stages of a merge step{', simulated' if simulated else ''}", f"{of} Stages that communicate contain the time in "
                                                                                "which "
                 "a rank waits.", rows, columns, stacks(rows, columns, "series", Axis("time", columns["time"]), "stage"), SECTION,
                 notes)


def _pruning(series: list[Series]) -> Chart | None:
    rows: Rows = []
    for entry in series:
        counts: dict[str, float] = {}
        found = entry.data.get("pruning_all_cycles")
        if entry.simulated:
            found = {key.removeprefix("prune_"): value for key, value in (entry.data.get("counts") or {}).items()
                     if key.startswith("prune_")}
        for key, value in (found or {}).items():
            if key in PRUNING and number(value) is not None:
                counts[PRUNING[key]] = value
        messages = number(dig(entry.data, "counters_all_cycles", "messages", default=dig(entry.data, "counts", "messages")))
        if messages is not None:
            counts["messages of the step"] = messages
        rows += [{"series": _label(entry), "what": what, "count": value} for what, value in counts.items() if value > 0]
    names = list(dict.fromkeys(row["series"] for row in rows))
    if not rows:
        return None
    notes = [f"The first 20 of {len(names)} series are shown."] if len(names) > 20 else []
    rows = [row for row in rows if row["series"] in names[:20]]
    columns = {"series": "series", "what": "what is counted", "count": "count"}
    return Chart("Messages, puts and synchronisations of the pruning", "Counted over all steps and ranks; counts of zero are left "
                                                                       "out. "
                 "Logarithmic axis.", rows, columns, bars(rows, columns, "series", Axis("count", "count", True, ",~s"), "what"),
                 SECTION, notes)


def _mergers(series: list[Series]) -> Chart | None:
    seen: dict[str, Rows] = {}
    for entry in series:
        clusters = entry.data.get("clusters")
        if isinstance(clusters, dict):
            rows = [{"series": _label(entry), "size": size, "count": count} for size, count in clusters.items()
                    if number(count)]
            key = str([(row["size"], row["count"]) for row in rows])
            if rows and key not in seen and len(seen) < 8:
                seen[key] = rows
    rows = [row for group in seen.values() for row in group]
    if not rows:
        return None
    columns = {"size": "parcels that became one", "series": "series", "count": "mergers"}
    return Chart("n-way mergers", "How many mergers joined how many parcels, over all steps. Series with equal numbers are drawn "
                                  "once, at "
                 "most eight.", rows, columns, bars(rows, columns, "size", Axis("count", "mergers", True, ",~s"), "series"),
                 SECTION)


def _rank_charts(series: list[Series]) -> list[Chart]:
    """Returns heat maps of the stages on each rank, and who waits for the slowest one."""
    charts: list[Chart] = []
    waits: Rows = []
    for entry in series:
        shares = waiting_shares(entry)
        waits += [{"series": _label(entry), "rank": rank, "waiting": share * 100} for rank, share in enumerate(shares)]
        means = rank_stages(entry)
        if len(means) < 2 or len(charts) >= MOST_HEATS:
            continue
        scale, unit = time_unit([value for rank in means for value in rank[:-1] if value > 0])
        rows = [{"stage": stage, "rank": rank, "time": means[rank][at] * scale} for rank in range(len(means))
                for at, stage in enumerate((*STAGES, "step"))]
        columns = {"rank": "rank", "stage": "stage", "time": f"time [{unit}]"}
        charts.append(Chart(f"Rank by rank: {_label(entry)}", "Mean time of each stage on each rank over all steps.", rows, columns,
                            heat(rows, columns, "rank", "stage", Axis("time", columns["time"])), SECTION))
    if waits:
        columns = {"series": "series", "rank": "rank", "waiting": "share of the step [%]"}
        charts.append(Chart("Which ranks end before the slowest", "Share of a step between the end of a rank and that of the "
                                                                  "slowest one "
                            "in the same step, mean over steps. The rank with the least is the one that the others wait for.",
                            waits[:600], columns, heat(waits[:600], columns, "rank", "series", Axis("waiting", columns["waiting"])),
                            SECTION))
    return charts


def _in_turns(records: list[Record]) -> Chart | None:
    rows: Rows = []
    for record in records:
        for entry in objects(record.get("result", "compare")):
            ratio = [number(dig(entry, "ratio", key)) for key in ("low", "median", "high")]
            if None not in ratio:
                name = f"{record.label}, {entry.get('ranks')} ranks: {entry.get('a')} / {entry.get('b')}"
                rows.append({"pair": name, "low": ratio[0], "ratio": ratio[1], "high": ratio[2]})
    columns = {"pair": "pair", "ratio": "ratio of times", "low": "lower end", "high": "upper end"}
    return Chart("Two ways to make a step, in turns", "Time of the first divided by that of the second, with the interval of the "
                                                      "median; "
                 "below 1 the first is faster.", rows, columns,
                 intervals(rows, columns, "pair", Axis("ratio", "ratio of times", True),
                 "low", "high", line_at=1.0), SECTION) if rows else None


def charts(records: list[Record]) -> list[Chart]:
    """Returns the charts of all records that have merge steps in them."""
    series = step_series(records)
    made = [chart for simulated in (False, True) for weak in (False, True) for chart in _scaling(series, weak, simulated)]
    made += [_in_turns(records), _stages(series, False), _stages(series, True), _pruning(series), _mergers(series)]
    return [chart for chart in made if chart] + _rank_charts(series)
