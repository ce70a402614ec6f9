"""The learned policies' queries for a claim set, made without a look at what is right.

One query a claim before ranked and dense endpoints. On a boolean platform `policy` asks up to three; for
`policy_counts` the platform says how many posts a query matches, as a whole number, and one query gets all the reads.
"""

from collections.abc import Callable, Mapping, Sequence

from domain.fact_check import Claim
from domain.ids import FactCheckId
from domain.query import EndpointKind, Query
from models.evaluation.collections import ClaimCollection
from models.evaluation.rewriting.endpoints import READS, SCALE
from models.evaluation.rewriting.query_files import query_groups
from models.retrieval.word_frequency import WordFrequency
from models.rewriting.learned.boolean import LearnedBoolean
from models.rewriting.learned.counting import LearnedCounting
from models.rewriting.learned.dense import LearnedDense
from models.rewriting.learned.outlook import Foreseer
from models.rewriting.learned.ranked import LearnedRanked
from models.rewriting.learned.retention import Retention
from models.rewriting.learned.term_weights import TermWeights
from models.rewriting.policy import Count, CountResult, History, QueryResult
from models.rewriting.rewards.boolean import BooleanEpisode, BooleanRewards

QUERIES, QUERIES_WITH_COUNTS = 3, 1  # a claim, chosen on dev
TEXTS = {"fever": "passages", "fm2": "passages", "discovery": "posts"}

Make = Callable[[str], Sequence[Query]]  # of a claim's id


def learned_rows(name: str, kind: EndpointKind, collection: ClaimCollection) -> Mapping[str, Make]:
    """By the name of the row."""
    if kind is EndpointKind.BOOLEAN:
        return boolean_rows(collection, Retention.load())
    return weighing_rows(collection, kind, TermWeights.load(kind, TEXTS[name]))


def weighing_rows(collection: ClaimCollection, kind: EndpointKind, weights: TermWeights) -> dict[str, Make]:
    """Of ranked and dense endpoints."""
    learned = LearnedRanked if kind is EndpointKind.RANKED else LearnedDense
    policy = learned(weights, WordFrequency("en"))
    return {"policy": lambda claim: queries_of(policy.query(claim_of(collection, claim)))}


def boolean_rows(collection: ClaimCollection, retention: Retention) -> dict[str, Make]:
    foreseer = Foreseer(retention, WordFrequency("en"))
    blind = LearnedBoolean(foreseer, QUERIES, READS / QUERIES)
    counting = LearnedCounting(foreseer, QUERIES_WITH_COUNTS, READS / QUERIES_WITH_COUNTS)
    platform = BooleanRewards(collection.posts, scale=SCALE, reads=READS)
    return {
        "policy": lambda claim: blind.plan(claim_of(collection, claim)),
        "policy_counts": lambda claim: _with_counts(
            counting, claim_of(collection, claim), platform.open(collection.qrels[claim])
        ),
    }


def _with_counts(policy: LearnedCounting, claim: Claim, platform: BooleanEpisode) -> list[Query]:
    """The queries that the policy asks; what they bring is not told to it."""
    history: History = ()
    asked: list[Query] = []
    while step := policy.next(claim, history):
        if isinstance(step, Count):
            (count,) = platform.count([query_groups(step.query)])
            history = (*history, CountResult(step.query, round(float(count))))
        else:
            asked.append(step)
            history = (*history, QueryResult(step, posts_read=round(policy.reads), new_posts=0))
    return asked


def claim_of(collection: ClaimCollection, claim: str) -> Claim:
    """As policies take it; all sets are English."""
    return Claim(FactCheckId(0), collection.claims[claim], "en")


def queries_of(query: Query | None) -> list[Query]:
    """Of a policy that asks once, or not at all."""
    return [query] if query else []
