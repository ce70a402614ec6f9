import hashlib
import json
from importlib.resources import files

import pytest

from models.rewriting.lexicon.inflection import inflect, verb_forms
from models.rewriting.lexicon.synonyms import synonyms


@pytest.mark.parametrize(
    ("lemma", "part", "first"),
    [
        ("big", "ADJ", "large"),
        ("doctor", "NOUN", "physician"),
        ("attack", "VERB", "assail"),
        ("secret", "ADJ", "clandestine"),
        ("US", "PROPN", "United States"),
        ("quickly", "ADV", "rapidly"),
    ],
)
def test_the_first_synonym_is_of_the_commonest_sense(lemma: str, part: str, first: str) -> None:
    assert synonyms(lemma, part)[0] == first


@pytest.mark.parametrize(
    ("lemma", "part"),
    [("doctor", "NUM"), ("doctor", "PUNCT"), ("the", "DET"), ("Apple", "PROPN"), ("xqzt", "NOUN"), ("", "NOUN")],
)
def test_other_parts_unknown_words_and_names_that_are_also_words_have_none(lemma: str, part: str) -> None:
    assert synonyms(lemma, part) == ()


def test_a_word_is_never_its_own_synonym() -> None:
    for lemma in ("doctor", "water", "kill", "black", "fast"):
        for part in ("NOUN", "VERB", "ADJ", "ADV"):
            assert lemma not in {synonym.lower() for synonym in synonyms(lemma, part)}


def test_no_synonym_insults() -> None:
    insults = {"kike", "nigger", "spic", "chink", "faggot", "bullshit"}
    for lemma, part in [
        ("Jew", "PROPN"),
        ("black", "NOUN"),
        ("fake", "VERB"),
        ("homosexual", "NOUN"),
        ("crap", "NOUN"),
    ]:
        assert insults.isdisjoint(synonyms(lemma, part))


@pytest.mark.parametrize(
    ("lemma", "tag", "form"),
    [
        ("virus", "NNS", "viruses"),
        ("child", "NNS", "children"),
        ("city", "NNS", "cities"),
        ("crisis", "NNS", "crises"),
        ("half", "NNS", "halves"),
        ("series", "NNS", "series"),
        ("phenomenon", "NNS", "phenomena"),
        ("heart attack", "NNS", "heart attacks"),
        ("man of war", "NNS", "men of war"),
        ("take", "VBD", "took"),
        ("stop", "VBD", "stopped"),
        ("refer", "VBG", "referring"),
        ("vote down", "VBD", "voted down"),
        ("die", "VBG", "dying"),
        ("make", "VBG", "making"),
        ("see", "VBG", "seeing"),
        ("go", "VBZ", "goes"),
        ("vaccinate", "VBZ", "vaccinates"),
        ("lie", "VBD", "lied"),
        ("be", "VBN", "been"),
        ("big", "JJR", "bigger"),
        ("good", "JJS", "best"),
        ("simple", "JJS", "simplest"),
        ("dangerous", "JJR", "more dangerous"),
        ("fast", "RBR", "faster"),
        ("quickly", "RBS", "most quickly"),
        ("United States", "NNP", "United States"),
        ("Kennedy", "NNPS", "Kennedy"),
        ("water", "NN", "water"),
        ("of", "IN", "of"),
    ],
)
def test_forms(lemma: str, tag: str, form: str) -> None:
    assert inflect(lemma, tag) == form


def test_a_verb_has_each_form_once() -> None:
    assert verb_forms("take") == ("take", "takes", "took", "taken", "taking")
    assert verb_forms("put") == ("put", "puts", "putting")


def test_the_tables_come_with_their_sources_and_their_licences() -> None:
    folder = files("models.rewriting.lexicon")
    hashes = json.loads(folder.joinpath("sources.json").read_text())
    for table in ("synonyms.txt.gz", "inflections.txt.gz"):
        assert hashlib.sha256(folder.joinpath(table).read_bytes()).hexdigest() == hashes["tables"][table]
    assert {"data.noun", "index.sense", "infl_lu.csv.gz"} <= set(hashes["sources"])
    notice = folder.joinpath("NOTICE.txt").read_text()
    assert "WordNet 3.0 Copyright 2006 by Princeton University" in notice
    assert "Brad Jascob" in notice
