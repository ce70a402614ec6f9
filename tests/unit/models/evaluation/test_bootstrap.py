import numpy as np
import pytest

from models.evaluation.bootstrap import mean_interval, paired_interval


def test_the_interval_is_as_wide_as_theory_says() -> None:
    rng = np.random.default_rng(1)
    values = {str(n): float(v) for n, v in enumerate(rng.normal(size=400))}
    interval = mean_interval(values, seed=0)
    half_width = 1.96 * np.std(list(values.values())) / 20
    assert interval.mean == pytest.approx(np.mean(list(values.values())))
    assert (interval.high - interval.low) / 2 == pytest.approx(half_width, rel=0.05)


def test_a_constant_gain_has_no_spread_however_much_the_queries_differ() -> None:
    theirs = {str(n): float(n) for n in range(50)}
    interval = paired_interval({q: v + 0.1 for q, v in theirs.items()}, theirs, seed=0)
    assert [interval.low, interval.high] == pytest.approx([0.1, 0.1])


def test_the_same_seed_gives_the_same_interval() -> None:
    values = {str(n): float(n % 7) for n in range(60)}
    assert mean_interval(values, seed=5) == mean_interval(values, seed=5)


def test_different_queries_cannot_be_paired() -> None:
    with pytest.raises(ValueError, match="same queries"):
        paired_interval({"a": 1.0}, {"b": 1.0}, seed=0)
