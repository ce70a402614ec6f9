"""The whole chain on real posts: claims → queries → a boolean platform of realistic volume → match → digest rows.

    python bench/end_to_end.py --data ../shared/data

The platform holds 100 times the background of the sample and lets 100 posts a claim be read (models/evaluation/
boolean_platform.py); what is read is drawn with a seed, `--draws` times. All posts read are matched against all 14,231
fact-checks of CheckThat! 2022, among them the claims that were searched for. A digest row is a post under a claim of
the split with a confidence of .5 or more, whichever claim's search brought it; it is true if the post, or the post that
it is a copy of, is known to be about the claim. Recall counts the posts themselves, not copies. Each part is taken out
in turn, or put in: another policy, words alone instead of words and encoder, no matcher; the language model's second
opinion, the multilingual encoder beside the packaged one.

The queries are those of the rows of bench/rewriting.py, from their files. Writes bench/results/end_to_end.json.
"""

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.provenance import RESULTS, provenance, write_result
from domain.fact_check import FactCheck
from domain.query import EndpointKind, Query, Term
from models.backbone import Encoder
from models.evaluation.boolean_platform import ReadPost, SampledPlatform, Worth, f_two
from models.evaluation.bootstrap import mean_interval, paired_interval
from models.evaluation.collections import ClaimCollection, load_checkthat, load_discovery
from models.evaluation.rewriting.query_files import QueryFile, read_queries
from models.evaluation.vectors import cached_vectors
from models.ranking.calibration import Calibration
from models.ranking.evidence import EvidenceFinder
from models.ranking.fact_check_text import embedding_text
from models.ranking.generative import second_opinion, tuned_model
from models.ranking.matcher import Matcher, PostText
from models.ranking.post_words import PostWords
from models.retrieval.post_text import search_words

SURE = 0.5
SCALE, READS = 100, 100
POLICIES = ("claim", "keyphrases", "triples4", "policy", "most_words_with_counts_index_df", "policy_counts")
COMPARED = {"policy": "triples4", "policy_counts": "most_words_with_counts_index_df"}  # learned, and the best plain one
CHECKED_DRAWS = 200  # for the platform alone, where a draw costs little
FILES = ("checkthat2022/vclaims.jsonl.gz", "discovery/posts.jsonl.gz")

Queries = Mapping[str, Sequence[Query]]  # by claim
Read = Mapping[str, Sequence[ReadPost]]  # by claim
Found = Mapping[str, frozenset[str]]  # post of the sample → keys of the fact-checks it was matched to


@dataclass(frozen=True, slots=True)
class DigestRow:
    claim: str
    post: str  # id on the platform; copies have their own
    source: str  # the post of the sample whose text it has


@dataclass(frozen=True, slots=True)
class ClaimFigures:
    """What one claim's part of the digest holds, in one draw."""

    rows: int
    true_rows: int
    found: int  # gold posts, each once
    gold: int

    @property
    def recall(self) -> float:
        return self.found / self.gold

    @property
    def f2(self) -> float:
        return f_two(self.true_rows / self.rows if self.rows else 0.0, self.recall)


