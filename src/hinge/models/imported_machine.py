"""A fitted kernel classifier made of somebody else's support vectors.

As with linear models (:mod:`hinge.models.imported`): it predicts, its status is ``imported``, and
its certificates claim nothing until ``verify`` sees the training data.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hinge.estimators.svc import SVC
from hinge.kernels import Kernel, Normalised, Precomputed
from hinge.models.adopted_machine import adopt, store_solutions
from hinge.models.imported import unproven_certificate, unproven_solution
from hinge.models.kernel_machine import KernelMachine


def kernel_parameters(kernel: Kernel) -> dict[str, Any]:
    """Return the parameters of an ``SVC`` that has this kernel.

    Parameters
    ----------
    kernel : Kernel
        With numbers as parameters.
    """
    names = ("degree", "gamma", "coef0")
    named = {name: getattr(kernel, name) for name in names if hasattr(kernel, name)}
    has_psd = isinstance(kernel, Precomputed) and kernel.psd is not None
    # What the parameters of the estimator cannot say, an object can.
    if isinstance(kernel, Normalised) or has_psd or named.get("gamma", 0.0) < 0.0:
        return {"kernel": kernel}
    return {"kernel": kernel.name, **named}


def imported_machine(machine: KernelMachine, origin: str, **parameters: Any) -> SVC:
    """Return an estimator that has the parts of another program's machine.

    Parameters
    ----------
    machine : KernelMachine
        Checked parts; the estimator keeps the arrays without copying them.
    origin : str
        Who made them, to be read after "imported from".
    **parameters
        Of ``SVC``; those of the kernel are the machine's.

    Returns
    -------
    SVC
        Ready to predict.
    """
    model = SVC(**{**kernel_parameters(machine.kernel), **parameters})
    note = (
        f"imported from {origin}: no data was seen, so nothing is proven; hinge.models.verify with "
        "the training data recomputes the objective and the gap"
    )
    certificate = unproven_certificate(note)
    nothing = np.zeros(0)
    # Of more than two classes the first of a pair is the positive one, in a problem the second.
    intercepts = machine.intercept if len(machine.intercept) == 1 else -machine.intercept
    solutions = [unproven_solution(certificate, nothing, value) for value in intercepts]
    adopt(model, machine)
    store_solutions(model, solutions)
    return model
