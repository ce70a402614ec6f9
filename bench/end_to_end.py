"""The whole chain on real posts: claims → plain queries → a boolean platform of realistic volume → match → digest rows.

    python bench/end_to_end.py --data ../shared/data

The platform holds 100 times the background of the sample and lets 100 posts a claim be read (models/evaluation/
boolean_platform.py); what is read is drawn with a seed. All posts read are matched against all 14,231 fact-checks of
CheckThat! 2022, among them the claims that were searched for. A digest row is a post under a claim with a confidence
of .5 or more. Each part is taken out in turn: another policy, words alone instead of words and encoder, no matcher.
Writes bench/results/end_to_end.json.
"""

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.provenance import provenance, write_result
from domain.fact_check import Claim, FactCheck
from domain.ids import FactCheckId
from domain.query import EndpointKind, Query
from models.backbone import Encoder
from models.evaluation.boolean_platform import ReadPost, SampledPlatform, f_two
from models.evaluation.bootstrap import mean_interval
from models.evaluation.collections import ClaimCollection, load_checkthat, load_discovery
from models.evaluation.vectors import cached_vectors
from models.ranking.calibration import Calibration
from models.ranking.evidence import EvidenceFinder, PostWords
from models.ranking.fact_check_text import embedding_text
from models.ranking.matcher import Matcher, PostText
from models.retrieval.post_text import clean_post
from models.retrieval.word_frequency import WordFrequency
from models.rewriting.plain import rewriter
from models.rewriting.policy import QueryResult

SURE = 0.5
QUERIES = 4  # a claim
POLICIES = ("claim", "keyphrases", "rarest")
FILES = ("checkthat2022/vclaims.jsonl.gz", "discovery/posts.jsonl.gz")

Found = Mapping[str, frozenset[str]]  # post text's id → keys of the fact-checks it was matched to


@dataclass(frozen=True, slots=True)
class DigestRow:
    claim: str
    post: str  # id on the platform; copies have their own
    source: str  # the post of the sample whose text it has


def main() -> None:
    arguments = read_arguments()
    start = time.perf_counter()
    discovery = load_discovery(arguments.data / "discovery", arguments.split)
    facts = load_checkthat(arguments.data / "checkthat2022", "dev").fact_checks
    encoder = Encoder.load()
    platform = SampledPlatform(discovery.posts, scale=100, reads=100)
    queries = {policy: make_queries(discovery, policy, encoder) for policy in POLICIES}
    read = {policy: read_posts(platform, made, discovery, arguments.seed) for policy, made in queries.items()}
    matched = match_sources(discovery, read, facts, encoder, arguments.cache)
    expected = {policy: expected_f2(platform, made, discovery) for policy, made in queries.items()}
    rows = {
        f"{policy}, {matcher}": measure(digest_rows(read[policy], found), read[policy], discovery, arguments.seed)
        for policy in POLICIES
        for matcher, found in matched.items()
    }
    files = [arguments.data / name for name in (*FILES, f"discovery/{arguments.split}.claims.tsv")]
    write_result(
        "end_to_end" if arguments.split == "test2021" else f"end_to_end_{arguments.split}",
        provenance(files, arguments.seed)
        | {
            "split": arguments.split,
            "claims": len(discovery.qrels),
            "expected_f2_without_matcher": expected,
            "rows": rows,
        }
        | {"seconds": round(time.perf_counter() - start, 1)},
    )
    print_table(rows)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--split", default="test2021")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cache", type=Path, help="folder for embeddings between runs")
    return parser.parse_args()


def make_queries(discovery: ClaimCollection, policy: str, encoder: Encoder) -> dict[str, list[Query]]:
    """The first queries that a policy asks for each claim as long as each brings posts."""
    plain = rewriter(policy, kind=EndpointKind.BOOLEAN, statistics=WordFrequency("en"), encode=encoder.encode)
    made: dict[str, list[Query]] = {}
    for claim in discovery.qrels:
        history: tuple[QueryResult, ...] = ()
        asked = Claim(FactCheckId(0), discovery.claims[claim], "en")
        while len(history) < QUERIES and (query := plain.next(asked, history)):
            history += (QueryResult(query, posts_read=25, new_posts=25),)
        made[claim] = [result.query for result in history]
    return made


