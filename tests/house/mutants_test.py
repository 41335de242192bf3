"""Mutants: each is behind a switch, changes what it says and nothing else, and what no test notices is told."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from mutants import __main__ as command  # noqa: E402
from mutants import cases, python, report, tree  # noqa: E402
from mutants.sites import Site, drawn, rewritten  # noqa: E402

try:
    from mutants import cpp
except ImportError:  # Debian: python3-clang-14
    cpp = None

PROGRAM = r"""#include <cstdio>
#include <stdexcept>
#include <array>
constexpr int twice(int n) { return n * 2; }
static_assert(twice(1) == 2);
int steps = 0;
bool is_small(int n) {
  if (n < 0) throw std::invalid_argument(n == 7 ? "a" : "b");
  constexpr int kLimit = 3;
  return n < kLimit &&  // here "of one"
         n != 1;
}
template <typename T>
T sum(const std::array<T, 2>& of) {
  return of[0] + of[1];
}
int main() {
  std::array<int, 2> both{4, 2};
  ++steps;
  both[1] -= 1;
  std::printf("%d %d %d %d\n", is_small(2), is_small(1), sum(both), steps);
}
"""


class Cpp(unittest.TestCase):
    def test_what_a_compiler_remarks_on_in_mutants_is_no_error(self):
        """Files with mutants are compiled with the flags of other builds, where warnings are errors."""
        text = """int f(int a, int b) {
  bool c = b != 0;
  if (a) if (::merganser_mutant::on(1)) {} else a = 2;
  if (c < 2) return a;
  return (a == b < 3) + ((unsigned)a < 0u);
}
static void left_out() {}
int g(int a) { int u; int unused = a; if (a) u = a; return u; }
"""
        for before, fails in (("", True), (f'#include "{ROOT}/tools/mutants/switch.hpp"\n', False)):
            text_without = "namespace merganser_mutant { bool on(int); }\n" if fails else ""
            done = subprocess.run(["g++", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-x", "c++", "-c", "-o", os.devnull, "-"],
                                  input=before + text_without + text, capture_output=True, text=True)
            self.assertEqual(done.returncode != 0, fails, done.stderr)

    @unittest.skipIf(cpp is None, "libclang for Python is missing")
    def test_each_mutant_of_a_program_does_what_it_says_and_none_changes_nothing(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "src").mkdir()
            source = folder / "src/main.cpp"
            source.write_text(PROGRAM)
            entry = {"file": str(source), "command": f"g++ -std=c++20 -o x/program.dir/a.o -c {source}", "directory": name}
            (folder / "commands.json").write_text(json.dumps([entry]))
            order = drawn(cpp.Finder(name, ["src"]).parse(folder / "commands.json", ["program"]), "a", 1)
            by_words = {(s.kind, *s.words(PROGRAM)): s.number for s in order}
            text = rewritten(PROGRAM, order, "c++")
            self.assertEqual(text.count("\n"), PROGRAM.count("\n"))
            source.write_text(f'#include "{ROOT}/tools/mutants/switch.hpp"\n{text}')
            subprocess.run(["c++", "-std=c++20", source, "-o", folder / "program"], check=True)

            def said(number):
                done = subprocess.run([folder / "program"], env={"MERGANSER_MUTANT": str(number)}, capture_output=True, text=True)
                return done.stdout.strip() or "ended"

            self.assertEqual(said(0), "1 0 5 1")
            for words, wanted in [
                (("logic", 'n < kLimit && n != 1', 'n < kLimit || n != 1'), "1 1 5 1"),
                (("comparison", "n != 1", "n == 1"), "0 1 5 1"),
                (("condition", "n < 0", "!(n < 0)"), "ended"),
                (("number", "0", "0 + 1"), None),
                (("step", "++steps", "--steps"), "1 0 5 -1"),
                (("statement", "++steps", "(left out)"), "1 0 5 0"),
                (("assignment", "both[1] -= 1", "both[1] += 1"), "1 0 7 1"),
                (("arithmetic", "of[0] + of[1]", "of[0] - of[1]"), "1 0 3 1"),
            ]:
                self.assertIn(words, by_words)
                if wanted:
                    self.assertEqual(said(by_words[words]), wanted, words)
            # Neither what is computed by the compiler nor what is thrown, and no size of a type.
            lines = {s.line for s in order}
            self.assertFalse(lines & {4, 5, 9, 14}, lines)
            self.assertNotIn(("comparison", "n == 7", "n != 7"), by_words)
            self.assertEqual([s.words(PROGRAM)[0] for s in order if s.line == 18 and s.kind == "number"].count("2"), 1)
            reached = folder / "reached"
            reached.write_bytes(bytes(len(order) + 1))
            subprocess.run([folder / "program"], env={"MERGANSER_MUTANT_REACHED": str(reached)}, capture_output=True, check=True)
            self.assertEqual({n for n, byte in enumerate(reached.read_bytes()) if byte}, {s.number for s in order})


class Python(unittest.TestCase):
    def test_each_mutant_of_a_function_does_what_it_says(self):
        source = b"def f(a, b=[1]):\n    b.append(a)\n    if a < 3 and a:\n        return a * 2 > 2\n    raise ValueError(1 + 1)\n"
        order = drawn(python.sites_of("f.py", source), "f", 1)
        on = []
        names = {"merganser_mutant": lambda n: n in on}
        exec(rewritten(source.decode(), order, "python"), names)
        by_words = {s.words(source.decode()): s.number for s in order}
        self.assertTrue(names["f"](2, []))
        for words, wanted in [(("a * 2", "a / 2"), False), (("a * 2 > 2", "a * 2 >= 2"), True), (("a < 3", "a <= 3"), True)]:
            on[:] = [by_words[words]]
            self.assertEqual(names["f"](2, []), wanted, words)
        on[:] = [by_words["b.append(a)", "(left out)"]]
        kept = []
        names["f"](2, kept)
        self.assertEqual(kept, [])
        self.assertFalse({s.line for s in order} & {1, 5})


class Lists(unittest.TestCase):
    def sites(self):
        return [Site("a.cpp", 1, 1, i, i + 1, "number", "choose", [(i, i + 1), " + 1"]) for i in range(9)]

    def test_a_seed_gives_the_same_order_whatever_order_they_are_found_in(self):
        places = [[s.start for s in drawn(sites, "a", 1)] for sites in (self.sites(), self.sites()[::-1])]
        self.assertEqual(places[0], places[1])
        self.assertNotEqual(places[0], [s.start for s in drawn(self.sites(), "a", 2)])

    def test_what_does_not_compile_is_the_smallest_place_at_the_line(self):
        text = "f(\n1\n)"
        outer = Site("a.cpp", 4, 1, 0, 6, "statement", "skip", number=1)
        inner = Site("a.cpp", 5, 1, 3, 4, "number", "choose", number=2)
        self.assertEqual(tree.to_drop([outer, inner], {"a.cpp": {5}}, lambda s: text[s.start:s.end]), {2})
        self.assertEqual(tree.to_drop([outer, inner], {"a.cpp": {6}, "b.cpp": {5}}, lambda s: text[s.start:s.end]), {1})

    def test_lines_with_errors_are_those_of_the_sources_however_they_are_named(self):
        said = ("../src/a.cpp:5:3: error: no\n/t/src/b.hpp:7:1: error: no\n/t/src/b.hpp:9:1: note: here\n"
                "/t/build/unity.cxx:1:1: error: no\n/usr/include/x.h:2:1: error: no\n")
        source, build = Path("/t"), Path("/t/build")
        self.assertEqual(tree.lines_with_errors(said, source, build), {"src/a.cpp": {5}, "src/b.hpp": {7}})
        said = "In file included from ../src/a.cpp:1:\n/usr/include/x.h:2:1: error: no\n../src/a.cpp:8:4:   required from here\n"
        self.assertEqual(tree.lines_with_errors(said, source, build), {"src/a.cpp": {1, 8}})
        self.assertEqual(tree.lines_with_errors("ld: no\n", source, build), {})

    def test_a_list_is_read_again_as_long_as_the_code_is_the_same(self):
        options, texts = SimpleNamespace(module="m", seed="1", count=9), {"a.cpp": "123456789"}
        order = drawn(self.sites(), "m", 1)
        verdicts = {1: "killed by t (time)", 2: "survived", 3: "not run", 4: report.REFUSED}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "m.tsv"
            report.write(path, options, order, texts, verdicts)
            self.assertIn("1 of 3 mutants killed (33 %; 1 by time or memory)", path.read_text())
            self.assertEqual(report.read(path, options, order, texts), verdicts)
            unchanged = {n: v for n, v in verdicts.items() if order[n - 1].start == 4}
            self.assertEqual(report.read(path, options, order, {"a.cpp": "987654321"}), unchanged)
            self.assertEqual(report.read(path, SimpleNamespace(module="m", seed="2"), order, texts), {})
        told = list(report.survivors(order, texts, verdicts))
        self.assertEqual(len(told), 2)
        self.assertRegex(told[0], r"^a.cpp:1: (\d) -> \1 \+ 1$")
        self.assertTrue(told[1].endswith("(not run)"))


class Verdicts(unittest.TestCase):
    def test_a_mutant_is_killed_by_a_test_that_fails_or_hangs(self):
        once = tempfile.TemporaryDirectory()
        self.addCleanup(once.cleanup)
        script = (f'case $MERGANSER_MUTANT in 1) exit 1 ;; 2) sleep 1000 ;; 5) mkdir {once.name}/once ; [ $? -ne 0 ] ;; '
                  '0) printf "\\0\\1\\1\\1\\0\\1" >"$MERGANSER_MUTANT_REACHED" ;; esac')
        test = cases.Test("t", ["/bin/sh", "-c", script], "/", {})
        said = []
        tests = cases.without_mutant([test], [1, 2, 3, 4, 5], 1000, 1, said.append)
        self.assertEqual(test.reached, {1, 2, 3, 5})
        test.limit = lambda: 20 if os.environ.get("MERGANSER_TEST_PATIENCE") else 5
        found = {}
        cases.try_all([1, 2, 3, 4, 5], tests, 2, lambda number, verdict: found.update({number: verdict}))
        self.assertEqual(found, {1: "killed by t", 2: "killed by t (time)", 3: "survived", 4: "not run",
                                 5: "survived (one failure: t)"})

    def test_a_test_that_fails_without_a_mutant_ends_it(self):
        with self.assertRaisesRegex(RuntimeError, "t fails without a mutant .3.: why"):
            cases.without_mutant([cases.Test("t", ["/bin/sh", "-c", "echo why; exit 3"], "/", {})], [1], 20, 1, print)

    def test_wrong_options_are_refused(self):
        sys.stderr, kept = open(os.devnull, "w"), sys.stderr
        try:
            for words in (["nonsense"], ["comm", "--count", "0"], ["comm", "--only", "a"]):
                with self.assertRaises(SystemExit):
                    command.parse(words)
        finally:
            sys.stderr.close()
            sys.stderr = kept

    def test_the_programs_of_all_tests_that_are_run_are_built(self):
        """Tests that are ALONE have a program of their own, without which ctest could not run them."""
        for module, (_, _, labels, programs) in command.MODULES.items():
            for lists in (p for label in labels for where in (".", "packages/*") for p in ROOT.glob(f"{where}/tests/{label}/CMakeLists.txt")):
                for folder, name in re.findall(r"merganser_add_test\((\w+)/(\w+)[^)]*\bALONE\b", lists.read_text()):
                    self.assertIn(f"test_{folder}_{name}", programs, module)


if __name__ == "__main__":
    unittest.main()
