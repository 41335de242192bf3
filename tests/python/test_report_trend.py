"""Trends of reports (--by): one point for each commit, series apart, and links that leave a closed axis."""
from pathlib import Path

import pytest

pytest.importorskip("altair", reason="reports need the extra report")
pytest.importorskip("vl_convert", reason="reports need the extra report")

from merganser.report.charts import make_charts
from merganser.report.page import make_page
from merganser.report.records import Record, read_records

FRESH = sorted((Path(__file__).resolve().parent / "data/records").glob("*.json"))
MACHINE = {"cores": 64, "cpu": "Test processor", "load_average": [0.1, 0.1, 0.1], "ranks": 2}


def stages(step):
    """Times of the stages of a step of so many seconds, each with an interval."""
    def times(value):
        return {"min": value * 0.95, "median": value, "mean": value, "max": value * 1.05, "count": 3}

    return {"search": times(step / 2), "merge": times(step / 2), "step": times(step)}


def series_of(*runs, command="bench random"):
    """Records of (commit, day, seconds of a step), as made at different commits."""
    records = []
    for at, (commit, day, step) in enumerate(runs):
        content = {"schema": "merganser-run-record", "schema_version": 1, "command": command,
                   "options": {"json": f"{at}.json", "steps": 3},
                   "provenance": {**MACHINE, "git": commit, "time": f"2026-01-0{day}T00:00:00Z"},
                   "result": {"shuffled": {"ranks": 1, "model": "p2p", "stages": stages(step)}}}
        records.append(Record(f"{commit}-{at}", command, content))
    return records


def said(page):
    """The page up to its data and scripts."""
    return page[:page.index('<script type="application/json"')]


def test_a_series_by_commit_becomes_a_trend():
    records = series_of(("c1", 3, 1.0), ("c2", 2, 0.8), ("c3", 1, 1.2))
    trend = make_charts(records, "commit")[0][0]
    assert trend.title == "Trend of bench random by commit"
    assert [row["at"] for row in trend.rows] == ["c3", "c2", "c1"]
    assert [row["ratio"] for row in trend.rows] == pytest.approx([1, 0.8 / 1.2, 1 / 1.2])
    assert [row["time"] for row in trend.rows] == ["1.2 s", "800 ms", "1 s"]
    assert not [chart for chart in make_charts(records[:1], "commit")[0] if chart.section == "Trend"]


def test_records_of_one_commit_are_one_point_of_a_trend():
    trend = make_charts(series_of(("c1", 1, 1.0), ("c2", 2, 2.0), ("c2", 3, 2.2), ("c2", 4, 2.4)), "commit")[0][0]
    assert [row["ratio"] for row in trend.rows] == pytest.approx([1, 2.2])
    assert trend.rows[1]["high"] == pytest.approx(2.4 * 1.05) and trend.rows[1]["records"] == 3


def test_a_page_by_commit_shows_trends_and_the_newest_record_of_each_series():
    records = series_of(("c1", 1, 1.0), ("c2", 2, 1.02), ("c3", 3, 1.5))
    other = series_of(("c3", 3, 7.0))[0]
    other.data["options"]["steps"] = 9
    charts = make_charts([*records, Record("other", other.kind, other.data)], "commit")[0]
    shown = {row["series"] for chart in charts if chart.title == "Stages of a merge step" for row in chart.rows}
    assert shown and all(name.startswith(("c3-2", "other")) for name in shown)
    page = said(make_page(records, [], "commit"))
    assert "1.47 times slower at c3 than at c2" in page
    assert "the page is about the newest of each series: 1 record." in page
    # Within its interval nothing is said, and of single times, which have none, neither.
    assert "times slower at" not in said(make_page(records[:2], [], "commit"))
    single = [Record(record.label, "msf", {**record.data, "command": "msf", "result": {}, "timings": {"forest": at + 1.0}})
              for at, record in enumerate(records)]
    assert "times slower at" not in said(make_page(single, [], "commit"))


