"""Charts of forests and linkage: phases, rates, methods over sizes and ranks, the published study, sizes of clusters."""
from __future__ import annotations

from collections import defaultdict
from typing import Any

from .draw import Axis, Chart, Rows, bars, intervals, limited, lines, stacks, time_unit
from .records import Record, dig, number, objects

SECTION = "Forests and clusters"


def _source(record: Record) -> str:
    ranks = number(record.provenance.get("ranks")) or 1
    source = record.get("input", "source") or record.get("graph", "source")
    return f"{record.label}: {f'{source}, ' if source else ''}{int(ranks)} rank{'s' if ranks != 1 else ''}"


def _phases(records: list[Record]) -> Chart | None:
    rows: Rows = []
    for record in records:
        if record.kind not in ("msf", "linkage", "graph convert"):
            continue
        timings = record.get("timings", default={})
        for phase, value in timings.items() if isinstance(timings, dict) else ():
            if number(value) is not None:
                rows.append({"run": _source(record), "phase": phase.removesuffix("_seconds"), "time": value})
    if not rows:
        return None
    scale, unit = time_unit([row["time"] for row in rows])
    rows = [{**row, "time": row["time"] * scale} for row in rows]
    columns = {"run": "run", "phase": "phase", "time": f"time [{unit}]"}
    return Chart("Where the time goes: load, forest, clusters", "Times of the slowest rank, taken once.", rows, columns,
                 stacks(rows, columns, "run", Axis("time", columns["time"]), "phase"), SECTION)


def _inside(records: list[Record]) -> Chart | None:
    rows: Rows = []
    for record in records:
        phases = record.get("phases", default={})
        for phase, found in phases.items() if isinstance(phases, dict) else ():
            median = number(dig(found, "seconds", "median"))
            if median is not None:
                rows.append({"run": _source(record), "phase": phase, "time": median, "calls": dig(found, "calls"),
                             "messages": dig(found, "counters", "messages"), "bytes": dig(found, "counters", "bytes")})
    if not rows:
        return None
    scale, unit = time_unit([row["time"] for row in rows])
    rows = [{**row, "time": row["time"] * scale} for row in rows]
    columns = {"run": "run", "phase": "phase", "time": f"time [{unit}]", "calls": "calls", "messages": "messages", "bytes": "bytes"}
    return Chart("Phases of the forest", "Median over ranks of the time in each phase.", rows, columns,
                 stacks(rows, columns, "run", Axis("time", columns["time"]), "phase"), SECTION)


def _clusters(records: list[Record]) -> Chart | None:
    rows: Rows = []
    for record in records:
        sizes = record.get("result", "clusters", "largest")
        if isinstance(sizes, list):
            rows += [{"run": record.label, "place": at + 1, "size": size} for at, size in enumerate(sizes) if number(size)]
    columns = {"place": "cluster, by size", "run": "record", "size": "points"}
    return Chart("Largest clusters", "Number of points of the clusters that the record lists.", rows, columns,
                 bars(rows, columns, "place", Axis("size", "points", False, ",~s"), "run"), SECTION) if rows else None


def methods(records: list[Record]) -> list[dict[str, Any]]:
    """Lists the forests of bench msf as rows: record, graph, edges, way (model, style, post), ranks, seconds, interval, digest."""
    out = []
    for record in records:
        edges = {graph.get("graph"): number(graph.get("edges")) for graph in objects(record.get("msf_bench", "graphs"))}
        for found in objects(record.get("msf_bench", "forests")):
            graph, spread = dig(found, "graph", "name"), found.get("spread")
            median = number(dig(spread, "median"))
            if median is None or not number(found.get("ranks")) or found.get("failure"):
                continue
            out.append({"record": record.label, "graph": str(graph), "edges": edges.get(graph),
                        "way": f"{found.get('model')}, {found.get('style')}, {found.get('post')}", "ranks": found["ranks"],
                        "time": median, "low": number(dig(spread, "low")) or median, "high": number(dig(spread, "high")) or median,
                        "digest": found.get("digest")})
    return out


