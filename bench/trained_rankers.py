"""Rankers that are trained but that the product's blend does without: what they answer, and what they cost.

    PYTHONPATH=. python bench/trained_rankers.py --data ../shared/data [--cache FOLDER] [--splits dev test2021]
        [--only encoder cross cascade multilingual losses reuse] [--losses hmi …] [--work FOLDER]

encoder     The encoder that `claimwatch retrain encoder` tunes, by cosine alone.
cross       The blend's best five of every post by a cross-encoder on the same layers, trained here into --work.
cascade     The blend, with and without dates, and of posts that it is unsure of the best five by it and by the
            language model that `claimwatch retrain generative` tunes.
multilingual  The blend of words, the multilingual encoder and the packaged one; and the cascade over it.
losses      The blend's best five of every post by the language model alone, tuned with each of --losses into --work:
            the ablation of generative matching, table 3.
reuse       How much faster posts are scored after a claim that is read once, for 1, 8 and 64 posts.

All but reuse write run files into bench/results/runs, which `bench/matching.py` measures beside all others.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from bench.provenance import RESULTS, provenance, write_result
from domain.fact_check import FactCheck
from models.backbone import Encoder
from models.evaluation.collections import PostCollection, load_checkthat
from models.evaluation.matching import embedded, rank_posts
from models.evaluation.runs import write_run
from models.evaluation.vectors import cached_vectors
from models.language_model import LanguageModel
from models.ranking import cross_encoder
from models.ranking.blend import BlendRanker
from models.ranking.encoder import EncoderRanker
from models.ranking.fact_check_text import embedding_text
from models.ranking.generative import claim_segment, post_segment, second_opinion, tuned_model
from models.ranking.hard_negatives import mine
from models.ranking.protocol import Ranker
from models.ranking.reranking import Reranker
from models.ranking.second_opinion import DEPTH
from models.ranking.train_generative import LOSSES, PAIRS, read_triples, train_on
from models.ranking.training_posts import training_posts
from models.ranking.upper_language import Read, Row, UpperLanguage
from models.registry import blend

SEED = 0
PARTS = ("encoder", "cross", "cascade", "multilingual", "losses", "reuse")
SIZES = (1, 8, 64)  # posts a claim
_REPEATS = 3


def main() -> None:
    arguments = _arguments()
    folder = arguments.data / "checkthat2022"
    splits = {split: load_checkthat(folder, split) for split in arguments.splits}
    made: dict[str, Callable[[], None]] = {
        "encoder": lambda: _write(splits, "encoder_tuned", lambda posts: _tuned_encoder(posts, arguments.cache)),
        "cross": lambda: _cross_encoder(splits, folder, arguments),
        "cascade": lambda: _cascade(splits, arguments.cache),
        "multilingual": lambda: _multilingual(splits, arguments.cache),
        "losses": lambda: _losses(splits, folder, arguments),
        "reuse": lambda: _reuse(folder),
    }
    for part in arguments.only:
        made[part]()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds checkthat2022")
    parser.add_argument("--cache", type=Path, help="folder for embeddings between runs")
    parser.add_argument("--splits", nargs="+", default=["dev"], help="dev, test2021, test")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=["encoder", "cascade", "reuse"])
    parser.add_argument("--losses", nargs="+", choices=tuple(LOSSES), default=list(LOSSES))
    parser.add_argument("--work", type=Path, default=Path("trained_rankers"), help="folder for what is trained here")
    return parser.parse_args()


def _write(splits: dict[str, PostCollection], name: str, build: Callable[[PostCollection], Ranker]) -> None:
    for split, posts in splits.items():
        run = rank_posts(build(posts), posts)
        write_run(RESULTS / "runs" / f"checkthat2022.{split}.{name}.trec", run, name=name)
        print(f"{split} {name}: written", flush=True)


def _tuned_encoder(posts: PostCollection, cache: Path | None) -> Ranker:
    encoder, facts = Encoder.tuned(), posts.fact_checks
    texts = [embedding_text(fact.claim, fact.title) for fact in facts]
    return EncoderRanker(encoder, facts, cached_vectors(texts, encoder, cache))


def _blend(posts: PostCollection, cache: Path | None, *, dates: bool = False) -> BlendRanker:
    return blend(embedded(posts, Encoder.load(), cache), dates=dates)


def _cross_encoder(splits: dict[str, PostCollection], folder: Path, arguments: argparse.Namespace) -> None:
    posts = training_posts(folder)
    facts, queries = posts.collection.fact_checks, posts.collection.queries
    mined = mine([queries[query] for query in posts.collection.qrels], posts.gold, facts, Encoder.load())
    checkpoint = arguments.work / "cross_encoder.checkpoint"
    score = cross_encoder.train(posts, mined, seed=SEED, checkpoint=checkpoint, say=_say).score
    _write(splits, "cross_encoder", lambda of: Reranker(_blend(of, arguments.cache), score, "cross_encoder"))


def _cascade(splits: dict[str, PostCollection], cache: Path | None) -> None:
    opinion = second_opinion(tuned_model())
    _write(splits, "cascade", lambda of: _blend(of, cache).with_opinion(opinion))
    _write(splits, "cascade_dates", lambda of: _blend(of, cache, dates=True).with_opinion(opinion))


def _multilingual(splits: dict[str, PostCollection], cache: Path | None) -> None:
    opinion, encoder = second_opinion(tuned_model()), Encoder.load("multilingual")
    for dates, name in ((False, "multilingual"), (True, "multilingual_dates")):
        for split, posts in splits.items():
            ranker = blend(embedded(posts, encoder, cache), dates=dates)
            _write({split: posts}, name, lambda _, ranker=ranker: ranker)  # type: ignore[misc]
            _write({split: posts}, f"cascade_{name}", lambda _, ranker=ranker: ranker.with_opinion(opinion))  # type: ignore[misc]


def _losses(splits: dict[str, PostCollection], folder: Path, arguments: argparse.Namespace) -> None:
    """The lower layers read each row once, whatever the number of losses."""
    model, train = LanguageModel.load(), training_posts(folder)
    reader = UpperLanguage(model)
    base = _blend(train.collection, arguments.cache)
    triples = read_triples(reader, model, train, base, seed=SEED, count=PAIRS)
    candidates = {split: _Candidates.read(posts, reader, model, arguments.cache) for split, posts in splits.items()}
    for loss in arguments.losses:
        network = UpperLanguage(LanguageModel.load(), seed=SEED)
        out = arguments.work / loss
        train_on(network, triples, out, loss=loss, seed=SEED, data=folder, left_out=train.left_out, say=_say)
        for split, posts in splits.items():
            ranker = candidates[split].ranker(network, f"generative_{loss}")
            _write({split: posts}, ranker.name, lambda _, ranker=ranker: ranker)  # type: ignore[misc]


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Implements Ranker, by the blend: `reads` of each post after each of its best fact-checks' claims."""

    scores: NDArray[np.float32]  # (posts, fact-checks)
    reads: dict[tuple[str, str], Read]  # of a post's text and a fact-check's key
    name: str = "blend"

    @classmethod
    def read(
        cls, posts: PostCollection, reader: UpperLanguage, model: LanguageModel, cache: Path | None
    ) -> "_Candidates":
        texts = list(posts.queries.values())
        scores = _blend(posts, cache).score(texts, posts.fact_checks)
        rows = {}
        for text, row in zip(texts, scores, strict=True):
            for number in np.argsort(-row, kind="stable")[:DEPTH]:
                fact = posts.fact_checks[number]
                rows[text, fact.key] = Row(claim_segment(model, fact), post_segment(model, text))
        return cls(scores, dict(zip(rows, reader.read(list(rows.values())), strict=True)))

    def score(self, posts: Sequence[str], candidates: Sequence[FactCheck]) -> NDArray[np.float32]:
        return self.scores.copy()

    def ranker(self, network: UpperLanguage, name: str) -> Reranker:
        logs = network.score(list(self.reads.values()))
        known = {pair: float(of_row.second.mean()) for pair, of_row in zip(self.reads, logs, strict=True)}
        return Reranker(self, lambda post, facts: np.array([known[post, fact.key] for fact in facts]), name)


