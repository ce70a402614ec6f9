"""Which format a file is in: by its name, or by how it begins."""

import json
from pathlib import Path

from domain.errors import BadInput

FORMATS = ("jsonl", "csv", "json", "html", "feed")
SAMPLE = 65_536  # bytes that are enough to tell

_BY_ENDING = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "csv", ".json": "json", ".jsonld": "json",
    ".html": "html", ".htm": "html", ".xhtml": "html", ".xml": "feed", ".rss": "feed", ".atom": "feed",
}  # fmt: skip


def format_of(path: Path, sample: bytes) -> str:
    """One of FORMATS. `sample` is the beginning of the file, unpacked; it decides where the name says nothing."""
    return _BY_ENDING.get(ending(path)) or _by_content(path, sample)


def ending(path: Path) -> str:
    """The ending of a file's name, that of packing left out, in lower case."""
    return Path(path.name.removesuffix(".gz")).suffix.lower()


def _by_content(path: Path, sample: bytes) -> str:
    text = sample.decode(errors="ignore").lstrip("\ufeff \t\r\n")
    first_line = text.split("\n", 1)[0]
    if text.startswith("<"):
        head = text.lower()
        return "html" if any(mark in head for mark in ("<html", "<!doctype html", "<script", "<body")) else "feed"
    if text.startswith(("{", "[")):
        return (
            "jsonl"
            if text.startswith("{") and _is_json(first_line) and len(first_line) < len(text.rstrip())
            else "json"
        )
    if any(delimiter in first_line for delimiter in ",;\t|"):
        return "csv"
    raise BadInput(f"{path}: what is it? Name it .jsonl, .csv, .tsv, .json, .html or .xml (each also .gz)")


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
