"""What a digest says that rewriting gained, on a real database with rows as the pipeline writes them."""

from collections.abc import Sequence
from datetime import datetime, time, timedelta
from typing import Any

import psycopg
import pytest
from psycopg.rows import scalar_row

from connectors.protocol import CompiledQuery, Page, Window
from daemon.digest import preview
from daemon.service import Service
from daemon.store import mailing, searches
from domain.ids import WatchId
from domain.match import Match, MatchReason, Stance
from domain.outcome import Found
from domain.post import Post
from domain.query import Arm, Edit, EndpointKind, Query, Term, all_words_query, text_query
from reports.reading import open_mail
from tests.integration.conftest import NOW, MakeService

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
CLAIM = "Bill Gates put a microchip in the vaccine."
MISSED = "the claim as it is would not have found it"
EDITS = (Edit("keep the rarest words", result="microchip, vaccine"), Edit("remove", "Bill"))


def boolean(*words: str, arm: Arm = Arm.LEARNED) -> Query:
    return Query(EndpointKind.BOOLEAN, tuple((Term(word),) for word in words), f"policy of {arm}", EDITS, arm)


class Desk:
    """Two watched claims, "a" and "b", and a subscription that wants matches of .6 and more."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.watches = {"a": self._watch("a", CLAIM), "b": self._watch("b", "Owls are banned.")}
        values = {
            "name": "desk", "recipients": ["a@desk.example"], "verdicts": ["false"], "languages": [], "publishers": [],
            "min_confidence": 0.6, "local_time": time(8), "zone": "UTC", "empty_days": "skip", "next_due": NOW,
            "now": NOW - DAY,
        }  # fmt: skip
        with service.database.connection() as conn:
            assert mailing.add_subscription(conn, values) is not None

    def _watch(self, key: str, claim: str) -> WatchId:
        with self.service.database.connection() as conn, conn.cursor(row_factory=scalar_row) as cursor:
            fact_check = cursor.execute(
                "INSERT INTO fact_checks (key, url, claim, publisher, language, verdict, prepared_at)"
                " VALUES (%s, %s, %s, 'Desk', 'en', 'false', %s) RETURNING id",
                (key, f"https://fc.example/{key}", claim, NOW),
            ).fetchone()
            watch: Any = cursor.execute(
                "INSERT INTO watches (fact_check_id, next_due, interval_s, why, created_at)"
                " VALUES (%s, %s, 3600, 'rated false', %s) RETURNING id",
                (fact_check, NOW + DAY, NOW - DAY),
            ).fetchone()
        return WatchId(watch)

    def search(
        self, query: Query, texts: Sequence[str], *, claim: str = "a", connector: str = "local",
        at: datetime = NOW - HOUR, matching: str = "a", confidence: float = 0.9,
    ) -> None:  # fmt: skip
        """A search that ended `at` and read these posts; each matches the claim `matching` (empty: none)."""
        read = Page(tuple(Post("local", text[-60:], text, at - HOUR) for text in texts))
        match = Match(matching, confidence, MatchReason.TEXT, Stance.UNJUDGED, "", {}, "m")
        with self.service.database.connection() as conn:
            query_id = searches.record_query(conn, self.watches[claim], connector, query)
            window = Window(at - DAY, at)
            search = searches.open_search(conn, query_id, CompiledQuery(str(query), query), window, now=at)
            for post in searches.save_page(conn, search.id, read, connector=connector, now=at):
                searches.save_matches(
                    conn, post, [match] if matching else [], why=MatchReason.TEXT, language="en", now=at
                )
            searches.close_search(conn, search.id, Found(len(texts)), now=at)

    def text(self) -> str:
        """The digest as text, every sentence on one line."""
        return open_mail(preview(self.service, "desk").message).text

    def found_by(self) -> list[str]:
        lines = (line.strip() for line in self.text().splitlines())
        return [line.removeprefix("Found by: ") for line in lines if line.startswith("Found by: ")]


@pytest.fixture
def desk(make_service: MakeService) -> Desk:
    return Desk(make_service())


def test_a_post_that_lacks_a_word_of_the_claim_is_said_to_be_missed_by_it(desk: Desk) -> None:
    desk.search(boolean("microchip", "vaccine"), ["a microchip hides in every vaccine"])
    assert desk.found_by() == ["microchip AND vaccine, which leaves out “Bill”, “Gates”, “put”"]
    assert "Of 1 post that edited queries found, the claim as it is would have found none." in desk.text()


def test_a_post_with_every_word_of_the_claim_is_not(desk: Desk) -> None:
    """Also where it inflects, orders or writes them in another way; the smallest words count, as the platform counts
    them."""
    desk.search(boolean("microchip", "vaccine"), ["In vaccines, the MICROCHIPS a certain bill gates puts!"])
    assert desk.found_by() == ["microchip AND vaccine, which leaves out “Bill”, “Gates”, “put”"]
    assert "the claim as it is would have found 1." in desk.text()


def test_a_function_word_that_the_post_lacks_is_missed_too(desk: Desk) -> None:
    desk.search(boolean("microchip", "vaccine"), ["Bill Gates put a microchip in vaccine"])
    assert "the claim as it is would have found none." in desk.text()


def test_the_whole_post_counts_and_not_what_is_quoted_of_it(desk: Desk) -> None:
    desk.search(boolean("microchip", "vaccine"), [f"{'so ' * 200}{CLAIM}"])
    assert "Gates" not in desk.text().split("> so")[1].split("local,")[0]
    assert "the claim as it is would have found 1." in desk.text()


def test_the_edits_of_a_query_are_told_once_and_each_post_is_judged(desk: Desk) -> None:
    desk.search(
        boolean("microchip", "vaccine"),
        ["microchip in a vaccine", f"so {CLAIM}", "vaccine with a microchip", "a vaccine, a microchip"],
    )
    assert desk.found_by() == [
        f"microchip AND vaccine, which leaves out “Bill”, “Gates”, “put”; {MISSED}",
        f"microchip AND vaccine; {MISSED}",
        "microchip AND vaccine",
    ]
    assert "Of 4 posts that edited queries found, the claim as it is would have found 1." in desk.text()


def test_nothing_is_said_of_a_query_that_a_person_pinned(desk: Desk) -> None:
    desk.search(boolean("microchip", arm=Arm.PINNED), ["a microchip"])
    assert desk.found_by() == ["microchip"]
    assert "edited queries" not in desk.text()


def test_nothing_is_said_of_a_query_for_another_claim(desk: Desk) -> None:
    desk.search(boolean("microchip"), ["a microchip"], claim="b")
    assert desk.found_by() == ["microchip"]
    assert "edited queries" not in desk.text()


def test_nothing_is_said_of_a_platform_that_read_more_than_the_text(desk: Desk) -> None:
    """Here it found a word that the text does not hold: it may have found the claim's others there too."""
    desk.search(boolean("microchip", "vaccine"), ["look at this vaccine"])
    assert desk.found_by() == ["microchip AND vaccine, which leaves out “Bill”, “Gates”, “put”"]
    assert "edited queries" not in desk.text()


