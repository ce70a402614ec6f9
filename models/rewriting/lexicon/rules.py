"""The regular forms of English words, by spelling alone; what departs from them stands in the table of inflections."""

import re

_HISSING = re.compile(r"(?:s|x|z|ch|sh)$")
_CONSONANT_Y = re.compile(r"[^aeiou]y$")
_CONSONANT_O = re.compile(r"[^aeiou]o$")
_DOUBLED = re.compile(r"^[^aeiou]*(?:qu)?[aeiou][^aeiouwxy]$")  # one short syllable: "stop", "quit"
_SILENT_E = re.compile(r"[^eoy]e$")  # "see", "shoe" and "dye" keep theirs before -ing
_ONE_SYLLABLE = re.compile(r"^[^aeiou]*[aeiouy]+[^aeiouy]*e?$")


def regular(lemma: str, tag: str) -> str:
    """The regular form of a lower-case lemma for a Penn tag; the lemma itself for a tag that changes nothing."""
    match tag:
        case "NNS" | "NNPS":
            return _with_s(lemma)
        case "VBZ":
            return lemma + "es" if _CONSONANT_O.search(lemma) else _with_s(lemma)
        case "VBD" | "VBN":
            return _with_ending(lemma, "ed")
        case "VBG":
            return _with_ing(lemma)
        case "JJR" | "RBR":
            return _with_ending(lemma, "er") if compares_by_ending(lemma, tag) else "more " + lemma
        case "JJS" | "RBS":
            return _with_ending(lemma, "est") if compares_by_ending(lemma, tag) else "most " + lemma
    return lemma


def compares_by_ending(lemma: str, tag: str) -> bool:
    """ "fast" and "happy" do, "quickly" and "dangerous" do not."""
    return bool(_ONE_SYLLABLE.search(lemma) or (tag.startswith("JJ") and len(lemma) < 7 and _CONSONANT_Y.search(lemma)))


def _with_s(lemma: str) -> str:
    if _CONSONANT_Y.search(lemma):
        return lemma[:-1] + "ies"
    return lemma + ("es" if _HISSING.search(lemma) else "s")


def _with_ending(lemma: str, ending: str) -> str:
    """For endings that begin with e: a final e merges with it, y turns to i, a short syllable doubles its end."""
    if lemma.endswith("e"):
        return lemma[:-1] + ending
    if _CONSONANT_Y.search(lemma):
        return lemma[:-1] + "i" + ending
    return _doubled(lemma) + ending


def _with_ing(lemma: str) -> str:
    if lemma.endswith("ie"):
        return lemma[:-2] + "ying"
    return (lemma[:-1] if _SILENT_E.search(lemma) else _doubled(lemma)) + "ing"


def _doubled(lemma: str) -> str:
    return lemma + lemma[-1] if _DOUBLED.search(lemma) else lemma
