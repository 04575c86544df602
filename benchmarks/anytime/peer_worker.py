"""Times the predict of another library on a machine in files; runs in that library's environment.

``python peer_worker.py FOLDER LIBRARY`` prints a JSON object. scikit-learn and ONNX Runtime get the
support vectors, coefficients and intercepts of the machine that hinge has fitted, ThunderSVM as a
file in LIBSVM's format; the extension for scikit-learn keeps its own where they cannot be set, so
that it fits the same task itself.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

SINGLES = 200  # rows that are asked one by one
_ROUNDS = 3
_ENOUGH = 8.0  # seconds of one batch size after which no further round is made


def rows(folder: Path, name: str) -> Any:
    """Return a matrix that ``speed`` has written."""
    dense = folder / f"{name}.npy"
    if dense.exists():
        return np.load(dense)
    return sp.csr_matrix(sp.load_npz(folder / f"{name}.npz"))


def scikit_machine(folder: Path, task: dict[str, Any]) -> Any:
    """Return scikit-learn's machine with the numbers of hinge's."""
    svm = importlib.import_module("sklearn.svm")
    support, coef = rows(folder, "support"), np.load(folder / "coef.npy")
    intercept, classes = np.load(folder / "intercept.npy"), np.load(folder / "classes.npy")
    is_sparse = sp.issparse(support)
    tiny = np.eye(len(classes), support.shape[1])
    model = svm.SVC(gamma=task["gamma"]).fit(sp.csr_matrix(tiny) if is_sparse else tiny, classes)
    sign = -1.0 if len(classes) == 2 else 1.0  # LIBSVM's first class is the positive one
    model.support_vectors_ = support
    model.support_ = np.arange(support.shape[0], dtype=np.int32)
    model._n_support = np.load(folder / "n_support.npy").astype(np.int32)
    model.dual_coef_ = sp.csr_matrix(coef) if is_sparse else coef
    model._dual_coef_ = sp.csr_matrix(sign * coef) if is_sparse else sign * coef
    model.intercept_, model._intercept_ = intercept, sign * intercept
    model.shape_fit_ = support.shape
    return model


def scikit_learn(folder: Path, task: dict[str, Any]) -> Any:
    """Return the predict of scikit-learn, and the queries as it takes them."""
    return scikit_machine(folder, task).predict, rows(folder, "queries")


def intelex(folder: Path, task: dict[str, Any]) -> Any:
    """Return the predict of the extension for scikit-learn, on one thread."""
    importlib.import_module("daal4py").daalinit(1)
    svm = importlib.import_module("sklearnex.svm")
    model = svm.SVC(C=task["C"], gamma=task["gamma"], cache_size=1000)
    return model.fit(rows(folder, "train"), np.load(folder / "y.npy")).predict, rows(
        folder, "queries"
    )


def onnxruntime(folder: Path, task: dict[str, Any]) -> Any:
    """Return a session on the machine in float32, which its operator needs; rows are dense."""
    runtime = importlib.import_module("onnxruntime")
    convert = importlib.import_module("skl2onnx")
    model = scikit_machine(folder, task)
    if sp.issparse(model.support_vectors_):
        dense = model.support_vectors_.toarray()
        model._sparse, model.support_vectors_ = False, dense
        model.dual_coef_ = model.dual_coef_.toarray()
        model._dual_coef_ = model._dual_coef_.toarray()
    example = np.zeros((1, model.support_vectors_.shape[1]), dtype=np.float32)
    graph = convert.to_onnx(model, example, options={"zipmap": False})
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = runtime.InferenceSession(
        graph.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    name, label = session.get_inputs()[0].name, session.get_outputs()[0].name
    queries = rows(folder, "queries")
    queries = (queries.toarray() if sp.issparse(queries) else queries).astype(np.float32)
    return (lambda X: session.run([label], {name: X})[0]), queries


def thundersvm(folder: Path, task: dict[str, Any]) -> Any:
    """Return the predict of ThunderSVM on the machine, on one thread; it computes in float32."""
    library = importlib.import_module("thundersvm")
    model = library.SVC(kernel="rbf", gamma=task["gamma"], n_jobs=1)
    model.load_from_file(str(folder / "model.libsvm"))
    # It takes CSR matrices but no CSR arrays.
    return model.predict, rows(folder, "queries")


def times(predict: Any, X: Any, size: int) -> dict[str, float]:
    """Return seconds of processor time per query in batches of a size; 0 is all rows."""
    count = X.shape[0]
    if size:
        count = min(count, SINGLES if size == 1 else 10 * size)
    step = size or count
    batches = [X[k : k + step] for k in range(0, count, step)]
    best, single, spent = np.inf, np.full(len(batches), np.inf), 0.0
    for _ in range(_ROUNDS):
        for number, batch in enumerate(batches):
            begin = time.process_time()
            predict(batch)
            single[number] = min(single[number], time.process_time() - begin)
        best = min(best, float(single.sum()) / count)
        spent += float(single.sum())
        if spent > _ENOUGH:
            break
    found = {"mean": best}
    if size == 1:
        found["p50"], found["p99"] = (float(np.quantile(single, q)) for q in (0.5, 0.99))
    return found


def main(folder: Path, library: str) -> None:
    """Print times of every batch size, and write the labels of all queries."""
    task = json.loads((folder / "task.json").read_text())
    prepared = {
        "scikit-learn": scikit_learn,
        "intelex": intelex,
        "onnxruntime": onnxruntime,
        "thundersvm": thundersvm,
    }
    predict, X = prepared[library](folder, task)
    seconds = {str(size or "all"): times(predict, X, size) for size in task["batches"]}
    np.save(folder / f"labels-{library}.npy", np.asarray(predict(X[:1000])))
    print(json.dumps(seconds))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
