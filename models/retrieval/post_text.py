"""The words of a post: what stands in tags, handles and addresses counts; where a link leads and when it was said not.

Emoji stay as they are: as words they cost MAP@5 .002 by words and .006 by meaning (CheckThat! 2022 train).
"""

import html
import re
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache, reduce

from models.retrieval.analyser import Analyser, any_word
from models.retrieval.segmentation import split_run

_LINK = re.compile(r"(?:https?://|\bwww\.|pic\.twitter\.com/)\S+", re.IGNORECASE)
_SLUG_WORDS = 3  # in one part of an address: fewer are a name, a section or a key
_LONGEST_PART = 200  # characters of such a part
_REPEATED = re.compile(r"([!?.,;:*~_=–—-])(?:\s?\1)+")
_END = 160  # characters at the end of a post in which its signature stands
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_DATE_AT_END = re.compile(rf"\b({'|'.join(_MONTHS)}) (\d{{1,2}}), (\d{{4}}|\d{{2}})\s*$")
_SIGNATURE = re.compile(r"\s[—–-]\s?[^—–(]{1,80}\(@\w{1,30}\)\s*$")
_WORDS = Analyser(stem=False)


def decode_entities(text: str) -> str:
    """`&amp;` is "&"."""
    return html.unescape(text)


def fold_forms(text: str) -> str:
    """Letters in fancy dress are letters (NFKC): "𝐁𝐫𝐞𝐚𝐤𝐢𝐧𝐠" is "Breaking"."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def join_lines(text: str) -> str:
    return " ".join(text.split())


def drop_date_at_end(text: str) -> str:
    """Without the date that a quoted post ends with: it tells when, not what (see `posted_on`)."""
    return text[:-_END] + _DATE_AT_END.sub("", text[-_END:])


def read_links(text: str) -> str:
    """Links as the words of their address, where it has some: `…/gates-wants-chips.html` is "gates wants chips"."""
    return _LINK.sub(lambda link: f" {_address_words(link[0])} ", text)


def read_tags(text: str) -> str:
    """Tags and handles as words: `#StopTheSteal` is "Stop The Steal"."""
    return _tag_or_handle().sub(lambda found: f" {split_tag(found[1])} ", text)


def fold_repeats(text: str) -> str:
    """Signs that are repeated stand once: "what?!!!" is "what?!"."""
    return _REPEATED.sub(r"\1", text)


CHANGES: tuple[Callable[[str], str], ...] = (
    decode_entities, fold_forms, join_lines, drop_date_at_end, read_links, read_tags, fold_repeats, join_lines,
)  # fmt: skip


def clean_post(text: str) -> str:
    """The post on one line after all `CHANGES`, each made on what the one before it left."""
    return reduce(lambda changed, change: change(changed), CHANGES, text)


def statement(text: str) -> str:
    """The cleaned post without the signature of a quoted one, "— Name (@handle)": what was said, not by whom."""
    whole = reduce(lambda changed, change: change(changed), CHANGES[:4], text)
    said = whole[:-_END] + _SIGNATURE.sub("", whole[-_END:].rstrip())
    return clean_post(said if any_word().search(said) else whole)


def search_words(text: str) -> str:
    """The cleaned post's words, each once, in order, then its tags as they stand, since some are names, and the words
    run together in them: what an index is asked.

    Else a name that its handle repeats counts twice (CheckThat 2022 train, MAP@5: .833 with repetitions, .854 without,
    .857 with the tags taken apart, .859 with the tags whole beside; on dev .933 and .942).
    """
    words = _WORDS(clean_post(text))
    tags: list[str] = _tag_or_handle().findall(_LINK.sub(" ", fold_forms(decode_entities(text))))
    apart = [word for tag in tags for run in split_tag(tag).split() for word in _apart(run)]
    return " ".join(dict.fromkeys([*words, *_WORDS(" ".join([*tags, *apart]))]))


def split_tag(tag: str) -> str:
    """The words of a tag or handle: cut at capitals, underscores and digits (`name_en`, `BLMProtest`, `Covid19`)."""
    spaced = "".join(" " + letter if _begins_word(tag, i) else letter for i, letter in enumerate(tag))
    return " ".join(spaced.replace("_", " ").split())


def posted_on(text: str) -> datetime | None:
    """The day that a quoted post ends with, "— Name (@handle) January 6, 2020"; None where there is none."""
    found = _DATE_AT_END.search(join_lines(text[-_END:]))
    if not found:
        return None
    year = int(found[3]) + (2000 if len(found[3]) == 2 else 0)
    try:
        return datetime(year, _MONTHS.index(found[1]) + 1, int(found[2]), tzinfo=UTC)
    except ValueError:
        return None


@cache
def _tag_or_handle() -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)[#＃@＠]({any_word().pattern})")


def _apart(run: str) -> tuple[str, ...]:
    """Words run together in one case; a capitalised run is one word of a tag that says itself where words begin."""
    return split_run(run) if run.islower() or run.isupper() else ()


def _address_words(link: str) -> str:
    parts = re.split(r"[/?#]", link.partition("://")[2] or link)[1:]
    return " ".join(word for part in parts if len(part) <= _LONGEST_PART for word in _slug_words(part))


def _slug_words(part: str) -> list[str]:
    words = re.split(r"[-_]", part.rpartition(".")[0] or part)
    worded = [word for word in words if word.isalpha()]
    return words if len(worded) >= _SLUG_WORDS and all(map(str.isalnum, words)) else []


def _begins_word(tag: str, i: int) -> bool:
    if i == 0:
        return False
    before, letter, rest = tag[i - 1], tag[i], tag[i + 1 : i + 3]
    if before.isdigit() != letter.isdigit():
        return True
    ends_capitals = before.isupper() and rest[:1].islower() and rest != "s"  # "BLMProtest", but not "DMs"
    return letter.isupper() and (before.islower() or ends_capitals)
