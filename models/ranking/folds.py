"""Parts of a labelled split to fit on and to measure on, so that no post is measured by what it taught."""

from collections.abc import Sequence, Set

import numpy as np
from numpy.typing import NDArray

FOLDS = 5


def assign_folds(gold: Sequence[Set[int]], *, seed: int, folds: int = FOLDS) -> NDArray[np.intp]:
    """(posts,): the fold of each post; posts of one fact-check share theirs."""
    firsts = np.array([min(numbers, default=-1) for numbers in gold], dtype=np.intp)
    distinct, places = np.unique(firsts, return_inverse=True)
    chosen = np.random.default_rng(seed).permutation(len(distinct)) % folds
    assigned: NDArray[np.intp] = chosen[places]
    return assigned
