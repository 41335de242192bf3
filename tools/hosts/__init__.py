"""Emulated hosts on one machine: ./x hosts (docs/hosts.md)."""
