"""Charts of linkage: the condensed tree of HDBSCAN* and the upper part of the dendrogram."""
from __future__ import annotations

from typing import Any

import altair as alt

from .draw import PALETTE, Axis, Chart, Rows, _tips, data_of
from .records import Record, dig, number

SECTION = "Forests and clusters"
GREY = "#b8b8b8"


def _column(table: Any, name: str) -> list[Any]:
    """Returns a column of a table of the record. Raises ValueError where it is no list or as long as another one."""
    column = dig(table, name, default=[])
    if not isinstance(column, list) or len(column) != len(dig(table, "parent", default=[])):
        raise ValueError(f"the column {name} is missing or of another length")
    return column


def _parents(table: Any) -> list[int]:
    """Returns the parents of a tree's nodes. Raises ValueError where one does not come before its children."""
    parents = _column(table, "parent")
    if any(not isinstance(parent, int) or not -1 <= parent < at for at, parent in enumerate(parents)):
        raise ValueError("a parent does not come before its children")
    return parents


def _strips(parents: list[int], sizes: list[float], gap: float) -> list[float]:
    """Returns the centre of each node: below its parent, siblings side by side, each in a strip as wide as it and its children."""
    strip, inner = list(sizes), [0.0] * len(sizes)
    for at in range(len(sizes) - 1, -1, -1):  # children come after their parents
        strip[at] = max(strip[at], inner[at])
        if parents[at] >= 0:
            inner[parents[at]] += strip[at] + (gap if inner[parents[at]] > 0 else 0)
    centre, used, root = [0.0] * len(sizes), [0.0] * len(sizes), 0.0
    for at, parent in enumerate(parents):
        left = root if parent < 0 else centre[parent] - inner[parent] / 2 + used[parent]
        centre[at] = left + strip[at] / 2
        if parent < 0:
            root += strip[at] + gap
        else:
            used[parent] += strip[at] + gap
    return centre


def _condensed(record: Record) -> Chart | None:
    tree = record.get("condensed_tree")
    if not dig(tree, "parent"):
        return None
    parents, sizes = _parents(tree), [number(size) or 0.0 for size in _column(tree, "size")]
    ends = [value for value in map(number, _column(tree, "end") + _column(tree, "birth")) if value is not None]
    deepest = max(ends, default=1.0) or 1.0
    centres = _strips(parents, sizes, 0.01 * max(sizes))
    rows: Rows = []
    for at, label in enumerate(_column(tree, "label")):
        birth, end = number(tree["birth"][at]), number(tree["end"][at])
        rows.append({"cluster": at, "label": f"cluster {label}" if label >= 0 else "not selected", "points": int(sizes[at]),
                     "birth": deepest if birth is None else birth, "end": deepest if end is None else end,
                     "left": centres[at] - sizes[at] / 2, "right": centres[at] + sizes[at] / 2})
    columns = {"cluster": "cluster of the tree", "label": "selected as", "points": "points at birth", "birth": "lambda at birth",
               "end": "lambda at its end"}
    labels = sorted({row["label"] for row in rows} - {"not selected"}, key=lambda text: int(text.split()[1]))
    domain = labels[:len(PALETTE)] + ["not selected"]
    shown = [{**row, "colour": row["label"] if row["label"] in domain else "further clusters"} for row in rows]
    if len(labels) > len(PALETTE):
        domain.append("further clusters")
    scale = alt.Scale(domain=domain, range=PALETTE[:len(domain) - 1 - (len(labels) > len(PALETTE))] + [GREY, "#555555"])
    picture = alt.Chart(data_of(shown)).mark_rect(stroke="white", strokeWidth=0.5).encode(
        x=alt.X("left", type="quantitative", scale=alt.Scale(zero=False, nice=False),
                axis=alt.Axis(title="clusters, as wide as their number of points", labels=False, ticks=False, grid=False)),
        x2=alt.X2("right"),
        y=alt.Y("birth", type="quantitative", scale=alt.Scale(reverse=True, nice=False),
                axis=alt.Axis(title="lambda = 1 / distance", tickCount=6)),
        y2=alt.Y2("end"),
        color=alt.Color("colour", type="nominal", scale=scale, sort=None,
                        legend=alt.Legend(title="selected as", orient="bottom", columns=4)),
        tooltip=_tips(columns, rows)).properties(height=320)
    left_out = number(dig(tree, "clusters_left_out")) or 0
    notes = [f"{left_out:,} smaller clusters are left out."] if left_out else []
    caption = ("Each cluster is a bar from its birth to the end of its last point; children stand below their parent. Infinite "
               "lambdas, of points in one place, are drawn at the greatest finite one.")
    return Chart(f"Condensed tree of {record.label}", caption, rows, columns, picture, SECTION, notes)


