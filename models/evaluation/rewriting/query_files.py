"""The queries of one row of a table, one line a claim, from which anybody can compute the row again.

ranked, dense   {"claim": id, "queries": [text]}                                words of more weight are repeated
boolean         {"claim": id, "queries": [[["vaccine", "vaccines"], ["chip"]], …]}  each an AND of OR groups
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from domain.errors import BadInput
from domain.query import EndpointKind, Query
from models.evaluation.data_files import existing

REPEATS = 20  # of a word of weight 1, beside words of other weights: weights are multiples of a twentieth

Written = str | Sequence[Sequence[str]]  # a query as it stands in a file
Queries = Mapping[str, Sequence[Written]]  # by claim


@dataclass(frozen=True, slots=True)
class QueryFile:
    """The files of all rows for one split and one kind of endpoint: `<data>.<split>.<endpoint>.<row>.jsonl`."""

    data: str
    split: str
    kind: EndpointKind

    def path(self, folder: Path, row: str) -> Path:
        return folder / f"{self.data}.{self.split}.{self.kind}.{row}.jsonl"

    def rows(self, folder: Path) -> list[str]:
        """The rows that there are files of, by name."""
        first, last = self.path(folder, "*").name.split("*")
        names = sorted(path.name for path in folder.glob(f"{first}*{last}"))
        return [name.removeprefix(first).removesuffix(last) for name in names]


def query_text(query: Query) -> str:
    """The text of a ranked or dense query. If weights differ from 1, each word stands there twenty times its
    weight, rounded: BM25 is linear in how often a term stands in the query."""
    terms = [group[0] for group in query.groups]
    if all(term.weight == 1 for term in terms):
        return query.text
    return " ".join(term.text for term in terms for _ in range(round(REPEATS * term.weight)))


def query_groups(query: Query) -> list[list[str]]:
    """The OR groups of a boolean query."""
    return [[term.text for term in group] for group in query.groups]


def written(queries: Mapping[str, Sequence[Query]]) -> dict[str, list[Written]]:
    """Each claim's queries as they stand in a file."""
    return {claim: [_written(query) for query in asked] for claim, asked in queries.items()}


def write_queries(path: Path, queries: Queries) -> None:
    """Whole or not at all, since others may be reading the folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    with partial.open("w", encoding="utf-8") as file:
        for claim, asked in queries.items():
            file.write(json.dumps({"claim": claim, "queries": asked}, ensure_ascii=False) + "\n")
    os.replace(partial, path)


def read_queries(path: Path) -> dict[str, list[Written]]:
    """Raises BadInput for a line that does not hold a claim and its queries, and for a claim that has two lines."""
    queries: dict[str, list[Written]] = {}
    with existing(path).open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                row = json.loads(line)
                claim, asked = str(row["claim"]), [_read(query) for query in row["queries"]]
            except (ValueError, KeyError, TypeError) as error:
                raise BadInput(f"{path}, row {number}: expected a claim and its queries") from error
            if claim in queries:
                raise BadInput(f"{path}, row {number}: claim {claim} has a line already")
            queries[claim] = asked
    return queries


def _written(query: Query) -> Written:
    return query_groups(query) if query.kind is EndpointKind.BOOLEAN else query_text(query)


def _read(query: str | list[str | list[str]]) -> Written:
    """A group of one word may be written as the word alone."""
    return query if isinstance(query, str) else [[group] if isinstance(group, str) else group for group in query]
