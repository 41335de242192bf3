"""The program on simulated machines: platforms, their costs, calibration (packages/simulate/docs/simulation.md)."""
