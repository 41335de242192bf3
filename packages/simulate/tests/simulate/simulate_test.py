#!/usr/bin/env python3
"""Simulated ranks: python3 packages/simulate/tests/simulate/simulate_test.py --build FOLDER [--simulated FOLDER] [NAME...]. Ends with 77 where
SimGrid or the simulated build is not there, saying so."""
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROOT = os.path.dirname(os.path.dirname(PACKAGE))
NOT_THERE = 77
LONG = 300 * int(os.environ.get("MERGANSER_TEST_PATIENCE", "1"))  # seconds: far beyond what any of these takes on a machine with other work
build = "build"
simulated = os.path.join(ROOT, "build-simgrid")


def command(*words):
    """Returns the command line of ./x simulate with these arguments."""
    return [sys.executable, "-m", "simulate", "--build", build, "--simulated", simulated, *words]


def environment(**more):
    """Returns a small environment for ./x simulate and for real ranks, with further variables."""
    kept = {n: os.environ[n] for n in ("PATH", "HOME", "LD_LIBRARY_PATH", "TMPDIR") if n in os.environ}
    return {**kept, "PYTHONPATH": PACKAGE, "PYTHONDONTWRITEBYTECODE": "1", **more}


def simulate(*words, **variables):
    """Runs ./x simulate with these arguments and environment variables. @return the ended process with its output"""
    return subprocess.run(command(*words), env=environment(**variables), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=LONG, check=False)


class Simulated(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="simulate-test-")
        self.addCleanup(shutil.rmtree, self.folder)

    def record(self, *words, **variables):
        """Runs ./x simulate for merge steps. @return its simulation record"""
        path = os.path.join(self.folder, "s.json")
        got = simulate(*words, "--json", path, **variables)
        self.assertEqual(got.returncode, 0, got.stderr)
        with open(path, encoding="utf-8") as file:
            return json.load(file)

    def real_digests(self, run, small_within="1"):
        """Returns the digests of the same merge steps on real ranks, which are threads: on one rank and on two."""
        digests = set()
        for ranks in ("1", "2"):
            path = os.path.join(self.folder, "real.json")
            words = [os.path.join(build, "bin", "merganser"), "merge-steps", "--comm", "threads", "--ranks", ranks, "--cells",
                     ",".join(map(str, run["cells"])), "--per-cell", "20", "--cycles", "2", "--small-within", small_within, "--json", path]
            got = subprocess.run(words, env=environment(), capture_output=True, text=True, timeout=LONG, check=False)
            self.assertEqual(got.returncode, 0, got.stderr)
            with open(path, encoding="utf-8") as file:
                digests.add(json.load(file)["result"]["cycles"][-1]["counts"]["digest"])
        return digests


class Bits(Simulated):
    def test_simulated_ranks_give_the_bits_of_real_ones_over_every_model_and_pruning(self):
        runs = self.record("--machine", "archer2", "--ranks", "1,4,16", "--comm", "p2p,neighborhood,rma", "--work", "none")["runs"]
        self.assertEqual({(r["ranks"], r["model"], r["prune"]) for r in runs},
                         {(n, m, p) for n in (1, 4, 16) for m in ("p2p", "neighborhood", "rma") for p in ("single-pass", "iterative")})
        for ranks in (1, 4, 16):
            of_ranks = [r for r in runs if r["ranks"] == ranks]
            self.assertEqual({r["counts"]["digest"] for r in of_ranks}, self.real_digests(of_ranks[0]), ranks)
            self.assertGreater(of_ranks[0]["counts"]["merged"], 0)

    def test_an_imbalanced_start_has_the_bits_of_real_ranks_too_and_fewer_messages(self):
        words = ["--machine", "cirrus", "--ranks", "64", "--prune", "single-pass", "--work", "none"]
        part = self.record(*words, "--small-within", "0.2")["runs"][0]
        whole = self.record(*words)["runs"][0]
        self.assertEqual({part["counts"]["digest"]}, self.real_digests(part, "0.2"))
        self.assertLess(part["counts"]["merged"], whole["counts"]["merged"])
        self.assertLess(part["counts"]["messages"], whole["counts"]["messages"])


    def test_ranks_around_holes_give_the_bits_of_real_ones_though_they_may_merge_nothing(self):
        words = ["merge-steps", "--cells", "24,24,1", "--per-cell", "1", "--small-within", "0.2", "--periodic", "none", "--decomposition"]
        told = [simulate("--machine", "archer2", "--ranks", "576", "--", *words, "24x24x1"),
                subprocess.run([os.path.join(build, "bin", "merganser"), *words, "2x1x1", "--comm", "threads", "--ranks", "2"],
                               env=environment(), capture_output=True, text=True, timeout=LONG, check=False)]
        self.assertEqual([(got.returncode, got.stderr if got.returncode else "") for got in told], [(0, "")] * 2)
        self.assertRegex(told[0].stdout, "^digest ")
        self.assertEqual(told[0].stdout, told[1].stdout)


