"""One rule for ties: arms within 1e-10 (1 + |max|) of the maximum are tied, and a given order decides.

Exact float ties do not survive a change of BLAS, so equality is never asked for.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kbrepro.kernels import Array

TOLERANCE = 1e-10


def best_arm(index: Array, rank: NDArray[np.int64] | None = None) -> int:
    """Return the arm of largest index (A,); among tied arms the one of lowest `rank` (A,), else of lowest number.

    Raises ValueError if an index is NaN.
    """
    top = index.max()
    if np.isnan(top):
        raise ValueError(f"index[{int(np.isnan(index).argmax())}] = nan is not allowed: index must not be NaN")
    slack = 0.0 if np.isinf(top) else TOLERANCE * (1 + abs(top))
    tied = np.flatnonzero(index >= top - slack)
    return int(tied[0] if rank is None else tied[rank[tied].argmin()])
