"""What must go goes: deleted posts, posts kept long enough, and whatever someone asks to be forgotten."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from connectors.protocol import Policy, SearchFailed
from connectors.records import pseudonym
from connectors.simulated.connector import SimulatedConnector
from connectors.simulated.posts_file import PostsFile
from daemon import keeping, pipeline
from daemon.delivery import FolderPostman
from daemon.demo.day import DemoClock
from daemon.importing import import_file
from daemon.intake.reader import ReadOptions
from daemon.jobs import Jobs
from daemon.preparation import prepare
from daemon.service import Service
from daemon.store.posts import Purged
from daemon.wiring import pseudonym_key
from domain.outcome import Unavailable
from domain.post import Post
from models.retrieval.boolean import BooleanIndex
from tests.integration.conftest import NOW, MakeService
from tests.integration.test_pipeline import FACT_CHECKS, POSTS, count, mails, subscribe

TEXT = "Lindmouth just banned fluoride in the tap water!! About time"


class Platform(SimulatedConnector):
    """A platform with rules, from which posts can vanish."""

    def __init__(self, posts: Sequence[Post], *, keep_days: int | None = None) -> None:
        super().__init__("feed", BooleanIndex(), PostsFile(tuple(posts), ()))
        self.policy = Policy(may_train=False, keep_days=keep_days, recheck_hours=24, quote_characters=None)
        self.vanished: set[str] = set()
        self.asked: list[list[str]] = []
        self.broken = False

    def gone(self, ids: Sequence[str]) -> set[str]:
        if self.broken:
            raise SearchFailed(Unavailable("down"))
        self.asked.append(list(ids))
        return self.vanished & set(ids)


@pytest.fixture
def service(make_service: MakeService, tmp_path: Path) -> Service:
    import json

    file = tmp_path / "checks.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in FACT_CHECKS))
    service = make_service()
    import_file(service, file, ReadOptions())
    prepare(service)
    subscribe(service)
    return service


def posts(service: Service) -> list[Post]:
    key = pseudonym_key(service.settings)
    return [
        Post("x", id_, text, NOW - timedelta(days=1), author=pseudonym(f"author of {id_}", key))
        for id_, text, *_ in POSTS
    ]


def live(service: Service, platform: Platform) -> Jobs:
    """Search, match and mail everything."""
    service.connectors = {"feed": platform}
    jobs = Jobs(service, FolderPostman(service.settings.home / "outbox"))
    run(jobs)
    return jobs


def run(jobs: Jobs) -> None:
    while jobs.tick():
        jobs.work(until_empty=True)


def advance(service: Service, step: timedelta) -> None:
    assert isinstance(service.clock, DemoClock)
    service.clock.now += step


def stored(service: Service, text: str) -> list[str]:
    """Tables in which a text is still to be found."""
    with service.database.connection() as conn:
        found = []
        for table in ("posts", "matches", "digests", "quarantine"):
            rows = conn.execute(f"SELECT t::text FROM {table} t").fetchall()  # noqa: S608
            found += [table for (row,) in rows if text in row]
        messages = conn.execute("SELECT message FROM digests").fetchall()
        return found + ["message" for (message,) in messages if text.encode() in bytes(message)]


def test_a_post_that_the_platform_deleted_is_purged_within_its_hours(service: Service) -> None:
    platform = Platform(posts(service))
    jobs = live(service, platform)
    assert stored(service, TEXT)
    platform.vanished = {"p1"}
    advance(service, timedelta(hours=18, minutes=1))
    run(jobs)
    assert stored(service, TEXT) == []
    with service.database.connection() as conn:
        assert conn.execute("SELECT platform_id FROM posts WHERE gone_at IS NOT NULL").fetchall() == [("p1",)]
    assert any("p1" in ids for ids in platform.asked)


def test_posts_are_not_asked_for_again_before_their_time(service: Service) -> None:
    platform = Platform(posts(service))
    jobs = live(service, platform)
    advance(service, timedelta(hours=6))
    run(jobs)
    assert platform.asked == []


def test_a_recheck_that_fails_deletes_nothing_and_is_tried_again(service: Service) -> None:
    platform = Platform(posts(service))
    live(service, platform)
    platform.broken = True
    advance(service, timedelta(hours=20))
    assert keeping.keep_house(service) == Purged()
    platform.broken = False
    keeping.keep_house(service)
    assert platform.asked


def test_posts_that_were_kept_long_enough_go(service: Service) -> None:
    platform = Platform(posts(service), keep_days=3)
    live(service, platform)
    before = count(service, "matches")
    advance(service, timedelta(days=4))
    purged = keeping.keep_house(service)
    assert purged.posts > 0
    assert purged.matches == before
    assert stored(service, TEXT) == []


def test_forgetting_a_post_removes_every_trace_and_it_never_comes_back(service: Service) -> None:
    platform = Platform(posts(service))
    live(service, platform)
    assert any(TEXT in letter for letter in mails(service))
    purged = keeping.forget_post(service, "x", "p1")
    assert (purged.posts, purged.matches, purged.mails) == (1, 1, 1)
    assert stored(service, TEXT) == []
    assert not any(TEXT in letter for letter in mails(service))
    with service.database.connection() as conn:
        conn.execute("DELETE FROM watch_progress")
        conn.execute("UPDATE watches SET next_due = %s", [NOW])
        due = [row[0] for row in conn.execute("SELECT id FROM watches").fetchall()]
    for watch in due:
        pipeline.search_watch(service, watch)
    assert stored(service, TEXT) == []


def test_forgetting_an_author_removes_all_their_posts_and_no_others(service: Service) -> None:
    live(service, Platform(posts(service)))
    before = count(service, "posts")
    purged = keeping.forget_author(service, "x", "author of p2", pseudonym_key(service.settings))
    assert purged.posts == 1
    assert count(service, "posts") == before - 1


def test_forgetting_what_is_not_there_removes_nothing(service: Service) -> None:
    live(service, Platform(posts(service)))
    assert keeping.forget_post(service, "x", "no such post") == Purged()


def test_a_thousand_copies_are_one_cluster_edits_stay_in_and_another_claim_stays_out(service: Service) -> None:
    copies = [Post("x", f"c{i:04}", f"{TEXT} {'!' * (i % 5)}", NOW - timedelta(minutes=i + 1)) for i in range(1000)]
    others = [
        Post("bluesky", "edited", TEXT.replace("About", "High"), NOW - timedelta(hours=20)),
        Post("x", "other", "Fluoride in Lindmouth's tap water: the board votes on Tuesday", NOW - timedelta(hours=21)),
        Post("x", "empty", "", NOW - timedelta(hours=22)),
        Post("x", "emoji", "🚰", NOW - timedelta(hours=22)),
    ]
    with service.database.connection() as conn:
        for post in (*copies, *others):
            conn.execute(
                "INSERT INTO posts (platform, platform_id, text, created_at, fetched_at)"
                " VALUES (%s, %s, %s, %s, %s)", [post.platform, post.platform_id, post.text, post.created_at, NOW]
            )  # fmt: skip
    pipeline.match_posts(service, None)
    with service.database.connection() as conn:
        sizes = conn.execute(
            "SELECT count(*) FROM posts WHERE cluster IS NOT NULL GROUP BY cluster ORDER BY 1 DESC"
        ).fetchall()
        unclustered = conn.execute("SELECT platform_id FROM posts WHERE cluster IS NULL ORDER BY 1").fetchall()
    assert sizes == [(1001,), (1,)]
    assert unclustered == [("emoji",), ("empty",)]
