"""A trained decision transformer with its encoder: what it would do next, and where it is kept."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors.torch import load, save
from torch import Tensor

from domain.errors import BadArtifact
from models import low_rank
from models.artifact import read_artifact, write_artifact
from models.rewriting.decision_transformer.encoders import StateEncoder, TextEncoder
from models.rewriting.decision_transformer.environments import FEATURES, Seen
from models.rewriting.decision_transformer.network import Config, DecisionTransformer, Outlook

_FILE = "weights.safetensors"
_OF_NETWORK, _OF_ENCODER = "network.", "encoder."


@dataclass(frozen=True, slots=True)
class Size:
    """Of the network, and what it sees. `one_action` (no layers, one step) is the paper's classifier."""

    state: Literal["pooled", "pointer"] = "pooled"
    encoder: Literal["frozen", "tuned"] = "frozen"
    kinds: int = 4
    steps: int = 4
    layers: int = 3
    heads: int = 4
    width: int = 128


@dataclass
class DecisionPolicy:
    """In training, `network` and `encoder` are changed in place."""

    size: Size
    encoder: StateEncoder
    network: DecisionTransformer
    adapters: list[torch.nn.Parameter] = field(default_factory=list)

    @classmethod
    def fresh(cls, size: Size, encoder: StateEncoder | None = None) -> "DecisionPolicy":
        """With random weights, by torch's generator. Policies may share an encoder (None: the packaged one) that is
        frozen; one that is tuned is the policy's own from now on."""
        encoder = encoder or StateEncoder(TextEncoder())
        adapters = encoder.text.adapt() if size.encoder == "tuned" else []
        pointer = size.state == "pointer"
        dim = encoder.text.dim + (FEATURES if pointer else 0)
        network = DecisionTransformer(Config(dim, size.kinds, size.steps, size.layers, size.heads, size.width, pointer))
        return cls(size, encoder, network, adapters)

    @classmethod
    def load(cls, folder: Path, encoder: StateEncoder | None = None) -> "DecisionPolicy":
        """For rollouts. Raises BadArtifact for a folder that holds no policy, or weights that do not fit its card."""
        card, content = read_artifact(folder, _FILE, advice="train it again")
        try:
            size = Size(**card["size"])
            weights = load(content)
            policy = cls.fresh(size, encoder)
            policy.take_over(weights)
        except (ValueError, KeyError, TypeError, RuntimeError) as exc:
            raise BadArtifact(f"{folder} holds no decision transformer ({str(exc).splitlines()[0]})") from exc
        return policy

    def save(self, folder: Path, card: dict[str, Any]) -> None:
        write_artifact(folder, _FILE, save(self.weights()), {"size": asdict(self.size), **card})

    def weights(self) -> dict[str, Tensor]:
        """Of the network, and what the encoder has learned."""
        of_network = {_OF_NETWORK + name: value.detach().clone() for name, value in self.network.state_dict().items()}
        changes = low_rank.changes(self.encoder.text.network)
        return of_network | {_OF_ENCODER + name: value for name, value in changes.items()}

    def take_over(self, weights: dict[str, Tensor]) -> None:
        """Raises RuntimeError for weights of another size."""
        self.network.load_state_dict(_within(weights, _OF_NETWORK))
        if self.adapters:
            self.encoder.forget()
        low_rank.take_over(self.encoder.text.network, _within(weights, _OF_ENCODER))

    def outlook(self, returns: Tensor, seen: Sequence[Seen], states: Tensor, actions: Tensor) -> Outlook:
        """`states` (B, K) are numbers in `seen`, each of which is encoded once."""
        encode = self.encoder.words if self.size.state == "pointer" else self.encoder.sentences
        encoded = encode(seen)[states]  # (B, K, dim) or (B, K, P, dim)
        found: Outlook = self.network(returns, encoded, actions.clamp(min=0))
        return found

    @property
    def parameters(self) -> int:
        """Numbers that are learned."""
        learned = [*self.network.parameters(), *self.adapters]
        return sum(parameter.numel() for parameter in learned)


def masked(logits: Tensor, legal: Tensor) -> Tensor:
    """Illegal actions can not be chosen."""
    return logits.masked_fill(~legal, float("-inf"))


def _within(weights: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in weights.items() if name.startswith(prefix)}
