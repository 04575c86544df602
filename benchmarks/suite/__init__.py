"""Time to a certified gap, against other libraries at the same objective.

The objective owns the measuring: a method returns weights and an intercept from a process of its
own, and :mod:`benchmarks.suite.objective` recomputes what they are worth from the raw data. The
modules that a peer's interpreter imports (``task``, ``method``, ``arrays``, ``worker``, ``peers``)
need NumPy and SciPy only.
"""
