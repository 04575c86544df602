"""Benchmarks of hinge: ``python -m benchmarks --help``."""
