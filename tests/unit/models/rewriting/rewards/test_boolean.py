"""The engine beside the evaluator that rewriting is measured by, and beside plain sets."""

import gzip
import importlib.util
import json
import os
import random
from collections.abc import Sequence
from itertools import combinations
from math import prod
from pathlib import Path
from types import ModuleType

import pytest

from models.retrieval.analyser import ENDPOINT
from models.rewriting.rewards.boolean import BooleanRewards
from models.rewriting.rewards.protocol import RewardEngine

SHARED = Path(os.environ.get("CLAIMWATCH_DATA", Path(__file__).parents[6] / "shared" / "data")).parent
EVALUATOR = SHARED / "eval" / "boolean_endpoint.py"
Queries = list[list[tuple[str, ...]]]


def drawn_posts(draw: random.Random, count: int) -> dict[str, str]:
    return {
        f"p{number}": " ".join(f"w{int(draw.paretovariate(0.7)) % 40}" for _ in range(draw.randrange(12)))
        for number in range(count)
    }


def drawn_queries(draw: random.Random, words: Sequence[str]) -> Queries:
    return [
        [tuple(draw.choices(words, k=draw.choice((1, 1, 2)))) for _ in range(draw.randrange(4))]
        for _ in range(draw.randint(1, 4))
    ]


def plain_worth(
    posts: dict[str, str], queries: Queries, gold: set[str], *, scale: float, reads: float
) -> tuple[float, float, float]:
    """The definition, by sets: F2, recall, reads."""
    missed: dict[str, float] = {}
    paid = 0.0
    for query in queries:
        groups = [{id_ for id_, text in posts.items() if any(holds(text, word) for word in group)} for group in query]
        hits = set.intersection(*groups) if groups else set()
        background = float(len(hits - gold))
        if scale > 1 and groups:
            background = scale * (background + 10 * len(posts) * prod(len(group) / len(posts) for group in groups))
        total = len(hits & gold) + background
        read = min(reads / len(queries), total)
        paid += read
        for post in hits & gold:
            missed[post] = missed.get(post, 1.0) * (1 - read / total)
    got = sum(1 - chance for chance in missed.values())
    if got <= 0:
        return 0.0, 0.0, paid
    precision, recall = got / max(paid, got), got / len(gold)
    return 5 * precision * recall / (4 * precision + recall), recall, paid


def holds(text: str, word: str) -> bool:
    stems = set(ENDPOINT(word))
    return bool(stems) and stems <= set(ENDPOINT(text))


def evaluator() -> ModuleType:
    if not EVALUATOR.is_file():
        pytest.skip(f"needs {EVALUATOR}")
    spec = importlib.util.spec_from_file_location("boolean_endpoint", EVALUATOR)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_is_a_reward_engine() -> None:
    engine: RewardEngine[Sequence[Sequence[str]]] = BooleanRewards({"p": "a"})
    assert engine.metrics == ("f2", "recall", "reads")


@pytest.mark.parametrize("scale", [1.0, 100.0, 10_000.0])
def test_it_gives_what_the_shared_evaluator_gives(scale: float, tmp_path: Path) -> None:
    module, draw = evaluator(), random.Random(scale)
    posts = drawn_posts(draw, 300)
    with gzip.open(tmp_path / "posts.jsonl.gz", "wt") as file:
        file.writelines(json.dumps({"id": id_, "text": text}) + "\n" for id_, text in posts.items())
    platform, engine = module.Platform(tmp_path, scale, 100), BooleanRewards(posts, scale=scale)
    for _ in range(400):
        gold = set(draw.sample(sorted(posts), draw.randint(1, 5)))
        queries = drawn_queries(draw, ["W3's", "w1-w2", "", "unheard-of", *(f"w{number}" for number in range(40))])
        expected = platform.worth(queries, {platform.number[id_] for id_ in gold})
        worth = engine.open(gold).together(queries)
        assert (worth.f2, worth.recall, worth.reads) == pytest.approx(
            (expected["f2"], expected["recall"], expected["reads"]), abs=1e-6
        )


@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_it_gives_what_sets_give(scale: float) -> None:
    draw = random.Random(scale)
    posts = drawn_posts(draw, 80)
    engine = BooleanRewards(posts, scale=scale, reads=10)
    for _ in range(100):
        gold = {f"p{draw.randrange(85)}" for _ in range(draw.randint(1, 70))}
        queries = drawn_queries(draw, [f"w{number}" for number in range(40)])
        episode = engine.open(gold)
        worth = episode.together(queries)
        expected = plain_worth(posts, queries, gold, scale=scale, reads=10)
        assert (worth.f2, worth.recall, worth.reads) == pytest.approx(expected, abs=1e-9)
        for query, row in zip(queries, episode.evaluate(queries), strict=True):
            assert row.tolist() == pytest.approx(plain_worth(posts, [query], gold, scale=scale, reads=10), abs=1e-9)


@pytest.mark.parametrize("golds", [1, 3, 75])
def test_a_search_finds_every_subset_of_worth(golds: int) -> None:
    draw = random.Random(golds)
    posts = drawn_posts(draw, 200)
    gold = set(draw.sample(sorted(posts), golds))
    words = [f"w{number}" for number in (0, 1, 2, 3, 5, 8, 21)] + ["unheard-of"]
    episode = BooleanRewards(posts, reads=20).open(gold)
    pool = episode.search(words, most=4)
    found = {frozenset(word for [word] in query): f2 for query, f2 in pool.best(len(pool))}
    subsets = [subset for size in range(1, 5) for subset in combinations(words, size)]
    assert pool.covered == len(subsets) >= pool.visited
    worths = episode.evaluate([[(word,) for word in subset] for subset in subsets])[:, 0]
    for subset, f2 in zip(subsets, worths.tolist(), strict=True):
        assert found.get(frozenset(subset), 0.0) == pytest.approx(f2, abs=1e-12)


def test_queries_are_chosen_for_what_they_add() -> None:
    posts = {"g1": "a b", "g2": "a b", "g3": "c d", **{f"x{number}": "a c" for number in range(20)}}
    episode = BooleanRewards(posts, scale=1, reads=4).open({"g1", "g2", "g3"})
    queries, f2 = episode.search(["a", "b", "c", "d"]).choose(3)
    assert {frozenset(word for [word] in query) for query in queries} == {frozenset("b"), frozenset("d")}
    assert f2 == pytest.approx(episode.together(queries).f2) == pytest.approx(1.0)


def test_the_worth_of_chosen_queries_is_their_worth_together() -> None:
    draw = random.Random(11)
    posts = drawn_posts(draw, 300)
    engine = BooleanRewards(posts)
    for _ in range(20):
        episode = engine.open(set(draw.sample(sorted(posts), 4)))
        queries, f2 = episode.search([f"w{draw.randrange(40)}" for _ in range(10)]).choose(3)
        assert f2 == pytest.approx(episode.together(queries).f2 if queries else 0.0)


def test_words_that_find_nothing_leave_nothing_to_choose() -> None:
    pool = BooleanRewards({"p": "a"}).open({"nowhere"}).search(["a"])
    assert (len(pool), pool.best(3), pool.choose(3)) == (0, [], ([], 0.0))


def test_more_words_than_can_be_searched_are_refused() -> None:
    with pytest.raises(ValueError, match="33 words"):
        BooleanRewards({"p": "a"}).open({"p"}).search([f"w{number}" for number in range(33)])


def test_a_claim_without_gold_has_no_reward() -> None:
    with pytest.raises(ValueError, match="without gold"):
        BooleanRewards({"p": "a"}).open(set())
