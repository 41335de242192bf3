#!/usr/bin/env python3
"""Studies of simulated ranks: python3 packages/simulate/tests/simulate/studies_test.py --build FOLDER [NAME...]. What simulates is skipped, saying so,
where SimGrid or the simulated build is not there."""
import contextlib
import dataclasses
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock

PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROOT = os.path.dirname(os.path.dirname(PACKAGE))
sys.path.insert(0, PACKAGE)
from simulate import campaign, cli, machines, runner, studies  # noqa: E402

LONG = 300  # seconds: far beyond what any of these takes on a machine with other work
build = os.path.join(ROOT, "build")
simulated = os.path.join(ROOT, "build-simgrid")


def can_simulate():
    """Returns true if SimGrid and the simulated build are there."""
    return shutil.which("smpirun") is not None and os.path.isfile(os.path.join(simulated, "bin", "merganser"))


class InFolder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="studies-test-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.json = os.path.join(self.folder, "study.json")

    def record(self):
        with open(self.json, encoding="utf-8") as file:
            return json.load(file)


class Campaign(InFolder):
    """Cases that simulate nothing."""

    def setUp(self):
        super().setUp()
        self.ran = []
        self.program = os.path.join(self.folder, "bin", "merganser")
        os.mkdir(os.path.dirname(self.program))
        with open(self.program, "w", encoding="ascii") as file:
            file.write("one")

    def case(self, ranks, series="a", fails=None, cannot="", key=1):
        """Returns a case of a study that simulates nothing and notes that it ran, or raises `fails`."""
        def run():
            self.ran.append((series, ranks))
            if fails:
                raise fails
            return {"ranks": ranks, "real_s": 0.1, "peak_bytes": 1 << 20}
        return campaign.Case(series, ranks, {"key": key}, run, cannot)

    def run_study(self, *cases):
        """Runs a study of these cases. @return exit code, standard output and standard error"""
        study = campaign.Study("a test", {}, lambda o: list(cases), lambda results: f"{len(results)} results")
        o = types.SimpleNamespace(study="test", machine="archer2", json=self.json, simulated=self.folder)
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = campaign.run(study, o, ["--study", "test", "--json", self.json])
        return code, out.getvalue(), err.getvalue()

    def test_finished_cases_are_kept_and_the_others_are_done(self):
        self.run_study(self.case(4), self.case(8))
        before = self.record()
        code, out, err = self.run_study(self.case(4), self.case(8), self.case(16))
        self.assertEqual((code, out), (0, "3 results\n"))
        self.assertEqual(self.ran, [("a", 4), ("a", 8), ("a", 16)])
        self.assertIn("2 of 3 cases were in", err)
        self.assertIn("test 3/3: archer2, 16 ranks, a: done", err)
        self.assertEqual(self.record()["cases"][:2], before["cases"])

    def test_a_case_with_other_options_or_of_another_program_is_done_again(self):
        self.run_study(self.case(4))
        _, _, err = self.run_study(self.case(4, key=2))
        self.assertIn("1 cases of another program or other options were dropped", err)
        with open(self.program, "w", encoding="ascii") as file:
            file.write("two")
        self.run_study(self.case(4, key=2))
        self.assertEqual(len(self.ran), 3)
        self.assertEqual(len(self.record()["cases"]), 1)

    def test_a_limit_ends_a_series_but_not_the_study_and_is_tried_again(self):
        over = runner.Failed("no end within 1 s (--limit)", 4)
        code, out, _ = self.run_study(self.case(4, fails=over), self.case(8), self.case(4, series="b"))
        self.assertEqual(code, 4)
        self.assertEqual(self.ran, [("a", 4), ("b", 4)])
        self.assertIn("4 ranks, a: no end within 1 s (--limit)\n8 ranks, a: not tried, since 4 ranks were not done\n", out)
        code, out, _ = self.run_study(self.case(4), self.case(8), self.case(4, series="b"))
        self.assertEqual((code, out, self.ran[2:]), (0, "3 results\n", [("a", 4), ("a", 8)]))

    def test_a_failure_ends_the_study_and_leaves_what_was_done(self):
        with self.assertRaisesRegex(runner.Failed, "8 ranks, a: it crashed"):
            self.run_study(self.case(4), self.case(8, fails=runner.Failed("it crashed", 1)), self.case(16))
        self.assertEqual([c["key"]["ranks"] for c in self.record()["cases"]], [4])
        self.assertNotIn(self.folder, json.dumps(self.record()))

    def test_what_was_done_before_stays_in_the_record_while_what_stands_before_it_is_done(self):
        self.run_study(self.case(4), self.case(16))
        with self.assertRaises(runner.Failed):
            self.run_study(self.case(4), self.case(8), self.case(12, fails=runner.Failed("it crashed", 1)), self.case(16))
        self.assertEqual([c["key"]["ranks"] for c in self.record()["cases"]], [4, 8, 16])

    def test_what_cannot_be_simulated_is_said_and_is_no_error(self):
        code, out, _ = self.run_study(self.case(4), self.case(8, cannot="too much memory"))
        self.assertEqual((code, self.ran), (0, [("a", 4)]))
        self.assertIn("8 ranks, a: too much memory\n", out)

    def test_a_file_that_is_no_record_of_the_study_is_not_overwritten(self):
        for text in ("", "{", "[]", "{}", '{"schema": "merganser-simulation", "schema_version": 1}',
                     '{"schema": "merganser-simulated-study", "schema_version": 1, "study": "weak", "cases": []}',
                     '{"schema": "merganser-simulated-study", "schema_version": 1, "study": "test", "cases": [3]}'):
            with open(self.json, "w", encoding="ascii") as file:
                file.write(text)
            with self.assertRaisesRegex(runner.Failed, "no record of study test", msg=text):
                self.run_study(self.case(4))
            with open(self.json, encoding="ascii") as file:
                self.assertEqual(file.read(), text)
        self.assertEqual(self.ran, [])


