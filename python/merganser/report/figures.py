"""Figures for publications: every chart as SVG and PDF, at the width of one and of two columns."""
from __future__ import annotations

import re
import tempfile
from pathlib import Path

from .charts import make_charts
from .draw import Chart
from .records import Problem, Record

WIDTHS = {"1col": 246, "2col": 510}
"""Widths of the figures in points (1/72 inch): of one column, 3.4 inches, and of two, 7.1 inches."""
CONFIG = {"font": "Helvetica, Arial, DejaVu Sans, sans-serif", "background": "white", "view": {"stroke": "#999999"},
          "axis": {"labelFontSize": 7, "titleFontSize": 8, "titleFontWeight": "normal", "gridOpacity": 0.4},
          "legend": {"labelFontSize": 7, "titleFontSize": 8, "titleFontWeight": "normal", "symbolSize": 30}, "point": {"size": 22},
          "line": {"strokeWidth": 1.2}}
"""Settings of figures: sizes of text in points as journals ask for them."""


def file_name(title: str) -> str:
    """Returns the title of a chart as the name of a file: letters of a to z, digits and hyphens, at most 60."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60] or "figure"


def _drawn(chart: Chart, width: int) -> dict:
    """Returns the Vega-Lite object of a chart whose whole picture is `width` points wide: axes and names within it."""
    spec = chart.spec(width=width)
    spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    spec["config"] = CONFIG
    return spec


def _narrow(value: object, columns: int, limit: int) -> object:
    """Returns a part of a Vega-Lite object with legends of so many columns, names of at most `limit` points, and small marks. Rows of
    data, which may have columns of the same names, stay as they are."""
    if isinstance(value, list):
        return [_narrow(entry, columns, limit) for entry in value]
    if not isinstance(value, dict):
        return value
    out = {key: entry if key in ("values", "datasets") else _narrow(entry, columns, limit) for key, entry in value.items()}
    if "labelLimit" in out:
        out["labelLimit"] = min(out["labelLimit"], limit)
    if isinstance(out.get("size"), int):
        out["size"] = min(out["size"], 20)
    if "columns" in out:
        out["columns"] = columns
    return out


def _write(path: Path, content: bytes) -> None:
    """Writes a file so that it appears whole or not at all."""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        try:
            file.write(content)
            file.flush()
            Path(file.name).chmod(0o644)
            Path(file.name).replace(path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise


def write_figures(records: list[Record], folder: Path, by: str = "") -> tuple[list[Path], list[Problem]]:
    """Writes every chart of records as SVG and PDF into a folder, which is made. Returns the files, and records that were left out
    of a chart. Raises OSError."""
    import vl_convert

    charts, problems = make_charts(records, by)
    folder.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    used: dict[str, int] = {}
    for chart in charts:
        name = file_name(chart.title)
        used[name] = used.get(name, 0) + 1
        name += f"-{used[name]}" if used[name] > 1 else ""
        for column, width in WIDTHS.items():
            spec = _narrow(_drawn(chart, width), 1 if column == "1col" else 2, 90 if column == "1col" else 180)
            svg = vl_convert.vegalite_to_svg(spec)
            for suffix, content in ((".svg", svg.encode("utf-8")), (".pdf", vl_convert.svg_to_pdf(svg))):
                path = folder / f"{name}-{column}{suffix}"
                _write(path, content)
                files.append(path)
    return files, problems
