"""Charts of exchanges on process graphs: topo bench, replay, advise, tail, table2, and of the traffic of programs."""
from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import altair as alt

from .draw import PALETTE, Axis, Chart, Rows, bars, data_of, heat, intervals, limited, lines, text_of, time_unit
from .packed import unpack_flows
from .records import Record, dig, number, objects

SECTION = "Exchanges on process graphs"
MOST_GROUPS = 6
"""Pairs of a graph and a completion class that are drawn at most."""
ENOUGH = 30
"""Iterations from which the interval of a median is taken seriously."""


def cells(records: list[Record]) -> list[dict[str, Any]]:
    """Lists the measured cells of topo bench and topo replay as rows: record, graph, kernel, class, bytes, times in ns."""
    out = []
    for record in records:
        for cell in objects(record.get("topology", "cells")):
            times = cell.get("exchange") or {}
            size, median = number(cell.get("bytes")), number(times.get("p50_ns"))
            if median is None or size is None or size <= 0 or median <= 0:
                continue
            low, high = number(times.get("p50_low_ns")), number(times.get("p50_high_ns"))
            out.append({"record": record.label, "graph": str(cell.get("graph")), "kernel": str(cell.get("kernel")),
                        "completion": str(cell.get("completion")), "bytes": size, "p50": median,
                        "low": median if low is None else low, "high": median if high is None else high,
                        "p90": number(times.get("p90_ns")), "p99": number(times.get("p99_ns")),
                        "iterations": number(cell.get("iterations")) or 0, "bytes_total": number(cell.get("bytes_total")) or 0,
                        "slowest_share": cell.get("slowest_share") or [], "rank_p50": cell.get("rank_p50_ns") or []})
    return out


