"""Charts: what one consists of, and the few forms that all families of charts draw with Altair."""
from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

import altair as alt

PALETTE = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d31", "#7f7f7f", "#b2abd2", "#a6761d"]
"""Colours that people of any colour vision tell apart, after Okabe and Ito; yellow and black gave way, which vanish on a light and
on a dark page."""
HEAT = "viridis"
MOST_ROWS = 1500
"""Rows of data that a chart has at most."""

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Axis:
    """A column of the data and how a chart shows it: title with its unit, logarithmic or not, format of its numbers (of d3)."""
    name: str
    title: str
    log: bool = False
    format: str = ",~g"
    zero: bool = False
    names: bool = False
    """The column holds names, which stand beside each other in their order."""
    at: tuple[float, ...] = ()
    """Values at which the axis has ticks, where there are at most twelve."""

    def scale(self) -> alt.Scale:
        """Returns the scale of this axis."""
        return alt.Scale(type="log", nice=False, padding=10) if self.log else alt.Scale(zero=self.zero, padding=0 if self.zero
                                                                                        else 10)

    @property
    def ticks(self) -> str:
        """The format of numbers on the axis: of linear ones with as many decimals as the ticks need."""
        return ",~f" if self.format == ",~g" and not self.log else self.format

    def x(self) -> alt.X:
        """Returns this column as horizontal position."""
        if self.names:
            return alt.X(self.name, type="ordinal", sort=None, axis=alt.Axis(title=self.title, labelLimit=120, labelOverlap=True))
        few = {"values": list(self.at)} if 0 < len(self.at) <= 12 else {"tickCount": 6}
        axis = alt.Axis(title=self.title, format=self.ticks, labelOverlap="greedy", labelFlush=12, **few)
        return alt.X(self.name, type="quantitative", scale=self.scale(), axis=axis)

    def y(self, **more: Any) -> alt.Y:
        """Returns this column as vertical position."""
        axis = alt.Axis(title=self.title, format=self.ticks, tickCount=6)
        return alt.Y(self.name, type="quantitative", scale=self.scale(), axis=axis, **more)


@dataclass(frozen=True)
class Chart:
    """A chart with what stands around it: title, a sentence on what it shows and how, and the table below it."""
    title: str
    caption: str
    rows: Rows
    columns: dict[str, str]
    """Columns of the table with their headings."""
    picture: Any
    """The chart of Altair."""
    section: str = ""
    notes: list[str] = field(default_factory=list)

    def spec(self, width: int | str = "container", height: int | None = None) -> dict[str, Any]:
        """Returns the chart as an object of Vega-Lite, with its data."""
        more = {} if height is None else {"height": height}
        out = spec_of(self.picture.properties(width=width, description=f"{self.title}. {self.caption}", **more))
        out["autosize"] = {"type": "fit-x" if width == "container" else "pad", "contains": "padding"}
        out.pop("config", None)
        return out


def time_unit(seconds: list[float]) -> tuple[float, str]:
    """Returns the factor from seconds, and the name, of the unit in which the middle of some times is at least 1."""
    usable = sorted(value for value in seconds if value > 0)
    middle = usable[len(usable) // 2] if usable else 1.0
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "µs")):
        if middle * factor >= 1:
            return factor, unit
    return 1e9, "ns"


