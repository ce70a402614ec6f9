"""Rewards a second, ours beside bm25s and a plain full search, on the searches that make training data.

    python bench/reward_search.py --data ../shared/data [--claims 60] [--sizes 10000 100000 1000000]

A claim's search is breadth first over edits that improve AP@50, four deep, the best few states of each depth. It is run
once to write down what it asks for; then each contender answers that, claim by claim: ours by whole levels, bm25s and
the plain search each unlike bag of the claim once, all of a claim in one call. All sum the same integers (bm25s's
scores are overwritten with ours, which 32-bit floats hold exactly), so that their rewards must be identical; bm25s
orders ties at random, so its lists are put in order by id, and where a gold text ties with the fiftieth, its rank is
counted in bm25s's scores of all texts. Larger corpora are the pool and further texts, each the first half of one drawn
text and the second half of another: a real corpus of that size would have more words.
"""

import argparse
import json
import logging
import random
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bm25s
import numpy as np
from numpy.typing import NDArray

from bench.curve import write_curves
from bench.provenance import RESULTS, provenance, write_result
from models.evaluation.claim_sets import CLAIM_SETS
from models.evaluation.evidence_collections import load_discovery_train, load_fm2
from models.evaluation.vectors import cached_vectors
from models.retrieval.analyser import ENGLISH, Analyser
from models.rewriting.edits import EditState, TextEdits
from models.rewriting.rewards.boolean import MOST_WORDS, BooleanRewards
from models.rewriting.rewards.dense import DenseRewards, RecentVectors
from models.rewriting.rewards.impacts import ImpactIndex, index_tokens
from models.rewriting.rewards.measures import measure
from models.rewriting.rewards.protocol import CUT, RANK_METRICS
from models.rewriting.rewards.ranked import Change, RankedRewards
from models.rewriting.tagging import Token, tag

STANDARD = Analyser(stem=False)
K1, B = 1.2, 0.75
DEPTH, STATES = 4, 12  # of a search; the states of a depth that are gone on from
PLAIN_BAGS = 400  # that the plain search answers: it is slow
FILES = (
    "fever/corpus_evidence_passages.jsonl.gz",
    "fever/fever_shared_dev_with_evidence_text.jsonl.gz",
    "fool_me_twice/dev.jsonl.gz",
    "fool_me_twice/test.jsonl.gz",
    "covid_fact/COVIDFACT_dataset.jsonl.gz",
    "feverous_s/dev.json.gz",
    "discovery/posts.jsonl.gz",
    "discovery/train.claims.tsv",
)


@dataclass(frozen=True, slots=True)
class Search:
    """What one claim's search asks for."""

    gold: set[str]
    levels: list[list[tuple[list[str], list[Change]]]]  # states and their changes, a level of the search at a time
    bags: list[list[str]]  # the unlike ones among the states' children


def tokens_of(pieces: Sequence[str]) -> list[str]:
    return STANDARD(" ".join(pieces))


def record(engine: RankedRewards, claim: tuple[Token, ...], gold: set[str]) -> Search:
    """Breadth first over improving edits; each bag is gone on from once."""
    edits, episode = TextEdits(guarded=False), engine.open(gold)
    start = edits.start(claim)
    levels: list[list[tuple[list[str], list[Change]]]] = []
    bags = {_key(STANDARD(start.text)): STANDARD(start.text)}
    level = [(float(episode.evaluate(list(bags.values()))[0, 0]), start)]
    for _ in range(DEPTH):
        level = [(worth, state) for worth, state in level if worth < 1]
        levels.append([])
        found: dict[tuple[str, ...], tuple[float, EditState]] = {}
        for worth, state in level:
            children = edits.children(state)
            changes = [(tokens_of(child.removed), tokens_of(child.added)) for child in children]
            levels[-1].append((STANDARD(state.text), changes))
            for child, row in zip(children, episode.evaluate_changes(*levels[-1][-1]), strict=True):
                bag = STANDARD(child.state.text)
                if row[0] > worth and _key(bag) not in bags:
                    found[_key(bag)] = float(row[0]), child.state
                bags.setdefault(_key(bag), bag)
        level = sorted(found.values(), key=lambda pair: -pair[0])[:STATES]
    first = [(STANDARD(start.text), [((), ())])]
    return Search(gold, [first, *(states for states in levels if states)], list(bags.values()))


