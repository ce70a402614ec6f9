import pickle
from collections import Counter
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.query import Arm, Edit, EndpointKind
from models.retrieval.analyser import BOOLEAN, ENDPOINT, ENGLISH
from models.rewriting.edits import ACTIONS, ADD_SYNONYM, POSITIONS, PRESENT, REMOVE, SWAP, EditState, TextEdits
from models.rewriting.tagging import Token, tag

CLAIM = "The secret vaccines in the water killed 500 people in Paris, and nobody did not care."
ANALYSERS = (ENGLISH, BOOLEAN, ENDPOINT)


@cache
def tokens_of(text: str) -> tuple[Token, ...]:
    return tag([text])[0]


@cache
def edits(*, guarded: bool = False) -> TextEdits:
    return TextEdits(guarded=guarded)


def start(text: str, *, guarded: bool = False) -> EditState:
    return edits(guarded=guarded).start(tokens_of(text))


def position(state: EditState, word: str) -> int:
    return [state.words[at].text for at in state.positions].index(word)


def after(text: str, *steps: tuple[int, str]) -> str:
    state = start(text)
    for kind, word in steps:
        state = edits().apply(state, kind * POSITIONS + position(state, word))
    return state.text


def kinds_of(state: EditState, word: str, *, guarded: bool = False) -> list[int]:
    legal = edits(guarded=guarded).legal(state)
    return [kind for kind in range(4) if legal[kind * POSITIONS + position(state, word)]]


@pytest.mark.parametrize(
    ("word", "kinds"),
    [
        ("killed", [SWAP, ADD_SYNONYM, PRESENT, REMOVE]),
        ("vaccines", [SWAP, ADD_SYNONYM, REMOVE]),
        ("secret", [SWAP, ADD_SYNONYM, REMOVE]),
        ("Paris", [SWAP, ADD_SYNONYM, REMOVE]),
        ("500", [REMOVE]),
        ("The", [REMOVE]),
        ("not", [REMOVE]),
        ("nobody", [REMOVE]),
        (",", [REMOVE]),
    ],
)
def test_the_part_of_speech_decides_which_edits_are_legal(word: str, kinds: list[int]) -> None:
    assert kinds_of(start(CLAIM), word) == kinds


@pytest.mark.parametrize(
    ("word", "kinds"),
    [
        ("killed", [SWAP, ADD_SYNONYM, PRESENT, REMOVE]),
        ("Paris", [REMOVE]),
        ("500", [REMOVE]),
        ("not", []),
        ("nobody", []),
    ],
)
def test_the_guard_keeps_negations_and_only_removes_names_and_numbers(word: str, kinds: list[int]) -> None:
    assert kinds_of(start(CLAIM, guarded=True), word, guarded=True) == kinds


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ("Nobody died of the virus", "Nobody"),
        ("NOBODY died of the virus", "NOBODY"),
        ("The virus killed no one", "no one"),
        ("No one died of the virus", "No one"),
        ("None of the vaccines worked", "None"),
        ("There is nothing in the vaccine", "nothing"),
        ("Neither the mask nor the vaccine works", "Neither nor"),
        ("The virus was found nowhere", "nowhere"),
    ],
)
def test_the_guard_keeps_every_word_that_denies(claim: str, words: str) -> None:
    state = start(claim, guarded=True)
    for word in words.split():
        assert kinds_of(state, word, guarded=True) == []


def test_one_of_many_is_no_negation() -> None:
    assert kinds_of(start("One doctor said no", guarded=True), "One", guarded=True) == [REMOVE]


@pytest.mark.parametrize("claim", ["It was a Facebook post", "The Chinese virus", "The covid19 virus"])
def test_the_guard_sees_names_and_numbers_that_are_tagged_as_other_words(claim: str) -> None:
    state = start(claim, guarded=True)
    for at, word in enumerate(state.words):
        if at and (word.text[0].isupper() or any(map(str.isdigit, word.text))):
            assert kinds_of(state, word.text, guarded=True) == [REMOVE]


def test_the_guard_keeps_the_last_content_word() -> None:
    state = start("The water is not", guarded=True)
    assert kinds_of(state, "water", guarded=True) == [SWAP, ADD_SYNONYM]
    assert kinds_of(start("The water is not"), "water") == [SWAP, ADD_SYNONYM, REMOVE]


