"""Solvers for linear machines, one algorithm per file."""
