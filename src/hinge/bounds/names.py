"""Bounds by name."""

from __future__ import annotations

from collections.abc import Callable

from hinge.bounds.cells import Bound
from hinge.bounds.clusters import Clusters
from hinge.bounds.spheres import Box, CentredSphere, Sphere, Trajectory
from hinge.bounds.tree import MetricTree
from hinge.errors import unknown_name

_BOUNDS: dict[str, Callable[[], Bound]] = {
    "sphere": Sphere,
    "centred": CentredSphere,
    "norms": lambda: CentredSphere(per_row=True),
    "box": Box,
    "clusters": Clusters,
    "tree": MetricTree,
    "trajectory": Trajectory,
}


def get_bound(bound: str | Bound) -> Bound:
    """Return the bound of that name, or the bound itself.

    Parameters
    ----------
    bound : str or Bound
        A name, or a configured object.

    Returns
    -------
    Bound
        The bound.
    """
    if isinstance(bound, Bound):
        return bound
    if not isinstance(bound, str) or bound not in _BOUNDS:
        raise unknown_name(bound, "bound", _BOUNDS)
    return _BOUNDS[bound]()