@pytest.mark.parametrize(
    ("claim", "steps", "text"),
    [
        ("The doctors lied.", [(SWAP, "doctors")], "The physicians lied."),
        ("The doctors lied.", [(SWAP, "doctors"), (SWAP, "physicians")], "The docs lied."),
        ("The doctors lied.", [(ADD_SYNONYM, "doctors")], "The doctors physicians lied."),
        (
            "The doctors lied.",
            [(ADD_SYNONYM, "doctors"), (ADD_SYNONYM, "doctors")],
            "The doctors docs physicians lied.",
        ),
        ("The doctors lied.", [(ADD_SYNONYM, "doctors"), (SWAP, "physicians")], "The doctors docs lied."),
        ("The doctors lied.", [(PRESENT, "lied")], "The doctors lie."),
        ("The doctor lied.", [(PRESENT, "lied")], "The doctor lies."),
        ("The doctor was lying.", [(PRESENT, "lying")], "The doctor was lies."),
        ("Doctors lied", [(SWAP, "Doctors")], "Physicians lied"),
        ("The doctors, all of them, lied", [(REMOVE, "doctors")], "The, all of them, lied"),
        ("The doctors (all) lied", [(REMOVE, "all")], "The doctors () lied"),
        ("The doctors “all lied” again", [(REMOVE, "all")], "The doctors “lied” again"),
        ("The doctors lied.", [(REMOVE, ".")], "The doctors lied"),
        ("The doctors lied.", [(REMOVE, "The")], "doctors lied."),
        ("The doctors lied", [(REMOVE, "lied")], "The doctors"),
        ("They  don't\nlie", [(REMOVE, "do")], "They  n't\nlie"),
        ("They  don't\nlie", [(REMOVE, "n't")], "They  do\nlie"),
        ("The doctors, they lied", [(ADD_SYNONYM, "doctors")], "The doctors physicians, they lied"),
    ],
)
def test_edits_and_the_spaces_around_them(claim: str, steps: list[tuple[int, str]], text: str) -> None:
    assert after(claim, *steps) == text


def test_a_synonym_takes_over_capitals() -> None:
    state = edits().start((Token("DOCTORS", " ", "NOUN", "NNS", "doctor", False), *tokens_of("lied")))
    assert edits().apply(state, SWAP * POSITIONS).text == "PHYSICIANS lied"


def test_removing_a_mark_never_joins_two_words() -> None:
    state = start("The anti-vaccine and/or doctor")
    assert all("antivaccine" not in c.state.text and "andor" not in c.state.text for c in edits().children(state))


def test_a_synonym_already_in_the_text_is_passed_over() -> None:
    assert after("The doctors and physicians lied", (SWAP, "doctors")) == "The docs and physicians lied"


def test_the_present_simple_is_illegal_for_a_verb_already_in_it() -> None:
    state = edits().apply(start("The doctor lied"), PRESENT * POSITIONS + 2)
    assert PRESENT not in kinds_of(state, "lies")
    assert PRESENT not in kinds_of(start("The doctors cause deaths"), "cause")


def test_a_verb_in_the_present_is_swapped_for_one_in_the_present() -> None:
    assert after("The doctor attacked him", (PRESENT, "attacked"), (SWAP, "attacks")) == "The doctor assails him"


def test_states_can_be_sent_to_another_process() -> None:
    state = edits().apply(start("The doctors lied"), SWAP * POSITIONS + 1)
    assert pickle.loads(pickle.dumps(state)) == state


def test_an_added_word_shifts_the_positions_after_it() -> None:
    state = start("The doctors lied")
    lied = position(state, "lied")
    added = edits().apply(state, ADD_SYNONYM * POSITIONS + position(state, "doctors"))
    assert position(added, "lied") == lied + 1


def test_of_a_long_claim_the_words_that_tell_most_are_numbered_and_the_others_stay() -> None:
    text = " ".join(["the of and in"] * 20 + ["vaccine", "chlorine", "the", "Wuhan", "laboratory"] + ["to the"] * 20)
    state = start(text)
    numbered = {state.words[at].text for at in state.positions}
    assert len(state.positions) == POSITIONS
    assert {"vaccine", "chlorine", "Wuhan", "laboratory"} <= numbered
    assert list(state.positions) == sorted(state.positions)


@pytest.mark.parametrize("action", [-1, ACTIONS, SWAP * POSITIONS, POSITIONS - 1])
def test_an_illegal_action_is_refused_in_words(action: int) -> None:
    with pytest.raises(ValueError, match=r"action|not a legal edit|positions"):
        edits().apply(start("The doctors lied"), action)


def test_the_trail_says_what_was_done() -> None:
    state = edits().apply(start("The doctors lied"), SWAP * POSITIONS + 1)
    assert state.trail == (Edit("swap", "doctors", "physicians", 1),)
    assert str(state.trail[0]) == "swap doctors → physicians"


