"""The page of a report: HTML that needs no network, at most 2 MB, under a content security policy without unsafe-eval."""
from __future__ import annotations

import base64
import functools
import hashlib
import html
import json
from importlib import resources

from . import trend
from .charts import make_charts
from .draw import Chart, cores_text, text_of
from .findings import findings
from .records import Problem, Record

MOST_BYTES = 2_000_000
"""Size in bytes that a report has at most."""
SCRIPT_TYPE = "application/json"


def _text(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _listed(names: list[str], most: int = 6) -> str:
    """Returns names as a list in a sentence: "a, b and c", or with the number of the rest."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def summary(records: list[Record], problems: list[Problem]) -> tuple[str, str]:
    """Returns two sentences: what was run, and where and when."""
    kinds = list(dict.fromkeys(record.kind for record in records))
    counts = [f"{kind} ({number} records)" if (number := sum(record.kind == kind for record in records)) > 1 else kind
              for kind in kinds]
    total = len(records)
    lost = f"; {len(problems)} file{'s' if len(problems) != 1 else ''} could not be shown in full" if problems else ""
    records_text = f"{total} record{'s' if total != 1 else ''}"
    what = f"This report shows {records_text} of merganser: {_listed(counts, 8)}{lost}." if records else (
        "None of the files could be shown.")

    def values(name: str) -> list[str]:
        return list(dict.fromkeys(str(record.provenance[name]) for record in records if record.provenance.get(name)))

    places = list(dict.fromkeys(f"{cores_text(record.provenance['cores'])} of {record.provenance['cpu']}" for record in records
                                if record.provenance.get("cores") and record.provenance.get("cpu")))
    parts = [f"on {_listed(places)}"] if places else []
    simulated = list(dict.fromkeys(str(record.data["machine"]) for record in records if record.kind == "simulation"
                                   and record.data.get("machine")))
    parts += [f"simulating {_listed(simulated)}"] if simulated else []
    parts += [f"with {_listed([mpi.split(', package')[0] for mpi in values('mpi')], 3)}"] if values("mpi") else []
    times = sorted(values("time"))
    if times:
        parts.append(f"on {times[0][:10]}" if times[0][:10] == times[-1][:10] else f"from {times[0][:10]} to {times[-1][:10]}")
    parts += [f"at commit {_listed(values('git'), 4)}"] if values("git") else []
    return what, f"They were made {', '.join(parts)}." if parts else ""


def _table(chart: Chart, most: int) -> str:
    """Returns the table of a chart in HTML, at most `most` rows of it."""
    names = [name for name in chart.columns if any(row.get(name) is not None for row in chart.rows)]
    head = "".join(f'<th scope="col">{html.escape(chart.columns[name])}</th>' for name in names)
    numeric = {name for name in names if all(isinstance(row.get(name), (int, float, type(None))) for row in chart.rows)}
    body = "".join("<tr>" + "".join(f"<td{' class=n' if name in numeric else ''}>{html.escape(text_of(row.get(name)))}</td>"
                                    for name in names) + "</tr>" for row in chart.rows[:most])
    rest = f"<p>The first {most} of {len(chart.rows):,} rows.</p>" if len(chart.rows) > most else ""
    count = f"{len(chart.rows):,} row{'s' if len(chart.rows) != 1 else ''}"
    return (f"<details><summary>Table: {count}</summary>{rest}<div class=scroll tabindex=0 role=region "
            f'aria-label="Table: {html.escape(chart.title)}"><table><caption>{html.escape(chart.title)}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></details>")


def _figures(charts: list[Chart], most: int) -> str:
    """Returns the sections with figures and tables in HTML; the drawings are filled in by the script of the page."""
    out, section = [], None
    for at, chart in enumerate(charts):
        if chart.section != section:
            out.append(("</section>" if section is not None else "") + f'<section aria-label="{html.escape(chart.section)}">'
                       f"<h2>{html.escape(chart.section)}</h2>")
            section = chart.section
        notes = "".join(f" {html.escape(note)}" for note in chart.notes)
        out.append(f'<figure id="figure-{at}"><h3>{html.escape(chart.title)}</h3><div class=chart id="chart-{at}"></div>'
                   f"<figcaption>{html.escape(chart.caption)}{notes}</figcaption>{_table(chart, most)}</figure>")
    return "".join(out) + ("</section>" if section is not None else "")


def _hash(script: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode() + "'"


@functools.cache
def _bundle() -> str:
    """Returns Vega, Vega-Lite and Vega-Embed as one script, from vl-convert, which takes seconds of a processor to make it."""
    import vl_convert

    return vl_convert.javascript_bundle().replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _assemble(records: list[Record], problems: list[Problem], charts: list[Chart], said: list[str], most: int, by: str) -> str:
    """Returns the page with tables of at most `most` rows."""
    bundle, script, style = _bundle(), _text("page.js"), _text("page.css")
    data = json.dumps([chart.spec() for chart in charts], separators=(",", ":"), allow_nan=False)
    data = data.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    policy = (f"default-src 'none'; script-src {_hash(bundle)} {_hash(script)}; style-src 'unsafe-inline'; img-src data: blob:; "
              "base-uri 'none'; form-action 'none'")
    what, where = summary(records, problems)
    shown = len(trend.newest(records)) if by else len(records)
    where += f" But for trends, the page is about the newest of each series: {shown} record{'s' if shown != 1 else ''}." if shown < len(records) else ""
    named = "".join(f"<li><b>{html.escape(problem.label)}</b>: {html.escape(problem.reason)}</li>" for problem in problems)
    lost = f"<section aria-label='Not shown'><h2>Not shown</h2><ul>{named}</ul></section>" if problems else ""
    listed = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in said) or ("<li>Nothing that these numbers show for "
                                                                                   "certain.</li>")
    return ('<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
            '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">'
            f"<title>Report of merganser</title><style>{style}</style></head><body><main><h1>Report of merganser</h1>"
            f"<p class=lead>{html.escape(what)} {html.escape(where)}</p>"
            "<section aria-label='What stands out'><h2>What stands "
            f"out</h2><ul>{listed}</ul></section>{lost}{_figures(charts, most)}"
            "<footer><p>Charts are saved from the menu at their upper right corner.</p></footer></main>"
            f'<script type="{SCRIPT_TYPE}" id="charts">{data}</script><script>{bundle}</script><script>{script}</script>'
            '</body></html>\n')


def make_page(records: list[Record], problems: list[Problem], by: str = "") -> str:
    """Returns the report of records as a page of HTML of at most 2 MB: where it would be larger, the tables, then the charts get
    fewer rows, and the page says so. Problems of reading are named on it."""
    charts, more = make_charts(records, by)
    broken = {problem.label for problem in more}
    usable = [record for record in records if record.label not in broken]
    said = [*trend.findings(usable, by), *findings(trend.newest(usable))] if by else findings(usable)
    problems = [*problems, *more]
    page = ""
    for most in (200, 50, 10):
        page = _assemble(records, problems, charts, said, most, by)
        if len(page.encode("utf-8")) <= MOST_BYTES:
            return page
    kept = list(charts)
    while kept and len(page.encode("utf-8")) > MOST_BYTES:
        # The chart with most data gives way: what is left is drawn in full. Trends, which were asked for, go last.
        kept.remove(max(kept, key=lambda chart: (chart.section != trend.SECTION, len(chart.rows) * len(chart.columns))))
        note = Problem("size", f"{len(charts) - len(kept)} of {len(charts)} charts are left out, those with most data: the page "
                               "has at most "
                       f"{MOST_BYTES:,} bytes. Fewer records show them.")
        page = _assemble(records, [*problems, note], kept, said, 10, by)
    return page
