"""The states of single tokens; their means are checked against transformers in test_backbone."""

import pytest
import torch

from models.backbone import packaged_bert
from models.bert import Bert

TEXTS = ["Tap water is banned", "short", "Lead in the water of three towns", "long words"]


@pytest.fixture(scope="module")
def bert() -> Bert:
    config, weights, _ = packaged_bert()
    return Bert(config, weights)


@pytest.fixture(scope="module")
def ids() -> list[list[int]]:
    return [encoding.ids for encoding in packaged_bert()[2].encode_batch(TEXTS)]


def test_the_mean_of_a_texts_token_states_is_its_mean_state(bert: Bert, ids: list[list[int]]) -> None:
    states = bert.token_states(ids)
    assert [len(part) for part in states] == [len(part) for part in ids]
    torch.testing.assert_close(torch.stack([part.mean(0) for part in states]), bert.mean_states(ids))


def test_neighbours_do_not_change_a_texts_token_states(bert: Bert, ids: list[list[int]]) -> None:
    for together, alone in zip(bert.token_states(ids), ids, strict=True):
        torch.testing.assert_close(together, bert.token_states([alone])[0], atol=1e-5, rtol=0)


def test_tokens_of_a_text_have_states_of_their_own(bert: Bert, ids: list[list[int]]) -> None:
    (states,) = bert.token_states(ids[:1])
    assert torch.pdist(states).min() > 0.1
