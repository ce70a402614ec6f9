"""The main job, end to end: fact-checks come in, a digest of the posts that repeat them goes out. Read this first."""

import email
import json
from datetime import datetime, time, timedelta
from email import policy
from pathlib import Path

import psycopg
import pytest

from connectors.protocol import CompiledQuery, Estimate, Page, Prices, SearchFailed, Window
from connectors.simulated.connector import SimulatedConnector
from connectors.simulated.posts_file import PostsFile, read_posts
from daemon import digest, pipeline
from daemon.delivery import FolderPostman
from daemon.demo.day import DemoClock
from daemon.importing import import_file
from daemon.intake.reader import ReadOptions
from daemon.jobs import Jobs
from daemon.preparation import prepare
from daemon.service import Service
from daemon.store import digest_rows, fact_checks, mailing, spending
from daemon.store.overview import overview
from domain.outcome import Unavailable
from domain.post import Post
from models.retrieval.boolean import BooleanIndex
from reports.reading import open_mail
from tests.integration.conftest import NOW, MakeService

FLUORIDE = "https://plainfacts.example/checks/fluoride-lindmouth"
FACT_CHECKS = [
    {
        "url": FLUORIDE, "claim": "Lindmouth has banned fluoride in tap water.", "rating": "False", "language": "en",
        "title": "No, Lindmouth did not ban fluoride", "publisher": "Plain Facts Desk", "date": "2026-11-20",
        "body": "Posts say Lindmouth banned fluoride in tap water. The water board says that nothing has changed.",
    },
    {
        "url": "https://plainfacts.example/checks/onion-socks", "claim": "Onions worn in socks overnight cure the flu.",
        "rating": "False", "language": "en", "title": "Onions in socks do not cure the flu", "date": "2026-11-19",
        "body": "An old home remedy has come back. No study has shown that onions worn in socks cure the flu.",
    },
    {
        "url": "https://plainfacts.example/checks/library-hours", "claim": "The Lindmouth library opens on Sundays.",
        "rating": "True", "language": "en", "title": "Yes, the library opens on Sundays", "date": "2026-11-18",
        "body": "",
    },
]  # fmt: skip
POSTS = [
    ("p1", "Lindmouth just banned fluoride in the tap water!! About time", "2026-11-25T10:00:00Z", 40),
    ("p2", "so fluoride is now banned from tap water in #Lindmouth, my sister says", "2026-11-26T11:00:00Z", 7),
    ("p3", f"Lindmouth fluoride ban? Fake: {FLUORIDE}?utm_source=x", "2026-11-26T12:00:00Z", 3),
    ("p4", "sliced onions in your socks overnight and the flu is gone, works every time", "2026-11-27T01:00:00Z", 900),
    ("p5", "The Lindmouth library opens on Sundays now, lovely", "2026-11-27T02:00:00Z", 2),
    ("p6", "Lindmouth harbour festival starts on Friday with live music", "2026-11-27T03:00:00Z", 5),
    ("p7", "knitting socks while the onions fry", "2026-11-27T04:00:00Z", 1),
]  # fmt: skip


@pytest.fixture
def posts_file(tmp_path: Path) -> Path:
    path = tmp_path / "posts.jsonl"
    names = ("id", "text", "created_at", "likes")
    rows = [dict(zip(names, post, strict=True)) | {"url": f"https://social.example/{post[0]}"} for post in POSTS]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def checks_file(tmp_path: Path) -> Path:
    path = tmp_path / "checks.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in FACT_CHECKS))
    return path


@pytest.fixture
def service(make_service: MakeService, posts_file: Path, checks_file: Path) -> Service:
    service = make_service(posts_file)
    import_file(service, checks_file, ReadOptions())
    prepare(service)
    subscribe(service)
    return service


