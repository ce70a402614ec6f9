"""In how many posts a word occurs, counted in a sample: a language at large does not tell what people post about."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

import models
from domain.errors import BadArtifact
from models.artifact import read_artifact, write_artifact
from models.evaluation.claim_sets import CLAIM_SETS, load_claims
from models.retrieval.analyser import ENDPOINT

NAME, FILE = "post_statistics", "counts.safetensors"
_BUCKETS = 1 << 18  # of stems, by hash: a seventh of 40,000 stems share theirs
_ADVICE = "run `claimwatch retrain rewriter`"


class PostStatistics:
    """Implements TermStatistics; a word of several stems is as common as its rarest one."""

    def __init__(self, counts: NDArray[np.int32], posts: int) -> None:
        self._counts, self._posts = counts, posts

    @classmethod
    @cache
    def load(cls, folder: Path | None = None) -> "PostStatistics":
        """None: the packaged ones. Raises BadArtifact if they are missing or damaged."""
        from safetensors import SafetensorError
        from safetensors.numpy import load

        chosen = folder or _folder()
        card, content = read_artifact(chosen, FILE, advice=_ADVICE)
        try:
            counts = load(content).get("counts")
        except SafetensorError as exc:
            raise BadArtifact(f"{chosen} holds no counts: {exc}; {_ADVICE}") from exc
        if counts is None or counts.shape != (_BUCKETS,):
            raise BadArtifact(f"{chosen} holds no counts of {_BUCKETS} buckets: {_ADVICE}")
        if not isinstance(card.get("posts"), int) or card["posts"] < 1:
            raise BadArtifact(f"{chosen}/card.json does not say of how many posts: {_ADVICE}")
        return cls(counts.astype(np.int32), card["posts"])

    @classmethod
    def of(cls, posts: Iterable[str]) -> "PostStatistics":
        counts, size = np.zeros(_BUCKETS, dtype=np.int32), 0
        for post in posts:
            counts[list({_bucket(stem) for stem in ENDPOINT(post)})] += 1
            size += 1
        return cls(counts, size)

    def document_frequency(self, word: str) -> int:
        return min((int(self._counts[_bucket(stem)]) for stem in ENDPOINT(word)), default=0)

    def __len__(self) -> int:
        return self._posts

    def save(self, card: dict[str, Any], out: Path | None = None) -> dict[str, Any]:
        """Write counts and card (None: where the packaged ones lie); the card."""
        from safetensors.numpy import save

        return write_artifact(
            out or _folder(), FILE, save({"counts": self._counts.astype(np.uint16)}), card | {"posts": self._posts}
        )


def count_posts(data: Path, out: Path | None = None) -> PostStatistics:
    """Counts the posts that discovery's training claims are searched for in, less those judged for its other splits."""
    others = [load_claims(data, "discovery", split) for split in CLAIM_SETS["discovery"].held_out]
    held_out = {post for other in others for posts in other.qrels.values() for post in posts}
    posts = load_claims(data, "discovery", "train").posts
    statistics = PostStatistics.of(text for id_, text in posts.items() if id_ not in held_out)
    card = {
        "name": NAME,
        "data": "posts of discovery train, less those judged for dev and test2021",
        "left_out": len(held_out),
        "command": "claimwatch retrain rewriter --data DATA",
    }
    statistics.save(card, out)
    return statistics


def _folder() -> Path:
    return Path(models.__file__).parent / "weights" / NAME


def _bucket(stem: str) -> int:
    return crc32(stem.encode()) % _BUCKETS
