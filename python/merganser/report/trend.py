"""Trends: the timings of a series of records over commits or times (--by)."""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

from .draw import Axis, Chart, Rows, lines, time_text
from .forests import methods
from .growth import subjects
from .records import Record, number, objects
from .step_series import step_series
from .topo import cells

SECTION = "Trend"
MOST_SERIES = 8
"""Timings that a chart has at most: those that changed most."""
OUTPUTS = ("json", "output", "OUT", "labels", "probabilities", "condensed", "picture", "pictures", "csv", "log", "log-ranks", "progress",
           "quiet", "verbose")
"""Options that do not change what is timed: files that are written, and what is told of a run."""


@dataclass(frozen=True)
class Point:
    """A timing at one place of a trend: seconds, the ends of its interval, and how many records it is the middle of."""
    at: str
    time: float
    low: float
    high: float
    records: int


@dataclass(frozen=True)
class Timing:
    """A timing over the places of a trend, in their order, at least two."""
    kind: str
    name: str
    points: list[Point]

    @property
    def change(self) -> float:
        """The ratio of the greatest time to the least one."""
        times = [point.time for point in self.points]
        return max(times) / min(times)


def _ranks(count: int) -> str:
    return f"{count} rank{'s' if count != 1 else ''}"


def _timings(record: Record) -> list[tuple[str, float, float, float]]:
    """Lists the timings of a record: name, seconds, lower and upper end."""
    out = []
    for entry in step_series([record]):
        if entry.step:
            name = ", ".join(part for part in (entry.variant, _ranks(entry.ranks), entry.model) if part)
            out.append((name, entry.step["median"], entry.step["min"], entry.step["max"]))
    for cell in cells([record]):
        name = f"{cell['graph']}, {cell['kernel']}, {int(cell['bytes']):,} bytes"
        out.append((name, cell["p50"] * 1e-9, cell["low"] * 1e-9, cell["high"] * 1e-9))
    for row in methods([record]):
        out.append((f"{row['graph']}, {row['way']}, {_ranks(row['ranks'])}", row["time"], row["low"], row["high"]))
    for _, entry in subjects([record]):
        for point in list(objects(entry.get("points")))[-1:]:
            seconds = [value for value in point.get("seconds") or [] if number(value)]
            if seconds:
                out.append((f"{entry.get('subject')}, {point.get('size')} units", median(seconds), min(seconds), max(seconds)))
    forest = number(record.get("timings", "forest"))
    if forest:
        out.append((str(record.get("input", "source", default=record.label)), forest, forest, forest))
    steps = number(record.get("timings", "steps", "median"))
    if record.kind == "flow" and steps:
        out.append((str(record.get("options", "CASE", default="")), steps, steps, steps))
    return [timing for timing in out if min(timing[1:]) > 0]


def _place(record: Record, by: str) -> str:
    """Returns where a record stands in a trend: its commit, or its time."""
    return str(record.provenance.get("git") or "unknown") if by == "commit" else str(record.provenance["time"])


def _dated(records: list[Record]) -> list[Record]:
    """Returns the records that tell their time, in the order of it."""
    return sorted((record for record in records if record.provenance.get("time")),
                  key=lambda record: str(record.provenance["time"]))


def _options(record: Record) -> dict[str, Any]:
    """Returns the options of a record; none where it has something else in their place."""
    options = record.get("options")
    return options if isinstance(options, dict) else {}


def _machine(record: Record) -> dict[str, str]:
    """Returns the ranks, the processor and the number of cores of a record, as text."""
    return {name: str(record.provenance.get(name, "unknown")) for name in ("ranks", "cpu", "cores")}


def series_key(record: Record) -> tuple[Any, ...]:
    """Returns what records of one series have in common: verb, ranks, machine, and the options that change what is run. A file that is
    no run record is of no series but its own."""
    if not isinstance(record.get("options"), dict):
        return (record.kind, record.label)
    return (record.kind, *_machine(record).values(),
            tuple(sorted((name, str(value)) for name, value in _options(record).items() if name not in OUTPUTS)))


def newest(records: list[Record]) -> list[Record]:
    """Returns of every series of records the newest, and every record without a time, in the order given."""
    last = {series_key(record): record for record in _dated(records)}
    return [record for record in records if not record.provenance.get("time") or last[series_key(record)] is record]