def subscribe(service: Service, *, empty_days: str = "skip", name: str = "desk") -> None:
    values = {
        "name": name, "recipients": ["a@desk.example", "b@desk.example"], "verdicts": ["false", "misleading"],
        "languages": [], "publishers": [], "min_confidence": 0.5, "local_time": time(8), "zone": "UTC",
        "empty_days": empty_days, "next_due": NOW, "now": NOW - timedelta(days=1),
    }  # fmt: skip
    with service.database.connection() as conn:
        mailing.add_subscription(conn, values)


def outbox(service: Service) -> Path:
    return service.settings.home / "outbox"


def run_until_idle(service: Service) -> None:
    jobs = Jobs(service, FolderPostman(outbox(service)))
    while jobs.tick():
        jobs.work(until_empty=True)


def advance(service: Service, step: timedelta) -> None:
    assert isinstance(service.clock, DemoClock)
    service.clock.now += step


def mails(service: Service) -> list[str]:
    """Subject and text of each mail in the outbox folder, by file name."""
    texts = []
    for file in sorted(outbox(service).glob("*.eml")):
        message = email.message_from_bytes(file.read_bytes(), policy=policy.default)
        body = message.get_body(("plain",))
        assert body is not None
        texts.append(f"{message['subject']}\n{body.get_content()}")
    return texts


def count(service: Service, table: str) -> int:
    with service.database.connection() as conn:
        row = conn.execute(psycopg.sql.SQL("SELECT count(*) FROM {}").format(psycopg.sql.Identifier(table))).fetchone()
    assert row is not None
    return int(row[0])


def test_new_fact_checks_end_in_a_digest_of_the_posts_that_repeat_them(service: Service) -> None:
    run_until_idle(service)
    letters = mails(service)
    assert len(letters) == 2, "one mail a recipient"
    assert "2 claims" in letters[0].splitlines()[0]
    for expected in (FLUORIDE, "Lindmouth has banned fluoride", "About time", "socks overnight and the flu is gone"):
        assert expected in letters[0]
    for absent in ("library", "harbour", "knitting"):
        assert absent not in letters[0]


def test_a_long_post_is_quoted_from_where_it_repeats_the_claim(service: Service) -> None:
    walks = " ".join(f"We walked along river number {n} and talked of football." for n in range(40))
    said = "Lindmouth has banned fluoride in tap water. No more fluoride, it is banned from the tap water of Lindmouth!"
    with service.database.connection() as conn:
        conn.execute(
            "INSERT INTO posts (platform, platform_id, text, created_at, fetched_at, connector)"
            " VALUES ('x', '1', %s, now(), now(), 'that is gone, so that the least is quoted')",
            [f"{walks} {said} {walks}"],
        )
    pipeline.match_posts(service, None)
    with service.database.connection() as conn:
        subscription = mailing.subscription_by_name(conn, "desk")
        assert subscription is not None
        found = digest_rows.new_matches(conn, subscription, until=NOW)
    passage = found[0].passage
    assert passage in found[0].text
    assert len(passage) <= 300
    text = open_mail(digest.preview(service, "desk").message).text
    quote = " ".join(line.removeprefix("    > ") for line in text.splitlines() if line.startswith("    > "))
    assert quote.startswith("… ")
    assert "it is banned from the tap water of Lindmouth" in quote


def test_a_post_that_links_the_fact_check_is_reported_as_a_debunk_never_as_spreading(service: Service) -> None:
    run_until_idle(service)
    with service.database.connection() as conn:
        stances = dict(
            conn.execute("SELECT p.platform_id, m.stance FROM matches m JOIN posts p ON p.id = m.post_id").fetchall()
        )
    assert stances["p3"] == "debunking"
    assert "spreading" not in stances.values()


def test_what_was_mailed_is_not_mailed_again(service: Service) -> None:
    run_until_idle(service)
    advance(service, timedelta(days=1))
    run_until_idle(service)
    assert len(mails(service)) == 2


def test_a_tick_run_twice_queues_nothing_the_second_time(service: Service) -> None:
    jobs = Jobs(service, FolderPostman(outbox(service)))
    assert jobs.tick() > 0
    assert jobs.tick() == 0


