"""What a bag of words is worth before a BM25 index, from the ranks of the gold texts alone.

k1, b and the analyser are the index's; ties go to the smaller id. See `ranked_kernel` for how, `impacts` for the sums.
"""

import threading
from collections.abc import Sequence, Set
from itertools import chain, repeat
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from models.rewriting.rewards.impacts import ImpactIndex
from models.rewriting.rewards.protocol import CUT, RANK_METRICS

if TYPE_CHECKING:
    from models.rewriting.rewards.bag_table import Bags
    from models.rewriting.rewards.ranked_kernel import Scratch

Change = tuple[Sequence[str], Sequence[str]]  # tokens taken away, tokens put in

_FIRST_ROOM = 256  # places for keys of bags


class RankedRewards:
    """A `RewardEngine` of bags of words. May be shared by threads; an episode may not."""

    metrics = RANK_METRICS

    def __init__(self, index: ImpactIndex) -> None:
        from models.rewriting.rewards import ranked_kernel

        postings = index.postings
        self.index, self.kernel = index, ranked_kernel
        self.arrays = ranked_kernel.Index(
            postings.starts, postings.documents, index.impacts, index.largest, index.rows, index.bits, index.before
        )
        self._threads = threading.local()

    def open(self, gold: Set[str]) -> "RankedEpisode":
        if not gold:
            raise ValueError("a claim without gold texts has no reward")
        return RankedEpisode(self, self.index.numbers(gold), len(gold))

    def bags(self, states: Sequence[tuple[Sequence[str], Sequence[Change]]]) -> "Bags":
        """Each state's bag with each of its changes. Words that the index lacks all have one number."""
        bags, changes = [bag for bag, _ in states], [changes for _, changes in states]
        parts = list(chain.from_iterable(chain.from_iterable(changes)))
        return self.kernel.Bags(
            *self._numbered(bags),
            np.repeat(np.arange(len(states)), list(map(len, changes))),
            *self._numbered(parts),
        )

    def _numbered(self, parts: Sequence[Sequence[str]]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The bounds of the parts, and the numbers of their tokens."""
        postings = self.index.postings
        bounds = np.zeros(len(parts) + 1, dtype=np.int64)
        np.add.accumulate(list(map(len, parts)), out=bounds[1:])
        numbers = map(postings.terms.get, chain.from_iterable(parts), repeat(postings.unknown))
        return bounds, np.fromiter(numbers, dtype=np.int32, count=int(bounds[-1]))

    def scratch(self) -> "Scratch":
        """The calling thread's own."""
        found: Scratch | None = getattr(self._threads, "scratch", None)
        if found is None:
            slots = np.full(len(self.index.largest), -1, dtype=np.int32)
            reach, touched = np.zeros(self.index.size, dtype=np.int32), np.empty(self.index.size + 1, dtype=np.uint32)
            found = self._threads.scratch = self.kernel.Scratch(slots, reach, touched)
        return found


class RankedEpisode:
    """`distinct` is the number of unlike bags evaluated so far."""

    def __init__(self, engine: RankedRewards, golds: NDArray[np.int32], relevant: int) -> None:
        self.distinct = 0
        self._engine, self._golds, self._relevant = engine, golds, relevant
        self._table = engine.kernel.empty_table(_FIRST_ROOM)
        self._measures = np.zeros((_FIRST_ROOM, len(RANK_METRICS)), dtype=np.float64)

    def evaluate(self, queries: Sequence[Sequence[str]]) -> NDArray[np.float64]:
        return self.evaluate_changes((), [((), query) for query in queries])

    def evaluate_changes(self, state: Sequence[str], changes: Sequence[Change]) -> NDArray[np.float64]:
        """As `evaluate`, of the state's bag with each of the changes, whose other words are not looked at again.

        A word that is taken away more often than it is there, is not there.
        """
        return self.evaluate_states([(state, changes)])

    def evaluate_states(self, states: Sequence[tuple[Sequence[str], Sequence[Change]]]) -> NDArray[np.float64]:
        """As `evaluate_changes`, of several states one after the other: a level of a search in one call."""
        return self.evaluate_bags(self._engine.bags(states))

    def evaluate_bags(self, bags: "Bags") -> NDArray[np.float64]:
        engine, count = self._engine, len(bags.of_bags)
        self._make_room(self.distinct + count)
        worth = np.empty((count, len(RANK_METRICS)), dtype=np.float64)
        self.distinct = engine.kernel.evaluate(
            engine.arrays,
            engine.scratch(),
            self._golds,
            self._relevant,
            CUT,
            bags,
            self._table,
            self._measures,
            self.distinct,
            worth,
        )
        return worth

    def _make_room(self, most: int) -> None:
        """The table stays less than half full, so that looking a bag up is short."""
        room = len(self._measures)
        if room > 2 * most:
            return
        while room <= 2 * most:
            room *= 2
        self._table = self._engine.kernel.larger_table(self._table, room)
        measures = np.zeros((room, len(RANK_METRICS)), dtype=np.float64)
        measures[: self.distinct] = self._measures[: self.distinct]
        self._measures = measures
