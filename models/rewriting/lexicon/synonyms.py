"""English synonyms, from a packaged table made of WordNet 3.0 (see NOTICE.txt; `build.py` makes it)."""

import gzip
from functools import cache
from importlib.resources import files

_PARTS = {"NOUN": "n", "PROPN": "n", "VERB": "v", "ADJ": "a", "ADV": "r"}


def synonyms(lemma: str, part_of_speech: str) -> tuple[str, ...]:
    """Synonyms of a lemma for a universal part of speech, those of its commonest sense first; none for other parts.

    A name has those of the name only ("Apple" is no fruit). A synonym may be of several words ("heart attack"). None is
    the lemma or a phrase with it ("domestic dog"), and none is a slur or an obscenity.
    """
    if part_of_speech == "PROPN":
        return _of_entry(f"n {lemma}") if lemma[:1].isupper() else ()
    part = _PARTS.get(part_of_speech)
    return _of_entry(f"{part} {lemma}") or _of_entry(f"{part} {lemma.lower()}") if part else ()


@cache
def _of_entry(entry: str) -> tuple[str, ...]:
    return tuple(word.replace("_", " ") for word in _table().get(entry, "").split())


@cache
def _table() -> dict[str, str]:
    """Part and lemma to the synonyms by sense: 58,000 entries, read at the first look-up (0.1 s)."""
    content = files("models.rewriting.lexicon").joinpath("synonyms.txt.gz").read_bytes()
    entries = (line.partition("\t") for line in gzip.decompress(content).decode().splitlines())
    return {entry: senses for entry, _, senses in entries}