def test_each_post_and_match_stands_once_however_often_the_claim_is_searched(service: Service) -> None:
    run_until_idle(service)
    before = count(service, "posts"), count(service, "matches")
    for _ in range(3):
        advance(service, timedelta(days=2))
        run_until_idle(service)
    assert (count(service, "posts"), count(service, "matches")) == before


def test_rows_that_another_system_writes_are_cleaned_embedded_and_watched(service: Service) -> None:
    with service.database.connection() as conn:
        conn.execute(
            "INSERT INTO fact_checks (url, claim, rating_given) VALUES"
            " ('http://www.other.example/a/1?utm_source=x', '<p>Harbour water turns   blue &amp; glows</p>',"
            "  'Pants on Fire!'),"
            " ('https://other.example/a/2', '', 'False')"
        )
    run_until_idle(service)
    with service.database.connection() as conn:
        rows = conn.execute(
            "SELECT key, claim, verdict, embedding IS NOT NULL, version, set_aside FROM fact_checks"
            " WHERE url LIKE '%other.example%' ORDER BY id"
        ).fetchall()
        kept = conn.execute("SELECT source, field FROM quarantine").fetchall()
    assert rows[0] == ("other.example/a/1", "Harbour water turns blue & glows", "false", True, 1, None)
    assert rows[1][5] is not None
    assert kept == [("fact_checks", "claim")]


def test_a_wording_that_another_system_puts_over_an_imported_one_is_cleaned_as_well(service: Service) -> None:
    run_until_idle(service)
    with service.database.connection() as conn:
        (row_id, before) = conn.execute("SELECT id, embedding FROM fact_checks ORDER BY id LIMIT 1").fetchone() or ()
        conn.execute("UPDATE fact_checks SET claim = '<b>Ducks&nbsp;vote</b>' WHERE id = %s", [row_id])
    run_until_idle(service)
    with service.database.connection() as conn:
        found = conn.execute(
            "SELECT claim, version, clean, prepared_at IS NOT NULL, embedding = %s FROM fact_checks WHERE id = %s",
            [before, row_id],
        ).fetchone()
    assert found == ("Ducks vote", 2, True, True, False)


def test_a_corrected_fact_check_keeps_its_old_wording_and_is_not_a_new_claim(
    service: Service, tmp_path: Path, checks_file: Path
) -> None:
    run_until_idle(service)
    corrected = tmp_path / "corrected.jsonl"
    corrected.write_text(json.dumps(FACT_CHECKS[0] | {"title": "Lindmouth keeps its fluoride"}) + "\n")
    imported = import_file(service, corrected, ReadOptions())
    run_until_idle(service)
    assert (imported.added, imported.changed) == (0, 1)
    assert count(service, "fact_check_versions") == 1
    assert count(service, "watches") == 2
    assert len(mails(service)) == 2


def test_a_rating_that_is_corrected_ends_the_watch_and_one_that_comes_back_takes_it_up(
    service: Service, tmp_path: Path
) -> None:
    run_until_idle(service)  # a search has been done: why the claim is watched reads differently now
    states = []
    for rating in ("True", "False"):
        file = tmp_path / f"{rating}.jsonl"
        file.write_text(json.dumps(FACT_CHECKS[0] | {"rating": rating}) + "\n")
        import_file(service, file, ReadOptions())
        prepare(service)
        with service.database.connection() as conn:
            states += conn.execute(
                "SELECT w.state FROM watches w JOIN fact_checks f ON f.id = w.fact_check_id WHERE f.url = %s",
                [FLUORIDE],
            ).fetchall()
    assert states == [("paused",), ("active",)]


def test_the_same_file_again_changes_nothing(service: Service, checks_file: Path) -> None:
    again = import_file(service, checks_file, ReadOptions())
    assert (again.added, again.changed, again.unchanged) == (0, 0, 3)


def test_a_failed_search_is_told_in_the_digest_and_is_never_no_posts(service: Service, posts_file: Path) -> None:
    service.connectors = {"broken": FailingConnector(posts_file, Unavailable("the server answered 503"))}
    run_until_idle(service)
    (letter, _) = mails(service)
    assert "broken was not searched" in letter
    assert "503" in letter
    with service.database.connection() as conn:
        postponed = conn.execute("SELECT count(*) FROM watches WHERE failures = 1 AND next_due > %s", [NOW]).fetchone()
    assert postponed == (2,)


