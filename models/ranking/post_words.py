"""A post as it is compared: its words, and its vectors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from models.ranking.windows import split_windows
from models.retrieval.post_text import clean_post, search_words, statement

Encode = Callable[[Sequence[str]], NDArray[np.float32]]
Mode = Literal["full", "lexical", "semantic"]  # what of a post is compared: see `evidence.MODES`


@dataclass(frozen=True, slots=True)
class PostWords:
    """A post, or a window of a long one. `text`: its words. `vector` (dim,) of all of it, `statement` (dim,) of it
    without its signature. `companion` (dim,) of all of it by a second encoder, if there is one for its language.
    `passage`: the window as people read it; empty where it is all of the post."""

    text: str
    vector: NDArray[np.float32]
    statement: NDArray[np.float32]
    mode: Mode = "full"
    passage: str = ""
    companion: NDArray[np.float32] | None = None


def embed_posts(
    posts: Sequence[str], encode: Encode, *, modes: Sequence[Mode], companion: Encode | None = None
) -> list[list[PostWords]]:
    """The windows of each post, one of a short post; all are embedded in one go, equal texts once. The `companion`
    embeds those that are compared in full."""
    windows = [_windows(post) for post in posts]
    vectors = _embedded([text for of_post in windows for _, whole, said in of_post for text in (whole, said)], encode)
    full = [whole for of_post, mode in zip(windows, modes, strict=True) if mode == "full" for _, whole, _ in of_post]
    companions = _embedded(full, companion) if companion else {}
    return [
        [
            PostWords(
                words, vectors[whole], vectors[said], mode, whole if len(of_post) > 1 else "",
                companions.get(whole) if mode == "full" else None,
            )
            for words, whole, said in of_post
        ]
        for of_post, mode in zip(windows, modes, strict=True)
    ]  # fmt: skip


def _embedded(texts: Sequence[str], encode: Encode) -> dict[str, NDArray[np.float32]]:
    once = list(dict.fromkeys(texts))
    return dict(zip(once, encode(once), strict=True)) if once else {}


def _windows(post: str) -> list[tuple[str, str, str]]:
    """Of each window: its words, its text, and that without the signature, which only a short post is searched for."""
    pieces = list(dict.fromkeys(split_windows(clean_post(post))))  # the same one twice says nothing new
    if len(pieces) == 1:
        return [(search_words(post), pieces[0], statement(post))]
    return [(search_words(piece), piece, piece) for piece in pieces]
