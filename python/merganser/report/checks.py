"""Charts of what was checked: verify, conservation, digests, calibration of simulations, doctor."""
from __future__ import annotations

from .draw import Axis, Chart, Rows, bars, heat, lines
from .records import Record, dig, number, objects

SECTION = "Checks and machines"


def _verify(records: list[Record]) -> Chart | None:
    rows: Rows = []
    for record in records:
        if record.kind == "verify":
            rows += [{"what": f"{line.get('ranks')} rank{'s' if line.get('ranks') != 1 else ''}", "model": str(line.get("model")),
                      "runs": line["runs"], "failures": line.get("failures"), "broken": line.get("broken"), "record": record.label}
                     for line in objects(record.get("result", "lines")) if number(line.get("runs"))]
    columns = {"what": "ranks", "model": "model", "runs": "runs", "failures": "failures", "broken": "broken", "record": "record"}
    return Chart("Runs that were verified", "Merge steps compared bit for bit with the slow serial reference.", rows, columns,
                 bars(rows, columns, "what", Axis("runs", "runs", False), "model"), SECTION) if rows else None


def _conservation(records: list[Record]) -> Chart | None:
    rows: Rows = []
    for record in records:
        for entry in objects(record.get("conservation")):
            difference = number(entry.get("relative_difference"))
            if difference is not None:
                rows.append({"quantity": str(entry.get("quantity")), "record": record.label, "before": entry.get("before"),
                             "after": entry.get("after"), "difference": abs(difference) * 1e16})
    columns = {"quantity": "quantity", "record": "record", "before": "before", "after": "after",
               "difference": "relative difference [1e-16]"}
    return Chart("Conservation", "Sums before and after the merge step. One unit in the last place of a number near 1 is 2.2e-16.",
                 rows,
                 columns, bars(rows, columns, "quantity", Axis("difference", columns["difference"], False), "record"),
                 SECTION) if rows else None


def digests(records: list[Record]) -> Rows:
    """Lists the digests of results with what they should depend on: the input; equal inputs must have equal digests."""
    rows: Rows = []
    for record in records:
        for path in (("result", "digest"), ("result", "forest", "digest"), ("result", "linkage_digest"),
                     ("result", "clusters", "labels_digest")):
            digest = record.get(*path)
            if isinstance(digest, str) and digest:
                source = record.get("input", "source", default="")
                rows.append({"record": record.label, "command": record.kind, "input": source, "of": path[-1].replace("_", " "),
                             "digest": digest, "ranks": number(record.provenance.get("ranks")) or 1,
                             "model": record.provenance.get("model", "")})
    return rows


def _digests(records: list[Record]) -> Chart | None:
    rows = digests(records)
    for row in rows:
        row["result"] = f"{row['record']}: {row['of']}"
        row["short"] = row["digest"][:8]
    columns = {"result": "result", "command": "command", "input": "input", "digest": "digest", "short": "first digits",
               "ranks": "ranks",
               "model": "model"}
    return Chart("Digests of results", "Results with equal bits have equal digests, whatever the ranks and the model: they stand "
                                       "in one "
                 "column.", rows, columns, heat(rows, columns, "short", "result", Axis("ranks", "ranks")),
                 SECTION) if rows else None


def _calibration(records: list[Record]) -> Chart | None:
    rows: Rows = []
    for record in records:
        if record.kind == "calibration":
            rows += [{"series": f"{entry.get('machine')}, {entry.get('place')}", "what": entry.get("what"),
                      "unit": entry.get("unit"),
                      "published": entry["published"], "simulated": entry["simulated"]} for entry in objects(record.get("figures"))
                     if number(entry.get("published")) and number(entry.get("simulated"))]
    columns = {"series": "machine", "what": "what", "unit": "unit", "published": "published", "simulated": "simulated"}
    rows.sort(key=lambda row: (row["series"], row["published"]))
    for row in rows:
        row["ideal"] = row["published"]
    return Chart("Simulated beside published figures", "Latency and bandwidth, each in its own unit; dashed: equal.", rows, columns,
                 lines(rows, columns, Axis("published", "published", True), Axis("simulated", "simulated", True), "series",
                       ideal="ideal"), SECTION) if rows else None


def machines(records: list[Record]) -> Rows:
    """Lists for each record the load of its machine and what ran there, where the record tells."""
    rows: Rows = []
    for record in records:
        found = record.provenance
        load, cores = number(dig(found, "load_average", 0)), number(found.get("cores"))
        if load is not None and cores:
            rows.append({"record": record.label, "load": load / cores, "cores": cores, "cpu": found.get("cpu"),
                         "ranks": found.get("ranks"), "model": found.get("model"), "git": found.get("git"),
                         "time": found.get("time")})
    return rows


def _machines(records: list[Record]) -> Chart | None:
    rows = machines(records)
    columns = {"record": "record", "load": "load per core", "cores": "cores", "cpu": "processor", "ranks": "ranks",
               "model": "model",
               "git": "commit", "time": "time (UTC)"}
    return Chart("Load of the machine", "Load average of the minute before, divided by the number of cores. Above 1 times are "
                                        "longer than "
                 "on a quiet machine.", rows, columns, bars(rows, columns, "record", Axis("load", columns["load"], False)),
                 SECTION) if rows else None


def charts(records: list[Record]) -> list[Chart]:
    """Returns the charts of checks, and of the machine of every record."""
    made = [_verify(records), _conservation(records), _digests(records), _calibration(records), _machines(records)]
    return [chart for chart in made if chart]