class FailingConnector(SimulatedConnector):
    """Its searches are not carried out."""

    def __init__(self, file: Path, outcome: Unavailable) -> None:
        super().__init__("broken", BooleanIndex(), read_posts(file, salt="x"))
        self._outcome = outcome

    def search(self, compiled: CompiledQuery, window: Window, cursor: str | None, *, most: int | None = None) -> Page:
        raise SearchFailed(self._outcome)


def test_t29_posts_without_words_are_counted_and_a_link_alone_is_the_fact_check_shared(service: Service) -> None:
    texts = [FLUORIDE, "https://example.org/x", "🚰🚰🚰", "", "   ", "@a @b", "#…"]
    with service.database.connection() as conn:
        for number, text in enumerate(texts):
            conn.execute(
                "INSERT INTO posts (platform, platform_id, text, links, created_at, fetched_at)"
                " VALUES ('x', %s, %s, %s, now(), now())",
                [str(number), text, [text] if text.startswith("https") else []],
            )
    assert pipeline.match_posts(service, None) == 7
    with service.database.connection() as conn:
        reasons = conn.execute("SELECT unmatched_why, language FROM posts ORDER BY id").fetchall()
        (linked,) = conn.execute("SELECT reason, stance FROM matches").fetchall()
        counted = overview(conn, NOW)
    assert linked == ("shares the fact-check", "debunking")
    assert reasons == [(None, "und"), *[("no text", "und")] * 6]
    assert counted["without text"] == 6


def test_the_stored_vectors_find_the_fact_check_nearest_to_a_text(service: Service) -> None:
    (vector,) = service.encode(["fluoride is banned from the tap water of Lindmouth"])
    with service.database.connection() as conn:
        found = fact_checks.nearest(conn, vector, 2)
    assert found[0][0] == "plainfacts.example/checks/fluoride-lindmouth"
    assert found[0][1] > found[1][1]


class Paged(SimulatedConnector):
    """Two posts a page; remembers what it was asked, and fails when it is told to."""

    def __init__(self, posts: int) -> None:
        made = [
            Post(
                "x",
                f"{n:02}",
                f"Lindmouth has banned fluoride in tap water, they say {n}",
                NOW - timedelta(hours=n + 1),
            )
            for n in range(posts)
        ]
        super().__init__("feed", BooleanIndex(), PostsFile(tuple(made), ()), page_size=2)
        self.asked: list[tuple[str, datetime, str | None]] = []
        self.failing: str | None = None  # from this cursor on

    def search(self, compiled: CompiledQuery, window: Window, cursor: str | None, *, most: int | None = None) -> Page:
        if self.failing is not None and cursor and cursor >= self.failing:
            raise SearchFailed(Unavailable("the cursor is refused"))
        self.asked.append((compiled.syntax, window.until, cursor))
        return super().search(compiled, window, cursor, most=most)


@pytest.fixture
def paged(make_service: MakeService, checks_file: Path) -> tuple[Service, Paged]:
    service, platform = make_service(), Paged(9)
    import_file(service, checks_file, ReadOptions())
    prepare(service)
    service.connectors = {"feed": platform}
    with service.database.connection() as conn:
        conn.execute("DELETE FROM watches WHERE id <> 1")
    return service, platform


def test_a_run_that_ran_out_of_budget_goes_on_where_it_stopped_and_pays_for_no_page_twice(
    paged: tuple[Service, Paged],
) -> None:
    service, platform = paged
    with service.database.connection() as conn:
        spending.set_cap(conn, "feed", "connector", "day", "posts", 4)
    for _ in range(5):
        run_until_idle(service)
        advance(service, timedelta(days=1))
    first = [ask for ask in platform.asked if ask[1] == NOW]
    assert len(first) == len(set(first)) > 2, "each page of the first window once"
    assert [ask[1] for ask in platform.asked] == sorted(ask[1] for ask in platform.asked), "the oldest window first"
    assert count(service, "posts") == 9


