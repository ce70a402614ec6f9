import numpy as np

from models.backbone import Encoder
from models.ranking.post_words import embed_posts

SIGNED = "They banned #fluorideinwater — News Desk (@news_desk) May 4, 2021"


def test_a_post_has_its_words_and_vectors_with_and_without_its_signature(encoder: Encoder) -> None:
    ((post,),) = embed_posts([SIGNED], encoder.encode, modes=["full"])
    assert post.text == "they banned fluorideinwater news desk fluoride in water"
    whole, said = encoder.encode(
        ["They banned fluorideinwater — News Desk ( news desk )", "They banned fluorideinwater"]
    )
    assert np.abs(post.vector - whole).max() < 1e-5
    assert np.abs(post.statement - said).max() < 1e-5


def test_a_long_post_is_read_in_windows_and_equal_ones_once(encoder: Encoder) -> None:
    long, repeated, short = embed_posts(
        [" ".join(f"word{n}" for n in range(3000)), "a" * 30_000, "short"],
        encoder.encode,
        modes=["full", "lexical", "full"],
    )
    assert len(long) > 20
    assert (len(repeated), len(short)) == (1, 1)
    assert [of_post[0].mode for of_post in (long, repeated, short)] == ["full", "lexical", "full"]


def test_no_posts_need_no_encoder() -> None:
    def refuse(texts):  # type: ignore[no-untyped-def]
        raise AssertionError(texts)

    assert embed_posts([], refuse, modes=[]) == []
