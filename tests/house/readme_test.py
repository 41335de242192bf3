"""The README shows what is there: its C++ is part of a compiled example, its commands and options exist.

readme_test.py [MERGANSER]: without the command, the parts about it are left out."""
import re
import subprocess
import sys
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
MERGANSER = None
README = (SOURCE / "README.md").read_text()


def commands():
    """(verb, options) of every command line of merganser in the README."""
    for line in re.findall(r"^    merganser (.*?)(?:\s+#.*)?$", README, flags=re.M):
        words = line.split()
        if words[0] == "run":
            yield "run", ["-n"]
            words = words[words.index("--") + 1:]
        if words[0] == "announce" and words[1] == "demo":
            words = words[:2] + words[3:]
        verb = " ".join(words[:2]) if words[0] in ("gen", "bench", "topo", "announce") else words[0]
        yield verb, [word for word in words if word.startswith("-")]


class Readme(unittest.TestCase):
    def test_its_cpp_is_part_of_the_example(self):
        example = (SOURCE / "examples" / "cluster.cpp").read_text().split("// [readme]\n")
        self.assertEqual(len(example), 3)
        self.assertEqual(re.findall(r"```cpp\n(.*?)```", README, flags=re.S), [example[1]])

    def test_it_is_short(self):
        self.assertLess(README.count("\n"), 70)

    def test_tasks_of_x_exist(self):
        usage = subprocess.run([SOURCE / "x"], capture_output=True, text=True, check=True).stdout
        for task in re.findall(r"`?\./x ([a-z]+)", README):
            self.assertRegex(usage, rf"(?m)^  {task} ")

    def test_commands_and_options_exist(self):
        if MERGANSER is None:
            self.skipTest("the command is not built")
        found = list(commands())
        self.assertGreater(len(found), 5)
        for verb, options in found:
            run = subprocess.run([MERGANSER, *verb.split(), "--help"], capture_output=True, text=True)
            self.assertEqual(run.returncode, 0, f"{verb}: {run.stderr}")
            for option in options:
                self.assertRegex(run.stdout, rf"(?m)(^|[\s,]){re.escape(option)}\b", f"{verb} --help does not know {option}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        MERGANSER = sys.argv.pop()
    unittest.main()
