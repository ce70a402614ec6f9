"""CheckThat!'s train split without what would teach the answers of the others."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from models.evaluation.collections import PostCollection, load_checkthat
from models.retrieval.near_duplicates import bands_of, is_copy

_OTHERS = ("dev", "test2021", "test")  # their posts are looked at, not their labels


@dataclass(frozen=True, slots=True)
class TrainingPosts:
    """`gold`: numbers of each judged post's fact-checks, in the order of the qrels. `left_out`: so many posts were
    near-duplicates of another split's."""

    collection: PostCollection
    gold: list[frozenset[int]]
    left_out: int


def training_posts(data: Path) -> TrainingPosts:
    train = load_checkthat(data, "train")
    others = [data / f"{split}.queries.tsv" for split in _OTHERS]
    known = [
        text
        for path in others
        if path.exists()
        for text in load_checkthat(data, path.name.split(".")[0]).queries.values()
    ]
    copies = _copies({query: train.queries[query] for query in train.qrels}, known)
    kept = replace(train, qrels={query: keys for query, keys in train.qrels.items() if query not in copies})
    return TrainingPosts(kept, gold_numbers(kept), len(copies))


def gold_numbers(collection: PostCollection) -> list[frozenset[int]]:
    """Numbers of the right fact-checks of each judged post."""
    numbers = {fact_check.key: number for number, fact_check in enumerate(collection.fact_checks)}
    return [frozenset(numbers[key] for key in keys) for keys in collection.qrels.values()]


def _copies(posts: dict[str, str], others: Iterable[str]) -> set[str]:
    by_band: dict[int, set[str]] = {}
    for text in others:
        for band in bands_of(text):
            by_band.setdefault(band, set()).add(text)
    near = {query: {text for band in bands_of(post) for text in by_band.get(band, ())} for query, post in posts.items()}
    return {query for query, texts in near.items() if any(is_copy(posts[query], text) for text in texts)}
