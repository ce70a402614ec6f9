"""AP, recall, reciprocal rank and nDCG from the ranks of the gold texts, compiled. Imported on first use."""

from math import log2

import numpy as np
from numpy.typing import NDArray

from models.rewriting.rewards.compilation import compiled

_NDCG_CUT = 10


@compiled
def measure(ranks: NDArray[np.int32], relevant: int, measures: NDArray[np.float64]) -> None:
    """Fill (queries, 4), as `RANK_METRICS`, from (queries, golds in the corpus): ranks from 1, 0 for one not found.

    `relevant` counts the golds that the corpus lacks, too. trec_eval's definitions; gains of nDCG are 0 and 1.
    """
    ideal = 0.0
    for rank in range(1, min(relevant, _NDCG_CUT) + 1):
        ideal += 1 / log2(rank + 1)
    for i in range(len(ranks)):
        found = 0
        precisions, gain = 0.0, 0.0
        for rank in np.sort(ranks[i]):
            if rank > 0:
                found += 1
                precisions += found / rank
                if found == 1:
                    measures[i, 2] = 1 / rank
                if rank <= _NDCG_CUT:
                    gain += 1 / log2(rank + 1)
        measures[i, 0] = precisions / relevant
        measures[i, 1] = found / relevant
        measures[i, 3] = gain / ideal
