"""The attack finds a program that misbehaves, tells nothing of one that does not, and leaves nothing behind."""
import io
import os
import random
import stat
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from attack import __main__ as command  # noqa: E402
from attack import judge, verbs  # noqa: E402
from attack.attack import Attack  # noqa: E402
from attack.attempt import run_case, shrink  # noqa: E402
from attack.campaign import Campaign  # noqa: E402
from attack.case import Case, Part, Recipe  # noqa: E402
from attack.classes import columns, inputs  # noqa: E402
from attack.processes import Result, marked  # noqa: E402
from attack.world import World  # noqa: E402

# A program that does, well or badly, what its first argument says.
FAKE = r"""#!/bin/sh
if [ "$1" = --help ]; then echo "  copy    copies a file"; exit 0; fi
if [ "$2" = --help ]; then printf '  -o, --output FILE    where to\n  --steps N    how many\n  IN   what\n'; exit 0; fi
if [ "$1" = --version ]; then exit 0; fi
case $1 in
  copy) cat "$2" >"$3.part" && mv "$3.part" "$3" ;;
  overwrite) echo new >"$2" ;;
  lose) echo new >"$3"; echo "input: no" >&2; exit 3 ;;
  internal) echo "internal error: what" >&2; exit 70 ;;
  crash) kill -SEGV $$ ;;
  hang) exec sleep 1000 ;;
  leave) echo x >"$3.tmp" ;;
  outside) echo x >../outside/victim ;;
  lines) echo "input: one" >&2; echo "input: two" >&2; exit 3 ;;
  echo) printf 'input: \033[31m\n' >&2; exit 3 ;;
  long) printf 'input: %0100000d\n' 7 >&2; exit 3 ;;
  child) sleep 1000 >/dev/null 2>&1 & exit 0 ;;
  ill) if grep -q bad "$2"; then echo "internal error: bad" >&2; exit 70; fi ;;
  refuse) echo "input: $2: line 1" >&2; exit 3 ;;
esac
"""


def case(word, **more):
    out = Case(verb=word, parts=[Part([word, "in.txt", "out.txt"])], files={"work/in.txt": b"in\n", "work/out.txt": b"old\n",
               "outside/victim": b"not mine\n"}, inputs=["work/in.txt"], outputs=["work/out.txt"])
    for name, value in more.items():
        setattr(out, name, value)
    return out


class One(Attack):
    """A class whose every case is the same."""

    def __init__(self, made):
        self.name, self.made = "one", made

    def make(self, _, __):
        return self.made


def run_cases(campaign, number):
    """Runs so many cases, however slow the machine is."""
    attack = campaign.attacks[0]
    make, made = attack.make, []

    def counted(*arguments):
        made.append(None)
        if len(made) == number:
            campaign.end = 0  # this is the last one
        return make(*arguments)

    attack.make = counted
    campaign.run(600, 1)


class WithProgram(unittest.TestCase):
    def setUp(self):
        command.catch_signals()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.program = self.folder / "program"
        self.program.write_text(FAKE)
        self.program.chmod(self.program.stat().st_mode | stat.S_IXUSR)
        self.world = World(self.program, folder.name)
        self.addCleanup(self.world.close)

    def kinds(self, made):
        return [f.kind for f in run_case(made, One(made), self.world).findings]

    def assert_finds(self, word, kind, **more):
        self.assertIn(kind, [k.split(" ")[0] if kind == k.split(" ")[0] else k for k in self.kinds(case(word, **more))])


