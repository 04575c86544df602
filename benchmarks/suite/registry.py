"""Every method by name. A peer's own library is imported only when it is used."""

from __future__ import annotations

from benchmarks.suite.method import Method, Peer
from benchmarks.suite.peers import (
    intelex,
    liblinear,
    libsvm,
    lightning,
    onnxruntime,
    pecos,
    scikit_learn,
    skglm,
    snapml,
    thundersvm,
    vowpalwabbit,
)
from benchmarks.suite.solvers import linear_svc
from benchmarks.suite.solvers.solve import AUTO, DUAL_COORDINATE, INTERIOR_POINT

OURS: tuple[Method, ...] = (AUTO, DUAL_COORDINATE, INTERIOR_POINT, linear_svc.METHOD)

PEERS: tuple[Peer, ...] = (
    liblinear.PEER,
    scikit_learn.PEER,
    pecos.PEER,
    snapml.PEER,
    skglm.PEER,
    lightning.PEER,
    vowpalwabbit.PEER,
    libsvm.PEER,
    intelex.PEER,
    thundersvm.PEER,
    onnxruntime.PEER,
)


def all_methods() -> list[Method]:
    """Return every method, hinge's own first."""
    return [*OURS, *(method for peer in PEERS for method in peer.methods)]


def find_method(name: str) -> Method:
    """Return the method of that name."""
    methods = {method.name: method for method in all_methods()}
    if name not in methods:
        message = f"There is no method {name!r}; there are: {', '.join(sorted(methods))}."
        raise ValueError(message)
    return methods[name]
