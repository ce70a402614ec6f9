"""Run files in TREC form: what a ranking answered, as ids only, so that anyone can measure it again."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from domain.errors import BadInput
from domain.search_index import Hit

Run = Mapping[str, Sequence[Hit]]  # query id → hits, best first


def ranked(scores: Iterable[tuple[str, float]]) -> list[Hit]:
    """Hits best first, equal scores by id, so that a ranking is the same on every machine."""
    return [Hit(id, score) for id, score in sorted(scores, key=lambda pair: (-pair[1], pair[0]))]


def write_run(path: Path, run: Run, *, name: str) -> None:
    """One line a hit: `query Q0 document rank score name`. The file appears whole or not at all."""
    partial = path.with_name(path.name + ".partial")
    path.parent.mkdir(parents=True, exist_ok=True)
    with partial.open("w", encoding="utf-8") as file:
        for query, hits in run.items():
            for rank, hit in enumerate(hits, 1):
                fields = (query, "Q0", hit.id, str(rank), repr(float(hit.score)), name)
                file.write(" ".join(_word(field) for field in fields) + "\n")
    os.replace(partial, path)


def read_run(path: Path) -> dict[str, list[Hit]]:
    """query id → hits, ordered by the rank column's own rule: score, then id."""
    run: dict[str, list[tuple[str, float]]] = {}
    with path.open(encoding="utf-8") as file:
        for row, line in enumerate(file, 1):
            fields = line.split()
            if len(fields) != 6:
                raise BadInput(f"{path}, line {row}: a run line has 6 columns, this one has {len(fields)}")
            try:
                score = float(fields[4])
            except ValueError:
                raise BadInput(f"{path}, line {row}: the score {fields[4]!r} is no number") from None
            run.setdefault(fields[0], []).append((fields[2], score))
    return {query: ranked(hits) for query, hits in run.items()}


def _word(field: str) -> str:
    if not field or any(c.isspace() for c in field):
        raise BadInput(f"{field!r} cannot stand in a run file: ids and names are words without spaces")
    return field
