"""Reads a claim with the packaged encoder, tuned by low-rank changes: a vector for each word and one for the whole."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from models.backbone import encodable, packaged_bert
from models.bert import Bert
from models.low_rank import changed
from models.rewriting.learned.claim_words import ClaimWord

if TYPE_CHECKING:
    from tokenizers import Encoding


class ClaimReader:
    """May be shared by threads."""

    def __init__(self, low_rank: Mapping[str, Tensor]) -> None:
        """Raises ValueError for changes that do not fit the encoder."""
        config, weights, self._tokenizer = packaged_bert()
        self._bert = Bert(config, changed(weights, low_rank))

    def read(self, text: str, words: Sequence[ClaimWord]) -> tuple[Tensor, Tensor]:
        """(words, dim) and (dim,). A word beyond the tokens that the encoder takes is read as the text's frame."""
        encoding = self._tokenizer.encode(encodable(text))
        (states,) = self._bert.token_states([encoding.ids])
        return membership(encoding, words) @ states, states.mean(0)


def membership(encoding: "Encoding", words: Sequence[ClaimWord]) -> Tensor:
    """(words, tokens): each word is the mean of the tokens that overlap it."""
    shares = torch.zeros(len(words), len(encoding.ids))
    for number, word in enumerate(words):
        tokens = [at for at, (start, end) in enumerate(encoding.offsets) if start < word.end and end > word.start]
        shares[number, tokens or [0]] = 1 / max(len(tokens), 1)
    return shares