class Clock:
    """Seconds of each stage, told when it ends."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.seconds[stage] = round(now - self._last, 1)
        self._last = now
        print(f"{stage}: {self.seconds[stage]} s", file=sys.stderr)


def main() -> None:
    arguments = read_arguments()
    clock = Clock()
    discovery = load_discovery(arguments.data / "discovery", arguments.split)
    facts = load_checkthat(arguments.data / "checkthat2022", "dev").fact_checks
    encoder = Encoder.load()
    claims = [embedding_text(fact.claim, fact.title) for fact in facts]
    vectors = cached_vectors(claims, encoder, arguments.cache)
    platform = SampledPlatform(discovery.posts, scale=SCALE, reads=READS)
    clock.lap("load")
    queries = {policy: queries_of(arguments.split, policy) for policy in POLICIES}
    draws = {policy: draw_posts(platform, made, discovery, arguments) for policy, made in queries.items()}
    clock.lap("searches")
    sources = sorted({post.source for of in draws.values() for read in of for posts in read.values() for post in posts})
    texts = [discovery.posts[source] for source in sources]
    calibration = Calibration.load()
    both = match(Matcher(facts, vectors, encoder, calibration), sources, texts)
    clock.lap("matching by words and encoder")
    opinion = second_opinion(tuned_model())
    asked = match(Matcher(facts, vectors, encoder, calibration, opinion=opinion), sources, texts)
    clock.lap("the same with the language model's opinion")
    every = Encoder.load("multilingual")
    more = Matcher(
        facts, cached_vectors(claims, every, arguments.cache), every, Calibration.load(multilingual=True),
        companion=encoder,
    )  # fmt: skip
    two = match(more, sources, texts)
    clock.lap("matching by words and two encoders")
    words = match_words(EvidenceFinder(facts, vectors, encoder), facts, calibration, sources, texts)
    clock.lap("matching by words alone")
    matchers: dict[str, Found | None] = {
        "words and encoder": both,
        "words, encoder and language model": asked,
        "words and two encoders": two,
        "words alone": words,
        "no matcher": None,
    }
    rows = {
        f"{policy}, {name}": measure(draws[policy], found, discovery, arguments.seed)
        for policy in POLICIES
        for name, found in matchers.items()
    }
    check = {policy: compare_with_definition(platform, made, discovery, arguments) for policy, made in queries.items()}
    files = [arguments.data / name for name in (*FILES, f"discovery/{arguments.split}.claims.tsv")]
    payload = {
        "split": arguments.split,
        "claims": len(discovery.qrels),
        "draws": arguments.draws,
        "texts_matched": len(sources),
        "rows": rows,
        "recall_gain": recall_gains(draws, both, discovery, arguments.seed),
        "f2_of_the_platform_alone": check,
        "seconds": clock.seconds,
    }
    name = "end_to_end" if arguments.split == "test2021" else f"end_to_end_{arguments.split}"
    write_result(name, provenance(files, arguments.seed) | payload)
    print_table(rows, check)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--split", default="test2021", choices=("train", "dev", "test2021"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--cache", type=Path, help="folder for embeddings between runs")
    return parser.parse_args()


def queries_of(split: str, row: str) -> dict[str, list[Query]]:
    """From the row's file."""
    file = QueryFile("discovery", split, EndpointKind.BOOLEAN).path(RESULTS / "queries", row)
    return {
        claim: [Query(EndpointKind.BOOLEAN, tuple(tuple(map(Term, group)) for group in query), row) for query in asked]
        for claim, asked in read_queries(file).items()
    }


def draw_posts(
    platform: SampledPlatform, queries: Queries, discovery: ClaimCollection, arguments: argparse.Namespace
) -> list[dict[str, list[ReadPost]]]:
    """What each run of all queries reads, by claim."""
    rng = np.random.default_rng(arguments.seed)
    return [
        {claim: platform.draw(queries[claim], gold, rng) for claim, gold in discovery.qrels.items()}
        for _ in range(arguments.draws)
    ]


def match(matcher: Matcher, sources: Sequence[str], texts: Sequence[str]) -> Found:
    """Every text once: copies have the text of their source."""
    answers = matcher.match([PostText(text) for text in texts], sentences=False)
    sure = [frozenset(m.fact_check_key for m in answer.matches if m.confidence >= SURE) for answer in answers]
    return dict(zip(sources, sure, strict=True))


def match_words(
    finder: EvidenceFinder, facts: Sequence[FactCheck], calibration: Calibration, sources: Sequence[str],
    texts: Sequence[str],
) -> Found:  # fmt: skip
    """As for posts in a language that the encoder does not know."""
    nowhere: NDArray[np.float32] = np.zeros(finder.dim, dtype=np.float32)
    found = {}
    posts = [PostWords(search_words(text), nowhere, nowhere, "lexical") for text in texts]
    for source, evidence in zip(sources, finder.find(posts), strict=True):
        sure = calibration.confidence(evidence, mode="lexical") >= SURE
        found[source] = frozenset(facts[n].key for n in evidence.candidates.numbers[sure])
    return found


def digest_rows(read: Read, found: Found | None) -> set[DigestRow]:
    """Posts under the claims they were matched to; without a matcher, under the claim whose search brought them."""
    rows = set()
    for claim, posts in read.items():
        for post in posts:
            id_ = post.id if post.id == post.source else f"{claim}/{post.id}"
            keys = found[post.source] if found is not None else (claim,)
            rows |= {DigestRow(key, id_, post.source) for key in keys if key in read}
    return rows


def claim_figures(rows: set[DigestRow], discovery: ClaimCollection) -> dict[str, ClaimFigures]:
    by_claim: dict[str, list[DigestRow]] = {claim: [] for claim in discovery.qrels}
    for row in rows:
        by_claim[row.claim].append(row)
    figures = {}
    for claim, gold in discovery.qrels.items():
        of_claim = by_claim[claim]
        true_rows = sum(row.source in gold for row in of_claim)
        found = len({row.post for row in of_claim} & gold)
        figures[claim] = ClaimFigures(len(of_claim), true_rows, found, len(gold))
    return figures


