"""Reports and figures: every record gives charts with data, findings hold what the numbers say, and nothing of a record can run."""
import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

pytest.importorskip("altair", reason="reports need the extra report")
pytest.importorskip("vl_convert", reason="reports need the extra report")

from merganser.report import figures
from merganser.report.charts import make_charts
from merganser.report.command import main, write_report
from merganser.report.draw import spec_of
from merganser.report.findings import findings
from merganser.report.page import MOST_BYTES, make_page
from merganser.report.records import COMMANDS, SCHEMAS, Record, read_records

ROOT = Path(__file__).resolve().parents[2]
FRESH = sorted((ROOT / "tests/python/data/records").glob("*.json"))
MACHINE = {"cores": 64, "cpu": "Test processor", "load_average": [0.1, 0.1, 0.1], "time": "2026-01-02T03:04:05Z", "git": "abc",
           "ranks": 2}


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Paths of the records of docs/measurements."""
    folder = tmp_path_factory.mktemp("stored")
    with tarfile.open(ROOT / "docs/measurements/records.tar.xz") as archive:
        for member in archive.getmembers():
            content = archive.extractfile(member)
            if content is not None:
                (folder / Path(member.name).name).write_bytes(content.read())
    return sorted(folder.glob("*.json"))


def run_record(command, **content):
    return Record("made", command, {"schema": "merganser-run-record", "schema_version": 1, "command": command,
                                    "provenance": MACHINE,
                                    **content})


def stages(step, search=0.5):
    def times(value):
        return {"min": value * 0.95, "median": value, "mean": value, "max": value * 1.05, "count": 3}

    return {"search": times(step * search), "merge": times(step * (1 - search)), "step": times(step)}


def cell(kernel, low, median, high, iterations=1000, **more):
    return {"graph": "chain", "kernel": kernel, "completion": "notified", "bytes": 8, "bytes_total": 16, "iterations": iterations,
            "exchange": {"p50_ns": median, "p50_low_ns": low, "p50_high_ns": high, "p99_ns": more.pop("p99", None)}, **more}


def without_bundle(page):
    """The page without Vega's script, the second last one."""
    before, _, after = page.rpartition("<script>")
    return before[:before.rindex("<script>")] + after


def bench_of(*cells):
    return run_record("topo bench", topology={"cells": list(cells), "graphs": []})


def test_there_is_a_fresh_record_of_every_kind():
    found, problems = read_records(FRESH)
    assert not problems
    missing = (set(COMMANDS) | set(SCHEMAS.values())) - {record.kind for record in found}
    # The record of a replay is that of topo bench, and docs/measurements has simulations.
    assert missing <= {"topo replay", "announce table3", "simulation", "simulated study", "calibration"}


def test_every_verb_of_the_command_that_writes_records_is_known():
    sources = [path.read_text(encoding="utf-8") for folder in ("apps", "packages") for path in (ROOT / folder).rglob("*command.cpp")]
    verbs = {name for source in sources for name in re.findall(r'make_command<[^;"]*"([a-z0-9 ]+)"', source)}
    assert len(verbs) > 25
    others = {"doctor", "topo extract", "pair", "report", "figures", "run"}  # a schema of its own, or no record
    assert verbs - others - set(COMMANDS) == set()


@pytest.mark.parametrize("path", FRESH, ids=lambda path: path.stem)
def test_every_fresh_record_is_small_and_gives_charts_with_data(path):
    assert path.stat().st_size < 30_000
    records, problems = read_records([path])
    assert not problems
    charts, problems = make_charts(records)
    assert not problems
    assert charts
    for chart in charts:
        assert chart.rows and chart.title and chart.caption and chart.section
        assert set(chart.columns) & set(chart.rows[0])
        json.dumps(chart.spec(), allow_nan=False)


def charts_of(*names):
    records, _ = read_records([ROOT / f"tests/python/data/records/{name}.json" for name in names])
    return {chart.title: chart for chart in make_charts(records)[0]}


def drawn(chart, layer=None):
    """The data that a chart draws, of one of its layers."""
    spec = spec_of(chart.picture)
    data = (spec if layer is None else spec["layer"][layer])["data"]
    return data["values"] if "values" in data else spec["datasets"][data["name"]]


