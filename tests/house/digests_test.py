"""One rank has the same bits with every kind of vectors: digests_test.py PROGRAM [-- COMMAND...].

Runs PROGRAM (digests.cpp) with each kind of vectors that it names, forced by MERGANSER_SIMD, and checks that this one ran and
that all print the same digests. COMMAND: the same for that of another processor, as qemu-aarch64 PROGRAM. Digests whose names
begin with "of-this-family:" are compared between the kinds of vectors of one command only.
"""
import os
import re
import subprocess
import sys


def run(command, simd):
    environment = {**os.environ, "MERGANSER_SIMD": simd}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines(), done.stderr


def targets_of(command):
    code, _, error = run(command, "speling")
    named = re.fullmatch(r'.*MERGANSER_SIMD is "speling"; allowed on this processor: (.*)\n', error)
    assert code == 2 and named, f"a kind that there is not: exit code {code}, {error}"
    return named[1].split(", ")


def digests_of(command):
    """{kind of vectors: its lines}"""
    found = {}
    for target in targets_of(command):
        code, (first, *lines), error = run(command, target.lower().replace("avx3", "avx-512"))
        assert code == 0, f"{target}: exit code {code}, {error}"
        assert first == f"vectors {target}", f"{target} was forced, and what ran is {first}"
        assert len(lines) > 1, f"{target}: {lines}"
        found[target] = lines
    code, (first, *lines), error = run(command, "")
    assert code == 0 and first.split()[1] in found, f"without MERGANSER_SIMD: exit code {code}, {first}, {error}"
    return found


def compare(found):
    """Checks that all kinds of vectors print the same lines, and returns how many."""
    reference, *others = found.items()
    for target, lines in others:
        for here, there in zip(lines, reference[1], strict=True):
            assert here == there, f"{target}: {here}, but {reference[0]}: {there}"
    return len(reference[1])


def main(arguments):
    at = arguments.index("--") if "--" in arguments else len(arguments)
    found = [digests_of(command) for command in (arguments[:at], arguments[at + 1 :]) if command]
    for of_command in found:
        count = compare(of_command)
    everywhere = {
        target: [line for line in lines if not line.startswith("of-this-family:")]
        for of_command in found
        for target, lines in of_command.items()
    }
    if len(found) > 1:
        count = compare(everywhere)
    print(f"{', '.join(everywhere)}: the same {count} digests")


if __name__ == "__main__":
    main(sys.argv[1:])
