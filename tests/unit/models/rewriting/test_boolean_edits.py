from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.query import Arm, Edit, EndpointKind
from models.rewriting.boolean_edits import ADD_WORD, BOOLEAN_ACTIONS, BooleanEdits, BooleanState
from models.rewriting.edits import ADD_SYNONYM, POSITIONS, PRESENT, REMOVE, SWAP
from models.rewriting.tagging import Token, tag

CLAIM = "The doctor's 5G chips killed thousands of people in Paris, and nobody was not vaccinated."
COUNTS = {"doctor": 40, "5g": 5, "chips": 30, "killed": 60, "thousands": 50, "people": 90, "paris": 20, "vaccinated": 0}


class Counts:
    def __init__(self, counts: dict[str, int], other: int = 70) -> None:
        self._counts, self._other = counts, other

    def document_frequency(self, word: str) -> int:
        return self._counts.get(word.lower(), self._other)

    def __len__(self) -> int:
        return 100


@cache
def tokens_of(text: str) -> tuple[Token, ...]:
    return tag([text])[0]


def edits(*, guarded: bool = False) -> BooleanEdits:
    return BooleanEdits(Counts(COUNTS), guarded=guarded)


def start(*, guarded: bool = False) -> BooleanState:
    return edits(guarded=guarded).start(tokens_of(CLAIM))


def action(kind: int, word: str) -> int:
    return kind * POSITIONS + [w.text for w in start().content].index(word)


def after(*steps: tuple[int, str]) -> BooleanState:
    state = start()
    for kind, word in steps:
        state = edits().apply(state, action(kind, word))
    return state


def kinds_of(state: BooleanState, word: str, *, guarded: bool = False) -> list[int]:
    legal = edits(guarded=guarded).legal(state)
    return [kind for kind in range(5) if legal[action(kind, word)]]


def test_the_content_words_have_positions_in_the_order_of_the_claim() -> None:
    assert [w.text for w in start().content] == [
        "doctor",
        "5G",
        "chips",
        "killed",
        "thousands",
        "people",
        "Paris",
        "nobody",
        "vaccinated",
    ]


def test_an_episode_starts_from_the_two_rarest_words_that_occur() -> None:
    assert start().groups == (("5G",), ("Paris",))
    assert start().trail == (Edit("keep the rarest words", result="5G, Paris"),)
    nowhere = BooleanEdits(Counts({}, other=0)).start(tokens_of("Doctors lied"))
    assert nowhere.groups == (("Doctors",), ("lied",))


@pytest.mark.parametrize(
    ("steps", "groups"),
    [
        ([(ADD_WORD, "killed")], (("5G",), ("killed",), ("Paris",))),
        ([(ADD_WORD, "doctor"), (SWAP, "doctor")], (("physician",), ("5G",), ("Paris",))),
        ([(ADD_WORD, "doctor"), (ADD_SYNONYM, "doctor")], (("doctor", "physician"), ("5G",), ("Paris",))),
        (
            [(ADD_WORD, "doctor"), (ADD_SYNONYM, "doctor"), (ADD_SYNONYM, "doctor"), (REMOVE, "5G")],
            (("doctor", "physician", "doc"), ("Paris",)),
        ),
        (
            [(ADD_WORD, "doctor"), (ADD_SYNONYM, "doctor"), (SWAP, "doctor")],
            (("doc", "physician"), ("5G",), ("Paris",)),
        ),
        ([(ADD_WORD, "doctor"), (SWAP, "doctor"), (SWAP, "doctor")], (("doc",), ("5G",), ("Paris",))),
        ([(ADD_WORD, "killed"), (PRESENT, "killed")], (("5G",), ("killed", "kill", "kills", "killing"), ("Paris",))),
        ([(REMOVE, "5G")], (("Paris",),)),
    ],
)
def test_edits_of_a_query(steps: list[tuple[int, str]], groups: tuple[tuple[str, ...], ...]) -> None:
    assert after(*steps).groups == groups


@pytest.mark.parametrize(
    ("steps", "word", "kinds"),
    [
        ([], "killed", [ADD_WORD]),
        ([(ADD_WORD, "killed")], "killed", [SWAP, ADD_SYNONYM, PRESENT, REMOVE]),
        ([(ADD_WORD, "killed"), (PRESENT, "killed")], "killed", [SWAP, ADD_SYNONYM, REMOVE]),
        ([(ADD_WORD, "doctor")], "doctor", [SWAP, ADD_SYNONYM, REMOVE]),
        ([], "5G", [REMOVE]),
        ([(REMOVE, "5G")], "Paris", [SWAP, ADD_SYNONYM]),
    ],
)
def test_which_edits_are_legal(steps: list[tuple[int, str]], word: str, kinds: list[int]) -> None:
    assert kinds_of(after(*steps), word) == kinds


def test_the_guard_only_adds_and_removes_names() -> None:
    assert kinds_of(start(guarded=True), "Paris", guarded=True) == [REMOVE]


