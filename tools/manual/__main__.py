"""Writes the man pages and the completion of shells from the descriptions of verbs and options that the program itself prints.

python3 tools/manual PROGRAM FOLDER [--date YYYY-MM-DD]: runs PROGRAM (merganser) for its texts, and writes
FOLDER/man/merganser.1 and a page for every verb, FOLDER/completion/merganser.bash, _merganser (zsh) and merganser.fish. Files that
have not changed are left as they are. The date of the pages is that of SOURCE_DATE_EPOCH, else today, unless --date gives one.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import bash  # noqa: E402
import fish  # noqa: E402
import pages  # noqa: E402
import zsh  # noqa: E402


def ask(program, *arguments):
    """Returns what the program prints, without a launcher around it and whatever locale the user has."""
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60, env={**os.environ, "LC_ALL": "C"})
    if done.returncode != 0:
        sys.exit(f"manual: {program} {' '.join(arguments)} ended with exit code {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def write(path, text):
    """Writes a file if its text differs from what is there; builds that depend on it are then not repeated."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("program")
    options.add_argument("folder", type=Path)
    today = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))
    options.add_argument("--date", default=time.strftime("%Y-%m-%d", today))
    asked = options.parse_args()
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", asked.date):
        options.error(f'--date "{asked.date}"; allowed: YYYY-MM-DD')
    program = os.path.abspath(asked.program)
    described = json.loads(ask(program, "list-options", "--verbs"))
    verbs = described["verbs"]
    about = pages.About(described["version"], asked.date, ask(program, "--help"))
    made = pages.pages(verbs, about)
    for old in (asked.folder / "man").glob("merganser*.1"):
        if old.name not in made:
            old.unlink()  # of a verb that the program no longer has
    for name, text in made.items():
        write(asked.folder / "man" / name, text)
    for name, shell in (("merganser.bash", bash), ("_merganser", zsh), ("merganser.fish", fish)):
        write(asked.folder / "completion" / name, shell.completion(verbs))


main()
