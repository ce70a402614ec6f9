"""Which words of a claim to say twice before a dense endpoint: the learned way beside rules, on claims of other pages.

    PYTHONPATH=. python bench/emphasis.py --data ../shared/data --cache FOLDER [--seed 0]

Claims of FoolMeTwice's dev and 2,000 of FEVER's paper_dev, in three parts by page: the weights of a part's words are
learned from the claims of the other two, with the settings of `claimwatch retrain rewriter --endpoint dense`. Gains are
of mAP@50 over the claims as they are. Writes bench/results/emphasis.json.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold

from bench.provenance import provenance, write_result
from domain.query import EndpointKind
from models.backbone import Encoder
from models.evaluation import data_files
from models.evaluation.collections import ClaimCollection
from models.evaluation.rewriting.endpoints import dense_score
from models.evaluation.vectors import cached_vectors
from models.rewriting.learned.claim_words import ClaimWord, all_words
from models.rewriting.learned.dense import said_again
from models.rewriting.learned.listwise import Example
from models.rewriting.learned.train_term_weights import EPOCHS, SOURCES, Source, WeightNetwork, fit, to_examples
from models.rewriting.rewards.protocol import RANK_METRICS
from models.rewriting.tagging import Token, tag

PARTS, MOST = 3, 2000
FILES = {
    "fever paper_dev": "fever/fever_shared_dev_with_evidence_text.jsonl.gz",
    "fm2 dev": "fool_me_twice/dev.jsonl.gz",
}
LIGHT = -1.2  # logarithm of a weight of .3
KINDS = frozenset(("NOUN", "VERB", "ADJ"))
NAMES = frozenset(("PROPN",))


@dataclass(frozen=True, slots=True)
class Side:
    """A set's claims, in the order of `examples`; `parts`, (claims,): the part that each is in."""

    collection: ClaimCollection
    claims: Sequence[str]
    examples: Sequence[Example]
    parts: NDArray[np.int64]
    vectors: NDArray[np.float32]  # (texts, dim), of the collection


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True, help="folder for embeddings between runs")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    network, encoder = WeightNetwork(), Encoder.load()
    sides = {source.name: open_side(network, encoder, source, arguments) for source in SOURCES["passages"]}
    logs = learn(sides, arguments.seed)
    rows = {name: measure(side, logs[name], encoder, arguments) for name, side in sides.items()}
    files = [arguments.data / file for file in FILES.values()]
    write_result("emphasis", provenance(files, arguments.seed) | {"gains": rows})
    for name, of_set in rows.items():
        print(name)
        for row, figures in of_set.items():
            print(f"  {row:<58}{figures}")


def open_side(network: WeightNetwork, encoder: Encoder, source: Source, arguments: argparse.Namespace) -> Side:
    collection = source.train(arguments.data)
    pages = pages_of(arguments.data, source.name)
    claims = [claim for claim in sorted(collection.qrels) if all_words(collection.claims[claim])]
    if len(claims) > MOST:
        drawn = np.random.default_rng(arguments.seed).choice(len(claims), MOST, replace=False)
        claims = [claims[at] for at in sorted(drawn)]
    lists = source.lists(EndpointKind.DENSE, collection, arguments.cache)
    parts = np.zeros(len(claims), dtype=np.int64)
    for part, (_, rows) in enumerate(GroupKFold(PARTS).split(claims, groups=[pages[claim] for claim in claims])):
        parts[rows] = part
    vectors = cached_vectors(list(collection.posts.values()), encoder, arguments.cache)
    examples = to_examples(network.layers, collection, claims, lists)
    chosen = replace(collection, qrels={claim: collection.qrels[claim] for claim in claims})
    return Side(chosen, claims, examples, parts, vectors)


def pages_of(data: Path, name: str) -> dict[str, str]:
    """The page, or pages, that each claim's evidence is on."""
    rows = data_files.read_jsonl(data / FILES[name])
    if name == "fm2 dev":
        return {row["id"]: row["wikipedia_page"] for row in rows}
    return {str(row["id"]): " ".join(sorted(row["evidence_pages"])) for row in rows if row.get("evidence_text")}