def _sizes(found: list[dict[str, Any]]) -> list[Chart]:
    """Returns time and bandwidth over size, for each graph and completion class."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for cell in found:
        groups[cell["graph"], cell["completion"]].append(cell)
    several = len({cell["record"] for cell in found}) > 1
    out = []
    for (graph, completion), members in list(groups.items())[:MOST_GROUPS]:
        scale, unit = time_unit([cell["p50"] * 1e-9 for cell in members])
        factor = scale * 1e-9
        rows = [{"series": f"{cell['record']}: {cell['kernel']}" if several else cell["kernel"], "bytes": cell["bytes"],
                 "time": cell["p50"] * factor, "low": cell["low"] * factor, "high": cell["high"] * factor,
                 "tail": (cell["p99"] or cell["p90"] or cell["high"]) * factor, "iterations": cell["iterations"],
                 "rate": cell["bytes_total"] / cell["p50"] * 1e3} for cell in members]
        rows.sort(key=lambda row: (row["series"], row["bytes"]))
        notes: list[str] = []
        if len(groups) > MOST_GROUPS:
            notes.append(f"The first {MOST_GROUPS} of {len(groups)} pairs of a graph and a completion class are drawn.")
        rows = limited(rows, notes)
        columns = {"series": "kernel", "bytes": "bytes along an arc", "time": f"median [{unit}]", "low": f"lower end [{unit}]",
                   "high": f"upper end [{unit}]", "tail": f"99th percentile [{unit}]", "iterations": "iterations"}
        x = Axis("bytes", columns["bytes"], True, "~s")
        out.append(Chart(f"Time of an exchange over size: {graph}, {completion}", "Median with its interval; dotted, with the "
                                                                                  "shaded "
                         "band below it: the 99th percentile, of few iterations the 90th, or none, in place of which the upper end "
                         "of "
                         f"the interval stands. Only kernels with {completion} completion, which may be compared with each other.",
                         rows, columns, lines(rows, columns, x, Axis("time", columns["time"], True), "series", ("low", "high"),
                                              tail="tail"), SECTION, notes))
        columns = {"series": "kernel", "bytes": "bytes along an arc", "rate": "MB/s"}
        out.append(Chart(f"Bandwidth over size: {graph}, {completion}", "Bytes of all arcs divided by the median time of an "
                                                                        "exchange "
                         "(MB: 10^6 bytes).", rows, columns, lines(rows, columns, x, Axis("rate", "MB/s, all arcs", True),
                                                                   "series"),
                         SECTION))
    return out


def _ranks(found: list[dict[str, Any]]) -> list[Chart]:
    """Returns heat maps of the medians on each rank and of who ends last, for the cells with most iterations."""
    used = sorted((cell for cell in found if len(cell["rank_p50"]) > 1), key=lambda cell: -cell["iterations"])[:16]
    if not used:
        return []
    scale, unit = time_unit([value * 1e-9 for cell in used for value in cell["rank_p50"] if number(value)])
    times: Rows = []
    last: Rows = []
    for cell in used:
        name = f"{cell['graph']}, {cell['kernel']}, {int(cell['bytes']):,} bytes"
        times += [{"cell": name, "rank": rank, "time": value * scale * 1e-9} for rank, value in enumerate(cell["rank_p50"])
                  if number(value) is not None]
        last += [{"cell": name, "rank": rank, "share": value * 100} for rank, value in enumerate(cell["slowest_share"])
                 if number(value) is not None]
    columns = {"cell": "what was exchanged", "rank": "rank", "time": f"median [{unit}]"}
    caption = "The 16 measurements with most iterations."
    out = [Chart("Rank by rank", f"Median time of an exchange on each rank. {caption}", times[:1500], columns,
                 heat(times[:1500], columns, "rank", "cell", Axis("time", columns["time"], all(row["time"] > 0 for row in times))),
                 SECTION)] if times else []
    if last:
        columns = {"cell": "what was exchanged", "rank": "rank", "share": "ended last [%]"}
        out.append(Chart("Who waits for whom", "Share of the exchanges in which a rank was the last one to end: the others waited "
                                               "for "
                         f"it. {caption}", last[:1500], columns, heat(last[:1500], columns, "rank", "cell",
                                                                      Axis("share", columns["share"])), SECTION))
    return out


def _advice(records: list[Record]) -> list[Chart]:
    rows: Rows = []
    for record in records:
        for advice in objects(record.get("result", "advice")):
            for group in objects(advice.get("classes")):
                for kernel in objects(group.get("kernels")):
                    low, time, high = (number(kernel.get(key)) for key in ("low_ns", "time_ns", "high_ns"))
                    if None in (low, time, high) or min(low, time, high) <= 0:
                        continue
                    rows.append({"what": f"{text_of(advice.get('size'))} bytes, {group.get('completion')}: {kernel.get('kernel')}",
                                 "model": str(kernel.get("model")), "time": time * 1e-9, "low": low * 1e-9, "high": high * 1e-9,
                                 "probability": number(kernel.get("probability")), "record": record.label})
    if not rows:
        return []
    scale, unit = time_unit([row["time"] for row in rows])
    rows = [{**row, **{key: row[key] * scale for key in ("time", "low", "high")}} for row in rows][:200]
    columns = {"what": "kernel", "model": "model", "time": f"time [{unit}]", "low": f"lower end [{unit}]", "high": "upper end "
                                                                                                                   f"[{unit}]",
               "probability": "probability to be the fastest", "record": "record"}
    return [Chart("Advice: time of an exchange by kernel", "Measured or predicted time with its interval, in each completion "
                                                           "class.",
                  rows, columns, intervals(rows, columns, "what", Axis("time", columns["time"], True), "low", "high", "model"),
                  SECTION)]


def _interference(records: list[Record]) -> list[Chart]:
    rows: Rows = []
    for record in records:
        for cell in objects(record.get("tail", "cells")):
            for percentile in ("p50", "p99"):
                values = [number(dig(cell, percentile, key)) for key in ("ratio_low", "ratio", "ratio_high")]
                if None not in values and min(values) > 0:
                    rows.append({"what": f"{cell.get('graph')}, {cell.get('kernel')}, {text_of(cell.get('size'))} bytes", "of": percentile,
                                 "low": values[0], "ratio": values[1], "high": values[2], "record": record.label})
    columns = {"what": "victims", "of": "percentile", "ratio": "loaded / idle", "low": "lower end", "high": "upper end", "record": "record"}
    return [Chart("Slowdown by the traffic of other ranks", "Time of an exchange while other ranks exchange without pause, "
                                                             "divided by "
                  "that while they sleep, with a bootstrap interval over rounds.", rows, columns,
                  intervals(rows, columns, "what", Axis("ratio", "loaded / idle", True), "low", "high", "of", 1.0),
                  SECTION)] if rows else []


def _published(records: list[Record]) -> list[Chart]:
    rows: Rows = []
    for record in records:
        if record.kind != "topo table2":
            continue
        for row in objects(record.get("result", "rows")):
            for entry in objects(row.get("entries")):
                if number(entry.get("published")) and number(entry.get("ours")) and number(row.get("ranks")):
                    rows.append({"series": f"{entry.get('cross_percent')} % cross edges", "ranks": row["ranks"],
                                 "arcs": entry["ours"],
                                 "published": entry["published"]})
    columns = {"series": "series", "ranks": "ranks", "arcs": "arcs", "published": "published"}
    return [Chart("Arcs of the published process graphs", "Arcs of the graphs made again; dashed: published numbers.", rows,
                  columns,
                  lines(rows, columns, Axis("ranks", "ranks", True, ",d"), Axis("arcs", "arcs", True, "~s"), "series",
                        ideal="published"), SECTION)] if rows else []


def _graphs(records: list[Record]) -> list[Chart]:
    rows: Rows = []
    for record in records:
        graphs = list(objects(record.get("topology", "graphs")))
        if record.kind in ("topo gen", "topo convert"):
            graphs = [{**record.get("result", "graph", default={}), "name": record.get("result", "kind")}]
        for graph in graphs:
            for key, what in (("mean_degree", "mean degree"), ("max_degree", "greatest degree")):
                if number(graph.get(key)) is not None:
                    named = ", ".join(str(part) for part in (graph.get("name"), f"{graph.get('ranks')} ranks") if part)
                    rows.append({"graph": f"{record.label}: {named}", "what": what, "degree": graph[key]})
    columns = {"graph": "graph", "what": "what", "degree": "arcs that leave a rank"}
    return [Chart("Process graphs", "How many ranks a rank sends to.", rows, columns,
                  bars(rows, columns, "graph", Axis("degree", columns["degree"]), "what"), SECTION)] if rows else []


def _flows(found: Any) -> list[tuple[int, int, float, float]]:
    """Lists the flows of a traffic matrix, in rows or packed: sender, receiver, operations, bytes. Raises ValueError for packed ones
    that cannot be read."""
    if isinstance(dig(found, "packed"), str):
        return list(unpack_flows(found["packed"]))
    columns = dig(found, "columns")
    if not isinstance(columns, list) or not {"from", "to", "operations", "bytes"} <= set(map(str, columns)):
        return []
    places = [columns.index(name) for name in ("from", "to", "operations", "bytes")]
    rows = ([number(dig(row, at)) for at in places] for row in dig(found, "rows", default=[]))
    return [(int(row[0]), int(row[1]), row[2], row[3]) for row in rows if None not in row]


def traffic(record: Record) -> tuple[int, dict[tuple[int, int], dict[str, float]]] | None:
    """Returns the number of ranks, and bytes and operations of each arc, of a record with traffic; None if it has none."""
    found = record.data if record.kind == "topo extract" else record.get("traffic", default={})
    ranks = number(dig(found, "ranks"))
    arcs: dict[tuple[int, int], dict[str, float]] = defaultdict(lambda: {"bytes": 0, "operations": 0})
    for sender, receiver, operations, size in _flows(found) if ranks else []:
        arcs[sender, receiver]["bytes"] += size
        arcs[sender, receiver]["operations"] += operations
    return (int(ranks), dict(arcs)) if arcs else None


def _traffic(record: Record) -> list[Chart]:
    found = traffic(record)
    if not found:
        return []
    ranks, arcs = found
    notes: list[str] = []
    rows = limited([{"sender": a, "receiver": b, **values} for (a, b),
                    values in sorted(arcs.items(), key=lambda at: -at[1]["bytes"])],
                   notes)
    columns = {"sender": "from rank", "receiver": "to rank", "bytes": "bytes", "operations": "operations"}
    ordered = sorted(rows, key=lambda row: (row["sender"], row["receiver"]))
    matrix = heat(ordered, columns, "receiver", "sender", Axis("bytes", "bytes", False, "~s"))
    return [Chart(f"Traffic matrix: {record.label}", f"Bytes from each rank to each other, {ranks} ranks.", rows, columns, matrix,
                  SECTION, notes),
            Chart(f"Process graph: {record.label}", "Ranks on a circle, arcs as wide as their bytes, ranks as large as the bytes "
                                                    "that "
                  "they send and receive: hubs are large.", rows, columns, _circle(ranks, rows), SECTION, notes)]


def _circle(ranks: int, rows: Rows) -> Any:
    """Returns a picture of a process graph with its ranks on a circle."""
    place = [(math.sin(2 * math.pi * rank / ranks), math.cos(2 * math.pi * rank / ranks)) for rank in range(ranks)]
    sums: dict[int, float] = defaultdict(float)
    for row in rows:
        sums[row["sender"]] += row["bytes"]
        sums[row["receiver"]] += row["bytes"]
    inside = [row for row in rows if row["sender"] < ranks and row["receiver"] < ranks]
    ends = [{"x": place[row["sender"]][0], "y": place[row["sender"]][1], "x2": place[row["receiver"]][0],
             "y2": place[row["receiver"]][1], "bytes": row["bytes"], "arc": f"{row['sender']} to {row['receiver']}"}
            for row in inside]
    dots = [{"x": x, "y": y, "bytes": sums[rank], "rank": rank} for rank, (x, y) in enumerate(place)]
    span = alt.Scale(domain=[-1.25, 1.25])
    x = alt.X("x", type="quantitative", axis=None, scale=span)
    y = alt.Y("y", type="quantitative", axis=None, scale=span)
    lines_ = alt.Chart(data_of(ends)).mark_rule(opacity=0.5, color="#808080").encode(
        x=x, y=y, x2=alt.X2("x2"), y2=alt.Y2("y2"), strokeWidth=alt.StrokeWidth("bytes", type="quantitative", legend=None,
                                                                               scale=alt.Scale(range=[0.5, 5])),
        tooltip=[alt.Tooltip("arc", type="nominal"), alt.Tooltip("bytes", type="quantitative", format=",")])
    points = alt.Chart(data_of(dots))
    circles = points.mark_circle(color=PALETTE[0], opacity=1).encode(
        x=x, y=y, size=alt.Size("bytes", type="quantitative", legend=None, scale=alt.Scale(range=[150, 900])),
        tooltip=[alt.Tooltip("rank", type="quantitative"), alt.Tooltip("bytes", type="quantitative", format=",")])
    names = points.mark_text(color="#ffffff", fontSize=11).encode(x=x, y=y, text=alt.Text("rank", type="quantitative"))
    return alt.layer(lines_, circles, *([names] if ranks <= 64 else [])).properties(height=360)


def charts(records: list[Record]) -> list[Chart]:
    """Returns the charts of all records with exchanges on process graphs or traffic in them."""
    found = cells(records)
    made = _advice(records) + _sizes(found) + _ranks(found) + _interference(records)
    with_traffic = [chart for record in records for chart in _traffic(record)]
    return made + with_traffic[:8] + _graphs(records) + _published(records)
