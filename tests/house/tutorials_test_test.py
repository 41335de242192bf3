"""The test of tutorials finds what differs from what they show."""
import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import tutorials_test  # noqa: E402

TUTORIAL = """# How?

`words.txt`:

```text
one
two
```

```console
$ cat words.txt
one
two
$ wc -l \\
>   < words.txt
...
$ printf 'a 1.5 b\\nc\\nd\\n\\n'
a ... b
...
d
```
"""


class Tutorials(unittest.TestCase):
    def run_tutorial(self, text):
        with tempfile.TemporaryDirectory() as folder:
            tutorial = Path(folder) / "tutorial.md"
            tutorial.write_text(text)
            return tutorials_test.run(tutorial, dict(os.environ), Path(folder))

    def test_what_is_right_passes(self):
        self.assertIsNone(self.run_tutorial(TUTORIAL))

    def test_another_line_is_found(self):
        self.assertIn("in place of", self.run_tutorial(TUTORIAL.replace("one\ntwo\n$ wc", "one\nthree\n$ wc")))

    def test_a_line_more_and_a_line_less_are_found(self):
        self.assertIn("in place of", self.run_tutorial(TUTORIAL.replace("one\ntwo\n$ wc", "one\n$ wc")))
        self.assertIn("in place of", self.run_tutorial(TUTORIAL.replace("one\ntwo\n$ wc", "one\ntwo\ntwo\n$ wc")))

    def test_a_command_that_fails_is_found_also_in_a_pipe(self):
        self.assertIn("ended with 1", self.run_tutorial("```console\n$ false | cat\n```\n"))

    def test_text_beside_dots_is_compared(self):
        self.assertIn("in place of", self.run_tutorial(TUTORIAL.replace("a ... b", "a ... bb")))

    def test_blocks_of_other_languages_are_not_run(self):
        self.assertIsNone(self.run_tutorial("```sh\nfalse\n```\n"))


if __name__ == "__main__":
    unittest.main()