def learn(sides: Mapping[str, Side], seed: int) -> dict[str, list[NDArray[np.float32]]]:
    """Logarithms of the weights of each claim's words, from claims of other pages."""
    logs = {name: [np.empty(0, np.float32)] * len(side.claims) for name, side in sides.items()}
    for part in range(PARTS):
        torch.manual_seed(seed)
        network = WeightNetwork()
        others = [side.examples[at] for side in sides.values() for at in np.flatnonzero(side.parts != part)]
        fit(network, others, {}, seed=seed, epochs=EPOCHS, say=lambda line: None)
        network.train(False)
        for name, side in sides.items():
            for at in np.flatnonzero(side.parts == part):
                with torch.no_grad():
                    logs[name][at] = network([side.examples[at].read])[0].numpy()
        print(f"part {part + 1} of {PARTS} learned", flush=True)
    return logs


def measure(
    side: Side, logs: Sequence[NDArray[np.float32]], encoder: Encoder, arguments: argparse.Namespace
) -> dict[str, Any]:
    score = dense_score(side.collection, encoder, arguments.cache)
    texts = [side.collection.claims[claim] for claim in side.claims]
    scores = {
        row: score({claim: [query] for claim, query in zip(side.claims, queries, strict=True)})
        for row, queries in rows_of(side, texts, logs, encoder).items()
    }
    found: dict[str, Any] = {"claim": {"map50": round(scores["claim"].mean(RANK_METRICS[0]), 4), "claims": len(texts)}}
    for row, of_row in scores.items():
        if row != "claim":
            gain = of_row.gain_over(scores["claim"], seed=arguments.seed)
            found[row] = {"gain": round(gain.mean, 4), "ci95": [round(gain.low, 4), round(gain.high, 4)]}
    return found


def rows_of(
    side: Side, texts: Sequence[str], logs: Sequence[NDArray[np.float32]], encoder: Encoder
) -> dict[str, list[str]]:
    """Each row's queries, in the order of the claims."""
    tags = tag(texts)
    posts = list(side.collection.posts.values())
    nearest = (encoder.encode(texts) @ side.vectors.T).argmax(1).tolist()
    weighed = list(zip(texts, logs, strict=True))
    return {
        "claim": list(texts),
        "learned": [said_again(text, all_words(text), of)[0] for text, of in weighed],
        "learned, light words left out": [said_again(*without_light(text, of))[0] for text, of in weighed],
        "nouns, verbs and adjectives twice": [doubled(tokens) for tokens in tags],
        "the same at the end": [f"{text} {words_of(of, KINDS)}" for text, of in zip(texts, tags, strict=True)],
        "names first": [f"{words_of(of, NAMES)} {text}" for text, of in zip(texts, tags, strict=True)],
        "names at the end": [f"{text} {words_of(of, NAMES)}" for text, of in zip(texts, tags, strict=True)],
        "the nearest text at the end": [f"{text} {posts[at]}" for text, at in zip(texts, nearest, strict=True)],
    }


def without_light(text: str, logs: NDArray[np.float32]) -> tuple[str, list[ClaimWord], NDArray[np.float32]]:
    """The text without its light words, the words that stay, and their weights; the text as it is if none would."""
    words = all_words(text)
    kept = [at for at, log in enumerate(logs.tolist()) if log >= LIGHT]
    shorter = text
    for at in reversed(range(len(words))):
        if at not in kept:
            shorter = shorter[: words[at].start] + shorter[words[at].end :]
    left = all_words(shorter)
    if len(left) != len(kept) or not kept:  # what is left reads otherwise
        return text, words, logs
    return shorter, left, logs[kept]


def doubled(tokens: Sequence[Token]) -> str:
    return "".join(t.text + (f" {t.text}" if t.pos in KINDS else "") + t.space for t in tokens)


def words_of(tokens: Sequence[Token], kinds: frozenset[str]) -> str:
    return " ".join(token.text for token in tokens if token.pos in kinds)


if __name__ == "__main__":
    main()
