#!/usr/bin/env python3
"""Simulated machines: python3 packages/simulate/tests/simulate/machines_test.py [--build FOLDER] [NAME...]. Ends with 77 where SimGrid is not there, saying
so."""
import os
import shutil
import sys
import tempfile
import unittest
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(os.path.dirname(HERE)))

from simulate import calibrate, machines, published, runner, smpi  # noqa: E402

LIMITS = runner.Limits(seconds=120, bytes=2 * 2**30)
folder = tempfile.mkdtemp(prefix="merganser-machines-test-")
programs = {}


def simulated(source, platform, *arguments):
    """Runs a C program of this folder on simulated ranks. @return its standard output"""
    if source not in programs:
        at = os.path.join(folder, source)
        os.mkdir(at)
        programs[source] = smpi.build(os.path.join(HERE, source), at)
    with open(os.path.join(folder, "out"), "w+", encoding="ascii") as out:
        runner.simulate(platform, programs[source], list(arguments), {}, LIMITS, source, out)
        out.seek(0)
        return out.read()


def ring_us(machine, ranks, **options):
    """Returns the simulated time of one message from each rank to the next on a machine, us."""
    return float(simulated("ring.c", machines.platform(machine, ranks, **options)).split()[2])


def late_ms(noise, how="work"):
    """Returns the delays of 64 simulated ranks by noise, ms. @param how  work: ranks compute; wait: they wait for a message"""
    text = simulated("jitter.c", machines.platform("archer2", 64, noise), how)
    return [float(word) for word in text.split()]


class Platforms(unittest.TestCase):
    def test_machines_of_any_size_are_read_and_their_ranks_reach_each_other(self):
        for machine in machines.MACHINES:
            for ranks in (1, 64, 200):
                with self.subTest(machine=machine, ranks=ranks):
                    size, total, _ = simulated("ring.c", machines.platform(machine, ranks)).split()
                    self.assertEqual((int(size), int(total)), (ranks, ranks * (ranks - 1) // 2))

    def test_a_platform_has_a_host_for_every_rank_and_no_more_ranks_on_it_than_the_paper_used(self):
        for machine in machines.MACHINES:
            for ranks in (1, 200, 16384):
                p = machines.platform(machine, ranks)
                cluster = xml.etree.ElementTree.fromstring(p.xml).find("zone/cluster")
                known = int(cluster.get("radical").split("-")[1]) + 1
                self.assertEqual(len(p.hosts), ranks)
                self.assertTrue(all(0 <= int(h.removeprefix("node-")) < known for h in p.hosts))
                self.assertLessEqual(max(p.hosts.count(h) for h in set(p.hosts)), machines.SHAPES[machine].per_node)

    def test_ranks_of_a_node_are_nearer_than_those_of_two(self):
        for machine in machines.MACHINES:
            self.assertLess(2 * ring_us(machine, 2, per_node=2), ring_us(machine, 2, per_node=1))

    def test_nodes_of_other_switches_are_further_by_a_link_for_each(self):
        hop = machines.SHAPES["archer2"].hop_us
        same, other, group = (ring_us("archer2", n, per_node=1) for n in (8, 16, 256))
        self.assertAlmostEqual(other - same, hop, delta=0.02)
        self.assertGreater(group, other + hop / 2)

    def test_more_nodes_than_the_machine_has_are_said(self):
        self.assertEqual(machines.platform("cirrus", 200).notes, [])
        self.assertIn("cirrus has 280", machines.platform("cirrus", 16384).notes[0])

    def test_what_cannot_be_is_refused_with_what_is_allowed(self):
        for wrong in (("jaguar", 4), ("archer2", 0), ("archer2", machines.MAX_RANKS + 1)):
            with self.assertRaisesRegex(ValueError, "allowed: "):
                machines.platform(*wrong)
        with self.assertRaisesRegex(ValueError, "1 to 36"):
            machines.platform("cirrus", 4, per_node=37)
        with self.assertRaisesRegex(ValueError, "late <= window"):
            machines.Noise(late_s=2.0, window_s=1.0)

    def test_costs_that_cannot_be_read_end_the_simulation(self):
        p = machines.platform("archer2", 2)
        p.environment["MERGANSER_SMPI_COSTS"] = "near.overhead=much"
        with self.assertRaisesRegex(runner.Failed, "allowed: NAME=NUMBER"):
            simulated("ring.c", p)


class Calibration(unittest.TestCase):
    def test_simulated_figures_are_within_a_tenth_of_the_published_ones(self):
        figures, others = calibrate.calibrate(machines.MACHINES)
        self.assertEqual(len(figures), 36)
        self.assertEqual([f for f in figures if f.missed()], [])
        self.assertEqual(len(others), 12)

    def test_a_figure_that_is_off_by_more_is_missed(self):
        at = {"machine": "archer2", "place": "off node", "what": "P2P", "unit": "us", "published": 2.0}
        self.assertTrue(calibrate.Figure(**at, simulated=2.21).missed())
        self.assertTrue(calibrate.Figure(**at, simulated=1.79).missed())
        self.assertTrue(calibrate.Figure(**at, simulated=float("nan")).missed())
        self.assertFalse(calibrate.Figure(**at, simulated=2.19).missed())

    def test_costs_are_times(self):
        for rows in (published.ON_NODE, published.OFF_NODE):
            for row in rows.values():
                self.assertTrue(all(value > 0 for value in vars(machines.costs(row)).values()), row)


class Jitter(unittest.TestCase):
    def test_noise_is_the_same_for_the_same_seed_and_another_for_another(self):
        first = late_ms(machines.Noise(one_in=100))
        self.assertEqual(first, late_ms(machines.Noise(one_in=100)))
        self.assertNotEqual(first, late_ms(machines.Noise(one_in=100, seed=43)))

    def test_a_rank_that_computes_loses_all_of_every_delay(self):
        late = late_ms(machines.Noise(one_in=100))
        hits = [round(ms) for ms in late]
        for ms, n in zip(late, hits):
            self.assertAlmostEqual(ms, n, delta=0.01)
        self.assertTrue(30 <= sum(hits) <= 110, hits)  # 64 ranks, 100 ms, one in 100 a ms: 64 expected

    def test_a_rank_that_waits_loses_only_what_is_left_when_its_message_has_come(self):
        late = late_ms(machines.Noise(one_in=10, seed=7), "wait")
        own = late_ms(machines.Noise(one_in=10, seed=7))
        self.assertGreater(sum(own[1:]), 63 * 5)  # each of them is hit about ten times
        self.assertTrue(all(ms < late[0] + 1.1 for ms in late[1:]), late)

    def test_without_noise_nobody_is_late(self):
        self.assertLess(max(late_ms(None)), 0.01)


def main():
    words = sys.argv[1:]
    if words[:1] == ["--build"]:
        words = words[2:]
    lacking = smpi.missing()
    if lacking:
        print(f"machines_test: skipped, there is no program {lacking}; Debian's package libsimgrid-dev has it")
        return 77
    try:
        return 0 if unittest.main(argv=[sys.argv[0], *words], exit=False, verbosity=2).result.wasSuccessful() else 1
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
