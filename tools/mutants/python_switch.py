"""Copied as sitecustomize.py beside a mutated package: what it asks which mutant is on, as switch.hpp does for C++."""
import builtins
import mmap
import os


def _switch():
    chosen, reached = int(os.environ.get("MERGANSER_MUTANT", "0")), None
    if os.environ.get("MERGANSER_MUTANT_REACHED"):
        with open(os.environ["MERGANSER_MUTANT_REACHED"], "r+b") as file:
            reached = mmap.mmap(file.fileno(), 0)

    def on(number):
        if reached is not None and number < len(reached):
            reached[number] = 1
        return number == chosen

    return on


builtins.merganser_mutant = _switch()
