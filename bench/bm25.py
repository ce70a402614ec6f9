"""BM25 beside bm25s: the same scores, and queries a second, on the CheckThat! 2022 fact-checks.

    python bench/bm25.py --data ../shared/data/checkthat2022

Both get the same tokens; from raw text each uses its own tokeniser (they differ on letters outside ASCII). Contenders
take turns in an order that is drawn anew each round, and each one's best round counts; what they keep of earlier
rounds (compiled code, words seen) they may use.
"""

import argparse
import csv
import gzip
import json
import logging
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bm25s
import numpy as np
import Stemmer
from bm25s.tokenization import Tokenizer
from numpy.typing import NDArray

from bench.provenance import provenance, write_result
from models.retrieval.analyser import ENGLISH
from models.retrieval.bm25 import BM25Index, Ranking

K1, B = 1.5, 0.75
TOLERANCE = 1e-5
FILES = ("vclaims.jsonl.gz", "train.queries.tsv", "dev.queries.tsv")


@dataclass(frozen=True, slots=True)
class Corpus:
    """Fact-checks in the order of their ids, so that both indexes number them alike."""

    ids: list[str]
    texts: list[str]
    tokens: list[list[str]]


def read_corpus(path: Path) -> Corpus:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = sorted((json.loads(line) for line in lines), key=lambda row: str(row["vclaim_id"]))
    texts = [" ".join((row["vclaim"], row["title"], row["subtitle"])) for row in rows]
    return Corpus([row["vclaim_id"] for row in rows], texts, [ENGLISH(text) for text in texts])


def read_queries(path: Path) -> list[str]:
    with path.open(encoding="utf-8", newline="") as lines:
        return [text for _, text in csv.reader(lines, delimiter="\t")]


def build_ours(corpus: Corpus) -> BM25Index:
    """From the same lists of tokens that the peer is given."""
    index = BM25Index(dict(zip(corpus.texts, corpus.tokens, strict=True)).__getitem__, k1=K1, b=B)
    index.add(corpus.ids, corpus.texts)
    if len(index.ids) != len(corpus.ids):  # asking for the ids builds the postings
        raise ValueError("two fact-checks share an id")
    return index


def build_peer(tokens: Any, backend: str) -> Any:
    peer = bm25s.BM25(method="lucene", k1=K1, b=B, backend=backend, csc_backend="scipy")
    peer.index(tokens, show_progress=False)
    return peer


def compare(ours: BM25Index, peer: Any, queries: Sequence[Sequence[str]], k: int) -> dict[str, Any]:
    """The greatest difference of scores rank by rank, and how many lists differ other than in the order of ties."""
    mine = ours.rank(queries, k)
    documents, scores = peer.retrieve(queries, k=k, show_progress=False)
    everything = ours.rank(queries, len(ours))
    of_theirs = np.stack([scores_by_number(everything, q)[row] for q, row in enumerate(documents)])
    difference = max(np.abs(mine.scores - scores).max(), np.abs(of_theirs - scores).max())
    other = (np.abs(of_theirs - mine.scores) > TOLERANCE).any(axis=1)
    return {
        "k": k,
        "queries": len(queries),
        "max_score_difference": float(difference),
        "lists_that_differ_beyond_ties": int(other.sum()),
        "lists_in_the_very_same_order": int((mine.documents == documents).all(axis=1).sum()),
    }


def scores_by_number(ranking: Ranking, query: int) -> NDArray[np.float32]:
    """(texts,): the scores of one query's full list, in the order of the texts' numbers."""
    scores = np.zeros(ranking.documents.shape[1], dtype=np.float32)
    found = ranking.documents[query] >= 0
    scores[ranking.documents[query][found]] = ranking.scores[query][found]
    return scores


def best_seconds(contenders: dict[str, Callable[[], object]], rounds: int, draw: random.Random) -> dict[str, float]:
    """Each contender's best of so many rounds, after one that does not count.

    One that is five times slower than the fastest drops out after two rounds, so that many rounds are affordable.
    """
    best = dict.fromkeys(contenders, float("inf"))
    for number in range(rounds + 1):
        racing = [name for name in contenders if number < 3 or best[name] < 5 * min(best.values())]
        for name in draw.sample(racing, len(racing)):
            start = time.perf_counter()
            contenders[name]()
            seconds = time.perf_counter() - start
            if number > 0:
                best[name] = min(best[name], seconds)
    return best


