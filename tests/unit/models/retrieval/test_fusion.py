import numpy as np
import pytest

from models.retrieval.fusion import best_candidates, fuse

BM25 = np.array([2.0, 4.0, 0.0, 0.0], dtype=np.float32)
COSINE = np.array([0.5, 0.0, 0.9, -1.0], dtype=np.float32)


def test_bm25_counts_relative_to_the_best_and_the_cosine_with_its_weight() -> None:
    assert fuse(BM25, COSINE, cosine_weight=2).tolist() == pytest.approx([1.5, 1.0, 1.8, -2.0])


def test_each_post_of_a_batch_has_its_own_greatest_score() -> None:
    both = np.stack([BM25, BM25 / 10])
    assert np.allclose(fuse(both, np.stack([COSINE] * 2)), fuse(BM25, COSINE))


def test_without_a_word_in_common_the_cosine_decides() -> None:
    assert best_candidates(np.zeros(4, dtype=np.float32), COSINE, 2).numbers.tolist() == [2, 0]


def test_candidates_found_by_either_way_are_in_the_list() -> None:
    assert best_candidates(BM25, COSINE, 3, cosine_weight=2).numbers.tolist() == [2, 0, 1]


def test_equal_scores_are_ordered_by_number_also_at_the_cut() -> None:
    same = np.ones(6, dtype=np.float32)
    assert best_candidates(same, same, 3).numbers.tolist() == [0, 1, 2]


def test_a_candidate_keeps_the_scores_it_was_made_of() -> None:
    best = best_candidates(BM25, COSINE, 1, cosine_weight=2)
    assert (best.bm25[0], best.cosine[0], best.fused[0]) == (0.0, np.float32(0.9), pytest.approx(1.8))


def test_more_candidates_than_texts_gives_all_texts() -> None:
    assert len(best_candidates(BM25, COSINE, 99).numbers) == 4
