"""Relevance judgements: which documents answer a query."""

from collections.abc import Mapping, Set
from pathlib import Path

from domain.errors import BadInput

Qrels = Mapping[str, Set[str]]  # query id → relevant document ids


def read_qrels(path: Path) -> dict[str, set[str]]:
    """Reads `query 0 document relevance`; a relevance of 0 or less is no entry."""
    qrels: dict[str, set[str]] = {}
    with path.open(encoding="utf-8") as file:
        for row, line in enumerate(file, 1):
            fields = line.split()
            if not fields:
                continue
            if len(fields) != 4 or not fields[3].lstrip("-").isdigit():
                raise BadInput(f"{path}, line {row}: expected `query 0 document relevance`")
            if int(fields[3]) > 0:
                qrels.setdefault(fields[0], set()).add(fields[2])
    return qrels