def from_tokens(ours: BM25Index, peers: dict[str, Any], queries: Any, k: int) -> dict[str, Callable[[], object]]:
    fast, plain = peers["numba"], peers["numpy"]
    return {
        "claimwatch, 1 thread": lambda: ours.rank(queries, k),
        "claimwatch, 2 threads": lambda: ours.rank(queries, k, threads=2),
        "bm25s numba, 1 thread": lambda: fast.retrieve(queries, k=k, show_progress=False),
        "bm25s numba, 2 threads": lambda: fast.retrieve(queries, k=k, n_threads=2, show_progress=False),
        "bm25s numpy, 1 thread": lambda: plain.retrieve(queries, k=k, show_progress=False),
        "bm25s numpy, 2 threads": lambda: plain.retrieve(queries, k=k, n_threads=2, show_progress=False),
    }


def from_text(ours: BM25Index, peer: Any, corpus: Corpus, texts: list[str], k: int) -> dict[str, Callable[[], object]]:
    """bm25s by its function `tokenize` and by its class `Tokenizer`, which keeps the words it has seen."""
    options = {"stopwords": sorted(ENGLISH.stop_words), "stemmer": Stemmer.Stemmer("english")}
    tokenizer = Tokenizer(splitter=r"[a-z0-9]+", **options)
    by_ids = build_peer(tokenizer.tokenize(corpus.texts, return_as="tuple", show_progress=False), "numba")

    def peer_function() -> object:
        tokens = bm25s.tokenize(texts, token_pattern=r"[a-z0-9]+", show_progress=False, **options)
        return peer.retrieve(tokens, k=k, show_progress=False)

    def peer_class() -> object:
        tokens = tokenizer.tokenize(texts, update_vocab=False, return_as="ids", show_progress=False)
        return by_ids.retrieve(tokens, k=k, show_progress=False)

    return {
        "claimwatch, 1 thread": lambda: ours.rank([ENGLISH(text) for text in texts], k),
        "bm25s numba, tokenize": peer_function,
        "bm25s numba, Tokenizer": peer_class,
    }


def rates(seconds: dict[str, float], count: int, threads: str = "") -> dict[str, Any]:
    """Queries a second, and ours over the fastest peer's among the contenders whose name ends so."""
    compared = {name: count / s for name, s in seconds.items() if name.endswith(threads)}
    mine = max(rate for name, rate in compared.items() if name.startswith("claimwatch"))
    peer = max(rate for name, rate in compared.items() if name.startswith("bm25s"))
    return {"queries_per_s": {name: round(rate) for name, rate in compared.items()}, "ratio": round(mine / peer, 2)}


def measure(corpus: Corpus, texts: list[str], *, rounds: int, seed: int) -> dict[str, Any]:
    draw = random.Random(seed)
    queries = [ENGLISH(text) for text in texts]
    builds = best_seconds(
        {"claimwatch": lambda: build_ours(corpus), "bm25s": lambda: build_peer(corpus.tokens, "numba")}, 3, draw
    )
    ours, peers = build_ours(corpus), {name: build_peer(corpus.tokens, name) for name in ("numba", "numpy")}
    result: dict[str, Any] = {"equality": compare(ours, peers["numba"], queries, 100)}
    for k in (10, 100):
        seconds = best_seconds(from_tokens(ours, peers, queries, k), rounds, draw)
        for threads in ("1 thread", "2 threads"):
            result[f"from tokens, k = {k}, {threads}"] = rates(seconds, len(queries), threads)
        seconds = best_seconds(from_text(ours, peers["numba"], corpus, texts, k), rounds, draw)
        result[f"from text, k = {k}"] = rates(seconds, len(texts))
    result["index_s"] = {name: round(s, 3) for name, s in builds.items()}
    result["index_ratio"] = round(builds["bm25s"] / builds["claimwatch"], 2)
    return result


def print_table(result: dict[str, Any]) -> None:
    print(json.dumps(result["equality"]))
    for name, row in result.items():
        if name.startswith("from "):
            print(f"{name}: ratio {row['ratio']}")
            for contender, rate in row["queries_per_s"].items():
                print(f"    {contender:<26}{rate:>10,} queries/s")
    print(f"index: {result['index_s']} s, ratio {result['index_ratio']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True, help="folder of the CheckThat! 2022 files")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    files = [arguments.data / name for name in FILES]
    if missing := [str(path) for path in files if not path.is_file()]:
        parser.error(f"--data lacks {', '.join(missing)}")
    logging.getLogger("bm25s").setLevel(logging.WARNING)
    texts = [text for path in files[1:] for text in read_queries(path)]
    result = measure(read_corpus(files[0]), texts, rounds=arguments.rounds, seed=arguments.seed)
    print_table(result)
    payload = {"settings": {"k1": K1, "b": B, "rounds": arguments.rounds}, **result}
    print(write_result("bm25", payload | provenance(files, arguments.seed)))


if __name__ == "__main__":
    main()
