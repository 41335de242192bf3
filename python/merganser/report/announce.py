"""Charts of announcements: efficiency of steps, counts beside formulas, demonstrations, published diameters."""
from __future__ import annotations

from .draw import Axis, Chart, Rows, bars, heat, lines
from .records import Record, dig, number, objects

SECTION = "Announcements"


def _efficiency(records: list[Record]) -> Chart | None:
    rows: Rows = []
    for record in records:
        for variant in objects(record.get("announce_bench", "variants")):
            for entry in objects(dig(variant, "slowest_rank", "quantiles")):
                if number(entry.get("q")) is not None and number(entry.get("efficiency")) is not None:
                    rows.append({"series": f"{record.label}: {variant.get('exchange')}", "share": entry["q"] * 100,
                                 "efficiency": entry["efficiency"] * 100, "time": number(entry.get("seconds"))})
    rows = [{**row, "time": row["time"] * 1e3 if row["time"] is not None else None} for row in rows]
    columns = {"series": "exchange beside the halo", "share": "share of steps [%]", "efficiency": "efficiency at least [%]",
               "time": "time of the step [ms]"}
    return Chart("Efficiency of steps", "Work divided by the time of a step on its slowest rank: that share of the steps had at "
                                        "least the "
                 "efficiency shown.", rows, columns, lines(rows, columns, Axis("share", columns["share"]),
                                                           Axis("efficiency", columns["efficiency"]), "series"),
                 SECTION) if rows else None


def _rank_medians(records: list[Record]) -> Chart | None:
    rows: Rows = []
    for record in records:
        for variant in objects(record.get("announce_bench", "variants")):
            for rank, seconds in enumerate(variant.get("rank_medians") or []):
                if number(seconds) is not None and rank < 200:
                    rows.append({"series": f"{record.label}: {variant.get('exchange')}", "rank": rank, "time": seconds * 1e3})
    columns = {"series": "exchange", "rank": "rank", "time": "median of a step [ms]"}
    return Chart("Median of a step on each rank", "Steps with artificial work, a halo exchange and the exchange named.", rows,
                 columns,
                 heat(rows, columns, "rank", "series", Axis("time", columns["time"])), SECTION) if rows else None


def _counts(records: list[Record]) -> Chart | None:
    rows: Rows = []
    for record in records:
        for source in ("counted", "expected"):
            counts = record.get("announce_bench", "counts", source, default={})
            rows += [{"what": f"{record.label}: {name.replace('_', ' ')}", "source": source, "count": value}
                     for name, value in counts.items() if number(value) and value > 0]
    columns = {"what": "what is counted", "source": "source", "count": "count"}
    return Chart("Counts beside the formulas", "What the ranks counted, and what the formulas of the network say; counts of zero "
                                               "are left "
                 "out.", rows, columns, bars(rows, columns, "what", Axis("count", "count", True, ",~s"), "source"),
                 SECTION) if rows else None


def _demos(records: list[Record]) -> Chart | None:
    rows: Rows = []
    for record in records:
        if record.kind != "announce demo":
            continue
        name = f"{record.label}: {record.get('arguments', 0, default='')}"
        found = {**record.get("counters", default={}), **record.get("result", default={})}
        rows += [{"run": name, "what": what.replace("_", " "), "count": value} for what, value in found.items()
                 if number(value) and value > 0]
    columns = {"what": "what is counted", "run": "run", "count": "count"}
    return Chart("Demonstrations without a collective in the loop", "Counts of the whole run; counts of zero, the collectives "
                                                                    "among them, "
                 "are left out.", rows, columns, bars(rows, columns, "what", Axis("count", "count", True, ",~s"), "run"),
                 SECTION) if rows else None


def _diameters(records: list[Record]) -> list[Chart]:
    rows: Rows = []
    for record in records:
        if record.kind == "announce table3":
            for cell in objects(record.get("result", "cells")):
                if all(number(cell.get(key)) for key in ("published", "diameter", "processes", "degree")):
                    rows.append({"series": f"{cell['processes']:,} processes", "degree": cell["degree"],
                                 "diameter": cell["diameter"],
                                 "published": cell["published"], "network": cell.get("network")})
    columns = {"series": "series", "degree": "degree", "diameter": "exact diameter", "published": "published", "network": "network"}
    out = [Chart("Diameters of announcement networks", "Exact diameter of Manhattan networks over their degree; dashed: published.",
                 rows,
                 columns, lines(rows, columns, Axis("degree", "degree", False, ",d"), Axis("diameter", "diameter", True), "series",
                                ideal="published"), SECTION)] if rows else []
    rows = []
    for record in records:
        for machine in objects(record.get("result", "table2")) if record.kind == "announce table2" else ():
            rows += [{"machine": machine.get("machine"), "network": str(network.get("network", "")).split(" ")[0],
                      "degree": network.get("degree"), "diameter": network.get("diameter")}
                     for network in objects(machine.get("networks")) if number(network.get("diameter"))]
    columns = {"machine": "machine", "network": "network", "degree": "degree", "diameter": "diameter"}
    if rows:
        out.append(Chart("Diameter of networks by machine", "Steps after which every process of a machine has heard of an "
                                                            "announcement.",
                         rows, columns, bars(rows, columns, "machine", Axis("diameter", "diameter", False), "network"), SECTION))
    return out


def _study(records: list[Record]) -> Chart | None:
    rows: Rows = []
    for record in records:
        if record.get("study") != "announce":
            continue
        for case in objects(record.get("cases")):
            ranks, time = number(dig(case, "result", "ranks")), number(dig(case, "result", "step_s"))
            if ranks and time:
                rows.append({"series": f"{record.label}: {dig(case, 'key', 'series')}", "ranks": ranks, "time": time * 1e3})
    columns = {"series": "exchange beside the halo", "ranks": "ranks", "time": "time of a step [ms]"}
    return Chart("Announcements on simulated machines", "Simulated time of a step over ranks (weak scaling).", rows, columns,
                 lines(rows, columns, Axis("ranks", "ranks", True, ",d"), Axis("time", columns["time"]), "series"),
                 SECTION) if rows else None


def charts(records: list[Record]) -> list[Chart]:
    """Returns the charts of all records of announcements."""
    made = [_efficiency(records), _rank_medians(records), _counts(records), _study(records), _demos(records), *_diameters(records)]
    return [chart for chart in made if chart]
