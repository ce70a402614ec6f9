"""The queries of the plain rows, with settings chosen on claims that are not tested on."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import Any

from domain.fact_check import Claim
from domain.query import EndpointKind, Query, all_words_query
from models.evaluation.collections import ClaimCollection
from models.evaluation.rewriting.endpoints import ANALYSERS, K1, READS, SCALE, B, Score
from models.evaluation.rewriting.learned_rows import claim_of
from models.evaluation.rewriting.query_files import query_groups, written
from models.evaluation.rewriting.scores import scored_claims
from models.retrieval.analyser import ENDPOINT
from models.retrieval.bm25 import BM25Index
from models.retrieval.boolean import BooleanIndex
from models.retrieval.statistics import TermStatistics
from models.retrieval.word_frequency import WordFrequency
from models.rewriting import baselines
from models.rewriting import boolean_baselines as plain
from models.rewriting.baselines import RelevanceFeedback
from models.rewriting.edits import TextEdits
from models.rewriting.plain import Encode, rewriter
from models.rewriting.policy import History, QueryResult, Rewriter
from models.rewriting.rewards.boolean import MOST_WORDS, BooleanRewards
from models.rewriting.tagging import tag
from models.rewriting.words import content_words, rarest

Counts = Callable[[str, Sequence[Query]], list[float]]  # from a claim's id
Make = Callable[[str, Any], list[Query]]  # from a claim's id and a setting

QUERIES = 3  # a claim, on a boolean platform
_RARITY = ("rarest2", "rarest3", "triples4", "counts_rarest", "most_words_with_counts")
KNOW_COUNTS = frozenset((*_RARITY[3:], *(f"{row}_index_df" for row in _RARITY)))  # of posts that match words or queries
BOOLEAN_HEURISTICS = KNOW_COUNTS | {"claim", "keyphrases", "rarest", *_RARITY[:3]}
SEED = 0
_UNTUNED = (None,)
_EXPONENTS = (0.25, 0.5, 1.0, 1.5, 2.0)
_ORIGINAL = (0.5, 0.7, 0.9, 0.95)
_MOST_POSTS = (1, 3, 10, 30, 100, 300)
_TUNED_ON = 1000  # claims, the first


@dataclass(frozen=True, slots=True)
class Row:
    make: Make
    settings: Sequence[Any] = _UNTUNED  # to choose from


def chosen_settings(rows: Mapping[str, Row], score: Score, claims: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Of each row that has several settings: what the first claims scored with each, and the best one."""
    chosen = {}
    for name, row in rows.items():
        if row.settings is not _UNTUNED:
            figures = {setting: _mean(row, setting, score, claims[:_TUNED_ON]) for setting in row.settings}
            chosen[name] = {"setting": max(figures, key=figures.__getitem__), "dev": figures}
    return chosen


def _mean(row: Row, setting: Any, score: Score, claims: Sequence[str]) -> float:
    scores = score(written({claim: row.make(claim, setting) for claim in claims}))
    return round(float(scores.values[: len(claims), 0].mean()), 4)


def text_rows(name: str, kind: EndpointKind, collection: ClaimCollection, encode: Encode) -> dict[str, Row]:
    """The rows of a ranked or dense endpoint."""
    claims = _claims(collection)
    index = BM25Index(ANALYSERS[name], k1=K1, b=B)
    index.add(list(collection.posts), list(collection.posts.values()))
    tokens = dict(zip(claims, tag(claim.text for claim in claims.values()), strict=True))
    edits, phrases = TextEdits(), rewriter("keyphrases", kind=kind, statistics=index, encode=encode)

    def row(make: Callable[[str, Claim, Any], Query], settings: Sequence[Any] = _UNTUNED) -> Row:
        return Row(lambda id_, setting: [make(id_, claims[id_], setting)], settings)

    rows = {
        "claim": row(lambda id_, claim, _: baselines.claim_as_it_is(claim, kind)),
        "content_words": row(lambda id_, claim, _: baselines.only_content_words(claim, kind)),
        "random": row(lambda id_, claim, _: baselines.random_edits(claim, kind, tokens[id_], edits, seed=SEED)),
        "keyphrases": Row(lambda id_, _: _asked(phrases, claims[id_]) or [baselines.claim_as_it_is(claims[id_], kind)]),
        "rarest": row(lambda id_, claim, n: baselines.rarest_words(claim, kind, index, n), (4, 6, 8, 12)),
    }
    if kind is EndpointKind.RANKED:
        feedback = RelevanceFeedback(index, ANALYSERS[name], collection.posts)
        rows["idf_boosts"] = row(lambda id_, claim, exponent: baselines.idf_boosts(claim, index, exponent), _EXPONENTS)
        rows["rm3"] = row(lambda id_, claim, original: feedback.query(claim, original), _ORIGINAL)
    return rows


