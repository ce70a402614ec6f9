"""CheckThat!'s train split without what would teach the answers of the others."""

from dataclasses import dataclass, replace
from pathlib import Path

from models.evaluation.collections import PostCollection, load_checkthat
from models.retrieval.near_duplicates import copies_among

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
    copies = copies_among({query: train.queries[query] for query in train.qrels}, known)
    kept = replace(train, qrels={query: keys for query, keys in train.qrels.items() if query not in copies})
    return TrainingPosts(kept, gold_numbers(kept), len(copies))


def gold_numbers(collection: PostCollection) -> list[frozenset[int]]:
    """Numbers of the right fact-checks of each judged post."""
    numbers = {fact_check.key: number for number, fact_check in enumerate(collection.fact_checks)}
    return [frozenset(numbers[key] for key in keys) for keys in collection.qrels.values()]