def test_equal_queries_have_equal_groups_whatever_the_order_of_the_edits() -> None:
    one = after((ADD_WORD, "chips"), (ADD_WORD, "killed"))
    other = after((ADD_WORD, "killed"), (ADD_WORD, "chips"))
    assert one.groups == other.groups


def test_a_state_becomes_a_boolean_query_with_its_trail() -> None:
    state = after((REMOVE, "5G"), (ADD_WORD, "doctor"), (ADD_SYNONYM, "doctor"))
    query = state.query(policy="test@1")
    assert (query.kind, query.arm, query.trail) == (EndpointKind.BOOLEAN, Arm.LEARNED, state.trail)
    assert str(query) == "(doctor OR physician) AND Paris"
    assert [str(edit) for edit in query.trail] == [
        "keep the rarest words → 5G, Paris",
        "remove 5G",
        "add word doctor",
        "add synonym doctor → physician",
    ]


def test_of_a_long_claim_the_rarest_words_have_positions() -> None:
    text = " ".join(f"rare{i} common{i}" for i in range(40))
    counts = Counts({f"common{i}": 99 for i in range(40)} | {f"rare{i}": 2 for i in range(30)})
    state = BooleanEdits(counts).start(tokens_of(text))
    texts = [w.text for w in state.content]
    assert len(texts) == POSITIONS
    assert {f"rare{i}" for i in range(30)} <= set(texts)


@pytest.mark.parametrize("number", [-1, BOOLEAN_ACTIONS, SWAP * POSITIONS + 1, REMOVE * POSITIONS + 31])
def test_an_illegal_action_is_refused_in_words(number: int) -> None:
    with pytest.raises(ValueError, match=r"action|illegal|content words"):
        edits().apply(start(), number)


def test_a_trail_replays_though_other_words_are_the_rarest_now() -> None:
    state = after((ADD_WORD, "doctor"), (SWAP, "doctor"))
    now = BooleanEdits(Counts({"people": 1, "chips": 2}))
    assert now.replay(tokens_of(CLAIM), state.trail).groups == state.groups


@pytest.mark.parametrize(
    "trail",
    [
        (Edit("swap", "doctor", "physician", 0),),
        (Edit("keep the rarest words", result="water"),),
        (Edit("keep the rarest words", result="5G, Paris"), Edit("add word", "doctor")),
        (Edit("keep the rarest words", result="5G, Paris"), Edit("add word", "nurse", "", 0)),
        (Edit("keep the rarest words", result="5G, Paris"), Edit("add word", "5G", "", 1)),
    ],
)
def test_a_trail_of_another_claim_is_refused(trail: tuple[Edit, ...]) -> None:
    with pytest.raises(ValueError, match=r"trail|begin|among|replayed|illegal"):
        edits().replay(tokens_of(CLAIM), trail)


@pytest.mark.parametrize("claim", ["", " \n ", "the of and not", "😀 🚰🚰", "https://t.co/abc", "\0"])
def test_a_claim_without_content_words_has_no_groups_and_no_legal_edit(claim: str) -> None:
    state = edits().start(tokens_of(claim))
    assert (state.groups, state.trail) == ((), ())
    assert not edits().legal(state).any()
    assert edits().replay(tokens_of(claim), ()) == state


@pytest.mark.parametrize(
    "claim", ["water", "Das Wasser ist verboten", "اللقاح يقتل الناس", "Maji \0 ya", "water " * 500]
)
def test_any_other_claim_has_legal_edits_or_one_word(claim: str) -> None:
    state = edits().start(tokens_of(claim))
    assert 1 <= len(state.groups) <= 2
    assert edits().legal(state).any()


WORDS = st.sampled_from(
    "The doctors doctor's don't vaccines killed killing U.S. covid-19 anti-vaccine 5G (secret) “fake” news, lied. big "
    "water Paris not never people; 2.5 #tag @who https://x.com/a 😀 best faster and/or kill HUGE café नमस्ते".split()
)
CLAIMS = st.lists(WORDS, max_size=45).map(" ".join)


@settings(max_examples=60, deadline=None)
@given(st.one_of(CLAIMS, st.text(max_size=60)), st.booleans(), st.randoms(use_true_random=False))
def test_children_masks_and_trails_agree_on_any_claim(claim: str, guarded: bool, random: object) -> None:
    tokens, environment = tokens_of(claim), edits(guarded=guarded)
    state = environment.start(tokens)
    for _ in range(6):
        children = environment.children(state)
        assert [c.action for c in children] == np.flatnonzero(environment.legal(state)).tolist()
        if not children:
            break
        child = random.choice(children)  # type: ignore[attr-defined]
        assert child.state == environment.apply(state, child.action)
        assert child.state.groups != state.groups
        assert len(set(child.state.groups) ^ set(state.groups)) <= 2
        assert all(len({term.lower() for term in group}) == len(group) > 0 for group in child.state.groups)
        state = child.state
    assert environment.replay(tokens, state.trail) == state
