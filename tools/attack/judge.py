"""Conditions that must hold after every run, whatever its input."""
import re

from .case import WROTE, Finding
from .folder import changes
from .processes import RSS_AT_MOST_KIB

LINE_AT_MOST = 4096  # bytes of a line on standard error
BASE_KIB = 400 << 10  # a process with all libraries, and threads
PER_INPUT_BYTE = 200  # bytes of memory for a byte of input; gzip alone may stand for 1,000
EVERYWHERE = ("long line", "control characters", "newline echoed")  # one place prints all errors: told once, whatever the verb
TELL_OF_FAILURES = ("verify", "topo advise")  # their records hold the answer also where it is an error
LOG = (b"merganser: warning: ", b"merganser: info: ", b"merganser: debug: ")
CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")
SANITIZER = re.compile(rb"ERROR: (Address|Thread|Leak)Sanitizer|runtime error:|Assertion .* failed|terminate called")


def error_lines(result):
    """Returns the lines of standard error without the log and the command that `run` repeats (several lines if it has
    newlines)."""
    text = result.err
    if text.startswith(b"+ "):
        repeated = text.find(b"\n")
        text = text[repeated + 1:]
    return [line for line in text.split(b"\n") if line and not line.startswith(LOG)]


def signature(result):
    """Returns the first error line without the parts that differ from case to case."""
    lines = error_lines(result)
    if not lines:
        return ""
    text = lines[0].decode(errors="replace")
    text = re.sub(r"\"[^\"]*\"|'[^']*'|\S*/\S*|\d[\d.,e+-]*", "_", text)
    return re.sub(r"[^ -~]", "?", text)[:80]


def of_end(case, result):
    if result.hung and not case.endless:
        yield Finding("hang", f"did not end within {result.seconds:.0f} s")
    if result.too_large and not case.endless:  # which may ask for as much as it likes
        yield Finding("memory", f"took {case.limits.get('rss_kib', RSS_AT_MOST_KIB) >> 10} MiB in one process and was ended")
    if result.hung or result.too_large:
        return
    if result.code < 0 and result.code not in case.codes:
        yield Finding(f"signal {-result.code}", f"crashed with signal {-result.code}")
    elif result.code >= 0 and result.code not in case.codes:
        what = f"crashed with signal {result.code - 128}" if result.code > 128 else f"exit code {result.code}"
        yield Finding(f"exit {result.code} {signature(result)}", f"{what}; allowed here: {case.codes}")
    if SANITIZER.search(result.err):
        yield Finding("aborted", "the libraries or a sanitizer stopped it")
    allowed = case.memory_kib or BASE_KIB + PER_INPUT_BYTE * case.bytes_of_inputs() // 1024
    if result.rss_kib > allowed:
        yield Finding("memory", f"took {result.rss_kib >> 10} MiB for {case.bytes_of_inputs()} bytes of input; "
                                f"allowed: {allowed >> 10} MiB")
    if result.left:
        yield Finding("process left", f"processes outlived it: {'; '.join(result.left)[:300]}")
    if result.shared:
        yield Finding("shared memory left", f"left in shared memory: {' '.join(result.shared)}")


def another_failed(result, name):
    """Returns whether the error is that of writing another result: each is whole by itself, so earlier results exist."""
    failed = re.search(rb"cannot write ([^\n:]+):", result.err)
    return failed is not None and failed[1].rsplit(b"/", 1)[-1] != name.rsplit("/", 1)[-1].encode(errors="surrogateescape")


def of_files(case, result, before, after):
    wrote = result.code in WROTE
    for name, how in sorted(changes(before, after).items()):
        if name in case.inputs:
            yield Finding("input lost", f"the input {name} is {how} (exit code {result.code})")
        elif name in case.outputs:
            if not (wrote or case.old_or_new or case.verb in TELL_OF_FAILURES or another_failed(result, name)):
                yield Finding("old output lost", f"the output {name} is {how}, but the exit code is {result.code}")
        elif name.startswith("outside/"):
            yield Finding("outside", f"{name}, outside of all that was named, is {how}")
        elif not (name.startswith("tmp/") and result.code < 0):
            yield Finding("left", f"{name} is {how}, which no option names (exit code {result.code})")


def of_text(case, result):
    lines = error_lines(result)
    told_by_all = lines and all(b"no iteration has ended for" in line for line in lines)  # the watchdog: who waits for whom
    if result.code in (2, 3, 4, 70) and len(lines) != 1 and not told_by_all:
        echoed = len(lines) > 1 and any("\n" in word for word in [*case.words(), *case.environment.values()])
        yield Finding("newline echoed" if echoed else "error lines", f"{len(lines)} lines for one error, exit code {result.code}")
    longest = max((len(line) for line in lines), default=0)
    if longest > LINE_AT_MOST:
        yield Finding("long line", f"a line of {longest} bytes on standard error; allowed: {LINE_AT_MOST}")
    found = CONTROL.search(b"\n".join(lines))
    if found and not any(word.startswith("--progress") for word in case.words()):
        yield Finding("control characters", f"byte {found[0][0]} on standard error")


def findings(case, result, before, after):
    """Returns all findings of a run, the most severe first."""
    found = [*of_files(case, result, before, after), *of_end(case, result)]
    if not result.hung and not result.too_large:
        found += of_text(case, result)
    return found
