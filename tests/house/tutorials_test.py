"""What tutorials show is what happens: their files are written, their commands run, and what these print is compared.

tutorials_test.py [--build BUILD] TUTORIAL...: commands that need an installed library (make, c++ with pkg-config) find one that is
installed from BUILD to a temporary folder. ./x simulate runs what has been compiled (build-simgrid); where it or SimGrid is missing, the
exit code is 77 and a line says so.

A block of code below a paragraph that ends with "`NAME`:" is the file NAME. Of a block `console` lines behind "$ " are commands, lines
behind "> " continue them, and the others are what they print: "..." stands for any text in a line, and a line of "..." for any
lines."""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BLOCK = re.compile(r"(?:`([\w.]+)`[^\n`]*:\n\n)?^```(\w*)\n(.*?)^```", re.S | re.M)
SOURCE = Path(__file__).resolve().parents[2]
NOT_THERE = 77
SECONDS = 300 * int(os.environ.get("MERGANSER_TEST_PATIENCE", "1"))


def parts(text):
    """Yields ("file", name, content) and ("command", command, expected output) in the order of a tutorial."""
    for name, language, content in BLOCK.findall(text):
        if name:
            yield "file", name, content
        elif language == "console":
            for piece in re.split(r"^\$ ", content, flags=re.M)[1:]:
                lines = piece.split("\n")
                command = lines.pop(0)
                while lines and lines[0].startswith("> "):
                    command += "\n" + lines.pop(0)[2:]
                yield "command", command, "\n".join(lines)


def pattern(expected):
    """Returns the regular expression of what a command should print."""
    lines = []
    for line in expected.strip("\n").split("\n"):
        lines.append("(?:.*\n)*?" if line == "..." else ".*".join(map(re.escape, line.split("..."))) + "\n")
    return "".join(lines) if expected.strip() else ""


def run(tutorial, environment, folder):
    """Runs a tutorial in a folder. Returns what went wrong, or None."""
    for kind, what, content in parts(tutorial.read_text()):
        if kind == "file":
            (folder / what).write_text(content)
            continue
        began = time.monotonic()
        try:
            ended = subprocess.run(["bash", "-o", "pipefail", "-c", what], cwd=folder, env=environment, capture_output=True, text=True,
                                   timeout=SECONDS, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return f"{what}\nhas not ended after {SECONDS} s"
        print(f"  {time.monotonic() - began:5.1f} s  {what.splitlines()[0]}", flush=True)
        if ended.returncode != 0:
            return f"{what}\nended with {ended.returncode}:\n{ended.stdout}{ended.stderr}"
        printed = ended.stdout.strip("\n")
        if not re.fullmatch(pattern(content), printed + "\n" if printed else ""):
            return f"{what}\nprinted\n{ended.stdout}in place of\n{content}"
    return None


def simulation_missing(tutorial):
    """Returns what a tutorial needs for ./x simulate and is not there; an empty text if nothing is missing."""
    simulated = SOURCE / "build-simgrid" / "bin" / "merganser"
    if "./x simulate" not in tutorial.read_text():
        return ""
    return "SimGrid's smpirun" if not shutil.which("smpirun") else "" if simulated.exists() else str(simulated)


def write_x(place, build):
    """Writes a script x that does what ./x simulate does once all is compiled."""
    script = place / "x"
    script.write_text(f"""#!/bin/sh
shift
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH='{SOURCE}/packages/simulate' exec '{sys.executable}' -m simulate --build '{build}' \\
  --simulated '{SOURCE}/build-simgrid' "$@"
""")
    script.chmod(0o755)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path)
    parser.add_argument("tutorials", nargs="+", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", LC_ALL="C.UTF-8",
                           OMPI_MCA_rmaps_base_oversubscribe="1", PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe")
        environment["PATH"] = f"{options.build.resolve()}/bin:{environment['PATH']}" if options.build else environment["PATH"]
        if options.build and any("pkg-config" in tutorial.read_text() for tutorial in options.tutorials):
            subprocess.run(["cmake", "--install", options.build, "--prefix", folder / "prefix"], check=True, stdout=subprocess.DEVNULL)
            environment["PKG_CONFIG_PATH"] = str(folder / "prefix" / "lib" / "pkgconfig")
        for tutorial in options.tutorials:
            print(f"{tutorial}:", flush=True)
            missing = simulation_missing(tutorial)
            if missing:
                print(f"  not tested: {missing} is not there")
                return NOT_THERE
            place = folder / "-".join(tutorial.with_suffix("").parts[-3:])
            place.mkdir()
            write_x(place, options.build.resolve() if options.build else "build")
            wrong = run(tutorial, environment, place)
            if wrong:
                print(f"{tutorial}: {wrong}")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
