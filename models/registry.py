"""The rankers by name: one line each, used by the command line and by bench."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.fact_check import FactCheck
from models.ranking.bm25 import BM25Ranker, PlainBM25Ranker
from models.ranking.encoder import EncoderRanker, TextEncoder
from models.ranking.fusion import FusionRanker
from models.ranking.protocol import Ranker


@dataclass(frozen=True, slots=True)
class Collection:
    """What rankers are built over: fact-checks and their embeddings (fact-checks, dim) by the encoder."""

    fact_checks: Sequence[FactCheck]
    vectors: NDArray[np.float32]
    encoder: TextEncoder


RANKERS: Mapping[str, Callable[[Collection], Ranker]] = {
    "bm25": lambda c: PlainBM25Ranker(c.fact_checks),
    "bm25f": lambda c: BM25Ranker(c.fact_checks),
    "knn": lambda c: EncoderRanker(c.encoder, c.fact_checks, c.vectors),
    "fusion": lambda c: FusionRanker(c.fact_checks, c.vectors, c.encoder),
}
