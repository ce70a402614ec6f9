"""Which fact-checks a post is about, how sure that is, and the sentence that says why."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from domain.fact_check import FactCheck
from domain.match import Match, MatchReason
from domain.text import has_words
from domain.urls import canonical_url, links_in
from models.language import detect_language, is_latin
from models.ranking.calibration import Calibration, confidences
from models.ranking.encoder import PostEncoder, TextEncoder
from models.ranking.evidence import FEATURES, Evidence, EvidenceFinder
from models.ranking.post_words import Mode, PostWords, embed_posts
from models.ranking.second_opinion import SecondOpinion
from models.ranking.sentences import BestSentences
from models.verification.cues import load_cues

_READ_AS_ENGLISH = frozenset({"en", "und", ""})  # what is too short to tell is most often English
NEAR = 0.05  # confidence below which a fact-check is not worth a look
_EXPLAINED = 0.1  # confidence from which the article's sentences are looked through; below, the claim stands in


@dataclass(frozen=True, slots=True)
class PostText:
    text: str
    links: tuple[str, ...] = ()
    posted_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PostMatches:
    """`matches`, the surest first, none below `NEAR`; `why` says why there is none, or how the first came about."""

    matches: tuple[Match, ...]
    language: str
    why: MatchReason


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    number: int
    confidence: float
    scores: dict[str, float]
    vector: NDArray[np.float32]  # (dim,) of the window that speaks for it most
    passage: str  # that window, if there are others


@dataclass(frozen=True, slots=True)
class _Window:
    """A post, or a window of a long one, beside its candidates; `strengths` (candidates,)."""

    words: PostWords
    evidence: Evidence
    strengths: NDArray[np.float64]

    def confidences(self) -> NDArray[np.float64]:
        return confidences(self.strengths, self.evidence.rivals)

    def candidates(self) -> list[_Candidate]:
        retrieved = self.evidence.candidates
        coverage = self.evidence.features[:, FEATURES.index("coverage")]
        return [
            _Candidate(
                int(retrieved.numbers[i]),
                float(confidence),
                {
                    "bm25": float(retrieved.bm25[i]),
                    "cosine": float(retrieved.cosine[i]),
                    "fused": float(retrieved.fused[i]),
                    "coverage": float(coverage[i]),
                },
                self.words.vector,
                self.words.passage,
            )
            for i, confidence in enumerate(self.confidences())
        ]


class Matcher:
    """Compares posts with all fact-checks at once.

    `vectors` (fact-checks, dim) are the fact-checks' embeddings by `encoder`, zeros where there is none; `aliases`
    other addresses of each. Posts in English are compared by words and encoder, and by a `companion` if there is one;
    those in another of the encoder's languages by the encoder alone, those in a language that it does not know by words
    alone. The dates of post and fact-check, where known, weigh little (`dates.py`). With an `opinion` it is asked about
    an English post that is likely about one of several fact-checks. Posts come and go in batches; a post's matches do
    not depend on its neighbours. May be shared by threads.
    """

    def __init__(
        self,
        fact_checks: Sequence[FactCheck],
        vectors: NDArray[np.float32],
        encoder: PostEncoder,
        calibration: Calibration,
        *,
        aliases: Sequence[Sequence[str]] = (),
        companion: TextEncoder | None = None,
        opinion: SecondOpinion | None = None,
    ) -> None:
        self._fact_checks = fact_checks
        self._encoder = encoder
        self._calibration = calibration
        self._companion = companion.encode if companion else None
        self._opinion = opinion
        self._finder = EvidenceFinder(fact_checks, vectors, encoder, companion=companion)
        self._sentences = BestSentences(encoder)
        # An address of its own wins over one that another fact-check is also known by.
        self._by_address = {address: number for number, known in enumerate(aliases) for address in known}
        self._by_address |= {fact.key: number for number, fact in enumerate(fact_checks)}
        self.name = f"{calibration.name}@{calibration.version}+{encoder.version}"
        self.name += f"+{opinion.name}" if opinion else ""

    def match(self, posts: Sequence[PostText], *, k: int = 5, sentences: bool = True) -> list[PostMatches]:
        """The k likeliest fact-checks of each post; those whose article the post links come first, with certainty.
        Without `sentences` the claim stands for the sentence that is nearest."""
        languages = [detect_language(post.text) for post in posts]
        worded = [row for row, post in enumerate(posts) if has_words(post.text)]
        found = dict(zip(worded, self._by_text([(posts[r], languages[r]) for r in worded]), strict=True))
        near = [[c for c in found.get(row, []) if c.confidence >= NEAR][:k] for row in range(len(posts))]
        said = self._explain([c for candidates in near for c in candidates]) if sentences else {}
        return [
            self._answer(post, candidates, said, language, k)
            for post, candidates, language in zip(posts, near, languages, strict=True)
        ]

    def _by_text(self, posts: Sequence[tuple[PostText, str]]) -> list[list[_Candidate]]:
        """Candidates of each post and language, the likeliest first; of a long text each fact-check's best window
        counts."""
        texts, modes = [post.text for post, _ in posts], [self._mode(post.text, language) for post, language in posts]
        windows = embed_posts(texts, self._encoder.encode, modes=modes, companion=self._companion)
        found = iter(self._finder.find([words for of_post in windows for words in of_post]))
        best: list[dict[int, _Candidate]] = [{} for _ in posts]
        for (post, _), of_post, kept in zip(posts, windows, best, strict=True):
            compared = [self._compare(post, words, next(found)) for words in of_post]
            for window in self._asked_again(post, compared):
                for candidate in window.candidates():
                    known = kept.get(candidate.number)
                    if known is None or candidate.confidence > known.confidence:
                        kept[candidate.number] = candidate
        return [sorted(found.values(), key=lambda c: (-c.confidence, -c.scores["fused"], c.number)) for found in best]

    def _mode(self, text: str, language: str) -> Mode:
        if self._encoder.languages is not None:
            return "full" if language in _READ_AS_ENGLISH else "lexical"
        return "full" if language in _READ_AS_ENGLISH and is_latin(text) else "semantic"

    def _compare(self, post: PostText, words: PostWords, evidence: Evidence) -> _Window:
        facts = [self._fact_checks[number] for number in evidence.candidates.numbers]
        prior = self._calibration.dates.weak(post.posted_at, [fact.published_at for fact in facts])
        strengths = self._calibration.strengths(evidence, mode=words.mode, prior=prior)
        if words.mode == "full" and self._encoder.languages is None:
            # Words and the companion have no say about a fact-check in another language than the post.
            foreign = np.array([fact.language not in _READ_AS_ENGLISH for fact in facts], dtype=np.bool_)
            by_meaning = self._calibration.strengths(evidence, mode="semantic", prior=prior)
            strengths = np.where(foreign, by_meaning, strengths)
        return _Window(words, evidence, strengths)

    def _asked_again(self, post: PostText, windows: list[_Window]) -> list[_Window]:
        """With the second opinion on the surest window of an English post, if "none of them" is not likelier there than
        all fact-checks together: then no answer would make a match."""
        if not self._opinion or not windows:
            return windows
        surest = max(windows, key=lambda window: window.confidences().max(initial=0.0))
        if surest.words.mode != "full" or np.logaddexp.reduce(surest.strengths, initial=-np.inf) < 0:
            return windows
        facts = [self._fact_checks[number] for number in surest.evidence.candidates.numbers]
        text = surest.words.passage or post.text
        asked = self._opinion.reconsider(surest.strengths, surest.evidence.rivals, text, facts)
        return [replace(window, strengths=asked) if window is surest else window for window in windows]

    def _explain(self, candidates: Sequence[_Candidate]) -> dict[_Candidate, str]:
        """The sentence that says why, of each candidate that is likely enough to be looked at."""
        likely = [candidate for candidate in candidates if candidate.confidence >= _EXPLAINED]
        if not likely:
            return {}
        facts = [self._fact_checks[candidate.number] for candidate in likely]
        sentences = self._sentences.find(facts, np.stack([candidate.vector for candidate in likely]))
        return dict(zip(likely, sentences, strict=True))

    def _answer(
        self,
        post: PostText,
        candidates: Sequence[_Candidate],
        sentences: dict[_Candidate, str],
        language: str,
        k: int,
    ) -> PostMatches:
        linked = self._linked(post)
        matches = [self._linked_match(number) for number in linked]
        matches += [
            self._text_match(post, c, sentences.get(c) or self._fact_checks[c.number].claim)
            for c in candidates
            if c.number not in linked
        ]
        if not matches:
            why = MatchReason.NONE_FITS if has_words(post.text) else MatchReason.NO_TEXT
            return PostMatches((), language, why)
        return PostMatches(tuple(matches[:k]), language, matches[0].reason)

    def _linked(self, post: PostText) -> list[int]:
        """Fact-checks whose article the post links, also within its text, in order, each once."""
        keys = (canonical_url(link) for link in (*post.links, *links_in(post.text)))
        return list(dict.fromkeys(self._by_address[key] for key in keys if key in self._by_address))

    def _linked_match(self, number: int) -> Match:
        fact = self._fact_checks[number]
        stance = load_cues().stance("", fact.claim, shares_fact_check=True)
        return Match(fact.key, 1.0, MatchReason.LINK, stance, fact.claim, {}, self.name)

    def _text_match(self, post: PostText, candidate: _Candidate, sentence: str) -> Match:
        fact = self._fact_checks[candidate.number]
        stance = load_cues().stance(post.text, fact.claim)
        return Match(
            fact.key, candidate.confidence, MatchReason.TEXT, stance, sentence, candidate.scores, self.name,
            candidate.passage,
        )  # fmt: skip
