"""Options of kernel machines, and which estimator a command line asks for."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from hinge.cli._classic import LIBSVM_KERNELS
from hinge.cli._errors import UsageError
from hinge.cli._labels import plain
from hinge.cli._machine import MACHINE, STOPPING, InterceptKind, Loss, TrainingOptions
from hinge.cli._options import above_zero, not_negative_if_given
from hinge.estimators.linear_svc import LinearSVC
from hinge.estimators.svc import SVC

KERNEL = "The kernel"
_RULES = ("scale", "auto")


class KernelName(enum.StrEnum):
    """Kernels that have a name."""

    LINEAR = "linear"
    POLY = "poly"
    RBF = "rbf"
    SIGMOID = "sigmoid"
    LAPLACIAN = "laplacian"
    CHI2 = "chi2"
    PRECOMPUTED = "precomputed"


class Multiclass(enum.StrEnum):
    """Which problems several classes make."""

    OVO = "ovo"
    OVR = "ovr"


_WITH_GAMMA = tuple(name for name in KernelName if name not in ("linear", "precomputed"))
_WITH = {
    "gamma": _WITH_GAMMA,
    "degree": (KernelName.POLY,),
    "coef0": (KernelName.POLY, KernelName.SIGMOID),
}


def estimator(parameters: dict[str, Any]) -> LinearSVC | SVC:
    """Return the estimator that parameters belong to: with a kernel, or without.

    Parameters
    ----------
    parameters : dict
        Of ``LinearSVC`` or, if "kernel" is one of them, of ``SVC``.
    """
    return SVC(**parameters) if "kernel" in parameters else LinearSVC(**parameters)


def _number_or_rule(text: str | None) -> str | None:
    """Return what the user wrote for gamma, which must be a number or the name of a rule."""
    if text is None or text in _RULES:
        return text
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0.0 <= number < math.inf:
        message = f"{plain(text)} is neither a finite number of at least 0 nor scale nor auto."
        raise typer.BadParameter(message)
    return text


@dataclass(frozen=True, kw_only=True)
class KernelOptions(TrainingOptions):
    """What machine to train, with a kernel or without; what is None has a default of its own."""

    kernel: Annotated[
        KernelName | None,
        typer.Option(
            help="Kernel; if not given, a linear machine in the features, which is faster.",
            show_default=False,
            rich_help_panel=KERNEL,
        ),
    ] = None
    kernel_type: Annotated[
        int | None,
        typer.Option(
            "--kernel-type",
            "-t",
            metavar="N",
            min=0,
            max=len(LIBSVM_KERNELS) - 1,
            help="Kernel by its number in LIBSVM: 0 linear, 1 poly, 2 rbf, 3 sigmoid, "
            "4 precomputed.",
            show_default=False,
            rich_help_panel=KERNEL,
        ),
    ] = None
    gamma: Annotated[
        str | None,
        typer.Option(
            "--gamma",
            "-g",
            metavar="NUMBER|scale|auto",
            help="Factor in the kernel; scale, if not given: 1 / (features * variance).",
            show_default=False,
            rich_help_panel=KERNEL,
            callback=_number_or_rule,
        ),
    ] = None
    degree: Annotated[
        int | None,
        typer.Option(
            "--degree",
            "-d",
            help="Degree of poly; 3, if not given.",
            show_default=False,
            rich_help_panel=KERNEL,
            callback=not_negative_if_given,
        ),
    ] = None
    coef0: Annotated[
        float | None,
        typer.Option(
            "--coef0",
            "-r",
            help="Constant of poly and sigmoid; 0, if not given.",
            show_default=False,
            rich_help_panel=KERNEL,
        ),
    ] = None
    cache: Annotated[
        float | None,
        typer.Option(
            "--cache",
            "-m",
            metavar="MB",
            help="Memory for kernel rows; 200, if not given.",
            show_default=False,
            rich_help_panel=KERNEL,
            callback=above_zero,
        ),
    ] = None
    probability: Annotated[
        bool,
        typer.Option(
            "--probability",
            help="Fit probabilities as well, for predict --probabilities.",
            rich_help_panel=KERNEL,
        ),
    ] = False
    probability_switch: Annotated[
        int | None,
        typer.Option(
            "-b",
            metavar="N",
            min=0,
            max=1,
            help="The same as a number, as in LIBSVM: 0 or 1.",
            show_default=False,
            rich_help_panel=KERNEL,
        ),
    ] = None
    multiclass: Annotated[
        Multiclass | None,
        typer.Option(
            help="With three or more classes: ovo, if not given, a machine for each pair of them; "
            "ovr: one for each class against the rest.",
            show_default=False,
            rich_help_panel=KERNEL,
        ),
    ] = None
    loss: Annotated[
        Loss | None,
        typer.Option(
            help="Loss of a margin; squared_hinge, if not given, hinge with --kernel.",
            show_default=False,
            rich_help_panel=MACHINE,
        ),
    ] = None
    intercept: Annotated[
        InterceptKind | None,
        typer.Option(
            help="augmented, if not given: the weight of a constant feature, as in LIBLINEAR; "
            "free: not regularised, as in LIBSVM, and always with --kernel.",
            show_default=False,
            rich_help_panel=MACHINE,
        ),
    ] = None
    intercept_scale: Annotated[
        float | None,
        typer.Option(
            help="Value of that constant feature; 1, if not given.",
            show_default=False,
            rich_help_panel=MACHINE,
            callback=above_zero,
        ),
    ] = None
    solver: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Method, such as dual-coordinate, or decomposition and smo with --kernel; chosen, "
            "if not given.",
            show_default=False,
            rich_help_panel=MACHINE,
        ),
    ] = None
    tol: Annotated[
        float | None,
        typer.Option(
            "--tol",
            "-e",
            help="Relative gap to prove, 1e-4 if not given; with --kernel the violation of the "
            "optimality conditions to reach, 1e-3 if not given.",
            show_default=False,
            rich_help_panel=STOPPING,
            callback=not_negative_if_given,
        ),
    ] = None
    max_iter: Annotated[
        int | None,
        typer.Option(
            help="Limit of steps (passes, or steps of Newton's and the interior point method) for "
            "each fit of two classes, 1000 if not given; with --kernel none if not given.",
            show_default=False,
            rich_help_panel=STOPPING,
            callback=not_negative_if_given,
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.kernel_type is not None:
            named = KernelName(LIBSVM_KERNELS[self.kernel_type])
            if self.kernel not in (None, named):
                message = (
                    f"-t {self.kernel_type} is the kernel {named}, and --kernel is {self.kernel}; "
                    "leave one of them out."
                )
                raise UsageError(message)
            object.__setattr__(self, "kernel", named)
        if self.probability_switch is not None:
            if self.probability and not self.probability_switch:
                message = "--probability asks for what -b 0 leaves out; leave one of them out."
                raise UsageError(message)
            object.__setattr__(self, "probability", bool(self.probability_switch))

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the estimator, apart from C and class weights."""
        if self.kernel is None:
            self._refuse_without_kernel()
            return self._linear_parameters()
        self._refuse_with_kernel()
        given = {
            "loss": None if self.loss is None else str(self.loss),
            "multiclass": None if self.multiclass is None else str(self.multiclass),
            "gamma": self.gamma if self.gamma in (None, *_RULES) else float(str(self.gamma)),
            "degree": self.degree,
            "coef0": self.coef0,
            "cache_size": self.cache,
            "solver": self.solver,
            "tol": self.tol,
            "max_iter": self.max_iter,
            "time_limit": self.time_limit,
            "probability": self.probability,
            "n_jobs": self.threads,
            "random_state": self.seed,
        }
        chosen = {name: value for name, value in given.items() if value is not None}
        return {"kernel": str(self.kernel), **chosen}

    def _linear_parameters(self) -> dict[str, Any]:
        kind = self.intercept
        return {
            "loss": str(self.loss or Loss.SQUARED_HINGE),
            "fit_intercept": kind is not InterceptKind.NONE,
            "intercept": "free" if kind is InterceptKind.FREE else None,
            "intercept_scaling": 1.0 if self.intercept_scale is None else self.intercept_scale,
            "solver": "auto" if self.solver is None else self.solver,
            "tol": 1e-4 if self.tol is None else self.tol,
            "max_iter": 1000 if self.max_iter is None else self.max_iter,
            "time_limit": self.time_limit,
            "n_jobs": self.threads,
            "random_state": self.seed,
        }

    def _refuse_without_kernel(self) -> None:
        for name in ("gamma", "degree", "coef0", "cache", "probability", "multiclass"):
            if getattr(self, name) not in (None, False):
                message = f"--{name} is an option of kernels; choose one, such as --kernel rbf."
                raise UsageError(message)

    def _refuse_with_kernel(self) -> None:
        if self.intercept not in (None, InterceptKind.FREE) or self.intercept_scale is not None:
            given = "--intercept" if self.intercept_scale is None else "--intercept-scale"
            message = (
                f"the intercept of a kernel machine is free, so {given} cannot be given with "
                "--kernel; leave it out."
            )
            raise UsageError(message)
        for name, kernels in _WITH.items():
            if getattr(self, name) is not None and self.kernel not in kernels:
                listed = ", ".join(kernels)
                message = (
                    f"the {self.kernel} kernel has no {name}, so --{name} cannot be given with it; "
                    f"these kernels have one: {listed}."
                )
                raise UsageError(message)