class Placement(unittest.TestCase):
    def test_a_tile_of_a_node_is_as_square_as_its_ranks_allow(self):
        for per_node, blocks, tile in ((128, (64, 64, 1), (8, 16)), (36, (24, 24, 1), (6, 6)), (64, (4, 64, 1), (4, 16)), (1, (3, 3, 1), (1, 1)),
                                       (128, (2, 2, 1), (2, 2))):
            self.assertEqual(sorted(machines.tile_shape(per_node, blocks)), sorted(tile), (per_node, blocks))

    def test_tiles_fill_nodes_and_cut_fewer_neighbours_apart_than_rows(self):
        for per_node, blocks in ((128, (32, 32, 1)), (64, (16, 64, 1)), (36, (20, 25, 1)), (12, (7, 11, 2))):
            ranks = blocks[0] * blocks[1] * blocks[2]
            cut = {}
            for place in machines.PLACES:
                node = machines.place_ranks(ranks, per_node, place, blocks)
                self.assertEqual(sorted(node), [r // per_node for r in range(ranks)])

                def at(x, y, node=node, blocks=blocks):
                    return node[(x % blocks[0] * blocks[1] + y % blocks[1]) * blocks[2]]
                cut[place] = sum(at(x, y) != at(x + i, y + j) for x in range(blocks[0]) for y in range(blocks[1])
                                 for i, j in ((1, 0), (0, 1), (1, 1), (1, -1)))
            self.assertLess(cut["tiles"], cut["rows"], (per_node, blocks))

    def test_tiles_of_what_is_no_grid_of_the_ranks_are_refused(self):
        for place, blocks in (("tiles", None), ("tiles", (3, 3, 1)), ("columns", (2, 2, 1))):
            with self.assertRaisesRegex(ValueError, "place"):
                machines.place_ranks(4, 2, place, blocks)


class Options(unittest.TestCase):
    def test_a_study_has_ranks_and_sizes_of_its_own_that_options_change(self):
        for name, study in studies.STUDIES.items():
            words = ["--study", name, "--machine", "hotlum"]
            self.assertEqual(cli.parse(words).ranks, sorted(study.defaults["ranks"]))
            o = cli.parse([*words, "--ranks", "9,4,9"])
            self.assertEqual(o.ranks, [4, 9])
            made = study.cases(o)
            self.assertEqual({c.ranks for c in made}, {4, 9})
            self.assertEqual(len({(c.series, c.ranks) for c in made}), len(made))
        self.assertEqual(cli.parse(["--study=early", "--machine", "cirrus"]).small_within, 0.2)
        self.assertEqual(cli.parse(["--machine", "cirrus", "--ranks", "4"]).small_within, 1.0)

    def test_a_wrong_option_is_told_with_what_is_allowed(self):
        study = ["--machine", "archer2", "--study"]
        for words, said in (([*study, "late"], "invalid choice: 'late'"),
                            (["--study", "weak"], "no --machine; allowed: archer2"),
                            ([*study, "weak", "--", "msf"], "--study weak with a COMMAND"),
                            ([*study, "forests", "--place", "tiles"], "--place tiles without merge steps; allowed: rows"),
                            ([*study, "announce", "--comm", "p2p,rma"], "with --study announce; allowed: one model"),
                            ([*study, "forests", "--graph", "web; rm"], "allowed: rmat, rgg2d"),
                            ([*study, "announce", "--size", "0"], '"0"; allowed: 1 to 1048576'),
                            ([*study, "announce", "--edge", "x"], '"x"; allowed: 0 to 1000'),
                            ([*study, "strong", "--ranks", "16384"], "at least a cell for each")):
            err = io.StringIO()
            with contextlib.redirect_stderr(err), self.assertRaises(SystemExit) as end:
                cli.parse(words)
            self.assertEqual(end.exception.code, 2, words)
            self.assertIn(said, err.getvalue())

    def test_an_all_gather_that_does_not_fit_is_not_tried(self):
        for messages, refused in (("smpi", [("all-gather", 4096), ("all-gather", 10240)]), ("timers", [])):
            with unittest.mock.patch.dict(os.environ, MERGANSER_SIMULATED_MESSAGES=messages):
                made = studies.STUDIES["announce"].cases(cli.parse(["--study", "announce", "--machine", "archer2"]))
            self.assertEqual([(c.series, c.ranks) for c in made if c.cannot], refused)


class Simulated(InFolder):
    def setUp(self):
        super().setUp()
        if not can_simulate():
            self.skipTest(f"SimGrid or {simulated}/bin/merganser is not there")

    def study(self, name, *words):
        environment = {n: os.environ[n] for n in ("PATH", "HOME", "LD_LIBRARY_PATH", "TMPDIR") if n in os.environ}
        environment |= {"PYTHONPATH": PACKAGE, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "simulate", "--build", build, "--simulated", simulated, "--study", name, "--machine", "archer2", "--json",
                   self.json, *words]
        got = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LONG, check=False)
        self.assertEqual(got.returncode, 0, got.stderr)
        return got, [c["result"] for c in self.record()["cases"]]

    def test_strong_scaling_divides_the_same_parcels_and_tiles_change_times_only(self):
        words = ("--ranks", "4,16", "--strong", "8x8x4", "--per-node", "4", "--prune", "single-pass", "--work", "none")
        _, rows = self.study("strong", *words)
        self.assertEqual({r["counts"]["before"] for r in rows}, {8 * 8 * 4 * 20})
        self.assertEqual(len({r["counts"]["digest"] for r in rows}), 1)
        got, tiles = self.study("strong", *words, "--place", "tiles")
        # The number of labels that share a message depends on timing.
        counts = [[{name: n for name, n in r["counts"].items() if name != "messages"} for r in rs] for rs in (tiles, rows)]
        self.assertEqual(*counts)
        self.assertNotEqual(tiles[1]["slowest_s"], rows[1]["slowest_s"])
        self.assertIn("efficiency of a step against 4 ranks", got.stdout)

    def test_an_early_flow_merges_less_than_a_late_one(self):
        words = ("--ranks", "16", "--prune", "single-pass", "--work", "none")
        _, early = self.study("early", *words)
        os.remove(self.json)
        _, late = self.study("weak", *words)
        self.assertLess(early[0]["counts"]["merged"], late[0]["counts"]["merged"])

    def test_forests_are_the_same_by_every_method_and_take_longer_with_the_work_of_ranks(self):
        got, results = self.study("forests", "--ranks", "4,40", "--graph", "rmat:12:8")
        self.assertEqual(len({r["digest"] for r in results}), 1)
        time = {(r["method"], r["work"], r["ranks"]): r["forest_s"] for r in results}
        self.assertEqual(len(time), 8)
        for method in ("kruskal", "boruvka"):
            for ranks in (4, 40):
                self.assertGreater(time[method, "measured", ranks], time[method, "none", ranks])
        many = next(r for r in results if r["method"] == "boruvka" and r["ranks"] == 40)
        waves = sum(p["waves"] for p in many["phases"].values())
        self.assertLessEqual(many["messages"], waves * 6)  # 40 ranks in rows of 7
        self.assertIn("boruvka", got.stdout)
        kept, again = self.study("forests", "--ranks", "4,40", "--graph", "rmat:12:8")
        self.assertIn("8 of 8 cases were in", kept.stderr)
        self.assertEqual(again, results)

    def test_a_wrong_way_to_count_the_work_of_forests_is_refused_by_every_rank_at_once(self):
        platform = machines.platform("archer2", 2)
        words = ["msf", "--gen", "rmat:6:4", "--method", "boruvka", "--base-case", "0"]
        program = os.path.join(simulated, "bin", "merganser")
        with self.assertRaisesRegex(runner.Failed, 'MERGANSER_SIMULATED_WORK is "guessed"; allowed: none, measured') as failed:
            runner.simulate(platform, program, words, {"MERGANSER_SIMULATED_WORK": "guessed"}, runner.Limits(60, 2**30), "test")
        self.assertEqual(failed.exception.code, 2)

    def partition_s(self, platform, messages, log_vertices):
        """Returns the time of the search for balanced ranges: a few short reductions, and one of a word for each vertex."""
        path = os.path.join(self.folder, "forest.json")
        words = ["msf", "--gen", f"rmat:{log_vertices}:1", "--method", "boruvka", "--json", path]
        runner.simulate(platform, os.path.join(simulated, "bin", "merganser"), words, {"MERGANSER_SIMULATED_MESSAGES": messages},
                        runner.Limits(LONG, 2**30), "test")
        with open(path, encoding="utf-8") as file:
            return json.load(file)["phases"]["partition"]["seconds"]["max"]

    def test_longer_reductions_take_longer_by_what_smpis_reduce_scatter_and_all_gather_do(self):
        platform = machines.platform("archer2", 12, per_node=4)
        # SMPI takes it for short ones too, in twice the rounds of ours: only what length adds can be compared.
        config = [c.replace("allreduce:rdb", "allreduce:rab_rdb") for c in platform.config]
        platform = dataclasses.replace(platform, config=config)
        more = {kind: self.partition_s(platform, kind, 12) - self.partition_s(platform, kind, 9) for kind in ("smpi", "timers")}
        self.assertAlmostEqual(more["timers"] / more["smpi"], 1, delta=0.1, msg=f"{more}")

    def test_announcements_beside_a_halo_cost_little_of_a_long_step(self):
        got, results = self.study("announce", "--ranks", "8,27", "--cycles", "2")
        self.assertEqual({(r["exchange"], r["ranks"]) for r in results},
                         {(e, n) for e in ("none", "network", "all-gather") for n in (8, 27)})
        for r in results:
            self.assertTrue(0.065 < r["slowest_s"] < 0.066, r["slowest_s"])
        self.assertIn("all-gather", got.stdout)


def main():
    global build, simulated
    words = sys.argv[1:]
    for name in ("--build", "--simulated"):
        if name in words:
            at = words.index(name)
            if name == "--build":
                build = words[at + 1]
            else:
                simulated = words[at + 1]
            del words[at:at + 2]
    unittest.main(argv=[sys.argv[0], *words], verbosity=2)


if __name__ == "__main__":
    main()
