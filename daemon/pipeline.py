"""The way a claim goes: rewrite → search → match, until the policy stops. Read this file first.

Each step commits on its own and finds its place again: a search remembers its cursor, a post whether it was matched, a
watch the end of the window that is being searched. Killed at any point and run again, the same posts and matches stand.
"""

import logging
import string
from dataclasses import replace
from datetime import timedelta

import structlog

from connectors.protocol import CompiledQuery, Connector, SearchFailed, Window
from daemon.schedule import next_search, retry_delay
from daemon.service import Service
from daemon.store import searches, watches
from daemon.store.watches import DueWatch
from domain.ids import PostId
from domain.match import MatchReason
from domain.outcome import Found, Outcome
from domain.query import Arm, EndpointKind, Query, all_words_query, text_query
from models.ranking.matcher import PostText
from models.rewriting.policy import History, QueryResult

logger = logging.getLogger(__name__)

_MATCH_BATCH = 256  # posts


def search_watch(service: Service, watch_id: int) -> None:
    """Search a due watch on every connector, match what comes back, and set when it is due again."""
    with service.database.connection() as conn:
        watch = watches.begin(conn, watch_id, now=service.clock())
    if watch is None:
        return
    with structlog.contextvars.bound_contextvars(claim=watch.key):
        complete = all([_search_claim(service, watch, connector) for connector in service.connectors.values()])
        _finish(service, watch, complete=complete)


def _search_claim(service: Service, watch: DueWatch, connector: Connector) -> bool:
    """Run the policy's queries one after another; whether all of them were carried out."""
    with service.database.connection() as conn:
        rules = watches.rules(conn, watch.id)
    rewriter = service.rewriter(connector, watch.language)
    claim = replace(watch.as_claim, text=_without(watch.claim, rules.banned))
    window = _window(service, watch)
    history: History = ()
    for pinned in rules.pinned:
        history += (_run_query(service, watch, connector, _pinned_query(connector.kind, pinned), window),)
    for _ in range(service.settings.search.queries_per_claim):
        query = rewriter.next(claim, history)
        if query is None:
            break
        history += (_run_query(service, watch, connector, query, window),)
    return all(result.carried_out for result in history)


def _without(text: str, banned: frozenset[str]) -> str:
    return " ".join(word for word in text.split() if word.strip(string.punctuation).lower() not in banned)


def _window(service: Service, watch: DueWatch) -> Window:
    """From the last search, with an overlap for posts that a platform indexes late; at first the whole look-back."""
    settings = service.settings.search
    since = watch.run_until - timedelta(days=settings.lookback_days)
    if watch.searched_to:
        since = max(since, watch.searched_to - timedelta(minutes=settings.overlap_minutes))
    return Window(since, watch.run_until)


def _pinned_query(kind: EndpointKind, words: str) -> Query:
    make = all_words_query(tuple(words.split()), policy="pinned") if kind is EndpointKind.BOOLEAN else None
    query = make or text_query(kind, words, policy="pinned")
    return Query(query.kind, query.groups, query.policy, query.trail, Arm.PINNED)


def _run_query(service: Service, watch: DueWatch, connector: Connector, query: Query, window: Window) -> QueryResult:
    with service.database.connection() as conn:
        query_id = searches.record_query(conn, watch.id, connector.name, query)
    done = [_run_search(service, connector, query_id, compiled, window) for compiled in connector.compile(query)]
    with service.database.connection() as conn:
        brought = searches.brought(conn, [search for search, _ in done], watch.id, watch.fact_check_id)
    carried_out = all(outcome == "found" for _, outcome in done)
    return QueryResult(query, brought.posts_read, brought.new_posts, brought.confidences, carried_out)


def _run_search(
    service: Service, connector: Connector, query_id: int, compiled: CompiledQuery, window: Window
) -> tuple[int, str]:
    """Read pages from where the search stands until it ends; its id and outcome."""
    with service.database.connection() as conn:
        search = searches.open_search(
            conn, query_id, compiled.syntax, since=window.since, until=window.until, now=service.clock()
        )
    if search.outcome:
        return search.id, search.outcome
    outcome = _read_pages(service, connector, search, compiled, window)
    match_posts(service, None)
    with service.database.connection() as conn:
        searches.close_search(conn, search.id, outcome, now=service.clock())
    logger.info("search done", extra={"action": "search", "connector": connector.name, "outcome": str(outcome)})
    return search.id, "found" if isinstance(outcome, Found) else "failed"


def _read_pages(
    service: Service, connector: Connector, search: searches.OpenSearch, compiled: CompiledQuery, window: Window
) -> Outcome:
    cursor, read, first = search.cursor, search.posts, search.cursor is None and search.posts == 0
    while first or (cursor and read < service.settings.search.reads_per_query):
        first = False
        try:
            page = connector.search(compiled, window, cursor)
        except SearchFailed as exc:
            return exc.outcome
        with service.database.connection() as conn:
            ids = searches.save_page(
                conn,
                search.id,
                page.posts,
                cursor=page.cursor,
                spent=page.spent,
                notices=page.notices,
                now=service.clock(),
            )
        match_posts(service, ids)
        cursor, read = page.cursor, read + len(page.posts)
    return Found(read, complete=cursor is None)


def match_posts(service: Service, ids: list[PostId] | None) -> int:
    """Compare posts with all fact-checks: those named, or (None) whatever an interruption left; how many."""
    done = 0
    while batch := _match_batch(service, ids):
        done += batch
    return done


def _match_batch(service: Service, ids: list[PostId] | None) -> int:
    with service.database.connection() as conn:
        posts = searches.unmatched(conn, ids, _MATCH_BATCH)
        if not posts:
            return 0
        results = service.matcher(conn).match([PostText(post.text, tuple(post.links)) for post in posts])
        threshold, now = service.settings.match.keep_above, service.clock()
        for post, result in zip(posts, results, strict=True):
            kept = [match for match in result.matches if match.confidence >= threshold]
            why = MatchReason.NONE_FITS if result.matches and not kept else result.why
            searches.save_matches(conn, post.id, kept, why=why, language=result.language, now=now)
    return len(posts)


def _finish(service: Service, watch: DueWatch, *, complete: bool) -> None:
    now = service.clock()
    with service.database.connection() as conn:
        if not complete:
            watches.postpone(conn, watch.id, next_due=now + retry_delay(watch.failures))
            return
        interval = timedelta(seconds=watch.interval_s)
        fresh = searches.fresh_matches(conn, watch.id, watch.fact_check_id, until=watch.run_until)
        following = next_search(interval, fresh, service.settings.watch)
        watches.finish(
            conn,
            watch.id,
            next_due=now + following.interval,
            interval=following.interval,
            why=following.why,
            complete=True,
        )
