"""What a rewriting policy may ask of an index: how common a word is."""

from typing import Protocol


class TermStatistics(Protocol):
    """`document_frequency`: texts that hold every token of the word; 0 where the analyser leaves none of it."""

    def document_frequency(self, word: str) -> int: ...

    def __len__(self) -> int: ...