def text_of(value: Any) -> str:
    """Returns a value as tables and sentences show it: numbers with three digits or, from 1,000, separators."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        if value == int(value) and abs(value) < 1e15:
            return f"{int(value):,}"
        return f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.3g}"
    return str(value)


def cores_text(cores: Any) -> str:
    """Returns a number of cores in words, such as "1 core"."""
    return f"{text_of(cores)} core{'s' if cores != 1 else ''}"


def time_text(seconds: float) -> str:
    """Returns a time with its unit, such as "1.97 µs"."""
    factor, unit = time_unit([seconds])
    return f"{text_of(float(f'{seconds * factor:.3g}'))} {unit}"


def data_of(rows: Rows) -> alt.InlineData:
    """Returns rows as the data of a chart of Altair. They are one text until spec_of() reads it: Altair copies and checks the data of a
    chart each time that a method of the chart is called, row by row."""
    return alt.InlineData(values=json.dumps(rows))


def spec_of(picture: Any) -> dict[str, Any]:
    """Returns a chart of Altair whose data come from data_of() as an object of Vega-Lite, with the rows of its data."""
    out = picture.to_dict(validate=False)
    out["datasets"] = {name: json.loads(text) for name, text in out.get("datasets", {}).items()}
    return out


def _colour(name: str, title: str) -> alt.Color:
    legend = alt.Legend(title=title, orient="bottom", columns=2, labelLimit=260, symbolLimit=40)
    return alt.Color(name, type="nominal", sort=None, scale=alt.Scale(range=PALETTE), legend=legend)


def _tips(columns: dict[str, str], rows: Rows) -> list[alt.Tooltip]:
    """Returns what a chart shows beside the pointer: the columns of the table that a row of the data has."""
    present = [name for name in columns if any(row.get(name) is not None for row in rows)]
    return [alt.Tooltip(name, title=columns[name], type=_type(name, rows)) for name in present]


def _type(name: str, rows: Rows) -> str:
    values = [row[name] for row in rows if row.get(name) is not None]
    return "quantitative" if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values) else "nominal"


def lines(rows: Rows, columns: dict[str, str], x: Axis, y: Axis, colour: str, band: tuple[str, str] | None = None,
          ideal: str | None = None, tail: str | None = None, height: int = 300) -> Any:
    """Returns lines with points, one for each value of the column `colour`. band: columns of the lower and upper end of an
    interval; ideal, tail: columns of a second line, dashed grey or dotted."""
    if x.format == ",d" and not x.names:
        x = replace(x, at=tuple(sorted({row[x.name] for row in rows})))
    base = alt.Chart(data_of(rows)).encode(x=x.x(), color=_colour(colour, columns[colour]))
    detail = alt.Detail(colour, type="nominal")
    layers = []
    if band:
        layers.append(base.mark_errorbar(ticks={"size": 6}).encode(y=replace(y, name=band[0]).y(), y2=alt.Y2(band[1])))
    layers.append(base.mark_line().encode(y=y.y(), detail=detail))
    if ideal:
        layers.append(base.mark_line(strokeDash=[6, 4], opacity=0.6).encode(y=replace(y, name=ideal).y(), detail=detail))
    if tail:
        layers.append(base.mark_line(strokeDash=[2, 3]).encode(y=replace(y, name=tail).y(), detail=detail))
        layers.append(base.mark_area(opacity=0.1).encode(y=y.y(), y2=alt.Y2(tail), detail=detail))
    layers.append(base.mark_point(filled=True, size=55).encode(y=y.y(),
                                                               shape=alt.Shape(colour, type="nominal", sort=None, legend=None),
                                                               tooltip=_tips(columns, rows)))
    return alt.layer(*layers).properties(height=height)


def curves(rows: Rows, columns: dict[str, str], x: Axis, y: Axis, colour: str, height: int = 300) -> Any:
    """Returns lines without points, one for each value of the column `colour`: of many values, as over the time of a run."""
    base = alt.Chart(data_of(rows)).encode(x=x.x(), y=y.y(), color=_colour(colour, columns[colour]), tooltip=_tips(columns, rows))
    return alt.layer(base.mark_line(strokeWidth=1.8), base.mark_point(size=60, opacity=0)).properties(height=height)


def stacks(rows: Rows, columns: dict[str, str], label: str, value: Axis, part: str) -> Any:
    """Returns horizontal bars, one for each value of the column `label`, in parts."""
    order = list(dict.fromkeys(row[label] for row in rows))
    parts = {name: at for at, name in enumerate(dict.fromkeys(row[part] for row in rows))}
    ordered = [{**row, "order": parts[row[part]]} for row in rows]
    return alt.Chart(data_of(ordered)).mark_bar().encode(
        x=alt.X(value.name, type="quantitative", stack="zero", axis=alt.Axis(title=value.title, format=value.ticks, tickCount=6)),
        y=_names(label), color=_colour(part, columns[part]), order=alt.Order("order", type="quantitative"),
        tooltip=_tips(columns, rows)).properties(height=max(70, 30 * len(order)))


def _names(label: str) -> alt.Y:
    return alt.Y(label, type="nominal", sort=None, axis=alt.Axis(title=None, labelLimit=320))


def bars(rows: Rows, columns: dict[str, str], label: str, value: Axis, colour: str | None = None) -> Any:
    """Returns horizontal bars beside each other; on a logarithmic axis, where the length of a bar would tell nothing, points."""
    order = list(dict.fromkeys(row[label] for row in rows))
    kinds = len({row[colour] for row in rows}) if colour else 1
    made = alt.Chart(data_of(rows))
    made = made.mark_point(filled=True, size=70) if value.log else made.mark_bar()
    encoded = {"x": value.x() if value.log else replace(value, zero=True).x(), "y": _names(label),
               "tooltip": _tips(columns, rows)}
    if colour:
        encoded["color"] = _colour(colour, columns[colour])
        encoded["yOffset"] = alt.YOffset(colour, type="nominal", sort=None)
    else:
        encoded["color"] = alt.value(PALETTE[0])
    return made.encode(**encoded).properties(height=max(70, len(order) * max(26, 11 * kinds)))


def intervals(rows: Rows, columns: dict[str, str], label: str, value: Axis, low: str, high: str, colour: str | None = None,
              line_at: float | None = None) -> Any:
    """Returns points with intervals, one below the other, and a vertical line at `line_at`."""
    base = alt.Chart(data_of(rows)).encode(y=_names(label))
    if colour:
        base = base.encode(color=_colour(colour, columns[colour]))
    else:
        base = base.encode(color=alt.value(PALETTE[0]))
    layers = [base.mark_rule(strokeWidth=2).encode(x=replace(value, name=low).x(), x2=alt.X2(high)),
              base.mark_point(filled=True, size=70).encode(x=value.x(), tooltip=_tips(columns, rows))]
    if line_at is not None:
        rule = alt.Chart(data_of([{value.name: line_at}])).mark_rule(strokeDash=[4, 4], color="#888888").encode(x=value.x())
        layers.insert(0, rule)
    return alt.layer(*layers).properties(height=max(70, 24 * len({row[label] for row in rows})))


def heat(rows: Rows, columns: dict[str, str], x: str, y: str, value: Axis) -> Any:
    """Returns a matrix of coloured cells with a bar of colours."""
    tall = len({row[y] for row in rows})
    order = {name: "ascending" if _type(name, rows) == "quantitative" else None for name in (x, y)}
    return alt.Chart(data_of(rows)).mark_rect().encode(
        x=alt.X(x, type="ordinal", sort=order[x], axis=alt.Axis(title=columns[x], labelOverlap="greedy", labelAngle=0)),
        y=alt.Y(y, type="ordinal", sort=order[y], axis=alt.Axis(title=columns[y] if order[y] else None, labelOverlap="greedy",
                                                                labelLimit=320)),
        color=alt.Color(value.name, type="quantitative", scale=alt.Scale(scheme=HEAT, type="log" if value.log else "linear"),
                        legend=alt.Legend(title=value.title, orient="bottom", format=",.2~r" if value.log else value.ticks,
                                          tickCount=3 if value.log else 5, gradientLength=180,
                                          titleLimit=260)),
        tooltip=_tips(columns, rows)).properties(height=min(420, max(90, 24 * tall)))


def limited(rows: Rows, notes: list[str], most: int = MOST_ROWS) -> Rows:
    """Returns at most `most` rows, and adds a note of how many are left out."""
    if len(rows) > most:
        notes.append(f"The first {most:,} of {len(rows):,} values are shown.")
    return rows[:most]
