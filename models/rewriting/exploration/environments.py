"""Binds an edit environment to a reward engine, for each kind of endpoint."""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from models.rewriting.boolean_edits import BooleanEdits, BooleanState, way
from models.rewriting.edits import Child, EditState, TextEdits
from models.rewriting.exploration.breadth_first import Children, Exploration, Limits, explore
from models.rewriting.rewards.boolean import BooleanEpisode, BooleanRewards, SubsetPool
from models.rewriting.rewards.dense import DenseEpisode, DenseRewards
from models.rewriting.rewards.ranked import RankedEpisode, RankedRewards
from models.rewriting.tagging import Token

Analyse = Callable[[str], Sequence[str]]
_PIECES_REMEMBERED = 1 << 17
_MOST_SUBSET_WORDS = 5


@dataclass(frozen=True, slots=True)
class Text:
    """A state of the text environment, known by its text."""

    state: EditState

    @property
    def key(self) -> str:
        return self.state.text


@dataclass(frozen=True, slots=True)
class Groups:
    """A state of the boolean environment, known by its groups."""

    state: BooleanState

    @property
    def key(self) -> str:
        return " AND ".join(" OR ".join(group) for group in self.state.groups)


class RankedExplorer:
    """Explores claims before a BM25 index. `analyse` is the index's and joins no words over white space."""

    def __init__(self, engine: RankedRewards, analyse: Analyse) -> None:
        self.metrics = engine.metrics
        self._engine, self._edits, self._analyse = engine, TextEdits(), analyse
        self._tokens = lru_cache(maxsize=_PIECES_REMEMBERED)(lambda piece: tuple(analyse(piece)))

    def __call__(
        self, claim: Sequence[Token], gold: Set[str], limits: Limits, rng: np.random.Generator
    ) -> Exploration[Text]:
        episode = self._engine.open(gold)
        start = self._edits.start(tuple(claim))
        (worth,) = episode.evaluate([self._analyse(start.text)])
        return explore(Text(start), worth, partial(self._expand, episode), limits, rng)

    def _expand(self, episode: RankedEpisode, texts: Sequence[Text]) -> list[Children[Text]]:
        families = [self._edits.children(text.state) for text in texts]
        changes = [[(self._of(child.removed), self._of(child.added)) for child in family] for family in families]
        states = [self._analyse(text.key) for text in texts]
        return _texts(families, episode.evaluate_states(list(zip(states, changes, strict=True))))

    def _of(self, pieces: Sequence[str]) -> Sequence[str]:
        if len(pieces) == 1:
            return self._tokens(pieces[0])
        return [token for piece in pieces for token in self._tokens(piece)]


class DenseExplorer:
    """Explores claims before an index of nearest neighbours."""

    def __init__(self, engine: DenseRewards) -> None:
        self.metrics = engine.metrics
        self._engine, self._edits = engine, TextEdits()

    def __call__(
        self, claim: Sequence[Token], gold: Set[str], limits: Limits, rng: np.random.Generator
    ) -> Exploration[Text]:
        episode = self._engine.open(gold)
        start = self._edits.start(tuple(claim))
        (worth,) = episode.evaluate([start.text])
        return explore(Text(start), worth, partial(self._expand, episode), limits, rng)

    def _expand(self, episode: DenseEpisode, texts: Sequence[Text]) -> list[Children[Text]]:
        families = [self._edits.children(text.state) for text in texts]
        return _texts(families, episode.evaluate([child.state.text for family in families for child in family]))


class BooleanExplorer:
    """Explores claims before a boolean platform. All subsets of up to five words are tried, and the ways to the best
    of them are gone whatever lies on them: one word too many, and a query finds nothing."""

    def __init__(self, engine: BooleanRewards, edits: BooleanEdits) -> None:
        self.metrics = engine.metrics
        self._engine, self._edits = engine, edits

    def subsets(self, claim: Sequence[Token], gold: Set[str]) -> SubsetPool:
        """The subsets of the claim's content words that find a gold post."""
        words = [word.text for word in self._edits.start(tuple(claim)).content]
        return self._engine.open(gold).search(words, _MOST_SUBSET_WORDS)

    def worth(self, groups: Sequence[Sequence[str]], gold: Set[str]) -> float:
        """F2 of one query, alone."""
        return float(self._engine.open(gold).evaluate([groups])[0, 0])

    def __call__(
        self, claim: Sequence[Token], gold: Set[str], limits: Limits, rng: np.random.Generator
    ) -> Exploration[Groups]:
        episode = self._engine.open(gold)
        start = self._edits.start(tuple(claim))
        (worth,) = episode.evaluate([start.groups])
        best = self.subsets(claim, gold).best(limits.sequences)
        ways = [edits for subset, _ in best if len(edits := way(start, {w for (w,) in subset})) <= limits.depth]
        return explore(Groups(start), worth, partial(self._expand, episode), limits, rng, ways)

    def _expand(self, episode: BooleanEpisode, states: Sequence[Groups]) -> list[Children[Groups]]:
        families = [self._edits.children(groups.state) for groups in states]
        worths = episode.evaluate([child.state.groups for family in families for child in family])
        return [
            Children([child.action for child in family], [Groups(child.state) for child in family], part)
            for family, part in zip(families, _split(worths, families), strict=True)
        ]


def _texts(families: Sequence[Sequence[Child]], worths: NDArray[np.float64]) -> list[Children[Text]]:
    return [
        Children([child.action for child in family], [Text(child.state) for child in family], part)
        for family, part in zip(families, _split(worths, families), strict=True)
    ]


def _split(worths: NDArray[np.float64], families: Sequence[Sequence[object]]) -> list[NDArray[np.float64]]:
    """The rows of each family, in order."""
    return np.split(worths, np.cumsum([len(family) for family in families])[:-1])


Explorer = RankedExplorer | DenseExplorer | BooleanExplorer
