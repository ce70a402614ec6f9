"""The engine beside a plain full search on the same integers: every text scored, all sorted, measures of the list."""

import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from math import log2

import numpy as np
import pytest

from models.evaluation.metrics import average_precision, recall, reciprocal_rank
from models.retrieval.bm25 import BM25Index
from models.rewriting.rewards import ranked_kernel
from models.rewriting.rewards.impacts import UNITS, ImpactIndex, index_tokens
from models.rewriting.rewards.protocol import RewardEngine
from models.rewriting.rewards.ranked import Change, RankedRewards

Texts = dict[str, list[str]]


def drawn_texts(draw: random.Random, count: int, words: int) -> Texts:
    """Short texts of few words, the first ones very frequent, so that many texts tie."""
    vocabulary = [f"w{number}" for number in range(words)]
    weights = [1 / (number + 1) for number in range(words)]
    return {
        f"d{number}": draw.choices(vocabulary, weights, k=draw.choice((0, 1, 2, 3, 5, 8, 13)))
        for number in range(count)
    }


def index_of(texts: Texts) -> ImpactIndex:
    return index_tokens(texts, k1=1.2, b=0.75)


def plain_search(index: ImpactIndex, bag: Sequence[str]) -> list[str]:
    scores = dict.fromkeys(index.postings.ids, 0)
    for word in bag:
        term = index.postings.terms.get(word, index.postings.unknown)
        for place in range(index.postings.starts[term], index.postings.starts[term + 1]):
            scores[index.postings.ids[index.postings.documents[place]]] += int(index.impacts[place])
    return sorted((id_ for id_, score in scores.items() if score), key=lambda id_: (-scores[id_], id_))


def plain_worth(index: ImpactIndex, bag: Sequence[str], gold: set[str]) -> list[float]:
    ranking = plain_search(index, bag)[:50]
    gains = sum(1 / log2(rank + 1) for rank, id_ in enumerate(ranking[:10], 1) if id_ in gold)
    ideal = sum(1 / log2(rank + 1) for rank in range(1, min(10, len(gold)) + 1))
    measures = (average_precision(50), recall(50), reciprocal_rank)
    return [*(measure(ranking, gold) for measure in measures), gains / ideal]


def drawn_change(draw: random.Random, bag: Sequence[str]) -> Change:
    removed = draw.sample(list(bag), min(len(bag), draw.choice((0, 1, 1, 2))))
    added = [draw.choice((*bag, f"w{draw.randrange(60)}", "unheard-of")) for _ in range(draw.choice((0, 0, 1, 2)))]
    return removed, added


def changed(bag: Sequence[str], change: Change) -> list[str]:
    left = list(bag)
    for word in change[0]:
        left.remove(word)
    return [*left, *change[1]]


def assert_equal_to_plain_search(draw: random.Random, texts: Texts, states: int) -> None:
    index = index_of(texts)
    engine = RankedRewards(index)
    for _ in range(states):
        gold = {f"d{draw.randrange(len(texts) + 5)}" for _ in range(draw.choice((1, 1, 2, 4)))}
        bag = draw.choice([*texts.values(), []]) + [f"w{draw.randrange(60)}" for _ in range(draw.randrange(6))]
        episode = engine.open(gold)
        for _ in range(3):  # as a search goes: the children of a state, of one of them, and so on
            changes = [drawn_change(draw, bag) for _ in range(draw.choice((1, 8, 20)))]
            worths = episode.evaluate_changes(bag, changes)
            for change, worth in zip(changes, worths, strict=True):
                assert worth.tolist() == pytest.approx(plain_worth(index, changed(bag, change), gold), abs=1e-12)
            bag = changed(bag, draw.choice(changes))


def test_it_is_a_reward_engine() -> None:
    engine: RewardEngine[Sequence[str]] = RankedRewards(index_of({"d": ["a"]}))
    assert engine.metrics == ("ap@50", "recall@50", "rr@50", "ndcg@10")


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("count", "words"), [(1, 3), (40, 12), (150, 40), (400, 60)])
def test_it_gives_what_a_plain_full_search_gives(count: int, words: int, seed: int) -> None:
    draw = random.Random(f"{seed} {count}")
    assert_equal_to_plain_search(draw, drawn_texts(draw, count, words), states=12)


