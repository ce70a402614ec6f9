from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from domain.errors import BadArtifact
from models.artifact import write_artifact
from models.rewriting.learned.post_statistics import FILE, PostStatistics

POSTS = [
    "Vaccines kill, vaccines kill!",
    "a vaccine against malaria",
    "Covid-19 is no flu",
    "covid is over",
    "",
]


@pytest.fixture
def statistics() -> PostStatistics:
    return PostStatistics.of(POSTS)


def damaged(folder: Path, content: bytes, card: dict[str, object]) -> str:
    write_artifact(folder, FILE, content, card)
    with pytest.raises(BadArtifact) as refused:
        PostStatistics.load(folder)
    assert "\n" not in str(refused.value)
    assert "claimwatch retrain rewriter" in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize(
    ("word", "posts"),
    [("vaccine", 2), ("VACCINES", 2), ("measles", 0), ("kill", 1), ("killing", 1), ("covid", 2), ("19", 1)],
)
def test_it_counts_the_posts_that_hold_a_words_stem_each_once(
    statistics: PostStatistics, word: str, posts: int
) -> None:
    assert statistics.document_frequency(word) == posts


def test_a_word_of_several_stems_is_as_common_as_the_rarest(statistics: PostStatistics) -> None:
    assert statistics.document_frequency("covid-19") == 1


@pytest.mark.parametrize("word", ["", "🚰", "--"])
def test_what_has_no_stem_occurs_nowhere(statistics: PostStatistics, word: str) -> None:
    assert statistics.document_frequency(word) == 0


def test_its_size_is_that_of_the_sample(statistics: PostStatistics) -> None:
    assert len(statistics) == len(POSTS)


def test_saved_counts_load_as_they_were(statistics: PostStatistics, tmp_path: Path) -> None:
    card = statistics.save({"name": "sample"}, tmp_path)
    assert card["posts"] == len(POSTS)
    loaded = PostStatistics.load(tmp_path)
    assert len(loaded) == len(statistics)
    for word in ("vaccine", "covid", "malaria", "never-seen"):
        assert loaded.document_frequency(word) == statistics.document_frequency(word)


def test_the_packaged_ones_know_common_words_from_rare_ones() -> None:
    packaged = PostStatistics.load()
    common, rare = (packaged.document_frequency(word) for word in ("people", "vaccine"))
    assert len(packaged) > common > rare > 0


def test_counts_that_were_changed_are_refused_with_both_hashes(statistics: PostStatistics, tmp_path: Path) -> None:
    expected = statistics.save({}, tmp_path)["sha256"]
    (tmp_path / FILE).write_bytes(b"other")
    with pytest.raises(BadArtifact, match=f"sha256 [0-9a-f]{{64}}, expected {expected}"):
        PostStatistics.load(tmp_path)


def test_missing_counts_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadArtifact, match=r"FileNotFoundError.*retrain rewriter"):
        PostStatistics.load(tmp_path)


def test_counts_of_another_size_are_refused(tmp_path: Path) -> None:
    assert "buckets" in damaged(tmp_path, save({"counts": np.zeros(4, np.uint16)}), {"posts": 3})


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    damaged(tmp_path / "other", save({"words": np.zeros(4, np.uint16)}), {"posts": 3})
    damaged(tmp_path / "text", b"no tensors at all", {"posts": 3})


@pytest.mark.parametrize("card", [{}, {"posts": 0}, {"posts": "many"}])
def test_a_card_that_does_not_say_how_many_posts_is_refused(
    statistics: PostStatistics, tmp_path: Path, card: dict[str, object]
) -> None:
    statistics.save({}, tmp_path)
    content = (tmp_path / FILE).read_bytes()
    assert "of how many posts" in damaged(tmp_path, content, card)
