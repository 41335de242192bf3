"""Charts of reports: what they draw of small records whose numbers are written down here."""
import json
import random
from pathlib import Path

import pytest

pytest.importorskip("altair", reason="reports need the extra report")
pytest.importorskip("vl_convert", reason="reports need the extra report")

from merganser.report.charts import make_charts
from merganser.report.command import main
from merganser.report.draw import Axis, bars, heat, stacks
from merganser.report.records import Record, read_records
from merganser.report.step_series import step_series, waiting_shares

RECORDS = Path(__file__).resolve().parent / "data/records"
MACHINE = {"cores": 64, "load_average": [32.0, 1.0, 1.0], "time": "2026-01-02T03:04:05Z", "git": "c1", "ranks": 2}


def run_record(command, label="made", **content):
    return Record(label, command, {"schema": "merganser-run-record", "schema_version": 1, "command": command,
                                   "provenance": MACHINE, **content})


def charts_of(*records, by=""):
    """The charts of records by title."""
    charts, problems = make_charts(list(records), by)
    assert not problems
    return {chart.title: chart for chart in charts}


def walk(spec):
    """All objects in a chart's specification."""
    if isinstance(spec, dict):
        yield spec
        for value in spec.values():
            yield from walk(value)
    elif isinstance(spec, list):
        for value in spec:
            yield from walk(value)


def scale_of(chart, name):
    """The types of the scales of the channels that show a column."""
    return {part["scale"].get("type") for part in walk(chart.picture.to_dict(validate=False))
            if part.get("field") == name and isinstance(part.get("scale"), dict)}


def stages(step):
    return {stage: {"min": value * 0.95, "median": value, "mean": value, "max": value * 1.05, "count": 3}
            for stage, value in (("search", step / 2), ("merge", step / 2), ("step", step))}


@pytest.fixture(scope="module")
def fresh():
    """The charts of stored records that draw more than lines and bars."""
    names = ("cluster", "linkage-hdbscan", "topo-advise", "topo-gen")
    charts, problems = make_charts(read_records([RECORDS / f"{name}.json" for name in names])[0])
    assert not problems
    return charts


def test_every_chart_can_be_seen(fresh):
    for chart in fresh:
        spec = chart.spec()
        for part in walk({**spec, "data": None, "datasets": None}):
            opacity = part.get("opacity", 1)
            assert not isinstance(opacity, (int, float)) or 0 <= opacity <= 1, chart.title
        assert 60 <= spec.get("height", 300) <= 6000, chart.title


def test_advice_shows_every_kernel_with_its_interval(fresh):
    chart = next(chart for chart in fresh if chart.title.startswith("Advice: time"))
    advice = json.loads((RECORDS / "topo-advise.json").read_text())["result"]["advice"]
    kernels = [kernel for one in advice for group in one["classes"] for kernel in group["kernels"]]
    assert len(chart.rows) == len(kernels) > 1
    assert all(row["low"] <= row["time"] <= row["high"] for row in chart.rows)
    factor = chart.rows[0]["time"] / kernels[0]["time_ns"]
    assert [row["time"] for row in chart.rows] == pytest.approx([kernel["time_ns"] * factor for kernel in kernels])


def test_heights_follow_the_rows_and_a_matrix_has_a_greatest_height():
    def rows(count):
        return [{"name": f"n{at}", "kind": "k", "value": at + 1.0} for at in range(count)]

    columns, value = {"name": "name", "kind": "kind", "value": "value"}, Axis("value", "value")
    height = {made: {count: draw(rows(count)).to_dict(validate=False)["height"] for count in (1, 4, 10, 100)} for made, draw in (
        ("heat", lambda some: heat(some, columns, "kind", "name", value)),
        ("stacks", lambda some: stacks(some, columns, "name", value, "kind")),
        ("bars", lambda some: bars(some, columns, "name", value)))}
    assert height["heat"] == {1: 90, 4: 96, 10: 240, 100: 420}
    assert height["stacks"] == {1: 70, 4: 120, 10: 300, 100: 3000}
    assert height["bars"] == {1: 70, 4: 104, 10: 260, 100: 2600}


def test_logarithmic_axes_are_those_of_ratios_and_wide_ranges():
    figures = [{"machine": "m", "place": "node", "what": f"w{at}", "unit": "ns", "published": value, "simulated": 2 * value}
               for at, value in enumerate((30.0, 10.0, 20.0))]
    chart = charts_of(Record("c", "calibration", {"figures": figures}))["Simulated beside published figures"]
    assert scale_of(chart, "published") == scale_of(chart, "simulated") == {"log"}
    assert [(row["published"], row["simulated"], row["ideal"]) for row in chart.rows] == [(10, 20, 10), (20, 40, 20), (30, 60, 30)]
    linear = charts_of(run_record("cluster", conservation=[{"quantity": "mass", "relative_difference": -3e-16}]))["Conservation"]
    assert "log" not in scale_of(linear, "difference")
    assert linear.rows[0]["difference"] == pytest.approx(3)


