import pytest

from domain.match import Stance
from models.verification.cues import load_cues

CLAIM = "The town of Farnley banned bicycles."


@pytest.mark.parametrize(
    "post",
    [
        "FACT CHECK: Farnley did not ban bicycles",
        "The bicycle ban in Farnley has been debunked",
        "This photo is a hoax, nobody banned bicycles in Farnley",
        "There’s no evidence that Farnley banned bicycles",
        "No, Farnley didn't ban bicycles",
        "False: Farnley still has bicycles",
        "Dejad de compartir lo de Farnley",
        "Es falso que Farnley haya prohibido las bicicletas",
        "Circula un bulo sobre Farnley y las bicicletas",
        "Das stimmt nicht, Farnley hat Fahrräder nicht verboten",
        "C’est faux : Farnley n’a pas interdit les vélos",
        "É falso que Farnley proibiu bicicletas",
        "È una bufala: Farnley non ha vietato le biciclette",
        "لا صحة لحظر الدراجات في فارنلي",
    ],
)
def test_a_post_that_says_the_story_is_untrue_debunks_it(post: str) -> None:
    assert load_cues().stance(post, CLAIM) is Stance.DEBUNKING


@pytest.mark.parametrize(
    "post",
    [
        "Farnley just banned bicycles!!",
        "The fake news media hide that Farnley banned bicycles. This is not true, they say",
        "The Farnley bicycle ban has never been debunked",
        "So-called experts say this is false. Farnley banned bikes.",
        "Is this fake? Farnley banned bicycles",
        "Farnley is a hoax town",
        "Los medios ocultan que Farnley prohibió las bicicletas y dicen que es falso",
        "No es un bulo: Farnley prohibió las bicicletas",
        "",
    ],
)
def test_a_post_that_does_not_clearly_debunk_stays_unjudged(post: str) -> None:
    assert load_cues().stance(post, CLAIM) is Stance.UNJUDGED


def test_a_phrase_that_belongs_to_the_claim_is_no_debunk() -> None:
    claim = "There is no evidence that bicycles exist."
    assert load_cues().stance("There is no evidence that bicycles exist, wake up", claim) is Stance.UNJUDGED


def test_a_post_that_shares_the_fact_check_debunks_whatever_it_says() -> None:
    assert load_cues().stance("read", CLAIM, shares_fact_check=True) is Stance.DEBUNKING