def test_links_are_drawn_before_and_after_pruning():
    charts = charts_of("cluster")
    before, after = (next(chart for title, chart in charts.items() if title.startswith(f"Links {state} pruning"))
                     for state in ("before", "after"))
    links = read_records([ROOT / "tests/python/data/records/cluster.json"])[0][0].get("links")
    assert len(before.rows) == len(links["from"]) and len(after.rows) == sum(links["kept"])
    assert all(row["kept"] for row in after.rows) and not all(row["kept"] for row in before.rows)
    # Three lines an arrow.
    assert len(drawn(after, 0)) == 3 * len(after.rows)


def test_bars_of_a_condensed_tree_lie_below_their_parents_and_apart():
    chart = charts_of("linkage-hdbscan")["Condensed tree of linkage-hdbscan"]
    bars = drawn(chart)
    tree = read_records([ROOT / "tests/python/data/records/linkage-hdbscan.json"])[0][0].get("condensed_tree")
    assert len(bars) == len(tree["parent"]) > 3
    for at, parent in enumerate(tree["parent"]):
        if parent >= 0:
            assert bars[at]["birth"] <= bars[parent]["end"]
        for other in range(at):
            if tree["parent"][other] == parent:
                assert bars[at]["left"] >= bars[other]["right"]
    assert {bar["label"] for bar in bars} == {f"cluster {label}" if label >= 0 else "not selected" for label in tree["label"]}


def test_the_top_of_a_dendrogram_is_drawn_with_a_bracket_for_each_merge():
    chart = charts_of("linkage")["Dendrogram of linkage"]
    segments = drawn(chart)
    tree = read_records([ROOT / "tests/python/data/records/linkage.json"])[0][0].get("dendrogram")
    merges = {parent for parent in tree["parent"] if parent >= 0}
    assert len(segments) == 3 * len(merges) and sum(s["y"] == s["y2"] and s["x"] < s["x2"] for s in segments) >= len(merges)


@pytest.mark.parametrize("spoil", [{"parent": [0, 0, 1]}, {"parent": [-1, 2, 0]}, {"size": [3]}, {"parent": ["x", 0, 0]}])
def test_a_tree_that_is_none_is_named(spoil):
    tree = {"parent": [-1, 0, 0], "height": [2.0, 0.0, 0.0], "size": [3, 1, 1], "min_size": 1, "merges_left_out": 0}
    charts, problems = make_charts([run_record("linkage", dendrogram={**tree, **spoil})])
    assert problems and not [chart for chart in charts if chart.title.startswith("Dendrogram")]


def test_small_parcels_are_drawn_over_time():
    charts = charts_of("flow")
    rows = charts["Share of small parcels over time"].rows
    assert len(rows) > 1 and all(row["share"] == pytest.approx(100 * row["small"] / row["parcels"]) for row in rows)
    assert "Parcels over time" in charts


def test_every_stored_record_gives_charts_with_data(stored):
    assert len(stored) > 40
    for path in stored:
        records, problems = read_records([path])
        assert not problems
        charts, problems = make_charts(records)
        assert not problems and charts, path
        assert all(chart.rows for chart in charts)


def test_one_report_of_all_records_is_within_its_size(stored):
    for paths in (stored, FRESH):
        records, problems = read_records(paths)
        page = make_page(records, problems)
        assert len(page.encode()) <= MOST_BYTES
        assert "could not be shown" not in page


def test_a_report_that_would_be_too_large_says_what_it_left_out():
    rows = [[rank, peer, "message", 1, 1, 0, 1] for rank in range(60) for peer in range(60)]
    traffic = {"schema": "merganser-traffic", "schema_version": 1, "ranks": 60,
               "columns": ["from", "to", "move", "operations", "bytes"], "rows": rows}
    records = [Record(f"r{number}" * 40, "topo extract", traffic) for number in range(4)]
    records += [run_record("bench growth", result={"growth": [
        {"subject": f"subject {name} {'x' * 3000}", "unit": "point",
         "points": [{"size": size, "ns_per_unit": 1.0} for size in (1, 2, 3)]}
        for name in range(200)]})]
    page = make_page(records, [])
    assert len(page.encode()) <= MOST_BYTES
    assert "charts are left out" in page


