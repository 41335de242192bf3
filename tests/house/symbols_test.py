"""symbols.py finds what a shared library shows beside what it should."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "symbols.py"
CODE = """
namespace merganser { struct A { virtual ~A(); }; A::~A() {} void f() {} }
extern "C" void mg_open() {}
extern "C" void mg_close() {}
namespace other { void g() {} }
"""
OURS = 'mg_*; extern "C++" { merganser::*; vtable?for?merganser::*; typeinfo?for?merganser::*; typeinfo?name?for?merganser::*; };'


class Symbols(unittest.TestCase):
    def run_on(self, script, listed, *options):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "a.cpp").write_text(CODE)
            flags = ["-shared", "-fPIC"]
            if script:
                (folder / "a.map").write_text(script)
                flags.append(f"-Wl,--version-script={folder / 'a.map'}")
            subprocess.run(["c++", *flags, folder / "a.cpp", "-o", folder / "a.so"], check=True)
            kept = folder / "symbols.txt"
            if listed is not None:
                kept.write_text("".join(f"{name}\n" for name in listed))
            run = subprocess.run([sys.executable, TOOL, folder / "a.so", kept, *options], capture_output=True, text=True)
            return run, kept.read_text().splitlines() if kept.exists() else None

    def test_what_is_listed_passes(self):
        run, _ = self.run_on(f"MERGANSER_0.1 {{ global: {OURS} local: *; }};", ["mg_close", "mg_open"])
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn("2 of them C functions", run.stdout)

    def test_functions_that_are_new_or_gone_are_named(self):
        run, _ = self.run_on(f"MERGANSER_0.1 {{ global: {OURS} local: *; }};", ["mg_open", "mg_lost"])
        self.assertEqual(run.returncode, 1)
        self.assertIn("mg_close: is shown, but not in symbols.txt", run.stdout)
        self.assertIn("mg_lost: is in symbols.txt, but the library has no such function", run.stdout)
        self.assertNotIn("mg_open:", run.stdout)

    def test_without_a_list_there_are_no_functions(self):
        run, _ = self.run_on(f"MERGANSER_0.1 {{ global: {OURS} local: *; }};", None)
        self.assertEqual(run.returncode, 1)

    def test_update_writes_the_list(self):
        run, kept = self.run_on(f"MERGANSER_0.1 {{ global: {OURS} local: *; }};", ["# C", "mg_lost"], "--update")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertEqual(kept, ["# C", "mg_close", "mg_open"])

    def test_names_of_others_and_names_without_a_version_are_refused(self):
        run, _ = self.run_on("MERGANSER_0.1 { global: *; };", ["mg_close", "mg_open"])
        self.assertEqual(run.returncode, 1)
        self.assertIn("other::g(): is no name of merganser", run.stdout)
        self.assertNotIn("merganser::f", run.stdout)
        run, _ = self.run_on(None, ["mg_close", "mg_open"])
        self.assertEqual(run.returncode, 1)
        self.assertIn("mg_open: has no version of merganser", run.stdout)


if __name__ == "__main__":
    unittest.main()
