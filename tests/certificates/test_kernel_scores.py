"""The pass of a kernel certificate: every way to compute a score is within its bound."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from hinge import Point, Problem
from hinge.certificates import (
    gap,
    kernel_machine,
    kernel_operands,
    kernel_panels,
    kernel_pass,
    kernel_scores,
    kernel_stacks,
    kernel_weights,
    kernel_wide,
    kkt,
)
from hinge.certificates.kernel_machine import Machine
from hinge.certificates.kernel_scores import scores_at, support_scores
from hinge.certificates.kernel_stacks import Stacks
from hinge.kernels import (
    RBF,
    CallableKernel,
    ChiSquared,
    Kernel,
    Laplacian,
    Linear,
    Normalised,
    Polynomial,
    Precomputed,
    Sigmoid,
)
from hinge.rows import Rows
from hinge.testing import extended_kernel

pytestmark = pytest.mark.skipif(
    np.finfo(np.longdouble).eps > 1e-18, reason="needs a longdouble wider than float64"
)

KERNELS: list[Kernel] = [
    Linear(),
    Polynomial(3, 0.5, 1.0),
    Polynomial(2, -0.3, 0.5),
    Polynomial(1, 1.0, 0.0),
    RBF(0.3),
    RBF(30.0),  # exponents too large to be split off
    Sigmoid(0.2, 0.1),
    Sigmoid(3.0, -0.5),  # most values are 1 or nearly so
    Sigmoid(-0.7, 2.0),
    Laplacian(0.3),
    ChiSquared(0.5),
    Normalised(Polynomial(3, 1.0, 0.1)),
    Normalised(Linear()),
    CallableKernel(lambda A, B: np.asarray((A @ B.T).todense() if sp.issparse(A) else A @ B.T)),
]
PLAIN = Polynomial(1, 1.0, 0.0)  # inner products, without the weights of a linear machine
FORMS = [
    "dense",
    "float32",
    "offset",
    "idle features",
    "integers",
    "sparse",
    "wide",
    "words",
    "counts of words",
    "sparse integers",
    "one-hot",
    "full",
]


def _data(form: str, n: int, rng: np.random.Generator) -> object:
    """Return rows of a kind that the pass treats in its own way."""
    X = np.abs(rng.normal(size=(n, 6)))
    if form == "float32":
        return X.astype(np.float32)
    if form == "offset":
        return X + 50.0
    if form == "wide":
        return sp.random(n, 3000, density=0.01, random_state=rng, format="csr")
    if "words" in form:
        shares = np.concatenate((np.full(9, 0.5), np.full(2991, 0.01)))
        words = sp.csr_array((rng.random((n, 3000)) < shares) * rng.exponential(size=(n, 3000)))
        words.data = np.ceil(words.data) if "counts" in form else words.data
        return words
    if form == "integers":
        return np.rint(3.0 * X)
    if form == "sparse":
        return sp.csr_array(X * (rng.random(X.shape) < 0.2))
    if form == "sparse integers":
        return sp.csr_array(np.rint(3.0 * X) * (rng.random(X.shape) < 0.2))
    if form == "one-hot":
        groups = [rng.integers(0, k, size=n) for k in (3, 5, 9, 4, 7)]
        hot = np.concatenate([np.eye(9)[group] for group in groups], axis=1)
        hot[rng.random(n) < 0.2, :9] = 0.0  # rows of even and of odd length, and an empty one
        hot[3] = 0.0
        return sp.csr_array(0.75 * hot)
    if form == "full":
        return sp.csr_array(X)
    if form == "idle features":
        return np.pad(X, ((0, 0), (2, 5))) + (np.arange(n) == n - 1)[:, None]
    return X


def _exact(kernel: Kernel, rows: Rows, ids: np.ndarray, support: np.ndarray) -> np.ndarray:
    dense = [rows.take(part).matrix for part in (ids, support)]
    dense = [part.toarray() if sp.issparse(part) else part for part in dense]
    used = np.flatnonzero(np.any(dense[0] != 0, axis=0) | np.any(dense[1] != 0, axis=0))
    return extended_kernel(kernel, *(part[:, used].astype(np.float64) for part in dense))


@pytest.fixture
def small_panels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut everything into panels so small that every kind of edge is met."""
    for module in (kernel_panels, kernel_machine, kernel_pass):
        monkeypatch.setattr(module, "PANEL_COLUMNS", 9)
    monkeypatch.setattr(kernel_panels, "_SINGLE_TERMS", 2)
    monkeypatch.setattr(kernel_weights, "_SINGLE_SUM", 4)
    monkeypatch.setattr(kernel_scores, "_ONE_PANEL", 0)
    monkeypatch.setattr(kernel_machine, "_PREPARED_BYTES", 2000)
    monkeypatch.setattr(kernel_operands, "_WORTH_PAIRING", 1)
    for module in (kernel_stacks, kernel_operands, kernel_panels, kernel_pass, kernel_scores):
        monkeypatch.setattr(module, "PANEL_ROWS", 4)
    monkeypatch.setattr(kernel_stacks, "SPARSE_PANEL_ROWS", 8)
    monkeypatch.setattr(kernel_stacks, "_TASK_VALUES", 100)
    monkeypatch.setattr(Machine.cuts, "__defaults__", (9,))


