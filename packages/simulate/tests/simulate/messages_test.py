#!/usr/bin/env python3
"""Messages of simulated ranks as timers, against SMPI's own: python3 packages/simulate/tests/simulate/messages_test.py --build FOLDER [--simulated
FOLDER] [NAME...]. Ends with 77 where SimGrid or the simulated build is not there, saying so."""
import dataclasses
import json
import os
import sys
import unittest

import simulate_test
from simulate_test import Simulated, main, simulate

sys.path.insert(0, simulate_test.PACKAGE)
from simulate import machines, published, runner  # noqa: E402

# Allowed relative deviations from times over SMPI. There a rank receives a message that arrived before the last one was received
# only when it has nothing else to do (link.cpp), and receives messages in the order of sending, or of its arcs; as timers it receives
# them on arrival, as real ranks do. The single pass then replies later, and with fewer messages. A put over SMPI waits while its
# target waits in a flush.
WITHIN = {("single-pass", "prune"): 0.15, ("single-pass", "step"): 0.04, ("iterative", "prune"): 0.02, ("iterative", "step"): 0.02}
LOOSELY = {**dict.fromkeys(WITHIN, 0.1), ("single-pass", "prune"): 0.15}
NEARLY = dict.fromkeys(WITHIN, 1e-3)
EQUAL = dict.fromkeys(WITHIN, 1e-6)


