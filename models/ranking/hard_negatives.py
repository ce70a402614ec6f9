"""Wrong fact-checks that a post is easily taken to be about, mined with BM25."""

from collections.abc import Sequence, Set

import numpy as np

from domain.fact_check import FactCheck
from models.ranking.bm25 import BM25Ranker
from models.ranking.encoder import TextEncoder
from models.ranking.fact_check_text import embedding_text

DEPTH = 8  # of BM25's ranking
SAME_CLAIM = 0.8  # cosine with a right fact-check from which one is taken to be right as well


def mine(
    posts: Sequence[str], gold: Sequence[Set[int]], facts: Sequence[FactCheck], encoder: TextEncoder
) -> list[list[int]]:
    """Of each post, numbers of fact-checks, the likest first. Those that check what a right one checks are left out:
    they would teach that the right answer is wrong."""
    scores = BM25Ranker(facts).score(posts, facts)  # (posts, fact-checks)
    found = [np.argsort(-of_post, kind="stable")[:DEPTH].tolist() for of_post in scores]
    needed = sorted(set().union(*found, *gold))
    texts = [embedding_text(facts[number].claim, facts[number].title) for number in needed]
    vectors = dict(zip(needed, encoder.encode(texts), strict=True))
    mined = []
    for near, right in zip(found, gold, strict=True):
        stated = np.stack([vectors[number] for number in sorted(right)])
        mined.append([n for n in near if n not in right and (stated @ vectors[n]).max() < SAME_CLAIM])
    return mined
