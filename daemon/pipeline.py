"""The way a claim goes: rewrite → search → match, until the policy stops. Read this file first.

Each step commits on its own and finds its place again: a search remembers its cursor, a post whether it was matched, a
watch the end of the window that is being searched. Killed at any point and run again, the same posts and matches stand.
"""

import logging
from dataclasses import replace
from datetime import datetime, timedelta

import structlog

from connectors.protocol import CompiledQuery, Connector, SearchFailed, Window
from daemon.clustering import cluster_posts
from daemon.estimating import counted
from daemon.fetching import Fetched, fetch_page, settle
from daemon.keeping import purge_gone
from daemon.preparation import renew_vectors
from daemon.schedule import next_search, retry_delay
from daemon.service import Service
from daemon.store import posts, searches, watches
from daemon.store.outcomes import Failure
from daemon.store.watches import DueWatch, WordRules
from domain.ids import PostId
from domain.match import MatchReason
from domain.outcome import Found, Outcome, RateLimited, Unavailable
from domain.query import Arm, EndpointKind, Query, all_words_query, text_query
from models.ranking.matcher import PostText
from models.rewriting.policy import Count, CountResult, History, QueryResult, searches_of
from models.rewriting.words import words

logger = logging.getLogger(__name__)

_MATCH_BATCH = 256  # posts
_MOST_EMPTY_PAGES = 10  # in a row


def search_watch(service: Service, watch_id: int) -> None:
    """Search a due watch on every connector, match what comes back, and set when it is due again."""
    with service.database.connection() as conn:
        watch = watches.begin(conn, watch_id, now=service.clock())
    if watch is None or not service.connectors:
        return
    with structlog.contextvars.bound_contextvars(claim=watch.key):
        failed = [failure for c in service.connectors.values() for failure in _search_connector(service, watch, c)]
        _finish(service, watch, failed)


def _search_connector(service: Service, watch: DueWatch, connector: Connector) -> list[Failure]:
    """Search all that the connector lacks; what kept any of it from being searched."""
    while window := _next_window(service, watch, connector):
        if failed := _search_window(service, watch, connector, window):
            is_older = window.until < watch.run_until
            if watch.is_last_attempt and is_older and any(isinstance(f, Unavailable) for f in failed):
                # Perhaps its cursors are taken no more: the next run begins anew from where this window began.
                with service.database.connection() as conn:
                    watches.give_up(conn, watch.id, connector.name)
            return failed
    return []


def _next_window(service: Service, watch: DueWatch, connector: Connector) -> Window | None:
    """What is to be searched next: first the window of a run which broke off, for want of budget, say, so that no page
    of it is paid for twice; None: all is searched."""
    with service.database.connection() as conn:
        progress = watches.progress(conn, watch.id, connector.name)
        if progress.searched_to == watch.run_until:
            return None
        until = progress.open_until or watch.run_until
        if until <= watch.run_until - timedelta(days=service.settings.search.lookback_days):
            until = watch.run_until
        watches.open_window(conn, watch.id, connector.name, until)
    return _window(service, progress.searched_to, until)


def _search_window(service: Service, watch: DueWatch, connector: Connector, window: Window) -> list[Failure]:
    """Run the policy's queries one after another; what kept any of them from being carried out."""
    with service.database.connection() as conn:
        rules = watches.rules(conn, watch.id)
    failed: list[Failure] = []
    history: History = ()
    while step := _next_step(service, watch, connector, rules, history):
        if isinstance(step, Count):
            history = (*history, CountResult(step.query, counted(service, connector, step.query, window)))
            continue
        result, failures = _run_query(service, watch, connector, step, window)
        history, failed = (*history, result), failed + failures
        if any(not isinstance(failure, Unavailable) for failure in failures):
            break  # the next query would fare the same
    if not failed:
        with service.database.connection() as conn:
            watches.advance(conn, watch.id, connector.name, window.until)
    return failed


def _next_step(
    service: Service, watch: DueWatch, connector: Connector, rules: WordRules, history: History
) -> Query | Count | None:
    """A person's queries, then the policy's, each decided on what those before it brought; None: enough."""
    asked = len(searches_of(history))
    if asked < len(rules.pinned):
        return _pinned_query(connector.kind, rules.pinned[asked])
    if asked == len(rules.pinned) + service.settings.search.queries_per_claim:
        return None
    claim = replace(watch.as_claim, text=_without(watch.claim, rules.banned))
    return service.rewriter(connector, watch.language).next(claim, history)


def _without(text: str, banned: frozenset[str]) -> str:
    """The text less the words that a person banned, whatever signs stand around them."""
    unwanted = {found for ban in banned for found in words(ban.lower())}
    return " ".join(part for part in text.split() if not unwanted.intersection(words(part.lower())))


def _window(service: Service, searched_to: datetime | None, until: datetime) -> Window:
    """From the last search, with an overlap for posts that a platform indexes late; at first the whole look-back."""
    settings = service.settings.search
    since = until - timedelta(days=settings.lookback_days)
    if searched_to:
        since = max(since, searched_to - timedelta(minutes=settings.overlap_minutes))
    return Window(since, until)


def _pinned_query(kind: EndpointKind, pinned: str) -> Query:
    make = all_words_query(tuple(pinned.split()), policy="pinned") if kind is EndpointKind.BOOLEAN else None
    query = make or text_query(kind, pinned, policy="pinned")
    return replace(query, arm=Arm.PINNED)


