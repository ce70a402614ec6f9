"""A cross-encoder on the packaged encoder's layers: post and fact-check read together, one score. The usual way to
rerank, trained with as much as the other rankers, to compare them with; the product does without."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from domain.fact_check import FactCheck
from models.backbone import encodable, packaged_folder, packaged_tokenizer, trainable
from models.ranking.training_posts import TrainingPosts
from models.retrieval.post_text import clean_post
from models.training import learn, shuffled_batches

EPOCHS, BATCH = 3, 8
RATE, HEAD_RATE = 5e-5, 1e-3
WRONG = 3  # fact-checks a pair, of those that BM25 takes for right ones
_LONGEST = 128  # tokens of post and fact-check together


class CrossEncoder(nn.Module):
    def __init__(self, *, seed: int) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.network = trainable(packaged_folder()).train(False)
        self.head = nn.Linear(self.network.config.hidden_size, 1)
        self._tokenizer = packaged_tokenizer()
        self._tokenizer.enable_truncation(_LONGEST)

    def forward(self, pairs: Sequence[tuple[str, str]]) -> Tensor:
        """(pairs,) of a post and a fact-check, higher the better they fit."""
        encodings = self._tokenizer.encode_batch([(encodable(post), encodable(fact)) for post, fact in pairs])
        ids, types, mask = (
            pad_sequence([torch.tensor(getattr(encoding, part)) for encoding in encodings], batch_first=True)
            for part in ("ids", "type_ids", "attention_mask")
        )
        states = self.network(input_ids=ids, token_type_ids=types, attention_mask=mask).last_hidden_state
        means = (states * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        scores: Tensor = self.head(means)[:, 0]
        return scores

    @torch.inference_mode()
    def score(self, post: str, facts: Sequence[FactCheck]) -> NDArray[np.float64]:
        """(facts,)"""
        said = clean_post(post)
        return self([(said, text_of(fact)) for fact in facts]).double().numpy()  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class Choice:
    """A post and what fact-checks of it say, a right one first."""

    post: str
    facts: Sequence[str]


def train(
    posts: TrainingPosts, mined: Sequence[Sequence[int]], *, seed: int, checkpoint: Path, say: Callable[[str], None]
) -> CrossEncoder:
    """Learn to tell each post's right fact-checks from some of its `mined` wrong ones, drawn anew for each epoch. Cut
    off, it goes on from its checkpoint."""
    facts = posts.collection.fact_checks
    texts = [clean_post(posts.collection.queries[query]) for query in posts.collection.qrels]
    judged = [(post, right) for post, gold in enumerate(posts.gold) for right in sorted(gold) if mined[post]]
    rng = np.random.default_rng(seed)

    def drawn(post: int, right: int) -> Choice:
        wrong = rng.choice(mined[post], min(WRONG, len(mined[post])), replace=False).tolist()
        return Choice(texts[post], [text_of(facts[number]) for number in (right, *wrong)])

    batches = [
        [drawn(*judged[at]) for at in batch]
        for _ in range(EPOCHS)
        for batch in shuffled_batches(len(judged), BATCH, rng)
    ]
    network = CrossEncoder(seed=seed)
    groups = [(list(network.network.parameters()), RATE), (list(network.head.parameters()), HEAD_RATE)]
    learn(
        groups, batches, lambda batch: loss(network, batch),
        checkpoint=checkpoint, identity=f"cross-encoder {len(judged)} {seed}", say=say,
    )  # fmt: skip
    return network


def loss(network: Callable[[Sequence[tuple[str, str]]], Tensor], batch: Sequence[Choice]) -> Tensor:
    """Mean of -log p(right) among each post's fact-checks."""
    scores = network([(choice.post, fact) for choice in batch for fact in choice.facts])
    of_posts = torch.split(scores, [len(choice.facts) for choice in batch])
    return torch.stack([-F.log_softmax(of_post, 0)[0] for of_post in of_posts]).mean()


def text_of(fact: FactCheck) -> str:
    return f"{fact.claim} {fact.title}".strip()
