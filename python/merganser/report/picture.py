"""One picture of one record, or of a drawing in SVG, as SVG, PNG or PDF: what --picture of a command asks for."""
from __future__ import annotations

from pathlib import Path

from .charts import make_charts
from .draw import Chart, spec_of
from .figures import CONFIG, _write
from .records import Record, read_records

TITLES = {"topo bench": "Time of an exchange over size", "topo replay": "Time of an exchange over size", "topo advise": "Advice",
          "topo extract": "Traffic matrix", "msf": "Phases of the forest"}
"""How the titles of the charts begin that show a record of this kind; of other kinds it is the first chart."""
MOST_CHARTS = 4
WIDTH = 560
"""Width of the charts in pixels of SVG."""
PIXELS = 2
"""Pixels of PNG for each pixel of SVG along an axis."""
SUFFIXES = (".svg", ".png", ".pdf")


def _shown(record: Record) -> list[Chart]:
    """Returns the charts that show a record. Raises ValueError, with the reason, if there is none."""
    charts, problems = make_charts([record])
    begin = TITLES.get(record.kind, "")
    found = [chart for chart in charts if chart.title.startswith(begin)]
    if not found:
        reasons = "; ".join(problem.reason for problem in problems)
        raise ValueError(f"nothing to draw in a record of {record.kind}{': ' + reasons if reasons else ''}")
    return found[:MOST_CHARTS] if begin else found[:1]


def _svg_of(record: Record) -> str:
    """Returns the charts that show a record, one below the other, as SVG."""
    import altair as alt
    import vl_convert

    parts = [chart.picture.properties(width=WIDTH, title=alt.TitleParams(chart.title, anchor="start")) for chart in _shown(record)]
    whole = parts[0] if len(parts) == 1 else alt.vconcat(*parts).resolve_scale(color="independent", shape="independent")
    spec = spec_of(whole)
    spec["config"] = {"font": CONFIG["font"], "background": "white", "view": CONFIG["view"]}
    spec["padding"] = 12
    return vl_convert.vegalite_to_svg(spec)


def write_picture(source: str | Path, output: str | Path) -> None:
    """Writes the picture of a record (JSON), or a drawing (.svg), to a file of SVG, PNG (two pixels for one of SVG) or PDF, by its suffix,
    whole or not at all. Raises OSError, and ValueError for a record that cannot be read or has nothing to draw."""
    import vl_convert

    source, output = Path(source), Path(output)
    if output.suffix.lower() not in SUFFIXES:
        raise ValueError(f'the picture "{output}"; allowed: {", ".join(SUFFIXES)}')
    if source.suffix == ".svg":
        svg = source.read_text(encoding="utf-8")
    else:
        records, problems = read_records([source])
        if not records:
            raise ValueError(f"{source}: {problems[0].reason if problems else 'no record'}")
        svg = _svg_of(records[0])
    if output.suffix.lower() == ".svg":
        content = svg.encode("utf-8")
    elif output.suffix.lower() == ".png":
        content = vl_convert.svg_to_png(svg, scale=PIXELS)
    else:
        content = vl_convert.svg_to_pdf(svg)
    _write(output, content)
