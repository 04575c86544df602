"""The campaign that compares kernel machines with clarabel: problems, and what is called wrong."""

from __future__ import annotations

import numpy as np
import pytest
from fuzz.kernel_machines.campaign import Outcome, outcome
from fuzz.kernel_machines.problems import random_case
from fuzz.kernel_machines.reference import best_intercept, clarabel_objective, objective

import hinge

KERNELS = 8  # one after another


@pytest.mark.parametrize("number", range(KERNELS))
def test_objectives_are_those_of_the_certificate(number: int) -> None:
    case = random_case(number)
    problem = case.problem
    rng = np.random.default_rng(0)
    share = rng.uniform(size=problem.n_rows)
    alpha = share * np.minimum(problem.loss.upper_bound(problem.costs), problem.costs)
    intercept = 0.25 if problem.intercept.value == "free" else 0.0
    certificate = hinge.certificates.gap(problem, hinge.Point(np.zeros(0), intercept, alpha))
    value = float(objective(case, problem.signs * alpha, intercept))
    assert value == pytest.approx(certificate.primal, rel=1e-8)


def test_the_reference_is_optimal_and_its_intercept_the_best() -> None:
    case = random_case(0)
    value = clarabel_objective(case)
    solution = hinge.solve(case.problem, stop=hinge.Stop(gap=1e-6, seconds=60.0))
    bound = solution.certificate.primal - solution.certificate.gap
    assert float(value) >= bound
    assert float(value) <= solution.certificate.primal * (1.0 + 1e-9)
    assert solution.dual_coef is not None
    pulls = case.problem.signs * solution.dual_coef
    best = best_intercept(case, pulls)
    assert all(
        objective(case, pulls, best) <= objective(case, pulls, best + step)
        for step in (-1e-3, -1e-9, 1e-9, 1e-3)
    )


def test_cases_are_the_same_every_time_and_cover_what_they_should() -> None:
    cases = [random_case(number) for number in range(64)]
    assert random_case(5).problem.fingerprint() == cases[5].problem.fingerprint()
    traits = " ".join(case.traits for case in cases)
    words = ("duplicates", "weights", "near-singular", "share 0.02", "huber", "none", "free")
    assert all(word in traits for word in words)
    costs = [case.problem.C for case in cases]
    assert min(costs) < 1e-5
    assert max(costs) > 1e5


def test_what_is_called_wrong() -> None:
    assert Outcome(9e-7, -1e-9, "solved", 1e-7).fault == ""
    assert "above clarabel's" in Outcome(2e-6, -1e-9, "stalled", 1e-5).fault
    assert "above clarabel's" in Outcome(float("nan"), -1e-9, "stalled", 1e-5).fault
    assert "below the suboptimality" in Outcome(1e-7, 1e-12, "solved", 1e-8).fault


def test_a_case_is_solved_and_judged() -> None:
    found = outcome(random_case(0), "auto")
    assert found.fault == ""
    assert found.missing <= 0.0
