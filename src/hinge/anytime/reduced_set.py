r"""Basis points that need not be rows: each takes as much off W as a point of :math:`R^d` can.

``minwz`` chooses among rows what leaves least of W. Here the same cost is minimised over all
points, as in reduced sets: with what is left of W at a point, :math:`f_\perp(z) = \langle W_\perp,
\Phi(z)\rangle`, and what is left of the point, :math:`r(z) = k(z, z) - \|T k_Z(z)\|^2`,

.. math:: \max_z \; \frac{f_\perp(z)^2}{r(z)}, \qquad
   \nabla f_\perp = \sum_i \beta_i \nabla k(x_i, z) - \sum_j a_j \nabla k(z_j, z), \quad
   \nabla r = \nabla k(z, z) - 2 \sum_j (T'T k_Z(z))_j \nabla k(z_j, z),

by L-BFGS from the best support vector, one point after the other; of several functions the sum of
their shares. A step costs a product with the support vectors. The points are candidates like
others: the order decides whether they come first, and every bound is computed from them as from
rows, so that rounding and bad optima cost speed only.

References
----------
C. Burges, "Simplified support vector decision rules", ICML 1996, whose points are those that are
best together with their coefficients; here they are best for the span, one by one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from hinge.anytime.functions import Check, Functions
from hinge.errors import UnsupportedError
from hinge.kernels.slopes import Slope, slope_of
from hinge.rows import Rows

Floats = NDArray[np.float64]

_STEPS = 60  # of L-BFGS for a point
_DEPENDENT = 1e-6  # of the squared length of a point: less must not be left of it
_MOST_START = 4096  # support vectors that a point may start from


def reduced_points(
    functions: Functions,
    count: int,
    check: Check | None = None,
    report: Callable[[int, int], None] | None = None,
) -> Rows | None:
    """Return points that tell most about a machine, one after the other.

    Parameters
    ----------
    functions : Functions
        The machine's functions, over dense support vectors.
    count : int
        How many points there are at most.
    check : callable or None, default=None
        Called between points; raises to abandon the search.
    report : callable or None, default=None
        Called before every point with how many there are, and how many there may be.
    """
    slope = slope_of(functions.machine.kernel)
    if slope is None or functions.terms.is_sparse:
        message = (
            "a reduced set needs dense support vectors and a linear, polynomial or RBF kernel, "
            f"normalised or not; this machine has {functions.machine.kernel!r}"
            f"{' over sparse rows' if functions.terms.is_sparse else ''}."
        )
        raise UnsupportedError(message)
    search = _Search(functions, slope)
    while len(search.points) < count:
        if check is not None:
            check()
        if report is not None:
            report(len(search.points), count)
        if not search.add():
            break
    if not search.points:
        return None
    return Rows(np.array(search.points).astype(functions.terms.values.dtype))


class _Search:
    """The points so far, and what they leave of W and of the support vectors."""

    def __init__(self, functions: Functions, slope: Slope) -> None:
        self.slope = slope
        self.X = np.asarray(functions.terms.matrix, dtype=np.float64)
        self.coef = functions.coef
        self.starts = np.arange(0, len(self.X), -(-len(self.X) // _MOST_START))
        self.left = functions.at_terms[self.starts].copy()
        self.squares = slope.squares(self.X[self.starts])
        self.own = self.squares.copy()
        squares = np.sum(functions.coef * functions.at_terms, axis=0)
        self.weights = np.divide(1.0, squares, out=np.zeros_like(squares), where=squares > 0.0)
        self.points: list[Floats] = []
        self.Z = np.empty((0, self.X.shape[1]))
        self.triangle = np.empty((0, 0))
        self.w = np.empty((0, self.coef.shape[1]))

    def add(self) -> bool:
        """Add the best point that is found; return whether one was."""
        least = _DEPENDENT * self.squares
        own = np.maximum(self.own, least)
        gains = np.where(self.own > least, self.left**2 @ self.weights, 0.0)
        gains = np.divide(gains, own, out=np.zeros_like(own), where=own > 0.0)
        best = int(np.argmax(gains))
        if not gains[best] > 0.0:
            return False
        start = self.X[self.starts[best]]
        with np.errstate(over="ignore", invalid="ignore"):
            found = scipy.optimize.minimize(
                self.cost, start, jac=True, method="L-BFGS-B", options={"maxiter": _STEPS}
            )
        is_better = np.isfinite(found.x).all() and found.fun < -gains[best]
        self._take(np.asarray(found.x) if is_better else start.copy())
        return True

    def cost(self, z: Floats) -> tuple[float, Floats]:
        """Return minus what a point takes off the squared norms, and the gradient of that."""
        f, r, q, values, at_points = self._left_at(z)
        if not (r > _DEPENDENT * self.slope.own(z)[0] and r > 0.0 and np.isfinite(f).all()):
            return 0.0, np.zeros_like(z)
        total = float(f**2 @ self.weights)
        direction = 2.0 * self.weights * f / r
        slope_f = self.slope.turned(self.X, z, values, self.coef @ direction)
        slope_r = self.slope.own(z)[1]
        if len(self.points):
            inside = self.triangle.T @ (self.w @ direction)
            slope_f -= self.slope.turned(self.Z, z, at_points, inside)
            slope_r = slope_r - 2.0 * self.slope.turned(self.Z, z, at_points, self.triangle.T @ q)
        return -total / r, -(slope_f - total / r**2 * slope_r)

    def _left_at(self, z: Floats) -> tuple[Floats, float, Floats, Floats, Floats]:
        """Return what is left of W and of a point at it, its coordinates, and kernel values."""
        values = self.slope.values(self.X, z)
        at_points = self.slope.values(self.Z, z)
        q = self.triangle @ at_points
        f = values @ self.coef - q @ self.w
        return f, float(self.slope.own(z)[0] - q @ q), q, values, at_points

    def _take(self, z: Floats) -> None:
        """Take a point into the span."""
        f, r, q, values, _ = self._left_at(z)
        length = np.sqrt(max(r, _DEPENDENT * self.slope.own(z)[0]))
        row = np.append(-q @ self.triangle, 1.0) / length
        n = len(self.points)
        grown = np.zeros((n + 1, n + 1))
        grown[:n, :n], grown[n] = self.triangle, row
        column = np.array(values[self.starts])
        for number, point in enumerate(self.points):
            column += row[number] * length * self.slope.values(self.X[self.starts], point)
        column /= length
        gain = f / length
        self.left -= column[:, None] * gain
        self.own = np.maximum(self.own - column**2, 0.0)
        self.points.append(z)
        self.Z = np.array(self.points)
        self.triangle, self.w = grown, np.vstack((self.w, gain))
