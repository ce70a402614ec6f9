"""Which sentence of an article says what a post says."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.fact_check import FactCheck
from domain.text import has_words, one_line
from models.ranking.encoder import TextEncoder

MOST_SENTENCES = 60  # of one article: what is checked is said early, and each costs 10 ms to embed
KEPT_ARTICLES = 4096


@dataclass(frozen=True, slots=True)
class _Article:
    sentences: tuple[str, ...]
    vectors: NDArray[np.float32]  # (sentences, dim)


def split_article(fact_check: FactCheck) -> tuple[str, ...]:
    """The claim, then the title, then the sentences of the body, each once, `MOST_SENTENCES` at most."""
    from sentencex import segment

    body = (one_line(sentence) for sentence in segment(fact_check.language, fact_check.body))
    sentences = [one_line(fact_check.claim), one_line(fact_check.title), *body]
    return tuple(dict.fromkeys(filter(has_words, sentences)))[:MOST_SENTENCES]


class BestSentences:
    """Finds the sentence nearest to a post; sentence vectors of the articles asked for last are kept.

    May be shared by threads.
    """

    def __init__(self, encoder: TextEncoder, *, kept: int = KEPT_ARTICLES) -> None:
        self._encoder = encoder
        self._kept = kept
        self._articles: OrderedDict[FactCheck, _Article] = OrderedDict()
        self._changing = threading.Lock()

    def find(self, fact_checks: Sequence[FactCheck], posts: NDArray[np.float32]) -> list[str]:
        """For each fact-check the sentence of the greatest cosine with its post, posts (fact-checks, dim) of length 1;
        an article without words has ""."""
        with self._changing:
            articles = self._embedded(list(dict.fromkeys(fact_checks)))
        return [_nearest(articles[fact_check], post) for fact_check, post in zip(fact_checks, posts, strict=True)]

    def _embedded(self, wanted: Sequence[FactCheck]) -> dict[FactCheck, _Article]:
        missing = {article: split_article(article) for article in wanted if article not in self._articles}
        texts = [sentence for sentences in missing.values() for sentence in sentences]
        vectors = self._encoder.encode(texts) if texts else np.zeros((0, 0), dtype=np.float32)
        start = 0
        for article, sentences in missing.items():
            self._articles[article] = _Article(sentences, vectors[start : start + len(sentences)])
            start += len(sentences)
        found = {article: self._articles[article] for article in wanted}
        for article in wanted:
            self._articles.move_to_end(article)
        while len(self._articles) > self._kept:
            self._articles.popitem(last=False)
        return found


def _nearest(article: _Article, post: NDArray[np.float32]) -> str:
    return article.sentences[int(np.argmax(article.vectors @ post))] if article.sentences else ""
