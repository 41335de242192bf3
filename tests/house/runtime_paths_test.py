"""runtime_paths.py finds what lets somebody else decide which libraries are loaded."""
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "runtime_paths.py"


class RuntimePaths(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)
        self.addCleanup(self.temporary.cleanup)
        (self.folder / "a.c").write_text("int f(void) { return 1; }\n")

    def library(self, name, *paths):
        flags = [f"-Wl,-rpath,{path}" for path in paths]
        subprocess.run(["cc", "-shared", "-fPIC", *flags, self.folder / "a.c", "-o", self.folder / name], check=True)
        return self.folder / name

    def run_on(self, *paths):
        run = subprocess.run([sys.executable, TOOL, *paths], capture_output=True, text=True)
        return run.returncode, run.stdout

    def test_absolute_folders_and_those_beside_the_file_pass(self):
        self.library("a.so", "/usr/lib", "$ORIGIN", "${ORIGIN}/../lib")
        self.library("b.so")
        self.assertEqual(self.run_on(self.folder), (0, "2 programs and libraries: no empty and no relative part in RUNPATH or RPATH\n"))

    def test_empty_and_relative_parts_are_named(self):
        for path, part in [("/usr/lib:", ""), (":/usr/lib", ""), ("/usr/lib::/lib", ""), ("lib", "lib"), (".", "."), ("$ORIGINAL", "$ORIGINAL")]:
            code, text = self.run_on(self.library("a.so", path))
            self.assertEqual(code, 1, path)
            self.assertIn(f'RUNPATH "{path}": part "{part}"; allowed: absolute folders', text)

    def test_the_older_entry_is_read_too(self):
        code, text = self.run_on(self.library("a.so", "here,--disable-new-dtags"))
        self.assertEqual(code, 1)
        self.assertIn('RPATH "here"', text)

    def test_wheels_are_looked_into(self):
        library = self.library("a.so", "/usr/lib:")
        wheel = self.folder / "a-1-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as file:
            file.write(library, "a/a.so")
        code, text = self.run_on(wheel)
        self.assertEqual(code, 1)
        self.assertIn('a-1-py3-none-any.whl/a/a.so: RUNPATH "/usr/lib:"', text)

    def test_where_nothing_is_linked_nothing_was_checked(self):
        code, text = self.run_on(self.folder)
        self.assertEqual(code, 1)
        self.assertIn("no program and no library is there", text)


if __name__ == "__main__":
    unittest.main()
