from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from models.ranking.dates import WEAK, DateOdds, day_differences, fit_odds

DAY = datetime(2021, 5, 4, 12, tzinfo=UTC)
ODDS = DateOdds(np.array([0, 10, 1000], dtype=np.float32), np.array([-3.0, 4.0, 0.5, -2.0], dtype=np.float32))


def days_later(*days: int) -> list[datetime | None]:
    return [DAY + timedelta(days=n) for n in days]


def test_differences_are_whole_days_and_unknown_where_a_date_is() -> None:
    later = [DAY + timedelta(hours=13), DAY - timedelta(days=2), None]
    assert day_differences(DAY, later).tolist() == pytest.approx([1, -2, np.nan], nan_ok=True)
    assert np.isnan(day_differences(None, later)).all()


def test_each_day_difference_has_the_odds_of_its_bin() -> None:
    assert ODDS.full(DAY, [*days_later(-1, 0, 9, 10, 999, 1000), None]).tolist() == [-3, 4, 4, 0.5, 0.5, -2, 0]


def test_weak_odds_are_bounded_and_an_older_fact_check_never_loses() -> None:
    assert ODDS.weak(DAY, [*days_later(-5000, 0, 10, 2000), None]).tolist() == pytest.approx([0, WEAK, 0.5, -WEAK, 0])


def test_odds_are_fitted_as_counted_by_hand() -> None:
    right, wrong = np.array([0.0, 0, 0, 5]), np.array([0.0, 5, 5, 5, 5, 5, 5, 5])
    found = fit_odds(right, wrong, bins=4)
    # bins below 0, 0 and 1, from 2: right 0, 3, 1 and wrong 0, 1, 7, one more in each
    below, same, later = (np.log(r / 7) - np.log(w / 11) for r, w in ((1, 1), (4, 2), (2, 8)))
    assert found.edges.tolist() == [0, 2]
    assert found.odds.tolist() == pytest.approx([below, same, later], abs=1e-5)
