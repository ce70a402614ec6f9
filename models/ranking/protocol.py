"""The seam of ranking: how well does each post fit each of its candidate fact-checks."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from domain.fact_check import FactCheck


class Ranker(Protocol):
    """`score(posts, candidates)`: array (post, fact-check), higher fits better; scores of different posts need not be
    comparable. Batch in, batch out: a post's scores do not depend on its neighbours."""

    @property
    def name(self) -> str: ...

    def score(self, posts: Sequence[str], candidates: Sequence[FactCheck]) -> NDArray[np.float32]: ...