class Findings(WithProgram):
    def test_nothing_is_wrong_with_a_program_that_works_or_refuses(self):
        self.assertEqual(self.kinds(case("copy", read_again=[["copy", "out.txt", "other.txt"]])), [])
        self.assertEqual(self.kinds(case("refuse")), [])

    def test_an_input_that_is_overwritten_is_found(self):
        self.assert_finds("overwrite", "input lost")

    def test_an_old_output_that_is_lost_with_an_error_is_found(self):
        self.assert_finds("lose", "old output lost")
        self.assertEqual(self.kinds(case("lose", old_or_new=True)), [])

    def test_an_internal_error_and_a_crash_are_found(self):
        self.assert_finds("internal", "exit")
        self.assert_finds("crash", "signal")

    def test_a_hang_is_found_and_ended(self):
        self.assertEqual(self.kinds(case("hang", limits={"seconds": 0.3})), ["hang"])

    def test_a_temporary_that_is_left_is_found(self):
        self.assert_finds("leave", "left")

    def test_a_change_outside_is_found(self):
        self.assert_finds("outside", "outside")

    def test_two_lines_control_characters_and_long_lines_are_found(self):
        self.assert_finds("lines", "error lines")
        self.assert_finds("echo", "control characters")
        self.assert_finds("long", "long line")

    def test_a_process_that_is_left_is_found_and_ended(self):
        made = case("child")
        attempt = run_case(made, One(made), self.world)
        self.assertIn("process left", [f.kind for f in attempt.findings])
        self.assertEqual(sum(len(marked(p.mark)) for p in self.world.running), 0)

    def test_an_output_that_cannot_be_read_again_is_found(self):
        self.assertEqual(self.kinds(case("copy", read_again=[["refuse", "out.txt"]])), ["unreadable output"])

    def test_an_endless_program_is_interrupted(self):
        attack = One(case("hang", endless=True))
        self.world.scaled_at, self.world.scale_now = time.monotonic() + 1000, 0.1
        self.assertEqual(run_case(attack.made, attack, self.world).findings, [])

    def test_folders_of_cases_are_removed(self):
        self.kinds(case("copy"))
        self.assertEqual([n for n in os.listdir(self.world.scratch) if n.startswith("case-")], [])


class Campaigns(WithProgram):
    def test_a_finding_is_shrunk_to_what_makes_it(self):
        made = case("ill")
        made.files["work/in.txt"] = Recipe(b" ".join, [b"a", b"bad", b"line"])
        made.parts.append(Part(["--steps", "3"], True))
        small = shrink(run_case(made, One(made), self.world), One(made), self.world, time.monotonic() + 60).case
        self.assertEqual(small.words(), ["ill", "in.txt", "out.txt"])
        self.assertEqual(small.files["work/in.txt"].steps, [b"bad"])

    def test_a_finding_is_told_once_counted_and_kept_with_the_line_that_makes_it_again(self):
        said = []
        campaign = Campaign(self.world, [One(case("internal"))], "7", self.folder / "keep", said.append)
        run_cases(campaign, 3)
        lines, found = campaign.summary()
        self.assertGreater(found, 1)
        self.assertEqual(len([s for s in said if s.startswith("FINDING")]), 1, said)
        self.assertIn("again: ./x attack one --seed 7 --case 0", said[0])
        self.assertIn(f"{found} findings", lines[-1])
        kept = (self.folder / "keep" / "one-7-0" / "command.txt").read_text()
        self.assertIn("merganser internal in.txt out.txt", kept)
        self.assertIn("exit code: 70", kept)

    def test_a_fault_of_the_attack_itself_counts_as_a_finding(self):
        broken = One(None)
        broken.make = lambda *_: 1 / 0
        campaign = Campaign(self.world, [broken], "7", self.folder / "keep", lambda _: None)
        run_cases(campaign, 1)
        self.assertGreater(campaign.summary()[1], 0)

    def test_time_that_is_over_ends_what_runs(self):
        self.world.end = 0
        made = case("hang")
        campaign = Campaign(self.world, [One(made)], "7", self.folder / "keep", lambda _: None)
        began = time.monotonic()
        campaign.run(0.2, 1)
        self.assertLess(time.monotonic() - began, 60)  # the fake one sleeps for 1,000 s
        self.assertEqual(campaign.unfinished, ["one 0"])

    def test_cases_of_verbs_that_the_program_lacks_are_left_out_and_told(self):
        said = []
        campaign = Campaign(self.world, [One(case("msf"))], "7", self.folder / "keep", said.append)
        run_cases(campaign, 3)
        lines, found = campaign.summary()
        self.assertEqual(found, 0)
        self.assertIn("left out, as the program lacks their verbs: 3 cases of msf", lines)
        campaign.replay(campaign.attacks[0], 0)
        self.assertEqual(said, ["this case cannot be run here: the program has no verb msf"])

    def test_a_sample_that_the_program_cannot_make_leaves_its_case_out(self):
        with self.assertRaisesRegex(verbs.Absent, "no verb graph convert"):
            self.world.sample("g.mtx")


