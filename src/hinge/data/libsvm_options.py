"""What a caller asks of the reader of LIBSVM text, checked once."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from hinge import parameters
from hinge._native import core
from hinge.data.options import check_zero_based, value_type
from hinge.errors import InvalidParameterError

#: Whether indices begin with 0, begin with 1, or with 0 exactly if one of them is 0.
ZeroBased = bool | Literal["auto"]

_LARGEST_INDEX = 2**63 - 2
_LARGEST_NARROW = 2**31 - 2


@dataclass(frozen=True)
class TextOptions:
    """Options of the reader; see ``read_libsvm``."""

    n_features: int | None
    zero_based: ZeroBased
    multilabel: bool
    dtype: np.dtype[Any]
    wide: bool = False
    memory_limit: int | None = None  # of whole files; None bounds them by their size

    @classmethod
    def checked(cls, n_features: Any, zero_based: Any, multilabel: Any, dtype: Any) -> TextOptions:
        """Return the options, or raise an error that names the one that is wrong."""
        if n_features is not None:
            n_features = parameters.count(n_features, "n_features")
            if not 1 <= n_features <= _LARGEST_INDEX:
                message = f"n_features must be from 1 to 2^63 - 2; got {n_features}."
                raise InvalidParameterError(message)
        check_zero_based(zero_based)
        if not isinstance(multilabel, bool):
            message = f"multilabel must be True or False; got {multilabel!r}."
            raise InvalidParameterError(message)
        held = value_type(dtype) or np.dtype(np.float64)
        wide = n_features is not None and n_features > _LARGEST_NARROW
        return cls(n_features, zero_based, multilabel, held, wide)

    @property
    def index_dtype(self) -> Any:
        """Type of the indices: 64 bits only where they are needed."""
        return np.int64 if self.wide else np.int32

    @property
    def subtracted(self) -> int:
        """What is subtracted from an index before it is stored."""
        return 0 if self.zero_based is True else 1

    @property
    def last_index(self) -> int:
        """The largest index that may stand in the file; if both bases are possible, for base 1."""
        if self.n_features is None:
            return _LARGEST_INDEX
        return self.n_features - 1 + self.subtracted

    def settings(self, has_queries: bool | None) -> core.LibsvmTextSettings:
        """Return the same for the compiled reader."""
        return core.LibsvmTextSettings(
            first_index=1 if self.zero_based is False else 0,
            last_index=self.last_index,
            subtracted=self.subtracted,
            many_labels=self.multilabel,
            has_queries=has_queries,
        )

    def replace(self, **changes: Any) -> TextOptions:
        """Return the options with some of them changed."""
        return dataclasses.replace(self, **changes)