def test_a_ranked_platform_could_have_found_it_by_the_claim(desk: Desk) -> None:
    desk.search(text_query(EndpointKind.RANKED, "microchip vaccine gates", policy="p"), ["a microchip"])
    assert desk.found_by() == ["microchip vaccine gates, which leaves out “Bill”, “put”"]
    assert "edited queries" not in desk.text()


def test_the_claim_sent_as_it_is_edits_nothing(desk: Desk) -> None:
    words = tuple(CLAIM.rstrip(".").split())
    desk.search(all_words_query(words, policy="claim@1"), [CLAIM])
    assert desk.found_by() == [" AND ".join(words)]


def test_the_arms_are_compared_by_what_they_read(desk: Desk) -> None:
    """A match counts for each arm that returned the post; an unsure one, or one of another claim, for none."""
    shared = "microchip in the vaccine, everyone"
    desk.search(boolean("microchip", "vaccine"), [shared, "a vaccine microchip"])
    desk.search(boolean("microchip"), [f"microchip sale {n}" for n in range(5)], matching="")
    desk.search(boolean("microchip"), [shared], at=NOW - 2 * HOUR)  # read again
    desk.search(boolean("vaccine"), ["vaccine for owls"], matching="b")
    plain = boolean("gates", "vaccine", arm=Arm.PLAIN)
    desk.search(plain, [shared, *(f"gates vaccine {n}" for n in range(3))], matching="")
    desk.search(plain, ["vaccine of gates"], confidence=0.55, at=NOW - 2 * HOUR)
    assert (
        "Matches in 100 posts read: 25.0 by learned queries (2 in 8 posts, 3 queries), "
        "20.0 by plain ones, asked to compare (1 in 5 posts, 1 query)."
    ) in " ".join(desk.text().split())


