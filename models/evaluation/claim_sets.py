"""The sets of claims that rewriting is explored, trained and measured on, by name."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from domain.errors import BadInput
from models.evaluation.collections import ClaimCollection, load_discovery
from models.evaluation.evidence_collections import load_discovery_train, load_fever, load_fm2


@dataclass(frozen=True, slots=True)
class ClaimSet:
    """`load(data, split)`; `splits` begin with the one to train on and end with the one to test on."""

    splits: tuple[str, ...]
    load: Callable[[Path, str], ClaimCollection]

    @property
    def held_out(self) -> tuple[str, ...]:
        """The splits that nothing may be learned from."""
        return self.splits[1:]


def _load_discovery(data: Path, split: str) -> ClaimCollection:
    return load_discovery_train(data) if split == "train" else load_discovery(data / "discovery", split)


CLAIM_SETS: Mapping[str, ClaimSet] = {
    "fever": ClaimSet(("paper_dev", "paper_test"), load_fever),
    "fm2": ClaimSet(("dev", "test"), load_fm2),
    "discovery": ClaimSet(("train", "dev", "test2021"), _load_discovery),
}


def load_claims(data: Path, name: str, split: str) -> ClaimCollection:
    """Raises BadInput for a set or split that there is not."""
    if name not in CLAIM_SETS:
        raise BadInput(f"there is no claim set {name!r}: choose one of {', '.join(CLAIM_SETS)}")
    chosen = CLAIM_SETS[name]
    if split not in chosen.splits:
        raise BadInput(f"{name} has no split {split!r}: choose one of {', '.join(chosen.splits)}")
    return chosen.load(data, split)


def content_hash(collection: ClaimCollection) -> str:
    """sha256 of all that a search over the collection depends on."""
    hashed = hashlib.sha256()
    for part in (collection.claims, {c: " ".join(sorted(p)) for c, p in collection.qrels.items()}, collection.posts):
        for key in sorted(part):
            hashed.update(f"{key}\x00{part[key]}\x01".encode("utf-8", "surrogatepass"))
        hashed.update(b"\x02")
    return hashed.hexdigest()
