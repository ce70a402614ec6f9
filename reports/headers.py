"""Header values that are safe, and that decode back to exactly what they were.

The standard library of Python 3.11 loses or doubles spaces between encoded words when a long header has a few words
outside ASCII (cpython#144156), cuts emoji in two, and encodes long addresses. Here a value outside ASCII is encoded as
a whole (RFC 2047): its spaces are inside the encoded words, and the line breaks between these mean nothing.
"""

import base64
import re
import unicodedata
from collections.abc import Iterator

LINE = 76  # characters, RFC 2047 section 2: lines with encoded words
_WORD = 75  # characters of one encoded word with its frame
_FRAME = len("=?utf-8?b??=")
_MOST_BYTES = (_WORD - _FRAME) // 4 * 3

# Anything that a mail program could take for a line break, and what no header may hold.
_BREAKS = re.compile(r"\s*[\x00-\x1f\x7f-\x9f\u2028\u2029]+\s*")
_SURROGATES = re.compile(r"[\ud800-\udfff]")

_JOINER = "\u200d"
_NON_JOINER = "\u200c"


def clean_value(text: str) -> str:
    """The text without line breaks, controls and lone surrogates, so that it cannot become a header of its own."""
    return _SURROGATES.sub("\ufffd", _BREAKS.sub(" ", text)).strip()


def fold_text(name: str, text: str) -> str:
    """`Name: text` with CRLF at the end, folded and encoded as a header of free text."""
    text = clean_value(text)
    first_line = LINE - len(name) - 2
    if _is_plain(text):
        lines = _wrap(text, first_line)
    else:
        lines = list(_encoded_words(text, first_line))
    return f"{name}: " + "\r\n ".join(lines) + "\r\n"


def fold_mailbox(name: str, display_name: str, address: str) -> str:
    """`Name: display name <address>` with CRLF at the end."""
    display_name = clean_value(display_name)
    if not display_name:
        return f"{name}: {address}\r\n"
    if _is_plain(display_name) and len(display_name) < LINE - len(name) - 4:
        escaped = re.sub(r'([\\"])', r"\\\1", display_name)
        return f'{name}: "{escaped}"\r\n <{address}>\r\n'
    words = _encoded_words(display_name, LINE - len(name) - 2)
    return f"{name}: " + "\r\n ".join(words) + f"\r\n <{address}>\r\n"


def _is_plain(text: str) -> bool:
    """Whether it may stand as it is: ASCII, nothing that looks encoded, and every line break can be undone."""
    return text.isascii() and "=?" not in text and "  " not in text and all(len(w) < LINE - 20 for w in text.split(" "))


def _wrap(text: str, first_line: int) -> list[str]:
    lines, room = [""], first_line
    for word in text.split(" "):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > room:
            lines.append(word)
            room = LINE - 1
        else:
            lines[-1] = f"{lines[-1]} {word}" if lines[-1] else word
    return lines


def _encoded_words(text: str, first_line: int) -> Iterator[str]:
    """Base64 encoded words, each within a line, none beginning or ending inside what is seen as one character."""
    most = min(_MOST_BYTES, (first_line - _FRAME) // 4 * 3)
    chunk = b""
    for piece in _pieces(text):
        if len(chunk) + len(piece) > most:
            yield _encoded_word(chunk)
            chunk, most = b"", _MOST_BYTES
        chunk += piece
    yield _encoded_word(chunk)


def _encoded_word(content: bytes) -> str:
    """Empty if there is nothing to encode: the first character may need a line of its own."""
    if not content:
        return ""
    return f"=?utf-8?b?{base64.b64encode(content).decode('ascii')}?="


def _pieces(text: str) -> Iterator[bytes]:
    """The visible characters as UTF-8; one that is too long for an encoded word is given by code points."""
    for character in visible_characters(text):
        encoded = character.encode()
        if len(encoded) <= _MOST_BYTES:
            yield encoded
        else:
            yield from (point.encode() for point in character)


def visible_characters(text: str) -> Iterator[str]:
    """What a reader sees as one character each: with its marks, joined emoji and flags kept whole.

    A plain form of the grapheme clusters of Unicode Standard Annex 29; Hangul letters come composed, as NFC has them.
    """
    current = ""
    for point in text:
        if current and _continues(current, point):
            current += point
        else:
            if current:
                yield current
            current = point
    if current:
        yield current


def _continues(current: str, point: str) -> bool:
    if current[-1] == _JOINER or point in (_JOINER, _NON_JOINER):
        return True
    if _is_flag_letter(point):
        return len(current) == 1 and _is_flag_letter(current)
    is_skin_tone = "\U0001f3fb" <= point <= "\U0001f3ff"
    is_tag = "\U000e0020" <= point <= "\U000e007f"
    return is_skin_tone or is_tag or unicodedata.category(point) in ("Mn", "Mc", "Me")


def _is_flag_letter(point: str) -> bool:
    return "\U0001f1e6" <= point <= "\U0001f1ff"