def _dendrogram(record: Record) -> Chart | None:
    tree = record.get("dendrogram")
    if len(dig(tree, "parent", default=[])) < 2:
        return None
    parents, sizes = _parents(tree), [number(size) or 0.0 for size in _column(tree, "size")]
    known = [value for value in map(number, _column(tree, "height")) if value is not None]
    ceiling = 1.1 * (max(known, default=1.0) or 1.0)
    heights = [ceiling if number(value) is None else value for value in tree["height"]]
    place = _leaf_places(parents)
    children: dict[int, list[int]] = {}
    for at, parent in enumerate(parents):
        children.setdefault(parent, []).append(at)
    rows: Rows = [{"node": at, "points": int(size), "height": heights[at],
                   "kind": "merge" if at in children else "leaf"} for at, size in enumerate(sizes)]
    columns = {"node": "node", "points": "points", "height": "height of its highest merge", "kind": "drawn as"}
    segments: Rows = []
    for parent, below in children.items():
        if parent < 0:
            continue
        segments.append({"x": min(place[c] for c in below), "x2": max(place[c] for c in below), "y": heights[parent],
                         "y2": heights[parent], "points": int(sizes[parent]), "height": heights[parent]})
        segments += [{"x": place[c], "x2": place[c], "y": heights[c] if c in children else 0.0, "y2": heights[parent],
                      "points": int(sizes[c]), "height": heights[parent]} for c in below]
    base = alt.Chart(data_of(segments))
    picture = base.mark_rule(color=PALETTE[0], strokeWidth=1.6).encode(
        x=alt.X("x", type="quantitative", scale=alt.Scale(nice=False, padding=12),
                axis=alt.Axis(title="upper clusters", labels=False, ticks=False, grid=False)),
        x2=alt.X2("x2"), y=alt.Y("y", type="quantitative", axis=alt.Axis(title="height", tickCount=6)), y2=alt.Y2("y2"),
        tooltip=_tips({"points": "points below", "height": "height of the merge"}, segments)).properties(height=280)
    least = number(dig(tree, "min_size")) or 1
    caption = (f"The highest merges whose two sides have {int(least):,} points or more each; "
               f"{int(number(dig(tree, 'merges_left_out')) or 0):,} merges are left out. A line that ends at 0 is a cluster that is "
               "not drawn further.")
    return Chart(f"Dendrogram of {record.label}", caption, rows, columns, picture, SECTION)


def _leaf_places(parents: list[int]) -> list[float]:
    """Returns the horizontal place of each node of a dendrogram: leaves side by side, others in the middle of their parts."""
    children: list[list[int]] = [[] for _ in parents]
    roots = []
    for at, parent in enumerate(parents):
        (children[parent] if parent >= 0 else roots).append(at)
    place, order, open_ = [0.0] * len(parents), [], list(reversed(roots))
    leaves = 0
    while open_:
        at = open_.pop()
        order.append(at)
        open_.extend(reversed(children[at]))
        if not children[at]:
            place[at] = float(leaves)
            leaves += 1
    for at in reversed(order):
        if children[at]:
            place[at] = sum(place[c] for c in children[at]) / len(children[at])
    return place


def charts(records: list[Record]) -> list[Chart]:
    """Returns the charts of the trees in all records of linkage."""
    made = [make(record) for record in records if record.kind == "linkage" for make in (_condensed, _dendrogram)]
    return [chart for chart in made if chart]