def _run_query(
    service: Service, watch: DueWatch, connector: Connector, query: Query, window: Window
) -> tuple[QueryResult, list[Failure]]:
    with service.database.connection() as conn:
        query_id = searches.record_query(conn, watch.id, connector.name, query)
    done = [_run_search(service, watch, connector, query_id, one, window) for one in connector.compile(query)]
    failures = [outcome for _, outcome in done if not isinstance(outcome, Found)]
    with service.database.connection() as conn:
        brought = searches.brought(conn, [search for search, _ in done], watch.id, watch.fact_check_id)
    result = QueryResult(query, brought.posts_read, brought.new_posts, brought.confidences, not failures)
    return result, failures


def _run_search(
    service: Service, watch: DueWatch, connector: Connector, query_id: int, compiled: CompiledQuery, window: Window
) -> tuple[int, Outcome]:
    """Read pages from where the search stands until it ends; its id and outcome."""
    with service.database.connection() as conn:
        search = searches.open_search(conn, query_id, compiled, window, now=service.clock())
    if search.is_done:
        return search.id, Found(search.posts)
    outcome = _read_pages(service, watch, connector, search, compiled, window)
    match_posts(service, None)
    with service.database.connection() as conn:
        searches.close_search(conn, search.id, outcome, now=service.clock())
    logger.debug(
        "search done",
        extra={"action": "search", "connector": connector.name, "query": compiled.syntax, "outcome": str(outcome)},
    )
    return search.id, outcome


def _read_pages(
    service: Service, watch: DueWatch, connector: Connector, search: searches.OpenSearch, compiled: CompiledQuery,
    window: Window,
) -> Outcome:  # fmt: skip
    cursor, read, empty = search.cursor, search.posts, 0
    seen: set[str | None] = set()
    first = cursor is None and read == 0
    most = service.settings.search.reads_per_query
    while first or (cursor and read < most):
        first = False
        try:
            fetched = fetch_page(service, connector, watch.id, compiled, window, cursor, most=most - read)
        except SearchFailed as exc:
            return exc.outcome
        page = fetched.page
        read = _store(service, connector, search.id, fetched)
        seen.add(cursor)
        empty = 0 if page.posts else empty + 1
        if page.cursor is None:
            return Found(read, page.incomplete)
        if page.cursor in seen or empty == _MOST_EMPTY_PAGES:
            return Found(read, "the platform gave the same page, or empty ones, again and again")
        cursor = page.cursor
    return Found(read)


def _store(service: Service, connector: Connector, search: int, fetched: Fetched) -> int:
    """Store a page and what it cost, then match its posts; how many posts the search has read."""
    page, now = fetched.page, service.clock()
    with service.database.connection() as conn:
        ids = searches.save_page(conn, search, page, connector=connector.name, now=now)
        posts.keep_for(conn, connector.name, connector.policy.keep_days)
        read = searches.add_spent(conn, search, settle(conn, fetched, connector))
        purge_gone(conn, connector.name, page.gone, now=now)
    match_posts(service, ids)
    return read


def match_posts(service: Service, ids: list[PostId] | None) -> int:
    """Compare posts with all fact-checks: those named, or (None) whatever an interruption left; how many."""
    if ids == []:  # an empty page loads no encoder
        return 0
    renew_vectors(service)
    done = 0
    while batch := _match_batch(service, ids):
        done += batch
    return done


def _match_batch(service: Service, ids: list[PostId] | None) -> int:
    with service.database.connection() as conn:
        waiting = searches.unmatched(conn, ids, _MATCH_BATCH)
        if not waiting:
            return 0
        texts = [PostText(post.text, tuple(post.links), post.created_at) for post in waiting]
        results = service.matcher(conn).match(texts)
        threshold, now = service.settings.match.keep_above, service.clock()
        for post, result in zip(waiting, results, strict=True):
            kept = [match for match in result.matches if match.confidence >= threshold]
            why = MatchReason.NONE_FITS if result.matches and not kept else result.why
            searches.save_matches(conn, post.id, kept, why=why, language=result.language, now=now)
        cluster_posts(conn, [post.id for post in waiting])
    return len(waiting)


def _finish(service: Service, watch: DueWatch, failed: list[Failure]) -> None:
    """End the run, or put off what is worth another attempt: a budget or a permission will not be there in minutes."""
    now = service.clock()
    retries = [
        failure.until if isinstance(failure, RateLimited) else now + retry_delay(watch.failures)
        for failure in failed
        if isinstance(failure, RateLimited | Unavailable)
    ]
    with service.database.connection() as conn:
        if retries and not watch.is_last_attempt:
            watches.postpone(conn, watch.id, next_due=max(now, min(retries)))
            return
        interval = timedelta(seconds=watch.interval_s)
        fresh = searches.fresh_matches(conn, watch.id, watch.fact_check_id, until=watch.run_until)
        following = next_search(interval, fresh, service.settings.watch)
        next_due = max(now, watch.run_until + following.interval)
        watches.finish(conn, watch.id, next_due=next_due, interval=following.interval, why=following.why)
    logger.info("claim searched", extra={"action": "search", "fresh": fresh, "failed": [str(f) for f in failed]})
