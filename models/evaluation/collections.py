"""The labelled collections that matching and discovery are measured on, read from a data folder, never copied."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from domain.fact_check import FactCheck, Verdict
from domain.ids import FactCheckId
from models.evaluation import data_files
from models.evaluation.qrels import read_qrels


@dataclass(frozen=True, slots=True)
class PostCollection:
    """Posts to match: query id → text. A fact-check's `key` is its id in the qrels; a blind split has no qrels."""

    queries: dict[str, str]
    qrels: dict[str, set[str]]
    fact_checks: tuple[FactCheck, ...]


@dataclass(frozen=True, slots=True)
class ClaimCollection:
    """Claims to find posts for: claim id → text, claim id → ids of its posts, post id → text."""

    claims: dict[str, str]
    qrels: dict[str, set[str]]
    posts: dict[str, str]


def load_checkthat(folder: Path, split: str) -> PostCollection:
    """CheckThat! 2022 task 2A, English: `split` is train, dev, test2021 or test (blind)."""
    qrels = folder / f"{split}.qrels.tsv"
    return PostCollection(
        queries=data_files.read_texts(folder / f"{split}.queries.tsv"),
        qrels=read_qrels(qrels) if qrels.exists() else {},
        fact_checks=tuple(
            _checkthat_fact_check(number, record)
            for number, record in enumerate(data_files.read_jsonl(folder / "vclaims.jsonl.gz"), 1)
        ),
    )


def load_discovery(folder: Path, split: str) -> ClaimCollection:
    """Claim → posts: `split` is train, dev or test2021."""
    return ClaimCollection(
        claims=data_files.read_texts(folder / f"{split}.claims.tsv"),
        qrels=read_qrels(data_files.existing(folder / f"{split}.qrels.tsv")),
        posts={str(row["id"]): str(row["text"]) for row in data_files.read_jsonl(folder / "posts.jsonl.gz")},
    )


def _checkthat_fact_check(number: int, record: dict[str, Any]) -> FactCheck:
    return FactCheck(
        id=FactCheckId(number),
        key=record["vclaim_id"],
        claim=record["vclaim"],
        title=record["title"],
        body=record["subtitle"],
        url=None,
        publisher="",
        language="en",
        verdict=Verdict.UNKNOWN,
        rating_given="",
        published_at=_day(record.get("date", "")),
    )


def _day(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, "%d %B %Y").replace(tzinfo=UTC)
    except ValueError:
        return None
