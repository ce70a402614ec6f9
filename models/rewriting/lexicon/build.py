"""Makes the tables of synonyms and of irregular forms; run by a person when a source changes, never at install.

    apt-get download wordnet-base wordnet-sense-index; dpkg-deb -x FILE.deb DEB    (each of the two)
    pip download --no-deps lemminflect==0.2.3; unzip FILE.whl -d WHEEL
    python -m models.rewriting.lexicon.build DEB/usr/share/wordnet WHEEL/lemminflect/resources

Same sources, same bytes. The sha256 of both stand in `sources.json`.
"""

import gzip
import hashlib
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from models.rewriting.lexicon.rules import regular

FOLDER = Path(__file__).parent
PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
TAGS = {"noun": ("NNS",), "verb": ("VBD", "VBN", "VBG", "VBZ"), "adj": ("JJR", "JJS"), "adv": ("RBR", "RBS")}

_MOST_SYNONYMS = 12  # a lemma: the search looks a few steps deep
# Where the lexicon puts a rare form first, or knows no other.
_CORRECTED = {
    "VBD lie": "lied",  # in claims one lies more often than one lies down
    "VBN lie": "lied",
    "VBD quit": "quit",
    "VBN quit": "quit",
    "VBD broadcast": "broadcast",
    "VBN broadcast": "broadcast",
    "VBN wake": "woken",
    "NNS half": "halves",
}
_ADJECTIVE_PLACE = re.compile(r"\((?:a|p|ip)\)$")
_SENSE_PARTS = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}
# A digest must not show a slur that stood in no claim. Words of such usage domains and glosses are left out, and from
# every other sense too if that is their commonest one.
_INSULTING = re.compile(r"\b(?:slurs?|offensive (?:name|term|word|to)|disparag\w+|derogat\w+|obscen\w+|vulgar\b)")
_INSULT_DOMAINS = {"disparagement", "ethnic_slur", "obscenity", "dirty_word", "derogation", "vulgarism"}


@dataclass(frozen=True, slots=True)
class Synset:
    offset: str
    words: tuple[str, ...]
    usage: tuple[tuple[str, int], ...]  # usage domains: synset of the domain, number of the word (0: all of them)
    gloss: str


@dataclass(frozen=True, slots=True)
class Insults:
    uses: set[tuple[str, str, str]]  # part, offset of the synset, word
    words: set[str]  # of which that use is the commonest


@dataclass(frozen=True, slots=True)
class Sense:
    number: int  # 1: the lemma's commonest
    count: int  # in a tagged corpus


Senses = dict[tuple[str, str, str], Sense]  # part, lower-case lemma, offset of the synset


def main(wordnet: Path, lemminflect: Path) -> None:
    senses = _senses(wordnet / "index.sense")
    synsets = {part: list(_synsets(wordnet / f"data.{name}")) for name, part in PARTS.items()}
    insults = _insults(synsets, senses)
    synonyms = [line for part in synsets for line in _synonym_lines(part, synsets[part], senses, insults)]
    _write("synonyms.txt.gz", synonyms)
    _write("inflections.txt.gz", list(_irregular_lines(lemminflect / "infl_lu.csv.gz")))
    sources = [*(wordnet / f"data.{name}" for name in PARTS), wordnet / "index.sense", lemminflect / "infl_lu.csv.gz"]
    hashes = {"sources": _hashes(sources), "tables": _hashes(sorted(FOLDER.glob("*.txt.gz")))}
    (FOLDER / "sources.json").write_text(json.dumps(hashes, indent=2) + "\n", encoding="utf-8")


def _hashes(paths: list[Path]) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def _write(name: str, lines: list[str]) -> None:
    content = "".join(line + "\n" for line in sorted(lines)).encode()
    (FOLDER / name).write_bytes(gzip.compress(content, 9, mtime=0))


def _senses(index: Path) -> Senses:
    """From `index.sense`, see senseidx(5WN)."""
    senses: Senses = {}
    for line in index.read_text(encoding="utf-8").splitlines():
        key, offset, number, count = line.split()
        lemma, _, rest = key.partition("%")
        senses[_SENSE_PARTS[rest[0]], lemma, offset] = Sense(int(number), int(count))
    return senses


