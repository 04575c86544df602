"""A predictor in words: what it does for a query, what that saves, and why."""

from __future__ import annotations

from hinge.anytime.build import Parts
from hinge.anytime.planning import Plan

_MICRO = 1e6


def explanation(parts: Parts, n_support: int) -> str:
    """Return sentences about a predictor, one to a line.

    Parameters
    ----------
    parts : Parts
        What it has.
    n_support : int
        How many support vectors its machine has.
    """
    if parts.functions is None:
        return f"Every query is evaluated in full: {parts.reason}."
    lines = [_terms(parts, n_support)]
    plan = parts.plan
    was_measured = plan.costs is not None and plan.costs.value > 0.0
    if parts.embedding is not None and plan.exits:
        lines.extend(_exits(parts))
    elif parts.embedding is None and not was_measured:  # a file has only points that are used
        lines.append(_without_embedding(parts))
    elif plan.form is None:
        lines.append(
            "The embedding leaves too many queries open to pay: kernel values fall off so fast "
            "that few basis points say little about the rest."
        )
    lines.extend(_tail(plan))
    return "\n".join(lines)


def _terms(parts: Parts, n_support: int) -> str:
    assert parts.functions is not None
    distinct = parts.functions.terms.n_rows
    if distinct == n_support:
        return f"The machine has {n_support} support vectors."
    return (
        f"The machine has {n_support} support vectors; added up where they are equal, {distinct} "
        "are left."
    )


def _without_embedding(parts: Parts) -> str:
    assert parts.functions is not None
    if parts.functions.machine.kernel.psd:
        return "There are no basis points."
    return "There are no basis points: the kernel is not positive semidefinite."


def _exits(parts: Parts) -> list[str]:
    """Return what the embedding does."""
    assert parts.embedding is not None
    plan, lines = parts.plan, []
    for k in plan.exits:
        count = parts.embedding.exits[k].count
        share = plan.shares.get(f"{count} points")
        known = "" if share is None else f": {100.0 * share:.1f} % of the sample were open"
        lines.append(f"After {count} basis points the bounds are looked at{known}.")
    lines.append(
        f"Coordinates of a query are computed for the first {plan.n_coordinates} of them."
        if plan.n_coordinates
        else "No coordinates of a query are computed."
    )
    return lines


def _tail(plan: Plan) -> list[str]:
    """Return what happens to queries that are open at the end, and the forecast."""
    lines = []
    if plan.form is not None:
        lines.append(
            f"The machine is a quadratic form, of which up to {plan.form} eigenvectors are "
            f"looked at{_share(plan, 'form')}."
        )
    if plan.uses_table:
        lines.append(
            "Queries of small whole numbers are evaluated by a table of kernel values"
            f"{_share(plan, 'table')}."
        )
    if plan.guess is not None:
        lines.append(
            "A class is guessed, and the votes that it has are looked at in float32"
            f"{_share(plan, 'votes')}."
        )
    if plan.uses_single:
        lines.append(f"What is still open is evaluated in float32{_share(plan, 'float32')}.")
    lines.append("What is open after that is evaluated in full, as the machine itself would be.")
    if plan.costs is not None and plan.expected > 0.0:
        lines.append(
            f"Expected: {_MICRO * plan.expected:.1f} microseconds a query in a large batch, "
            f"against {_MICRO * plan.costs.full:.1f} in full: "
            f"{plan.costs.full / plan.expected:.1f} times as fast."
        )
    return lines


def _share(plan: Plan, name: str) -> str:
    """Return which share of the sample a stage leaves open, if that was measured."""
    share = plan.shares.get(name)
    return "" if share is None else f", which leaves {100.0 * share:.2f} % of a sample open"