def read_posts(
    platform: SampledPlatform, queries: Mapping[str, Sequence[Query]], discovery: ClaimCollection, seed: int
) -> dict[str, list[ReadPost]]:
    """What one run of all queries reads, by claim; a post that two queries of a claim bring is there once."""
    rng = np.random.default_rng(seed)
    read = {claim: platform.draw(queries[claim], gold, rng) for claim, gold in discovery.qrels.items()}
    return {claim: list(dict.fromkeys(posts)) for claim, posts in read.items()}


def expected_f2(platform: SampledPlatform, queries: Mapping[str, Sequence[Query]], discovery: ClaimCollection) -> float:
    """What the platform's definition says of the queries alone, with no draw: for comparison with the drawn rows."""
    worths = [platform.expected(queries[claim], gold) for claim, gold in discovery.qrels.items()]
    return round(sum(worth.f2 for worth in worths) / len(worths), 4)


def match_sources(
    discovery: ClaimCollection,
    read: Mapping[str, Mapping[str, Sequence[ReadPost]]],
    facts: Sequence[FactCheck],
    encoder: Encoder,
    cache: Path | None,
) -> dict[str, Found | None]:
    """Every text that was read, matched once by each matcher; None: no matcher, every post read is taken."""
    sources = sorted({post.source for of_policy in read.values() for posts in of_policy.values() for post in posts})
    texts = [discovery.posts[source] for source in sources]
    vectors = cached_vectors([embedding_text(fact.claim, fact.title) for fact in facts], encoder, cache)
    calibration = Calibration.load()
    matcher = Matcher(facts, vectors, encoder, calibration)
    both = [
        frozenset(m.fact_check_key for m in answer.matches if m.confidence >= SURE)
        for answer in matcher.match([PostText(text) for text in texts])
    ]
    return {
        "words and encoder": dict(zip(sources, both, strict=True)),
        "words alone": dict(zip(sources, match_words(texts, facts, vectors, calibration), strict=True)),
        "no matcher": None,
    }


def match_words(
    texts: Sequence[str],
    facts: Sequence[FactCheck],
    vectors: np.ndarray[Any, np.dtype[np.float32]],
    calibration: Calibration,
) -> list[frozenset[str]]:
    finder = EvidenceFinder(facts, vectors)
    nowhere = np.zeros(vectors.shape[1], dtype=np.float32)
    found = []
    for evidence in finder.find([PostWords(clean_post(text), nowhere, lexical=True) for text in texts]):
        sure = calibration.confidence(evidence, lexical=True) >= SURE
        found.append(frozenset(facts[n].key for n in evidence.candidates.numbers[sure]))
    return found


def digest_rows(read: Mapping[str, Sequence[ReadPost]], found: Found | None) -> list[DigestRow]:
    """Posts under the claims they were matched to, whichever claim's search brought them."""
    rows = {
        DigestRow(key, f"{claim}/{post.id}", post.source)
        for claim, posts in read.items()
        for post in posts
        for key in (found[post.source] if found is not None else (claim,))
        if key in read
    }
    return sorted(rows, key=lambda row: (row.claim, row.post))


def measure(
    rows: Sequence[DigestRow], read: Mapping[str, Sequence[ReadPost]], discovery: ClaimCollection, seed: int
) -> dict[str, Any]:
    """Figures of all rows together, and recall as the mean over claims with its 95 % interval."""
    right = [row for row in rows if row.source in discovery.qrels[row.claim]]
    found = {(row.claim, row.source) for row in right}
    by_claim = {
        claim: sum((claim, post) in found for post in gold) / len(gold) for claim, gold in discovery.qrels.items()
    }
    recall = mean_interval(by_claim, seed=seed)
    posts_read = sum(map(len, read.values()))
    precision = len(right) / len(rows) if rows else 0.0
    return {
        "rows": len(rows),
        "precision": round(precision, 4),
        "recall": round(recall.mean, 4),
        "recall_ci95": [round(recall.low, 4), round(recall.high, 4)],
        "f2": round(f_two(precision, recall.mean), 4),
        "posts_read": posts_read,
        "posts_read_per_true_post": round(posts_read / len(found), 1) if found else None,
    }


def print_table(rows: Mapping[str, Mapping[str, Any]]) -> None:
    print(f"{'policy, matcher':<32}{'rows':>7}{'precision':>11}{'recall':>8}{'F2':>7}{'read':>8}{'read/true':>11}")
    for name, row in rows.items():
        print(
            f"{name:<32}{row['rows']:>7}{row['precision']:>11.3f}{row['recall']:>8.3f}{row['f2']:>7.3f}"
            f"{row['posts_read']:>8}{row['posts_read_per_true_post'] or '–':>11}"
        )


if __name__ == "__main__":
    main()
