"""What a LIBSVM text model means, read in the plainest way: the reference for the reader.

It takes whatever has the right words in the right number; it need not refuse anything that the
reader refuses, only agree with it on what the reader accepts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from fuzz.liblinear_text.plain_reader import rounded

_NUMBERED = ("degree", "gamma", "coef0")


@dataclass(frozen=True)
class PlainModel:
    """A machine as the file has it.

    Parameters
    ----------
    kernel : str
        Its name in LIBSVM.
    numbers : dict
        Parameters of the kernel.
    labels : list of int
        In the order of the file.
    rho : dict
        By the positions of a pair of labels.
    vectors : list
        For each support vector the position of its label, its coefficients by the position of the
        other label, and its features.
    """

    kernel: str
    numbers: dict[str, float]
    labels: list[int]
    rho: dict[tuple[int, int], float]
    vectors: list[tuple[int, dict[int, float], dict[int, float]]]

    def decision(self, first: int, second: int, row: dict[int, float]) -> float:
        """Return the decision value of two labels, positive for the first.

        Parameters
        ----------
        first, second : int
            The labels.
        row : dict
            Features by their numbers, or the kernel with training rows by theirs.
        """
        i, j = self.labels.index(first), self.labels.index(second)
        if i > j:
            return -self.decision(second, first, row)
        total = 0.0
        for own, coefficients, features in self.vectors:
            if own in (i, j):
                total += coefficients[j if own == i else i] * self._kernel(features, row)
        return total - self.rho[i, j]

    def _kernel(self, a: dict[int, float], b: dict[int, float]) -> float:
        if self.kernel == "precomputed":
            return b.get(int(a[0]), 0.0)
        gamma, coef0 = self.numbers.get("gamma", 0.0), self.numbers.get("coef0", 0.0)
        if self.kernel == "rbf":
            names = a.keys() | b.keys()
            square = math.fsum((a.get(k, 0.0) - b.get(k, 0.0)) ** 2 for k in names)
            return math.exp(-gamma * square)
        inner = math.fsum(value * b.get(k, 0.0) for k, value in a.items())
        if self.kernel == "linear":
            return inner
        if self.kernel == "sigmoid":
            return math.tanh(gamma * inner + coef0)
        return (gamma * inner + coef0) ** int(self.numbers["degree"])


def plain_model(content: bytes) -> PlainModel:
    """Return the machine of a file that the reader has accepted.

    Parameters
    ----------
    content : bytes
        The file.
    """
    before, _, after = content.decode("ascii").partition("\nSV")
    header = {line.split(" ", 1)[0]: line.split(" ", 1)[1] for line in before.split("\n")}
    labels = [int(token) for token in header["label"].split()]
    count = int(header["nr_class"])
    assert len(set(labels)) == len(labels) == count >= 2
    places = [(i, j) for i in range(count) for j in range(i + 1, count)]
    rho = [rounded(token) for token in header["rho"].split()]
    n_support = [int(token) for token in header["nr_sv"].split()]
    lines = after.split("\n")[1:-1]
    assert len(n_support) == count
    assert sum(n_support) == int(header["total_sv"]) == len(lines)
    owners = [own for own, number in enumerate(n_support) for _ in range(number)]
    vectors = []
    for own, line in zip(owners, lines, strict=True):
        tokens = line.split()
        others = [k for k in range(count) if k != own]
        coefficients = dict(zip(others, map(rounded, tokens[: count - 1]), strict=True))
        pairs = [token.split(":") for token in tokens[count - 1 :]]
        features = {int(index): rounded(value) for index, value in pairs}
        assert len(features) == len(pairs)
        vectors.append((own, coefficients, features))
    return PlainModel(
        kernel=header["kernel_type"].strip(),
        numbers={name: rounded(header[name].strip()) for name in _NUMBERED if name in header},
        labels=labels,
        rho=dict(zip(places, rho, strict=True)),
        vectors=vectors,
    )
