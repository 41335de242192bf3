"""Building of small programs in C for SimGrid's SMPI, linked with the costs of calls (costs.cpp)."""
import os
import shutil
import subprocess

from .runner import Failed

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = ("smpicc", "smpicxx", "smpirun")
FLAGS = ["-O1", "-fPIC", "-DSMPI_NO_OVERRIDE_MALLOC"]


def missing():
    """Returns the name of the first program of SimGrid's SMPI (compilers, smpirun) that is missing, or None."""
    return next((p for p in PROGRAMS if shutil.which(p) is None), None)


def compiler(words):
    """Runs one of SMPI's compilers. @throws Failed with its messages"""
    got = subprocess.run(words, capture_output=True, text=True, check=False)
    if got.returncode != 0:
        raise Failed(f"{words[0]}: exit code {got.returncode}: {(got.stderr + got.stdout)[:2000].strip()}")


def build(source, folder):
    """Compiles a C program for SMPI, of this folder unless a path is given, with the costs of calls, into another folder. @return
    its path"""
    parts = [os.path.join(folder, name) for name in ("program.o", "costs.o")]
    compiler(["smpicc", *FLAGS, "-c", os.path.join(HERE, source), "-o", parts[0]])
    compiler(["smpicxx", "-std=c++17", *FLAGS, "-I", os.path.dirname(HERE), "-c", os.path.join(HERE, "costs.cpp"), "-o", parts[1]])
    program = os.path.join(folder, os.path.splitext(os.path.basename(source))[0])
    compiler(["smpicxx", "-Wl,-Bsymbolic", *parts, "-o", program])
    return program
