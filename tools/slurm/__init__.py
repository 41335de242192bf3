"""Slurm on emulated hosts of this machine, for tests of jobs under it: ./x slurm (docs/hosts.md)."""