def boolean_rows(collection: ClaimCollection, encode: Encode) -> dict[str, Row]:
    """The rows of the boolean platform; those of the oracle know the gold posts."""
    claims, language, platform = _claims(collection), WordFrequency("en"), BooleanIndex(ENDPOINT)
    platform.add(list(collection.posts), list(collection.posts.values()))
    engine = BooleanRewards(collection.posts, scale=SCALE, reads=READS)
    counts = partial(_counts, engine, collection)
    rows = {name: _of_policy(name, claims, encode) for name in ("claim", "keyphrases")}
    for ending, rarity in (("", language), ("_index_df", platform)):
        rows |= {name + ending: row for name, row in _of_rarity(claims, rarity, counts).items()}
    return rows | {
        "oracle1": Row(lambda id_, _: _best(engine, claims[id_], collection.qrels[id_], most=1)),
        f"oracle{QUERIES}": Row(lambda id_, _: _best(engine, claims[id_], collection.qrels[id_], most=QUERIES)),
    }


def _of_policy(name: str, claims: Mapping[str, Claim], encode: Encode) -> Row:
    policy = rewriter(name, kind=EndpointKind.BOOLEAN, statistics=WordFrequency("en"), encode=encode)
    return Row(lambda id_, _: _asked(policy, claims[id_]))


def _of_rarity(claims: Mapping[str, Claim], rarity: TermStatistics, counts: Counts) -> dict[str, Row]:
    """The rows that look for rare words."""
    return {
        "rarest2": Row(lambda id_, _: plain.rarest_together(claims[id_], rarity, 2)),
        "rarest3": Row(lambda id_, _: plain.rarest_together(claims[id_], rarity, 3)),
        "triples4": Row(lambda id_, _: plain.triples_of_four(claims[id_], rarity)),
        "counts_rarest": Row(
            lambda id_, most: plain.rarest_under(claims[id_], rarity, partial(counts, id_), most), _MOST_POSTS
        ),
        "most_words_with_counts": Row(lambda id_, _: plain.most_words(claims[id_], rarity, partial(counts, id_))),
    }


def _claims(collection: ClaimCollection) -> dict[str, Claim]:
    return {id_: claim_of(collection, id_) for id_ in scored_claims(collection)}


def _asked(policy: Rewriter, claim: Claim) -> list[Query]:
    """The first queries that a policy asks as long as each brings its share of posts."""
    history: History = ()
    while len(history) < QUERIES and isinstance(query := policy.next(claim, history), Query):
        history += (QueryResult(query, posts_read=READS // QUERIES, new_posts=READS // QUERIES),)
    return [result.query for result in history]


def _counts(engine: BooleanRewards, collection: ClaimCollection, id_: str, queries: Sequence[Query]) -> list[float]:
    """How many posts of the platform match."""
    counts: list[float] = engine.open(collection.qrels[id_]).count([query_groups(query) for query in queries]).tolist()
    return counts


def _best(engine: BooleanRewards, claim: Claim, gold: Set[str], *, most: int) -> list[Query]:
    words = rarest(content_words(claim.text, claim.language), WordFrequency("en"), MOST_WORDS)
    pool = engine.open(gold).search(words)
    chosen = pool.choose(most)[0] if most > 1 else [query for query, _ in pool.best(1)]
    return [all_words_query(tuple(word for (word,) in query), policy=f"oracle{most}") for query in chosen]