def _synsets(data: Path) -> Iterator[Synset]:
    """From `data.*`, see wndb(5WN)."""
    for line in data.read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            continue  # the licence
        facts, _, gloss = line.partition(" | ")
        fields = facts.split()
        end = 4 + 2 * int(fields[3], 16)
        words = tuple(_ADJECTIVE_PLACE.sub("", word) for word in fields[4:end:2])
        pointers = (fields[at : at + 4] for at in range(end + 1, end + 1 + 4 * int(fields[end]), 4))
        usage = tuple((offset, int(words[:2], 16)) for symbol, offset, _, words in pointers if symbol == ";u")
        yield Synset(fields[0], words, usage, gloss)


def _synonym_lines(part: str, synsets: list[Synset], senses: Senses, insults: Insults) -> Iterator[str]:
    """`part lemma`, then a tab and the synonyms for each sense, the commonest first: a sense's rank is its place."""
    members: dict[str, dict[int, list[str]]] = defaultdict(dict)
    for synset in synsets:
        words = [word for word in synset.words if (part, synset.offset, word) not in insults.uses]
        for word in words:
            if "_" not in word:  # only a single word is looked up
                number = senses[part, word.lower(), synset.offset].number
                others = [w for w in words if word.lower() not in w.lower().split("_") and w not in insults.words]
                members[word][number] = sorted(others, key=lambda w: _commonest_first(w, part, synset, senses))
    for lemma, by_sense in members.items():
        if columns := _columns(by_sense):
            yield f"{part} {lemma}" + "".join("\t" + " ".join(words) for words in columns)


def _commonest_first(word: str, part: str, synset: Synset, senses: Senses) -> tuple[int, int, int]:
    sense = senses[part, word.lower(), synset.offset]
    return -sense.count, sense.number, synset.words.index(word)


def _insults(synsets: dict[str, list[Synset]], senses: Senses) -> Insults:
    domains = {synset.offset for synset in synsets["n"] if _INSULT_DOMAINS & set(synset.words)}
    uses = {
        (part, synset.offset, word)
        for part in synsets
        for synset in synsets[part]
        for number, word in enumerate(synset.words, 1)
        if _INSULTING.search(synset.gloss) or any(d in domains and n in (0, number) for d, n in synset.usage)
    }
    commonest = {word for part, offset, word in uses if senses[part, word.lower(), offset].number == 1}
    return Insults(uses, commonest)


def _columns(by_sense: dict[int, list[str]]) -> list[list[str]]:
    """The synonyms of senses 1, 2 …, each synonym once, empty senses at the end cut off."""
    seen: set[str] = set()
    columns: list[list[str]] = []
    for number in range(1, max(by_sense) + 1):
        fresh = [word for word in by_sense.get(number, []) if word.lower() not in seen][: _MOST_SYNONYMS - len(seen)]
        seen.update(word.lower() for word in fresh)
        columns.append(fresh)
    while columns and not columns[-1]:
        columns.pop()
    return columns


def _irregular_lines(lexicon: Path) -> Iterator[str]:
    """`tag lemma`, a tab and the form, wherever that is not the regular one."""
    forms = _forms(lexicon) | _CORRECTED
    for entry, form in forms.items():
        tag, lemma = entry.split(" ")
        if form != regular(lemma, tag):
            yield f"{entry}\t{form}"


def _forms(lexicon: Path) -> dict[str, str]:
    chosen: dict[str, str] = {}
    for line in gzip.decompress(lexicon.read_bytes()).decode().splitlines():
        lemma, part, *forms = line.split(",")
        if part not in TAGS or not lemma.islower() or " " in lemma:
            continue
        if part == "verb" and len(forms) > 1 and not forms[1]:
            forms[1] = forms[0]  # the participle is the past
        for tag, spellings in zip(TAGS[part], forms, strict=False):
            if spellings:
                chosen[f"{tag} {lemma}"] = _usual(lemma, tag, spellings.split("/"))
    return chosen


def _usual(lemma: str, tag: str, spellings: list[str]) -> str:
    """The first spelling, but the regular plural of a noun that may also stay as it is."""
    by_rule = regular(lemma, tag)
    return by_rule if tag == "NNS" and spellings[0] == lemma and by_rule in spellings else spellings[0]


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
