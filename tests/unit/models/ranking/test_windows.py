import pytest

from models.ranking.windows import STEP, WIDTH, split_windows


def test_a_short_text_is_its_own_window() -> None:
    assert split_windows("a short post") == ["a short post"]


@pytest.mark.parametrize("words", [200, 201, 1000, 3000])
def test_every_passage_of_a_step_stands_whole_in_some_window(words: int) -> None:
    text = " ".join(f"word{n}" for n in range(words))
    windows = split_windows(text)
    for start in range(0, len(text) - STEP + 20, 97):
        passage = text[start : start + STEP - 20].partition(" ")[2].rpartition(" ")[0]
        assert any(passage in window for window in windows)


def test_windows_are_cut_at_spaces() -> None:
    text = " ".join(["elephant"] * 500)
    assert {word for window in split_windows(text) for word in window.split()} == {"elephant"}


def test_a_word_longer_than_a_window_is_cut_all_the_same() -> None:
    windows = split_windows("x" * 10_000)
    assert max(map(len, windows)) == WIDTH
    assert len(windows) == pytest.approx(10_000 / STEP, abs=1)


def test_the_number_of_windows_grows_in_step_with_the_text() -> None:
    assert len(split_windows("some words " * 20_000)) == pytest.approx(
        10 * len(split_windows("some words " * 2_000)), abs=10
    )