class Messages(Simulated):
    def both(self, *words):
        """Simulates the same merge steps with SMPI's messages and with timers. @return both records"""
        words = [*words, "--work", "none"]
        return [self.record(*words, MERGANSER_SIMULATED_MESSAGES=kind)["runs"] for kind in ("smpi", "timers")]

    def compare(self, within, *words):
        """Expects equal digests, and times of simulated merge steps with SMPI's messages and with timers within a relative deviation."""
        for theirs, ours in zip(*self.both(*words)):
            where = (theirs["ranks"], theirs["model"], theirs["prune"])
            self.assertEqual(theirs["counts"]["digest"], ours["counts"]["digest"], where)
            self.assertGreater(ours["counts"]["messages"], 0)
            for stage in ("prune", "step"):
                for which in ("slowest_s", "mean_s"):
                    a, b = theirs[which][stage], ours[which][stage]
                    self.assertAlmostEqual(b / a, 1, delta=within[theirs["prune"], stage],
                                           msg=f"{where}, {which} of {stage}: {a} over SMPI, {b} as timers")

    def test_two_ranks_take_the_very_time_of_smpi(self):
        for machine in ("archer2", "cirrus"):
            for per_node in ("1", "2"):
                self.compare(EQUAL, "--machine", machine, "--ranks", "2", "--per-node", per_node, "--comm", "p2p,neighborhood")
                self.compare(LOOSELY, "--machine", machine, "--ranks", "2", "--per-node", per_node, "--comm", "rma")

    def test_merge_steps_on_one_node_take_the_time_of_smpi(self):
        self.compare(WITHIN, "--machine", "archer2", "--ranks", "16")

    def test_merge_steps_on_many_nodes_take_the_time_of_smpi(self):
        self.compare(WITHIN, "--machine", "archer2", "--ranks", "64", "--per-node", "4")
        self.compare(WITHIN, "--machine", "cirrus", "--ranks", "72")

    def test_the_other_models_take_about_the_time_of_smpi(self):
        self.compare(LOOSELY, "--machine", "archer2", "--ranks", "16", "--comm", "neighborhood,rma")
        self.compare(LOOSELY, "--machine", "archer2", "--ranks", "64", "--per-node", "8", "--comm", "neighborhood,rma")

    def test_ranks_that_are_no_power_of_two_reduce_in_the_time_of_smpi(self):
        self.compare(NEARLY, "--machine", "archer2", "--ranks", "3,6", "--per-node", "1", "--prune", "iterative")
        self.compare(WITHIN, "--machine", "hotlum", "--ranks", "15", "--per-node", "4", "--prune", "iterative")

    def commands(self, *words, **variables):
        """Runs a command on simulated ranks with SMPI's messages and with timers. @return both records"""
        path = os.path.join(self.folder, "command.json")
        records = []
        for kind in ("smpi", "timers"):
            got = simulate(*words, "--json", path, MERGANSER_SIMULATED_MESSAGES=kind, **variables)
            self.assertEqual(got.returncode, 0, got.stderr)
            with open(path, encoding="utf-8") as file:
                records.append(json.load(file))
        return records

    def test_forests_take_the_time_of_smpi(self):
        # Contraction on 48 ranks sends bundles over a grid of ranks; its end is an all-gather and a tree.
        for method in ("kruskal", "boruvka"):
            theirs, ours = self.commands("--machine", "archer2", "--ranks", "48", "--per-node", "8", "--", "msf", "--gen", "rmat:12:8",
                                         "--method", method, *(["--base-case", "64"] if method == "boruvka" else []))
            self.assertEqual(theirs["result"]["digest"], ours["result"]["digest"])
            a, b = theirs["timings"]["forest"], ours["timings"]["forest"]
            self.assertAlmostEqual(b / a, 1, delta=0.05, msg=f"{method}: {a} over SMPI, {b} as timers")

    def all_gather_s(self, platform, messages, size, which="mpich"):
        path = os.path.join(self.folder, "gather.json")
        words = ["announce", "bench", "--size", str(size), "--steps", "4", "--work-ms", "0", "--edge", "0", "--exchange", "all-gather",
                 "--comm", "p2p", "--json", path]
        runner.simulate(platform, os.path.join(simulate_test.simulated, "bin", "merganser"), words,
                        {"MERGANSER_SIMULATED_MESSAGES": messages, "MERGANSER_SIMULATED_ALL_GATHERS": which},
                        runner.Limits(simulate_test.LONG, 2**30), "test")
        with open(path, encoding="utf-8") as file:
            return json.load(file)["announce_bench"]["variants"][0]["slowest_rank"]["median"]

    def test_all_gathers_take_the_time_of_smpi(self):
        # Long messages of Bruck's algorithm share each link by itself, over SMPI all links together.
        for ranks, per_node, size, within in ((64, 8, 400, 0.01), (24, 5, 400, 0.03), (24, 5, 20000, 0.1), (2, 1, 300000, 0.1)):
            platform = machines.platform("archer2", ranks, per_node=per_node)
            theirs, ours = (self.all_gather_s(platform, kind, size) for kind in ("smpi", "timers"))
            self.assertAlmostEqual(ours / theirs, 1, delta=within, msg=f"{ranks} ranks, {size} bytes: {theirs} over SMPI, {ours} as timers")

    def test_long_all_gathers_take_the_time_of_smpis_ring(self):
        # NTSLR is the name of a ring there, which SMPI takes for any length. Where links are slower than the way within a node,
        # several messages share one over SMPI; as timers they go one after the other.
        for machine, ranks, per_node, size, which, within in (
                ("archer2", 64, 16, 9000, "mpich", 0.01), ("archer2", 24, 5, 40000, "mpich", 0.01), ("archer2", 24, 5, 400, "ring", 0.01),
                ("cirrus", 16, 1, 60000, "mpich", 0.01), ("cirrus", 36, 6, 40000, "mpich", 0.25)):
            platform = machines.platform(machine, ranks, per_node=per_node)
            config = [c.replace("allgather:bruck", "allgather:NTSLR") for c in platform.config]
            theirs = self.all_gather_s(dataclasses.replace(platform, config=config), "smpi", size)
            ours = self.all_gather_s(platform, "timers", size, which)
            self.assertAlmostEqual(ours / theirs, 1, delta=within,
                                   msg=f"{machine}, {ranks} ranks, {size} bytes: {theirs} over SMPI, {ours} as timers")

    def test_a_long_all_gather_goes_round_a_ring(self):
        # 16 ranks of a node, 625 KiB in all: every rank sends to the next one, 15 times. Bruck's algorithm takes four messages.
        cost = machines.costs(published.ON_NODE["archer2"])
        step_us = 2 * cost.overhead + cost.wire + (40000 + 16) / (machines.SHAPES["archer2"].near_gb_s * 1e3)
        taken = self.all_gather_s(machines.platform("archer2", 16), "timers", 40000) * 1e6
        halo_us = 3
        self.assertTrue(15 * step_us < taken < 15 * step_us + halo_us, f"{taken} us; 15 x {step_us} us")

    def test_ranks_share_the_memory_of_what_an_all_gather_brings(self):
        # 512 ranks have 1 GiB of it together.
        got = simulate("--machine", "archer2", "--ranks", "512", "--memory", "0.5", "--", "announce", "bench", "--size", "4096", "--steps",
                       "1", "--work-ms", "0", "--edge", "0", "--exchange", "all-gather")
        self.assertEqual(got.returncode, 0, got.stderr)

    def test_an_unknown_kind_of_messages_or_all_gathers_is_refused(self):
        for variable, allowed in (("MERGANSER_SIMULATED_MESSAGES", "timers, smpi"),
                                  ("MERGANSER_SIMULATED_ALL_GATHERS", "mpich, bruck, ring")):
            got = simulate("--machine", "archer2", "--ranks", "2", "--", "merge-steps", "--cells", "4,4,4", **{variable: "pigeons"})
            self.assertEqual(got.returncode, 2, got.stderr)
            self.assertIn(f"{variable} is 'pigeons'; allowed: {allowed}", got.stderr)


if __name__ == "__main__":
    main()