class Memory(Simulated):
    def test_a_rank_holds_little_more_than_its_parcels_while_others_run(self):
        few, many = self.record("--machine", "archer2", "--ranks", "64,256", "--cells", "8x8x4", "--prune", "single-pass",
                                "--work", "none")["runs"]
        parcels = 8 * 8 * 4 * 20 * 112  # bytes of a rank's container
        self.assertLess((many["peak_bytes"] - few["peak_bytes"]) / (256 - 64), 1.75 * parcels)


class Time(Simulated):
    def test_the_same_simulation_takes_the_same_simulated_time(self):
        words = ["--machine", "hotlum", "--ranks", "16", "--comm", "p2p,neighborhood,rma", "--work", "none", "--noise", "100:1ms"]
        first, second = self.record(*words)["runs"], self.record(*words)["runs"]
        for a, b in zip(first, second):
            self.assertEqual(a["slowest_s"], b["slowest_s"], (a["model"], a["prune"]))
            self.assertGreater(a["slowest_s"]["prune"], 0, (a["model"], a["prune"]))

    def test_work_takes_time_and_changes_no_bit(self):
        words = ["--machine", "archer2", "--ranks", "4", "--prune", "single-pass"]
        free, measured = self.record(*words, "--work", "none"), self.record(*words, "--work", "again")
        self.assertIsNone(free["work"])
        self.assertGreater(measured["work"]["costs_s"]["search"], 0)
        a, b = free["runs"][0], measured["runs"][0]
        parcels = 64 * 20
        self.assertGreater(b["slowest_s"]["search"], a["slowest_s"]["search"] + 0.9 * parcels * measured["work"]["costs_s"]["search"])
        self.assertEqual(a["counts"], b["counts"])

    def test_times_are_spread_over_all_ranks_up_to_the_slowest(self):
        for cycle in self.record("--machine", "archer2", "--ranks", "9", "--prune", "single-pass", "--work", "none")["runs"][0]["cycles"]:
            for name, slowest in (("prune_spread", cycle["slowest_s"]["prune"]), ("step_spread", cycle["slowest_s"]["step"])):
                self.assertEqual(sum(entry["ranks"] for entry in cycle[name]), 9)
                last = max(entry["up_to_us"] for entry in cycle[name])
                self.assertTrue(last / 1.19 <= slowest * 1e6 * 1.001 and slowest * 1e6 <= last * 1.001, (last, slowest))

    def test_the_single_pass_is_faster_than_the_published_pruning(self):
        runs = self.record("--machine", "archer2", "--ranks", "64", "--work", "none")["runs"]
        prune = {r["prune"]: r["slowest_s"]["prune"] for r in runs}
        self.assertLess(prune["single-pass"] * 5, prune["iterative"])


