"""What a subscription is mailed, on a real database: what counts, since when, and that one mail holds up no other."""

from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from daemon.delivery import FolderPostman
from daemon.digest import make_digest, preview
from daemon.outbox import send_outbox
from daemon.service import Service
from daemon.store import digest_rows, mailing
from reports.reading import open_mail
from tests.integration.conftest import NOW, MakeService

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


class Desk:
    """A subscription and one watched claim, with rows as the pipeline writes them."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.claim = self._insert(
            "fact_checks", key="a", url="https://fc.example/a", claim="Owls are banned.", publisher="Desk",
            language="en", verdict="false", rating_given="False", prepared_at=NOW,
        )  # fmt: skip
        self.watch = self._insert(
            "watches", fact_check_id=self.claim, next_due=NOW + DAY, interval_s=3600, why="rated false",
            created_at=NOW - 30 * DAY,
        )  # fmt: skip

    def subscribe(self, *recipients: str, zone: str = "UTC", empty_days: str = "skip") -> int:
        values = {
            "name": "desk", "recipients": list(recipients or ("a@desk.example",)), "verdicts": ["false"],
            "languages": [], "publishers": [], "min_confidence": 0.5, "local_time": time(8), "zone": zone,
            "empty_days": empty_days, "next_due": NOW, "now": NOW - DAY,
        }  # fmt: skip
        with self.service.database.connection() as conn:
            added = mailing.add_subscription(conn, values)
        assert added is not None
        return added

    def search(self, words: str, at: datetime, posts: int = 0, **outcome: object) -> list[int]:
        """A search that ended `at` and found so many matching posts, made an hour before; the posts' ids."""
        arm = "pinned" if words.startswith("pinned") else "plain"
        query = self._insert(
            "queries", watch_id=self.watch, connector="local", kind="boolean", words=words, terms="[]", edits="[]",
            policy="rarest", arm=arm,
        )  # fmt: skip
        given = {"outcome": "found", "finished_at": at} | outcome
        search = self._insert(
            "searches", query_id=query, syntax=words, since=at - DAY, until=at, started_at=at, **given
        )
        return [self.find(search, self.post(f"{words}-{n}", at - HOUR), at) for n in range(posts)]

    def post(self, name: str, created_at: datetime) -> int:
        return self._insert(
            "posts",
            platform="local",
            platform_id=name,
            text=f"owls banned {name}",
            created_at=created_at,
            fetched_at=NOW,
        )

    def find(self, search: int, post: int, at: datetime) -> int:
        self._execute("INSERT INTO search_posts VALUES (%s, %s)", search, post)
        self._execute(
            "INSERT INTO matches (post_id, fact_check_id, confidence, reason, stance, scores, model, created_at)"
            " VALUES (%s, %s, 0.9, 'text', 'unjudged', '{}', 'm', %s) ON CONFLICT DO NOTHING",
            post, self.claim, at,
        )  # fmt: skip
        return post

    def text(self) -> str:
        opened = open_mail(preview(self.service, "desk").message)
        return f"{opened.subject}\n{opened.text}"

    def outbox(self) -> dict[str, str]:
        with self.service.database.connection() as conn:
            return {row.recipient: row.state for row in mailing.outbox(conn, 10)}

    def _insert(self, table: str, **values: object) -> int:
        names = psycopg.sql.SQL(", ").join(map(psycopg.sql.Identifier, values))
        places = psycopg.sql.SQL(", ").join(map(psycopg.sql.Placeholder, values))
        statement = psycopg.sql.SQL("INSERT INTO {} ({}) VALUES ({}) RETURNING id")
        with self.service.database.connection() as conn:
            row = conn.execute(statement.format(psycopg.sql.Identifier(table), names, places), values).fetchone()
        assert row is not None
        return int(row[0])

    def _execute(self, statement: Any, *values: object) -> None:
        with self.service.database.connection() as conn:
            conn.execute(statement, values)


@pytest.fixture
def desk(make_service: MakeService) -> Desk:
    return Desk(make_service())


def test_a_recipient_that_cannot_be_addressed_fails_and_the_others_get_their_mail(desk: Desk, tmp_path: Path) -> None:
    subscription = desk.subscribe("a@@b.org", "ä@bücher.de", "good@desk.example")
    desk.search("owls", NOW - HOUR, posts=1)
    make_digest(desk.service, subscription)
    assert send_outbox(desk.service, FolderPostman(tmp_path)) == 1
    assert desk.outbox() == {"a@@b.org": "failed", "ä@bücher.de": "failed", "good@desk.example": "sent"}
    with desk.service.database.connection() as conn:
        details = {row.recipient: row.detail for row in mailing.outbox(conn, 10)}
    assert "'a@@b.org' is not the mail address" in details["a@@b.org"]