def test_a_cursor_that_is_refused_for_good_does_not_hold_up_later_posts(paged: tuple[Service, Paged]) -> None:
    service, platform = paged
    platform.failing = "4"
    for _ in range(30):
        run_until_idle(service)
        advance(service, timedelta(days=1))
    assert max(ask[1] for ask in platform.asked) > NOW + timedelta(days=14)


class Counting(Paged):
    """Notes what it is asked to count and to search, in order; fails to count when it is told to."""

    def __init__(self, *, failure: Unavailable | None = None, tells: bool = True) -> None:
        super().__init__(9)
        self.steps: list[tuple[str, str]] = []
        self._failure, self._tells = failure, tells

    def estimate(self, compiled: CompiledQuery, window: Window) -> Estimate:
        self.steps.append(("count", compiled.syntax))
        if self._failure:
            raise SearchFailed(self._failure)
        return super().estimate(compiled, window) if self._tells else Estimate(None, 0)

    def search(self, compiled: CompiledQuery, window: Window, cursor: str | None, *, most: int | None = None) -> Page:
        if cursor is None:
            self.steps.append(("search", compiled.syntax))
        return super().search(compiled, window, cursor, most=most)

    def of(self, kind: str) -> list[str]:
        return [syntax for step, syntax in self.steps if step == kind]


def searched_on(service: Service, platform: Counting, *, ask_counts: bool = True) -> list[str]:
    search = service.settings.search.model_copy(update={"ask_counts": ask_counts})
    service.settings = service.settings.model_copy(update={"search": search})
    service.connectors = {"feed": platform}
    run_until_idle(service)
    return platform.of("search")


def test_a_platform_that_counts_for_nothing_is_asked_to_count_before_it_is_searched(
    paged: tuple[Service, Paged],
) -> None:
    platform = Counting()
    searched = searched_on(paged[0], platform)
    assert searched
    first_search = [step for step, _ in platform.steps].index("search")
    assert {step for step, _ in platform.steps[:first_search]} == {"count"}
    assert len(set(platform.of("count"))) == len(platform.of("count"))
    assert count(paged[0], "posts") == 9


def test_no_platform_is_asked_to_count_unless_it_is_set(paged: tuple[Service, Paged]) -> None:
    platform = Counting()
    assert searched_on(paged[0], platform, ask_counts=False)
    assert not platform.of("count")


def test_a_platform_that_charges_for_counts_is_not_asked_to_count(paged: tuple[Service, Paged]) -> None:
    platform = Counting()
    platform.prices = Prices(estimate=5_000)
    assert searched_on(paged[0], platform)
    assert not platform.of("count")


@pytest.mark.parametrize("failure", [Unavailable("no counts today"), None], ids=["fails", "cannot tell"])
def test_a_platform_that_does_not_count_when_asked_is_searched_all_the_same(
    paged: tuple[Service, Paged], failure: Unavailable | None
) -> None:
    platform = Counting(failure=failure, tells=False)
    assert searched_on(paged[0], platform)
    assert len(platform.of("count")) == 1, "it is not asked again and again"
    assert count(paged[0], "posts") == 9
    with paged[0].database.connection() as conn:
        arms = {arm for (arm,) in conn.execute("SELECT arm FROM queries").fetchall()}
    assert "learned" in arms, "key phrases are not all that is left"


@pytest.mark.parametrize("queries", [1, 2])
def test_counts_take_nothing_from_the_queries_that_a_claim_may_have(paged: tuple[Service, Paged], queries: int) -> None:
    service, platform = paged[0], Counting()
    search = service.settings.search.model_copy(update={"queries_per_claim": queries, "control_share": 0.0})
    service.settings = service.settings.model_copy(update={"search": search})
    searched = searched_on(service, platform)
    assert len(platform.of("count")) > queries
    assert len(searched) == queries
