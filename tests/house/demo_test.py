"""What the README shows of ./x demo is what it prints, and the picture is the one it paints: demo_test.py MERGANSER."""
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
MERGANSER = None


class Demo(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.build = Path(tempfile.mkdtemp(dir="."))  # of the tests: what it writes takes half a gigabyte
        cls.addClassCleanup(shutil.rmtree, cls.build)
        (cls.build / "bin").mkdir()
        (cls.build / "bin" / "merganser").symlink_to(MERGANSER)
        cls.run_ = subprocess.run([SOURCE / "tools" / "demo", cls.build], capture_output=True, text=True)

    def test_it_ends_well(self):
        self.assertEqual(self.run_.returncode, 0, self.run_.stdout + self.run_.stderr)

    def test_it_prints_what_the_readme_shows(self):
        shown = re.search(r"^    \$ \./x demo\n(.*?)^    \$ ", (SOURCE / "README.md").read_text(), flags=re.S | re.M)[1]
        lines = [line[4:] for line in shown.splitlines()]
        self.assertGreater(len(lines), 5)
        printed = self.run_.stdout.splitlines()
        for line in lines:
            self.assertIn(line, printed)
        places = [printed.index(line) for line in lines]
        self.assertEqual(places, sorted(places))

    def test_the_picture_of_the_readme_is_the_one_it_paints(self):
        self.assertEqual((self.build / "demo" / "slab.svg").read_text(), (SOURCE / "docs" / "merge.svg").read_text())


if __name__ == "__main__":
    MERGANSER = Path(sys.argv.pop()).resolve()
    unittest.main()
