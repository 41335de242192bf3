"""headers_alone.py names the header that needs another one before it, or that cannot be included twice."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "headers_alone.py"


class HeadersAlone(unittest.TestCase):
    def run_on(self, headers, *options):
        """Headers in one folder; those whose name has one before it, as graph/a.hpp, in a second one of that name."""
        with tempfile.TemporaryDirectory() as folder:
            folders = [f"{folder}/core"] + sorted({f"{folder}/{name.split('/')[0]}" for name in headers if "/" in name})
            for one in folders:
                Path(one).mkdir()
            for name, text in headers.items():
                (Path(folder) / (name if "/" in name else f"core/{name}")).write_text(text)
            return subprocess.run([sys.executable, TOOL, *folders, *options, "c++", "-std=c++20"], capture_output=True, text=True)

    def test_complete_headers_pass(self):
        run = self.run_on({"a.hpp": "#pragma once\n#include <vector>\nstd::vector<int> f();\n"})
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_a_missing_include_is_named(self):
        run = self.run_on({"good.hpp": "#pragma once\n", "bad.hpp": "#pragma once\nstd::vector<int> f();\n"})
        self.assertEqual(run.returncode, 1)
        self.assertIn("bad.hpp", run.stdout)
        self.assertNotIn("good.hpp", run.stdout)

    def test_a_header_that_cannot_be_included_twice_is_named(self):
        run = self.run_on({"twice.hpp": "struct A {};\n"})
        self.assertEqual(run.returncode, 1)
        self.assertIn("twice.hpp", run.stdout)

    def test_a_header_can_be_left_out(self):
        headers = {"good.hpp": "#pragma once\n", "bad.hpp": "#include <of_a_library_that_is_not_here.h>\n"}
        self.assertEqual(self.run_on(headers).returncode, 1)
        run = self.run_on(headers, "--except", "bad.hpp")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn("1 headers", run.stdout)

    def test_headers_of_several_folders_see_each_other(self):
        headers = {"a.hpp": "#pragma once\nstruct A {};\n", "graph/b.hpp": '#pragma once\n#include "a.hpp"\nstruct B : A {};\n'}
        run = self.run_on(headers)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn("2 headers", run.stdout)
        run = self.run_on({**headers, "topology/c.hpp": '#pragma once\n#include "a.hpp"\nB f();\n'})
        self.assertEqual(run.returncode, 1)
        self.assertIn("c.hpp does not compile alone", run.stdout)

    def test_headers_that_must_be_refused_are(self):
        good = {"a.hpp": "#error needs more\n", "b.hpp": '#include "a.hpp"\nnonsense\n'}
        self.assertEqual(self.run_on(good, "--refused", "needs more").returncode, 0)
        run = self.run_on({**good, "c.hpp": "int c;\n"}, "--refused", "needs more")
        self.assertEqual(run.returncode, 1)
        self.assertIn("c.hpp", run.stdout)
        self.assertNotIn("b.hpp", run.stdout)

    def test_an_empty_folder_is_an_error(self):
        self.assertEqual(self.run_on({}).returncode, 2)


if __name__ == "__main__":
    unittest.main()
