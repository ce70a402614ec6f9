"""The labelled collections that matching and discovery are measured on, read from a data folder, never copied."""

import csv
import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from domain.errors import BadInput
from domain.fact_check import FactCheck, Verdict
from domain.ids import FactCheckId
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
        queries=_read_texts(_existing(folder / f"{split}.queries.tsv")),
        qrels=read_qrels(qrels) if qrels.exists() else {},
        fact_checks=tuple(
            _checkthat_fact_check(number, record)
            for number, record in enumerate(_read_jsonl(_existing(folder / "vclaims.jsonl.gz")), 1)
        ),
    )


def load_discovery(folder: Path, split: str) -> ClaimCollection:
    """Claim → posts: `split` is train, dev or test2021."""
    return ClaimCollection(
        claims=_read_texts(_existing(folder / f"{split}.claims.tsv")),
        qrels=read_qrels(_existing(folder / f"{split}.qrels.tsv")),
        posts={str(row["id"]): str(row["text"]) for row in _read_jsonl(_existing(folder / "posts.jsonl.gz"))},
    )


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise BadInput(f"{path} is not there: give the folder that holds it with --data or CLAIMWATCH_DATA")
    return path


def _read_texts(path: Path) -> dict[str, str]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t"))
    for number, row in enumerate(rows, 1):
        if len(row) != 2:
            raise BadInput(f"{path}, row {number}: expected an id, a tab and a text")
    return {row[0]: row[1] for row in rows}


def _read_jsonl(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for row, line in enumerate(file, 1):
            try:
                yield json.loads(line)
            except json.JSONDecodeError as error:
                raise BadInput(f"{path}, row {row}: no valid JSON ({error.msg})") from error


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