@pytest.mark.parametrize("spared", [0.0, 0.2, 1.0])
def test_it_does_so_whatever_is_left_to_later_rounds(spared: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interpreted, since compiled code keeps the numbers that it was compiled with: with hardly any candidates, most
    ranks are found in the second round or among all texts."""
    monkeypatch.setattr(ranked_kernel, "_LEFT_OUT", spared)
    monkeypatch.setattr(ranked_kernel, "_FEW", 2)
    monkeypatch.setattr(ranked_kernel, "_MANY", 4)
    monkeypatch.setattr(ranked_kernel, "_rank_batch", ranked_kernel._rank_batch.py_func)  # type: ignore[attr-defined]
    rank_batch, among = ranked_kernel._rank_batch, ranked_kernel._rank_among_candidates.py_func  # type: ignore[attr-defined]
    monkeypatch.setattr(ranked_kernel, "_rank_among_candidates", among)
    draw = random.Random(spared)
    index = index_of(drawn_texts(draw, 200, 30))
    engine = RankedRewards(index)
    for _ in range(40):
        golds = np.array(sorted(draw.sample(range(index.size), 2)), dtype=np.int32)
        bag = [f"w{draw.randrange(30)}" for _ in range(5)]
        changes = [drawn_change(draw, bag) for _ in range(6)]
        ranks = np.empty((6, 2), dtype=np.int32)
        rank_batch(engine.arrays, engine.scratch(), golds, engine.bags([(bag, changes)]), np.arange(6), 50, ranks)
        for change, row in zip(changes, ranks, strict=True):
            best = plain_search(index, changed(bag, change))[:50]
            assert row.tolist() == [best.index(id_) + 1 if id_ in best else 0 for id_ in found_ids(index, golds)]


def found_ids(index: ImpactIndex, golds: np.ndarray[tuple[int], np.dtype[np.int32]]) -> list[str]:
    return [index.postings.ids[number] for number in golds.tolist()]


def test_several_states_may_be_given_in_one_call() -> None:
    draw = random.Random(3)
    texts = drawn_texts(draw, 300, 40)
    engine = RankedRewards(index_of(texts))
    states = [(bag, [drawn_change(draw, bag) for _ in range(draw.randrange(40))]) for bag in list(texts.values())[:30]]
    together = engine.open({"d7", "d8"}).evaluate_states(states)
    alone = [engine.open({"d7", "d8"}).evaluate_changes(*state) for state in states]
    assert together.tolist() == np.concatenate(alone).tolist()


def test_texts_that_tie_are_ordered_by_id() -> None:
    engine = RankedRewards(index_of({f"d{number}": ["same"] for number in range(9)}))
    assert [engine.open({f"d{number}"}).evaluate([["same"]])[0, 2] for number in (0, 4, 8)] == [1, 1 / 5, 1 / 9]


def test_past_rank_fifty_nothing_is_found() -> None:
    engine = RankedRewards(index_of({f"d{number:02}": ["same"] for number in range(60)}))
    assert engine.open({"d49"}).evaluate([["same"]])[0].tolist() == [1 / 50, 1, 1 / 50, 0]
    assert engine.open({"d50"}).evaluate([["same"]])[0].tolist() == [0, 0, 0, 0]


def test_no_words_or_unknown_words_find_nothing() -> None:
    engine = RankedRewards(index_of({"d": ["a"], "e": ["b"]}))
    assert engine.open({"d"}).evaluate([[], ["unheard-of"], ["b"]]).tolist() == [[0] * 4] * 3


def test_a_gold_text_that_the_corpus_lacks_counts_as_missed() -> None:
    engine = RankedRewards(index_of({"d": ["a"], "e": ["b"]}))
    assert engine.open({"d", "nowhere"}).evaluate([["a"]])[0, :3].tolist() == [0.5, 0.5, 1]
    assert engine.open({"nowhere"}).evaluate([["a"]]).tolist() == [[0] * 4]


def test_equal_bags_are_evaluated_once() -> None:
    episode = RankedRewards(index_of({"d": ["a", "b"], "e": ["b"]})).open({"d"})
    episode.evaluate([["a", "b"], ["b", "a"], ["b", "a", "unheard-of"], ["a", "b", "b"]])
    episode.evaluate_changes(["b"], [((), ["a"]), ((), [])])
    assert episode.distinct == 3


def test_an_episode_remembers_thousands_of_bags() -> None:
    texts = {f"d{number:04}": [f"w{number}", "all"] for number in range(3000)}
    episode = RankedRewards(index_of(texts)).open({"d0007"})
    bags = [[f"w{number}"] for number in range(3000)]
    first = episode.evaluate(bags)
    assert (episode.evaluate(bags[::-1]) == first[::-1]).all()
    assert first[:, 2].tolist() == [float(number == 7) for number in range(3000)]


def test_threads_may_share_an_engine() -> None:
    draw = random.Random(5)
    texts = drawn_texts(draw, 300, 40)
    engine = RankedRewards(index_of(texts))
    claims = [(id_, [[*bag, f"w{number}"] for number in range(20)]) for id_, bag in list(texts.items())[:40] if bag]

    def worth(claim: tuple[str, list[list[str]]]) -> list[list[float]]:
        return engine.open({claim[0]}).evaluate(claim[1]).tolist()  # type: ignore[no-any-return]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(worth, claims)) == list(map(worth, claims))


def test_impacts_are_those_of_the_index_in_fixed_point() -> None:
    texts = drawn_texts(random.Random(2), 50, 20)
    index = index_of(texts)
    floats = BM25Index(str.split, k1=1.2, b=0.75)
    floats.add(list(texts), [" ".join(text) for text in texts.values()])
    for word in ("w0", "w7"):
        scores = floats.scores(word)
        term = index.postings.terms[word]
        held = slice(index.postings.starts[term], index.postings.starts[term + 1])
        exact = scores[index.postings.documents[held]] * UNITS
        assert index.impacts[held].tolist() == pytest.approx(exact.tolist(), abs=0.51)


def test_a_claim_without_gold_has_no_reward() -> None:
    with pytest.raises(ValueError, match="without gold"):
        RankedRewards(index_of({"d": ["a"]})).open(set())
