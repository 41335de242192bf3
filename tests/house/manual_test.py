"""Man pages and completion tell what the program has: manual_test.py MERGANSER.

Parts about a shell or about a checker of man pages are skipped where it is missing.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
MERGANSER = None
LIMIT = 60 * int(os.environ.get("MERGANSER_TEST_PATIENCE", "1"))


def needs(program):
    return unittest.skipUnless(shutil.which(program), f"{program} is not installed")


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, **options)


class Manual(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.kept.name)
        cls.made = cls.generate(cls.folder, "--date", "2026-11-26")
        cls.verbs = json.loads(run(MERGANSER, "list-options", "--verbs").stdout)["verbs"]
        cls.pages = sorted((cls.folder / "man").iterdir())

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    @staticmethod
    def generate(folder, *options, **environment):
        return run(sys.executable, SOURCE / "tools" / "manual", MERGANSER, folder, *options, env={**os.environ, **environment})

    def test_every_verb_and_option_of_the_program_is_in_the_pages(self):
        self.assertEqual(self.made.returncode, 0, self.made.stderr)
        self.assertEqual(len(self.pages), len(self.verbs) + 1)
        overview = (self.folder / "man" / "merganser.1").read_text()
        for verb in self.verbs:
            page = (self.folder / "man" / f"merganser-{verb['name'].replace(' ', '-')}.1").read_text()
            plain = page.replace("\\-", "-").replace("\\:", "")
            self.assertIn(f"merganser\\-{verb['name'].replace(' ', chr(92) + '-')} (1)", overview)
            for option in verb["options"]:
                if not option["hidden"]:
                    name = option["name"] if option["positional"] else "--" + option["name"]
                    self.assertRegex(plain, rf"(?m)^\.TP\n.*{re.escape(name)}\\fR", f"{verb['name']}: {name}")

    def test_pages_of_the_same_program_are_equal_and_old_ones_are_removed(self):
        with tempfile.TemporaryDirectory() as other:
            (Path(other) / "man").mkdir()
            (Path(other) / "man" / "merganser-of-old.1").touch()
            self.assertEqual(self.generate(Path(other), SOURCE_DATE_EPOCH="1795651200").returncode, 0)  # the same day
            for page in self.pages:
                self.assertEqual((Path(other) / "man" / page.name).read_bytes(), page.read_bytes(), page.name)
            self.assertEqual(len(list((Path(other) / "man").iterdir())), len(self.pages))

    def test_a_date_that_is_none_is_refused(self):
        done = self.generate(self.folder, "--date", "soon")
        self.assertEqual(done.returncode, 2)
        self.assertIn('--date "soon"; allowed: YYYY-MM-DD', done.stderr)

    @needs("mandoc")
    def test_mandoc_finds_nothing(self):
        done = run("mandoc", "-Tlint", "-Wwarning", *self.pages)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    @needs("groff")
    def test_groff_finds_nothing(self):
        done = run("groff", "-man", "-ww", "-Tutf8", "-rLL=78n", *self.pages)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def complete_in_bash(self, *words, settings=False):
        """Returns what bash proposes for the last of the words, behind the arguments of compopt where they are wanted."""
        script = (f". {self.folder}/completion/merganser.bash; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _merganser; "
                  "printf '%s\\n' \"${COMPREPLY[@]}\"")
        if settings:
            script = "compopt() { echo \"$@\"; }; " + script
        done = run("bash", "-u", "-c", script, "bash", *words, cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout.split()

    @needs("bash")
    def test_bash_completes_verbs_options_values_and_files(self):
        done = run("bash", "-c", f". {self.folder}/completion/merganser.bash; complete -p merganser")
        self.assertEqual(done.stdout.strip(), "complete -F _merganser merganser")
        (self.folder / "some_parcels.nc").touch()
        for words, expected in [
                (["merganser", "clus"], ["cluster"]), (["merganser", "gen", ""], ["random"]),
                (["merganser", "cluster", "--min-vol"], ["--min-volume-ratio"]),
                (["merganser", "cluster", "--comm", "th"], ["threads"]),
                (["merganser", "cluster", "--comm", "=", "th"], ["threads"]),
                (["merganser", "cluster", "--steps", ""], []), (["merganser", "cluster", "some"], ["some_parcels.nc"]),
                (["merganser", "cluster", "-o", "some"], ["some_parcels.nc"]),
                (["merganser", "run", "-n", "4", "--", "cluster", "--lab"], ["--labels"]),
                (["merganser", "run", "-n", "4", "gen", "random", "--like-paper", "s"], ["scaling"]),
                (["merganser", "nothing", ""], [])]:
            self.assertEqual(self.complete_in_bash(*words), expected, words)
        for verb in self.verbs:
            found = self.complete_in_bash("merganser", *verb["name"].split(), "--")
            known = [f"--{o['name']}" for o in verb["options"] if not o["positional"] and not o["hidden"]]
            self.assertEqual(sorted(found), sorted([*known, "--help"]), verb["name"])

    def verb_is_there(self, verb):
        """Returns whether the program has a verb, which it lacks if it was built without its package."""
        return any(v["name"] == verb for v in self.verbs)

    @needs("bash")
    def test_bash_completes_arguments_and_lists_of_packages(self):
        (self.folder / "some_parcels.nc").touch()
        for words, expected in [
                (["merganser", "flow", "tay"], ["taylor-green"]),
                (["merganser", "announce", "demo", ""], ["droplet", "potts"]),
                (["merganser", "topo", "gen", "torus"], ["torus", "torus1d", "torus2d", "torus3d"]),
                (["merganser", "topo", "bench", "--models", "thr"], ["threads"]),
                (["merganser", "topo", "bench", "--models", "all,thr"], ["all,threads"]),
                (["merganser", "topo", "bench", "--models", "=", "all,thr"], ["all,threads"]),
                (["merganser", "topo", "bench", "--graph", "chain,torus"], ["chain,torus", "chain,torus1d", "chain,torus2d", "chain,torus3d"]),
                (["merganser", "topo", "bench", "--graph", "some"], ["some_parcels.nc"])]:
            if self.verb_is_there(words[1]) or self.verb_is_there(" ".join(words[1:3])):
                self.assertEqual(self.complete_in_bash(*words), expected, words)

    @needs("bash")
    def test_bash_quotes_names_of_files_beside_words(self):
        (self.folder / "some_parcels.nc").touch()
        for words, expected in [
                (["merganser", "cluster", "some"], ["-o", "filenames", "some_parcels.nc"]),
                (["merganser", "topo", "bench", "--graph", "some"], ["-o", "nospace", "-o", "filenames", "some_parcels.nc"]),
                (["merganser", "topo", "bench", "--graph", "chain,ring"], ["-o", "nospace", "chain,ring"]),
                (["merganser", "topo", "tail", "--graph", "some"], ["-o", "filenames", "some_parcels.nc"])]:
            if words[1] != "topo" or self.verb_is_there(" ".join(words[1:3])):
                self.assertEqual(self.complete_in_bash(*words, settings=True), expected, words)

    @needs("bash")
    def test_kernels_of_topo_tail_are_names_alone(self):
        if not self.verb_is_there("topo tail"):
            self.skipTest("the program has no topo tail")
        for option in ("--kernels", "--aggressor-kernel"):
            found = self.complete_in_bash("merganser", "topo", "tail", option, "")
            self.assertTrue({"p2p.isend-irecv", "threads.copy-flag"} & set(found), option)
            self.assertFalse({"all", "default"} & set(found), option)

    @needs("shellcheck")
    def test_shellcheck_finds_nothing(self):
        done = run("shellcheck", "-s", "bash", self.folder / "completion" / "merganser.bash")
        self.assertEqual(done.stdout, "")

    @needs("zsh")
    def test_zsh_completes(self):
        done = run("zsh", "-n", self.folder / "completion" / "_merganser")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        # _arguments and its relatives as functions that print what they are given.
        script = ("_arguments() { print -rl -- \"$@\" }; compadd() { print -rl -- \"$@\" }; _describe() { print -rl -- ${(P)2} }; "
                  f"_try() {{ words=(\"$@\"); CURRENT=$#; source {self.folder}/completion/_merganser }}; _try ")
        self.assertIn("cluster:merge the parcels of a file", run("zsh", "-f", "-c", script + "merganser ''").stdout)
        self.assertEqual(run("zsh", "-f", "-c", script + "merganser gen ''").stdout, "random\n")
        for command in ("merganser cluster ''", "merganser run -n 4 -- cluster ''"):
            self.assertIn(":comm:(auto threads", run("zsh", "-f", "-c", script + command).stdout, command)
        for verb, line in [("flow", r"(?m)^:case:\(.*taylor-green.*\)$"),
                           ("topo bench", r"(?m)^--models=.*:_values -s , models all threads"),
                           ("topo bench", r"(?m)^--graph=.*words\\:word\\:_values -s , graph .*files\\:file\\:_files"),
                           ("topo tail", r"(?m)^--graph=.*words\\:word\\:\(.*files\\:file\\:_files")]:
            if self.verb_is_there(verb):
                self.assertRegex(run("zsh", "-f", "-c", f"{script}merganser {verb} ''").stdout, line)
        # A specification of an option is its name and description, then a message and an action, which a colon would end.
        for verb in self.verbs:
            for line in run("zsh", "-f", "-c", f"{script}merganser {verb['name']} ''").stdout.splitlines():
                if line.startswith("-") and not line.startswith("-S"):
                    self.assertLessEqual(len(re.findall(r"(?<!\\):", line)), 2, line)

    @needs("fish")
    def test_fish_completes(self):
        for words, expected in [("merganser clus", "cluster"), ("merganser gen ", "random"),
                                ("merganser cluster --min-vol", "--min-volume-ratio"),
                                ("merganser cluster --comm th", "threads"), ("merganser run -n 4 cluster --lab", "--labels"),
                                ("merganser flow tay", "taylor-green"), ("merganser announce demo po", "potts"),
                                ("merganser topo bench --models thr", "threads"),
                                ("merganser topo bench --models all,thr", "all,threads")]:
            first, second = [*words.split()[1:3], ""][:2]
            if first in ("flow", "announce", "topo") and not (self.verb_is_there(first) or self.verb_is_there(f"{first} {second}")):
                continue
            done = run("fish", "--no-config", "-c", f"source {self.folder}/completion/merganser.fish; complete -C '{words}'")
            self.assertEqual((done.stdout.split("\t")[0].strip(), done.stderr), (expected, ""), words)


if __name__ == "__main__":
    MERGANSER = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
