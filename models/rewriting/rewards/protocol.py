"""The seam between a search over edits and what it is rewarded by.

An engine is built once for a corpus and serves every claim and, where it says so, several threads. An episode is one
claim's: `evaluate` may be called as often as wanted, with any queries in any order, gives the same values for the same
query, and remembers what it has worked out. A query has the form its endpoint reads:

    ranked   a bag of words: a sequence of the engine's tokens, in any order, repeats counting
    dense    a text
    boolean  a sequence of OR groups, each a sequence of words; all groups must match

An empty query, or one of unknown words only, finds nothing and is worth 0. Gold ids that the corpus lacks count as
missed. A gold set must not be empty.
"""

from collections.abc import Sequence, Set
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Query_contra = TypeVar("Query_contra", contravariant=True)

CUT = 50  # a gold text past this rank is as good as not found
RANK_METRICS = ("ap@50", "recall@50", "rr@50", "ndcg@10")  # of ranked and dense engines


class RewardEpisode(Protocol[Query_contra]):
    def evaluate(self, queries: Sequence[Query_contra]) -> NDArray[np.float64]:
        """(queries, metrics), in the order of the engine's `metrics`."""
        ...


class RewardEngine(Protocol[Query_contra]):
    @property
    def metrics(self) -> tuple[str, ...]: ...

    def open(self, gold: Set[str]) -> RewardEpisode[Query_contra]:
        """Raises ValueError for an empty gold set."""
        ...
