"""Charts of compare: changes with their intervals, and what could not have been seen."""
from __future__ import annotations

from .draw import Axis, Chart, Rows, bars, intervals
from .records import Record, number, objects

SECTION = "Comparisons"


def changes(record: Record) -> Rows:
    """Lists the changes that a comparison found, of everything, families and timings, as rows."""
    rows: Rows = []
    entries = [("everything", record.get("result", "suite"))]
    entries += [("together", entry) for entry in objects(record.get("result", "families"))]
    entries += [("each", entry) for entry in objects(record.get("result", "timings"))]
    for level, entry in entries:
        if not isinstance(entry, dict):
            continue
        ratio, low, high = (number(entry.get(key)) for key in ("ratio", "low", "high"))
        if None in (ratio, low, high) or min(ratio, low, high) <= 0:
            continue
        detectable = number(entry.get("detectable"))
        rows.append({"what": "everything" if level == "everything" else str(entry.get("name")), "level": level, "ratio": ratio,
                     "low": low, "high": high, "p": number(entry.get("p")),
                     "detectable": 1 + detectable if detectable is not None else None,
                     "verdict": str(entry.get("verdict")) + ("" if entry.get("decides", True) else " (not counted)")})
    return rows


def charts(records: list[Record]) -> list[Chart]:
    """Returns the charts of all records of compare."""
    out = []
    for record in [record for record in records if record.kind == "compare"][:6]:
        rows = changes(record)[:60]
        if not rows:
            continue
        columns = {"what": "timing", "verdict": "verdict", "ratio": "after / before", "low": "lower end", "high": "upper end",
                   "p": "p",
                   "detectable": "smallest detectable ratio", "level": "level"}
        out.append(Chart(f"Changes: {record.label}", "Time after divided by time before, with 95 % intervals; right of 1: slower.",
                         rows,
                         columns, intervals(rows, columns, "what", Axis("ratio", "after / before", True), "low", "high", "verdict",
                                            1.0),
                         SECTION))
        seen = [row for row in rows if row["detectable"] is not None and row["level"] != "each"]
        if seen:
            out.append(Chart(f"What could not have been seen: {record.label}", "The smallest slowdown that would have been found "
                                                                               "in 19 of "
                             "20 cases, given the scatter of these records: a smaller one may be there all the same.", seen,
                             columns,
                             bars(seen, columns, "what", Axis("detectable", "smallest detectable after / before", True)), SECTION))
    return out
