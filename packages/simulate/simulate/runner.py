"""Running one simulation: the process that simulates all ranks, its real time and memory, and its limits."""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

# Ranks are contexts of one thread and share all variables; the program has no global variable that belongs to a rank. Privatisation
# would need a memory map for each rank, of which the system allows some 65,000.
#
# smpi/async-small-thresh: messages below it are transferred when they are sent, as small ones are over real networks, and not when
# the receiver posts its receive. smpi/test: a test of a request takes no time; ranks wait instead of testing.
SETTINGS = ["smpi/privatization:no", "smpi/async-small-thresh:65536", "smpi/test:0", "contexts/factory:raw", "contexts/stack-size:512",
            "contexts/guard-size:0", "network/model:SMPI"]
# Blocks of the heap instead of memory maps, whose number is limited. The heap grows by the requested size and no more: calloc()
# clears memory that the heap already has, and the stacks of 16,384 ranks would then occupy 8 GiB instead of 0.25.
# The cache of small free blocks holds up to 65,535 of each size instead of seven: messages come and go by the million.
ENVIRONMENT = {"MALLOC_MMAP_THRESHOLD_": "1073741824", "MALLOC_TOP_PAD_": "0", "MALLOC_TRIM_THRESHOLD_": "1073741824",
               "GLIBC_TUNABLES": "glibc.malloc.tcache_count=65535"}
POLL_S = 0.2
TIMES = re.compile(r"^(\[[^\n]*smpi_utils/INFO\] [^\n]*|The simulation took [^\n]*|\S+ seconds were actual computation [^\n]*|"
                   r"You may want to use sampling functions [^\n]*|)(\n|$)", re.M)


class Failed(Exception):
    """Error of a simulation that failed or could not start. @param code  exit code of the command"""

    def __init__(self, text, code=1):
        super().__init__(text)
        self.code = code


@dataclass(frozen=True)
class Limits:
    """Limits of one simulation: real seconds, and resident bytes of the simulating process."""
    seconds: float
    bytes: float


@dataclass(frozen=True)
class Taken:
    """Real seconds, CPU seconds and peak bytes that a simulation took, and its simulated seconds; filled by simulate()."""
    real_s: float
    cpu_s: float
    peak_bytes: int
    simulated_s: float


def smpimain():
    """Returns the path of SimGrid's program smpimain, which loads the simulated program. smpirun, which starts it, splits arguments
    at spaces: it is not used."""
    smpirun = shutil.which("smpirun")
    if smpirun is None:
        raise Failed("there is no smpirun; install SimGrid (Debian: libsimgrid-dev)", 2)
    with open(smpirun, encoding="utf-8", errors="replace") as file:
        found = re.search(r'"(/[^"\s]*/smpimain)"', file.read())
    if found is None or not os.access(found[1], os.X_OK):
        raise Failed(f"{smpirun} names no smpimain that can be run; allowed: SimGrid's own", 2)
    return found[1]