def _key(bag: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(bag))


def build_peer(index: ImpactIndex, tokens: Mapping[str, Sequence[str]], backend: str) -> Any:
    """bm25s over the same tokens, its scores overwritten by our integers."""
    peer = bm25s.BM25(method="lucene", k1=K1, b=B, backend=backend)
    peer.index([list(tokens[id_]) for id_ in index.postings.ids], show_progress=False)
    scores, starts = peer.scores, index.postings.starts
    largest = 0.0
    for word, column in peer.vocab_dict.items():
        term = index.postings.terms.get(word)
        if term is None:
            continue
        place, held = slice(*scores["indptr"][column : column + 2]), slice(*starts[term : term + 2])
        documents = index.postings.documents[held]
        mine = index.impacts[held][np.searchsorted(documents, scores["indices"][place])]
        largest = max(largest, float(np.abs(scores["data"][place] - mine / (1 << 14)).max()))
        scores["data"][place] = mine
    if largest > 1e-4:
        raise ValueError(f"bm25s's scores differ from ours by {largest}: not the same BM25")
    return peer


def ours(engine: RankedRewards, search: Search) -> NDArray[np.float64]:
    episode = engine.open(search.gold)
    for level in search.levels:
        worth = episode.evaluate_states(level)
    return worth


def ours_prepared(engine: RankedRewards, search: Search) -> None:
    """Preparing a claim and nothing else: its first state with one bag."""
    state, _ = search.levels[0][0]
    engine.open(search.gold).evaluate_changes(state, [((), ())])


def plain_ranks(index: ImpactIndex, bag: Sequence[str], golds: NDArray[np.int32]) -> NDArray[np.int32]:
    """Every text scored, all put in order."""
    postings = index.postings
    scores = np.zeros(index.size, dtype=np.int64)
    for word in bag:
        term = postings.terms.get(word, postings.unknown)
        held = slice(postings.starts[term], postings.starts[term + 1])
        scores[postings.documents[held]] += index.impacts[held]
    order = np.lexsort((np.arange(index.size), -scores))[:CUT]
    places = {text: rank for rank, text in enumerate(order.tolist(), 1) if scores[text] > 0}
    return np.array([places.get(gold, 0) for gold in golds.tolist()], dtype=np.int32)


def peer_ranks(
    peer: Any, bag: list[str], documents: NDArray[np.int64], scores: NDArray[np.float32], golds: NDArray[np.int32]
) -> NDArray[np.int32]:
    """From bm25s's list of fifty, in order of score and id; from all its scores for a gold text at the list's end."""
    order = np.lexsort((documents, -scores))
    last = scores.min()
    places = {int(documents[row]): rank for rank, row in enumerate(order, 1) if scores[row] > last}
    ranks = []
    for gold in golds.tolist():
        rank = places.get(gold, 0)
        if not rank and bag:
            everything = peer.get_scores(bag)
            better = (everything > everything[gold]).sum() + (everything[:gold] == everything[gold]).sum()
            rank = int(better) + 1 if everything[gold] > 0 and better < CUT else 0
        ranks.append(rank)
    return np.array(ranks, dtype=np.int32)


def worth_of(ranks: list[NDArray[np.int32]], relevant: int) -> NDArray[np.float64]:
    worths = np.zeros((len(ranks), len(RANK_METRICS)))
    measure(np.array(ranks).reshape(len(ranks), -1), relevant, worths)
    return worths


def known_bags(peer: Any, search: Search) -> list[list[str]]:
    """bm25s stops at a bag without a known word, so it gets none."""
    return [bag for bag in search.bags if any(word in peer.vocab_dict for word in bag)]