def test_broken_older_newer_and_unknown_records_are_named_and_the_rest_is_shown(tmp_path):
    contents = {"broken": "{\"schema\":", "text": "\xff\xfe", "list": "[1]", "other": '{"a": 1}',
                "older": json.dumps({"schema": "merganser-run-record", "schema_version": 0, "command": "msf"}),
                "newer": json.dumps({"schema": "merganser-run-record", "schema_version": 2, "command": "msf"}),
                "unknown": json.dumps({"schema": "merganser-run-record", "schema_version": 1, "command": "sing"}),
                "deep": "[" * 100_000}
    for name, content in contents.items():
        (tmp_path / f"{name}.json").write_text(content, encoding="latin-1")
    paths = [*sorted(tmp_path.glob("*.json")), tmp_path / "absent.json", FRESH[0]]
    shown, problems = write_report(paths, tmp_path / "report.html")
    assert shown == 1
    reasons = {problem.label: problem.reason for problem in problems}
    assert reasons.keys() == contents.keys() | {"absent"}
    assert "line 1" in reasons["broken"]
    assert "version 0, older" in reasons["older"]
    assert "version 2, newer" in reasons["newer"]
    assert "unknown command 'sing'" in reasons["unknown"]
    assert "No such file" in reasons["absent"]
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Not shown" in page and all(f"<b>{name}</b>" in page for name in reasons)


def test_a_record_whose_values_are_of_other_kinds_is_named_and_spoils_no_other():
    odd = run_record("bench growth", result={"growth": [{"subject": 1, "points": [{"size": 10, "ns_per_unit": 1, "seconds": 5}]}]})
    good, _ = read_records([path for path in FRESH if path.stem == "bench-growth"])
    charts, problems = make_charts([Record("odd", odd.kind, odd.data), *good])
    assert [problem.label for problem in problems] == ["odd"]
    assert any(chart.section == "Growth with size" for chart in charts)
    assert "odd" in make_page([Record("odd", odd.kind, odd.data), *good], [])


def test_markup_in_a_record_is_text_everywhere():
    evil = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    record = run_record("cluster", timings=stages(1.0), conservation=[{"quantity": evil, "relative_difference": 1e-16}])
    record.data["provenance"] = {**MACHINE, "cpu": evil, "mpi": evil, "git": evil, "host": evil}
    page = make_page([Record(evil, "cluster", record.data)], [])
    own = without_bundle(page)
    assert "<script>alert" not in own and "<img" not in own
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "\\u003cscript\\u003ealert(1)" in page


