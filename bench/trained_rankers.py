"""Rankers that are trained but that the product's blend does without: what they answer, and what they cost.

    PYTHONPATH=. python bench/trained_rankers.py --data ../shared/data [--cache FOLDER] [--splits dev test2021]
        [--only encoder generative losses reuse] [--losses hmi …] [--work FOLDER]

encoder     The encoder that `claimwatch retrain encoder` tunes, by cosine alone.
generative  The blend's best five by the language model tuned by `claimwatch retrain generative`.
losses      The same with each of --losses, trained into --work first: the ablation of generative matching, table 3.
reuse       How much faster posts are scored after a claim that is read once, for 1, 8 and 64 posts.

The first three write run files into bench/results/runs, which `bench/matching.py` measures beside all others.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import numpy as np

from bench.provenance import RESULTS, provenance, write_result
from models.backbone import Encoder
from models.evaluation.collections import PostCollection, load_checkthat
from models.evaluation.matching import embedded, rank_posts
from models.evaluation.runs import write_run
from models.evaluation.vectors import cached_vectors
from models.language_model import LanguageModel
from models.ranking.encoder import EncoderRanker
from models.ranking.fact_check_text import embedding_text
from models.ranking.generative import GenerativeRanker, claim_segment, post_segment, tuned_model
from models.ranking.protocol import Ranker
from models.ranking.train_generative import LOSSES, train
from models.registry import RANKERS

SEED = 0
PARTS = ("encoder", "generative", "losses", "reuse")
SIZES = (1, 8, 64)  # posts a claim
_REPEATS = 3


def main() -> None:
    arguments = _arguments()
    folder = arguments.data / "checkthat2022"
    splits = {split: load_checkthat(folder, split) for split in arguments.splits}
    made: dict[str, Callable[[], None]] = {
        "encoder": lambda: _write(splits, "encoder_tuned", lambda posts: _tuned_encoder(posts, arguments.cache)),
        "generative": lambda: _generative(splits, "generative", arguments.cache, tuned_model),
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
    parser.add_argument("--only", nargs="+", choices=PARTS, default=["encoder", "generative", "reuse"])
    parser.add_argument("--losses", nargs="+", choices=tuple(LOSSES), default=list(LOSSES))
    parser.add_argument("--work", type=Path, default=Path("generative_losses"), help="folder for what losses train")
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


def _blend(posts: PostCollection, cache: Path | None) -> Ranker:
    return RANKERS["blend"](embedded(posts, Encoder.load(), cache))


def _generative(
    splits: dict[str, PostCollection], name: str, cache: Path | None, load: Callable[[], LanguageModel]
) -> None:
    model = load()
    _write(splits, name, lambda posts: GenerativeRanker(_blend(posts, cache), model, name))


def _losses(splits: dict[str, PostCollection], folder: Path, arguments: argparse.Namespace) -> None:
    for loss in arguments.losses:
        out = arguments.work / loss
        if not (out / "card.json").is_file():
            base = _blend(load_checkthat(folder, "train"), arguments.cache)
            train(folder, base, out, loss=loss, seed=SEED, say=lambda line: print(line, flush=True))
        _generative(splits, f"generative_{loss}", arguments.cache, lambda out=out: tuned_model(out))  # type: ignore[misc]


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