def test_searches_of_another_period_and_pinned_queries_are_not_compared(desk: Desk) -> None:
    desk.search(boolean("microchip"), ["a microchip"], at=NOW - 2 * DAY, matching="")
    desk.search(boolean("gates", arm=Arm.PLAIN), ["gates"], at=NOW - 2 * DAY, matching="")
    desk.search(boolean("chip", arm=Arm.PINNED), ["a chip"])
    desk.search(boolean("microchip"), ["one microchip"])
    desk.search(boolean("gates", arm=Arm.PLAIN), ["gates", "gates again"], at=NOW - HOUR, matching="")
    assert "(1 in 1 post, 1 query), 0.0 by plain ones, asked to compare (0 in 2 posts, 1 query)" in desk.text()


@pytest.mark.parametrize("arm", [Arm.LEARNED, Arm.PLAIN])
def test_one_arm_alone_is_not_compared(desk: Desk, arm: Arm) -> None:
    desk.search(boolean("microchip", arm=arm), ["a microchip"])
    other = Arm.PLAIN if arm is Arm.LEARNED else Arm.LEARNED
    desk.search(boolean("gates", arm=other), [])
    assert "Matches in 100 posts" not in desk.text()


@pytest.mark.parametrize("elsewhere", [{"claim": "b"}, {"connector": "other"}])
def test_plain_queries_are_no_control_where_no_learned_one_was_asked(desk: Desk, elsewhere: dict[str, Any]) -> None:
    desk.search(boolean("microchip"), ["a microchip"])
    desk.search(boolean("owls", arm=Arm.PLAIN), ["owls"], matching="", **elsewhere)
    assert "Matches in 100 posts" not in desk.text()
    desk.search(boolean("gates", arm=Arm.PLAIN), ["gates"], matching="")
    assert "plain ones, asked to compare (0 in 1 post, 1 query)" in desk.text()
    desk.search(boolean("ban"), [], matching="", **elsewhere)
    assert "plain ones, asked to compare (0 in 2 posts, 2 queries)" in desk.text()


def test_a_digest_of_many_posts_asks_the_database_no_more_often(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    execute = psycopg.Cursor.execute

    def counted(self: Any, statement: Any, *given: Any, **options: Any) -> Any:
        asked.append(statement)
        return execute(self, statement, *given, **options)

    monkeypatch.setattr(psycopg.Cursor, "execute", counted)
    desk.search(boolean("microchip"), ["a microchip"])
    asked.clear()
    desk.text()
    few = len(asked)
    for n in range(5):
        desk.search(boolean("microchip", f"w{n}"), [f"microchip w{n} p{post}" for post in range(40)])
    asked.clear()
    assert "Of 201 posts that edited queries found" in desk.text()
    assert len(asked) == few > 0
