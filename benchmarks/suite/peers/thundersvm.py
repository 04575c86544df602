"""ThunderSVM for processors: kernel machines only, so it has no method for linear tasks.

The package ``thundersvm`` on PyPI is built for CUDA 9 and does not load without it.
"""

from __future__ import annotations

from benchmarks.suite.method import Peer

PEER = Peer(
    name="thundersvm",
    requirements=("thundersvm-cpu==0.3.3", "scikit-learn>=1.6,<1.10"),
    methods=(),
)
