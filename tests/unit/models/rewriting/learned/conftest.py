"""The packaged policies, each loaded once, and claims of every sort."""

from collections.abc import Callable

import pytest
import torch

from domain.fact_check import Claim
from domain.ids import FactCheckId
from domain.query import EndpointKind, Query
from models.retrieval.word_frequency import WordFrequency
from models.rewriting.learned.outlook import Foreseer
from models.rewriting.learned.retention import Retention
from models.rewriting.learned.term_weights import TermWeights
from models.rewriting.policy import Count, CountResult, History, QueryResult, Rewriter

DOCTOR = "The doctor's 5G chips killed thousands of people in Paris, and nobody was not vaccinated."
CLAIMS = [
    DOCTOR,
    "Lindmouth has banned fluoride in tap water.",
    "Did Bill Gates say that vaccines would reduce the world's population by 15%?",
    "covid-19 COVID Covid19 covid",
    "VACCINES KILL!!!",
    "See https://t.co/abc123: ivermectin\tcures\n\nthe flu 🚰 @who #flu",
    'a\' OR "garlic" AND (onion) -socks',
    "İstanbul'da tap water ﬁghts Ⅷ ½ cancer",
    "Tap \udcffwater is poison",
    " ".join(f"word{number} lemon" for number in range(250)),
]
SILENT = ["", " \n ", "Is it not? The of and", "🚰🚰🚰", "https://t.co/abc123", "...!?"]

Answer = Callable[[Query], QueryResult]


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def statistics() -> WordFrequency:
    return WordFrequency("en")


@pytest.fixture(scope="session")
def retention() -> Retention:
    return Retention.load()


@pytest.fixture(scope="session")
def foreseer(retention: Retention, statistics: WordFrequency) -> Foreseer:
    return Foreseer(retention, statistics)


@pytest.fixture(scope="session")
def term_weights() -> TermWeights:
    return TermWeights.load(EndpointKind.RANKED)


@pytest.fixture(scope="session")
def dense_weights() -> TermWeights:
    return TermWeights.load(EndpointKind.DENSE)


def claim(text: str, language: str = "en") -> Claim:
    return Claim(FactCheckId(1), text, language)


def nothing(query: Query) -> QueryResult:
    return QueryResult(query, 0, 0)


def something(query: Query) -> QueryResult:
    return QueryResult(query, 2, 2, (0.9, 0.1))


def run(
    policy: Rewriter, about: Claim, *, answer: Answer = nothing, count: Callable[[Query], int | None] = lambda query: 1
) -> History:
    """The whole history of a claim. Fails where the policy does not stop."""
    history: History = ()
    while step := policy.next(about, history):
        history += (CountResult(step.query, count(step.query)) if isinstance(step, Count) else answer(step),)
        assert len(history) < 200, "does not stop"
    return history


def stems_of(query: Query) -> frozenset[str]:
    return frozenset(term.text.lower() for group in query.groups for term in group)