def test_the_page_may_run_only_its_own_scripts_and_evaluates_none():
    page = make_page([run_record("cluster", timings=stages(1.0))], [])
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page).group(1)
    parts = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert parts["default-src"] == "'none'"
    assert re.fullmatch(r"'sha256-[^']+' 'sha256-[^']+'", parts["script-src"])
    assert "unsafe-eval" not in policy
    assert "ast: true" in page
    own = without_bundle(page)
    assert "eval(" not in own and "Function(" not in own
    assert not re.search(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=", own)


def test_the_page_has_what_screen_readers_need():
    page = make_page([run_record("cluster", timings=stages(1.0))], [])
    for part in ('<html lang="en">', "<title>", "<main>", "<h1>", "<h2>", "<h3>", "<figcaption>", '<th scope="col">', "<caption>"):
        assert part in page
    assert page.count("<figure") == page.count("<details>") == page.count("<figcaption>")


def test_the_fastest_kernel_is_named_where_intervals_show_it():
    said = findings([bench_of(cell("p2p.isend-irecv", 1600, 1700, 1800), cell("shmem.put-signal", 900, 1000, 1100))])
    words = "shmem.put-signal is 1.7 times faster than p2p.isend-irecv (1.45 to 2, from the intervals of both medians)"
    assert any(words in sentence for sentence in said)


@pytest.mark.parametrize("other", [cell("shmem.put-signal", 900, 1000, 1650),
                                   cell("shmem.put-signal", 900, 1000, 1100, iterations=5)],
                         ids=["intervals overlap", "few iterations"])
def test_no_kernel_is_called_faster_where_numbers_do_not_show_it(other):
    assert not any("faster" in sentence for sentence in findings([bench_of(cell("p2p.isend-irecv", 1600, 1700, 1800), other)]))


def test_kernels_of_different_completion_are_not_compared():
    remote = {**cell("rma.put-flush", 100, 110, 120), "completion": "remote"}
    assert not any("faster" in sentence for sentence in findings([bench_of(cell("p2p.isend-irecv", 1600, 1700, 1800), remote)]))


def test_tails_and_the_rank_that_ends_last_are_named():
    said = findings([bench_of(cell("rma.fence", 900, 1000, 1100, p99=5000, slowest_share=[0.1, 0.1, 0.1, 0.7]))])
    assert any("takes at least 5.0 times the median" in sentence for sentence in said)
    assert any("Rank 3 ends last in 70 % of the 1,000 exchanges" in sentence for sentence in said)


@pytest.mark.parametrize(("ratio", "words"), [
    ({"low": 0.4, "median": 0.5, "high": 0.8}, "a is 2.00 times faster than b (1.25 to 2.50)"),
    ({"low": 1.25, "median": 2.0, "high": 4.0}, "b is 2.00 times faster than a (1.25 to 4.00)"),
    ({"low": 0.9, "median": 0.95, "high": 1.1}, "no difference between a and b was shown (ratio 0.90 to 1.10)")])
def test_two_ways_in_turns_are_judged_by_their_interval(ratio, words):
    record = run_record("bench random", result={"compare": [{"ranks": 2, "a": "a", "b": "b", "ratio": ratio}]})
    assert any(words in sentence for sentence in findings([record]))


def test_efficiency_of_scaling_is_that_of_the_medians():
    result = {"scaling": [{"ranks": ranks, "shuffled": {"ranks": ranks, "model": "p2p", "stages": stages(step)}}
                          for ranks, step in ((1, 1.0), (4, 0.5))]}
    said = findings([run_record("bench random", result=result, options={"weak": False})])
    assert any("from 1 to 4 ranks (strong scaling) efficiency is 50 % (45 to 55 %" in sentence for sentence in said)
    said = findings([run_record("bench random", result=result, options={"weak": True})])
    assert any("(weak scaling) efficiency is 200 %" in sentence for sentence in said)


def test_time_between_the_ends_of_ranks_is_that_of_the_cycles():
    rank = [0.1] * 6
    cycles = [{"stages": [[*rank, 1.0], [*rank, 0.5]]}, {"stages": [[*rank, 1.0], [*rank, 0.7]]}]
    said = findings([run_record("bench random", result={"shuffled": {"ranks": 2, "stages": stages(1.0), "cycles": cycles}})])
    assert any("ranks end 20 % of a step before the slowest one on the mean; rank 0 leaves the least" in sentence
               for sentence in said)


def test_exponents_are_named_where_their_errors_tell_them_from_one():
    def grows(exponent, error):
        return run_record("bench growth", result={"growth": [{"subject": "tree",
                                                              "time": {"exponent": exponent, "standard_error": error}}]})

    assert any("grows faster than the size, with exponent 1.20 (1.10 to 1.30" in sentence
               for sentence in findings([grows(1.2, 0.05)]))
    assert not findings([grows(1.2, 0.15)])


def test_a_regression_and_what_could_not_be_seen_are_told_apart():
    suite = {"ratio": 1.3, "low": 1.1, "high": 1.5, "p": 0.001, "detectable": 0.2, "verdict": "slower", "decides": True}
    said = findings([run_record("compare", result={"regression": True, "suite": suite, "detectable": {"suite": 0.2}})])
    assert any("a regression was found; most: everything, 1.30 times (1.10 to 1.50)" in sentence for sentence in said)
    said = findings([run_record("compare", result={"regression": False, "suite": {**suite, "verdict": "same"},
                                                   "detectable": {"suite": 0.2}})])
    assert any("no regression was shown; a slowdown of everything below 20 % could not have been seen" in sentence
               for sentence in said)


def test_unequal_results_of_equal_inputs_are_told():
    def forest(label, digest):
        record = run_record("msf", input={"source": "rmat:12:8", "generated": True, "weights": "uniform", "seed": 1},
                            result={"digest": digest})
        return Record(label, "msf", record.data)

    assert any("2 records on 2 ranks have equal results" in sentence
               for sentence in findings([forest("a", "12"), forest("b", "12")]))
    assert any("different digest" in sentence for sentence in findings([forest("a", "12"), forest("b", "34")]))


def test_a_busy_machine_and_failures_of_verify_are_told():
    record = run_record("verify", result={"runs": 10, "failures": 2, "broken": 0})
    record.data["provenance"] = {**MACHINE, "load_average": [300.0], "cores": 2}
    said = findings([record])
    assert any("2 of 10 verified runs differ" in sentence for sentence in said)
    assert any("a load of 300.0 on 2 cores" in sentence for sentence in said)


def test_figures_are_written_as_svg_and_pdf_at_both_widths(tmp_path, capsys):
    paths = [str(path) for path in FRESH if path.stem in ("verify", "bench-growth")]
    assert main(["figures", *paths, "-o", str(tmp_path / "out")]) == 0
    files = sorted((tmp_path / "out").iterdir())
    assert {path.suffix for path in files} == {".svg", ".pdf"}
    assert len(files) % 4 == 0
    for path in files:
        content = path.read_bytes()
        assert content.startswith(b"<svg" if path.suffix == ".svg" else b"%PDF")
    texts = [(tmp_path / "out" / f"time-per-unit-over-size-{column}.svg").read_text() for column in ("1col", "2col")]
    narrow, wide = (float(re.search(r'width="([\d.]+)', text).group(1)) for text in texts)
    assert narrow == pytest.approx(246, abs=12) and wide == pytest.approx(510, abs=12)


def test_figures_show_the_numbers_of_the_charts():
    columns = set()
    for chart in make_charts(read_records(FRESH)[0])[0]:
        drawn = figures._drawn(chart, 510)
        narrow = figures._narrow(drawn, 1, 90)
        assert narrow["datasets"] == drawn["datasets"], chart.title
        columns |= {column for rows in drawn["datasets"].values() for row in rows for column in row}
    assert "size" in columns  # as an option of marks is called, which figures change


def test_the_folder_alone_is_run_without_the_rest_of_the_package(tmp_path):
    folder = ROOT / "python/merganser/report"
    done = subprocess.run([sys.executable, "-S", "-c", "import sys; sys.path[:0] = " + repr(sys.path) + "; import runpy; "
                           f"sys.argv = ['report', {str(FRESH[0])!r}, '-o', {str(tmp_path / 'r.html')!r}]; "
                           f"sys.modules['merganser'] = None; runpy.run_path({str(folder)!r}, run_name='__main__')"],
                          cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "r.html").stat().st_size > 500_000


def test_a_record_is_never_overwritten_and_no_record_is_an_error(tmp_path, capsys):
    record = tmp_path / "a.json"
    record.write_text("{}")
    assert main([str(record), "-o", str(record)]) == 2
    assert record.read_text() == "{}"
    assert main([str(record), "-o", str(tmp_path / "r.html")]) == 3
    assert "not shown: a: no record" in capsys.readouterr().err
    assert main([str(FRESH[0]), "-o", str(tmp_path / "none/r.html")]) == 3


COMMAND = Path(os.environ.get("MERGANSER_COMMAND", ROOT / "build/bin/merganser"))
with_command = pytest.mark.skipif(not os.access(COMMAND, os.X_OK), reason=f"{COMMAND} is not built")


def run_verb(*arguments, folder, path):
    """Runs a verb of the command in a folder, with that PATH; its Python is the first on it."""
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(folder)}
    return subprocess.run([COMMAND, *map(str, arguments)], cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


@with_command
def test_the_verbs_use_the_python_on_path_and_nothing_of_the_working_folder(tmp_path):
    for name in ("altair", "json", "records"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('planted')")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = run_verb("report", FRESH[0], "-o", "r.html", "--by", "commit", folder=tmp_path, path=path)
    assert (done.returncode, done.stdout) == (0, "r.html: 1 record\n"), done.stderr
    done = run_verb("figures", FRESH[0], "-o", "figures", folder=tmp_path, path=path)
    assert done.returncode == 0 and list((tmp_path / "figures").glob("*.pdf")), done.stderr


@with_command
def test_the_verbs_say_in_one_line_what_is_missing(tmp_path):
    for path in ("/nonexistent", "."):
        done = run_verb("report", FRESH[0], "-o", "r.html", folder=tmp_path, path=path)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1 and "pip install 'altair>=5' 'vl-convert-python>=1.6'" in done.stderr
    done = run_verb("report", FRESH[0], "-o", "r.html", "--by", "size", folder=tmp_path, path=os.environ["PATH"])
    assert (done.returncode, done.stderr) == (2, 'usage: --by: "size"; allowed: commit, time\n')


def test_what_a_record_does_not_name_is_left_out_of_names():
    names = {row["graph"] for row in charts_of("topo-convert", "topo-gen")["Process graphs"].rows}
    assert len(names) == 2 and not any("None" in name for name in names)
    runs = {row["run"] for row in charts_of("graph-convert", "msf")["Where the time goes: load, forest, clusters"].rows}
    assert len(runs) == 2 and all(re.fullmatch(r"[^:]+: [^,]\S*, \d+ ranks?", run) for run in runs), runs
