"""A small digest that has one of everything, and makers for variations of it."""

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from domain.fact_check import Verdict
from domain.match import MatchReason, Stance
from domain.post import Reach
from reports.view import (
    ArmView,
    ClaimView,
    Comparison,
    DigestView,
    PostView,
    QueryView,
    QuietClaim,
    Rewording,
    Totals,
    fill_days,
)

TODAY = date(2026, 11, 27)


MakePost = Callable[..., PostView]
MakeClaim = Callable[..., ClaimView]
Golden = Callable[[str, str], None]


@pytest.fixture
def make_post() -> MakePost:
    post = PostView(
        text="",
        url="https://posts.example/1",
        platform="Bluesky",
        created_at=datetime(2026, 11, 26, 14, 2, tzinfo=UTC),
        language="en",
        reach=Reach(likes=830, reposts=310, replies=64),
        confidence=0.93,
        stance=Stance.UNJUDGED,
        reason=MatchReason.TEXT,
        evidence="The notice was about one building.",
        found_by="tap AND water AND (banned OR forbidden)",
    )
    return lambda text="Tap water is banned 🚰", **changes: replace(post, text=text, **changes)


@pytest.fixture
def make_claim(make_post: MakePost) -> MakeClaim:
    claim = ClaimView(
        claim="Tap water has been banned in the whole city",
        language="en",
        verdict=Verdict.FALSE,
        rating_given="Falsch",
        publisher="Faktenwerkstatt",
        url="https://fc.example/a/42",
        published_at=datetime(2026, 11, 12, 9, tzinfo=UTC),
        why_watched="searched every 3 hours, as the last search brought 4 new posts",
        total_posts=64,
        new_by_stance={Stance.UNJUDGED: 15, Stance.DEBUNKING: 3},
        since_by_stance={Stance.UNJUDGED: 4, Stance.DEBUNKING: 3},
        reach=Reach(likes=4210, reposts=1890, replies=300, views=41_200),
        posts_per_day=fill_days({date(2026, 11, 20): 2, date(2026, 11, 24): 9, TODAY: 8}, last=TODAY),
        posts=(
            make_post(
                rewording=Rewording(left_out=("whole", "city"), replaced=(("banned", "forbidden"),)), beyond_claim=True
            ),
            make_post("water banned, fill your tubs", reach=Reach(), platform="Mastodon"),
        ),
        more_posts=12,
        debunks=(
            make_post(
                "No, it is not.", stance=Stance.DEBUNKING, reason=MatchReason.LINK, confidence=0.998, evidence=""
            ),
        ),
        queries=(QueryView("tap AND water AND (banned OR forbidden)", 12),),
        more_queries=3,
        edited_found=12,
        claim_would_find=1,
    )
    return lambda **changes: replace(claim, **changes)


@pytest.fixture
def view(make_claim: MakeClaim, make_post: MakePost) -> DigestView:
    arabic = make_claim(
        claim="غسل اليدين بماء البحر يمنع العدوى",
        language="ar",
        verdict=Verdict.MISLEADING,
        rating_given="مضلل",
        publisher="Desk of the South",
        why_watched="",
        total_posts=1,
        new_by_stance={Stance.UNJUDGED: 1},
        since_by_stance={Stance.UNJUDGED: 1},
        reach=Reach(likes=0, reposts=0, replies=0),
        posts_per_day=fill_days({TODAY: 1}, last=TODAY),
        posts=(make_post("ماء البحر يمنع العدوى 🌊 https://en.example/a", language="ar", found_by="ماء AND البحر"),),
        more_posts=0,
        debunks=(),
        queries=(),
        more_queries=0,
        edited_found=0,
        claim_would_find=0,
    )
    return DigestView(
        subscription="morning desk",
        date=TODAY,
        zone="Europe/Zurich",
        period_from=datetime(2026, 11, 26, 7, tzinfo=UTC),
        period_to=datetime(2026, 11, 27, 7, tzinfo=UTC),
        generated_at=datetime(2026, 11, 27, 7, 0, 12, tzinfo=UTC),
        totals=Totals(16, 3, watched_claims=43, posted_since=5, searches=120, posts_read=1243),
        claims=(make_claim(), arabic),
        notices=("Bluesky was not searched from 02:00 to 03:00: the server was unavailable.",),
        quiet=(QuietClaim("A tower was built in a ward", "https://fc.example/b/1", datetime(2026, 11, 1, tzinfo=UTC)),),
        more_quiet=7,
        comparison=Comparison(ArmView(103, 1102, 68), ArmView(11, 141, 3)),
    )


@pytest.fixture
def quiet_view(view: DigestView) -> DigestView:
    """A day on which nothing happened and everything was searched."""
    return replace(view, claims=(), notices=(), quiet=(), more_quiet=0, totals=Totals(0, 0, 43, 0), comparison=None)


@pytest.fixture
def golden() -> Golden:
    """Compares a text with a file of golden/; `UPDATE_GOLDEN=1 pytest tests/unit/reports` writes the files anew."""

    def compare(name: str, text: str) -> None:
        file = Path(__file__).parent / "golden" / name
        if os.environ.get("UPDATE_GOLDEN") == "1":
            file.write_text(text, "utf-8")
        assert text == file.read_text("utf-8"), (
            f"{name} differs: if that is meant, run with UPDATE_GOLDEN=1 and look at the diff"
        )

    return compare