def _told_apart(record: Record, others: list[Record]) -> str:
    """Returns the options, ranks and machine by which a record differs from others whose timings have the same name, as ", method
    hdbscan"."""
    known = [{**_options(other), **_machine(other)} for other in others]
    return "".join(f", {name} {value}" for name, value in {**_options(record), **_machine(record)}.items()
                   if name not in OUTPUTS and any(other.get(name) != value for other in known))


def check_by(by: str) -> None:
    """Checks what trends are over. Raises ValueError for another `by` than commit or time."""
    if by not in ("commit", "time"):
        raise ValueError(f'--by: "{by}"; allowed: commit, time')


def trends(records: list[Record], by: str) -> list[Timing]:
    """Returns the timings that records of at least two commits (or times) have. Records of one commit become one point: the median of
    theirs, and the least and the greatest end of their intervals.

    Raises ValueError for another `by` than commit or time."""
    check_by(by)
    found: dict[tuple[str, Any], dict[str, list[tuple[float, float, float]]]] = defaultdict(lambda: defaultdict(list))
    series: dict[Any, Record] = {}
    for record in _dated(records):
        key = series_key(record)
        series.setdefault(key, record)
        for name, *times in _timings(record):
            found[name, key][_place(record, by)].append((times[0], times[1], times[2]))
    made = []
    for (name, key), places in found.items():
        points = [Point(at, median(one[0] for one in times), min(one[1] for one in times), max(one[2] for one in times), len(times))
                  for at, times in places.items()]
        if len(points) > 1:
            others = [series[other] for known, other in found if known == name and other != key and other[0] == key[0]]
            made.append(Timing(key[0], name + _told_apart(series[key], others), points))
    return made


def _chart(kind: str, timings: list[Timing], order: list[str], by: str) -> Chart:
    """Returns the trend of the timings of one verb."""
    shown = sorted(timings, key=lambda timing: -timing.change)[:MOST_SERIES]
    rows: Rows = []
    for timing in shown:
        first = timing.points[0].time
        rows += [{"series": timing.name, "at": point.at, "ratio": point.time / first, "low": point.low / first,
                  "high": point.high / first, "time": time_text(point.time), "records": point.records} for point in timing.points]
    rows.sort(key=lambda row: order.index(row["at"]))
    columns = {"series": "timing", "at": by, "ratio": "time over the first one", "low": "lower end", "high": "upper end",
               "time": "time", "records": "records"}
    notes = [f"Of {len(timings)} timings the {MOST_SERIES} that changed most are drawn."] if len(timings) > MOST_SERIES else []
    return Chart(f"Trend of {kind} by {by}",
                 f"Times over that of the first {by}, in the order of the records: below 1 is faster. Bars: from the least to the "
                 "greatest, or the interval of the median.", rows, columns,
                 lines(rows, columns, Axis("at", by, names=True), Axis("ratio", columns["ratio"], True, ",.2~f"), "series",
                       ("low", "high")), SECTION, notes)


def charts(records: list[Record], by: str) -> list[Chart]:
    """Returns for every verb the trend of its timings over commits (in the order of their times) or over times.

    Raises ValueError for another `by` than commit or time."""
    found = trends(records, by)
    order = list(dict.fromkeys(_place(record, by) for record in _dated(records)))
    return [_chart(kind, [timing for timing in found if timing.kind == kind], order, by)
            for kind in dict.fromkeys(timing.kind for timing in found)]


def findings(records: list[Record], by: str, most: int = 5) -> Iterator[str]:
    """Says which timings changed at the newest commit, or by time each at its own newest time: those whose interval does not overlap
    that of the one before, the greatest changes first. Nothing is said of single times, which have no interval, and of timings that
    have none at the newest commit."""
    changed = []
    commits = [commit for record in _dated(records) if (commit := _place(record, "commit")) != "unknown"]
    for timing in trends(records, by):
        before, last = timing.points[-2:]
        if by == "commit" and last.at not in commits[-1:]:
            continue
        if min(before.high / before.low, last.high / last.low) > 1 and (last.low > before.high or last.high < before.low):
            changed.append((max(last.time / before.time, before.time / last.time), timing, before, last))
    for ratio, timing, before, last in sorted(changed, key=lambda entry: -entry[0])[:most]:
        yield (f"{timing.kind}, {timing.name}: {ratio:.2f} times {'slower' if last.time > before.time else 'faster'} at {last.at} than at "
               f"{before.at} ({time_text(last.time)} after {time_text(before.time)}; the intervals do not overlap).")
    if len(changed) > most:
        yield f"{len(changed) - most} more timings changed at {'the' if by == 'commit' else 'their'} newest {by} by more than their intervals."
