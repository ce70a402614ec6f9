import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.retrieval.segmentation import LEAST, MOST, split_run


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ("stopthesteal", ("stop", "the", "steal")),
        ("washingtonpost", ("washington", "post")),
        ("STAYINTHEFIGHT", ("STAY", "IN", "THE", "FIGHT")),
        ("prayforamerica", ("pray", "for", "america")),
        ("vaccination", ("vaccination",)),
        ("coronavirus", ("coronavirus",)),
    ],
)
def test_words_run_together_are_taken_apart_and_a_word_is_left_whole(run: str, words: tuple[str, ...]) -> None:
    assert split_run(run) == words


@given(st.from_regex(r"[A-Za-z]{1,45}", fullmatch=True))
def test_no_letter_is_lost_or_changed(run: str) -> None:
    assert "".join(split_run(run)) == run


@pytest.mark.parametrize("run", ["a" * (LEAST - 1), "a" * (MOST + 1), "стопвакцина", "covid19now", ""])
def test_what_is_too_short_too_long_or_no_run_of_ascii_letters_is_left_whole(run: str) -> None:
    assert split_run(run) == (run,)


def test_thirty_thousand_letters_are_answered_at_once() -> None:
    start = time.process_time()
    assert split_run("a" * 30_000) == ("a" * 30_000,)
    assert time.process_time() - start < 0.1