def test_malformed_records_are_problems_of_a_report_by_commit_and_the_others_are_drawn():
    good = series_of(("c1", 1, 1.0), ("c2", 2, 2.0))
    content = good[0].data
    odd = [Record("ranks", "msf", {**content, "command": "msf", "provenance": {"time": "t", "ranks": [1]}}),
           *(Record(f"options-{options!r}", "bench random", {**content, "options": options}) for options in ([], "steps 3"))]
    timed = Record("times", "bench growth", {**content, "command": "bench growth", "result": {"growth": [
        {"subject": "links", "points": [{"size": 10, "seconds": 5}]}]}})
    charts, problems = make_charts([*good, *odd, timed], "commit")
    assert [row["ratio"] for row in charts[0].rows] == pytest.approx([1, 2])
    assert [problem.label for problem in problems] == ["times"]
    page = said(make_page([*good, *odd, timed], [], "commit"))
    assert "2.00 times slower at c2 than at c1" in page and "<b>times</b>: not in the form of a bench growth record" in page


def test_records_of_different_machines_are_different_series():
    slow = series_of(("c2", 2, 1.8))[0]
    slow.data["provenance"]["cpu"] = "Laptop processor"
    records = [*series_of(("c1", 1, 1.0)), slow]
    assert not [chart for chart in make_charts(records, "commit")[0] if chart.section == "Trend"]
    page = said(make_page(records, [], "commit"))
    assert "times slower at" not in page and "the newest of each series" not in page
    again = series_of(("c2", 3, 1.1))
    before = Record("before", slow.kind, {**slow.data, "provenance": {**slow.data["provenance"], "git": "c1"}})
    trend = make_charts([*records, *again, before], "commit")[0][0]
    assert sorted({row["series"].partition(", cpu ")[2] for row in trend.rows}) == ["Laptop processor", "Test processor"]


def test_options_of_outputs_make_no_series_and_those_of_inputs_do():
    def pair(name):
        records = series_of(("c1", 1, 1.0), ("c2", 2, 1.0))
        for at, record in enumerate(records):
            record.data["options"][name] = f"{name}-{at}"
        return len([chart for chart in make_charts(records, "commit")[0] if chart.section == "Trend"])

    assert {name: pair(name) for name in ("OUT", "probabilities", "condensed", "quiet", "progress", "log-ranks")} == dict.fromkeys(
        ("OUT", "probabilities", "condensed", "quiet", "progress", "log-ranks"), 1)
    assert pair("record") == 0 and pair("IN") == 0


def test_only_changes_at_the_newest_commit_are_told():
    files = series_of(("c1", 1, 1.0), ("c2", 2, 2.0), command="bench files")
    steady = series_of(("c1", 1, 1.0), ("c2", 2, 1.0), ("c3", 3, 1.0))
    assert "2.00 times slower at c2" in said(make_page([*files, *steady[:2]], [], "commit"))
    assert "times slower at" not in said(make_page([*files, *steady], [], "commit"))
    # By time every timing has its own newest time.
    assert "2.00 times slower at 2026-01-02" in said(make_page([*files, *steady], [], "time"))
    undated = [Record(record.label, record.kind, {**record.data, "provenance": {}}) for record in files]
    assert "times slower at" not in said(make_page(undated, [], "commit"))


def test_trends_are_not_left_out_of_a_full_page():
    records = series_of(*((f"c{at}", 1 + at % 9, 1.0 + at) for at in range(9)))
    charts = make_charts([*records, *read_records(FRESH)[0]], "commit")[0]
    heaviest = max(charts, key=lambda chart: (chart.section != "Trend", len(chart.rows) * len(chart.columns)))
    assert charts[0].section == "Trend" and heaviest.section != "Trend"


def test_links_over_the_end_of_a_closed_axis_are_drawn_at_both_ends():
    from merganser.report.links import _arrows

    parcels = [{"u": 0.1, "v": 0.5}, {"u": 0.9, "v": 0.5}]
    rows = [row for row in _arrows(parcels, [{"from": 0, "to": 1}], [1.0, 1.0], [True, False]) if abs(row["u2"] - row["u"]) > 0.1]
    assert sorted((round(row["u"], 9), round(row["u2"], 9)) for row in rows) == [(0.1, -0.1), (1.1, 0.9)]
    rows = _arrows(parcels, [{"from": 0, "to": 1}], [1.0, 1.0], [False, False])
    assert (rows[0]["u"], rows[0]["u2"]) == (pytest.approx(0.1), 0.9)
