"""The rankers by name: one line each, used by the command line and by bench."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from domain.fact_check import FactCheck
from models.ranking.blend import BlendRanker
from models.ranking.bm25 import BM25Ranker, PlainBM25Ranker
from models.ranking.calibration import Calibration
from models.ranking.encoder import EncoderRanker, PostEncoder, TextEncoder
from models.ranking.fusion import FusionRanker
from models.ranking.protocol import Ranker


@dataclass(frozen=True, slots=True)
class Collection:
    """What rankers are built over: fact-checks and their embeddings (fact-checks, dim) by the encoder; those of their
    titles, and by a companion of the encoder, where they are made already."""

    fact_checks: Sequence[FactCheck]
    vectors: NDArray[np.float32]
    encoder: PostEncoder
    titles: NDArray[np.float32] | None = None
    companion: TextEncoder | None = None
    companions: NDArray[np.float32] | None = None


def blend(collection: Collection, *, dates: bool = False) -> BlendRanker:
    return BlendRanker(
        collection.fact_checks, collection.vectors, collection.encoder,
        Calibration.load(multilingual=collection.encoder.languages is None),
        titles=collection.titles, companion=collection.companion, companions=collection.companions, dates=dates,
    )  # fmt: skip


RANKERS: Mapping[str, Callable[[Collection], Ranker]] = {
    "bm25": lambda c: PlainBM25Ranker(c.fact_checks),
    "bm25f": lambda c: BM25Ranker(c.fact_checks),
    "encoder": lambda c: EncoderRanker(c.encoder, c.fact_checks, c.vectors),
    "fusion": lambda c: FusionRanker(c.fact_checks, c.vectors, c.encoder),
    "blend": blend,
    "blend_dates": partial(blend, dates=True),
}