def _methods(records: list[Record]) -> list[Chart]:
    found = methods(records)
    if not found:
        return []
    scale, unit = time_unit([row["time"] for row in found])
    found = [{**row, **{key: row[key] * scale for key in ("time", "low", "high")}} for row in found]
    columns = {"way": "model, style, post-processing", "graph": "graph", "ranks": "ranks", "time": f"time [{unit}]",
               "low": f"lower end [{unit}]", "high": f"upper end [{unit}]", "edges": "edges"}
    out = []
    most = max(row["ranks"] for row in found)
    notes: list[str] = []
    rows = limited([{**row, "what": f"{row['way']}: {row['graph']}"} for row in found if row["ranks"] == most][:60], notes)
    shown = {"what": "way", **columns}
    out.append(Chart(f"Ways to find a forest, {most} ranks", "Median time with its interval.", rows, shown,
                     intervals(rows, shown, "what", Axis("time", columns["time"], True), "low", "high", "graph"), SECTION, notes))
    sizes: dict[str, Rows] = defaultdict(list)
    for row in found:
        if row["edges"] and row["ranks"] == most:
            kind = row["graph"].split(":")[0]
            sizes[f"{kind}: {row['way']}"].append({**row, "series": f"{kind}: {row['way']}"})
    rows = [row for members in sizes.values() if len({row["edges"] for row in members}) > 1
            for row in sorted(members, key=lambda row: row["edges"])]
    if rows:
        columns = {"series": "graph and way", **columns}
        out.append(Chart(f"Ways to find a forest over sizes, {most} ranks", "Median time over the number of edges, by kind of "
                                                                            "graph.",
                         rows, columns, lines(rows, columns, Axis("edges", "edges", True, "~s"),
                                              Axis("time", columns["time"], True),
                                              "series", ("low", "high")), SECTION))
    return out


def _study(records: list[Record]) -> Chart | None:
    rows: Rows = []
    for record in records:
        if record.get("study") != "forests":
            continue
        for case in objects(record.get("cases")):
            ranks, time = number(dig(case, "result", "ranks")), number(dig(case, "result", "forest_s"))
            if ranks and time:
                rows.append({"series": f"{record.label}: {dig(case, 'key', 'series')}", "ranks": ranks, "time": time * 1e3,
                             "messages": dig(case, "result", "messages"), "bytes": dig(case, "result", "bytes")})
    columns = {"series": "method", "ranks": "ranks", "time": "time [ms]", "messages": "messages", "bytes": "bytes"}
    return Chart("Forests on simulated machines", "Simulated time of one forest over ranks.", rows, columns,
                 lines(rows, columns, Axis("ranks", "ranks", True, ",d"), Axis("time", "time [ms]", True), "series"),
                 SECTION) if rows else None


def _savings(records: list[Record]) -> Chart | None:
    rows: Rows = []
    for record in records:
        for pair in objects(record.get("msf_bench", "derived", "measured")):
            rows += [{"pair": f"{pair.get('after')} over {pair.get('before')}", "graph": graph.get("graph"),
                      "percent": graph.get("percent")} for graph in objects(pair.get("graphs"))
                     if number(graph.get("percent")) is not None]
    columns = {"graph": "graph", "pair": "what is compared", "percent": "time saved [%]"}
    return Chart("Time saved by models and styles", "Mean over numbers of ranks above one, as in the published study; negative: "
                                                    "slower.",
                 rows, columns, bars(rows, columns, "graph", Axis("percent", columns["percent"], False), "pair"),
                 SECTION) if rows else None


def charts(records: list[Record]) -> list[Chart]:
    """Returns the charts of all records of forests and linkage."""
    made = [_phases(records), _inside(records), *_methods(records), _savings(records), _clusters(records), _study(records)]
    return [chart for chart in made if chart]
