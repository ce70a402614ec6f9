"""What must go goes: deleted posts, posts kept long enough, and whatever someone asks to be forgotten."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from connectors.protocol import Page, Policy, SearchFailed, Window
from connectors.records import pseudonym
from connectors.simulated.connector import SimulatedConnector
from connectors.simulated.posts_file import PostsFile
from connectors.unusable import UnusableConnector
from daemon import fetching, keeping, pipeline
from daemon.delivery import FolderPostman
from daemon.demo.day import DemoClock
from daemon.importing import import_file
from daemon.intake.reader import ReadOptions
from daemon.jobs import Jobs
from daemon.preparation import prepare
from daemon.service import Service
from daemon.store import searches
from daemon.store.posts import Purged
from daemon.wiring import pseudonym_key
from domain.errors import NotForgotten
from domain.outcome import Unavailable
from domain.post import Post, Reach
from domain.query import all_words_query
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
    assert any(TEXT in letter for letter in mails(service))
    run(jobs)
    assert stored(service, TEXT) == []
    assert not any(TEXT in letter for letter in mails(service)), "copies of mails go with the post"
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
    with service.database.connection() as conn:
        assert not keeping.is_due(service, conn), "not at each tick"
    assert keeping.keep_house(service) == Purged()
    assert platform.asked == []
    advance(service, timedelta(minutes=5))
    keeping.keep_house(service)
    assert platform.asked


def test_a_recheck_that_fails_keeps_back_no_search(service: Service) -> None:
    platform = Platform(posts(service))
    live(service, platform)
    platform.broken = True
    advance(service, timedelta(hours=20))
    keeping.keep_house(service)
    (compiled,) = platform.compile(all_words_query(("fluoride",), policy="test"))
    assert fetching.read_page(service, platform, compiled, Window(NOW - timedelta(days=3), NOW)).posts


def test_a_removed_post_that_is_seen_again_stays_empty(service: Service) -> None:
    platform = Platform(posts(service))
    live(service, platform)
    with service.database.connection() as conn:
        keeping.purge_gone(conn, "feed", ["p1"], now=NOW)
    everything = Page(tuple(replace(post, reach=Reach(likes=7)) for post in platform._posts.values()))
    with service.database.connection() as conn:
        search = conn.execute("SELECT max(id) FROM searches").fetchone()
        assert search is not None
        searches.save_page(conn, search[0], everything, connector="feed", now=NOW)
        row = conn.execute("SELECT text, author, likes, language FROM posts WHERE platform_id = 'p1'").fetchone()
        assert row == ("", None, None, "und")
        assert conn.execute("SELECT count(*) FROM posts WHERE likes = 7").fetchone() == (len(POSTS) - 1,)
        bands = "SELECT count(*) FROM cluster_bands b JOIN posts p ON p.id = b.post_id WHERE p.platform_id = 'p1'"
        assert conn.execute(bands).fetchone() == (0,)


def test_rules_hold_also_once_the_connector_is_set_up_no_longer(service: Service) -> None:
    live(service, Platform(posts(service), keep_days=3))
    service.connectors = {}
    advance(service, timedelta(days=4))
    with service.database.connection() as conn:
        assert keeping.is_due(service, conn)
    assert keeping.keep_house(service).posts > 0
    assert stored(service, TEXT) == []


def test_a_mail_that_only_some_have_got_is_not_sent_to_the_others_nor_made_again(service: Service) -> None:
    platform = Platform(posts(service))
    live(service, platform)
    with service.database.connection() as conn:
        conn.execute("UPDATE outbox SET state = 'pending' WHERE recipient = 'a@desk.example'")
        keeping.purge_gone(conn, "feed", ["p1"], now=NOW)
    run(Jobs(service, FolderPostman(service.settings.home / "outbox")))
    with service.database.connection() as conn:
        states = conn.execute("SELECT recipient, state FROM outbox ORDER BY 1").fetchall()
        assert conn.execute("SELECT count(*) FROM digests").fetchone() == (1,)
    assert states == [("a@desk.example", "failed"), ("b@desk.example", "sent")]


def test_a_mail_that_waits_for_all_is_made_anew_without_the_post(service: Service) -> None:
    platform = Platform(posts(service))
    live(service, platform)
    with service.database.connection() as conn:
        conn.execute("UPDATE outbox SET state = 'pending'")
        keeping.purge_gone(conn, "feed", ["p1"], now=NOW)
        assert conn.execute("SELECT count(*) FROM digests").fetchone() == (0,)
        conn.execute("UPDATE subscriptions SET next_due = %s", [NOW])
    run(Jobs(service, FolderPostman(service.settings.home / "outbox")))
    letters = mails(service)
    assert letters and not any(TEXT in letter for letter in letters)


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


class Store(Platform):
    """A platform that keeps posts of its own."""

    def __init__(self, posts: Sequence[Post]) -> None:
        super().__init__(posts)
        self.removed: list[str] = []

    def remove(self, ids: Sequence[str]) -> None:
        if self.broken:
            raise SearchFailed(Unavailable("down"))
        self.removed += ids

    def remove_author(self, author: str) -> None:
        self.remove([f"all of {author}"])


def test_what_is_forgotten_goes_from_the_stores_of_connectors_too(service: Service) -> None:
    store = Store(posts(service))
    service.connectors = {"feed": store}
    keeping.forget_post(service, "x", "p1")
    keeping.forget_author(service, "x", "ann", pseudonym_key(service.settings))
    assert store.removed == ["p1", "all of ann"]


def test_a_store_that_cannot_be_reached_is_named_and_all_the_rest_is_done(service: Service) -> None:
    store = Store(posts(service))
    live(service, store)
    store.broken = True
    service.connectors = {"feed": store, "other": UnusableConnector("other", "no token")}
    with pytest.raises(NotForgotten, match=r"perhaps not there: feed: unavailable: down; other: .*no token"):
        keeping.forget_post(service, "x", "p1")
    assert stored(service, TEXT) == []


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


def test_two_workers_that_see_copies_for_the_first_time_make_one_cluster(make_service: MakeService) -> None:
    services = [make_service() for _ in range(2)]
    with services[0].database.connection() as conn:
        for number in range(600):
            conn.execute(
                "INSERT INTO posts (platform, platform_id, text, created_at, fetched_at) VALUES ('x', %s, %s, %s, %s)",
                [f"{number:03}", TEXT, NOW, NOW],
            )
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda service: pipeline.match_posts(service, None), services))
    assert sum(done) == 600, "each post once"
    with services[0].database.connection() as conn:
        assert conn.execute("SELECT count(DISTINCT cluster), count(cluster) FROM posts").fetchone() == (1, 600)
