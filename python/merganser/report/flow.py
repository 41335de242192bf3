"""Charts of flow and of files of parcels: stages of a run, parcels over time, n-way mergers, numbers of parcels."""
from __future__ import annotations

from .draw import Axis, Chart, Rows, bars, curves, time_unit
from .records import Record, dig, number

SECTION = "Flow and parcels"
OUTER = ("steps", "step", "correction", "advance")
"""Timings of flow that contain others."""


def _stages(records: list[Record]) -> Chart | None:
    rows: Rows = []
    for record in records:
        timings = record.get("timings", default={}) if record.kind == "flow" else {}
        for stage, times in timings.items():
            median = number(dig(times, "median"))
            if median is not None and stage not in OUTER:
                rows.append({"run": record.label, "stage": stage, "time": median})
    if not rows:
        return None
    scale, unit = time_unit([row["time"] for row in rows])
    rows = [{**row, "time": row["time"] * scale} for row in rows]
    columns = {"run": "record", "stage": "stage", "time": f"time of the run [{unit}]"}
    return Chart("Where the time of a flow goes", "Median over ranks of the time in each stage, over the whole run.", rows, columns,
                 bars(rows, columns, "stage", Axis("time", columns["time"], False), "run"), SECTION)


def _numbers(records: list[Record]) -> list[Chart]:
    counts: Rows = []
    mergers: Rows = []
    for record in records:
        if record.kind not in ("flow", "gen random"):
            continue
        for what in ("parcels", "small", "splits", "merges", "merged_into_big", "steps_made"):
            value = number(record.get("result", what))
            if value:
                counts.append({"what": what.replace("_", " "), "run": record.label, "count": value})
        clusters = record.get("result", "clusters", default={})
        mergers += [{"size": size, "run": record.label, "count": count} for size, count in clusters.items() if number(count)]
    out = []
    if counts:
        columns = {"what": "what is counted", "run": "record", "count": "count"}
        out.append(Chart("Parcels, splits and mergers", "Numbers at the end of the run and over all steps; counts of zero are left "
                                                        "out.",
                         counts, columns, bars(counts, columns, "what", Axis("count", "count", True, ",~s"), "run"), SECTION))
    if mergers:
        columns = {"size": "parcels that became one", "run": "record", "count": "mergers"}
        out.append(Chart("n-way mergers of a flow", "How many mergers joined how many parcels.", mergers, columns,
                         bars(mergers, columns, "size", Axis("count", "mergers", True, ",~s"), "run"), SECTION))
    return out


def _series(records: list[Record]) -> list[Chart]:
    """Returns the charts over simulated time: the share of small parcels, and the number of parcels."""
    rows: Rows = []
    for record in records:
        series = record.get("series") if record.kind == "flow" else None
        columns = [dig(series, name, default=[]) for name in ("time", "parcels", "small")]
        for time, parcels, small in zip(*columns, strict=True):
            if number(time) is not None and number(parcels):
                rows.append({"run": record.label, "time": time, "parcels": parcels, "small": small, "share": 100 * small / parcels})
    if len(rows) < 2:
        return []
    columns = {"run": "record", "time": "simulated time [s]", "parcels": "parcels", "small": "small parcels",
               "share": "small parcels [%]"}
    return [Chart(title, caption, rows, columns, curves(rows, columns, Axis("time", columns["time"]), axis, "run"), SECTION)
            for title, caption, axis in (
                ("Share of small parcels over time", "Parcels that look for a partner in the next step, of all; as in Fig. 14 of the "
                 "paper of the clustering.", Axis("share", columns["share"], zero=True)),
                ("Parcels over time", "Number of parcels at the start of each step.", Axis("parcels", "parcels", False, ",~s")))]


def charts(records: list[Record]) -> list[Chart]:
    """Returns the charts of all records of flow and gen random."""
    stages = _stages(records)
    return ([stages] if stages else []) + _series(records) + _numbers(records)