def test_a_sender_with_a_name_gives_a_legal_message_id(desk: Desk, tmp_path: Path) -> None:
    mail = desk.service.settings.mail.model_copy(update={"sender": "Claim Desk <cw@news.example>"})
    desk.service.settings = desk.service.settings.model_copy(update={"mail": mail})
    subscription = desk.subscribe()
    desk.search("owls", NOW - HOUR, posts=1)
    make_digest(desk.service, subscription)
    assert send_outbox(desk.service, FolderPostman(tmp_path)) == 1
    (mail_file,) = tmp_path.glob("*.eml")
    assert b"@news.example>\r\n" in mail_file.read_bytes().split(b"Message-ID: ")[1]


def test_the_bars_of_the_sparkline_begin_at_local_midnight(desk: Desk) -> None:
    desk.subscribe(zone="Pacific/Kiritimati")  # 14 hours ahead: NOW is 22:00 there, of the same day
    first_midnight = datetime(2026, 11, 7, 10, tzinfo=UTC)
    desk.search("owls", NOW - HOUR)
    for name, moment in (("early", first_midnight), ("late", NOW - HOUR), ("before", first_midnight - HOUR)):
        desk.find(1, desk.post(name, moment), NOW - HOUR)
    assert "posts a day, 8 to 28 Nov: 1, 0" in desk.text()


def test_nothing_searched_is_said_and_mailed_only_where_a_claim_waited(desk: Desk) -> None:
    subscription = desk.subscribe()
    assert "No search was carried out" in desk.text().splitlines()[0]
    assert "Nothing new" not in desk.text()
    make_digest(desk.service, subscription)
    assert desk.outbox() == {}, "no claim was due"
    desk._execute("UPDATE watches SET next_due = %s", NOW - 2 * HOUR)
    assert "though 1 claim has waited for one" in desk.text()


def test_posts_read_are_told_apart_and_never_fewer_than_the_new_ones(desk: Desk) -> None:
    """The first digest brings matches from before the subscription: its period and its counts begin with them."""
    desk.subscribe()
    early = desk.search("early", NOW - 3 * DAY, posts=2)
    desk.search("late", NOW - HOUR, posts=1)
    for post in early:
        desk.find(2, post, NOW - HOUR)
    assert "3 newly found posts since Wed 25 Nov, 08:00" in desk.text()
    assert "2 searches, 3 posts read" in desk.text()


def test_a_pinned_query_is_named_first_and_as_what_found_the_post(desk: Desk) -> None:
    desk.subscribe()
    found = desk.search("a fruitful query", NOW - 3 * HOUR, posts=3)
    desk.search("pinned by a person", NOW - HOUR)
    desk.search("another query", NOW - 2 * HOUR, posts=1)
    desk.find(2, found[0], NOW - HOUR)
    queries = desk.text().split("Queries that found them")[1].splitlines()[1:4]
    assert [line.strip() for line in queries] == [
        "- pinned by a person (1 post)", "- a fruitful query (3 posts)", "- and 1 more",
    ]  # fmt: skip
    with desk.service.database.connection() as conn:
        subscription = mailing.subscription_by_name(conn, "desk")
        assert subscription is not None
        rows = {match.post_id: match.found_by for match in digest_rows.new_matches(conn, subscription, until=NOW)}
    assert rows[found[0]] == "pinned by a person"
    assert rows[found[1]] == "a fruitful query"


def test_failures_are_told_in_the_subscriptions_zone_with_both_dates(desk: Desk) -> None:
    desk.subscribe(zone="Asia/Tokyo")
    desk.search("one", NOW - 20 * HOUR, outcome="unavailable", detail="unavailable: no answer")
    desk.search("two", NOW - HOUR, outcome="unavailable", detail="unavailable: no answer")
    desk.search("three", NOW - HOUR, incomplete="only 7 days are given")
    text = desk.text()
    assert (
        "local was not searched as planned (2 searches, Fri 27 Nov, 21:00 to Sat 28 Nov, 16:00): unavailable: no answer"
    ) in text
    assert "local was searched incompletely (1 search, Sat 28 Nov, 16:00): only 7 days are given" in text


def test_copies_of_one_text_are_shown_once_with_their_number(desk: Desk) -> None:
    desk.subscribe()
    first, *copies, other = desk.search("owls", NOW - HOUR, posts=4)
    for copy in (first, *copies):
        desk._execute("UPDATE posts SET cluster = %s WHERE id = %s", first, copy)
    text = desk.text()
    assert text.count("> owls banned owls-") == 2
    assert "and 2 copies of it" in text
    assert f"owls-{3}" in text, str(other)


def test_a_post_is_quoted_no_further_than_its_platform_allows(desk: Desk) -> None:
    desk.subscribe()
    (post,) = desk.search("owls", NOW - HOUR, posts=1)
    desk._execute("UPDATE posts SET text = %s, connector = 'gone' WHERE id = %s", "owls banned " * 40, post)
    quote = next(line for line in desk.text().splitlines() if "> owls" in line)
    shown = desk.text()[desk.text().index("> owls") :].split("local,")[0]
    assert len(" ".join(shown.replace(">", " ").split())) <= 140, quote
