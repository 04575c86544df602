"""Solvers of kernel machines, one file per algorithm."""
