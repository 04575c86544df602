"""Low-rank factors of kernel matrices: K is nearly V V', and by how much it is not."""

from __future__ import annotations

from hinge.lowrank.factor import Factor
from hinge.lowrank.factorise import factorise
from hinge.lowrank.remainder import largest_remainder, remainder_values

__all__ = ["Factor", "factorise", "largest_remainder", "remainder_values"]