def measure(draws: Sequence[Read], found: Found | None, discovery: ClaimCollection, seed: int) -> dict[str, Any]:
    """Precision over all rows; recall and F2 as means over claims, F2 with its 95 % interval over claims."""
    figures = [claim_figures(digest_rows(read, found), discovery) for read in draws]
    every = [of_claim for of_draw in figures for of_claim in of_draw.values()]
    f2 = {claim: float(np.mean([of_draw[claim].f2 for of_draw in figures])) for claim in discovery.qrels}
    interval = mean_interval(f2, seed=seed)
    rows, true_rows = (sum(getattr(f, name) for f in every) for name in ("rows", "true_rows"))
    read = sum(len(posts) for of_draw in draws for posts in of_draw.values())
    found_posts = sum(f.found for f in every)
    return {
        "digest_rows_a_draw": round(rows / len(draws), 1),
        "precision": round(true_rows / rows, 4) if rows else None,
        "recall": round(float(np.mean([f.recall for f in every])), 4),
        "f2": round(interval.mean, 4),
        "f2_ci95": [round(interval.low, 4), round(interval.high, 4)],
        "posts_read_a_draw": round(read / len(draws), 1),
        "posts_read_per_true_post": round(read / found_posts, 1) if found_posts else None,
    }


def recall_gains(
    draws: Mapping[str, Sequence[Read]], found: Found, discovery: ClaimCollection, seed: int
) -> dict[str, dict[str, Any]]:
    """What each learned policy adds to the recall of the best plain one that knows as much, with the matcher, and the
    posts that each reads."""
    recalls = {policy: claim_recalls(draws[policy], found, discovery) for pair in COMPARED.items() for policy in pair}
    gains = {}
    for learned, plain in COMPARED.items():
        gain = paired_interval(recalls[learned], recalls[plain], seed=seed)
        reads = [sum(len(posts) for read in draws[row] for posts in read.values()) for row in (learned, plain)]
        gains[f"{learned} over {plain}"] = {
            "recall": round(gain.mean, 4), "ci95": [round(gain.low, 4), round(gain.high, 4)],
            "share_of_its_reads": round(reads[0] / reads[1], 3),
        }  # fmt: skip
    return gains


def claim_recalls(draws: Sequence[Read], found: Found, discovery: ClaimCollection) -> dict[str, float]:
    figures = [claim_figures(digest_rows(read, found), discovery) for read in draws]
    return {claim: float(np.mean([of_draw[claim].recall for of_draw in figures])) for claim in discovery.qrels}


def compare_with_definition(
    platform: SampledPlatform, queries: Queries, discovery: ClaimCollection, arguments: argparse.Namespace
) -> dict[str, float]:
    """Mean F2 with every post read taken: by the platform's definition, and of the mean of many draws."""
    rng = np.random.default_rng(arguments.seed)
    defined, drawn = [], []
    for claim, gold in discovery.qrels.items():
        defined.append(platform.expected(queries[claim], gold).f2)
        reads = [platform.draw(queries[claim], gold, rng) for _ in range(CHECKED_DRAWS)]
        found = np.mean([len({post.id for post in posts} & gold) for posts in reads])
        drawn.append(Worth(float(found), float(np.mean([len(posts) for posts in reads])), len(gold)).f2)
    return {"defined": round(float(np.mean(defined)), 4), "drawn": round(float(np.mean(drawn)), 4)}


def print_table(rows: Mapping[str, Mapping[str, Any]], check: Mapping[str, Mapping[str, float]]) -> None:
    print(f"{'policy, matcher':<58}{'rows':>8}{'precision':>11}{'recall':>8}{'F2':>7}{'read':>9}{'read/true':>11}")
    for name, row in rows.items():
        precision = "–" if row["precision"] is None else f"{row['precision']:.3f}"
        print(
            f"{name:<58}{row['digest_rows_a_draw']:>8}{precision:>11}{row['recall']:>8.3f}{row['f2']:>7.3f}"
            f"{row['posts_read_a_draw']:>9}{row['posts_read_per_true_post'] or '–':>11}"
        )
    for policy, f2 in check.items():
        print(f"{policy}: F2 of the platform alone {f2['defined']:.4f} by definition, {f2['drawn']:.4f} drawn")


if __name__ == "__main__":
    main()
