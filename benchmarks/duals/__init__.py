"""Solvers of the dual of kernel machines beside each other, and the path in C drawn."""
