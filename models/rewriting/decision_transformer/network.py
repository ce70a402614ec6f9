"""The decision transformer (Chen et al. 2021; paper, section 3.2): a causal GPT over (return-to-go, state, action) x K.

Besides the next action it tells what the query is worth after each action. A state is a sentence's vector, or the
vectors of its words, of which the heads then point at one. Without layers nothing but the state itself is looked at:
that is the one-action classifier (paper, section 6).
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

POSITIONS = 32


@dataclass(frozen=True, slots=True)
class Config:
    """The paper's size is 6 layers of 8 heads and width 768, dim 768."""

    dim: int  # of the encoder's vectors, with the features of a word in `pointer`
    kinds: int = 4  # of edits
    steps: int = 4  # K
    layers: int = 3
    heads: int = 4
    width: int = 128
    pointer: bool = False
    dropout: float = 0.1

    @property
    def actions(self) -> int:
        """Edits, and to stop as the last."""
        return self.kinds * POSITIONS + 1


class Outlook(NamedTuple):
    """(B, K, actions) each: which action next, and what the query is worth after it, 0 to 1."""

    logits: Tensor
    worths: Tensor


class _Block(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        width = config.width
        self.heads, self.dropout = config.heads, config.dropout
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention, self.mixed = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.drop = nn.Dropout(config.dropout)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        split = self.attention(self.before(x)).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4)  # (B, heads, T, width / heads) each
        drop = self.dropout if self.training else 0.0
        attended = F.scaled_dot_product_attention(query, key, value, dropout_p=drop, is_causal=True)
        x = x + self.drop(self.mixed(attended.transpose(1, 2).reshape(batch, length, width)))
        mixed: Tensor = x + self.drop(self.narrow(F.gelu(self.wide(self.between(x)))))
        return mixed


class DecisionTransformer(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config, width = config, config.width
        self.of_return = nn.Linear(1, width)
        self.of_state = nn.Sequential(nn.Linear(config.dim, width), nn.GELU(), nn.Linear(width, width))
        self.of_action = nn.Embedding(config.actions, width)
        self.of_step = nn.Embedding(config.steps, width)
        self.norm, self.drop = nn.LayerNorm(width), nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(_Block(config) for _ in range(config.layers))
        self.last_norm = nn.LayerNorm(width)
        # Each head gives two numbers an action: its logit, and the logit of what the query is worth after it.
        self.of_all = nn.Linear(width, 2 if config.pointer else 2 * config.actions)
        self.of_word = nn.Sequential(nn.Linear(2 * width, width), nn.GELU(), nn.Linear(width, 2 * config.kinds))
        if not config.pointer:
            del self.of_word

    def forward(self, returns: Tensor, states: Tensor, actions: Tensor) -> Outlook:
        """Returns (B, K), actions (B, K), states (B, K, dim), or (B, K, P, dim) with rows of zeros past the last word.

        Whatever follows a step does not change what comes of it, so sequences are padded at their ends.
        """
        batch, steps = returns.shape
        words = self.of_state(states)  # (B, K, width) or (B, K, P, width)
        there = (states != 0).any(-1, keepdim=True) if self.config.pointer else None
        state = words if there is None else (words * there).sum(2) / there.sum(2).clamp(min=1)
        tokens = torch.stack([self.of_return(returns[..., None]), state, self.of_action(actions)], 2)
        tokens = tokens + self.of_step.weight[:steps, None]  # (B, K, 3, width)
        x = self.drop(self.norm(tokens.view(batch, 3 * steps, -1)))
        for block in self.blocks:
            x = block(x)
        x = self.last_norm(x).view(batch, steps, 3, -1)[:, :, 1]  # the states', from which the action follows
        heads = self._pointed(x, words) if self.config.pointer else self.of_all(x).view(batch, steps, -1, 2)
        return Outlook(heads[..., 0], heads[..., 1].sigmoid())

    def _pointed(self, x: Tensor, words: Tensor) -> Tensor:
        """(B, K, actions, 2) from the states' (B, K, width) and their words' (B, K, P, width)."""
        batch, steps, count, _ = words.shape
        pairs = torch.cat([x[:, :, None].expand_as(words), words], -1)
        heads = self.of_word(pairs).view(batch, steps, count, self.config.kinds, 2).transpose(2, 3)
        heads = F.pad(heads, (0, 0, 0, POSITIONS - count))  # (B, K, kinds, 32, 2)
        return torch.cat([heads.flatten(2, 3), self.of_all(x)[:, :, None]], 2)