@pytest.mark.usefixtures("small_panels")
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("form", FORMS)
def test_scores_are_within_their_bounds(kernel: Kernel, form: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = Rows(_data(form, 70, rng))
    support = rng.permutation(70)[:41]
    coef = rng.normal(size=41) * 10.0 ** rng.uniform(-2, 2, size=41)
    machine = Machine(kernel, rows, support, coef)
    assert len(machine.loads()) > 1
    everyone = np.arange(70)
    exact = _exact(kernel, rows, everyone, machine.ids)
    wanted = exact @ machine.coef
    total = exact @ np.abs(machine.coef)
    found = [scores_at(machine, (rows, everyone))]
    wanted_rows = (rows, everyone)
    found.append(scores_at(machine, wanted_rows, panels=machine.panels(wanted_rows, np.float32)))
    for scores in found:
        assert (np.abs(scores.values - wanted) <= scores.error).all()
        assert (np.abs(scores.plus + scores.minus - total) <= scores.error).all()
    magnitude = np.abs(exact) @ np.abs(machine.coef)
    assert (found[0].error <= 1e-7 * (1.0 + magnitude)).all()
    own = support_scores(machine)
    assert (np.abs(own.values - wanted[machine.ids]) <= own.error).all()
    assert (np.abs(own.plus + own.minus - total[machine.ids]) <= own.error).all()
    assert (own.error <= 1e-7 * (1.0 + magnitude[machine.ids])).all()


@pytest.mark.parametrize("scale", [1.0, 10.0, 1e3])
def test_arguments_do_not_matter_where_tanh_is_flat(scale: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = Rows(scale * rng.normal(size=(60, 5)))
    support = np.arange(40)
    machine = Machine(Sigmoid(1.0, 0.3), rows, support, 1e4 * rng.normal(size=40))
    exact = _exact(machine.kernel, rows, np.arange(60), machine.ids)
    scores = scores_at(machine, (rows, np.arange(60)))
    assert (np.abs(scores.values - exact @ machine.coef) <= scores.error).all()
    # Without that it would be relative to the squared scale.
    norms = np.linalg.norm(rows.values, axis=1)
    _, absolute = machine.kernel.block_error(norms, float(norms.max()), 5)
    size = (np.abs(exact) @ np.abs(machine.coef)).astype(np.float64) / machine.total
    assert (scores.error <= ((1.0 - size**2) * absolute + 2e-14) * machine.total * 1.1).all()


def test_lengths_that_are_nearly_nothing_widen_the_bound() -> None:
    """A normalised kernel divides by lengths, which may be all rounding."""
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(40, 30))
    X = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    X *= np.sqrt(1.0 + 1e-10)
    kernel = Normalised(Polynomial(1, 1.0, -1.0))  # k(x, x) is 1e-10, the difference of two ones
    rows = Rows(X)
    machine = Machine(kernel, rows, np.arange(30), np.abs(rng.normal(size=30)))
    for queries in (X, 2.0 * X):  # with short images on both sides, or on one
        scores = scores_at(machine, (Rows(queries), np.arange(40)))
        exact = extended_kernel(kernel, queries, X[machine.ids]) @ machine.coef
        error = np.abs(scores.values - exact)
        assert (error <= scores.error).all()
        assert np.max(error / np.abs(exact)) > 1e-8
    tiny = Normalised(Polynomial(1, 1.0, -1.0 - 1e-10 + 2e-14))
    hopeless = Machine(tiny, rows, np.arange(2), np.ones(2))
    assert (scores_at(hopeless, (rows, np.arange(40))).error == np.inf).all()


@pytest.mark.parametrize("d", [200, 256, 257, 900])
def test_sums_in_which_every_term_is_lost_are_within_their_bounds(d: int) -> None:
    """One and many numbers too small to change it, one by one: the worst that a sum can do."""
    X = np.full((200, d), 2.0**-12.2, dtype=np.float32)
    X[:, 0] = 1.0
    rows = Rows(X)
    machine = Machine(Linear(), rows, np.arange(200), np.ones(200))
    wanted = (rows, np.arange(200))
    scores = scores_at(machine, wanted, panels=machine.panels(wanted, np.float32))
    exact = 200.0 * (1.0 + (d - 1) * np.longdouble(X[0, 1]) ** 2)
    error = np.abs(scores.values - exact)
    assert (error <= scores.error).all()
    assert error.max() > 200.0 * 24.0 * 2.0**-24  # more than a few roundings
    # Cut in pieces, so not of all terms: those of a product, and those of a sum of values.
    assert (scores.error < 200.0 * (280.0 + 72.0) * 2.0**-24).all()


@pytest.mark.usefixtures("small_panels")
@pytest.mark.parametrize("kernel", [RBF(0.2), Polynomial(2, 0.1, 1.0), Laplacian(0.2)], ids=repr)
@pytest.mark.parametrize(("form", "other"), [("dense", "sparse"), ("sparse", "dense")])
def test_rows_of_another_form_are_taken(kernel: Kernel, form: str, other: str) -> None:
    rng = np.random.default_rng(0)
    rows, queries = Rows(_data(form, 30, rng)), Rows(_data(other, 20, rng))
    machine = Machine(kernel, rows, np.arange(30), rng.normal(size=30))
    scores = scores_at(machine, (queries, np.arange(20)))
    dense = [r.matrix.toarray() if r.is_sparse else r.matrix for r in (queries, rows)]
    exact = extended_kernel(kernel, dense[0], dense[1][machine.ids]) @ machine.coef
    assert (np.abs(scores.values - exact) <= scores.error).all()
    assert (scores.error < 1e-10).all()


@pytest.mark.parametrize("kernel", [Linear(), RBF(0.3), Polynomial(2, 1.0, 1.0)], ids=repr)
@pytest.mark.parametrize("sparse", [False, True])
def test_support_vectors_may_be_zero(kernel: Kernel, sparse: bool) -> None:
    X = np.random.default_rng(0).normal(size=(6, 4)) + 0.125
    X[:3] = 0.0
    rows = Rows(sp.csr_array(X) if sparse else X)
    machine = Machine(kernel, rows, np.arange(3), np.asarray([1.0, -2.0, 0.5]))
    wanted = (rows, np.arange(6))
    exact = extended_kernel(kernel, X, X[machine.ids]) @ machine.coef
    for dtype in (np.float32, np.float64):
        scores = scores_at(machine, wanted, panels=machine.panels(wanted, dtype))
        assert (np.abs(scores.values - exact) <= scores.error).all()
    own = support_scores(machine)
    assert (np.abs(own.values - exact[machine.ids]) <= own.error).all()


@pytest.mark.parametrize("kernel", [RBF(0.05), PLAIN], ids=repr)
def test_frequent_and_rare_features_are_told_apart(kernel, monkeypatch) -> None:
    rng = np.random.default_rng(0)
    rows = Rows(_data("words", 300, rng))
    support, coef = np.arange(0, 300, 2), rng.normal(size=150)
    machine, wanted = Machine(kernel, rows, support, coef), (rows, np.arange(300))
    counts = kernel_wide.FeatureCounts(rows, support)
    assert counts.favours_halves
    assert np.flatnonzero(counts.is_frequent).tolist() == list(range(9))
    halves = scores_at(machine, wanted)
    assert isinstance(machine.panels(wanted)._operands, kernel_wide.WideOperands)
    # Features too many for a table are looked up in a list.
    monkeypatch.setattr(kernel_wide, "_TABLE", 0)
    np.testing.assert_array_equal(scores_at(machine, wanted).values, halves.values)
    # Rows in which most features are about as frequent stay as they are.
    band = np.add.outer(np.arange(100), np.arange(3000)) % 100 < 7
    even = Rows(sp.csr_array(band.astype(np.float64)))
    assert not kernel_wide.FeatureCounts(even, np.arange(100)).favours_halves
    monkeypatch.setattr(kernel_wide.FeatureCounts, "favours_halves", False)
    whole = scores_at(machine, wanted)
    assert (np.abs(whole.values - halves.values) <= whole.error + halves.error).all()
    assert not np.array_equal(whole.values, halves.values)
    np.testing.assert_allclose(halves.error, whole.error, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("step", [1, 37])
def test_features_may_all_be_frequent_or_all_be_rare(step: int, dtype: object) -> None:
    rng = np.random.default_rng(0)
    X = sp.lil_array((90, 3000))
    for row in range(90):
        start = 0 if step == 1 else (31 * row) % 1500
        X[row, start : start + 40 * step : step] = rng.normal(size=40)
    rows = Rows(sp.csr_array(X))
    machine = Machine(RBF(0.01), rows, np.arange(80), rng.normal(size=80))
    frequent = kernel_wide.FeatureCounts(rows, machine.ids).is_frequent
    assert frequent.all() if step == 1 else not frequent.any()
    wanted = (rows, np.arange(90))
    panels = machine.panels(wanted, dtype)
    assert isinstance(panels._operands, kernel_wide.WideOperands)
    scores = scores_at(machine, wanted, panels=panels)
    exact = _exact(machine.kernel, rows, np.arange(90), machine.ids) @ machine.coef
    assert (np.abs(scores.values - exact) <= scores.error).all()


@pytest.mark.parametrize("sparse", [False, True])
def test_precomputed_scores_are_those_of_the_matrix(sparse: bool) -> None:
    rng = np.random.default_rng(0)
    K = rng.normal(size=(600, 600))
    K = K + K.T
    rows = Rows(sp.csr_array(K) if sparse else K)
    kernel = Precomputed(psd=True).resolved(rows)
    support = np.flatnonzero(rng.random(600) < 0.9)
    machine = Machine(kernel, rows, support, rng.normal(size=len(support)))
    exact = K[:, machine.ids].astype(np.longdouble) @ machine.coef
    scores = scores_at(machine, (rows, np.arange(600)))
    assert (np.abs(scores.values - exact) <= scores.error).all()
    own = support_scores(machine)
    assert (np.abs(own.values - exact[machine.ids]) <= own.error).all()
    assert (own.error < 1e-9).all()


def _blobs(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return two clouds of which most rows are far from the other."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, d)) + 3.0 * y[:, None], y


def _machine(problem: Problem, n_support: int, seed: int = 0) -> Point:
    """Return a rough machine: some rows of either class, with the same coefficient."""
    rng = np.random.default_rng(seed)
    alpha = np.zeros(problem.n_rows)
    for sign in (-1, 1):
        chosen = rng.permutation(np.flatnonzero(problem.signs == sign))[: n_support // 2]
        alpha[chosen] = problem.C
    return Point(np.zeros(0), 0.05, alpha)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "huber"])
@pytest.mark.parametrize("kernel", [RBF(0.05), Polynomial(2, 0.2, 1.0), PLAIN], ids=repr)
def test_rows_that_float32_decides_change_nothing(kernel, loss, sparse, monkeypatch) -> None:
    X, y = _blobs(3000, 5)
    X = sp.csr_array(X * (np.random.default_rng(1).random(X.shape) < 0.15)) if sparse else X
    problem = Problem(X, y, loss=loss, C=0.5, kernel=kernel)
    point = _machine(problem, 400)
    asked = []
    original = kernel_scores.scores_at

    def watched(machine, wanted, threads=1, check=None, panels=None):
        asked.append((panels is None, len(wanted[1])))
        return original(machine, wanted, threads, check, panels)

    monkeypatch.setattr(kernel_scores, "scores_at", watched)
    two_stages, violation = gap(problem, point, region=False), kkt(problem, point)
    monkeypatch.setattr(kernel_scores, "_WORTH_IT", -1.0)
    one_stage = gap(problem, point, region=False)
    # BLAS rounds a row by its place in a panel; nothing else may differ.
    for name in ("primal", "dual", "gap", "kkt"):
        wanted = getattr(one_stage, name)
        assert getattr(two_stages, name) == pytest.approx(wanted, rel=1e-12), name
    assert violation.worst == pytest.approx(kkt(problem, point).worst, rel=1e-12)
    assert violation.worst_row == kkt(problem, point).worst_row
    # All rows in float32, and what was left in float64.
    assert [in_float64 for in_float64, _ in asked[:2]] == [False, True]
    assert asked[1][1] < asked[0][1]
    assert sparse or asked[1][1] < 0.4 * asked[0][1]


@pytest.mark.parametrize(("scale", "in_float64"), [(1.0, [False, True]), (1e3, [True])])
def test_where_float32_would_decide_nothing_it_is_not_tried(scale, in_float64, monkeypatch) -> None:
    X, y = _blobs(3000, 5)
    problem = Problem(scale * X, y, C=0.5, kernel=RBF(0.05))
    asked = []
    original = kernel_scores.scores_at

    def watched(machine, wanted, threads=1, check=None, panels=None):
        asked.append(panels is None)
        return original(machine, wanted, threads, check, panels)

    monkeypatch.setattr(kernel_scores, "scores_at", watched)
    gap(problem, _machine(problem, 400))
    assert asked == in_float64


@pytest.mark.parametrize("form", ["dense", "sparse", "precomputed"])
@pytest.mark.parametrize("intercept", ["free", "none"])
def test_certificates_have_the_same_bits_for_any_number_of_threads(form, intercept) -> None:
    X, y = _blobs(2600, 6)
    kernel: Kernel = RBF(0.05)
    if form == "precomputed":
        X, kernel = RBF(0.05).block(X, X), Precomputed(psd=True)
    if form == "sparse":
        X = sp.csr_array(X * (np.random.default_rng(1).random(X.shape) < 0.2))
    problem = Problem(X, y, C=0.5, kernel=kernel, intercept=intercept)
    point = _machine(problem, 1400)
    if intercept == "none":
        point = Point(np.zeros(0), 0.0, point.dual_coef)
    certificates = [gap(problem, point, threads=threads) for threads in (1, 2, 3)]
    assert len({repr(certificate) for certificate in certificates}) == 1
    bounds = [certificate.decision_bounds(X[:100]) for certificate in certificates]
    assert len({(low.tobytes(), high.tobytes()) for low, high in bounds}) == 1


def test_a_check_that_raises_abandons_the_certificate_between_any_panels(monkeypatch) -> None:
    class Countdown:
        def __init__(self, last: float) -> None:
            self.calls, self.last = 0, last

        def __call__(self) -> None:
            self.calls += 1
            if self.calls == self.last:
                raise InterruptedError

    X, y = _blobs(3000, 5)
    problem = Problem(X, y, C=0.5, kernel=RBF(0.05))
    point = _machine(problem, 1400)
    monkeypatch.setattr(kernel_stacks, "_TASK_VALUES", 1)
    unhurried = Countdown(np.inf)
    gap(problem, point, check=unhurried)
    assert unhurried.calls > 12
    for calls in (1, 3, unhurried.calls // 2, unhurried.calls):
        with pytest.raises(InterruptedError):
            gap(problem, point, check=Countdown(calls))
    # Only the calling thread asks, and how much of the work it takes is a matter of chance.
    for calls in (1, 3):
        with pytest.raises(InterruptedError):
            gap(problem, point, check=Countdown(calls), threads=2)


@pytest.mark.parametrize("kernel", [RBF(0.3), Polynomial(2, 0.2, 1.0), Laplacian(0.2)], ids=repr)
@pytest.mark.parametrize("intercept", ["free", "none"])
def test_few_rows_that_are_taken_together_have_the_certificate_of_those_apart(
    kernel: Kernel, intercept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = _blobs(200, 5)
    weights = np.arange(200) % 4  # some rows count for nothing
    problem = Problem(X, y, C=0.5, kernel=kernel, intercept=intercept, sample_weight=weights)
    point = Point(np.zeros(0), 0.0, np.minimum(_machine(problem, 60).dual_coef, problem.costs))
    together = gap(problem, point)
    monkeypatch.setattr(kernel_scores, "_FEW_VALUES", 0)
    apart = gap(problem, point)
    for name in ("primal", "dual", "gap", "kkt"):
        assert getattr(together, name) == pytest.approx(getattr(apart, name), rel=1e-12), name


@pytest.mark.parametrize("sparse", [False, True])
def test_the_pass_takes_little_memory(sparse: bool) -> None:
    X, y = _blobs(6000, 40)
    X = sp.csr_array(X * (np.random.default_rng(1).random(X.shape) < 0.1)) if sparse else X
    problem = Problem(X, y, C=0.5, kernel=RBF(0.01))
    point = _machine(problem, 3000)
    tracemalloc.start()
    try:
        gap(problem, point)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # The kernel matrix of support vectors alone would have 72 MB.
    assert peak < 12e6


@pytest.mark.parametrize(("kernel", "n_support"), [(RBF(0.1), 40_000), (Laplacian(0.1), 3000)])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_task_is_short_enough_to_be_interrupted(
    kernel: Kernel, n_support: int, sparse: bool
) -> None:
    X = np.random.default_rng(0).normal(size=(n_support, 3))
    rows, ids = Rows(sp.csr_array(X) if sparse else X), np.arange(n_support)
    machine = Machine(kernel, rows, ids, np.ones(n_support))
    heights = machine.cuts(kernel_stacks.panel_rows(machine))
    stacks = Stacks(machine, machine.panels((rows, ids)), (rows, ids), heights)
    assert [height for stack in stacks.heights for height in stack] == heights
    for cuts in machine.loads():
        width = cuts[-1][1] - cuts[0][0]
        tallest = max(stack[-1][1] - stack[0][0] for stack in stacks.heights)
        assert tallest * width <= (1 << 25 if machine.is_fast else 1 << 17)


@pytest.mark.parametrize(("kept_bytes", "times"), [(1 << 23, 1), (0, 3)])
def test_small_rows_are_prepared_once_for_all_support_vectors(
    kept_bytes: int, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, _ = _blobs(2000, 5)
    rows, everyone = Rows(X), np.arange(2000)
    machine = Machine(RBF(0.05), rows, everyone[:1500], np.ones(1500))
    monkeypatch.setattr(kernel_machine, "_PREPARED_BYTES", 5 * 512 * 8)
    monkeypatch.setattr(kernel_stacks, "_KEPT_BYTES", kept_bytes)
    assert len(machine.loads()) == 3
    prepared = np.zeros(2000, dtype=np.int64)
    original = kernel_panels.ProductPanels.panel

    def watched(self, some: Rows, ids: np.ndarray):
        prepared[ids] += 1
        return original(self, some, ids)

    monkeypatch.setattr(kernel_panels.ProductPanels, "panel", watched)
    scores_at(machine, (rows, everyone))
    np.testing.assert_array_equal(prepared, times)
