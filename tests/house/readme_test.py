"""The README shows what is there: its C++ is part of a compiled example, its commands and options exist, as do those of
all documents.

readme_test.py [MERGANSER]: without the command, the parts about it are left out."""
import re
import subprocess
import sys
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
MERGANSER = None
README = (SOURCE / "README.md").read_text()
PACKAGES = SOURCE / "packages"  # may be deleted, or a part of it
DOCUMENTS = [SOURCE / "README.md", *sorted((SOURCE / "docs").rglob("*.md")), *sorted(PACKAGES.glob("*.md")),
             *sorted(PACKAGES.glob("*/*.md")), *sorted(PACKAGES.glob("*/docs/**/*.md"))]
# Verbs that a program without some of the packages lacks.
OF_PACKAGES = re.compile(r"(topo|graph) \w+|msf|linkage|flow|announce (demo|table\d)|bench msf")
TWO_WORDS = ("gen", "bench", "topo", "announce", "graph")


def shown(text):
    """What comes after "merganser" in the commands that a document shows, in blocks, without their comments."""
    blocks = re.findall(r"^```[a-z]*\n(.*?)^```", text, flags=re.S | re.M) + re.findall(r"^    (.*)$", text, flags=re.M)
    for line in "\n".join(blocks).split("\n"):
        command = re.match(r"(?:\$ )?(?:build/bin/)?merganser ([a-z].*?)(?:\s+#.*)?$", line)
        if command:
            yield command[1].split()


def commands(text):
    """(verb, options) of every command that a document shows."""
    for words in shown(text):
        if words[0] == "run":
            yield "run", ["-n"]
            words = words[words.index("--") + 1:]
        if words[:2] == ["announce", "demo"]:
            words = words[:2] + words[3:]
        if "--" in words:  # arguments of another program
            words = words[:words.index("--")]
        verb = " ".join(words[:2]) if words[0] in TWO_WORDS else words[0]
        yield verb, [word for word in words if word.startswith("-")]


class Readme(unittest.TestCase):
    def test_its_cpp_is_part_of_the_example(self):
        example = (SOURCE / "examples" / "01_cluster.cpp").read_text().split("// [readme]\n")
        self.assertEqual(len(example), 3)
        self.assertEqual(re.findall(r"```cpp\n(.*?)```", README, flags=re.S), [example[1]])

    def test_c_and_fortran_of_the_documents_are_parts_of_examples(self):
        text = (SOURCE / "docs" / "embed.md").read_text()
        stars = (SOURCE / "examples" / "c" / "stars_c.c").read_text().split("  /* [embed] */\n")
        self.assertEqual(len(stars), 3)
        self.assertEqual(re.findall(r"```c\n(.*?)```", text, flags=re.S), [stars[1]])
        fortran = (SOURCE / "examples" / "fortran" / "stars.f90").read_text()
        self.assertEqual(re.findall(r"```fortran\n(.*?)```", text, flags=re.S), [fortran])
        self.assertLessEqual(fortran.count("\n"), 25)

    def test_it_is_short(self):
        self.assertLess(README.count("\n"), 110)

    def test_each_package_has_five_lines_with_a_command(self):
        for readme in sorted(PACKAGES.glob("*/README.md")):
            name = readme.parent.name
            text = re.search(rf"(?m)^\*\*\[{name}\]\(packages/{name}/README\.md\)\*\*: ((?:.+\n)+)\n    (.+)\n", README)
            self.assertIsNotNone(text, name)
            self.assertLessEqual(text[1].count("\n") + 1, 5, name)
            self.assertRegex(text[2], r"^(merganser|\./x) [a-z]", name)

    def test_its_first_screen_is_a_sentence_a_picture_and_two_commands(self):
        sentence, picture, commands_of_x = README.split("\n\n")[1:4]
        self.assertRegex(sentence, r"^merganser [^.\n]*\.$")
        self.assertRegex(picture, r"^!\[[^\]]+\]\(docs/[a-z]+\.(png|svg)\)$")
        self.assertLess((SOURCE / re.search(r"\((.*)\)", picture)[1]).stat().st_size, 300_000)
        self.assertIn("two commands", commands_of_x)
        self.assertEqual(re.findall(r"^    \./x (\w+)", README.split("## ")[0], flags=re.M), ["demo", "test"])

    def test_tasks_of_x_exist(self):
        usage = subprocess.run([SOURCE / "x"], capture_output=True, text=True, check=True).stdout
        for document in DOCUMENTS:
            for task in re.findall(r"`?\./x ([a-z][a-z0-9]*)", document.read_text()):
                self.assertRegex(usage, rf"(?m)^  {task} ", document.name)

    def test_commands_and_options_exist(self):
        if MERGANSER is None:
            self.skipTest("the command is not built")
        listed = subprocess.run([MERGANSER, "--help"], capture_output=True, text=True, check=True).stdout
        helps, lacks = {}, set()
        found = [(document.name, *command) for document in DOCUMENTS for command in commands(document.read_text())]
        self.assertGreater(len(found), 50 if PACKAGES.is_dir() else 20)
        for document, verb, options in found:
            if OF_PACKAGES.fullmatch(verb) and not re.search(rf"(?m)^  {verb}  ", listed):
                lacks.add(verb)
                continue
            if verb not in helps:
                run = subprocess.run([MERGANSER, *verb.split(), "--help"], capture_output=True, text=True)
                self.assertEqual(run.returncode, 0, f"{document}: {verb}: {run.stderr}")
                helps[verb] = run.stdout
            for option in options:
                name = re.escape(option.split("=")[0])
                self.assertRegex(helps[verb], rf"(?m)(^|[\s,]){name}\b", f"{document}: {verb} --help does not know {option}")
        if lacks:
            print(f"not checked, as the program lacks these verbs of packages: {', '.join(sorted(lacks))}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        MERGANSER = sys.argv.pop()
    unittest.main()
