"""A Slurm of its own on this machine: ./x slurm (docs/hosts.md)."""
