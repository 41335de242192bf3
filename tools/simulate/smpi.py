"""Building for and running under SimGrid's SMPI."""
import os
import shutil
import signal
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = ("smpicc", "smpicxx", "smpirun")


class Failed(Exception):
    """A compiler or a simulation did not end well; says which, and what it said."""


def missing():
    """A program of SimGrid that is not there, or None."""
    return next((p for p in PROGRAMS if shutil.which(p) is None), None)


def call(words, environment=None, timeout_s=600):
    """Standard output of a program. After timeout_s all that it started is ended too: smpirun waits for another one."""
    with subprocess.Popen(words, env={**os.environ, **(environment or {})}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          start_new_session=True) as p:
        try:
            out, err = p.communicate(timeout=timeout_s)
        except BaseException as e:
            os.killpg(p.pid, signal.SIGKILL)
            if isinstance(e, subprocess.TimeoutExpired):
                raise Failed(f"{words[0]}: no end within {timeout_s} s") from e
            raise
    if p.returncode != 0:
        said = "\n".join((err + out).strip().split("\n")[:8])
        raise Failed(f"{words[0]}: exit code {p.returncode}: {said[:2000]}")
    return out


def build(source, folder):
    """Compiles a program in C of this folder with costs.cpp; returns its path."""
    parts = [os.path.join(folder, name) for name in ("program.o", "costs.o")]
    flags = ["-O1", "-fPIC", "-DSMPI_NO_OVERRIDE_MALLOC"]
    call(["smpicc", *flags, "-c", os.path.join(HERE, source), "-o", parts[0]])
    call(["smpicxx", "-std=c++17", *flags, "-c", os.path.join(HERE, "costs.cpp"), "-o", parts[1]])
    program = os.path.join(folder, os.path.splitext(source)[0])
    call(["smpicxx", "-Wl,-Bsymbolic", *parts, "-o", program])
    return program


def run(platform, program, arguments=(), timeout_s=600):
    """What a program writes to its standard output on a simulated machine."""
    with tempfile.TemporaryDirectory(prefix="merganser_") as folder:
        xml, hosts = (os.path.join(folder, name) for name in ("platform.xml", "hosts"))
        with open(xml, "w", encoding="ascii") as f:
            f.write(platform.xml)
        with open(hosts, "w", encoding="ascii") as f:
            f.write("\n".join(platform.hosts) + "\n")
        settings = [f"--cfg={s}" for s in (*platform.config, f"smpi/tmpdir:{folder}")]
        return call(["smpirun", "-np", str(platform.ranks), "-hostfile", hosts, "-platform", xml, *settings,
                     "--log=root.thresh:warning", program, *map(str, arguments)], platform.environment, timeout_s)
