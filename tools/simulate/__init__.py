"""The program on simulated machines: platforms, their costs, calibration (docs/simulation.md)."""