def compare(index: ImpactIndex, engine: RankedRewards, peer: Any, searches: Sequence[Search]) -> dict[str, Any]:
    """On the same bags: how many rewards differ from bm25s's, and from the plain search's on some of them."""
    bags = differ = plain = plain_differ = 0
    for search in searches:
        golds, asked = index.numbers(search.gold), known_bags(peer, search)
        mine = engine.open(search.gold).evaluate(asked)
        documents, scores = peer.retrieve(asked, k=CUT, show_progress=False)
        theirs = [peer_ranks(peer, bag, d, s, golds) for bag, d, s in zip(asked, documents, scores, strict=True)]
        differ += int((worth_of(theirs, len(search.gold)) != mine).any(axis=1).sum())
        bags += len(asked)
        few = asked[: max(1, PLAIN_BAGS // len(searches))]
        sorted_ranks = [plain_ranks(index, bag, golds) for bag in few]
        plain_differ += int((worth_of(sorted_ranks, len(search.gold)) != mine[: len(few)]).any(axis=1).sum())
        plain += len(few)
    return {"bags": bags, "differ_from_bm25s": differ, "plain_bags": plain, "differ_from_plain": plain_differ}


def best_seconds(run: Callable[[], object], rounds: int) -> float:
    """The best of so many rounds, after one that does not count."""
    seconds = []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds[1:])


def best_seconds_each(run: Callable[[Search], object], searches: Sequence[Search], rounds: int) -> float:
    """The sum of each claim's best: one claim is short enough to be left alone by what else the machine does."""
    return sum(best_seconds(lambda search=search: run(search), rounds) for search in searches)  # type: ignore[misc]


def in_threads(run: Callable[[Search], object], searches: Sequence[Search], threads: int) -> None:
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(run, searches))