class Commands(Simulated):
    def test_any_command_runs_on_simulated_ranks(self):
        got = simulate("--machine", "archer2", "--ranks", "4", "--", "merge-steps", "--cells", "8,8,4")
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertRegex(got.stdout, r"^digest [0-9a-f]{32}\n$")
        self.assertRegex(got.stderr, r"archer2, 4 ranks: \S+ s simulated in")

    def test_a_forest_of_simulated_ranks_is_that_of_a_real_one(self):
        words = ["msf", "--gen", "rmat:10:8"]
        real = subprocess.run([os.path.join(build, "bin", "merganser"), *words], env=environment(), capture_output=True, text=True,
                              timeout=LONG, check=True).stdout
        for model in ("p2p", "neighborhood", "rma"):
            got = simulate("--machine", "cirrus", "--ranks", "8", "--comm", model, "--", *words)
            self.assertEqual(got.returncode, 0, got.stderr)
            self.assertIn(f"on 8 ranks, {model}", got.stdout)
            self.assertEqual(re.search("digest .*", got.stdout)[0], re.search("digest .*", real)[0])

    def test_an_announcement_network_beside_collectives_runs_with_work_in_simulated_time(self):
        got = simulate("--machine", "archer2", "--ranks", "8", "--", "announce", "bench", "--steps", "3", "--work-ms", "2", "--json", "-")
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertIn("network", [v["exchange"] for v in json.loads(got.stdout)["announce_bench"]["variants"]])
        self.assertNotIn("MPI_Neighbor", got.stdout + got.stderr)

    def test_the_error_of_a_command_is_told_and_its_exit_code_kept(self):
        got = simulate("--machine", "archer2", "--ranks", "4", "--", "merge-steps", "--cells", "0,1,1")
        self.assertEqual(got.returncode, 2)
        self.assertIn("cells", got.stderr)
        self.assertNotIn("Traceback", got.stderr)

    def test_threads_are_refused_by_name(self):
        got = simulate("--machine", "archer2", "--ranks", "2", "--", "merge-steps", "--comm", "threads")
        self.assertEqual(got.returncode, 2)
        self.assertIn("'threads' on simulated ranks", got.stderr)


class Errors(Simulated):
    def check(self, words, said, code=2):
        got = simulate(*words)
        self.assertEqual(got.returncode, code, got.stderr)
        self.assertIn(said, got.stderr)
        self.assertNotIn("Traceback", got.stderr)

    def test_a_wrong_option_is_told_with_what_is_allowed(self):
        for words, said in (
            (["--ranks", "4"], "no --machine; allowed: archer2, hotlum, cirrus"),
            (["--machine", "archer2"], "no --ranks; allowed"),
            (["--machine", "archer2", "--ranks", "0"], "ranks: 0; allowed: 1 to"),
            (["--machine", "archer2", "--ranks", "4", "--comm", "shmem"], "\"shmem\"; allowed: p2p, neighborhood, rma"),
            (["--machine", "archer2", "--ranks", "4", "--cells", "4x4"], "allowed: cells along x, y and z"),
            (["--machine", "archer2", "--ranks", "64", "--strong", "4x4x4"], "allowed: at least a cell for each"),
            (["--machine", "archer2", "--ranks", "4", "--json", "/no/such/folder/s.json"], "no file can be there"),
            (["--machine", "archer2", "--ranks", "4", "--"], "no COMMAND"),
        ):
            self.check(words, said)

    def test_a_limit_ends_the_simulation_and_leaves_nothing(self):
        left = set(glob.glob(os.path.join(self.folder, "*")))
        got = simulate("--machine", "archer2", "--ranks", "256", "--limit", "0.3", "--work", "none", TMPDIR=self.folder)
        self.assertEqual(got.returncode, 4, got.stderr)
        self.assertIn("no end within 0.3 s (--limit)", got.stderr)
        self.assertEqual(set(glob.glob(os.path.join(self.folder, "*"))), left)

    def test_a_signal_ends_the_simulation_and_leaves_nothing(self):
        words = command("--machine", "archer2", "--ranks", "256", "--work", "none")
        with subprocess.Popen(words, env=environment(TMPDIR=self.folder), stderr=subprocess.DEVNULL) as process:
            end = time.monotonic() + LONG
            while not glob.glob(os.path.join(self.folder, "*", "platform.xml")) and time.monotonic() < end:
                time.sleep(0.05)
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(LONG), 143)
        self.assertEqual(glob.glob(os.path.join(self.folder, "*")), [])


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
    if shutil.which("smpirun") is None:
        print("skipped: there is no smpirun (Debian: libsimgrid-dev)")
        sys.exit(NOT_THERE)
    if not os.path.isfile(os.path.join(simulated, "bin", "merganser")):
        print(f"skipped: {simulated}/bin/merganser is not there (cmake --preset simgrid && cmake --build --preset simgrid)")
        sys.exit(NOT_THERE)
    unittest.main(argv=[sys.argv[0], *words], verbosity=2)


if __name__ == "__main__":
    main()
