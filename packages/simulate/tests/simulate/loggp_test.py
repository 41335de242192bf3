#!/usr/bin/env python3
"""LogGP fits and replayed prunings: python3 packages/simulate/tests/simulate/loggp_test.py [--build FOLDER] [NAME...]. Needs no SimGrid."""
import math
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from simulate import loggp  # noqa: E402

TRUE = loggp.Parameters(latency=1.5e-6, overhead=0.4e-6, gap=0.5e-6, big_g=4e-11)
NEAR = loggp.Parameters(latency=0.02e-6, overhead=0.2e-6, gap=0.2e-6, big_g=1e-10)


def observations(p, wrong=lambda i: 1.0):
    """Returns the times of messages that LogGP parameters p give. @param wrong  wrong(i): factor on the i-th time"""
    out = [("way", size, 1, p.way(size)) for size in (4, 256, 4096, 65536)]
    out += [("send", 4, n, p.overhead) for n in (4, 64)]
    out += [("window", 4, n, p.way(4) + (n - 1) * p.gap) for n in (4, 16, 64)]
    return [loggp.Observation(what, size, n, s * wrong(i)) for i, (what, size, n, s) in enumerate(out)]


def run(ranks, prune, seconds=None, model="p2p"):
    """Returns an artificial run of simulated merge steps whose counts grow with log2 of the ranks, as in a record."""
    side = int(ranks**0.5)
    level = math.log2(ranks)
    counts = {"before": 1280 * ranks, "prune_puts": 30 * ranks, "prune_gets": 10 * ranks, "prune_rounds": 1 + level / 2,
              "prune_syncs": 20 if prune == "iterative" else 0, "prune_reductions": 5 if prune == "iterative" else 0, "digest": "d"}
    return {"ranks": ranks, "model": model, "prune": prune, "blocks": [side, ranks // side, 1], "counts": counts,
            "platform": {"ranks_on_a_node": 32}, "slowest_s": {"prune": seconds}}


class Fit(unittest.TestCase):
    def test_parameters_are_recovered_from_times_they_made(self):
        got = loggp.fit(observations(TRUE))
        for name in ("latency", "overhead", "gap", "big_g"):
            self.assertAlmostEqual(getattr(got, name) / getattr(TRUE, name), 1, places=6)

    def test_times_that_are_off_by_a_hundredth_move_parameters_little(self):
        got = loggp.fit(observations(TRUE, lambda i: 1.01 if i % 2 else 0.99))
        for name in ("latency", "overhead", "gap", "big_g"):
            self.assertAlmostEqual(getattr(got, name) / getattr(TRUE, name), 1, delta=0.05)

    def test_times_that_say_nothing_of_a_parameter_are_refused(self):
        with self.assertRaisesRegex(ValueError, "do not determine 4 numbers"):
            loggp.fit([o for o in observations(TRUE) if o.what == "way"])


class Replay(unittest.TestCase):
    def test_runs_that_take_a_multiple_of_their_messages_are_predicted_exactly(self):
        for model in ("p2p", "rma"):
            for prune in ("single-pass", "iterative"):
                runs = []
                for ranks in (64, 256, 1024):
                    one = run(ranks, prune, model=model)
                    one["slowest_s"]["prune"] = 1.7 * loggp.replay(one, NEAR, TRUE, "archer2")
                    runs.append(one)
                k, lines = loggp.predict({"machine": "archer2", "runs": runs}, NEAR, TRUE, 256, [4096])[model, prune]
                self.assertAlmostEqual(k, 1.7, places=6)
                self.assertEqual([use for *_, use in lines], ["fitted", "fitted", "predicted", "extrapolated"])
                self.assertAlmostEqual(lines[2][2] / lines[2][1], 1, places=6)
                longer = 1.7 * loggp.replay(run(4096, prune, model=model), NEAR, TRUE, "archer2")
                self.assertAlmostEqual(lines[3][2] / longer, 1, places=6)

    def test_a_run_that_behaves_otherwise_shows_as_a_difference(self):
        runs = [run(n, "iterative") for n in (64, 256, 1024)]
        for one, times in zip(runs, (1, 1, 2)):
            one["slowest_s"]["prune"] = times * loggp.replay(one, NEAR, TRUE, "archer2")
        _, lines = loggp.predict({"machine": "archer2", "runs": runs}, NEAR, TRUE, 256, [])["p2p", "iterative"]
        self.assertAlmostEqual(lines[2][2] / lines[2][1], 0.5, places=6)

    def test_work_of_the_rank_is_added_and_not_multiplied(self):
        one = run(64, "single-pass")
        work = {"costs_s": {"prune": 1e-9, "prune-iterative": 5e-8}}
        one["slowest_s"]["prune"] = loggp.replay(one, NEAR, TRUE, "archer2") + 1280e-9
        k, lines = loggp.predict({"machine": "archer2", "work": work, "runs": [one]}, NEAR, TRUE, 64, [])["p2p", "single-pass"]
        self.assertAlmostEqual(k, 1, places=6)
        self.assertAlmostEqual(lines[0][1] / lines[0][2], 1, places=6)

    def test_runs_on_one_node_alone_cannot_be_fitted_to(self):
        with self.assertRaisesRegex(ValueError, "more than one node"):
            loggp.predict({"machine": "archer2", "runs": [run(16, "iterative", 1e-3)]}, NEAR, TRUE, 256, [])

    def test_records_of_another_machine_are_refused(self):
        with self.assertRaisesRegex(ValueError, "allowed: of archer2, weak"):
            loggp.join_records([{"schema": "merganser-simulation", "machine": "cirrus", "scaling": "weak", "runs": []}], "archer2")


if __name__ == "__main__":
    own = sys.argv[1:]
    unittest.main(argv=[sys.argv[0], *(own[2:] if own[:1] == ["--build"] else own)], verbosity=2)
