"""The contests that there are."""

from __future__ import annotations

from benchmarks.suite.contest import AUTO, Case, Contest, Promise
from benchmarks.suite.task import Task

LIBLINEAR, UNCAPPED = "LIBLINEAR -s 3", "scikit-learn LinearSVC"
STOCHASTIC = "scikit-learn SGDClassifier"
RIVALS = ("snapml", "lightning", "skglm", "vowpalwabbit", STOCHASTIC)
SMALL_SETS = ("a9a", "usps", "reuters21578", "reuters_moneyfx")


def _beats(methods: tuple[str, ...], gap: float, factor: float) -> tuple[Promise, ...]:
    return tuple(Promise(method, gap, factor) for method in methods)


HARD = Contest(
    "Large C, and the sets of the suite, against LIBLINEAR",
    (
        *(
            Case(
                Task("covtype", 100.0, intercept=intercept),
                (1e-2, 1e-3, 1e-4, 1e-6),
                _beats((LIBLINEAR, UNCAPPED), 1e-4, 15.0),
            )
            for intercept in ("free", "augmented")
        ),
        Case(
            Task("covtype", 1.0),
            (1e-2, 1e-3, 1e-4, 1e-6),
            (
                Promise(LIBLINEAR, 1e-3, 1.5),
                Promise(LIBLINEAR, 1e-4, 1.5),
                *_beats(("snapml", "PECOS"), 1e-3, 1.0),
                *_beats(("snapml", "PECOS"), 1e-4, 1.0),
            ),
        ),
        Case(Task("mnist", 1.0), (1e-2, 1e-3, 1e-4), _beats((LIBLINEAR, UNCAPPED), 1e-3, 5.0)),
        *(
            Case(Task(name, 1.0), (1e-2, 1e-3, 1e-4), _beats((LIBLINEAR,), 1e-3, 2.0))
            for name in SMALL_SETS
        ),
    ),
)

HARD_QUICK = Contest(
    HARD.title,
    (
        Case(Task("usps", 100.0, intercept="free"), (1e-2, 1e-3), _beats((LIBLINEAR,), 1e-3, 2.0)),
        Case(Task("a9a", 1.0), (1e-2, 1e-3), _beats((LIBLINEAR, "snapml"), 1e-3, 2.0)),
    ),
)

OTHERS = Contest(
    "Other libraries, wherever they come within 0.1 % of the optimum",
    tuple(
        Case(Task(name, C), (1e-2, 1e-3), _beats(RIVALS, 1e-3, 1.0))
        for name, C in (
            *((name, 1.0) for name in SMALL_SETS),
            ("mnist", 0.01),
            ("mnist", 1.0),
            ("covtype", 1.0),
        )
    ),
    (AUTO,),
)

OTHERS_QUICK = Contest(OTHERS.title, OTHERS.cases[:1], (AUTO,))
