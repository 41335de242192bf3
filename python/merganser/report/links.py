"""Charts of the directed graph of a merge step, before and after its pruning, from records of cluster."""
from __future__ import annotations

from typing import Any

import altair as alt

from .draw import PALETTE, Chart, Rows, _tips, data_of
from .records import Record, dig, number

SECTION = "Merge steps"
SIZES = ["small", "not small"]
HEAD = 0.28
"""Length of the head of an arrow, as a part of the link, but at most MOST_HEAD of the window."""
MOST_HEAD = 0.018


def _columns(links: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Returns the parcels and the links of a record as objects. Raises ValueError where columns do not fit."""
    names = ("u", "v", "id", "small")
    parcels = [dict(zip(names, values)) for values in zip(*(dig(links, name, default=[]) for name in names), strict=True)]
    arcs = [dict(zip(("from", "to", "kept"), values))
            for values in zip(*(dig(links, name, default=[]) for name in ("from", "to", "kept")), strict=True)]
    for arc in arcs:
        if not all(isinstance(arc[end], int) and 0 <= arc[end] < len(parcels) for end in ("from", "to")):
            raise ValueError("a link ends at no parcel of the record")
    return parcels, arcs


def _arrows(parcels: list[dict[str, Any]], arcs: list[dict[str, Any]], extent: list[float], closed: list[bool]) -> Rows:
    """Returns the lines of links: each from its parcel to the nearest one, with two short ones as its head. A link over the end of a
    closed axis is drawn at both ends, each of which the picture cuts off.

    closed: whether the ends of each axis are the same place"""
    rows: Rows = []
    for arc in arcs:
        a, b = parcels[arc["from"]], parcels[arc["to"]]
        du, dv = (d - length * round(d / length) if ends_meet else d
                  for d, length, ends_meet in zip((b["u"] - a["u"], b["v"] - a["v"]), extent, closed))
        length = (du**2 + dv**2) ** 0.5
        head = min(HEAD, MOST_HEAD * max(extent) / length) if length else 0.0
        # From a to the image of b beside it; if that is another place, also to b from the image of a beside it.
        ends = [(b["u"], b["v"])]
        if abs(a["u"] + du - b["u"]) + abs(a["v"] + dv - b["v"]) > 1e-9 * max(extent):
            ends.append((a["u"] + du, a["v"] + dv))
        for u, v in ends:
            rows.append({"u": u - du, "v": v - dv, "u2": u, "v2": v})
            rows += [{"u": u, "v": v, "u2": u - head * (du - side * dv), "v2": v - head * (dv + side * du)}
                     for side in (0.5, -0.5) if length]
    return rows


def _picture(parcels: list[dict[str, Any]], arcs: list[dict[str, Any]], axes: list[str], extent: list[float],
             closed: list[bool]) -> Any:
    """Returns the drawing of parcels as points and links as arrows."""
    def place(name: str, title: str, length: float) -> dict[str, Any]:
        return {"shorthand": name, "type": "quantitative", "axis": alt.Axis(title=title, tickCount=4, grid=False),
                "scale": alt.Scale(domain=[-0.05 * length, 1.05 * length], nice=False)}

    x, y = alt.X(**place("u", axes[0], extent[0])), alt.Y(**place("v", axes[1], extent[1]))
    points = [{"u": p["u"], "v": p["v"], "id": p["id"], "size": SIZES[0] if p["small"] else SIZES[1], "area": 22 if p["small"] else 90}
              for p in parcels]
    lines = alt.Chart(data_of(_arrows(parcels, arcs, extent, closed))).mark_rule(
        color=PALETTE[1], strokeWidth=1.3, clip=True).encode(x=x, y=y, x2=alt.X2("u2"), y2=alt.Y2("v2"))
    dots = alt.Chart(data_of(points)).mark_point(filled=True, opacity=1, clip=True).encode(
        x=x, y=y, size=alt.Size("area", type="quantitative", scale=None, legend=None),
        color=alt.Color("size", type="nominal", scale=alt.Scale(domain=SIZES, range=[PALETTE[0], "#9a9a9a"]),
                        sort=None, legend=alt.Legend(title="parcels", orient="bottom")),
        tooltip=_tips({"id": "parcel", "size": "size"}, points))
    return alt.layer(lines, dots).properties(height=380)


def _graphs(record: Record) -> list[Chart]:
    links = record.get("links")
    if not dig(links, "from"):
        return []
    parcels, arcs = _columns(links)
    extent = [number(x) or 1.0 for x in dig(links, "extent", default=[1.0, 1.0])]
    closed = [value is True for value in dig(links, "closed", default=[False, False])]
    axes = [str(name) for name in dig(links, "axes", default=["u", "v"])]
    columns = {"from": "small parcel", "to": "its nearest", "kept": "kept by the pruning"}
    left_out = int(number(dig(links, "left_out")) or 0)
    notes = [f"{left_out:,} small parcels whose nearest may lie outside the window have no arrow."] if left_out else []
    made = []
    for state, shown, caption in (
        ("before pruning", arcs, "An arrow goes from each small parcel to its nearest, in a window of one layer of cells where most "
                                 "was merged."),
        ("after pruning", [arc for arc in arcs if arc["kept"]], "The arrows that are left: each goes into a parcel that stays, so "
                                                                "that the graph consists of stars."),
    ):
        rows = [{"from": parcels[arc["from"]]["id"], "to": parcels[arc["to"]]["id"], "kept": bool(arc["kept"])} for arc in shown]
        made.append(Chart(f"Links {state}: {len(shown):,} of {record.label}", caption, rows, columns,
                          _picture(parcels, shown, axes, extent, closed), SECTION, notes))
    return made


def charts(records: list[Record]) -> list[Chart]:
    """Returns the charts of the links of all records of cluster that have them."""
    return [chart for record in records if record.kind == "cluster" for chart in _graphs(record)]