def test_only_verify_gives_runs_that_were_verified():
    lines = [{"ranks": 1, "model": "p2p", "runs": 7, "failures": 0}, {"ranks": 3, "model": "rma", "runs": 9, "failures": 2},
             {"ranks": 4, "model": "rma", "runs": 0}]
    chart = charts_of(run_record("verify", result={"lines": lines}))["Runs that were verified"]
    assert [(row["what"], row["model"], row["runs"], row["failures"]) for row in chart.rows] == [
        ("1 rank", "p2p", 7, 0), ("3 ranks", "rma", 9, 2)]
    assert "Runs that were verified" not in charts_of(run_record("cluster", result={"lines": lines}))


def test_the_load_of_a_machine_is_that_of_a_core():
    row = charts_of(run_record("gen random"))["Load of the machine"].rows[0]
    assert (row["load"], row["cores"], row["git"]) == (0.5, 64, "c1")


def test_two_ways_in_turns_are_drawn_where_the_interval_is_whole():
    pairs = [{"ranks": 2, "a": "p2p", "b": "rma", "ratio": {"low": 0.5, "median": 0.75, "high": 0.9}},
             {"ranks": 4, "a": "p2p", "b": "rma", "ratio": {"low": 0.5, "median": 0.75}}]
    chart = charts_of(run_record("bench random", "r", result={"compare": pairs}))["Two ways to make a step, in turns"]
    assert chart.rows == [{"pair": "r, 2 ranks: p2p / rma", "low": 0.5, "ratio": 0.75, "high": 0.9}]
    assert scale_of(chart, "ratio") == {"log"}


def test_smallest_messages_have_their_place_in_time_over_size():
    def cell(size, median):
        return {"graph": "chain", "kernel": "k", "completion": "notified", "bytes": size, "exchange": {"p50_ns": median}}

    from merganser.report.topo import cells

    record = run_record("topo bench", topology={"cells": [cell(1, 5.0), cell(0, 5.0), cell(8, 1.0), cell(8, 0.0)]})
    assert [(row["bytes"], row["p50"], row["low"], row["high"]) for row in cells([record])] == [(1, 5, 5, 5), (8, 1, 1, 1)]


def test_cells_of_a_rank_name_the_series_of_a_weak_simulation():
    run = {"model": "p2p", "prune": "remote", "cells": [10, 10, 10], "ranks": 4, "mean_s": {"step": 2.0},
           "slowest_s": {"step": 3.0}, "fastest_s": 1.0}
    series, bare = step_series([Record("s", "simulation", {"scaling": "weak", "runs": [run, {**run, "cells": [10, "x"]}]})])
    assert "p2p, remote, 250 cells a rank" in series.name and "cells a rank" not in bare.name
    assert (series.ranks, series.weak, series.simulated) == (4, True, True)
    assert (series.step["min"], series.step["median"], series.step["max"]) == (1, 2, 3)
    (strong,) = step_series([Record("s", "simulation", {"scaling": "strong", "runs": [run]})])
    assert "cells a rank" not in strong.name and not strong.weak


def test_scaling_is_weak_where_the_option_says_so():
    for weak in (True, False):
        record = run_record("bench random", options={"weak": weak}, result={"shuffled": {"ranks": 2, "stages": stages(1.0)}})
        assert [series.weak for series in step_series([record])] == [weak]


def test_waiting_is_the_share_of_a_step_before_the_slowest_rank_ends():
    def waits(*cycles):
        result = {"shuffled": {"ranks": 2, "stages": stages(1.0),
                               "cycles": [{"stages": [[0.1, step] for step in steps]} for steps in cycles]}}
        return waiting_shares(step_series([run_record("bench random", result=result)])[0])

    assert waits([2.0, 1.0], [1.0, 4.0]) == pytest.approx([(0 + 0.75) / 2, (0.5 + 0) / 2])
    assert waits([2.0, 1.0], [0.0, 4.0], [0.0, 0.0], [1.0], [1.0, 1.0, 1.0]) == pytest.approx([0, 0.5]), "others do not count"
    assert waits([0.0, 0.0]) == []


def test_the_trend_of_a_forest_is_that_of_its_time():
    def forest(commit, day, seconds):
        record = run_record("msf", timings={"forest": seconds}, input={"source": "rmat:10"}, options={})
        record.data["provenance"] = {**MACHINE, "git": commit, "time": f"2026-01-0{day}T00:00:00Z"}
        return record

    trend = charts_of(forest("c1", 1, 2.0), forest("c2", 2, 3.0), by="commit")["Trend of msf by commit"]
    assert [(row["at"], row["ratio"], row["time"]) for row in trend.rows] == [("c1", 1, "2 s"), ("c2", 1.5, "3 s")]
    assert all("rmat:10" in row["series"] for row in trend.rows)


def forest_bench(ways, graphs, ranks=(1, 2)):
    forests = [{"graph": {"name": name}, "model": way, "style": "s", "post": "none", "ranks": count,
                "spread": {"median": edges / count, "low": 0.5 * edges / count, "high": 2.0 * edges / count}}
               for name, edges in graphs.items() for way in ways for count in ranks]
    return run_record("bench msf", msf_bench={"graphs": [{"graph": name, "edges": edges} for name, edges in graphs.items()],
                                              "forests": forests})


