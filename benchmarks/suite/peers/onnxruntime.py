"""ONNX Runtime: evaluates machines that scikit-learn has fitted; it fits none itself."""

from __future__ import annotations

from benchmarks.suite.method import Peer

PEER = Peer(
    name="onnxruntime",
    requirements=("onnxruntime", "skl2onnx", "scikit-learn"),
    methods=(),
)
