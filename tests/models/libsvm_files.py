"""Small files as LIBSVM writes them, with a space at the end of every support vector."""

from __future__ import annotations

BINARY = (
    "svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 3\nrho 0.25\nlabel -1 1\n"
    "nr_sv 2 1\nSV\n0.5 1:0.25 3:-1 \n0.25 2:1e-3 \n-0.75 1:2 2:3 3:4 \n"
)
THREE = (
    "svm_type c_svc\nkernel_type linear\nnr_class 3\ntotal_sv 3\nrho 1 2 3\nlabel 7 -2 3\n"
    "nr_sv 1 1 1\nSV\n10 20 1:1 \n-10 30 2:1 \n-20 -30 3:1 \n"
)
PRECOMPUTED = (
    "svm_type c_svc\nkernel_type precomputed\nnr_class 2\ntotal_sv 2\nrho 1\nlabel 1 0\n"
    "nr_sv 1 1\nSV\n1 0:3 \n-1 0:1 \n"
)
