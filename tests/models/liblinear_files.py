"""Small files as LIBLINEAR writes them, with a space at the end of every line of weights."""

from __future__ import annotations

BINARY = (
    "solver_type L2R_L2LOSS_SVC_DUAL\nnr_class 2\nlabel -1 1\nnr_feature 3\nbias 2\nw\n"
    "0.25 \n-1e-3 \n0.10000000000000001 \n0.5 \n"
)
THREE = (
    "solver_type L2R_L1LOSS_SVC_DUAL\nnr_class 3\nlabel 7 -2 3\nnr_feature 2\nbias -1\nw\n"
    "1 2 3 \n4 5 6 \n"
)
