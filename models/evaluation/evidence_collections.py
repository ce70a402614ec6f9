"""Claims to find evidence for, and posts less those that should have been judged: what rewriting is learned on.

The evidence of FEVER, FoolMeTwice, COVID-Fact and FEVEROUS-S lies in one pool, each text once a set, that claims of
FEVER and of FoolMeTwice are searched for in. `data` is the folder that holds the folders of all sets.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from models.evaluation import data_files
from models.evaluation.collections import ClaimCollection, load_discovery
from models.evaluation.qrels import read_qrels

_WORD = re.compile(r"[a-z0-9]+")
_FM2_SPLITS = ("dev", "test")
_POST_SPLITS = ("train", "dev", "test")  # of FactCheckTweet


def load_fever(data: Path, split: str) -> ClaimCollection:
    """Claims with evidence, each with its one passage, over the pool: `split` is paper_dev or paper_test."""
    posts = load_pooled(data)
    passages = {text: id_ for id_, text in _fever_passages(data).items()}
    rows = data_files.read_jsonl(data / "fever" / "fever_shared_dev_with_evidence_text.jsonl.gz")
    kept = [row for row in rows if row["split"] == split and row.get("evidence_text")]
    return ClaimCollection(
        claims={str(row["id"]): row["claim"] for row in kept},
        qrels={str(row["id"]): {passages[row["evidence_text"]]} for row in kept},
        posts=posts,
    )


def load_fm2(data: Path, split: str) -> ClaimCollection:
    """FoolMeTwice's claims and the sentences of all its claims, gold or not: `split` is dev or test."""
    posts = _fm2_sentences(data)
    sentences = {text: id_ for id_, text in posts.items()}
    rows = list(data_files.read_jsonl(_fm2_file(data, split)))
    return ClaimCollection(
        claims={row["id"]: row["text"] for row in rows},
        qrels={row["id"]: {sentences[gold["text"]] for gold in row["gold_evidence"]} for row in rows},
        posts=posts,
    )


def load_pooled(data: Path) -> dict[str, str]:
    """The evidence of all four sets, id → text."""
    covid = data_files.read_jsonl(data / "covid_fact" / "COVIDFACT_dataset.jsonl.gz")
    feverous = data_files.read_json(data / "feverous_s" / "dev.json.gz")
    return {
        **_fever_passages(data),
        **_fm2_sentences(data),
        **_numbered("covid", (text for row in covid for text in row["evidence"])),
        **_numbered("feverous", (line for row in feverous for line in row["evidence"].split("\n"))),
    }


def load_discovery_train(data: Path) -> ClaimCollection:
    """Discovery's training claims, less the posts that are a claim's but are not judged to be.

    A claim's fact-check often stands in FactCheckTweet too, whose posts are distractors in discovery; the two articles
    have one title.
    """
    collection = load_discovery(data / "discovery", "train")
    unjudged = _posts_by_title(data)
    titles = data_files.read_jsonl(data / "checkthat2022" / "vclaims.jsonl.gz")
    of_claims = {_words(row["title"]) for row in titles if row["vclaim_id"] in collection.claims}
    dropped = {post for title in of_claims for post in unjudged.get(title, ())}
    judged = {post for posts in collection.qrels.values() for post in posts}
    kept = {id_: text for id_, text in collection.posts.items() if id_ not in dropped - judged}
    return replace(collection, posts=kept)


def _fever_passages(data: Path) -> dict[str, str]:
    rows = data_files.read_jsonl(data / "fever" / "corpus_evidence_passages.jsonl.gz")
    return {f"fever:{row['_id']}": row["text"] for row in rows}


def _fm2_sentences(data: Path) -> dict[str, str]:
    rows = [row for split in _FM2_SPLITS for row in data_files.read_jsonl(_fm2_file(data, split))]
    return _numbered("fm2", (text for row in rows for text in _fm2_texts(row)))


def _fm2_texts(row: Mapping[str, Any]) -> list[str]:
    return [sentence["text"] for sentence in (*row["gold_evidence"], *row["retrieved_evidence"])]


def _fm2_file(data: Path, split: str) -> Path:
    return data / "fool_me_twice" / f"{split}.jsonl.gz"


def _numbered(name: str, texts: Iterable[str]) -> dict[str, str]:
    """Each text once, numbered in the order of first mention."""
    return {f"{name}:{number}": text for number, text in enumerate(dict.fromkeys(texts))}


def _posts_by_title(data: Path) -> dict[str, set[str]]:
    """The words of an article's title → posts of FactCheckTweet that it checks, under their ids in discovery."""
    folder = data / "factchecktweet"
    titles = {row["vclaim_id"]: _words(row["title"]) for row in data_files.read_jsonl(folder / "articles.jsonl.gz")}
    posts: defaultdict[str, set[str]] = defaultdict(set)
    for split in _POST_SPLITS:
        for post, articles in read_qrels(data_files.existing(folder / f"{split}.qrels.tsv")).items():
            for article in articles:
                posts[titles[article]].add(f"fct-{split}:{post}")
    return posts


def _words(title: str) -> str:
    """Titles are set with other quotes and dashes in the two sets: 71 are equal to the letter, 117 by their words."""
    return " ".join(_WORD.findall(title.lower()))