def measure_ranked(
    tokens: Mapping[str, Sequence[str]], claims: Mapping[str, tuple[str, set[str]]], rounds: int
) -> dict[str, Any]:
    """`claims`: id → text and gold ids. All times are for whole claims: preparing and every evaluation."""
    start = time.perf_counter()
    index = index_tokens(tokens, k1=K1, b=B)
    index_s = time.perf_counter() - start
    engine = RankedRewards(index)
    tagged = tag([text for text, _ in claims.values()])
    searches = [record(engine, tokens, gold) for tokens, (_, gold) in zip(tagged, claims.values(), strict=True)]
    peers = {backend: build_peer(index, tokens, backend) for backend in ("numba", "numpy")}
    evaluations = sum(len(search.bags) for search in searches)
    few = searches[: max(1, len(searches) // 8)]
    seconds = {
        "ours": best_seconds_each(lambda search: ours(engine, search), searches, 4 * rounds),
        "ours, 2 threads": best_seconds(lambda: in_threads(lambda s: ours(engine, s), searches, 2), rounds),
        "ours, preparing only": best_seconds_each(lambda search: ours_prepared(engine, search), searches, 4 * rounds),
    }
    for threads in (1, 2):
        seconds[f"bm25s numba, {threads} threads"] = best_seconds_each(
            lambda search, n=threads: _retrieve(peers["numba"], search, n),  # type: ignore[misc]
            searches,
            rounds,
        )
    of_few = sum(len(search.bags) for search in few)
    numpy_s = best_seconds(lambda: [_retrieve(peers["numpy"], search, 1) for search in few], 1)
    some = [(search, bag) for search in searches for bag in search.bags][:: max(1, evaluations // PLAIN_BAGS)]
    plain_s = best_seconds(lambda: [plain_ranks(index, bag, index.numbers(s.gold)) for s, bag in some], 1)
    fastest = {
        n: min(s for name, s in seconds.items() if name.startswith("bm25s") and name.endswith(n))
        for n in ("1 threads", "2 threads")
    }
    requests = sum(len(changes) for search in searches for level in search.levels for _, changes in level)
    return {
        "texts": index.size,
        "claims": len(searches),
        "evaluations": evaluations,
        "evaluations_asked_for": requests,
        "evals_s": {name: round(evaluations / s) for name, s in seconds.items() if "preparing" not in name}
        | {"bm25s numpy": round(of_few / numpy_s), "plain full search": round(len(some) / plain_s)},
        "ours_asked_for_s": round(requests / seconds["ours"]),
        "preparing_share": round(seconds["ours, preparing only"] / seconds["ours"], 2),
        "claim_us": round(seconds["ours"] / len(searches) * 1e6),
        "claim_search_ratio": round(fastest["1 threads"] / seconds["ours"], 1),
        "claim_search_ratio_2_threads": round(fastest["2 threads"] / seconds["ours, 2 threads"], 1),
        "comparison": compare(index, engine, peers["numba"], searches),
        "index_s": round(index_s, 1),
        "index_mb": round(sum(array.nbytes for array in engine.arrays) / 1e6, 1),
    }


def _retrieve(peer: Any, search: Search, threads: int) -> None:
    peer.retrieve(known_bags(peer, search), k=CUT, n_threads=threads if threads > 1 else 0, show_progress=False)


def resized(tokens: Mapping[str, list[str]], kept: set[str], size: int, draw: random.Random) -> dict[str, list[str]]:
    """The texts in `kept` and drawn ones of the rest, or all of them and mixtures, to make `size`."""
    others = [id_ for id_ in tokens if id_ not in kept]
    if size <= len(tokens):
        chosen = [*kept, *draw.sample(others, size - len(kept))]
        return {id_: tokens[id_] for id_ in chosen}
    texts = list(tokens.values())
    grown = dict(tokens)
    for number in range(size - len(tokens)):
        first, second = draw.choice(texts), draw.choice(texts)
        grown[f"mixture:{number}"] = first[: (len(first) + 1) // 2] + second[len(second) // 2 :]
    return grown


def measure_boolean(data: Path, count: int, rounds: int) -> dict[str, Any]:
    collection = load_discovery_train(data)
    engine = BooleanRewards(collection.posts)
    claims = [
        (collection.qrels[id_], list(dict.fromkeys(ENGLISH_WORDS(text)))[:MOST_WORDS])
        for id_, text in list(collection.claims.items())[:count]
    ]
    seconds = best_seconds(lambda: [engine.open(gold).search(words) for gold, words in claims], rounds)
    pools = [engine.open(gold).search(words) for gold, words in claims]
    choose_s = best_seconds(lambda: [pool.choose(3) for pool in pools], rounds)
    queries = [[[(word,)] for word in words] for _, words in claims]
    single_s = best_seconds(
        lambda: [engine.open(gold).evaluate(asked) for (gold, _), asked in zip(claims, queries, strict=True)], rounds
    )
    return {
        "claims": len(claims),
        "words_a_claim": round(float(np.mean([len(words) for _, words in claims])), 1),
        "evals_s": round(sum(pool.covered for pool in pools) / seconds),
        "visited_s": round(sum(pool.visited for pool in pools) / seconds),
        "claim_ms": round(seconds / len(claims) * 1e3, 2),
        "choose_3_ms": round(choose_s / len(claims) * 1e3, 2),
        "free_queries_s": round(sum(map(len, queries)) / single_s),
        "best_alone_f2": round(float(np.mean([max(pool.found.f2, default=0.0) for pool in pools])), 3),
    }


ENGLISH_WORDS = Analyser(stem=False, stop_words=ENGLISH.stop_words, ascii_only=True)


def measure_dense(data: Path, texts: int, claims: int, cache: Path | None, seed: int) -> dict[str, Any]:
    """Over a sample of FoolMeTwice's sentences: the encoder takes nearly all of the time, whatever their number."""
    from models.backbone import Encoder

    draw, collection, encoder = random.Random(seed), load_fm2(data, "dev"), Encoder.load()
    chosen = dict(draw.sample(sorted(collection.claims.items()), claims))
    gold = {post for id_ in chosen for post in collection.qrels[id_]}
    ids = sorted(gold | set(draw.sample(sorted(collection.posts), texts)))
    vectors = cached_vectors([collection.posts[id_] for id_ in ids], encoder, cache)
    remembered = RecentVectors(encoder.encode)
    engine = DenseRewards(remembered, ids, vectors)
    asked = {
        id_: [" ".join(text.split()[:i] + text.split()[i + 1 :]) for i in range(len(text.split()))]
        for id_, text in chosen.items()
    }
    start = time.perf_counter()
    for id_, frontier in asked.items():
        engine.open(collection.qrels[id_]).evaluate(frontier)
    seconds = time.perf_counter() - start
    again = best_seconds(lambda: [engine.open(collection.qrels[id_]).evaluate(f) for id_, f in asked.items()], 2)
    count = sum(map(len, asked.values()))
    return {
        "texts": len(ids),
        "evals_s": round(count / seconds),
        "evals_s_of_texts_remembered": round(count / again),
        "encoding_share": round(1 - again / seconds, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds the folders of the data sets")
    parser.add_argument("--claims", type=int, default=60, help="of each data set")
    parser.add_argument("--sizes", type=int, nargs="*", default=[10_000, 100_000, 1_000_000], help="of the curve")
    parser.add_argument("--knn-texts", type=int, default=3_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--cache", type=Path, help="folder for embeddings")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    logging.getLogger("bm25s").setLevel(logging.WARNING)
    result = measure_all(arguments)
    print(json.dumps(result, indent=1))
    settings = {
        "k1": K1,
        "b": B,
        "analyser": "standard: no stop words, no stems",
        "depth": DEPTH,
        "states_a_depth": STATES,
    }
    files = [arguments.data / name for name in FILES]
    print(write_result("reward_search", {"settings": settings, **result, **provenance(files, arguments.seed)}))


def measure_all(arguments: argparse.Namespace) -> dict[str, Any]:
    ranked: dict[str, Any] = {}
    curve = []
    for name, claim_set in CLAIM_SETS.items():
        collection = claim_set.load(arguments.data, claim_set.splits[0])
        draw = random.Random(arguments.seed)
        tokens = {id_: STANDARD(text) for id_, text in collection.posts.items()}
        ids = draw.sample(sorted(collection.claims), arguments.claims)
        claims = {id_: (collection.claims[id_], collection.qrels[id_]) for id_ in ids}
        ranked[name] = measure_ranked(tokens, claims, arguments.rounds)
        print(name, json.dumps(ranked[name]), flush=True)
        if name == "fever":
            curve = measure_curve(tokens, claims, arguments)
    boolean = measure_boolean(arguments.data, 2 * arguments.claims, arguments.rounds)
    dense = measure_dense(arguments.data, arguments.knn_texts, 20, arguments.cache, arguments.seed)
    return summary(ranked) | {
        "boolean_evals_s": boolean["evals_s"],
        "knn_evals_s": dense["evals_s"],
        "ranked": ranked,
        "curve": curve,
        "boolean": boolean,
        "knn": dense,
    }


def measure_curve(
    tokens: dict[str, list[str]], claims: Mapping[str, tuple[str, set[str]]], arguments: argparse.Namespace
) -> list[dict[str, Any]]:
    few = dict(list(claims.items())[: max(4, len(claims) // 4)])
    kept = {post for _, gold in few.values() for post in gold}
    curve = []
    for size in arguments.sizes:
        corpus = resized(tokens, kept, size, random.Random(arguments.seed))
        curve.append(measure_ranked(corpus, few, 1))
        print(size, json.dumps(curve[-1]), flush=True)
    lines = {
        label: [(row["texts"], row["evals_s"][name]) for row in curve]
        for label, name in (("ours", "ours"), ("bm25s", "bm25s numba, 1 threads"), ("plain", "plain full search"))
    }
    if curve:
        title = "Evaluations a second, one thread, preparing included"
        write_curves(RESULTS / "reward_search.svg", title, ("texts", "evaluations/s"), lines)
    return curve


def summary(ranked: Mapping[str, Any]) -> dict[str, Any]:
    """Over all data sets, one thread each: evaluations by the time they took."""
    evaluations = sum(row["evaluations"] for row in ranked.values())

    def rate(name: str) -> float:
        return evaluations / sum(row["evaluations"] / row["evals_s"][name] for row in ranked.values())

    mine, theirs = rate("ours"), rate("bm25s numba, 1 threads")
    comparisons = [row["comparison"] for row in ranked.values()]
    return {
        "ours_evals_s": round(mine),
        "bm25s_evals_s": round(theirs),
        "claim_search_ratio": round(mine / theirs, 1),
        "identical": not any(row["differ_from_bm25s"] + row["differ_from_plain"] for row in comparisons),
    }


if __name__ == "__main__":
    main()
