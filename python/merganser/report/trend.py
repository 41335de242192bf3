"""Trends: one timing of each record over commits or times (--by)."""
from __future__ import annotations

from collections import defaultdict

from .draw import Axis, Chart, Rows, lines, time_unit
from .forests import methods
from .growth import subjects
from .records import Record, number, objects
from .step_series import step_series
from .topo import cells

SECTION = "Trend"
MOST_SERIES = 10


def _timings(record: Record) -> list[tuple[str, float, float, float]]:
    """Lists the timings of a record: name, seconds, lower and upper end."""
    out = []
    for entry in step_series([record]):
        if entry.step:
            name = f"{record.kind}: {entry.variant}, {entry.ranks} ranks, {entry.model}"
            out.append((name, entry.step["median"], entry.step["min"], entry.step["max"]))
    for cell in cells([record]):
        name = f"{cell['graph']}, {cell['kernel']}, {int(cell['bytes']):,} bytes"
        out.append((name, cell["p50"] * 1e-9, cell["low"] * 1e-9, cell["high"] * 1e-9))
    for row in methods([record]):
        out.append((f"{row['graph']}, {row['way']}, {row['ranks']} ranks", row["time"], row["low"], row["high"]))
    for _, entry in subjects([record]):
        for point in list(objects(entry.get("points")))[-1:]:
            seconds = [value for value in point.get("seconds") or [] if number(value)]
            if seconds:
                out.append((f"{entry.get('subject')}, {point.get('size')} units", sorted(seconds)[len(seconds) // 2], min(seconds),
                            max(seconds)))
    forest = number(record.get("timings", "forest"))
    if forest:
        out.append((f"{record.kind}: {record.get('input', 'source')}", forest, forest, forest))
    steps = number(record.get("timings", "steps", "median"))
    if record.kind == "flow" and steps:
        out.append((f"flow: {record.get('options', 'CASE')}", steps, steps, steps))
    return out


def charts(records: list[Record], by: str) -> list[Chart]:
    """Returns the trend of timings that at least two records have, over commits (in the order of their times) or over times.

    Raises ValueError for another `by` than commit or time."""
    if by not in ("commit", "time"):
        raise ValueError(f'--by: "{by}"; allowed: commit, time')
    dated = sorted((record for record in records if record.provenance.get("time")),
                   key=lambda record: str(record.provenance["time"]))
    found: dict[str, Rows] = defaultdict(list)
    for record in dated:
        place = str(record.provenance.get("git") or "unknown") if by == "commit" else str(record.provenance["time"])
        for name, middle, low, high in _timings(record):
            found[name].append({"series": name, "at": place, "time": middle, "low": low, "high": high, "record": record.label})
    found = {name: rows for name, rows in found.items() if len({row["at"] for row in rows}) > 1}
    if not found:
        return []
    notes = [f"The first {MOST_SERIES} of {len(found)} timings are drawn."] if len(found) > MOST_SERIES else []
    rows = [row for name in list(found)[:MOST_SERIES] for row in found[name]]
    scale, unit = time_unit([row["time"] for row in rows])
    ranked = [str(record.provenance.get("git") or "unknown") if by == "commit" else str(record.provenance["time"])
              for record in dated]
    order = list(dict.fromkeys(ranked))
    rows = [{**row, **{key: row[key] * scale for key in ("time", "low", "high")}} for row in rows]
    rows.sort(key=lambda row: order.index(row["at"]))
    columns = {"series": "timing", "at": by, "time": f"time [{unit}]", "low": f"least [{unit}]",
               "high": f"greatest [{unit}]", "record": "record"}
    return [Chart(f"Trend by {by}", "In the order of the records' times. Bars: from the least to the greatest, or the interval of "
                                    "the median.", rows, columns,
                  lines(rows, columns, Axis("at", by, names=True), Axis("time", columns["time"], True), "series", ("low", "high")),
                  SECTION, notes)]