def test_forests_over_sizes_are_those_of_most_ranks():
    charts = charts_of(forest_bench(["p2p", "rma"], {"rmat:2": 200, "rmat:1": 100, "grid:1": 50}))
    rows = charts["Ways to find a forest over sizes, 2 ranks"].rows
    assert {row["ranks"] for row in rows} == {2}
    assert [(row["series"], row["edges"]) for row in rows] == [
        (f"rmat: {way}, s, none", edges) for way in ("p2p", "rma") for edges in (100, 200)], "one grid has no line"
    assert [row["time"] for row in rows] == pytest.approx([50, 100] * 2)
    alone = charts["Ways to find a forest, 2 ranks"]
    assert len(alone.rows) == 2 * 3 and all(row["low"] < row["time"] < row["high"] for row in alone.rows)


def test_at_most_sixty_ways_to_find_a_forest_are_drawn():
    chart = charts_of(forest_bench([f"w{at}" for at in range(70)], {"rmat:1": 100}))["Ways to find a forest, 2 ranks"]
    assert len(chart.rows) == 60


def random_tree(nodes, seed):
    """Parents of a random tree, and sizes of which children together have fewer than their parent."""
    draw = random.Random(seed)
    parents = [-1] + [draw.randrange(at) for at in range(1, nodes)]
    sizes = [1] * nodes
    for at in range(nodes - 1, 0, -1):
        sizes[parents[at]] += sizes[at] + draw.randrange(3)
    return parents, sizes


@pytest.mark.parametrize("seed", range(5))
def test_a_cluster_is_as_wide_as_its_points_and_its_children_stand_below_it(seed):
    parents, sizes = random_tree(12, seed)
    tree = {"parent": parents, "size": sizes, "birth": [0.0] * 12, "end": [1.0] * 12, "label": [-1] * 12}
    chart = charts_of(run_record("linkage", "t", condensed_tree=tree))["Condensed tree of t"]
    bars_ = chart.rows
    assert [bar["right"] - bar["left"] for bar in bars_] == pytest.approx(sizes)
    for parent in range(12):
        children = [at for at in range(12) if parents[at] == parent]
        if children and all(at not in parents for at in children):
            middle = (min(bars_[at]["left"] for at in children) + max(bars_[at]["right"] for at in children)) / 2
            assert middle == pytest.approx((bars_[parent]["left"] + bars_[parent]["right"]) / 2)


def test_more_clusters_than_colours_share_the_colour_of_further_ones():
    tree = {"parent": [-1] + [0] * 12, "size": [30] + [2] * 12, "birth": [0.0] + [1.0] * 12, "end": [1.0] * 12 + [None],
            "label": [-1, *range(12)]}
    chart = charts_of(run_record("linkage", "t", condensed_tree=tree))["Condensed tree of t"]
    (scale,) = [part["scale"] for part in walk(chart.picture.to_dict(validate=False)) if part.get("field") == "colour"]
    assert scale["domain"] == [*(f"cluster {label}" for label in range(10)), "not selected", "further clusters"]
    assert len(scale["range"]) == len(scale["domain"]) == len(set(scale["range"]))
    assert [row["label"] for row in chart.rows][:3] == ["not selected", "cluster 0", "cluster 1"]
    assert chart.rows[12]["end"] == 1, "an infinite end is drawn at the greatest finite one"


@pytest.mark.parametrize(("given", "said"), [({"min_size": 7}, "have 7 points or more"), ({}, "have 1 points or more")])
def test_a_dendrogram_says_what_it_leaves_out(given, said):
    tree = {"parent": [-1, 0, 0], "height": [2.0, 0.0, 0.0], "size": [3, 1, 1], "merges_left_out": 1234, **given}
    chart = charts_of(run_record("linkage", "d", dendrogram=tree))["Dendrogram of d"]
    assert said in chart.caption and "1,234 merges are left out" in chart.caption
    assert [(row["kind"], row["points"], row["height"]) for row in chart.rows] == [("merge", 3, 2), ("leaf", 1, 0), ("leaf", 1, 0)]


def test_changes_that_do_not_decide_say_so():
    from merganser.report.compare import changes

    entry = {"ratio": 1.2, "low": 1.1, "high": 1.3, "verdict": "slower", "detectable": 0.05, "p": 0.01}
    record = run_record("compare", result={"suite": entry, "families": [{**entry, "name": "f", "decides": False}],
                                           "timings": [{**entry, "name": "t", "ratio": 0}, "none"]})
    assert [(row["what"], row["level"], row["verdict"], row["detectable"]) for row in changes(record)] == [
        ("everything", "everything", "slower", 1.05), ("f", "together", "slower (not counted)", 1.05)]


def test_the_picture_verb_without_a_source_looks_for_its_libraries(capsys):
    assert main(["picture"]) == 0
    assert capsys.readouterr().out == "ready\n"
    with pytest.raises(SystemExit):
        main(["picture", "record.json"])
    assert "SOURCE and --output are given together" in capsys.readouterr().err