def _say(line: str) -> None:
    print(line, flush=True)


def _reuse(folder: Path) -> None:
    """Ratios of medians over turns taken one after the other, so that both see the same load."""
    posts, model = load_checkthat(folder, "dev"), LanguageModel.load()
    claim = claim_segment(model, posts.fact_checks[0])
    segments = [post_segment(model, text) for text in list(posts.queries.values())[: max(SIZES)]]
    gains = {}
    for size in SIZES:
        times: dict[str, list[float]] = {"once": [], "each": []}
        for _ in range(_REPEATS):
            times["once"].append(_seconds(lambda size=size: model.likelihoods(claim, segments[:size])))  # type: ignore[misc]
            times["each"].append(_seconds(lambda size=size: _one_by_one(model, claim, segments[:size])))  # type: ignore[misc]
        gains[str(size)] = round(median(times["each"]) / median(times["once"]), 2)
    files = [folder / "vclaims.jsonl.gz", folder / "dev.queries.tsv"]
    result = {
        "posts_of_a_claim": gains,
        "claim_tokens": len(claim),
        "post_tokens": float(np.mean([*map(len, segments)])),
    }
    print(write_result("trained_rankers", {"reuse": result} | provenance(files, SEED)))


def _one_by_one(model: LanguageModel, claim: list[int], segments: Sequence[list[int]]) -> None:
    for segment in segments:
        model.likelihoods(claim, [segment])


def _seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
