"""A post as it is compared: its words, and its vectors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.ranking.windows import split_windows
from models.retrieval.post_text import clean_post, search_words, statement

Encode = Callable[[Sequence[str]], NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class PostWords:
    """A post, or a window of a long one. `text`: its words. `vector` (dim,) of all of it, `statement` (dim,) of it
    without its signature. `lexical`: the encoder does not know the post's language, so that only words count.
    `passage`: the window as people read it; empty where it is all of the post."""

    text: str
    vector: NDArray[np.float32]
    statement: NDArray[np.float32]
    lexical: bool = False
    passage: str = ""


def embed_posts(posts: Sequence[str], encode: Encode, *, lexical: Sequence[bool]) -> list[list[PostWords]]:
    """The windows of each post, one of a short post; all are embedded in one go, equal texts once."""
    windows = [_windows(post) for post in posts]
    texts = list(dict.fromkeys(text for of_post in windows for _, whole, said in of_post for text in (whole, said)))
    vectors = dict(zip(texts, encode(texts), strict=True)) if texts else {}
    return [
        [
            PostWords(words, vectors[whole], vectors[said], only_words, whole if len(of_post) > 1 else "")
            for words, whole, said in of_post
        ]
        for of_post, only_words in zip(windows, lexical, strict=True)
    ]


def _windows(post: str) -> list[tuple[str, str, str]]:
    """Of each window: its words, its text, and that without the signature, which only a short post is searched for."""
    pieces = list(dict.fromkeys(split_windows(clean_post(post))))  # the same one twice says nothing new
    if len(pieces) == 1:
        return [(search_words(post), pieces[0], statement(post))]
    return [(search_words(piece), piece, piece) for piece in pieces]