def test_a_trail_of_another_claim_is_refused() -> None:
    trail = edits().apply(start("The doctors lied"), SWAP * POSITIONS + 1).trail
    for claim in ("The water lied", "Doctors", ""):
        with pytest.raises(ValueError, match=r"trail|legal|positions"):
            edits().replay(tokens_of(claim), trail)
    for edit in (Edit("keep the claim as it is"), Edit("swap", "doctors", "physicians")):
        with pytest.raises(ValueError, match="can be replayed"):
            edits().replay(tokens_of("The doctors lied"), (edit,))


def test_a_state_becomes_a_query_with_its_trail() -> None:
    state = edits().apply(start("The doctors lied"), SWAP * POSITIONS + 1)
    query = state.query(EndpointKind.RANKED, policy="test@1")
    assert (query.text, query.arm, query.trail) == ("The physicians lied", Arm.LEARNED, state.trail)


@pytest.mark.parametrize(
    ("claim", "legal_kinds"),
    [
        ("", set()),
        (" \n\t ", set()),
        ("the of and not", {REMOVE}),
        ("😀 🚰🚰", {REMOVE}),
        ("Das Wasser ist nicht verboten", {SWAP, ADD_SYNONYM, PRESENT, REMOVE}),
        ("اللقاح يقتل الناس", {REMOVE}),
        ("Maji \0 ya bomba\0", {SWAP, ADD_SYNONYM, PRESENT, REMOVE}),
        ("water " * 500, {SWAP, ADD_SYNONYM, PRESENT, REMOVE}),
        ("x" * 5000, {REMOVE}),
        ("\u202eevil\u202c \u200b text", {SWAP, ADD_SYNONYM, PRESENT, REMOVE}),
    ],
)
@pytest.mark.parametrize("guarded", [False, True])
def test_any_claim_has_a_sensible_mask(claim: str, legal_kinds: set[int], guarded: bool) -> None:
    state = start(claim, guarded=guarded)
    legal = edits(guarded=guarded).legal(state)
    assert legal.shape == (ACTIONS,)
    assert {int(action) // POSITIONS for action in np.flatnonzero(legal)} <= legal_kinds
    assert state.text == claim.strip()


WORDS = st.sampled_from(
    "The doctors doctor's don't vaccines killed killing was U.S. covid-19 anti-vaccine 5G (secret) “fake” news, lied. "
    "big water Paris not never people; 2.5 #tag @who https://x.com/a 😀 best faster and/or kill HUGE café नमस्ते".split()
)
CLAIMS = st.lists(st.tuples(WORDS, st.sampled_from([" ", " ", " ", "  ", "\n", "\u00a0", ""])), max_size=40).map(
    lambda pairs: "".join(word + space for word, space in pairs)
)


@settings(max_examples=80, deadline=None)
@given(st.one_of(CLAIMS, st.text(max_size=60)), st.booleans(), st.randoms(use_true_random=False))
def test_children_masks_and_trails_agree_on_any_claim(claim: str, guarded: bool, random: object) -> None:
    tokens = tokens_of(claim)
    environment = edits(guarded=guarded)
    state = environment.start(tokens)
    for _ in range(5):
        children = environment.children(state)
        assert [c.action for c in children] == np.flatnonzero(environment.legal(state)).tolist()
        if not children:
            break
        child = random.choice(children)  # type: ignore[attr-defined]
        assert child.state == environment.apply(state, child.action)
        assert child.state.text != state.text
        for analyse in ANALYSERS:
            counts = Counter(analyse(state.text))
            counts.subtract(token for piece in child.removed for token in analyse(piece))
            counts.update(token for piece in child.added for token in analyse(piece))
            assert min(counts.values(), default=0) >= 0
            assert +counts == Counter(analyse(child.state.text))
        state = child.state
    replayed = environment.replay(tokens, state.trail)
    assert (replayed, replayed.text) == (state, state.text)


@settings(max_examples=40, deadline=None)
@given(CLAIMS, st.randoms(use_true_random=False))
def test_the_guard_never_loses_a_negation_all_content_or_the_whole_text(claim: str, random: object) -> None:
    environment = edits(guarded=True)
    state = environment.start(tokens_of(claim))
    fixed = [word.text for word in state.words if not word.is_removable]
    had_content = any(word.is_content for word in state.words)
    while children := [c for c in environment.children(state) if c.action >= REMOVE * POSITIONS]:
        state = random.choice(children).state  # type: ignore[attr-defined]
    assert [word.text for word in state.words if not word.is_removable] == fixed
    assert any(word.is_content for word in state.words) == had_content
    assert bool(state.text) == bool(claim.strip())