class Parts(unittest.TestCase):
    def test_the_verb_of_a_command_is_known(self):
        self.assertEqual(verbs.named(["topo", "gen", "ring"]), "topo gen")
        self.assertEqual(verbs.named(["run", "-n", "2", "--", "topo", "gen"]), "topo gen")
        self.assertEqual(verbs.named(["run", "-n", "2"]), "run")
        self.assertIsNone(verbs.named(["copy", "msf"]))

    def test_options_of_a_verb_are_read_from_its_help(self):
        verb = verbs.parse("x", "usage: x\n\n  IN          file\n\nOutput:\n  -o, --output FILE           text\n  --quiet     say\n"
                                "  --comm auto|threads|rma\n                  long\n")
        self.assertEqual([(o.letter, o.name, o.value) for o in verb.options],
                         [("-o", "--output", "FILE"), ("", "--quiet", ""), ("", "--comm", "auto|threads|rma")])
        self.assertEqual(verb.positionals, ["IN"])
        self.assertEqual(verbs.parse_verbs("  topo gen   make\n  run    start\n"), ["topo gen", "run"])

    def test_damage_changes_a_file_and_is_the_same_for_a_seed(self):
        for content, ways in ((b"1 2 3\n4 5 6\n" * 9, inputs.TEXT), (bytes(range(256)), inputs.BINARY)):
            for way in ways:
                made = {way(random.Random(f"3/a/{i // 2}"), content) for i in range(40)}
                self.assertNotIn(content, made, way)
                self.assertTrue(1 < len(made) <= 20, way)

    def test_an_index_has_a_heading_of_one_name(self):
        seen = set()
        for seed in range(100):
            dialect = columns.Dialect(random.Random(seed), 3)
            dialect.heading = ["x", "y", "z"]
            columns.index(random.Random(seed), [[1.5, 2.5, 3.5]], dialect)
            if " " in dialect.heading[0]:
                self.assertTrue(dialect.quoted or dialect.separator.strip(" "), dialect.separator)
            seen.add(dialect.heading[0])
        self.assertEqual(seen, {"", "index", "Unnamed: 0"})

    def test_what_may_be_as_large_as_it_likes_and_is_ended_is_no_finding(self):
        ended = Result([], -9, b"", b"", 1, 0, too_large=True)
        self.assertEqual([f.kind for f in judge.findings(case("copy"), ended, {}, {})], ["memory"])
        self.assertEqual(judge.findings(case("copy", endless=True), ended, {}, {}), [])

    def test_the_line_that_run_repeats_is_no_error_line(self):
        result = Result([], 3, b"", b"+ mpirun -n 2\nmerganser: warning: slow\ninput: no\n", 0, 0)
        self.assertEqual(judge.error_lines(result), [b"input: no"])

    def test_wrong_options_are_refused(self):
        sys.stderr, kept = io.StringIO(), sys.stderr
        try:
            for words in (["nonsense"], ["--for", "soon"], ["--case", "1"], ["--jobs", "0"]):
                with self.assertRaises(SystemExit) as end:
                    command.parse(words)
                self.assertEqual(end.exception.code, 2)
        finally:
            sys.stderr = kept
        self.assertEqual(command.seconds("10m"), 600)


if __name__ == "__main__":
    unittest.main()
