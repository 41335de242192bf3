"""Charts of bench growth: time and memory per unit over sizes, with the fitted exponents."""
from __future__ import annotations

from .draw import Axis, Chart, Rows, intervals, lines
from .records import Record, dig, number, objects

SECTION = "Growth with size"


def subjects(records: list[Record]) -> list[tuple[Record, dict]]:
    """Lists what was measured over sizes, with its record."""
    return [(record, entry) for record in records for entry in objects(record.get("result", "growth"))]


def _over_size(records: list[Record]) -> list[Chart]:
    several = len({record.label for record, _ in subjects(records)}) > 1
    rows: Rows = []
    for record, entry in subjects(records):
        name = f"{record.label}: {entry.get('subject')}" if several else str(entry.get("subject"))
        for point in objects(entry.get("points")):
            seconds = [value for value in point.get("processor_seconds") or point.get("seconds") or [] if number(value)]
            size, ns = number(point.get("size")), number(point.get("ns_per_unit"))
            if size and ns and size > 0 and ns > 0:
                rows.append({"series": name, "size": size, "time": ns, "unit": entry.get("unit"),
                             "low": min(seconds) / size * 1e9 if seconds else ns, "high": max(seconds) / size * 1e9 if seconds
                             else ns,
                             "bytes": number(point.get("bytes_per_unit")), "limit": number(point.get("times_limit"))})
    if not rows:
        return []
    columns = {"series": "algorithm", "size": "size", "unit": "unit", "time": "time per unit [ns]", "low": "least [ns]",
               "high": "greatest [ns]", "limit": "times the limit"}
    x = Axis("size", "size [units]", True, "~s")
    out = [Chart("Time per unit over size", "Nanoseconds per parcel, point or edge; bars from the least to the greatest. A "
                                            "horizontal line "
                 "is growth in proportion to the size.", rows, columns,
                 lines(rows, columns, x, Axis("time", columns["time"], True), "series", ("low", "high")), SECTION)]
    rows = [row for row in rows if row["bytes"] and row["bytes"] > 0]
    columns = {"series": "algorithm", "size": "size", "unit": "unit", "bytes": "bytes per unit"}
    if rows:
        out.append(Chart("Memory per unit over size", "Bytes per parcel, point or edge at the peak.", rows, columns,
                         lines(rows, columns, x, Axis("bytes", columns["bytes"], True), "series"), SECTION))
    return out


def _exponents(records: list[Record]) -> Chart | None:
    rows: Rows = []
    for record, entry in subjects(records):
        for what in ("time", "memory"):
            exponent, error = number(dig(entry, what, "exponent")), number(dig(entry, what, "standard_error"))
            if exponent is not None:
                rows.append({"what": f"{record.label}: {entry.get('subject')}, {what}", "of": what, "exponent": exponent,
                             "low": exponent - 2 * (error or 0), "high": exponent + 2 * (error or 0)})
    columns = {"what": "algorithm", "of": "of", "exponent": "exponent", "low": "lower end", "high": "upper end"}
    return Chart("Fitted exponents", "Exponent of the growth of time and memory with the size, plus and minus two standard errors "
                                     "of the "
                 "fit. 1: in proportion.", rows, columns, intervals(rows, columns, "what", Axis("exponent", "exponent"), "low",
                                                                    "high",
                                                                    "of", 1.0), SECTION) if rows else None


def charts(records: list[Record]) -> list[Chart]:
    """Returns the charts of all records of bench growth."""
    exponents = _exponents(records)
    return _over_size(records) + ([exponents] if exponents else [])
