"""What an exploration found, in parquet: a pair of files for each part of the claims, written whole or not at all.

visits     one row a state that was taken up: what it is worth and what each of its legal edits is worth
sequences  one row a step of the best ways from a claim; step 0 is the claim itself, with action -1
subsets    of boolean endpoints: the best subsets of the claim's words, and as many of the others at random
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from domain.errors import BadInput
from models.rewriting.exploration.breadth_first import Exploration, State, Visit

if TYPE_CHECKING:
    import pyarrow

TABLES = ("visits", "subsets", "sequences")  # in the order in which they are written: the last one ends a part


@dataclass
class Part:
    """Rows of one part of the claims. `metrics` name what a worth is made of."""

    metrics: tuple[str, ...]
    rows: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: {name: [] for name in TABLES})

    def add(self, claim: str, exploration: "Exploration[Any]") -> None:
        self.rows["visits"] += [self._visit(claim, visit) for visit in exploration.visits]
        for number, end in enumerate(exploration.sequences):
            self.rows["sequences"] += [self._step(claim, number, visit) for visit in end.path()]

    def add_subsets(self, claim: str, words: Sequence[str], subsets: Sequence[int], f2: Sequence[float]) -> None:
        """`subsets` are bits of the words: bit i is words[i]."""
        self.rows["subsets"].append({"claim": claim, "words": list(words), "subsets": subsets, "f2": f2})

    def _visit(self, claim: str, visit: "Visit[State]") -> dict[str, Any]:
        children = visit.children
        worths = children.worths.tolist() if children is not None else []
        return {
            "claim": claim, "depth": visit.depth, "text": visit.state.key,
            "actions": list(children.actions) if children is not None else [],
            **{name: float(visit.worth[i]) for i, name in enumerate(self.metrics)},
            **{f"{name} of actions": [worth[i] for worth in worths] for i, name in enumerate(self.metrics)},
        }  # fmt: skip

    def _step(self, claim: str, number: int, visit: "Visit[State]") -> dict[str, Any]:
        return {
            "claim": claim, "sequence": number, "step": visit.depth, "action": (-1, *visit.actions)[-1],
            "text": visit.state.key,
            **{name: float(visit.worth[i]) for i, name in enumerate(self.metrics)},
        }  # fmt: skip

    def write(self, folder: Path, number: int) -> None:
        parquet = _parquet()
        for name in TABLES:
            if name != "subsets" or self.rows[name]:
                path = _path(folder, name, number)
                partial = path.with_suffix(".partial")
                try:
                    parquet.write_table(_table(name, self.metrics, self.rows[name]), partial, compression="zstd")
                    os.replace(partial, path)
                except OSError as exc:
                    raise BadInput(f"{path} cannot be written ({exc}): make room there, and explore again") from exc


def is_written(folder: Path, number: int, *, with_subsets: bool = False) -> bool:
    """Whether a part is whole. One of which a damaged file was deleted is not."""
    return all(_path(folder, name, number).exists() for name in TABLES if with_subsets or name != "subsets")


def read(folder: Path, table: str, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
    """The rows of a table, part by part, of the parts that are whole. Raises BadInput for a file that is damaged."""
    import pyarrow

    parquet = _parquet()
    for path in sorted(folder.glob(f"{table}-*.parquet")):
        if not all((folder / path.name.replace(table, name)).exists() for name in ("visits", "sequences")):
            continue
        try:
            found = parquet.read_table(path, columns=list(columns) if columns else None)
        except (pyarrow.ArrowInvalid, OSError) as exc:
            reason = str(exc).partition("\n")[0]  # a column that is not there is followed by all that are
            raise BadInput(f"{path} cannot be read ({reason}): delete it and explore again") from exc
        yield from found.to_pylist()


def _path(folder: Path, table: str, number: int) -> Path:
    return folder / f"{table}-{number:05}.parquet"


def _table(name: str, metrics: Iterable[str], rows: list[dict[str, Any]]) -> "pyarrow.Table":
    import pyarrow as pa

    worth, worths = pa.float32(), pa.list_(pa.float32())
    columns = {
        "visits": {
            "claim": pa.string(), "depth": pa.int8(), "text": pa.string(), "actions": pa.list_(pa.int16()),
            **{metric: worth for metric in metrics}, **{f"{metric} of actions": worths for metric in metrics},
        },
        "sequences": {
            "claim": pa.string(), "sequence": pa.int32(), "step": pa.int8(), "action": pa.int16(), "text": pa.string(),
            **{metric: worth for metric in metrics},
        },
        "subsets": {
            "claim": pa.string(), "words": pa.list_(pa.string()), "subsets": pa.list_(pa.uint32()), "f2": worths,
        },
    }  # fmt: skip
    return pa.Table.from_pylist(rows, schema=pa.schema(columns[name]))


def _parquet() -> Any:
    try:
        from pyarrow import parquet
    except ImportError as exc:
        raise BadInput("exploring needs pyarrow: pip install 'claimwatch[training]'") from exc
    return parquet