def resident(process):
    """Returns the resident bytes of the simulating process; 0 if it has ended."""
    try:
        with open(f"/proc/{process}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


class Progress:
    """Progress line of a simulation on standard error, if that is a terminal."""

    def __init__(self, what):
        self.what = what
        self.shown = sys.stderr.isatty()

    def show(self, seconds, size):
        """Shows the real seconds and the bytes of memory that the simulation has taken so far."""
        if self.shown:
            print(f"\r\033[K{self.what}: {seconds:.0f} s, {size / 2**30:.2f} GiB", end="", file=sys.stderr, flush=True)

    def end(self):
        """Erases the progress line of the simulation."""
        if self.shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def command_line(platform, program, arguments, folder):
    """Writes SimGrid's platform and host file into a folder, and returns the command line of smpimain that simulates a program."""
    files = {}
    for name, text in (("platform.xml", platform.xml), ("hosts", "\n".join(platform.hosts) + "\n")):
        files[name] = os.path.join(folder, name)
        with open(files[name], "w", encoding="ascii") as file:
            file.write(text)
    settings = [*SETTINGS, *platform.config, f"smpi/tmpdir:{folder}", f"smpi/np:{platform.ranks}",
                f"smpi/hostfile:{files['hosts']}", "smpi/display-timing:yes"]
    return [smpimain(), program, *[f"--cfg={s}" for s in settings], "--log=root.thresh:error", "--log=smpi_utils.thresh:info",
            files["platform.xml"], *arguments]


def stop(process):
    """Ends the simulating process that was started here, by SIGTERM and, after 5 s, SIGKILL."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        if process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(sign)
        try:
            process.wait(5)
            return
        except subprocess.TimeoutExpired:
            continue


def watch(process, limits, progress):
    """Waits for the simulating process to end, and watches its time and memory. @return real seconds, CPU seconds, peak bytes
    @throws Failed  if it exceeds a limit"""
    began = time.monotonic()
    try:
        while True:
            seconds = time.monotonic() - began
            ended, status, used = os.wait4(process.pid, os.WNOHANG)
            if ended:
                process.returncode = os.waitstatus_to_exitcode(status)
                return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024
            size = resident(process.pid)
            progress.show(seconds, size)
            if seconds > limits.seconds:
                raise Failed(f"no end within {limits.seconds:g} s (--limit)", 4)
            if size > limits.bytes:
                raise Failed(f"{size / 2**30:.1f} GiB of memory; allowed: {limits.bytes / 2**30:.1f} GiB (--memory)", 4)
            time.sleep(min(POLL_S, seconds / 20 + 0.005))
    finally:
        progress.end()
        stop(process)


def simulated_seconds(told):
    """Returns the simulated time, s, from SimGrid's report; not a number if there is none."""
    found = re.search(r"Simulated time: ([0-9.eE+-]+) seconds", told)
    return float(found[1]) if found else float("nan")


def program_errors(told):
    """Returns the text that the simulated program has written to standard error, without SimGrid's report of times."""
    return TIMES.sub("", told).strip()


def simulate(platform, program, arguments, environment, limits, what, output=None):
    """Runs a program on a simulated machine, and prints what it writes to standard error. @return time and memory, as Taken

    @param output  file for its standard output, or None: discarded
    @throws Failed  with its message, where it did not end with 0
    """
    with tempfile.TemporaryDirectory(prefix="merganser-simulate-") as folder:
        words = command_line(platform, program, arguments, folder)
        variables = {**os.environ, **ENVIRONMENT, **platform.environment, **environment, "SMPI_GLOBAL_SIZE": str(platform.ranks),
                     "TMPDIR": folder}
        variables = {n: v for n, v in variables.items() if n != "MERGANSER_SMPI_STATE"}
        with open(os.path.join(folder, "errors"), "w+", encoding="utf-8", errors="replace") as errors:
            process = subprocess.Popen(words, env=variables, stdin=subprocess.DEVNULL, stderr=errors,
                                       stdout=output if output is not None else subprocess.DEVNULL)
            seconds, cpu, peak = watch(process, limits, Progress(what))
            errors.seek(0)
            told = errors.read()
        if process.returncode != 0:
            raise Failed(reason(process.returncode, told), process.returncode if 0 < process.returncode < 128 else 70)
        said = program_errors(told)
        if said:
            print(said, file=sys.stderr)
        return Taken(seconds, cpu, peak, simulated_seconds(told))


def reason(code, told):
    """Describes, from exit code and standard error, why a simulation failed, in a line or two."""
    own = program_errors(told)
    if "Deadlock" in own or "deadlock" in own:
        return "the simulated ranks wait for each other for ever (a deadlock): " + own.strip()[:600]
    if code < 0:
        return f"the simulation was ended by signal {-code} ({signal.strsignal(-code)}). {own.strip()[-600:]}"
    return own.strip()[-2000:] or f"the simulation ended with code {code}"
